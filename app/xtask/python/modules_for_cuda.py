"""Finds out from the metadata of published packages which modules need CUDA, and writes `tests/corpus/modules_for_cuda.txt`.

    python3 app/xtask/python/modules_for_cuda.py

to be called in the project's folder, with a Python that has pip. pip reads the metadata of each distribution below without
installing or downloading it. A module needs CUDA if its distribution, without extras,

- asks for NVIDIA's libraries or for a package that is built for one version of CUDA, or
- has the classifier `Environment :: GPU :: NVIDIA CUDA`, or is itself built for one version of CUDA, or
- says NVIDIA, CUDA or Triton in its summary.

Each line of the result is a module with what its metadata says. `guides/engine.md#cuda-software` has to name all of them with what to
do instead (a test compares), and the independent scan of `tests/look.py` looks for them. Some packages have no wheel, whose metadata can be
read without running code, or say nothing there; what their own pages say was read by a person.
"""

import json
import pathlib
import re
import subprocess
import sys

RESULT = pathlib.Path("tests/corpus/modules_for_cuda.txt")

# Distributions, each with its modules: packages that public training programs import, and those that the engine's list of
# requirements names.
DISTRIBUTIONS = {
    "bitsandbytes": ["bitsandbytes"],
    "cucim-cu12": ["cucim"],
    "cuda-python": ["cuda"],
    "cudf-cu12": ["cudf"],
    "cugraph-cu12": ["cugraph"],
    "cuml-cu12": ["cuml"],
    "cupy-cuda12x": ["cupy"],
    "dask-cuda": ["dask_cuda"],
    "flashinfer-python": ["flashinfer"],
    "liger-kernel": ["liger_kernel"],
    "numba-cuda": ["numba.cuda"],
    "nvidia-dali-cuda120": ["nvidia.dali"],
    "nvidia-ml-py": ["pynvml"],
    "nvitop": ["nvitop"],
    "py3nvml": ["py3nvml"],
    "pylibraft-cu12": ["pylibraft"],
    "rmm-cu12": ["rmm"],
    "spconv-cu120": ["spconv"],
    "tensorrt": ["tensorrt"],
    "torch-tensorrt": ["torch_tensorrt"],
    "transformer-engine-cu12": ["transformer_engine"],
}

# Modules whose packages' metadata can't be read, or says nothing: what the package's page or README says.
READ = {
    "apex": "README: fused kernels that are built with `--cuda_ext`",
    "causal_conv1d": "its summary: “Causal depthwise conv1d in CUDA”",
    "flash_attn": "README: requires the toolkit of CUDA or ROCm",
    "gpustat": "its summary: “An utility to monitor NVIDIA GPU status and usage”",
    "pycuda": "its summary: “Python wrapper for Nvidia CUDA”",
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


main()
