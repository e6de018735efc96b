"""`samba.session`: compile, run, and bringing the weights back.

Source: https://docs.sambanova.ai/developer/latest/ and https://github.com/sambanova/tutorials. The loss is either in the model, and one
`run` makes forward pass, backward pass and step; or on the host, and then one `run` makes the forward pass and another, given
`grad_of_outputs`, the rest.
"""

import os

import torch
from contracts import broken, count_step, expect, kept, refused, require
from stand_in_calls import record

from . import pef
from .model import check_handed_over
from .optim import check_optimizer
from .tensor import SambaTensor, from_torch, to_torch

FORWARD, BACKWARD, STEP = "fwd", "bckwd", "opt"


class Session:
    def __init__(self):
        self.model = self.optimizer = self.program = self.pending = None
        self.command, self.args = None, None
        self.style, self.dirty = None, False

    # ------------------------------------------------------------------ compile

    def compile(self, model, inputs, optimizer=None, name=None, app_dir=None, config_dict=None, pef_metadata=None,
                init_output_grads=False, **options):
        expect("rdu.command", self.command in (None, "compile"), f"compiled in a program started as {self.command}")
        check_handed_over(model, "compile")
        check_optimizer(optimizer, model)
        described = pef.described(inputs)
        with torch.no_grad():
            outputs(model(*[to_torch(item) for item in sequence(inputs)]))
        require("rdu.pef", name, "compile needs the name of the program")
        config = config_dict or {}
        title = config.get("pef_name") or name
        folder = config.get("output_folder") or "out"
        pef.written(os.path.join(folder, title, title + ".pef"), described, optimizer is not None, init_output_grads)
        record("samba.session.compile", program=name, inputs=[item["name"] for item in described], trains=optimizer is not None)

    # ------------------------------------------------------------------ run

    def trace(self, model, inputs, optimizer=None, pef_path=None, init_output_grads=False, **_):
        require("rdu.command", self.command not in ("compile",), "trace_graph in a program started as compile")
        check_handed_over(model, "trace_graph")
        check_optimizer(optimizer, model)
        described, compiled = pef.described(inputs), pef.read(pef_path)
        pef.agree(compiled["inputs"], described)
        require("rdu.pef", compiled["trains"] == (optimizer is not None),
                "compiled " + ("with" if compiled["trains"] else "without") + " an optimizer and traced " + ("with" if optimizer else "without"))
        expect("rdu.traced-once", self.model is None or self.model is not model, "trace_graph of this model a second time")
        with torch.no_grad():
            result = model(*[to_torch(item) for item in sequence(inputs)])
        model.__dict__["output_tensors"] = outputs(result)
        self.model, self.optimizer, self.program = model, optimizer, compiled
        watch(self, model)
        record("samba.trace_graph", inputs=[item["name"] for item in described])
        return model.output_tensors

    def run(self, input_tensors=None, output_tensors=None, section_types=None, hyperparam_dict=None, grad_of_outputs=None,
            data_parallel=False, reduce_on_rdu=False, **_):
        count_step()
        require("rdu.traced", self.model is not None, "session.run before trace_graph")
        require("rdu.command", self.command != "compile", "session.run in a program started as compile")
        sections = {str(kind).lower() for kind in section_types} if section_types else {FORWARD, BACKWARD, STEP} if self.optimizer else {FORWARD}
        self.check_parallel(sections, data_parallel, reduce_on_rdu)
        result = None
        if FORWARD in sections:
            pef.agree(self.program["inputs"], pef.described(input_tensors))
            require("rdu.outputs", output_tensors is not None, "session.run without output_tensors")
            grad = torch.enable_grad() if sections != {FORWARD} else torch.no_grad()
            with grad:
                result = self.called(*[to_torch(item) for item in sequence(input_tensors)])
            results = sequence(result)
        if sections >= {FORWARD, BACKWARD}:
            self.shape("in-model")
            require("rdu.loss", any(t.requires_grad and (len(t.shape) == 0 or len(t.shape) == 1) for t in results),
                    f"the forward pass gives no loss back (shapes {[tuple(t.shape) for t in results]}), and backward and step are to follow")
        elif sections == {FORWARD} and self.optimizer is not None:
            self.pending = True
        if sections & {BACKWARD, STEP} and FORWARD not in sections:
            self.shape("on-host")
            require("rdu.loss", self.pending, "backward sections without a forward pass before them")
            require("rdu.grad-of-outputs", grad_of_outputs, "backward sections need grad_of_outputs")
            require("rdu.grad-of-outputs", all(isinstance(g, SambaTensor) for g in grad_of_outputs),
                    "grad_of_outputs holds tensors of torch: pass them through samba.from_torch")
            require("rdu.grad-of-outputs", self.program["output_grads"], "the program was compiled without init_output_grads=True")
            self.pending = None
        if STEP in sections:
            self.check_hyperparameters(hyperparam_dict)
            self.dirty = True
        record("samba.session.run", sections=sorted(sections))
        if result is None:
            return None
        results = tuple(from_torch(item.detach()) for item in sequence(result))
        return results

    def shape(self, style):
        expect("rdu.one-loss-shape", self.style in (None, style), "the loss is in the model in one step and on the host in another")
        self.style = style

    def check_hyperparameters(self, given):
        require("rdu.hyperparameters", isinstance(given, dict) and "lr" in given,
                "the step needs hyperparam_dict with lr: the rate is not compiled in")
        first = self.optimizer[0] if isinstance(self.optimizer, (list, tuple)) else self.optimizer
        rate = first.param_groups[0]["lr"]
        expect("rdu.hyperparameters", abs(float(given["lr"]) - float(rate)) <= 1e-12 or not self.scheduled(first),
               f"lr {given['lr']} is given and the scheduler says {rate}")

    @staticmethod
    def scheduled(optimizer):
        return "initial_lr" in optimizer.param_groups[0] and optimizer.param_groups[0]["initial_lr"] != optimizer.param_groups[0]["lr"]

    def check_parallel(self, sections, data_parallel, reduce_on_rdu):
        if self.args is not None and STEP in sections:
            expect("rdu.data-parallel", (bool(data_parallel), bool(reduce_on_rdu)) == (self.args.data_parallel, self.args.reduce_on_rdu),
                   "--data-parallel and --reduce-on-rdu of the command line do not reach session.run")

    def to_cpu(self, model):
        require("rdu.traced", self.model is not None, "to_cpu before trace_graph")
        self.dirty = False
        record("samba.session.to_cpu")

    def to_rdu(self, model):
        record("samba.session.to_rdu")

    def start_profile(self, *_, **__):
        return None

    end_profile = start_profile

    def called(self, *tensors):
        self.running = True
        try:
            return self.model(*tensors)
        finally:
            self.running = False

    running = False


