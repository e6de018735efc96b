"""Each rule of Lightning on Gaudi, and a small program that breaks it.

    python3 rehearsal/tests/test_lightning.py
"""

import unittest

from programs import Programs

NET = """
import torch
class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(4, 3)
    def training_step(self, batch, index):
        x, y = batch
        return torch.nn.functional.cross_entropy(self.fc(x), y)
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
data = torch.utils.data.TensorDataset(torch.rand(8, 4), torch.zeros(8, dtype=torch.long))
loader = torch.utils.data.DataLoader(data, batch_size=4)
"""
EARLY = "import lightning_habana as H\nimport lightning as L\n" + NET
LATE = "import lightning as L\nimport lightning_habana as H\n" + NET
LAZY = {"env": {"PT_HPU_LAZY_MODE": "1"}}
EAGER = {"env": {"PT_HPU_LAZY_MODE": "0"}}


def fit(arguments):
    return f"L.Trainer({arguments}).fit(Net(), loader)"


class Lightning(Programs):
    target = "lightning"

    def test_a_whole_run(self):
        run = self.good(EARLY + fit("accelerator=H.HPUAccelerator(), strategy=H.SingleHPUStrategy(), profiler=H.HPUProfiler()"), **EAGER)
        self.assertIn(["backward", {"device": "hpu"}], run.calls)
        paths = "from lightning_habana.pytorch.accelerator import HPUAccelerator\nfrom lightning_habana.pytorch.strategies import HPUDDPStrategy\n"
        self.good(paths + EARLY + fit("accelerator=HPUAccelerator(), strategy=HPUDDPStrategy()"), **EAGER)
        self.good(LATE + fit("accelerator=H.HPUAccelerator(), strategy=H.HPUDeepSpeedStrategy(stage=3, offload_parameters=True)"), **LAZY)

    def test_the_older_name(self):
        older = EARLY.replace("import lightning as L", "import pytorch_lightning as L")
        run = self.good(older + fit("accelerator=H.HPUAccelerator(), strategy=H.SingleHPUStrategy()"), **EAGER)
        self.assertIn(["backward", {"device": "hpu"}], run.calls)
        self.good(older + """
from pytorch_lightning.callbacks import EarlyStopping, ModelCheckpoint
from pytorch_lightning.loggers import TensorBoardLogger
class Kept(Net):
    def __init__(self, rate=0.5, width=3):
        super().__init__()
        self.save_hyperparameters()
assert (Kept(rate=0.1).hparams.rate, Kept().hparams["width"]) == (0.1, 3)
L.Trainer(accelerator=H.HPUAccelerator(), logger=TensorBoardLogger("logs"), callbacks=[EarlyStopping(monitor="loss"), ModelCheckpoint()])
""", **EAGER)

    def test_objects_not_names(self):
        self.bad("lightning.names", EARLY + "import habana_frameworks.torch\n" + fit("accelerator='hpu'"), **EAGER)
        self.bad("lightning.accelerator", EARLY + fit("strategy=H.HPUDDPStrategy()"), **EAGER)

    def test_modes_and_order(self):
        self.bad("lightning.fsdp", EARLY + fit("accelerator=H.HPUAccelerator(), strategy=H.HPUFSDPStrategy()"), **LAZY)
        self.bad("lightning.profiler", LATE + "H.HPUProfiler()", **EAGER)
        self.bad("lightning.profiler", EARLY + "H.HPUProfiler()", env={"PT_HPU_LAZY_MODE": "0", "HABANA_PROFILE": "1"})
        self.bad("lightning.deepspeed", EARLY + "H.HPUDeepSpeedStrategy(stage=2, offload_parameters=True)", **EAGER)


if __name__ == "__main__":
    unittest.main()
