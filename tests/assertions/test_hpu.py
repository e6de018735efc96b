"""Tests of hpu.py: a manual port of the fixture passes, and each way of breaking it is detected.

    python3 -m unittest tests/assertions/test_hpu.py
"""

import pathlib
import shutil
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import hpu  # noqa: E402

PROJECT = HERE.parent / "fixtures" / "projects" / "cristae"
ORIGINAL = hpu.Checkout(PROJECT)
RUN, TRAINER, KERAS = "cristae/config/run.py", "cristae/torch_backend/trainer.py", "cristae/tf_backend/trainer.py"
DISTRIBUTED, REQUIREMENTS = "cristae/torch_backend/distributed.py", "requirements.txt"

GUARD = "self.cfg.run.compute == ComputeKind.HPU"
PREPARE = f"""        if {GUARD}:
            os.environ["PT_HPU_LAZY_MODE"] = "1" if self.cfg.run.lazy_mode else "0"
            import habana_frameworks.torch.core as htcore
            self.htcore = htcore
"""
BACKWARD = """                        else:
                            loss.backward()
"""
FIRST_MARK = f"""
                    if {GUARD} and self.cfg.run.lazy_mode:
                        self.htcore.mark_step()
"""
OPTIMIZER = """                else:
                    self._opt.step()
"""
SECOND_MARK = f"""
                if {GUARD} and self.cfg.run.lazy_mode:
                    self.htcore.mark_step()
"""
HCCL = """        elif self.cfg.run.compute == ComputeKind.HPU:
            os.environ.setdefault("PT_HPU_LAZY_MODE", "1" if self.cfg.run.lazy_mode else "0")
            import habana_frameworks.torch.distributed.hccl
            backend = "hccl"
"""
HPU_DEVICE = """        elif self.cfg.run.compute == ComputeKind.HPU:
            device = torch.device("hpu")
"""

BRIDGE = f"""        if {GUARD}:
            from habana_frameworks.tensorflow import load_habana_module
            load_habana_module()
"""

# (file, old, new): a correct port. The old text occurs exactly once, or is replaced everywhere if the flag is set.
PORT = [
    (RUN, "    MPS = 3\n", "    MPS = 3\n    HPU = 4\n"),
    (RUN, "    distributed:   bool        = False\n", "    distributed:   bool        = False\n    lazy_mode:     bool        = False\n"),
    (TRAINER, "        if self.is_training():\n            self.build_schedule()\n",
     "        if self.is_training():\n            self.build_schedule()\n\n" + PREPARE),
    (TRAINER, "            device = torch.device(\"mps\")\n", "            device = torch.device(\"mps\")\n" + HPU_DEVICE),
    (TRAINER, BACKWARD, BACKWARD + FIRST_MARK),
    (TRAINER, OPTIMIZER, OPTIMIZER + SECOND_MARK),
    (TRAINER, "    def val_step(self):\n", "    @torch.no_grad()\n    def val_step(self):\n"),
    (DISTRIBUTED, "        elif self.cfg.run.compute == ComputeKind.GPU: backend = \"nccl\"\n",
     "        elif self.cfg.run.compute == ComputeKind.GPU: backend = \"nccl\"\n" + HCCL),
    (DISTRIBUTED, "            return contextlib.nullcontext\n", "            return contextlib.nullcontext()\n"),
    (DISTRIBUTED, "            device = torch.device(f\"xpu:{self._local_rank}\")\n",
     "            device = torch.device(f\"xpu:{self._local_rank}\")\n" + HPU_DEVICE),
    (KERAS, "    def initialize(self, io_only=False):\n", "    def initialize(self, io_only=False):\n" + BRIDGE),
    (REQUIREMENTS, "torch>=1.10,<2.8\n", "# torch>=1.10,<2.8  # the vendor's build\n"),
    (REQUIREMENTS, "torchvision\n", "# torchvision\n"),
    (REQUIREMENTS, "tensorflow>=2.4.0\n", "# tensorflow>=2.4.0\n"),
]

