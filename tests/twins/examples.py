"""Completes an example in a guide to a program that trains.

    python3 complete.py < EXAMPLES

Each line of EXAMPLES is JSON: {"name": …, "text": …}; for each comes a line {"name", "program"} or {"name", "why"}, in the same order.

An example is a fragment: it uses a model, an optimizer, a batch created elsewhere. The objects that it uses and does not create are prepended, by
name (`image` is a batch of images, `optimizer` an optimizer of `net`). Its functions and methods are called after it, by the names
of their parameters. If it has no training step, one is appended, with its own model and optimizer. The resulting variables are saved, so that
they are compared, too.

All added objects are where the example expects them: on the device, if the example names one, except those that it moves itself.
"""

import ast
import builtins
import json
import re
import sys

# Names that examples use, and their values. `{on}` puts a tensor on the device.
MODELS = ("net", "model", "head", "encoder", "decoder", "teacher", "critic", "tail")
TENSORS = {
    "image": "torch.rand(4, 8)", "images": "torch.rand(4, 8)", "x": "torch.rand(4, 8)", "batch": "torch.rand(4, 8)", "inputs": "torch.rand(4, 8)",
    "example": "torch.rand(4, 8)", "label": "torch.randint(2, (4,))", "labels": "torch.randint(2, (4,))", "targets": "torch.randint(2, (4,))",
    "target": "torch.randint(2, (4,))", "wanted": "torch.rand(4, 2)", "mask": "torch.ones(4, 8)", "weight": "torch.rand(4, 8)",
    "energy": "torch.rand(4)",
}
NUMBERS = {
    "rank": "0", "local_rank": "0", "gpu": "0", "size": "1", "world_size": "1", "epochs": "2", "use_amp": "True", "amp": "True", "use_cuda": "True",
    "amp_type": "torch.float16", "use_gpu": "True", "decay": "0.1", "path": '"state.pt"', "limit": "1.0", "sizes": "[1, 2]", "fast": "True",
    "check": "True", "hits": "0", "table": "[0.5]", "tf32": "True", "seed": "3", "clip": "1.0",
}
OPTIMIZERS = ("optimizer", "opt")
SCHEDULERS = ("scheduler", "plan")
LOSSES = ("criterion", "loss_fn")
# Functions of a program that an example calls; their argument is a batch, or irrelevant.
FUNCTIONS = {
    "run": "    return net(given[0] if given and isinstance(given[0], torch.Tensor) and given[0].dim() == 2 else image)\n",
    "plot": "    print('plotted', float(given[0].sum()))\n",
    "report": "    print('reported', sum(float(value.sum()) for value in given if isinstance(value, torch.Tensor)))\n",
    "timed": "    return given[0]\n",
    "tqdm": "    return given[0]\n",
    "make": "    return Net()\n", "build": "    return Net()\n", "make_net": "    return Net()\n",
    "train": "    return None\n", "start": "    return None\n",
    "sample": "    print('sample', float(torch.rand(1)))\n",
}
# Values of `args` and the like, if not `False`.
SETTINGS = {"gpu": "0", "amp": "True", "cuda": "True", "gpus": '"0"', "device": '"cuda"', "local_rank": "0", "no_cuda": "False", "cpu": "False", "backend": '"nccl"'}
NAMESPACES = ("args", "config", "settings", "cfg")

DEVICE_WORDS = re.compile(r"cuda|\bdevice\b|\bnccl\b|autocast|\bxpu\b|\bhpu\b|GradScaler|device_ids|DistributedDataParallel")


class NotWhole(Exception):
    """Why an example can't be completed to a program."""


