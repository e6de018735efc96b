"""Many twin runs, some at the same time.

    python3 many.py JOBS < CASES

Each line of CASES is JSON: {"name": …, "home": folder of the start, "argv": arguments of rehearse.py}. For each comes a line {"name", "seconds",
"result": what `--json` would write}, in the order in which they end. With STAND_IN_SERVER the programs are forked from a server that has
PyTorch imported already.
"""

import json
import pathlib
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor, as_completed

KIT = pathlib.Path(__file__).resolve().parent.parent


def one(case):
    """The line for a case. What goes wrong in the kit itself is told as such, and no other case is lost by it."""
    import rehearse
    from twins import text

    began = time.monotonic()
    try:
        result = text.table(rehearse.twin_result(rehearse.arguments(case["argv"]), home=case["home"]))
    except (Exception, SystemExit):
        result = {"verdict": "failed", "told": traceback.format_exc()}
    return {"name": case["name"], "seconds": round(time.monotonic() - began, 2), "result": result}


def main(jobs):
    sys.path[:] = [str(KIT), *(path for path in sys.path if path != str(KIT / "twins"))]
    cases = [json.loads(line) for line in sys.stdin if line.strip()]
    with ThreadPoolExecutor(jobs) as together:
        for done in as_completed([together.submit(one, case) for case in cases]):
            print(json.dumps(done.result()), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
