"""Everything of the recorder, put in place: what is there already at once, the rest when the program imports it."""

import builtins
import os

import habits  # noqa: F401
import made_up_data
import private_files  # noqa: F401
import stand_in_data
from on_import import when_imported


def _torch():
    import stand_in_devices as devices
    import stand_in_random
    import torch_calls
    import twin

    torch_calls.install()
    stand_in_random.follow()
    devices.install()
    twin.install()
    made_up_data.install()
    if not _load_the_bridge():
        _watch_imports()


def _load_the_bridge():
    if not _loads_the_bridge():
        return False
    import habana_frameworks.torch.core
    import habana_frameworks.torch.distributed.hccl  # noqa: F401

    return True


def _watch_imports():
    """A process that has torch from the start: the program's own `import torch` counts, behind the line that sets the mode."""
    original = builtins.__import__

    def importing(name, *args, **kwargs):
        if name.split(".")[0] == "torch" and _loads_the_bridge():
            builtins.__import__ = original
            _load_the_bridge()
        return original(name, *args, **kwargs)

    builtins.__import__ = importing


def _loads_the_bridge():
    """Gaudi's software from 1.18 on, HCCL with it, is loaded by `import torch`, unless lazy mode is on.

    Source: https://docs.habana.ai/en/latest/PyTorch/Python_Packages.html (PyTorch Autoloading); the bridge's `__autoload`, release 1.19.
    """
    sdk = os.environ.get("STAND_IN_SDK", "")
    recent = not sdk or tuple(map(int, sdk.split(".")[:2])) >= (1, 18)
    return recent and os.environ.get("STAND_IN_MACHINE") == "hpu" and os.environ.get("PT_HPU_LAZY_MODE") == "0"


def _of(module):
    def install():
        import other_calls

        getattr(other_calls, module)()

    return install


if made_up_data.FILE:
    made_up_data.fill_in_arguments()
when_imported("torch", _torch)
when_imported("torch.utils.tensorboard.writer", _of("tensorboard"))
when_imported("tensorboardX.writer", _of("tensorboardx"))
when_imported("matplotlib.figure", _of("matplotlib"))
when_imported("lightning.pytorch.trainer.trainer", _of("lightning"))
when_imported("pytorch_lightning.trainer.trainer", _of("pytorch_lightning"))
when_imported("lightning_habana.utils.resources", _of("lightning_habana"))
when_imported("deepspeed.ops.op_builder.hpu.cpu_adam", _of("deepspeed"))
when_imported("hydra", _of("hydra"))
when_imported("torchvision", _of("torchvision"))


def _tensorflow(name):
    def install():
        import keras_calls

        keras_calls.imported(name)

    return install


if os.environ.get("STAND_IN_TWIN"):
    import clock

    clock.install()
    for _name in ("tensorflow", "keras"):
        when_imported(_name, _tensorflow(_name))


def _keras(module, name):
    def install():
        import sys

        stand_in_data.keras(sys.modules[module], name)

    return install


if stand_in_data.COUNT:
    for _name in stand_in_data.KERAS:
        for _module in (f"keras.src.datasets.{_name}", f"keras.datasets.{_name}", f"keras._tf_keras.keras.datasets.{_name}"):
            when_imported(_module, _keras(_module, _name))
