"""`samba.session`: compile, run, and bringing the weights back, computed on PyTorch.

Source: https://github.com/sambanova/tutorials and https://docs.sambanova.ai/developer/latest/. The weights of the RDU are those that the
host has when the graph is traced ("load the checkpoint first and then trace the graph to sync the weights", `lenet/lenet.py`), and come
back by `to_cpu`. A run goes through sections: forward, backward, norm of the gradients, optimizer; without `section_types` through all of
them. The backward pass starts from the loss, the first output; from gradients that the host computed (`grad_of_outputs`, or `sn_grad` of
the output, which needs `init_output_grads`). `hyperparam_dict` holds lr, momentum, weight_decay and, as "p", the rate of the dropout
(`generative_nlp/generative_train.py`). That the norm for `max_grad_norm` is that of all gradients together is inferred.
"""

import os

import torch
import twin
from contracts import broken, count_step, expect, kept, refused, require
from compiled_program import OnDevice, Program, Rules
from stand_in_calls import record

from . import optim, pef
from .model import check_handed_over
from .optim import check_optimizer
from .tensor import SambaTensor, from_torch, to_torch

FORWARD, BACKWARD, NORM, STEP = "fwd", "bckwd", "gradnorm", "opt"


class RduRules(Rules):
    """What a graph that is traced once can't hold."""

    factories = frozenset(
        "arange empty full full_like linspace ones rand randint randn tensor zeros zeros_like ones_like rand_like randn_like eye".split())

    def value_asked(self, name):
        raise refused("rdu.data-dependent", f".{name}() on a tensor inside forward: the graph is traced before there are values")


def weights_of(model):
    return {**dict(model.named_parameters()), **dict(model.named_buffers())}


def shapes(model):
    return [[name, list(tensor.shape), str(tensor.dtype)] for name, tensor in weights_of(model).items()]


def recorded(model, inputs, trains):
    """The forward pass as a program; the model is afterwards what it was."""
    weights, tensors = weights_of(model), [to_torch(item).detach() for item in sequence(inputs)]
    before = {name: tensor.detach().clone() for name, tensor in weights.items()}
    program, state = Program(), torch.get_rng_state()
    with twin.quiet():
        try:
            program.record(lambda: model(*tensors), tensors, weights, RduRules(), trains)
        finally:
            with torch.no_grad():
                for name, tensor in weights.items():
                    tensor.copy_(before[name])
            torch.set_rng_state(state)
    program.finish()
    return program