# Fault -> (assertions that must fail, file, text of the correct port, its replacement).
BROKEN = {
    "no member": ({"A1"}, RUN, "    HPU = 4\n", ""),
    "member with another's value": ({"A1"}, RUN, "HPU = 4", "HPU = 3"),
    "a member renumbered": ({"A1"}, RUN, "    MPS = 3\n    HPU = 4\n", "    MPS = 4\n    HPU = 3\n"),
    "no switch": ({"A2"}, RUN, "    lazy_mode:     bool        = False\n", ""),
    "no device": ({"A3"}, TRAINER, HPU_DEVICE, ""),
    "device behind the last else": ({"A3"}, DISTRIBUTED, HPU_DEVICE, ""),
    "device with the rank": ({"A3"}, DISTRIBUTED, 'torch.device("hpu")', 'torch.device(f"hpu:{self._local_rank}")'),
    "device for everybody": ({"A3", "A9"}, TRAINER, "device = torch.device('cpu')", 'device = torch.device("hpu")'),
    "no first mark": ({"A4", "A5"}, TRAINER, FIRST_MARK, ""),
    "no second mark": ({"A4", "A5"}, TRAINER, SECOND_MARK, ""),
    "mark behind one backward only": (
        {"A4"}, TRAINER, BACKWARD + FIRST_MARK,
        f"                            if {GUARD} and self.cfg.run.lazy_mode:\n                                self.htcore.mark_step()\n"
        + BACKWARD,
    ),
    "second mark before the step": ({"A4"}, TRAINER, OPTIMIZER + SECOND_MARK, SECOND_MARK.lstrip("\n") + "                else_ = 0\n"),
    "marks without the target": ({"A5", "A9"}, TRAINER, f"if {GUARD} and self.cfg.run.lazy_mode:", "if self.cfg.run.lazy_mode:"),
    "marks without lazy mode": ({"A5"}, TRAINER, f"if {GUARD} and self.cfg.run.lazy_mode:", f"if {GUARD}:"),
    "gradients in validation": ({"A6"}, TRAINER, "    @torch.no_grad()\n    def val_step", "    def val_step"),
    "habana at top level": ({"A7", "A8"}, TRAINER, "import numpy\n", "import numpy\nimport habana_frameworks.torch.core as htcore\n"),
    "habana imported for all": (
        {"A9", "B1"}, DISTRIBUTED, '        init_method = "', '        import habana_frameworks.torch.distributed.hccl\n        init_method = "',
    ),
    "the variable behind the import": (
        {"A8"}, TRAINER, PREPARE,
        f"        if {GUARD}:\n            import habana_frameworks.torch.core as htcore\n            self.htcore = htcore\n"
        '            os.environ["PT_HPU_LAZY_MODE"] = "1"\n',
    ),
    "hccl before the variable": ({"A8"}, DISTRIBUTED, '            os.environ.setdefault("PT_HPU_LAZY_MODE", "1" if self.cfg.run.lazy_mode else "0")\n', ""),
    "the CPU's path changed": ({"A9"}, TRAINER, "self._opt.zero_grad()", "self._opt.zero_grad(set_to_none=True)"),
    "a line of the module gone": ({"A9"}, TRAINER, "torch.backends.cudnn.benchmark = True\n", ""),
    "a class for an instance": ({"A10"}, DISTRIBUTED, "            return contextlib.nullcontext()\n", "            return contextlib.nullcontext\n"),
    "a context of the card for the target": (
        {"A10", "B4"}, TRAINER, "if self.cfg.run.compute == ComputeKind.GPU:\n            return torch.cuda.device(0)",
        "if self.cfg.run.compute in (ComputeKind.GPU, ComputeKind.HPU):\n            return torch.cuda.device(0)",
    ),
    "no hccl": ({"B1", "B2"}, DISTRIBUTED, HCCL, ""),
    "no import of hccl": ({"B1"}, DISTRIBUTED, "            import habana_frameworks.torch.distributed.hccl\n", ""),
    "hccl for the CPU": ({"A9", "B2", "B3"}, DISTRIBUTED, 'backend = "gloo"', 'backend = "hccl"'),
    "the time-out dropped": ({"A9", "B3"}, DISTRIBUTED, "            rank        = rank,\n            timeout     = datetime.timedelta(seconds=300)\n",
                             "            rank        = rank\n"),
    "a card set for all but the target": (
        {"A9", "B3", "B4"}, DISTRIBUTED, '        init_method = "',
        f"        if not {GUARD}:\n            torch.cuda.set_device(self._local_rank)\n" + '        init_method = "',
    ),
    "a bridge of TensorFlow in PyTorch": ({"B6"}, TRAINER, PREPARE, PREPARE + "            from habana_frameworks.tensorflow import load_habana_module\n"
                                                                    "            load_habana_module()\n"),
    "no bridge of TensorFlow": ({"B7"}, KERAS, BRIDGE, ""),
    "the bridge of TensorFlow for all": ({"A9", "B7"}, KERAS, BRIDGE, "        from habana_frameworks.tensorflow import load_habana_module\n"
                                                                "        load_habana_module()\n"),
    "eight cards": ({"B5"}, DISTRIBUTED, HCCL, HCCL + "            self._local_rank = rank % 8\n"),
    "torch would be installed": ({"B8"}, REQUIREMENTS, "# torch>=1.10,<2.8  # the vendor's build\n", "torch>=1.10,<2.8\n"),
    "another requirement changed": ({"B8"}, REQUIREMENTS, "hydra-core==1.1\n", "hydra-core>=1.2\n"),
}


