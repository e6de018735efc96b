"""The real Lightning and lightning-habana on the kit's Gaudi: what their connectors take and what they refuse.

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
        gaudi = self.good(GAUDI + fit("accelerator=H.HPUAccelerator(), devices=1, strategy=H.SingleHPUStrategy()"), **EAGER)
        self.assertIn(["backward", {"device": "hpu"}], gaudi.calls)
        plain = Run(self.target, PLAIN + fit("accelerator='cpu', devices=1"), **EAGER)
        self.assertEqual(plain.error, "")
        self.assertEqual(gaudi.out.splitlines()[-1], plain.out.splitlines()[-1])

    def refused(self, program, words):
        run = Run(self.target, program, **EAGER)
        self.assertIn(words, run.trace)
        self.assertTrue(run.error)

    def test_a_strategy_for_another_accelerator_is_refused(self):
        self.refused(GAUDI + fit("accelerator='cpu', strategy=H.SingleHPUStrategy()"), "HPU")

    def test_deepspeed_steps_only_with_its_plugin(self):
        """A trainer's arguments, and what becomes of it: whether its weights moved and their type, or how it failed."""
        plugin = "H.HPUDeepSpeedPrecisionPlugin"
        cases = {
            f"strategy=S(stage=1, precision_plugin={plugin}('bf16-mixed')), precision='bf16-mixed'": "True torch.bfloat16",
            f"strategy=S(stage=2, offload_optimizer=True, precision_plugin={plugin}('32-true'))": "True torch.float32",
            f"strategy=S(stage=3, offload_parameters=True, precision_plugin={plugin}('bf16-mixed'))": "True torch.bfloat16",
            f"strategy=S(stage=2), plugins={plugin}('bf16-mixed')": "True torch.bfloat16",
            "strategy=S(stage=2), precision='bf16-mixed'": "DeepSpeed calls no closure",
            f"strategy=S(stage=2), precision='bf16-mixed', plugins={plugin}('bf16-mixed')": "Received both",
        }
        program = GAUDI + "S = H.HPUDeepSpeedStrategy\n"
        for case in cases:
            program += f"""
net = Net()
before = net.fc.weight.detach().clone()
try:
    L.Trainer(accelerator=H.HPUAccelerator(), devices=1, {case}, {QUIET}).fit(net, loader)
    print("case", bool((net.fc.weight.detach().float() - before).abs().max() > 0.01), net.fc.weight.dtype)
except Exception as error:
    print("case", error)
"""
        self.tell(program, cases)

    def test_fsdp_takes_its_precision_from_its_plugin_only(self):
        """What precision a trainer has. Without a card for each process FSDP itself does not start."""
        plugin = "H.HPUFSDPPrecision"
        cases = {
            f"strategy=S(precision_plugin={plugin}('32-true')), precision='32-true'": "32-true",
            f"strategy=S(precision_plugin={plugin}('bf16-mixed'))": "bf16-mixed",
            "strategy=S(), precision='32-true'": "bf16-mixed",
            f"strategy=S(precision_plugin=None), plugins={plugin}('32-true')": "32-true",
            f"strategy=S(), plugins={plugin}('32-true')": "precision set through both",
        }
        program = GAUDI + "S = H.HPUFSDPStrategy\n"
        for case in cases:
            program += f"""
try:
    trainer = L.Trainer(accelerator=H.HPUAccelerator(), devices=1, {case}, {QUIET})
    print("case", trainer.precision_plugin.precision)
except Exception as error:
    print("case", error)
"""
        self.tell(program, cases)

    def tell(self, program, cases):
        """What a program prints for each case, in a line that begins with `case`."""
        run = Run(self.target, program, **EAGER)
        told = [line for line in run.out.splitlines() if line.startswith("case")]
        self.assertEqual(len(told), len(cases), run.trace)
        for (case, expected), line in zip(cases.items(), told):
            self.assertIn(expected, line, case)

    def test_the_profiler_refuses_the_other_one(self):
        self.refused(GAUDI + 'import os\nos.environ["HABANA_PROFILE"] = "1"\nH.HPUProfiler()', "HABANA_PROFILE")


if __name__ == "__main__":
    unittest.main()
