"""Runs small programs against the stand-ins and tells which contracts they broke."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

KIT = pathlib.Path(__file__).resolve().parent.parent
PATHS = {
    "ipu": ["ipu"],
    "popdist": ["ipu", "popdist"],
    "rdu": ["rdu"],
    "tensorflow": ["tf"],
    "lightning": ["gaudi", "lightning"],
    "tensorflow-ipu": ["tf", "tf_ipu", "popdist"],
}
POPRUN = {
    "POPDIST_NUM_TOTAL_REPLICAS": "4", "POPDIST_NUM_LOCAL_REPLICAS": "2", "POPDIST_REPLICA_INDEX_OFFSET": "0",
    "POPDIST_NUM_IPUS_PER_REPLICA": "1",
}


class Run:
    """What became of a program: `error` is the last line it died of, `broken` the rules it broke, `kept` those it met."""

    def __init__(self, target, program, argv=(), env=None, files=None):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, content in (files or {}).items():
                (root / name).write_text(content, encoding="utf-8")
            (root / "program.py").write_text(textwrap.dedent(program), encoding="utf-8")
            paths = ["recorder", "base", *PATHS[target]]
            done = subprocess.run(
                [sys.executable, "program.py", *argv], cwd=folder, text=True, capture_output=True,
                env={
                    **{k: v for k, v in os.environ.items() if not k.startswith(("POPDIST", "PT_HPU", "HABANA"))},
                    "PYTHONPATH": os.pathsep.join(str(KIT / path) for path in paths), "PYTHONDONTWRITEBYTECODE": "1",
                    "STAND_IN_MACHINE": "hpu" if target == "lightning" else "cpu",
                    "STAND_IN_CONTRACTS": str(root / "contracts"), "STAND_IN_CALLS": str(root / "calls"), **(env or {}),
                },
            )
            self.error = done.stderr.strip().splitlines()[-1] if done.returncode else ""
            self.trace, self.out = done.stderr, done.stdout
            lines = [json.loads(line) for line in (root / "contracts").read_text().splitlines()]
            self.broken = {line["rule"]: line["broken"] for line in lines if line["broken"]}
            self.kept = {line["rule"] for line in lines if line["kept"]}
            self.calls = [json.loads(line) for line in (root / "calls").read_text().splitlines()]
            self.files = sorted(path.name for path in root.iterdir())


class Programs(unittest.TestCase):
    target = "ipu"

    def good(self, program, **options):
        run = Run(self.target, program, **options)
        self.assertEqual((run.error, run.broken), ("", {}), run.trace)
        return run

    def bad(self, rule, program, **options):
        """The program breaks this rule and no other."""
        run = Run(self.target, program, **options)
        self.assertEqual(list(run.broken), [rule], f"{run.broken} {run.trace}")
        for fault in run.broken[rule]:
            self.assertTrue(fault["file"].endswith(".py") and fault["line"] > 0, fault)
        return run
