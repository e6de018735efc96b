"""Finds out from the metadata of published packages which modules need CUDA, and writes `tests/corpus/modules_for_cuda.txt`.

    python3 app/xtask/python/modules_for_cuda.py
    python3 app/xtask/python/modules_for_cuda.py --imported-in FOLDER…

to be called in the project's folder, with a Python that has pip. The second form looks for what is still missing: of all modules that are
imported below these folders, such as checkouts of public programs, it prints those whose metadata speak of CUDA; a person decides which of
them need it. pip reads the metadata of each distribution below without
installing or downloading it. A module needs CUDA if its distribution, without extras,

- asks for NVIDIA's libraries or for a package that is built for one version of CUDA, or
- has the classifier `Environment :: GPU :: NVIDIA CUDA`, or is itself built for one version of CUDA, or
- says NVIDIA, CUDA or Triton in its summary.

Each line of the result is a module with what its metadata says. `guides/engine.md#cuda-software` has to name all of them with what to
do instead (a test compares), and the independent scan of `tests/look.py` looks for them. Some packages have no wheel, whose metadata can be
read without running code, or say nothing there; what their own pages say was read by a person.
"""

import ast
import json
import pathlib
import re
import subprocess
import sys
import warnings

RESULT = pathlib.Path("tests/corpus/modules_for_cuda.txt")

# Distributions, each with its modules: packages that public training programs import, and those that the engine's list of
# requirements names.
DISTRIBUTIONS = {
    "auto-gptq": ["auto_gptq"],
    "autoawq": ["awq"],
    "bitsandbytes": ["bitsandbytes"],
    "cucim-cu12": ["cucim"],
    "cuda-python": ["cuda"],
    "cudf-cu12": ["cudf"],
    "cuequivariance-ops-torch-cu12": ["cuequivariance_ops_torch"],
    "cugraph-cu12": ["cugraph"],
    "cuml-cu12": ["cuml"],
    "cupy-cuda12x": ["cupy"],
    "cuvs-cu12": ["cuvs"],
    "dask-cuda": ["dask_cuda"],
    "dask-cudf-cu12": ["dask_cudf"],
    "flashinfer-python": ["flashinfer"],
    "kvikio-cu12": ["kvikio"],
    "liger-kernel": ["liger_kernel"],
    "lmdeploy": ["lmdeploy"],
    "numba-cuda": ["numba.cuda"],
    "nvidia-cudnn-frontend": ["cudnn"],
    "nvidia-cutlass": ["cutlass"],
    "nvidia-dali-cuda120": ["nvidia.dali"],
    "nvidia-ml-py": ["pynvml"],
    "nvidia-modelopt": ["modelopt"],
    "nvitop": ["nvitop"],
    "nvmath-python": ["nvmath"],
    "py3nvml": ["py3nvml"],
    "pylibraft-cu12": ["pylibraft"],
    "pynvvideocodec": ["PyNvVideoCodec"],
    "quack-kernels": ["quack"],
    "raft-dask-cu12": ["raft_dask"],
    "rapids-singlecell": ["rapids_singlecell"],
    "rmm-cu12": ["rmm"],
    "sglang": ["sglang"],
    "spconv-cu120": ["spconv"],
    "tensorrt": ["tensorrt"],
    "torch-tensorrt": ["torch_tensorrt"],
    "transformer-engine-cu12": ["transformer_engine"],
    "unsloth": ["unsloth"],
    "vllm": ["vllm"],
}

