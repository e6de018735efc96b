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

    def check(self, section, number, expected, names=""):
        program = f"import example\nexample.run({ports(section)[number - 1]!r}, {list(expected)!r}, {names!r})\n"
        run = Run(self.target, program, env=self.env, files={"example.py": EXAMPLE, "model.py": "from example import Spectra\n"})
        lines = [json.loads(line)[1] for line in run.out.splitlines() if line.startswith('["told"')]
        told = dict(zip(expected, lines))
        self.assertEqual(len(told), len(expected), run.trace)
        self.maxDiff = None
        self.assertEqual({key: value[:len(expected[key])] for key, value in told.items()}, expected, f"{told}\n{run.trace}")


class Eager(Guide):
    env = {"PT_HPU_LAZY_MODE": "0"}
    modules = ("stand_in_start", "lightning_habana", "lightning.pytorch", "deepspeed")

    def test_accelerator(self):
        one = "fit(trainer)"
        self.check("accelerator", 1, {one: "?"})
        self.check("accelerator", 2, {"fit(trainer)": "?", "fit(other)": "?", "fit(rest)": "?", "fit(more)": "?", "fit(old)": "?", "fit(host)": "?", "fit(last)": "?"})
        self.check("accelerator", 3, {"fit(main())": "?"})
        self.check("accelerator", 4, {"L.Trainer(accelerator='hpu', devices=1)": "?", "L.Trainer(accelerator='gpu', devices=1)": "?", "L.Trainer(accelerator='hpu', devices=1, strategy='ddp')": "?", "fit(L.Trainer(accelerator='hpu', devices=1))":"?"}, names="strategy='auto'\nargs.accelerator='cpu'")

    def test_ddp(self):
        self.check("ddp", 1, {f"fit({n})": "?" for n in ("one", "two", "three", "four", "five", "six")})
        self.check("ddp", 2, {f"fit({n})": "?" for n in ("one", "two", "three")})
        self.check("ddp", 3, {"fits(main, args)": "?"})

    def test_precision(self):
        plugins = "fit(pl.Trainer(accelerator=HPUAccelerator(), devices=1, plugins={}))"
        self.check("precision", 1, {"fit(trainer)": "?", **{plugins.format(n): "?" for n in ("plugins", "older", "deep", "sharded")}}, names="chosen, place = 'auto', 'hpu'\nimport argparse; parser=argparse.ArgumentParser()")
        p = "pl.Trainer(accelerator=__import__('lightning_habana').HPUAccelerator(), devices=1, precision={!r})"
        self.check("precision", 2, {p.format(n): "?" for n in (64, "64", "64-true", "16-true", "bf16-true", "transformer-engine", "transformer-engine-float16", "16-mixed", "32-true")})
        self.check("precision", 2, {"fit(pl.Trainer(accelerator=__import__('lightning_habana').HPUAccelerator(), devices=1, plugins=pl.plugins.HalfPrecision('bf16-true')))": "?"})

    def test_deepspeed(self):
        self.check("deepspeed", 1, {f"fit({n})": "?" for n in ("one", "two", "three", "four", "five", "six", "seven", "eight")})
        self.check("deepspeed", 1, {f"fit({n}, deepspeed.ops.adam.DeepSpeedCPUAdam)": "?" for n in ("four", "five")})
        self.check("deepspeed", 1, {f"fit({n}, deepspeed.ops.adam.DeepSpeedCPUAdam)": "?" for n in ("eight",)})
        for n in range(3): self.check("deepspeed", 2, {"fits(train, Spectra(), 'bf16-mixed')": "?"}, names="checkpoints = __import__('lightning_habana').HPUCheckpointIO()")
        self.check("deepspeed", 3, {"fit(trainer)": "?"})
        self.check("deepspeed", 4, {"fit(trainer, deepspeed.ops.adam.DeepSpeedCPUAdam)": "?"})
        self.check("deepspeed", 5, {"fit(trainer, deepspeed.ops.adam.DeepSpeedCPUAdam)": "?"})
        self.check("deepspeed", 6, {"fit(one)": "?", "fit(two)": "?"})
        self.check("deepspeed", 3, {"fit(L.Trainer(accelerator=HPUAccelerator(), devices=1, strategy='hpu_deepspeed'))": "?", "L.Trainer(accelerator=HPUAccelerator(), devices=1, strategy='deepspeed_stage_2')": "?", "L.Trainer(accelerator=HPUAccelerator(), devices=1, strategy='hpu_deepspeed_stage_1')": "?",})

    def test_fsdp(self):
        self.check("fsdp", 1, {f"fit({n})": "?" for n in ("one", "two", "three", "four", "five", "six", "seven", "eight")})
        self.check("fsdp", 2, {"fit(trainer)": "?"})
        self.check("fsdp", 3, {f"fit({n})": "?" for n in ("one", "two")})
        self.check("fsdp", 4, {f"fit({n})": "?" for n in ("one", "two")})

    def test_profiler(self):
        self.check("profiler", 1, {f"fit({n})": "?" for n in ("one", "two")})


if __name__ == "__main__":
    unittest.main()
