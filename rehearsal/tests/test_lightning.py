"""The real Lightning and lightning-habana on the kit's Gaudi. What they take and refuse of a port is in tests/guides.

    python3 rehearsal/tests/test_lightning.py
"""

import unittest

from programs import Programs, Run

NET = """
import torch
class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(4, 3)
    def training_step(self, batch, index):
        x, y = batch
        loss = torch.nn.functional.cross_entropy(self.fc(x), y)
        losses.append(loss.item())
        return loss
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
losses = []
torch.manual_seed(1)
data = torch.utils.data.TensorDataset(torch.rand(8, 4), torch.arange(8) % 3)
loader = torch.utils.data.DataLoader(data, batch_size=4)
"""
GAUDI = "import lightning_habana as H\nimport lightning.pytorch as L\n" + NET
PLAIN = "import lightning.pytorch as L\n" + NET
QUIET = "logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False, max_epochs=2"
EAGER = {"env": {"PT_HPU_LAZY_MODE": "0"}}


def fit(arguments):
    return f"L.Trainer({arguments}, {QUIET}).fit(Net(), loader)\nprint(losses)"


class Lightning(Programs):
    target = "lightning"

    def test_the_numbers_are_those_of_the_cpu(self):
        """Without DeepSpeed, which few programs have."""
        without = "import sys\nsys.modules['deepspeed'] = None\n"
        gaudi = self.good(without + GAUDI + fit("accelerator=H.HPUAccelerator(), devices=1, strategy=H.SingleHPUStrategy()"), **EAGER)
        self.assertIn(["backward", {"device": "hpu"}], gaudi.calls)
        plain = Run(self.target, PLAIN + fit("accelerator='cpu', devices=1"), **EAGER)
        self.assertEqual(plain.error, "")
        self.assertEqual(gaudi.out.splitlines()[-1], plain.out.splitlines()[-1])


if __name__ == "__main__":
    unittest.main()
