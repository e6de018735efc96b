"""The file that compiling leaves: here only what the run must agree with.

Source: https://docs.sambanova.ai/developer/latest/: `compile --pef-name NAME --output-folder DIR` writes `DIR/NAME/NAME.pef`.
"""

import json
import os

from contracts import refused, require

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
    require("rdu.input-names", len(set(names)) == len(names), f"two inputs have one name: {names}")
    return out


def written(path, inputs, trains, host_loss):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        json.dump({"inputs": inputs, "trains": trains, "output_grads": host_loss}, out)


def read(path):
    if not path:
        raise refused("rdu.pef", "no PEF: start the program with run --pef=FILE, after compile")
    if not os.path.isfile(path):
        raise refused("rdu.pef", f"there is no PEF {path}: compile first")
    with open(path, encoding="utf-8") as source:
        return json.load(source)


def agree(compiled, inputs):
    require("rdu.inputs-agree", compiled == inputs, f"compiled for {told(compiled)}, run with {told(inputs)}")


def told(inputs):
    return ", ".join(f"{item['name']}{item['shape']} {item['dtype'].split('.')[-1]}" for item in inputs)