class Names(ast.NodeVisitor):
    """The names that a fragment uses from elsewhere, in the order in which they are needed; and those that it defines."""

    def __init__(self, tree):
        self.bound, self.needed, self._later = set(dir(builtins)) | {"__file__", "__name__"}, [], []
        self.visit(tree)
        while self._later:
            node, local = self._later.pop(0)
            inner = Names.__new__(Names)
            inner.bound, inner.needed, inner._later = self.bound | local, [], []
            for statement in node if isinstance(node, list) else [node]:
                inner.visit(statement)
            while inner._later:
                after, names = inner._later.pop(0)
                self._later.append((after, names | inner.bound - self.bound | local))
            for name in inner.needed:
                self.need(name)

    def need(self, name):
        if name not in self.bound and name not in self.needed:
            self.needed.append(name)

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load):
            self.need(node.id)
        else:
            self.bound.add(node.id)

    def visit_Assign(self, node):
        for part in (node.value, *node.targets):
            self.visit(part)

    def visit_AnnAssign(self, node):
        for part in (node.value, node.target):
            if part is not None:
                self.visit(part)

    def visit_AugAssign(self, node):
        self.visit(node.value)
        if isinstance(node.target, ast.Name):
            self.need(node.target.id)
        self.visit(node.target)

    def visit_For(self, node):
        for part in (node.iter, node.target, *node.body, *node.orelse):
            self.visit(part)

    def visit_comprehension_of(self, node):
        before = set(self.bound)
        for generator in node.generators:
            for part in (generator.iter, generator.target, *generator.ifs):
                self.visit(part)
        for part in (getattr(node, "elt", None), getattr(node, "key", None), getattr(node, "value", None)):
            if part is not None:
                self.visit(part)
        self.bound = before

    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_comprehension_of

    def visit_Import(self, node):
        self.bound.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)

    visit_ImportFrom = visit_Import

    def visit_FunctionDef(self, node):
        for part in (*node.decorator_list, *node.args.defaults, *(value for value in node.args.kw_defaults if value)):
            self.visit(part)
        self.bound.add(node.name)
        self._later.append((node.body, set(parameters(node))))

    def visit_Lambda(self, node):
        self._later.append((node.body, set(parameters(node))))

    def visit_ClassDef(self, node):
        for part in (*node.decorator_list, *node.bases):
            self.visit(part)
        before = set(self.bound)
        for statement in node.body:
            self.visit(statement)
        self.bound = before | {node.name}

    def visit_ExceptHandler(self, node):
        if node.name:
            self.bound.add(node.name)
        self.generic_visit(node)


def parameters(node):
    given = node.args
    return [one.arg for one in (*given.posonlyargs, *given.args, given.vararg, *given.kwonlyargs, given.kwarg) if one is not None]


# ------------------------------------------------------------------------------------------------ what an example uses