def replaced(root, file, old, new):
    path = root / file
    content = path.read_text(encoding="utf-8")
    assert old in content, f"{file} has no {old!r}"
    path.write_text(content.replace(old, new), encoding="utf-8")


class Assertions(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp()) / "ported"
        self.addCleanup(shutil.rmtree, self.root.parent)
        shutil.copytree(PROJECT, self.root)

    def port(self):
        for file, old, new in PORT:
            replaced(self.root, file, old, new)

    def test_a_right_port_passes(self):
        self.port()
        report = hpu.check(ORIGINAL, self.root)
        self.assertEqual([line for line in report.lines if "FAIL" in line], [])
        self.assertEqual(len(report.lines), 18)

    def test_the_original_fails(self):
        report = hpu.check(ORIGINAL, self.root)
        self.assertEqual(report.failed, ["A1", "A2", "A3", "A4", "A5", "A6", "A8", "A10", "B1", "B2", "B7", "B8"])

    def test_other_forms_of_the_same(self):
        self.port()
        replaced(self.root, TRAINER, f"if {GUARD} and", "if self.cfg.run.compute in (ComputeKind.HPU,) and")
        replaced(self.root, DISTRIBUTED, "        elif self.cfg.run.compute == ComputeKind.HPU:\n            device",
                 "        elif self.cfg.run.compute is ComputeKind.HPU:\n            device")
        replaced(self.root, TRAINER, "    @torch.no_grad()\n", "")
        replaced(self.root, TRAINER, "            # How far off\n            loss = self.loss_fn(labels, logits)\n            metrics = ",
                 "            with torch.no_grad():\n                loss = self.loss_fn(labels, logits)\n                metrics = ")
        replaced(self.root, TRAINER, "                    logits, labels = self.forward_pass(batch, net=net)\n            else:\n"
                 "                logits, labels = self.forward_pass(batch, net=net)\n",
                 "                    logits, labels = self.forward_pass(batch, net=net)\n            else:\n"
                 "                with torch.no_grad():\n                    logits, labels = self.forward_pass(batch, net=net)\n")
        report = hpu.check(ORIGINAL, self.root)
        self.assertEqual([line for line in report.lines if "FAIL" in line], [])


def broken(name):
    def test(self):
        expected, file, old, new = BROKEN[name]
        self.port()
        replaced(self.root, file, old, new)
        try:
            report = hpu.check(ORIGINAL, self.root)
        except SystemExit as stop:
            self.fail(f"does not parse: {stop}")
        self.assertLessEqual(expected, set(report.failed), "\n".join(report.lines))

    return test


for _name in BROKEN:
    setattr(Assertions, "test_broken_" + "_".join(_name.replace("'", "").split()), broken(_name))


if __name__ == "__main__":
    unittest.main()
