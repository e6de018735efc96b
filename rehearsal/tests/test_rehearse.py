"""The runner: what it says of good and of bad scripts.

    python3 rehearsal/tests/test_rehearse.py
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

from test_ipu import STEP, WRAP


def rehearse(program, *options, argv=(), name="train.py"):
    kit = pathlib.Path(__file__).resolve().parent.parent
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / name).write_text(program, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, str(kit / "rehearse.py"), *options, "--", name, *argv],
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

    def test_a_kernel_runs_whole_and_tells_at_once(self):
        loop = STEP + "opt.step()\nn = 0\nfor x, y in poptorch.DataLoader(poptorch.Options(), data):\n    n += 1\nprint('batches', n)"
        _, cut, quiet = rehearse(loop.replace("print", "import sys\nprint"), "--target", "ipu", "--batches", "1")
        _, whole, told = rehearse(loop, "--target", "ipu", name="ipykernel_launcher.py")
        self.assertIn("batches 1\n", cut)
        self.assertNotIn("batches 1\n", whole)
        self.assertIn("rehearsal: BROKEN ipu.optimizer-step:", told)
        self.assertNotIn("BROKEN", quiet)

    def test_a_file_is_saved_with_arguments_by_name(self):
        for target in ("hpu", "ipu", "cpu"):
            save = "import io, torch\nfile = io.BytesIO()\ntorch.save(obj=torch.ones(2), f=file)\nprint('bytes', file.tell() > 0)"
            self.assertIn("bytes True", rehearse("import os\nos.environ['PT_HPU_LAZY_MODE'] = '0'\n" + save, "--target", target)[1])

    def test_a_script_that_was_not_ported(self):
        self.assertIn("did not use", rehearse("print(1)", "--target", "ipu")[1])
        gaudi = "import os\nos.environ['PT_HPU_LAZY_MODE'] = '0'\nimport habana_frameworks.torch.core\n"
        self.assertIn("imported habana_frameworks but used nothing", rehearse(gaudi, "--target", "hpu")[1])
        tensorboard = "from torch.utils.tensorboard import SummaryWriter\nSummaryWriter().add_scalar('loss', 1.0, 0)\n"
        self.assertNotIn("ModuleNotFoundError", "".join(map(str, rehearse(tensorboard, "--target", "hpu"))))

    def test_what_a_port_to_gaudi_is_held_to(self):
        program = textwrap.dedent("""
            import os
            os.environ["PT_HPU_LAZY_MODE"] = "HOW"
            import torch
            import habana_frameworks.torch.core as htcore
            net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Softplus(), torch.nn.Linear(4, 2)).to("hpu")
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            for _ in range(3):
                x = torch.sin(torch.rand(8, 4)).to("hpu")
                with torch.autocast(device_type="hpu", dtype=torch.bfloat16):
                    loss = torch.nn.functional.mse_loss(net(x), torch.zeros(8, 2, device="hpu"))
                loss.backward()
                htcore.mark_step()
                optimizer.step()
                htcore.mark_step()
        """)
        eager, lazy = program.replace("HOW", "0"), program.replace("HOW", "1")
        status, out, err = rehearse(eager, "--target", "hpu")
        self.assertEqual(status, 0, out + err)
        for rule in ("device", "no-cuda", "mode", "autocast-device"):
            self.assertIn(f"met     hpu.{rule} (3×)", out)
        for line in ("4 contracts met, 0 broken", "not exercised by this run", "hpu.mark-step", "hpu.backend"):
            self.assertIn(line, out)
        self.assertNotIn("lightning", out)
        self.assertNotIn("ipu.", out)
        status, out, _ = rehearse(lazy, "--target", "hpu")
        self.assertEqual(status, 0, out)
        self.assertIn("met     hpu.mark-step (6×)", out)

        def broken(program, rule, why):
            status, out, _ = rehearse(program, "--target", "hpu")
            self.assertEqual((status, out.count(f"BROKEN  {rule}  train.py:")), (1, 1), out)
            self.assertIn(why, out)

        marks = lazy.split("    htcore.mark_step()\n")
        broken(marks[0] + "    htcore.mark_step()\n" + marks[1] + marks[2], "hpu.mark-step", "no mark_step() between step() and backward()")
        broken(marks[0] + marks[1] + "    htcore.mark_step()\n" + marks[2], "hpu.mark-step", "no mark_step() between backward() and step()")
        broken(eager.replace('"hpu"', '"cpu"').replace('autocast(device_type="cpu"', 'autocast(device_type="hpu"'), "hpu.device", "backward() on cpu")
        broken(eager.replace('device_type="hpu"', 'device_type="cpu"'), "hpu.autocast-device", "autocast for cpu")
        broken(eager + "print(torch.cuda.max_memory_allocated())", "hpu.no-cuda", "returns 0 here")
        broken(eager + "torch.cuda.synchronize()", "hpu.no-cuda", "torch.cuda.synchronize on a machine without CUDA")
        broken(eager + "torch.distributed.all_reduce(loss)", "torch.process-group", "all_reduce without a process group")
        broken(eager + "torch.distributed.init_process_group('nccl')", "hpu.backend", "the backend hccl")

    def test_what_the_kit_lacks_is_no_fault_of_the_port(self):
        def lacks(line, what):
            status, out, _ = rehearse("import torch\n" + line, "--target", "cpu")
            self.assertEqual(status, 1, out)
            self.assertIn(f"THE STAND-IN lacks {what}, used at train.py:", out)
            self.assertNotIn("the script ended", out)

        for line, what in (
            ("import larcv.not_made_yet", "larcv.not_made_yet"), ("from larcv import queueloader\nqueueloader.not_made", "larcv.queueloader.not_made"),
        ):
            lacks(line, what)

        def own(line, why, *options):
            status, out, _ = rehearse("import torch\n" + line, *(options or ("--target", "cpu")))
            self.assertEqual(status, 1, out)
            self.assertIn(why, out)
            self.assertNotIn("STAND-IN", out)

        own("None.x", "ended with AttributeError")
        own("import not_there", "ended with ModuleNotFoundError")
        own("{}['x']", "ended with KeyError")
        own("class Net(torch.nn.Module): pass\nNet().layers", "ended with AttributeError")
        # The real one has none either.
        gaudi = "import os\nos.environ['PT_HPU_LAZY_MODE'] = '0'\nimport habana_frameworks.torch.core\n"
        own(gaudi + "torch.hpu.empty_cache()", "no attribute 'empty_cache'", "--target", "hpu")

    def test_keras_under_poprun_and_on_one_ipu(self):
        program = textwrap.dedent("""
            import tensorflow as tf
            from tensorflow import keras
            from tensorflow.python import ipu
            import popdist, popdist.tensorflow
            from tensorflow.python.ipu.distributed.popdist_strategy import PopDistStrategy
            config = ipu.config.IPUConfig()
            popdist.tensorflow.set_ipu_config(config)
            config.configure_ipu_system()
            with tf.device("/CPU:0"):
                x, y = tf.zeros((64, 4)), tf.zeros((64,))
            with PopDistStrategy().scope():
                model = keras.Sequential([keras.layers.Dense(3)])
                model.compile("adam", "mse", steps_per_execution=1)
        """)
        status, out, err = rehearse(program, "--target", "popdist")
        self.assertEqual(status, 0, out + err)
        self.assertIn("0 broken", out)
        alone = program.replace("popdist.tensorflow.set_ipu_config(config)", "config.auto_select_ipus = 1")
        alone = alone.replace("PopDistStrategy()", "ipu.ipu_strategy.IPUStrategy()")
        alone = "\n".join(line for line in alone.splitlines() if "popdist" not in line)
        status, out, err = rehearse(alone, "--target", "ipu")
        self.assertEqual(status, 0, out + err)
        self.assertIn("0 broken", out)

    def test_one_instance_of_several(self):
        program = "import popdist\npopdist.init()\nprint('instance', popdist.getInstanceIndex(), 'of', popdist.getNumInstances())"
        out = rehearse(program, "--target", "popdist", "--instances", "2", "--instance", "1", "--replicas", "4")[1]
        self.assertIn("instance 1 of 2", out)

    def test_a_wrong_command_line(self):
        self.assertEqual(rehearse("", "--target", "tpu")[0], 2)


if __name__ == "__main__":
    unittest.main()
