"""Examples of the guide for Lightning on Gaudi, run with the real packages on the kit's card.

A check names a section, one of its ports by its number, and expressions with the beginning of what they come to.

    python3 tests/guides/test_lightning_hpu.py
"""

import json
import pathlib
import re
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent.parent / "rehearsal" / "tests"))

from programs import Prepared, Run  # noqa: E402

GUIDE = (HERE.parent.parent / "guides" / "lightning-hpu.md").read_text(encoding="utf-8")
EXAMPLE = (HERE / "example.py").read_text(encoding="utf-8")


def ports(section):
    """What is written for the card in a section: the ports, and what a port leaves as it is."""
    text = re.split(r"^##", GUIDE.partition(f"{{#{section}}}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
    return re.findall(r"^```python (?:after|unchanged)[^\n]*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


class Guide(Prepared):
    target = "lightning"

    def check(self, section, number, expected, names="", change=None):
        text = ports(section)[number - 1]
        for a, b in (change or {}).items():
            assert a in text, a
            text = text.replace(a, b)
        program = f"import example\nexample.run({text!r}, {list(expected)!r}, {names!r})\n"
        run = Run(self.target, program, env=self.env, files={"example.py": EXAMPLE, "model.py": "from example import Spectra\n"})
        lines = [json.loads(line)[1] for line in run.out.splitlines() if line.startswith('["told"')]
        told = dict(zip(expected, lines))
        if "?" in expected.values() or True:
            print("##", section, number, run.trace[-1500:] if len(told) != len(expected) else "", flush=True)
            for k, v in told.items(): print("   ", k, "=>", v[:330], flush=True)
            return
        self.maxDiff = None
        self.assertEqual({key: value[:len(expected[key])] for key, value in told.items()}, expected, f"{told}\n{run.trace}")


class Eager(Guide):
    env = {"PT_HPU_LAZY_MODE": "0"}
    modules = ("stand_in_start", "lightning_habana", "lightning.pytorch", "deepspeed")

    def test_fabric(self):
        self.check("fabric", 1, {"by_fabric(one)": "?", "by_fabric(many)": "?"})
        self.check("fabric", 1, {"by_fabric(L.Fabric(accelerator=HPUAccelerator(), devices=1, strategy=SingleHPUStrategy(), plugins=__import__('lightning_habana').fabric.plugins.precision.HPUPrecision('bf16')))": "?"})
        self.check("fabric", 1, {"by_fabric(L.Fabric(accelerator=HPUAccelerator(), devices=1, strategy=SingleHPUStrategy(), plugins=__import__('lightning_habana').fabric.plugins.precision.HPUPrecision('bf16-mixed')))": "?"})
        self.check("fabric", 1, {"L.Fabric(accelerator='hpu')": "?"})

    def test_fabric(self):
        self.check("fabric", 1, {"by_fabric(one)": "?", "by_fabric(many)": "?"})
        self.check("fabric", 1, {"by_fabric(L.Fabric(accelerator=HPUAccelerator(), devices=1, strategy=SingleHPUStrategy(), plugins=__import__('lightning_habana.fabric.plugins.precision').fabric.plugins.precision.HPUPrecision('bf16')))": "?"})
        self.check("fabric", 1, {"by_fabric(L.Fabric(accelerator=HPUAccelerator(), devices=1, strategy=SingleHPUStrategy(), plugins=__import__('lightning_habana.fabric.plugins.precision').fabric.plugins.precision.HPUPrecision('bf16-mixed')))": "?"})
        self.check("fabric", 1, {"L.Fabric(accelerator='hpu')": "?"})

    def test_back(self):
        OS = "import os\nos.environ.update(RANK='0', WORLD_SIZE='1', LOCAL_RANK='0', MASTER_ADDR='localhost', MASTER_PORT='29500')\ndeepspeed.init_distributed(dist_backend='hccl')\n"
        self.check("deepspeed-backend", 1, {"deepspeed.initialize(model=net, config={'train_batch_size': 8, 'optimizer': {'type': 'SGD', 'params': {'lr': 0.1}}, 'zero_optimization': {'stage': 2}})": "?", 
          "deepspeed.init_inference(net, dtype=torch.bfloat16, tensor_parallel={'tp_size': 1}, injection_policy={Block: ('out',)})":"?",
          "deepspeed.inference.config.DeepSpeedInferenceConfig(tensor_parallel={'tp_size': 8}, injection_policy={Block: ('out',)}).tensor_parallel.tp_size": "?",
          "deepspeed.init_inference(net, dtype=torch.bfloat16, mp_size=1, replace_method='auto')":"?"}, names=OS)

    def test_strings(self):
        t = "fit(L.Trainer(accelerator={!r}, devices=1))"
        self.check("accelerator", 1, {t.format(n): "?" for n in ("hpu", "auto", "gpu")})
        self.check("accelerator", 1, {"L.Trainer(accelerator=HPUAccelerator(), devices=[0, 1])":"?", "type(L.Trainer(accelerator='hpu', devices='auto', strategy='auto').strategy)":"?"})

class Lazy(Guide):
    env = {"PT_HPU_LAZY_MODE": "1"}
    modules = ("stand_in_start", "lightning_habana", "lightning.pytorch", "deepspeed")

    def test_graphs(self):
        self.check("dynamic-models", 1, {"Branches(torch.nn.Linear(4, 8), torch.nn.Linear(8, 3), torch.nn.Linear(8, 5)).to('hpu')(image.to('hpu'), True).shape": "?"})
        self.check("dynamic-models", 2, {"Selection(torch.nn.Linear(4, 8), torch.nn.Linear(8, 3)).to('hpu')(image.to('hpu')).shape": "?"})

if __name__ == "__main__":
    unittest.main()
