"""A stand-in for lightning-habana 1.7.

Source: https://github.com/Lightning-AI/lightning-Habana, docs/source and src: imported before Lightning where the profiler is used;
`HABANA_PROFILE` excludes the profiler; FSDP needs PT_HPU_LAZY_MODE=0; accelerator and strategies are objects.
"""

import os
import sys

from contracts import require

LATE = "lightning" in sys.modules


class Part:
    """Something a Trainer is given."""

    def __init__(self, *args, **options):
        self.args, self.options = args, options

    def joins(self, trainer):
        return None


class HPUAccelerator(Part):
    device = "hpu"

    def __init__(self, *args, **options):
        # Gaudi's software is in eager mode from 1.20 on where nobody says otherwise.
        os.environ.setdefault("PT_HPU_LAZY_MODE", "0")
        import habana_frameworks.torch  # noqa: F401

        super().__init__(*args, **options)


class OnHpu(Part):
    def joins(self, trainer):
        require("lightning.accelerator", isinstance(trainer.accelerator, HPUAccelerator),
                f"{type(self).__name__} with another accelerator than HPUAccelerator()")


class SingleHPUStrategy(OnHpu):
    pass


class HPUDDPStrategy(OnHpu):
    pass


HPUParallelStrategy = HPUDDPStrategy


class HPUDeepSpeedStrategy(OnHpu):
    def __init__(self, *args, stage=2, offload_parameters=False, **options):
        require("lightning.deepspeed", stage in (0, 1, 2, 3), f"ZeRO stage {stage}")
        require("lightning.deepspeed", not offload_parameters or stage == 3, "offload_parameters needs stage 3")
        super().__init__(*args, **options)


class HPUFSDPStrategy(OnHpu):
    def joins(self, trainer):
        super().joins(trainer)
        require("lightning.fsdp", os.environ.get("PT_HPU_LAZY_MODE") == "0", "FSDP needs PT_HPU_LAZY_MODE=0")


class HPUPrecisionPlugin(OnHpu):
    pass


HPUDeepSpeedPrecisionPlugin = HPUFSDPPrecision = HPUPrecisionPlugin


class HPUProfiler(OnHpu):
    def __init__(self, *args, **options):
        require("lightning.profiler", not LATE, "lightning_habana was imported after lightning: HPUProfiler asks for the other order")
        require("lightning.profiler", os.environ.get("HABANA_PROFILE") in (None, "profile_api_light"), "HABANA_PROFILE is set: it excludes HPUProfiler")
        super().__init__(*args, **options)
