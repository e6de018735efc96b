"""The file that compiling leaves: here what the run must agree with, and the numbers that are compiled in.

Source: https://docs.sambanova.ai/developer/latest/: `compile --pef-name NAME --output-folder DIR` writes `DIR/NAME/NAME.pef`.
"""

import json
import os
import re

import twin
from contracts import expect, refused, require

from .tensor import SambaTensor


def described(inputs):
    """Name, shape and type of every input."""
    inputs = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
    out = []
    for item in inputs:
        require("rdu.inputs", isinstance(item, SambaTensor), f"an input is a {type(item).__name__}: use samba.randn or samba.from_torch_tensor")
        require("rdu.input-names", item.sn_name, f"an input of shape {tuple(item.shape)} has no name")
        out.append({"name": item.sn_name, "shape": list(item.shape), "dtype": str(item.dtype)})
    names = [item["name"] for item in out]
    require("rdu.input-names", len(set(names)) == len(names), f"two inputs have the same name: {names}")
    return out


def written(path, **program):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        json.dump(program, out)


def read(path):
    if not path:
        raise refused("rdu.pef", "no PEF: start the program with run --pef=FILE, after compile")
    if not os.path.isfile(path):
        raise refused("rdu.pef", f"PEF not found: {path}; compile first")
    with open(path, encoding="utf-8") as source:
        text = source.read()
    # Where two runs are compared in float32, what was compiled for types of half the size is run with float32 too.
    return json.loads(re.sub(r"torch\.b?float16", "torch.float32", text) if twin.precision() == "float32" else text)


def agree(compiled, inputs):
    require("rdu.inputs-agree", compiled == inputs, f"compiled for {told(compiled)}, run with {told(inputs)}")


def told(inputs):
    return ", ".join(f"{item['name']}{item['shape']} {item['dtype'].split('.')[-1]}" for item in inputs)


def check_weights(compiled, weights):
    """The model of the run has the weights of the one that was compiled: names, shapes and types."""
    if compiled is not None:
        require("rdu.weights-agree", compiled == weights, "the model differs from the one that was compiled: "
                + next((f"{a} then, {b} now" for a, b in zip(compiled, weights) if a != b), f"{len(compiled)} weights then, {len(weights)} now"))


def check_numbers(compiled, now, given):
    """A number that the run does not hand over is the one that was compiled in."""
    for then, group in zip(compiled or [], now):
        other = sorted(name for name in then if name in group and then[name] != group[name] and name not in given)
        expect("rdu.hyperparameters", not other,
               ", ".join(f"{name} {then[name]} was compiled in, but is now {group[name]}" for name in other) + ": hand it over in hyperparam_dict")
