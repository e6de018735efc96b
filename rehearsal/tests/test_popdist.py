"""Each rule of PopDist, and a small program that breaks it.

    python3 rehearsal/tests/test_popdist.py
"""

import unittest

from programs import POPRUN, Programs

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
