"""The example of the guides for several processes that averages the loss, run over gloo: processes that share the batches of one process
print what that one prints.

    python3 tests/guides/test_processes.py
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GUIDES = {name: (ROOT / "guides" / f"{name}.md").read_text(encoding="utf-8") for name in ("engine", "pytorch-device-processes")}
STUB = "def replica_of(net):\n    return net\n"
REDUCED = "        loss = mean_of_processes(loss)\n"
# What the example leaves open: a model, and for each process its part of every batch.
SETUP = """
import functools, os, sys, torch
rank, size = int(sys.argv[1]), int(sys.argv[2])
if size > 1:
    torch.distributed.init_process_group("gloo", init_method="file://" + sys.argv[3], rank=rank, world_size=size)
torch.manual_seed(3)
net = torch.nn.Linear(12, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
batches = [(torch.rand(16, 12), torch.randint(4, (16,))) for _ in range(4)]
events = [(event[rank::size], label[rank::size]) for event, label in batches]
"""


def fence(text, kind):
    return re.search(rf"^```python {kind}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL).group(1)


def example():
    """The port of the section's first example, with the wrapped model of the guides, and the CPU as the target's device."""
    after = fence(GUIDES["pytorch-device-processes"].partition("{#average-loss}\n")[2], "after [^\n]*")
    after = after.replace("{{fact.device}}", "cpu").replace("{{fact.prologue}}\n", "")
    return SETUP + after.replace(STUB, fence(GUIDES["engine"], "block replica_of"))


def losses(program, size):
    """The loss that each process prints."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "program.py")
        path.write_text(program, encoding="utf-8")
        env = {**os.environ, "OMP_NUM_THREADS": "1"}
        start = [[sys.executable, str(path), str(rank), str(size), str(path.with_name("meeting"))] for rank in range(size)]
        started = [subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, text=True) for argv in start]
        printed = [process.communicate(timeout=120)[0] for process in started]
    return [float(text.split()[1]) for text in printed]


class AverageLoss(unittest.TestCase):
    def test_processes_print_the_loss_of_all(self):
        program = example()
        self.assertIn(REDUCED, program)
        [alone] = losses(program, 1)
        for loss in losses(program, 2):
            self.assertAlmostEqual(loss, alone, places=5)
        # Without the average each prints its own.
        first, second = losses(program.replace(REDUCED, ""), 2)
        self.assertNotAlmostEqual(first, second, places=3)
        self.assertNotAlmostEqual(first, alone, places=3)


if __name__ == "__main__":
    unittest.main()
