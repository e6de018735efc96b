"""Calls of packages beside PyTorch that are written down: what a program draws, logs and hands to Lightning."""

import functools
import importlib.util
import os
import sys

from contracts import KIT
from stand_in_calls import record


def _wrap(owner, name, told):
    original = getattr(owner, name)

    @functools.wraps(original)
    def wrapped(*args, **kwargs):
        told(*args, **kwargs)
        return original(*args, **kwargs)

    setattr(owner, name, wrapped)


def _writer(writer):
    _wrap(writer, "__init__", lambda *_, **__: record("SummaryWriter"))
    for name in ("add_scalar", "add_scalars", "add_image", "add_histogram"):
        _wrap(writer, name, functools.partial(_scalar, name))


def _scalar(name, writer, tag, value=None, global_step=None, *_, **__):
    record(name, tag=tag, step=global_step)


def tensorboard():
    _writer(sys.modules["torch.utils.tensorboard.writer"].SummaryWriter)


def tensorboardx():
    _writer(sys.modules["tensorboardX.writer"].SummaryWriter)


def matplotlib():
    _wrap(sys.modules["matplotlib.figure"].Figure, "savefig", lambda figure, file, *_, **__: record("savefig", file=str(file)))


def _trainer(package):
    def told(trainer, *_, accelerator="auto", strategy="auto", precision=None, **__):
        record("Trainer", accelerator=type(accelerator).__name__, strategy=type(strategy).__name__, precision=precision)

    trainer = sys.modules[f"{package}.trainer.trainer"].Trainer
    _wrap(trainer, "__init__", told)
    _wrap(trainer, "save_checkpoint", lambda *_, **__: record("Trainer.save_checkpoint"))


def lightning():
    _trainer("lightning.pytorch")


def pytorch_lightning():
    _trainer("pytorch_lightning")


def torchvision():
    import stand_in_data

    stand_in_data.torchvision()


def hydra():
    """STAND_IN_HYDRA=1.1: as Hydra 1.1, whose `main` does not know `version_base`."""
    module = sys.modules["hydra"]
    if os.environ.get("STAND_IN_HYDRA", "").startswith("1.1"):
        main = module.main

        def older(config_path=None, config_name=None):
            return main(config_path=config_path, config_name=config_name, version_base="1.1")

        module.main = older


def lightning_habana():
    """The release of Gaudi's software, which the package asks a program of it for: the last that the package was made for. The DeepSpeed that
    is installed passes for the vendor's fork, the only one that the package accepts."""
    sys.modules["lightning_habana.utils.resources"].get_hpu_synapse_version = lambda: "1.18.0"
    if importlib.util.find_spec("deepspeed"):
        sys.path.insert(0, os.path.join(KIT, "gaudi", "deepspeed_fork"))


def deepspeed():
    """On Gaudi its Adam on the host is a kernel of the vendor's."""
    builder = sys.modules.get("deepspeed.ops.op_builder.hpu.cpu_adam")
    if builder is not None and importlib.util.find_spec("deepspeed_cpu_adam"):
        import deepspeed_cpu_adam

        builder.CPUAdamBuilder.load = lambda *_, **__: deepspeed_cpu_adam