def sequence(value):
    return value if isinstance(value, (tuple, list)) else (value,)


def outputs(result):
    found = sequence(result)
    for item in found:
        if not isinstance(item, torch.Tensor):
            raise refused("rdu.outputs", f"forward gives a {type(item).__name__} back: outputs of a compiled program are tensors")
    return tuple(from_torch(item.detach()) for item in found)


def watch(session, model):
    """The model on the host, and its weights, are old until `to_cpu`."""
    if "_watched" in model.__dict__:
        return
    model.__dict__["_watched"] = True
    kind = type(model)

    def stale(what):
        if session.dirty and not session.running:
            broken("rdu.to-cpu", f"{what} before samba.session.to_cpu: the host has the weights of before the training")
        elif not session.running:
            kept("rdu.to-cpu")

    def call(self, *args, **kwargs):
        if self is model:
            stale("the model is called on the host")
        return kind.__call__(self, *args, **kwargs)

    def state_dict(self, *args, **kwargs):
        if self is model:
            stale("the weights are saved")
        return kind.state_dict(self, *args, **kwargs)

    def reduce(self):
        return (object.__new__, (kind,), {k: v for k, v in self.__dict__.items() if k not in ("_watched", "output_tensors")})

    model.__class__ = type(kind.__name__, (kind,), {"__call__": call, "state_dict": state_dict, "__module__": kind.__module__, "__reduce__": reduce})


def data_watched(session):
    """Compiling needs no data: a node that compiles may have none."""
    whole = torch.utils.data.DataLoader.__iter__

    def __iter__(loader):
        if session.command == "compile":
            broken("rdu.no-data", "a loader is read while the program is compiled")
        return whole(loader)

    torch.utils.data.DataLoader.__iter__ = __iter__


SESSION = Session()
data_watched(SESSION)