class Session:
    def __init__(self):
        self.model = self.optimizer = self.program = self.pending = self.device = self.step = None
        self.command, self.args = None, None
        self.style, self.dirty = None, False

    # ------------------------------------------------------------------ compile

    def compile(self, model, inputs, optimizer=None, name=None, app_dir=None, config_dict=None, pef_metadata=None,
                init_output_grads=False, **options):
        expect("rdu.command", self.command in (None, "compile"), f"compiled in a program started as {self.command}")
        check_handed_over(model, "compile")
        check_optimizer(optimizer, model)
        described = pef.described(inputs)
        outputs(model, recorded(model, inputs, optimizer is not None))
        require("rdu.pef", name, "compile needs a program name")
        config = config_dict or {}
        title = config.get("pef_name") or name
        folder = config.get("output_folder") or "out"
        pef.written(os.path.join(folder, title, title + ".pef"), inputs=described, trains=optimizer is not None,
                    output_grads=init_output_grads, weights=shapes(model), numbers=optim.numbers(optimizer))
        record("samba.session.compile", program=name, inputs=[item["name"] for item in described], trains=optimizer is not None)

    # ------------------------------------------------------------------ run

    def trace(self, model, inputs, optimizer=None, pef_path=None, init_output_grads=False, **_):
        require("rdu.command", self.command not in ("compile",), "trace_graph in a program started as compile")
        check_handed_over(model, "trace_graph")
        check_optimizer(optimizer, model)
        described, compiled = pef.described(inputs), pef.read(pef_path)
        pef.agree(compiled["inputs"], described)
        pef.check_weights(compiled.get("weights"), shapes(model))
        require("rdu.pef", compiled["trains"] == (optimizer is not None),
                "compiled " + ("with" if compiled["trains"] else "without") + " an optimizer and traced " + ("with" if optimizer else "without"))
        expect("rdu.traced-once", self.model is None or self.model is not model, "trace_graph of this model a second time")
        twin.start_weights(model)
        program = recorded(model, inputs, optimizer is not None)
        model.__dict__["output_tensors"] = outputs(model, program)
        self.model, self.optimizer, self.program = model, optimizer, compiled
        self.load(program)
        watch(self, model)
        record("samba.trace_graph", inputs=[item["name"] for item in described])
        return model.output_tensors

    def load(self, program):
        """The weights as the host has them now become those of the RDU."""
        host, trains = weights_of(self.model), self.optimizer is not None
        own = {name: tensor.detach().clone() for name, tensor in host.items()}
        names = [name for name, _ in self.model.named_parameters()]
        for name in names:
            own[name] = torch.nn.Parameter(own[name], requires_grad=trains and host[name].requires_grad)
        self.device = OnDevice(program, own, names).train(trains)
        twin.own(self.device, host=self.model)
        # A program that looks at its weights no more need not have them at the end; what it has read from a file since stays.
        twin.before_end(lambda: self.fetch() if self.dirty else None)
        self.step = optim.Step(self.optimizer, {id(host[name]): own[name] for name in names}) if trains else None
        self.set_numbers()

    def set_numbers(self):
        """What was compiled in."""
        groups = [group for own in self.step.optimizers for group in own.param_groups] if self.step else []
        for group, numbers in zip(groups, self.program.get("numbers") or []):
            group.update({name: tuple(value) if isinstance(value, list) else value for name, value in numbers.items() if name in group})

    def run(self, input_tensors=None, output_tensors=None, section_types=None, hyperparam_dict=None, grad_of_outputs=None,
            data_parallel=False, reduce_on_rdu=False, **_):
        count_step()
        require("rdu.traced", self.model is not None, "session.run before trace_graph")
        require("rdu.command", self.command != "compile", "session.run in a program started as compile")
        every = {FORWARD, BACKWARD, NORM, STEP} if self.optimizer else {FORWARD}
        sections = {str(kind).lower() for kind in section_types} if section_types else every
        self.check_parallel(sections, data_parallel, reduce_on_rdu)
        results = None
        if FORWARD in sections:
            results = self.forward(input_tensors, output_tensors, hyperparam_dict, sections)
        if BACKWARD in sections:
            with torch.enable_grad():
                self.backward(sections, sequence(output_tensors or ()), grad_of_outputs)
        if STEP in sections:
            self.check_hyperparameters(hyperparam_dict)
            clips = any(one.max_grad_norm for one in optim.sequence(self.optimizer))
            expect("rdu.gradient-norm", not clips or NORM in sections,
                   'max_grad_norm without the section GRADNORM: the norm is never computed and nothing is clipped; run ["bckwd", "gradnorm", "opt"]')
            self.step(hyperparam_dict, NORM in sections)
            self.dirty = True
        record("samba.session.run", sections=sorted(sections))
        return None if results is None else tuple(from_torch(item.detach().clone()) for item in results)

    def forward(self, input_tensors, output_tensors, hyperparam_dict, sections):
        pef.agree(self.program["inputs"], pef.described(input_tensors))
        require("rdu.outputs", output_tensors is not None, "session.run without output_tensors")
        rate = (hyperparam_dict or {}).get("p")

        def with_rate(call, args, kwargs):
            if rate is None or not call.name.endswith("dropout"):
                return args, kwargs
            if len(args) > 1:
                return (args[0], float(rate), *args[2:]), kwargs
            return args, {**kwargs, "p": float(rate)}

        training = self.step is not None and (sections != {FORWARD} or torch.is_grad_enabled())
        with torch.set_grad_enabled(training):
            results = self.device(*[to_torch(item) for item in sequence(input_tensors)], edited=with_rate)
        self.pending = results if training else None
        return results

    def backward(self, sections, given_outputs, grad_of_outputs):
        """Leaves a gradient at each weight of the RDU; there is one for each run of this section, none is added to another."""
        require("rdu.loss", self.pending is not None, "backward sections without a forward pass before them")
        outs, self.pending = self.pending, None
        grads = [to_torch(one.sn_grad) if isinstance(one, SambaTensor) and one.sn_grad is not None else None for one in given_outputs]
        for tensor in self.device.parameters():
            tensor.grad = None
        if grad_of_outputs is not None or (FORWARD not in sections and not any(grad is not None for grad in grads)):
            self.shape("on-host")
            require("rdu.grad-of-outputs", grad_of_outputs, "backward sections need grad_of_outputs")
            require("rdu.grad-of-outputs", all(isinstance(g, SambaTensor) for g in grad_of_outputs),
                    "grad_of_outputs contains torch tensors: convert them with samba.from_torch")
            require("rdu.grad-of-outputs", self.program["output_grads"], "the program was compiled without init_output_grads=True")
            require("rdu.grad-of-outputs", len(grad_of_outputs) == len(outs),
                    f"{len(grad_of_outputs)} gradients for {len(outs)} outputs")
            with twin.quiet():  # the loss is the host's, and was seen there
                pairs = [(out, to_torch(grad).to(out.dtype)) for out, grad in zip(outs, grad_of_outputs) if out.requires_grad]
                torch.autograd.backward([out for out, _ in pairs], [grad for _, grad in pairs])
            return
        self.shape("in-model")
        if any(grad is not None for grad in grads):
            require("rdu.grad-of-outputs", self.program["output_grads"], "sn_grad of a program that was compiled without init_output_grads=True")
            sum((out.float() * grad.reshape(out.shape).float()).sum() for out, grad in zip(outs, grads) if grad is not None).backward()
            return
        losses = [out for out in outs if out.requires_grad and out.dim() <= 1]
        require("rdu.loss", losses,
                f"the forward pass returns no loss (shapes {[tuple(t.shape) for t in outs]}), but backward and step follow")
        losses[0].mean().backward()

    def shape(self, style):
        expect("rdu.one-loss-shape", self.style in (None, style), "the loss is in the model in one step and on the host in another")
        self.style = style

    def check_hyperparameters(self, given):
        require("rdu.hyperparameters", isinstance(given, dict) and "lr" in given,
                "the step needs hyperparam_dict with lr: the rate is not compiled in")
        groups = [group for one in optim.sequence(self.optimizer) for group in one.param_groups]
        rate = groups[0]["lr"]
        expect("rdu.hyperparameters", abs(float(given["lr"]) - float(rate)) <= 1e-12 or not self.scheduled(groups[0]),
               f"lr is {given['lr']}, but the scheduler's is {rate}")
        for name in given:
            values = {group[name] for group in groups if isinstance(group.get(name), (int, float))}
            expect("rdu.hyperparameters", len(values) < 2,
                   f"{name} {given[name]} is used for all parameters, but the optimizer's groups have {sorted(values)}: use one optimizer per group")
        pef.check_numbers(self.program.get("numbers"), optim.numbers(self.optimizer), given)

    @staticmethod
    def scheduled(group):
        return "initial_lr" in group and group["initial_lr"] != group["lr"]

    def check_parallel(self, sections, data_parallel, reduce_on_rdu):
        if self.args is not None and STEP in sections:
            expect("rdu.data-parallel", (bool(data_parallel), bool(reduce_on_rdu)) == (self.args.data_parallel, self.args.reduce_on_rdu),
                   "--data-parallel and --reduce-on-rdu are not passed to session.run")

    def to_cpu(self, model):
        require("rdu.traced", self.model is not None, "to_cpu before trace_graph")
        self.fetch()
        record("samba.session.to_cpu")

    def fetch(self):
        with torch.no_grad():
            for name, tensor in weights_of(self.model).items():
                tensor.copy_(self.device.held[name])
        if self.step is not None:
            self.step.fetch()
        self.dirty = False

    def to_rdu(self, model):
        require("rdu.traced", self.model is not None, "to_rdu before trace_graph")
        with torch.no_grad():
            for name, tensor in weights_of(self.model).items():
                self.device.held[name].copy_(tensor)
        self.dirty = False
        record("samba.session.to_rdu")

    def start_profile(self, *_, **__):
        return None

    end_profile = start_profile


def sequence(value):
    return value if isinstance(value, (tuple, list)) else (value,)


def outputs(model, program):
    """The outputs of the compiled program: tensors with shape and type, whose values mean nothing yet."""
    found = sequence(program.structure)
    for item in found:
        if not hasattr(item, "number"):
            raise refused("rdu.outputs", f"forward returns a {type(item).__name__}: outputs of a compiled program must be tensors")
    return tuple(from_torch(tensor) for tensor in program.given)


def watch(session, model):
    """The model on the host, and its weights, are old until `to_cpu`."""
    if "_watched" in model.__dict__:
        return
    model.__dict__["_watched"] = True
    kind = type(model)

    def stale(what):
        if session.dirty:
            broken("rdu.to-cpu", f"{what} before samba.session.to_cpu: the host still has the weights from before training")
        else:
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