class Example:
    def __init__(self, text):
        self.text = text
        try:
            self.tree = ast.parse(text)
        except SyntaxError as fault:
            raise NotWhole("it is no Python") from fault
        self.here = bool(DEVICE_WORDS.search(text))
        self.names = Names(self.tree)
        self.moved = {node.func.value.id for node in self.walk(ast.Call)
                      if isinstance(node.func, ast.Attribute) and node.func.attr in ("cuda", "to", "type") and isinstance(node.func.value, ast.Name)}
        self.head, self.made = [], set()
        # A model of its own that it does not move is on the host.
        own = [name for name in MODELS if name in self.names.bound and name not in self.names.needed and name not in self.moved]
        self.here = self.here and not (own and not re.search(r"cuda|nccl|autocast|xpu|hpu", text))
        width = re.search(r"Linear\((\d+), (\d+)\)", text)
        # The inputs of its own layers; and the outputs of a model, if the example unpacks two.
        self.width = width[1] if width else "8"
        self.pair = any(isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Call) and _called(node.value) in MODELS
                        for node in self.walk(ast.Assign))

    def walk(self, kind):
        return [node for node in ast.walk(self.tree) if isinstance(node, kind)]

    def on(self, *names):
        """After an expression: moves it to where the example expects it."""
        return ".to(device)" if self.here and not self.moved & set(names) else ""

    # -------------------------------------------------------------------------------------------- in front

    def add(self, name, line):
        if name not in self.made:
            self.made.add(name)
            self.head.append(line)

    def model(self, name):
        if self.pair:
            self.add("Pair", PAIR)
            self.add(name, f"{name} = Pair(){self.on(name)}")
        elif name == "encoder":
            self.add(name, f"{name} = torch.nn.Sequential(torch.nn.Linear(8, 8)){self.on(name)}")
        else:
            self.add("Net", NET)
            self.add(name, f"{name} = Net(){self.on(name)}")

    def tensor(self, name):
        return TENSORS[name].replace("(4, 8)", f"(4, {self.width})") + self.on(name)

    def optimizer(self, name):
        made = [model for model in MODELS if model in self.made or model in self.names.bound] or ["net"]
        if made[0] not in self.names.bound:
            self.model(made[0])
        elif made[0] not in self.made:
            raise NotWhole(f"`{name}` is of a model that the example makes")
        self.add(name, f"{name} = torch.optim.SGD({made[0]}.parameters(), lr=0.1, momentum=0.9)")

    def provide(self, name):
        uses = [node for node in self.walk(ast.Attribute) if isinstance(node.value, ast.Name) and node.value.id == name]
        if name in self.made:
            return
        if name == "torch" or name == "device":
            return
        if any(isinstance(node.iter, ast.Name) and node.iter.id == name or _through(node.iter) == name for node in self.walk((ast.For, ast.comprehension))):
            self.loader(name)
        elif any(_called(node) in ("DataLoader", "DistributedSampler", "RandomSampler", "data.DataLoader") and node.args
                 and isinstance(node.args[0], ast.Name) and node.args[0].id == name for node in self.walk(ast.Call)):
            self.add(name, f"{name} = torch.utils.data.TensorDataset(torch.rand(32, 8), torch.randint(2, (32,)))")
        elif name in MODELS:
            self.model(name)
        elif name in OPTIMIZERS:
            self.optimizer(name)
        elif name in SCHEDULERS:
            self.provide("optimizer")
            self.add(name, f"{name} = torch.optim.lr_scheduler.StepLR(optimizer, 1)")
        elif name in LOSSES:
            self.add(name, f"{name} = torch.nn.CrossEntropyLoss()")
        elif name == "loss":
            for needed in ("net", "image", "label"):
                self.provide(needed)
            self.add(name, "loss = torch.nn.functional.cross_entropy(net(image), label)")
        elif name == "batch" and any(isinstance(node.value, ast.Name) and node.value.id == "batch" for node in self.walk(ast.Subscript)):
            self.add(name, f'batch = {{"image": torch.rand(4, 8){self.on(name)}, "label": torch.randint(2, (4,)){self.on(name)}}}')
        elif name in TENSORS:
            self.add(name, f"{name} = {self.tensor(name)}")
        elif name in ("ones", "zeros", "tensor"):
            self.add(name, f"{name} = torch.{name}")
        elif any(node.arg is None and isinstance(node.value, ast.Name) and node.value.id == name for node in self.walk(ast.keyword)):
            self.add(name, f"{name} = {{}}")
        elif name == "side":
            self.add(name, "side = torch.cuda.Stream()")
        elif name in NUMBERS:
            self.add(name, f"{name} = {NUMBERS[name]}")
            if name == "path":
                self.provide("net")
                self.add("saved", "torch.save(net.state_dict(), path)")
        elif name in NAMESPACES:
            values = ", ".join(f"{attribute}={SETTINGS.get(attribute, 'False')}" for attribute in sorted({node.attr for node in uses}))
            if any(isinstance(node.value, ast.Name) and node.value.id == name for node in self.walk(ast.Subscript)):
                keys = {node.slice.value for node in self.walk(ast.Subscript) if isinstance(node.value, ast.Name) and node.value.id == name and isinstance(node.slice, ast.Constant)}
                self.add(name, f"{name} = {{{', '.join(f'{key!r}: {SETTINGS.get(key, False)}' for key in sorted(keys))}}}")
            else:
                self.add(name, f"import types\n\n{name} = types.SimpleNamespace({values})")
        elif name == "parser":
            self.add(name, "import argparse\n\nparser = argparse.ArgumentParser()")
        elif name in ("step", "tail") and "torch.compile" in self.text:
            self.model(name)
        elif name == "step" and any(_called(node) == "step" for node in self.walk(ast.Call)):
            self.function(name, "    return net(given[0]).sum()\n" if self.here else "    return None\n")
        elif name in FUNCTIONS:
            self.function(name, FUNCTIONS[name])
        elif name[:1].isupper() and any(_called(node) == name for node in self.walk(ast.Call)):
            self.add("Net", NET)
            self.add(name, f"class {name}(Net):\n    def __init__(self, *_):\n        super().__init__()\n")
        else:
            raise NotWhole(f"nothing is known of `{name}`")

    def function(self, name, body):
        for needed in ("net", "image"):
            if re.search(rf"\b{needed}\b", body):
                self.provide(needed)
        if "Net()" in body:
            self.add("Net", NET)
            body = body.replace("Net()", f"Net(){self.on()}")
        self.add(name, f"def {name}(*given, **_):\n{body}")

    def loader(self, name):
        """Batches in the form that the loop over them unpacks."""
        if name in self.made:
            return
        loops = [node for node in self.walk((ast.For, ast.comprehension)) if _through(node.iter) == name]
        target = loops[0].target
        if isinstance(loops[0].iter, ast.Call) and _called(loops[0].iter) == "enumerate" and isinstance(target, ast.Tuple):
            target = target.elts[1]

        def one(node):
            if isinstance(node, ast.Tuple):
                return f"({', '.join(one(part) for part in node.elts)},)"
            if node.id != "_" and node.id not in TENSORS:
                raise NotWhole(f"nothing is known of `{node.id}`, which a loop takes from `{name}`")
            return self.tensor("label" if node.id == "_" else node.id)

        self.add(name, f"{name} = [{one(target)} for _ in range(3)]")

    # -------------------------------------------------------------------------------------------- behind

    def known(self, name):
        try:
            self.provide_parameter(name)
        except NotWhole:
            return False
        return True

    def provide_parameter(self, name):
        if name in self.names.bound:
            return
        if name == "device":
            return
        if name in ("loader", "loaders", "dataloader") or name.endswith("_loader"):
            self.loader(name)
            return
        self.provide(name)

    def calls(self):
        """Calls of the functions that nothing in the example calls."""
        used = {node.id for node in self.walk(ast.Name) if isinstance(node.ctx, ast.Load)}
        found = []
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef) and node.name not in used:
                given = parameters(node)
                missing = [name for name in given if not self.known(name)]
                if missing:
                    raise NotWhole(f"nothing is known of `{missing[0]}`, a parameter")
                found.append(f"{node.name}_gave = {node.name}({', '.join(given)})")
        return found

    def trains(self):
        names = {node.func.attr for node in self.walk(ast.Call) if isinstance(node.func, ast.Attribute)}
        return "backward" in names and "step" in names

    def program(self):
        for node in self.walk((ast.Import, ast.ImportFrom)):
            module = getattr(node, "module", None) or node.names[0].name
            for begun in ("poptorch", "popdist", "sambaflow", "intel_extension_for_pytorch", "oneccl_bindings_for_pytorch"):
                if module.partition(".")[0] == begun:
                    raise NotWhole("it begins in the midst of a port")
            if module.partition(".")[0] not in KNOWN:
                raise NotWhole(f"it imports `{module}`")
        if any(isinstance(node, ast.ClassDef) and node.name == "RduTraining" for node in self.tree.body):
            raise NotWhole("it begins in the midst of a port")
        if any(isinstance(node, ast.ClassDef) and any(isinstance(part, ast.FunctionDef) and "self" in parameters(part) for part in node.body)
               and not any("Module" in ast.unparse(base) or "Function" in ast.unparse(base) for base in node.bases) for node in self.tree.body):
            raise NotWhole("its class is a part of a project")
        if re.search(r"\bDDP\(|\bDistributedDataParallel\(|dist\.barrier", self.text) and "init_process_group" not in self.text:
            self.add("group", 'torch.distributed.init_process_group("nccl")')
        for file in re.findall(r'torch\.load\("([^"]+)"', self.text):
            self.add(file, f'torch.save(torch.nn.Linear({self.width}, 2).state_dict(), "{file}")')
        for name in self.names.needed:
            self.provide(name)
        if not self.trains():
            self.descent()
        behind = self.calls()
        if not self.trains():
            behind += self.step()
        elif not any(_called(node) == "step" for node in self.walk(ast.Call)):
            raise NotWhole("its step is not called")
        left = [name for name in self.left() if name not in ("device",)]
        if left:
            behind += [KEPT, "torch.save(kept(" + ", ".join(f"{name}={name}" for name in left) + '), "left.pt")']
        imports = ["import torch"]
        kind = "cuda" if self.here else "cpu"
        place = [f'device = torch.device("{kind}")'] if any("device" in line for line in (*self.head, *behind, self.text)) and "device" not in self.first_bound() else []
        future = "from __future__" in self.text
        if future:
            raise NotWhole("its first line must stay the first")
        return "\n".join([*imports, "", *place, *self.head, "", self.text, *behind]) + "\n"

    def first_bound(self):
        """Names that the example defines itself before anything else uses them."""
        return self.names.bound - set(self.names.needed) if not any("(device)" in line for line in self.head) else set()

    def left(self):
        names = []
        for node in self.tree.body:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, (ast.For, ast.AugAssign)) else []
            for target in targets:
                names += [one.id for one in ast.walk(target) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store) and one.id != "_"]
        names += [f"{node.name}_gave" for node in self.tree.body if isinstance(node, ast.FunctionDef) and f"{node.name}_gave" in "".join(self.calls())]
        return list(dict.fromkeys(names))

    def descent(self):
        """An optimizer for the appended step, created where a program creates its own: with the model."""
        own = [model for model in MODELS if model in self.made or model in self.names.bound]
        self.of_step = own[0] if own else "net"
        if not own:
            self.model("net")
        self.optimizer_of_step = next((name for name in OPTIMIZERS if name in self.made or name in self.names.bound), "descent")
        if self.optimizer_of_step == "descent" and not self.is_late():
            self.head.append(f"descent = torch.optim.SGD({self.of_step}.parameters(), lr=0.1)")

    def is_late(self):
        """Whether the example itself creates the model of the appended step."""
        return self.of_step not in self.made or self.of_step in self.left()

    def step(self):
        late = self.optimizer_of_step == "descent" and self.is_late()
        lines = [f"descent = torch.optim.SGD({self.of_step}.parameters(), lr=0.1)"] if late else []
        loss = "torch.nn.functional.mse_loss({model}(image_of_step{on}), image_of_step{on})" if self.of_step == "encoder" else LOSS
        return [*lines, STEP.format(loss=loss).format(model=self.of_step, optimizer=self.optimizer_of_step, on=self.on_of_step(self.of_step), width=self.width)]

    def on_of_step(self, model):
        return ".to(device)" if self.here else ""


