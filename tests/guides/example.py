"""Runs an example of a guide for Lightning on one card, and tells what expressions come to in it.

Names that an example leaves open have values here: a network, its data, settings. A trainer's devices are one, and it is quiet.
"""

import argparse
import ast
import functools
import json
import logging
import warnings

import deepspeed
import habana_frameworks.torch.core as htcore
import lightning.pytorch as L
import torch
from lightning.fabric import Fabric

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
QUIET = {
    "logger": False, "enable_checkpointing": False, "enable_progress_bar": False, "enable_model_summary": False,
    "max_epochs": 1, "num_nodes": 1, "use_distributed_sampler": False,
}
# In which types the network computed.
computed = set()


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.out = torch.nn.Linear(8, 3)

    def forward(self, features):
        return self.out(features)


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.first = torch.nn.Linear(4, 8)
        self.second = Block()

    def forward(self, image):
        hidden = self.first(image)
        computed.add(str(hidden.dtype).removeprefix("torch."))
        return self.second(hidden.relu())


def batches():
    torch.manual_seed(2)
    data = torch.utils.data.TensorDataset(torch.rand(16, 4), torch.arange(16) % 3)
    return torch.utils.data.DataLoader(data, batch_size=4)


class Spectra(L.LightningModule):
    def __init__(self, optimizer=torch.optim.SGD):
        super().__init__()
        self.net, self.optimizer = Network(), optimizer

    def training_step(self, batch, index):
        return torch.nn.functional.cross_entropy(self.net(batch[0]).float(), batch[1])

    def configure_optimizers(self):
        return self.optimizer(self.parameters(), lr=0.1)

    def train_dataloader(self):
        return batches()

    def on_train_batch_start(self, batch, index):
        self.trained_by = strategy(self.trainer)


def weights(module):
    """On the host, put together where they are in parts."""
    held = list(module.parameters())
    with deepspeed.zero.GatheredParameters([value for value in held if hasattr(value, "ds_id")]):
        return [value.detach().float().cpu().flatten().clone() for value in held]


def difference(one, other):
    return max(float((a - b).abs().max()) for a, b in zip(one, other))


def on_the_cpu(start, optimizer, data):
    """The weights after the same steps in float32."""
    net = Network()
    for value, first in zip(net.parameters(), start):
        value.data = first.reshape(value.shape)
    its = OF_PYTORCH.get(optimizer.__name__, optimizer)(net.parameters(), lr=0.1)
    for image, label in data:
        its.zero_grad()
        torch.nn.functional.cross_entropy(net(image.cpu()), label.cpu()).backward()
        its.step()
    return weights(net)


# The optimizers of others that compute as one of PyTorch.
OF_PYTORCH = {name: functools.partial(torch.optim.AdamW, weight_decay=0.0) for name in ("DeepSpeedCPUAdam", "FusedAdam")}


def judged(module, start, optimizer=torch.optim.SGD, data=None):
    """The weights beside those of a plain run from the same start."""
    after = weights(module)
    if difference(start, after) == 0:
        return "unchanged"
    far = difference(after, on_the_cpu(start, optimizer, data or batches()))
    return "as on the CPU" if far < 1e-6 else "near the CPU's" if far < 0.01 else f"{far} from the CPU's"


def types(module):
    kinds = sorted({str(value.dtype).removeprefix("torch.") for value in module.parameters()})
    return f"{'/'.join(kinds)} computed in {'/'.join(sorted(computed))}"


def result(module, start, optimizer, by):
    """The weights beside those of a plain run, their type, that of the computation, and who trained."""
    its = types(module)
    return f"{judged(module, start, optimizer)}, {its}, {by}"


# What the calls of `fit` came to.
told = []


def one_card(original, **more):
    def made(owner, *args, **kwargs):
        if isinstance(kwargs.get("devices"), int):
            kwargs["devices"] = 1
        original(owner, *args, **{**kwargs, **more})

    return made


def judging(original):
    def fit(trainer, module):
        trainer.fit_loop.max_epochs = trainer.current_epoch + 1
        start = weights(module)
        computed.clear()
        original(trainer, module)
        told.append(result(module, start, module.optimizer, module.trained_by))

    return fit


