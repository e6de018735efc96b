"""Tests of ipu.py, popdist.py and rdu.py: manual ports pass, and each way of breaking them is detected.

    python3 tests/assertions/test_compiled.py
"""

import pathlib
import shutil
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import ipu  # noqa: E402
import popdist  # noqa: E402
import rdu  # noqa: E402
from small_project import BEFORE, IPU, POPDIST, RDU, edited, written  # noqa: E402

HOME = ["train.py"]
ON_IPU = ["train.py", "--kind", "IPU"]
ON_RDU = ["train.py", "COMMAND", "--kind", "RDU"]


class Ports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.before = written(BEFORE)
        cls.addClassCleanup(shutil.rmtree, cls.before)

    def report(self, judge, edits, command, breaking=()):
        after = written(edited(edited(BEFORE, edits), breaking))
        self.addCleanup(shutil.rmtree, after)
        return judge.check(self.before, after, HOME, command)

    def right(self, judge, edits, command):
        report = self.report(judge, edits, command)
        self.assertEqual([line for line in report.lines if " FAIL " in line], [])

    def wrong(self, expected, judge, edits, command, *breaking):
        report = self.report(judge, edits, command, breaking)
        self.assertLessEqual(set(expected.split()), set(report.failed), "\n".join(report.lines))

    def test_right_ports(self):
        self.right(ipu, IPU, ON_IPU)
        self.right(popdist, POPDIST, ON_IPU)
        self.right(rdu, RDU, ON_RDU)

    def test_the_original_is_no_port(self):
        self.wrong("run I1 I3 I4", ipu, [], ON_IPU)
        self.wrong("run P2 P6", popdist, [], ON_IPU)
        self.wrong("R1 R2 R9", rdu, [], ON_RDU)

    def test_ipu(self):
        for expected, old, new in (
            ("I1", "    IPU = 5\n", "    IPU = 1\n"),
            ("I2", "try:\n    import poptorch\nexcept ImportError:\n    poptorch = None\n", "import poptorch\n"),
            ("I3", "            ipu_eval = poptorch.inferenceModel(self.net, self.eval_opts)\n", "            ipu_eval = self.net\n"),
            ("I4", "return out if y is None else (out, self.criterion(out, y))", "return out, self.criterion(out, y) * 2"),
            ("I5", "    def forward(self, x):\n        return", "    def forward(self, x, y):\n        return"),
            ("I6", "            return self.ipu_train(x, y)[1].mean()\n", "            loss = self.ipu_train(x, y)[1].mean()\n            self.optimizer.step()\n"
                                                                         "            return loss\n"),
            ("I6", "self.ipu_train(x, y)[1].mean()", "self.ipu_train(x, y)[1].backward()"),
            ("I7", "        self.scheduler = torch", "        if self.kind == Kind.IPU:\n            self.ipu_train = self.ipu_train.to('cpu')\n"
                                                    "        self.scheduler = torch"),
            ("I8", ", optimizer=self.optimizer)", ")"),
            ("I8", "lr=0.1, eps=1e-4)", "lr=0.1)"),
            ("I9", "                self.ipu_train.setOptimizer(self.optimizer)\n", "                pass\n"),
            ("I10", "            self.ipu_train.detachFromDevice()\n", ""),
            ("I10", "            self.net.eval()\n            ipu_eval", "            ipu_eval"),
            ("I11 V2", "        self.optimizer.zero_grad()\n", ""),
            ("I12", "loss.item()", "loss"),
            ("V3", "    IPU = 5\n", "    IPU = 4\n"),
            ("V5", "import torch\n", "import torch\n# TRUE\n"),
        ):
            with self.subTest(expected=expected, old=old):
                self.wrong(expected, ipu, IPU, ON_IPU, (old, new))

    def test_popdist(self):
        for expected, old, new in (
            ("P1", "                popdist.init()\n", ""),
            ("P1", "                popdist.init()\n", "                popdist.init()\n                popdist.init()\n"),
            ("P1", "if popdist.isPopdistEnvSet():", "if True:"),
            ("P2", "popdist.poptorch.Options if popdist.isPopdistEnvSet() else poptorch.Options", "poptorch.Options"),
            ("P2", "            self.opts.randomSeed(42)\n", "            self.opts.randomSeed(42)\n            self.opts.replicationFactor(2)\n"),
            ("P3", "randomSeed(42)", "randomSeed(42 + self.instance)"),
            ("P4", "            self.opts.randomSeed(42)\n", "            self.opts.randomSeed(self.args.seed)\n"),
            ("P5", "        if self.kind == Kind.IPU and self.instance != 0:\n            return\n", ""),
            ("P6", "            return poptorch.DataLoader(self.opts, self.data, batch_size=4)\n",
             "            return torch.utils.data.DataLoader(self.data, batch_size=4, drop_last=True)\n"),
            ("P7", "inferenceModel(self.net, self.eval_opts)", "inferenceModel(self.net)"),
        ):
            with self.subTest(expected=expected, old=old):
                self.wrong(expected, popdist, POPDIST, ON_IPU, (old, new))

    def test_rdu(self):
        for expected, old, new in (
            ("R1", "    RDU = 6\n", "    RDU = 1\n"),
            ("R2", "parse_app_args(argv=sys.argv[1:]", "parse_app_args(argv=sys.argv[3:]"),
            ("R3", "pef=self.args.pef)", "pef='net.pef')"),
            ("R4", "try:\n    import sambaflow.samba as samba\n", "import sambaflow\ntry:\n    import sambaflow.samba as samba\n"),
            ("R5", "        samba.from_torch_model_(self.step)\n", ""),
            ("R6", 'from_torch_tensor(x, name="x"', 'from_torch_tensor(x, name="image"'),
            ("R7", "samba.optim.AdamW", "torch.optim.AdamW"),
            ("R7", '"lr": 0.1}', '"momentum": 0.1}'),
            ("R8", "        if self.args.command == \"compile\":\n            return\n        for", "        for"),
            ("R9", "return self.criterion(out, y), out", "return out, out"),
            ("R10", "data_parallel=self.args.data_parallel, reduce_on_rdu=self.args.reduce_on_rdu", ""),
            ("R11", "        samba.session.to_cpu(self.step)\n", ""),
            ("R12", "    import sambaflow.samba as samba\n", "    import sambaflow.samba as samba\n    import poptorch\n"),
            ("R13", "        self.optimizer.zero_grad()\n", ""),
        ):
            with self.subTest(expected=expected, old=old):
                self.wrong(expected, rdu, RDU, ON_RDU, (old, new))


if __name__ == "__main__":
    unittest.main()