# Modules whose packages' metadata can't be read, or says nothing: what the package's page or README says.
READ = {
    "apex": "README: fused kernels that are built with `--cuda_ext`",
    "causal_conv1d": "its summary: “Causal depthwise conv1d in CUDA”",
    "cuspatial": "README: “GPU-accelerated vector geospatial operations”, of RAPIDS",
    "flash_attn": "README: requires the toolkit of CUDA or ROCm",
    "fla": "README: its kernels are Triton's",
    "gpustat": "its summary: “An utility to monitor NVIDIA GPU status and usage”",
    "gsplat": "README: “CUDA accelerated rasterization of gaussians”",
    "natten": "README: its kernels are built with CUDA's toolkit",
    "pycuda": "its summary: “Python wrapper for Nvidia CUDA”",
    "tensorrt_llm": "README: NVIDIA's library for inference with TensorRT",
    "triton": "README: supported hardware is NVIDIA's and AMD's GPUs",
    "xformers": "README: contains its own CUDA kernels",
}

BUILT = re.compile(r"(-|_)(cu\d\d+x?|cuda\d+x?)$")
LIBRARY = re.compile(r"(nvidia|cuda|cupy-cuda)-?[a-z0-9-]*|.*" + BUILT.pattern)
WORDS = re.compile(r"\b(nvidia|cuda|triton|gpu)\b", re.IGNORECASE)


def metadata(name):
    """The metadata of a distribution's newest wheel; None without a wheel."""
    options = "install --dry-run --quiet --ignore-installed --no-deps --only-binary :all: --report -"
    said = subprocess.run([sys.executable, "-m", "pip", *options.split(), name], capture_output=True, text=True)
    return json.loads(said.stdout)["install"][0]["metadata"] if said.returncode == 0 else None


def evidence(data):
    """What the metadata says about CUDA, as short phrases."""
    required = [one for one in data.get("requires_dist", []) if "extra ==" not in one]
    names = [re.match(r"[\w.-]+", one)[0].lower() for one in required]
    yield from (f"requires {name}" for name in names if LIBRARY.fullmatch(name))
    if "Environment :: GPU :: NVIDIA CUDA" in " ".join(data.get("classifier", [])):
        yield "classifier NVIDIA CUDA"
    if BUILT.search(data["name"]):
        yield "built for one version of CUDA"
    if WORDS.search(data.get("summary", "")):
        yield f"“{data['summary']}”"


def imported_in(folders):
    """The modules outside the standard library that programs below folders import, with the number of projects that do."""
    projects = {}
    for project in (project for folder in folders for project in pathlib.Path(folder).iterdir() if project.is_dir()):
        own = {path.name if path.is_dir() else path.stem for path in project.rglob("*")}
        for path in project.rglob("*.py"):
            try:
                tree = ast.parse(path.read_bytes())
            except (SyntaxError, ValueError, RecursionError, OSError):
                continue
            for node in ast.walk(tree):
                names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
                names += [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []
                for name in {name.split(".")[0] for name in names} - own - sys.stdlib_module_names:
                    projects.setdefault(name, set()).add(project)
    return sorted(((len(of), name) for name, of in projects.items()), reverse=True)


def look_for_more(folders):
    known = {module.split(".")[0] for modules in DISTRIBUTIONS.values() for module in modules}.union(READ)
    for count, module in imported_in(folders):
        data = metadata(module.replace("_", "-")) if module not in known else None
        if found := list(evidence(data or {"name": ""})):
            print(f"{module}, in {count}: {', '.join(found[:3])}", flush=True)


def main():
    lines = []
    for name, modules in DISTRIBUTIONS.items():
        data = metadata(name)
        if data is None:
            print(f"{name}: no wheel for this Python")
            continue
        found = list(dict.fromkeys(evidence(data)))[:3]
        if found:
            lines += [f"{module}  # {name} {data['version']}: {', '.join(found)}" for module in modules]
        else:
            print(f"{name} {data['version']}: nothing about CUDA in its metadata")
    lines += [f"{module}  # {said}" for module, said in READ.items()]
    head = "# Modules that need CUDA, by what their packages say. Written by app/xtask/python/modules_for_cuda.py.\n"
    RESULT.write_text(head + "\n".join(sorted(lines)) + "\n")


warnings.simplefilter("ignore")
look_for_more(sys.argv[2:]) if sys.argv[1:2] == ["--imported-in"] else main()
