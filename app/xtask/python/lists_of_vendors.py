"""Writes lists of the guides from the vendors' source: what a target lacks of PyTorch's names.

    python3 app/xtask/python/lists_of_vendors.py poptorch CHECKOUT WHEEL
    python3 app/xtask/python/lists_of_vendors.py gaudi CHECKOUT WHEEL
    python3 app/xtask/python/lists_of_vendors.py extension CLONE WHEEL

to be called in the project's folder, with a checkout of github.com/graphcore/poptorch or HabanaAI/gaudi-pytorch-bridge, or a clone of
intel/intel-extension-for-pytorch with its tags, and a wheel of the PyTorch that it is for, of any system: `pip download torch==2.0.1 --no-deps
--platform macosx_11_0_arm64 --only-binary=:all: --python-version 3.10` for PopTorch 3.3, 2.5.1 and `--python-version 3.11` for the bridge
1.19, and the newest for the extension. Nothing of either is run.

An operation lacks a handler in PopTorch if PyTorch has kernels of its own for it, so that it is not made of others, and PopTorch's source
names it nowhere; a layer lacks one that calls such an operation. The Gaudi bridge lacks the types that its function `is_supported_type` refuses, and sparse tensors. Of the extension's names, those are gone
that a release for Intel GPUs had and none from the given one on has; what its module `xpu` has today is what PyTorch's own has.
"""

import ast
import pathlib
import re
import subprocess
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
    return {"operations_without_handler": missing, "layers_without_handler": layers_that_call(set(missing), wheel)}


def layers_that_call(operations, wheel):
    """The layers of `torch.nn` that call one of the operations whenever they are called, directly or through `torch.nn.functional`."""

    def called(function, bodies, seen=()):
        """What a function calls in every run, its own functions replaced by what those call."""
        names = set()
        for statement in function.body:
            if isinstance(statement, (ast.If, ast.With, ast.Try)):
                continue
            for call in (node.func for node in ast.walk(statement) if isinstance(node, ast.Call)):
                name = call.attr if isinstance(call, ast.Attribute) else getattr(call, "id", "")
                names.add(name)
                of_functional = isinstance(call, ast.Name) or isinstance(call.value, ast.Name) and call.value.id == "F"
                if of_functional and name in bodies and name not in seen:
                    names |= called(bodies[name], bodies, (*seen, name))
        return names

    functional = ast.parse(wheel.read("torch/nn/functional.py").decode())
    bodies = {node.name: node for node in functional.body if isinstance(node, ast.FunctionDef)}
    layers = set()
    for path in wheel.namelist():
        if re.fullmatch(r"torch/nn/modules/\w+\.py", path):
            for layer in ast.parse(wheel.read(path).decode()).body:
                for function in layer.body if isinstance(layer, ast.ClassDef) and not layer.name.startswith("_") else ():
                    if getattr(function, "name", "") == "forward" and called(function, bodies) & operations:
                        layers.add(layer.name)
    return sorted(layers)


def gaudi(checkout, wheel):
    source = (checkout / "backend/helpers/tensor_utils.cpp").read_text()
    function = re.search(r"is_supported_type\(.*?\n\}", source, re.S).group(0)
    # Complex types have cases that refuse them.
    supported = {name for name in re.findall(r"ScalarType::(\w+):", function) if not name.startswith("Complex")}
    header = wheel.read("torch/include/c10/core/ScalarType.h").decode()
    every = re.findall(r"^  _\([^,]+, (\w+)\)", header, re.M) + re.findall(r"\bk(Q?U?[Ii]nt\d+)\b", header)
    names = {TYPES.get(name, name.lower()) for name in every if name not in supported}
    stub = set(re.findall(r"^(\w+): dtype", wheel.read("torch/_C/__init__.pyi").decode(), re.M))
    return {"missing_types": sorted(name for name in names & stub if not name.startswith(("complex", "bits")))} | sparse(wheel)


