"""A stand-in for Lightning 2: the loop of a Trainer over a module's own steps, nothing else.

Source: https://lightning.ai/docs/pytorch/stable/.
"""

import sys

import torch
from stand_in_calls import record

READY_FIRST = "lightning_habana" in sys.modules  # lightning_habana asks for it: imported before Lightning?


class Hyperparameters(dict):
    """A table whose entries are attributes too."""

    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError(name)


class LightningModule(torch.nn.Module):
    current_epoch = global_step = 0
    automatic_optimization = True

    def log(self, name, value, *_, **__):
        record("log", key=name)

    def log_dict(self, values, *_, **__):
        record("log", key=",".join(values))

    def save_hyperparameters(self, *names, ignore=(), **_):
        """The arguments of the `__init__` that calls this, as the real one keeps them."""
        given = sys._getframe(1).f_locals
        ignored = {ignore} if isinstance(ignore, str) else set(ignore)
        kept = names or [name for name in given if name not in ("self", "__class__") and not name.startswith("_")]
        self.hparams = Hyperparameters({name: given[name] for name in kept if name in given and name not in ignored})

    device = property(lambda self: next(self.parameters()).device)


class LightningDataModule:
    def setup(self, stage=None):
        return None


class Callback:
    pass


def seed_everything(seed, workers=False):
    torch.manual_seed(seed)


class Trainer:
    def __init__(self, accelerator="auto", devices="auto", strategy="auto", max_epochs=1, max_steps=-1, precision=None, plugins=None,
                 profiler=None, callbacks=None, **options):
        self.accelerator, self.strategy, self.max_epochs, self.options = accelerator, strategy, max_epochs, options
        self.device = getattr(accelerator, "device", "cpu") if not isinstance(accelerator, str) else accelerator
        if self.device in ("gpu", "cuda"):
            self.device = "cuda"
        elif self.device in ("auto", "cpu"):
            self.device = "cpu"
        for part in (accelerator, strategy, profiler, *(plugins or [])):
            getattr(part, "joins", lambda trainer: None)(self)
        if isinstance(accelerator, str) and accelerator == "hpu" or isinstance(strategy, str) and strategy.startswith("hpu"):
            from contracts import refused

            raise refused("lightning.names", "accelerator and strategies for HPU are objects of lightning_habana, not names")
        record("Trainer", accelerator=type(accelerator).__name__, strategy=type(strategy).__name__, precision=precision)

    def _moved(self, batch):
        return type(batch)(item.to(self.device) for item in batch) if isinstance(batch, (list, tuple)) else batch.to(self.device)

    def fit(self, model, train_dataloaders=None, val_dataloaders=None, datamodule=None, **_):
        loader = train_dataloaders or (datamodule.train_dataloader() if datamodule else model.train_dataloader())
        model.trainer = self
        model.to(self.device)
        made = model.configure_optimizers()
        optimizer = made["optimizer"] if isinstance(made, dict) else made[0] if isinstance(made, (list, tuple)) else made
        optimizer = optimizer[0] if isinstance(optimizer, list) else optimizer
        for model.current_epoch in range(max(self.max_epochs or 1, 1)):
            for index, batch in enumerate(loader):
                loss = model.training_step(self._moved(batch), index)
                loss = loss["loss"] if isinstance(loss, dict) else loss
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            if val_dataloaders is not None:
                self.validate(model, val_dataloaders)

    def validate(self, model, dataloaders=None, **_):
        with torch.no_grad():
            for index, batch in enumerate(dataloaders or []):
                model.validation_step(self._moved(batch), index)

    def test(self, model, dataloaders=None, **_):
        model.to(self.device)
        with torch.no_grad():
            for index, batch in enumerate(dataloaders or []):
                model.test_step(self._moved(batch), index)

    def predict(self, model, dataloaders=None, **_):
        model.to(self.device)
        with torch.no_grad():
            return [model.predict_step(self._moved(batch), index) for index, batch in enumerate(dataloaders or [])]

    def save_checkpoint(self, path):
        record("Trainer.save_checkpoint")


from . import pytorch  # noqa: E402,F401