def fit(trainer, optimizer=torch.optim.SGD):
    """What training with a trainer of the example comes to."""
    if isinstance(trainer, Exception):
        raise trainer
    trainer.fit(Spectra(optimizer))
    return told[-1]


def fits(function, *args):
    """The same of the trainers in a function."""
    del told[:]
    function(*args)
    return told


def strategy(trainer):
    name, engine = type(trainer.strategy).__name__, trainer.strategy.model
    if not isinstance(engine, deepspeed.DeepSpeedEngine):
        return f"{name} of {type(engine).__name__}"
    parts = [f"stage {engine.zero_optimization_stage()}"]
    for part, where in (("optimizer", engine.zero_offload_optimizer()), ("parameters", engine.zero_offload_param())):
        parts += [f"{part} on {where.device}"] if where else []
    return f"{name} {' '.join(parts)}"


def by_fabric(fabric):
    """The same of a loop with Fabric."""
    if isinstance(fabric, Exception):
        raise fabric
    fabric.launch()
    net = Network()
    start = weights(net)
    module, optimizer = fabric.setup(net, torch.optim.SGD(net.parameters(), lr=0.1))
    computed.clear()
    for image, label in fabric.setup_dataloaders(batches(), use_distributed_sampler=False):
        optimizer.zero_grad()
        fabric.backward(torch.nn.functional.cross_entropy(module(image).float(), label))
        optimizer.step()
    return result(net, start, torch.optim.SGD, type(fabric.strategy).__name__)


def by_deepspeed(optimizer, **config):
    """The same of a loop with DeepSpeed's engine."""
    net = Network()
    start = weights(net)
    its = optimizer(net.to("hpu").parameters(), lr=0.1)
    engine, _, _, _ = deepspeed.initialize(
        model=net, optimizer=its, config={"train_batch_size": 4, "zero_allow_untested_optimizer": True, **config})
    computed.clear()
    for image, label in batches():
        image = image.to(engine.device).to(next(net.parameters()).dtype)
        engine.backward(torch.nn.functional.cross_entropy(engine(image).float(), label.to(engine.device)))
        engine.step()
    return result(net, start, optimizer, type(engine.optimizer).__name__)


def run(text, expressions, names):
    """Statement after statement: an assignment that fails leaves its error in the names, and may end the example."""
    image, label = next(iter(batches()))
    known = {
        "fit": fit, "fits": fits, "by_fabric": by_fabric, "by_deepspeed": by_deepspeed, "judged": judged, "weights": weights,
        "Block": Block, "Net": Network, "Spectra": Spectra, "deepspeed": deepspeed, "htcore": htcore, "torch": torch, "cards": 1,
        "args": argparse.Namespace(cards=1, gpus=1, devices=1, sparse=False, slow=False, precision="bf16-mixed"),
        "settings": {"zero_optimization": {"stage": 1}, "train_micro_batch_size_per_gpu": 4, "zero_allow_untested_optimizer": True},
        "net": Network(), "criterion": torch.nn.CrossEntropyLoss(), "image": image, "label": label, "loader": batches(),
    }
    exec(names, known)
    L.Trainer.__init__, L.Trainer.fit = one_card(L.Trainer.__init__, **QUIET), judging(L.Trainer.fit)
    Fabric.__init__ = one_card(Fabric.__init__)
    # Both packages are here, and lightning-habana builds on the other.
    text = text.replace("pytorch_lightning", "lightning.pytorch")
    failed = []
    for statement in ast.parse(text).body:
        try:
            exec(compile(ast.Module([statement], []), "example", "exec"), known)
        except Exception as error:
            if not isinstance(statement, ast.Assign):
                if failed:
                    break
                raise
            failed = [name.id for name in ast.walk(statement.targets[0]) if isinstance(name, ast.Name)]
            known.update(dict.fromkeys(failed, error))
    for expression in expressions:
        try:
            value = str(eval(expression, known))
        except Exception as error:
            value = f"{type(error).__name__}: {error}"
        print(json.dumps(["told", value]))
