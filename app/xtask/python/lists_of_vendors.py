"""Writes lists of the guides from the vendors' source: what a target lacks of PyTorch's names.

    python3 app/xtask/python/lists_of_vendors.py poptorch CHECKOUT WHEEL
    python3 app/xtask/python/lists_of_vendors.py gaudi CHECKOUT WHEEL

to be called in the project's folder, with a checkout of github.com/graphcore/poptorch or HabanaAI/gaudi-pytorch-bridge, and a wheel of the
PyTorch that it is for, of any system: `pip download torch==2.0.1 --no-deps --platform macosx_11_0_arm64 --only-binary=:all:
--python-version 3.10` for PopTorch 3.3, 2.5.1 and `--python-version 3.11` for the bridge 1.19. Nothing of either is run.

An operation lacks a handler in PopTorch if PyTorch has kernels of its own for it, so that it is not made of others, and PopTorch's source
names it nowhere. The Gaudi bridge lacks the types that its function `is_supported_type` refuses.
"""

import pathlib
import re
import sys
import zipfile

FUNCTIONS = "torchgen/packaged/ATen/native/native_functions.yaml"
# In guides with a message of their own, or no part of a forward pass.
ELSEWHERE = {"trace", "tril", "triu", "tril_indices", "triu_indices", "view_as_complex", "view_as_real", "multinomial", "poisson", "masked_select"}
# How the names begin of what programs don't call.
BACKENDS = (
    "_|mkldnn|cudnn|miopen|q_|(de)?quantize|fake_quant|batch_norm_|native_|sparse|hspmm|to_|special_|grid_sampler|int_repr|narrow_copy"
    "|unique_dim|segment_reduce|conv_depthwise|ldl|lu_factor|inv_ex|cholesky_ex|complex|polar|bitwise|empty_"
)
# PyTorch's names of types, where they are not the ones of C++ in small letters.
TYPES = {"UInt16": "uint16", "UInt32": "uint32", "UInt64": "uint64", "QInt8": "qint8", "QUInt8": "quint8", "QInt32": "qint32"}


def poptorch(checkout, wheel):
    source = "\n".join(
        path.read_text(errors="replace")
        for path in sorted((checkout / "poptorch/source").rglob("*"))
        if path.suffix in (".cpp", ".hpp", ".inc", ".h")
    )
    handled = set(re.findall(r"\baten::([a-z]\w*)", source)) | set(re.findall(r'm\.impl\("([a-z]\w*)', source))
    public = set(re.findall(r"^def (\w+)\(", wheel.read("torch/_C/_VariableFunctions.pyi").decode(), re.M))
    of_layers = set(re.findall(r"^(?:def )?(\w+)\b", wheel.read("torch/nn/functional.py").decode(), re.M))
    kernels, made_of_others, modules, computes = set(), set(), {}, set()
    for block in re.split(r"^- func: ", wheel.read(FUNCTIONS).decode(), flags=re.M)[1:]:
        name = re.match(r"\w+", block).group(0)
        # What has no tensor as an argument makes a constant.
        if "Tensor" in block[: block.index("->")].split("*")[0]:
            computes.add(name)
        module = re.search(r"^  python_module: (\w+)", block, re.M)
        modules.setdefault(name, module and module.group(1))
        dispatch = re.search(r"^  dispatch:\n((?:    .*\n)+)", block, re.M)
        keys = dispatch.group(1) if dispatch else ""
        if "structured_delegate" in block or (dispatch and "Composite" not in keys):
            kernels.add(name)
        elif not dispatch or "CompositeImplicit" in keys:
            made_of_others.add(name)
    missing = []
    for name in sorted((kernels & computes) - made_of_others - handled - ELSEWHERE):
        short = name.removeprefix(f"{modules[name]}_")
        known = f"{name}_" in handled or short in handled or name.endswith("_")
        of_backends = re.match(BACKENDS, name) or re.match(BACKENDS, short)
        if known or of_backends or "backward" in name:
            continue
        if modules[name] == "linalg" or name in (of_layers if modules[name] == "nn" else public):
            missing.append(short)
    return "operations_without_handler", missing


def gaudi(checkout, wheel):
    source = (checkout / "backend/helpers/tensor_utils.cpp").read_text()
    function = re.search(r"is_supported_type\(.*?\n\}", source, re.S).group(0)
    # Complex types have cases that refuse them.
    supported = {name for name in re.findall(r"ScalarType::(\w+):", function) if not name.startswith("Complex")}
    header = wheel.read("torch/include/c10/core/ScalarType.h").decode()
    every = re.findall(r"^  _\([^,]+, (\w+)\)", header, re.M) + re.findall(r"\bk(Q?U?[Ii]nt\d+)\b", header)
    names = {TYPES.get(name, name.lower()) for name in every if name not in supported}
    stub = set(re.findall(r"^(\w+): dtype", wheel.read("torch/_C/__init__.pyi").decode(), re.M))
    return "missing_types", sorted(name for name in names & stub if not name.startswith(("complex", "bits")))


GUIDES = {"poptorch": ("guides/ipu.md", poptorch), "gaudi": ("guides/hpu.md", gaudi)}


def main():
    what, checkout, wheel = sys.argv[1:4]
    guide, derive = GUIDES[what]
    with zipfile.ZipFile(wheel) as files:
        name, names = derive(pathlib.Path(checkout), files)
    path = pathlib.Path(guide)
    fence = f"```names {name}\n"
    before, rest = path.read_text().split(fence)
    path.write_text(before + fence + "".join(f"{name}\n" for name in names) + rest[rest.index("```\n") :])
    print(f"{guide}: {len(names)} names of {name}")


main()
