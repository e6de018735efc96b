"""The runner: what it says of good and of bad scripts.

    python3 rehearsal/tests/test_rehearse.py
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from test_ipu import STEP, WRAP


def rehearse(program, *options, argv=()):
    kit = pathlib.Path(__file__).resolve().parent.parent
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "train.py").write_text(program, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, str(kit / "rehearse.py"), *options, "--torch", "stand-in", "--", "train.py", *argv],
            cwd=folder, text=True, capture_output=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        )
    return done.returncode, done.stdout, done.stderr


class Runner(unittest.TestCase):
    def test_a_good_script(self):
        status, out, _ = rehearse(STEP + "import sys; print(sys.argv)", "--target", "ipu", argv=("--lr", "1"))
        self.assertEqual(status, 0, out)
        self.assertIn("'train.py', '--lr', '1'", out)
        self.assertIn("0 broken", out)

    def test_a_broken_contract_has_a_place(self):
        status, out, _ = rehearse(STEP + "opt.step()\nprint('on')", "--target", "ipu")
        self.assertEqual(status, 1)
        line = (STEP + "opt.step()").count("\n") + 1
        self.assertIn(f"BROKEN  ipu.optimizer-step  train.py:{line}", out)
        self.assertIn("on\n", out)

    def test_a_script_that_fails(self):
        status, out, err = rehearse("raise ValueError('no data')", "--target", "ipu")
        self.assertEqual(status, 1)
        self.assertIn("ended with ValueError: no data", out)
        self.assertIn('File "', err)

    def test_a_long_script_is_cut_short(self):
        status, out, _ = rehearse(WRAP + "while True:\n    ipu(x, y)", "--target", "ipu", "--steps", "5")
        self.assertEqual(status, 0, out)
        loop = WRAP + "n = 0\nfor x, y in poptorch.DataLoader(poptorch.Options(), data):\n    n += 1\nprint('batches', n)"
        self.assertIn("batches 2\n", rehearse(loop, "--target", "ipu", "--batches", "2")[1])

    def test_a_script_that_was_not_ported(self):
        self.assertIn("did not touch", rehearse("print(1)", "--target", "ipu")[1])
        gaudi = "import os\nos.environ['PT_HPU_LAZY_MODE'] = '0'\nimport habana_frameworks.torch.core\n"
        self.assertIn("ran with habana_frameworks", rehearse(gaudi, "--target", "hpu")[1])
        tensorboard = "from torch.utils.tensorboard import SummaryWriter\nSummaryWriter().add_scalar('loss', 1.0, 0)\n"
        self.assertNotIn("ModuleNotFoundError", "".join(map(str, rehearse(tensorboard, "--target", "hpu"))))

    def test_one_instance_of_several(self):
        program = "import popdist\npopdist.init()\nprint('instance', popdist.getInstanceIndex(), 'of', popdist.getNumInstances())"
        out = rehearse(program, "--target", "popdist", "--instances", "2", "--instance", "1", "--replicas", "4")[1]
        self.assertIn("instance 1 of 2", out)

    def test_a_wrong_command_line(self):
        self.assertEqual(rehearse("", "--target", "tpu")[0], 2)


if __name__ == "__main__":
    unittest.main()