def _called(node):
    """The name of the called function, without its modules."""
    function = node.func
    return function.id if isinstance(function, ast.Name) else function.attr if isinstance(function, ast.Attribute) else ""


def _through(node):
    """The name that a loop iterates over, through `enumerate` and `tqdm`."""
    while isinstance(node, ast.Call) and _called(node) in ("enumerate", "tqdm", "iter") and node.args:
        node = node.args[0]
    return node.id if isinstance(node, ast.Name) else None


KNOWN = {"torch", "torchvision", "numpy", "os", "sys", "time", "random", "math", "contextlib", "shutil", "json", "re", "enum", "dataclasses", "tqdm", "__future__", "argparse", "functools", "itertools", "logging"}

PAIR = '''
class Pair(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)

    def forward(self, image):
        out = self.layer(image)
        return out, out.square().mean(1)

'''

NET = '''
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 2)

    def forward(self, image):
        return self.layer(image)

'''

STEP = '''
for image_of_step, label_of_step in zip(torch.rand(2, 4, {{width}}), torch.randint(2, (2, 4))):
    {{optimizer}}.zero_grad()
    loss_of_step = {loss}
    loss_of_step.backward()
    {{optimizer}}.step()
'''

LOSS = "torch.nn.functional.cross_entropy({model}(image_of_step{on}), label_of_step{on})"

KEPT = '''
def kept(**values):
    found = {}
    for name, value in values.items():
        if isinstance(value, torch.nn.Module):
            found[name] = value.state_dict()
        elif isinstance(value, torch.Tensor):
            found[name] = value.detach()
        elif isinstance(value, (bool, float)):
            found[name] = torch.tensor(float(value))
    return found

'''


def complete(text):
    return Example(text).program()


def main():
    for line in sys.stdin:
        given = json.loads(line)
        try:
            told = {"program": complete(given["text"])}
        except NotWhole as why:
            told = {"why": str(why)}
        print(json.dumps({"name": given["name"], **told}))


if __name__ == "__main__":
    main()
