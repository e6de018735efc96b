"""Many twin runs, one after the other.

    python3 many.py

Each line of standard input is JSON: {"home": folder of the start, "argv": arguments of rehearse.py}; the answer is a line with what `--json`
would write. With STAND_IN_SERVER the programs are forked from a server that has PyTorch imported already. It ends with its input.
"""

import json
import pathlib
import sys
import traceback

KIT = pathlib.Path(__file__).resolve().parent.parent


def one(case):
    """The result of a case. What goes wrong in the kit itself is told as such, and no other case is lost by it."""
    import rehearse
    from twins import text

    try:
        return text.table(rehearse.twin_result(rehearse.arguments(case["argv"]), home=case["home"]))
    except (Exception, SystemExit):
        return {"verdict": "failed", "told": traceback.format_exc()}


def main():
    sys.path[:] = [str(KIT), *(path for path in sys.path if path != str(KIT / "twins"))]
    for line in sys.stdin:
        print(json.dumps(one(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
