"""Runs small programs against the stand-ins and tells which contracts they broke.

Each program has a process of its own, forked from one that has PyTorch imported: that import takes longer than all the rest.
"""

import atexit
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest
import unittest.mock

KIT = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(KIT))
PATHS = {
    "ipu": ["ipu"],
    "popdist": ["ipu", "popdist"],
    "rdu": ["rdu"],
    "tensorflow": ["tf"],
    "lightning": ["gaudi"],
    "gaudi": ["gaudi"],
    "cpu": [],
    "cuda": [],
    "xpu": ["xpu"],
    "tensorflow-ipu": ["tf", "tf_ipu", "popdist"],
}
POPRUN = {
    "POPDIST_NUM_TOTAL_REPLICAS": "4", "POPDIST_NUM_LOCAL_REPLICAS": "2", "POPDIST_REPLICA_INDEX_OFFSET": "0",
    "POPDIST_NUM_IPUS_PER_REPLICA": "1",
}


def told(argv, folder, environment, path):
    """Runs a program; gives its exit status, its errors and what it printed. STAND_IN_SERVER names a server that has PyTorch imported;
    without one, this process imports it."""
    import server

    if any(folder.endswith(f"{os.sep}tf") for folder in path):
        return alone(argv, folder, environment, path)
    with tempfile.TemporaryDirectory() as own:
        out, err = pathlib.Path(own) / "out", pathlib.Path(own) / "err"
        request = {"argv": argv, "cwd": str(folder), "env": environment, "path": path, "out": str(out), "err": str(err)}
        status = server.ask(os.environ["STAND_IN_SERVER"], request) if "STAND_IN_SERVER" in os.environ else forked(request)
        return status, err.read_text(errors="replace"), out.read_text(errors="replace")


def alone(argv, folder, environment, path):
    """In a process that has imported nothing: the stand-in for TensorFlow has arrays of its own in the place of NumPy."""
    environment = {**environment, "PYTHONPATH": os.pathsep.join(path), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, *argv], cwd=folder, text=True, capture_output=True, env=environment)
    return done.returncode, done.stderr, done.stdout


def forked(request):
    """As the server does it."""
    import server

    if importlib.util.find_spec("torch") is not None:
        import torch

        torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)  # brings in what an optimizer imports when the first is made
    child = os.fork()
    if child == 0:
        atexit._clear()  # what this process would do at its end, such as removing the folder
        server.finish(server.run(request))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run(*args):
    """Its exit status and its errors."""
    return told(*args)[:2]


def environment(target, more):
    """Of a process on a target's machine, and the folders of its modules."""
    machine = {"lightning": "hpu", "gaudi": "hpu", "xpu": "xpu", "cuda": "cuda"}.get(target, "cpu")
    own = {k: v for k, v in os.environ.items() if not k.startswith(("POPDIST", "PT_HPU", "HABANA"))}
    return {**own, "STAND_IN_MACHINE": machine, **(more or {})}, [str(KIT / folder) for folder in ("recorder", "base", *PATHS[target])]


class Run:
    """What became of a program: `error` is the last line it died of, `broken` the rules it broke, `kept` those it met."""

    def __init__(self, target, program, argv=(), env=None, files=None):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, content in (files or {}).items():
                (root / name).write_text(content, encoding="utf-8")
            (root / "program.py").write_text(textwrap.dedent(program), encoding="utf-8")
            files = {"STAND_IN_CONTRACTS": str(root / "contracts"), "STAND_IN_CALLS": str(root / "calls")}
            variables, paths = environment(target, {**files, **(env or {})})
            status, self.trace, self.out = told(["program.py", *argv], root, variables, paths)
            self.error = self.trace.strip().splitlines()[-1] if status else ""
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

    def dies(self, why, program, **options):
        """The program ends with this error, as it does on the machine."""
        run = Run(self.target, program, **options)
        self.assertIn(why, run.error, f"{run.out} {run.trace}")
        return run

    def bad(self, rule, program, **options):
        """The program breaks this rule and no other."""
        run = Run(self.target, program, **options)
        self.assertEqual(list(run.broken), [rule], f"{run.broken} {run.trace}")
        for fault in run.broken[rule]:
            self.assertTrue(fault["file"].endswith(".py") and fault["line"] > 0, fault)
        return run


class Prepared(Programs):
    """Programs that are forked from a process of one machine, which has more imported than PyTorch."""

    modules = ()
    env = {}

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        socket = os.path.join(folder.name, "socket")
        variables, paths = environment(cls.target, cls.env)
        server = subprocess.Popen(
            [sys.executable, str(KIT / "server.py"), socket, *cls.modules], env={**variables, "PYTHONPATH": os.pathsep.join(paths)},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        cls.addClassCleanup(server.communicate)
        if b"ready" not in server.stdout.read(6):
            raise RuntimeError("the server did not start")
        asked = unittest.mock.patch.dict(os.environ, STAND_IN_SERVER=socket)
        asked.start()
        cls.addClassCleanup(asked.stop)
