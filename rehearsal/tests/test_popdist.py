"""Each rule of PopDist, and a small program that breaks it.

    python3 rehearsal/tests/test_popdist.py
"""

import json
import os
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

from programs import POPRUN, Programs, Run

DATA = """
import torch, poptorch, popdist, popdist.poptorch
data = torch.utils.data.TensorDataset(torch.rand(64, 4), torch.zeros(64, dtype=torch.long))
"""
START = DATA + "if popdist.isPopdistEnvSet():\n    popdist.init()\n"


class Popdist(Programs):
    target = "popdist"

    def test_under_poprun(self):
        self.good(START + """
opts = popdist.poptorch.Options()
opts.randomSeed(42)
assert opts.replication_factor == 2 and popdist.getNumInstances() == 2 and popdist.getInstanceIndex() == 1
loader = poptorch.DataLoader(opts, data, batch_size=4, shuffle=True)
assert len(loader.dataset) == 32 and len(loader) == 4
""", env={**POPRUN, "POPDIST_REPLICA_INDEX_OFFSET": "2"})

    def test_without_poprun(self):
        self.good(START + "opts = popdist.poptorch.Options() if popdist.isPopdistEnvSet() else poptorch.Options()")
        self.bad("popdist.init", DATA + "popdist.init()")
        self.bad("popdist.init", START + "popdist.getInstanceIndex()")
        self.bad("popdist.init", START + "popdist.poptorch.Options()")

    def test_once_and_first(self):
        self.bad("popdist.init", START + "popdist.init()", env=POPRUN)
        self.bad("popdist.init", DATA + "popdist.poptorch.Options()", env=POPRUN)

    def test_replication_and_seed(self):
        self.bad("popdist.replication", START + "popdist.poptorch.Options().replicationFactor(2)", env=POPRUN)
        self.bad("popdist.same-seed", START + "poptorch.DataLoader(popdist.poptorch.Options(), data, shuffle=True)", env=POPRUN)


NUMBERS = """
import json
import torch
from torch import nn

DATA = torch.utils.data.TensorDataset(torch.randn(48, 8, generator=torch.Generator().manual_seed(1)), torch.arange(48) % 3)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.last, self.loss = nn.Linear(8, 16), nn.Linear(16, 3), nn.CrossEntropyLoss()

    def forward(self, x, y):
        return self.loss(self.last(torch.relu(self.first(x))), y)


net, losses = Net().train(), []
"""
INSTANCE = NUMBERS + """
import poptorch, popdist, popdist.poptorch
popdist.init()
opts = popdist.poptorch.Options()
opts.randomSeed(4)
opts.outputMode(poptorch.OutputMode.All)
{options}
loader = poptorch.DataLoader(opts, DATA, batch_size=4, shuffle={shuffle})
model = poptorch.trainingModel(net, opts, poptorch.optim.AdamW(net.parameters(), lr=0.01))
seen = []
for x, y in loader:
    losses.append(model(x, y).mean().item())
    seen.append(y.tolist())
model.detachFromDevice()
print(json.dumps([losses, seen, [p.tolist() for p in net.parameters()], popdist.getInstanceIndex()]))
"""
# One process that takes, at each step, what all instances took together.
ALONE = NUMBERS + """
steps = {steps}
optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
for parts in steps:
    optimizer.zero_grad()
    for part in parts:
        x, y = torch.stack([DATA[i][0] for i in part]), torch.tensor([int(DATA[i][1]) for i in part])
        loss = net(x, y) / {count}
        loss.backward()
    optimizer.step()
print(json.dumps([[], [], [p.tolist() for p in net.parameters()]]))
"""


class Numbers(unittest.TestCase):
    """N instances with batches of b train what one process trains with batches of N·b."""

    def instances(self, count, replicas=1, options="", shuffle=False):
        program = INSTANCE.replace("{options}", options).replace("{shuffle}", str(shuffle))
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(count) as together:
            runs = list(together.map(lambda index: Run("popdist", program, env={
                "STAND_IN_STORE": os.path.join(folder, "store"), "POPDIST_NUM_TOTAL_REPLICAS": str(count * replicas),
                "POPDIST_NUM_LOCAL_REPLICAS": str(replicas), "POPDIST_REPLICA_INDEX_OFFSET": str(index * replicas),
                "POPDIST_NUM_IPUS_PER_REPLICA": "1"}), range(count)))
        for run in runs:
            self.assertEqual(run.error, "", run.trace)
        return [json.loads(run.out.strip().splitlines()[-1]) for run in runs]

    def alone(self, steps, count):
        run = Run("ipu", ALONE.replace("{steps}", repr(steps)).replace("{count}", str(count)))
        self.assertEqual(run.error, "", run.trace)
        return json.loads(run.out.strip().splitlines()[-1])[2]

    def test_two_instances(self):
        runs = self.instances(2)
        self.assertEqual(runs[0][2], runs[1][2])
        # The first reads the first half, the second the second half.
        steps = [[list(range(i * 4, i * 4 + 4)), list(range(24 + i * 4, 28 + i * 4))] for i in range(6)]
        self.assertEqual(runs[0][2], self.alone(steps, 2))

    def test_instances_with_replicas_and_accumulation(self):
        runs = self.instances(2, replicas=2, options="opts.Training.gradientAccumulation(2)")
        self.assertEqual(runs[0][2], runs[1][2])
        # One step: 2 instances × 2 accumulations × 2 replicas × 4 samples; the rest of the 48 fills no second one.
        step = [list(range(first, first + 4)) for first in range(0, 32, 4)]
        self.assertEqual(len(runs[0][0]), 1)
        for one, other in zip(runs[0][2], self.alone([step], 8)):
            for a, b in zip(flat(one), flat(other)):
                self.assertAlmostEqual(a, b, 6)  # sums of four, then of two, against one of eight

    def test_each_sample_is_seen_once(self):
        runs = self.instances(3, shuffle=True)
        self.assertEqual([len(run[1]) for run in runs], [4, 4, 4])
        seen = sorted(label for run in runs for batch in run[1] for label in batch)
        self.assertEqual(seen, sorted(i % 3 for i in range(48)))


def flat(value):
    return [number for item in value for number in flat(item)] if isinstance(value, list) else [value]


KERAS = """
from tensorflow import keras
from tensorflow.python import ipu
from tensorflow.python.ipu.distributed import popdist_strategy
import popdist.tensorflow
config = ipu.config.IPUConfig()
popdist.tensorflow.set_ipu_config(config, ipus_per_replica=1)
config.configure_ipu_system()
strategy = popdist_strategy.PopDistStrategy()
assert popdist.getNumInstances() == 2
"""


class Keras(Programs):
    target = "tensorflow-ipu"

    def test_under_poprun(self):
        self.good(KERAS, env=POPRUN)

    def test_without_poprun(self):
        self.bad("popdist.init", KERAS)


if __name__ == "__main__":
    unittest.main()