def sparse(wheel):
    """What makes sparse tensors, or computes with them."""
    functions = re.findall(r"^def (sparse_\w*tensor)\(", wheel.read("torch/_C/_VariableFunctions.pyi").decode(), re.M)
    sources = "".join(wheel.read(f"torch/{path}").decode() for path in ("_C/__init__.pyi", "_tensor.py"))
    methods = re.findall(r"^    def (to_sparse\w*)\(", sources, re.M)
    module = ast.parse(wheel.read("torch/sparse/__init__.py").decode())
    listed = next(node.value for node in module.body if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__")
    # Those that only check; classes of an older interface that the module gets from C++.
    of_module = [name for name in ast.literal_eval(listed) if name[0].islower() and "check" not in name]
    older = ["DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor", "LongTensor"]
    return {
        "sparse_functions": sorted({f"torch.{name}" for name in functions} | {f"torch.sparse.{name}" for name in of_module + older}),
        "sparse_methods": sorted(set(methods)),
    }


EXTENSION = "intel_extension_for_pytorch"
# What its module `xpu` imports for builds and for other libraries.
NOT_FOR_PROGRAMS = ("cpp_extension", "deepspeed", "bitsandbytes")


def extension(clone, wheel):
    def git(*words):
        return subprocess.run(["git", "-C", clone, *words], check=True, capture_output=True, text=True, errors="replace").stdout

    def number(tag):
        return tuple(int(part) for part in re.findall(r"\d+", tag))

    def had(module):
        """The names of a module in each release."""
        files = {tag: git("ls-tree", "-r", "--name-only", tag, EXTENSION).split() for tag in tags}
        return {tag: names_of(module, files[tag], lambda path: git("show", f"{tag}:{path}")) for tag in tags}

    def until(names, release):
        """What some release had, and none from this one on."""
        now = set().union(*(names[tag] for tag in tags if number(tag)[:2] >= release))
        return sorted(set().union(*names.values()) - now)

    tags = sorted((tag for tag in git("tag").split() if tag.endswith(("+xpu", "+gpu"))), key=number)
    names = had(EXTENSION)
    gone = until(names, (2, 5))
    source = ast.parse(wheel.read("torch/xpu/__init__.py").decode())
    own = {getattr(node, "name", None) for node in source.body} | {alias.name for node in source.body for alias in getattr(node, "names", [])}
    own |= set(ast.literal_eval(next(node.value for node in source.body if isinstance(node, ast.Assign) and node.targets[0].id == "__all__")))
    own |= {path.split("/")[2].removesuffix(".py") for path in wheel.namelist() if path.startswith("torch/xpu/")}
    return {
        "gone_from_extension": gone,
        "gone_from_extension_in_2_8": [name for name in until(names, (2, 8)) if name not in gone],
        "names_of_extension": sorted(set().union(*had(f"{EXTENSION}.xpu").values()) - own),
    }


def names_of(module, paths, read):
    """The public names of a module: its parts, and what it defines or imports from its package."""
    path = next((path for path in (f"{module.replace('.', '/')}/__init__.py", f"{module.replace('.', '/')}.py") if path in paths), None)
    if path is None:
        return set()
    folder = path.removesuffix("__init__.py")
    names = {below.removeprefix(folder).split("/")[0].removesuffix(".py") for below in paths if below.startswith(folder) and below.endswith(".py")}
    package = module if path.endswith("__init__.py") else module.rpartition(".")[0]
    body = list(ast.parse(read(path)).body)
    for node in body:
        body.extend(part for name in ("body", "orelse", "handlers") if isinstance(node, (ast.If, ast.Try, ast.ExceptHandler)) for part in getattr(node, name, []))
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.ImportFrom) and node.level and (node.module or "").split(".")[0] not in NOT_FOR_PROGRAMS:
            base = ".".join(package.split(".")[: len(package.split(".")) + 1 - node.level] + ([node.module] if node.module else []))
            for alias in node.names:
                names.update(names_of(base, paths, read) if alias.name == "*" else [alias.asname or alias.name])
    return {name for name in names if not name.startswith("_") and name not in ("", *NOT_FOR_PROGRAMS)}


GUIDES = {"poptorch": ("guides/ipu.md", poptorch), "gaudi": ("guides/hpu.md", gaudi), "extension": ("guides/xpu.md", extension)}


def main():
    what, checkout, wheel = sys.argv[1:4]
    guide, derive = GUIDES[what]
    with zipfile.ZipFile(wheel) as files:
        lists = derive(pathlib.Path(checkout), files)
    path = pathlib.Path(guide)
    for name, names in lists.items():
        fence = f"```names {name}\n"
        before, rest = path.read_text().split(fence)
        path.write_text(before + fence + "".join(f"{name}\n" for name in names) + rest[rest.index("```\n") :])
        print(f"{guide}: {len(names)} names of {name}")


main()
