//! What needs the source vendor's software beside `torch.cuda`: packages, variables, programs, devices by number.

use super::ports::{in_place, port_files, port_script};
use codemod::{Diagnostic, Options, Severity, Style};

const TARGETS: [&str; 5] = ["hpu", "xpu", "ipu", "popdist", "rdu"];

fn said(target: &str, text: &str) -> Vec<Diagnostic> {
    port_script(target, text).files.remove(0).diagnostics
}

/// On every target there is a message at the line, with these words.
#[track_caller]
fn check(text: &str, line: usize, severity: Severity, words: &str) {
    for target in TARGETS {
        let said = said(target, text);
        let is_it = |d: &&Diagnostic| d.original.line == line && d.severity == severity && d.message.contains(words);
        assert!(said.iter().any(|d| is_it(&d)), "{target}: {said:?}\n{text}");
    }
}

/// There is exactly one message about the file, at the line.
#[track_caller]
fn check_one(text: &str, line: usize, words: &str) {
    let said = said("ipu", text);
    let places: Vec<_> = said.iter().map(|d| (d.original.line, d.message.contains(words))).collect();
    assert_eq!(places, [(line, true)], "{said:?}\n{text}");
}

#[track_caller]
fn check_silent(text: &str) {
    for target in TARGETS {
        assert_eq!(said(target, text), [], "{target}\n{text}");
    }
}

const WARNING: Severity = Severity::Warning;
const INFO: Severity = Severity::Info;

/// What is said of a name that nothing knows.
const NO_RECIPE: &str = "and no recipe covers it";

/// On the target there is no CUDA, so such a test keeps the program off the device that the port gives it.
#[test]
fn a_test_for_the_version_that_decides_about_the_targets_device() {
    let check = |text: &str, expected: Severity| {
        let said = said("hpu", &format!("import torch\n\nnet = torch.nn.Linear(3, 3)\n{text}\n"));
        let of_version = said.iter().filter(|d| d.message.contains("`torch.version.cuda` is about CUDA"));
        let found: Vec<(Severity, bool)> = of_version.map(|d| (d.severity, d.message.contains("always no"))).collect();
        assert_eq!(found, [(expected, expected == WARNING)], "{text}");
    };
    check(
        "use = torch.version.cuda is not None and torch.cuda.is_available()\nnet.to(\"cuda\" if use else \"cpu\")",
        WARNING,
    );
    check("if torch.version.cuda:\n    net = net.cuda()", WARNING);
    check("device = \"cuda\" if torch.version.cuda else \"cpu\"\nnet.to(device)", WARNING);
    check("if torch.version.cuda:\n    rate = 2", INFO);
    check("net.cuda()\nprint(torch.version.cuda)", INFO);
}

#[test]
fn what_is_told_hides_nothing_else() {
    let notes = |target: &str, text: &str| {
        let said = said(target, text).into_iter().filter(|d| d.message.contains(NO_RECIPE));
        said.map(|d| (d.original.line, d.message.split('`').nth(1).unwrap_or_default().to_owned())).collect::<Vec<_>>()
    };
    let check = |text: &str, expected: &[(usize, &str)]| {
        let found = notes("ipu", text);
        assert_eq!(found.iter().map(|(line, name)| (*line, name.as_str())).collect::<Vec<_>>(), expected, "{text}");
    };
    check("import torch\nv = torch.version.cuda\nmove = x.cuda\n", &[(3, "x.cuda")]);
    check("x = build(lib.cuda_magic, \"libnms_cuda.so\").cuda()\n", &[(1, "lib.cuda_magic"), (1, "libnms_cuda.so")]);
    check("os.environ[\"FORCE_CUDA\"] = \"1\"\n", &[(1, "FORCE_CUDA")]);
    // Names that have a message where they are used, in a file that does not use them.
    check("backends = (\"cubin\", \"nvcc\")\n", &[(1, "nvcc")]);
    check(
        "x = torch.cuda.is_available()\n@patch(\"torch.cuda.is_available\")\ndef f():\n    pass\n",
        &[(2, "torch.cuda.is_available")],
    );
    check("x = foo.settings[\"cuda_ready\"], tensor.cuda_ready\n", &[(1, "tensor.cuda_ready")]);
    check("print(load(\"libcuda.so\"), \"cuda_on\".format(a))\n", &[(1, "libcuda.so")]);
    check("if str(e).startswith(\"CUDA out of memory\"):\n    pass\n", &[(1, "CUDA out of memory")]);
    check("import subprocess\nsubprocess.run(\"nvidia-smi\")\nsubprocess.run([\"nvidia-smi\", \"-L\"])\n", &[]);
    check("import tensorrt\na = \"tensorrt\"\nu = \"https://docs.nvidia.com/cuda\"\n", &[]);
    check("from cuda import cudart\nfrom nvidia.dali import fn\n", &[]);
    check("on = torch.cuda.is_available()\non |= x\nif on:\n    lib.cuda_x()\n", &[(4, "lib.cuda_x")]);
    check("if torch.cuda.is_available() and \\\n        x:\n    lib.cuda_x()\n", &[]);
    check(
        "if not torch.cuda.is_available() and not x.is_cuda:\n    lib.x_cuda()\nelse:\n    lib.cuda_x()\n",
        &[(1, "x.is_cuda"), (2, "lib.x_cuda")],
    );
    // A variable, an attribute, an argument and a text of one name are four things.
    let one_name = "a(opt.cuda_on)\nb(cuda_on)\nc(cuda_on=1)\nd(\"cuda_on\")\nb(cuda_on, opt.cuda_on)\n";
    check(one_name, &[(1, "opt.cuda_on"), (2, "cuda_on"), (3, "cuda_on"), (4, "cuda_on")]);
    check("table[\"use_cuda\"] = 1\nf(use_cuda)\n", &[(2, "use_cuda")]);
    check("from torch import cuda\n\n\ndef f():\n    from lib import cuda as c\n", &[(5, "cuda")]);
    // Code beside the target's own needs no message, and tells nothing about other places.
    let chosen = "def f(d):\n    if d.type == \"cuda\":\n        lib.cuda_x(\"nccl-1\")\n    elif d.type == \"xpu\":\n        \
                  pass\n\n\ndef g():\n    lib.cuda_x(\"nccl-1\")\n";
    assert_eq!(notes("xpu", chosen), [(9, "lib.cuda_x".to_owned()), (9, "nccl-1".to_owned())]);
    let own = "import torch\n\nif not torch.cuda.is_available():\n    device = \"xpu\"\nelse:\n    device = \"cuda\"\n";
    assert!(!port_script("xpu", own).files[0].changed);
    let apart = "def f(d):\n    if not a.cuda_off:\n        lib.cuda_x()\n    if d == \"xpu\":\n        pass\n";
    assert_eq!(notes("xpu", apart), [(2, "a.cuda_off".to_owned()), (3, "lib.cuda_x".to_owned())]);
    let files = [("a.py", "def f():\n    cuda_extension = 1\n"), ("b.py", "from foo import cuda_extension\n")];
    let other = port_files(&files, &in_place("ipu")).files.remove(1).diagnostics;
    assert!(other.iter().any(|d| d.message.contains("`cuda_extension` refers to CUDA")), "{other:?}");
}

#[test]
fn what_only_its_spelling_shows() {
    let check = |text: &str, name: &str| check_one(text, 1, &format!("`{name}` refers to CUDA or other software"));
    check("move = x.cuda\n", "x.cuda");
    check("moved = map(operator.methodcaller(\"cuda_async\"), tensors)\n", "cuda_async");
    check("lib = ctypes.CDLL(\"libcudart.so\")\n", "libcudart.so");
    check("providers = [\"CUDAExecutionProvider\"]\n", "CUDAExecutionProvider");
    check("os.environ[f\"NCCL_{name}\"] = \"1\"\n", "NCCL_{name}");
    check("x = f\"{f\"é{a}é\"}_cuda_{b}\"\n", "{f\"é{a}é\"}_cuda_{b}");
    check("f = open(\"/dev/nvidia0\")\n", "/dev/nvidia0");
    check("x = \"CUDA \" + version\n", "CUDA");
    check("x = f\"CUDA {version}\"\n", "CUDA {version}");
    check("x = \"cuda\" \"_x\"\n", "\"cuda\" \"_x\"");
    check("pip_install(\"cuda118\")\n", "cuda118");
    check("x = {\"nvidia-smi -L\": 1}\n", "nvidia-smi -L");
    check("x = Literal[\"a\", \"cuda-12\"]\n", "cuda-12");
    check("import nvidia.nccl.lib\n", "nvidia.nccl.lib");
    check("train(use_cuda=True)\n", "use_cuda");
    check("kind = x.is_cuda\ny = kind or x.is_cuda\n", "x.is_cuda");
    check("if \"CUDA out of memory\" in str(error):\n    retry()\n", "CUDA out of memory");
    check("from kernels import nms_cuda\n", "nms_cuda");
    // The project's own things, text for people, publishers, and what is not reached.
    check_silent("parser.add_argument(\"--no-cuda\")\nif args.no_cuda:\n    pass\n");
    check_silent("def f(use_cuda):\n    return use_cuda\n\n\nf(use_cuda=True)\n");
    check_silent("self.cuda_ready = True\nx = self.cuda_ready\n");
    check_silent("config = {\"use_cuda\": False}\nx = config[\"use_cuda\"], config.use_cuda\n");
    check_silent("title = \"Tests with CUDA\"\nraise RuntimeError(\"cuda:none\")\n");
    check_silent("net = load(\"nvidia/mit-b0\")\n");
    let tested = "import torch\n\nx = a.cuda_kernel if torch.version.cuda is not None and a else b\n";
    check_one(tested, 3, "`torch.version.cuda` is about CUDA");
    let denied = "if not (a and torch.cuda.is_available()):\n    pass\nelse:\n    lib.cuda_x()\n";
    check_one(denied, 1, "finds no NVIDIA GPU");
    check_one("import importlib\nlibrary = importlib.import_module(\"torch.cuda\")\n", 2, "remains and needs CUDA");
    check_one("import importlib\nimportlib.import_module(\"torch.cuda\")\n", 2, "is still imported");
    check_one("ops = {\"cuda_x\": 1}\nload(f\"{prefix}cuda_x\")\n", 2, "{prefix}cuda_x");
    check_one("from torch.utils.cpp_extension import CUDA_HOME\n", 1, "is still imported");
    check_one("import os\nx = os.getenv(\"cuda\")\n", 2, "is a key or a name here");
}

#[test]
fn an_import_is_named_with_what_replaces_it() {
    check("from numba import cuda\n@cuda.jit\ndef f(x):\n    pass\n", 1, WARNING, "`numba.cuda` needs CUDA");
    check("import cupy as cp\nx = cp.zeros(3)\n", 1, WARNING, "NumPy's arrays on NVIDIA GPUs");
    check("import pycuda.autoinit\nx = pycuda.autoinit.device\n", 1, WARNING, "`pycuda` needs CUDA");
    check("import transformer_engine.pytorch as te\nm = te.Linear(1, 1)\n", 1, WARNING, "`transformer_engine` needs");
    check("from nvidia.dali import pipeline_def\nf = pipeline_def(g)\n", 1, WARNING, "torch.utils.data.DataLoader");
    check("from flash_attn import flash_attn_func as f\ny = f(q, k, v)\n", 1, WARNING, "scaled_dot_product_attention");
    check(
        "from xformers import ops\ny = ops.memory_efficient_attention(q, k, v)\n",
        1,
        WARNING,
        "`xformers.ops` needs",
    );
    check("import cudf, cuml\nx = cudf.DataFrame(), cuml.PCA()\n", 1, WARNING, "Use pandas");
    check("from apex.normalization import FusedLayerNorm\nn = FusedLayerNorm(3)\n", 1, WARNING, "Apex");
    check("import pynvml\npynvml.nvmlInit()\n", 1, WARNING, "state of NVIDIA GPUs");
    let colossal = "import colossalai\nfrom colossalai.nn.optimizer import HybridAdam\no = HybridAdam(p), colossalai.initialize(n)\n";
    check(colossal, 1, WARNING, "puts the model on the host");
    check("from megatron.core import parallel_state as s\ns.get_rank()\n", 1, WARNING, "`megatron.core` needs CUDA");
    check("from mmengine.runner import Runner\nRunner(n).train()\n", 1, WARNING, "`mmengine.runner.Runner` needs CUDA");
    check("import nvidia_smi\nnvidia_smi.nvmlInit()\n", 1, WARNING, "state of NVIDIA GPUs");
    check("import gpustat\ngpustat.new_query()\n", 1, WARNING, "state of NVIDIA GPUs");
    check("from torch_sparse import SparseTensor\nx = SparseTensor(i)\n", 1, WARNING, "for the CPU and for CUDA");
}

/// The test stays, as the kernel needs the card; that it is never true on the target is said.
#[test]
fn a_test_for_a_kernel_of_a_package_that_may_be_missing() {
    let text = "try:\n    import kernels\nexcept ImportError:\n    kernels = None\n\n\ndef f(x):\n    if kernels is not None and \
                x.is_cuda:\n        return kernels.f(x)\n    return x\n";
    for target in TARGETS {
        let ported = port_script(target, text).files.remove(0);
        assert!(!ported.changed && ported.diagnostics.iter().any(|d| d.original.line == 8), "{target}: {ported:?}");
    }
}

#[test]
fn an_import_anywhere() {
    check("def f():\n    import cupy\n    return cupy.zeros(3)\n", 2, WARNING, "`cupy` needs CUDA");
    check("import numba\n@numba.cuda.jit\ndef f(x):\n    pass\n", 2, WARNING, "`numba.cuda` needs CUDA");
    check("import importlib\nc = importlib.import_module(\"cupy\")\n", 2, WARNING, "`cupy` needs CUDA");
    check("from cupy import *\nx = zeros(3)\n", 1, WARNING, "`cupy` needs CUDA");
    check("try:\n    import cupy\nexcept ImportError:\n    print(1)\nx = cupy.zeros(1)\n", 2, WARNING, "`cupy` needs");
}

#[test]
fn an_import_with_a_fallback_is_a_note() {
    let fallback = "try:\n    import cupy as xp\nexcept ImportError:\n    import numpy as xp\nx = xp.zeros(3)\n";
    check(fallback, 2, INFO, "the program's own fallback runs");
    let asked = "def has():\n    try:\n        import cupy\n        return True\n    except ImportError:\n        return False\n";
    check(asked, 3, INFO, "the program's own fallback runs");
    let part =
        "try:\n    import apex\nexcept ImportError:\n    apex = None\nx = apex and apex.optimizers.FusedLAMB(p)\n";
    check_one(part, 2, "the program's own fallback runs");
}

#[test]
fn an_import_is_reported_once() {
    check_one("import cupy as cp\nx = cp.zeros(3)\ny = cp.ones(3) + cp.ones(3)\n", 1, "used 3 times in this file");
    check_one("import cupy\nimport cupy.linalg\nx = cupy.linalg.norm(a)\n", 1, "`cupy` needs CUDA");
    // The import without a fallback ends the program.
    let second =
        "try:\n    import cupy\nexcept ImportError:\n    cupy = None\ndef f():\n    import cupy as c\n    c.zeros(1)\n";
    check_one(second, 6, "`cupy` needs CUDA");
    check_one("import cupy\n", 1, "This file only imports it");
}

#[test]
fn what_is_no_such_import() {
    check_silent("from .cupy import zeros\nx = zeros(3)\n");
    check_silent("import typing\nif typing.TYPE_CHECKING:\n    import cupy\n");
    check_silent("import numba\n@numba.njit\ndef f(x):\n    pass\n");
    check_silent("from deepspeed.ops.adam import DeepSpeedCPUAdam\nDeepSpeedCPUAdam(p)\n");
    check_silent("import cupyfoo\ncupyfoo.zeros(3)\n");
    check_silent("cupy = 3\nprint(cupy)\n");
}

#[test]
fn an_import_after_the_question_whether_it_is_there() {
    let asked = [
        "if importlib.util.find_spec(\"cupy\") is not None:\n    ",
        "FOUND = is_installed(\"cupy.cuda\")\nif FOUND:\n    ",
    ];
    for asked in asked {
        check(&format!("{asked}import cupy\n    x = cupy.zeros(3)\n"), asked.matches('\n').count() + 1, INFO, "`cupy`");
    }
    let chosen = "if isinstance(plan, CupyPlan):\n    import cupy\n    x = cupy.zeros(3)\n";
    check(chosen, 2, WARNING, "`cupy` needs CUDA");
    check("if find_spec(\"scipy\"):\n    import cupy\n    x = cupy.zeros(3)\n", 2, WARNING, "`cupy` needs CUDA");
}

#[test]
fn what_an_argument_or_a_function_needs() {
    let load = "m = AutoModel.from_pretrained(name, load_in_8bit=True, load_in_4bit=False)\n";
    check_one(load, 1, "`load_in_8bit=True` needs CUDA");
    check_one(&load.replace("8bit=True", "8bit = True"), 1, "`load_in_8bit=True` needs CUDA");
    check_one(&load.replace("8bit=True", "8bit=args.int8"), 1, "`load_in_8bit=True` needs CUDA");
    let guarded = format!("import torch\nif torch.cuda.is_available():\n    {load}");
    let of_list = |text: &str| said("ipu", text).iter().filter(|d| d.message.contains("`load_in_8bit=True`")).count();
    assert_eq!((of_list(load), of_list(&guarded)), (1, 0));
    // A note where it works, also in a program for all devices.
    for (target, style) in
        [("hpu", Style::InPlace), ("xpu", Style::InPlace), ("hpu", Style::Agnostic), ("xpu", Style::Agnostic)]
    {
        let options = Options { style, ..in_place(target) };
        let said = port_files(
            &[("a.py", &format!("import torch\n{load}small = AutoModel.from_pretrained(name, load_in_4bit=small)\n"))],
            &options,
        )
        .files
        .remove(0)
        .diagnostics;
        let notes: Vec<_> = said.iter().map(|d| (d.severity, d.message.contains("from its version 0.48 on"))).collect();
        assert_eq!(notes, [(INFO, true), (INFO, true)], "{said:?}");
    }
    let search = "import faiss\nr = faiss.StandardGpuResources()\n";
    check(search, 2, WARNING, "`faiss.StandardGpuResources` needs CUDA");
    check_silent("import faiss\ni = faiss.IndexFlatL2(3)\n");
}

#[test]
fn a_module_of_the_project_has_its_name() {
    let said = |files: &[(&str, &str)]| port_files(files, &in_place("ipu")).files.remove(0).diagnostics.len();
    let user = "import triton\nx = triton.f(3)\n";
    assert_eq!(said(&[("a.py", user), ("triton.py", "f = abs\n")]), 0);
    assert_eq!(said(&[("src/a.py", user), ("src/triton/__init__.py", "f = abs\n")]), 0);
    // An absolute import does not find a module beside it in its package.
    assert_eq!(said(&[("p/a.py", user), ("p/__init__.py", ""), ("p/triton.py", "f = abs\n")]), 1);
}

#[test]
fn what_a_target_knows_better() {
    let triton = "import triton\n@triton.jit\ndef f(x):\n    pass\n";
    let on = |target: &str, text: &str| said(target, text).remove(0);
    assert_eq!(on("xpu", triton).severity, INFO);
    assert!(on("xpu", triton).message.contains("has a backend for Intel GPUs"));
    assert_eq!(on("ipu", triton).severity, WARNING);
    let optimizer = "from deepspeed.ops.adam import FusedAdam\no = FusedAdam(p)\n";
    assert!(on("hpu", optimizer).message.contains("op_builder/hpu"));
    assert!(on("rdu", optimizer).message.contains("Use `torch.optim.AdamW`"));
    let engine = "import transformer_engine.pytorch as te\nm = te.Linear(1, 1)\n";
    assert!(on("hpu", engine).message.contains("habana_frameworks.torch.hpex.experimental.transformer_engine"));
    assert!(on("xpu", "import cupy\ncupy.zeros(3)\n").message.contains("dpnp"));
}

#[test]
fn variables_of_nvidias_libraries() {
    check("import os\nos.environ[\"NCCL_DEBUG\"] = \"INFO\"\n", 2, INFO, "No effect on this target: `NCCL_DEBUG`");
    check("import os\nos.environ.update(NCCL_DEBUG=\"INFO\")\n", 2, INFO, "No effect on this target: `NCCL_DEBUG`");
    check("import os\nx = os.environ.get(\"CUDA_HOME\")\n", 2, INFO, "No effect on this target: `CUDA_HOME`");
    check("import os\nx = os.environ[\"CUDA_HOME\"]\n", 2, WARNING, "raises a KeyError");
    check("import os\nos.system(\"CUDA_VISIBLE_DEVICES=0 python t.py\")\n", 2, WARNING, "`CUDA_VISIBLE_DEVICES`");
    check("import os\nos.system(f\"export NCCL_DEBUG={level}; python t.py\")\n", 2, INFO, "`NCCL_DEBUG`");
    check_silent("print(\"NCCL_DEBUG\")\nparser.add_argument(\"--x\", help=\"CUDA_HOME\")\n");
    check_silent("x = \"NCCL_ variables\", \"my CUDA_HOME\"\n");
    // What has nothing to do with the environment, or is no text, is another thing of that name.
    check_silent("x = {\"CUDA_R_16F\": 2}\n");
    check_one("import os\nos.environ.clear()\nx = {\"CUDA_R_16F\": 2}\ny = f(NCCL_DEBUG=1)\n", 4, NO_RECIPE);
    check("env = {\"NCCL_DEBUG\": level}\nrun(env=env)\n", 1, INFO, "`NCCL_DEBUG`");
    check("run(cmd, env=dict(NCCL_DEBUG=\"INFO\"))\n", 1, INFO, "`NCCL_DEBUG`");
    let settings = "import os\nsettings = dict(NCCL_DEBUG=\"INFO\")\n";
    check(&format!("{settings}os.environ.update(settings)\n"), 2, INFO, "`NCCL_DEBUG`");
    check(&format!("{settings}run(cmd, env={{**os.environ, **settings}})\n"), 2, INFO, "`NCCL_DEBUG`");
    check("import os\nenv = os.environ.copy()\nenv.update(NCCL_DEBUG=\"INFO\")\n", 3, INFO, "`NCCL_DEBUG`");
    check("ray.init(runtime_env={\"env_vars\": dict(NCCL_DEBUG=\"INFO\")})\n", 1, INFO, "`NCCL_DEBUG`");
    check_silent(&format!("{settings}f(settings)\n"));
    check_one("env = gym.make(\"a\", NCCL_DEBUG=1)\nenv.update(NCCL_DEBUG=1)\n", 1, NO_RECIPE);
    check_silent("\"\"\"Set NCCL_DEBUG=INFO.\"\"\"\nraise ValueError(\"CUDA_HOME\")\n");
    let twice = "import os\nos.environ[\"NCCL_DEBUG\"] = \"INFO\"\nos.environ[\"NCCL_DEBUG\"] = \"WARN\"\n";
    check_one(twice, 2, "`NCCL_DEBUG`");
    let family = "import os\nos.environ.update(NCCL_DEBUG=\"INFO\", NCCL_ALGO=\"Ring\")\n";
    check_one(family, 2, "`NCCL_DEBUG`, `NCCL_ALGO`;");
}

#[test]
fn cards_are_chosen_by_other_variables() {
    let set = "import os\nos.environ[\"CUDA_VISIBLE_DEVICES\"] = \"\"\n";
    for target in TARGETS {
        let said = said(target, set);
        assert_eq!(said.iter().map(|d| (d.original.line, d.severity)).collect::<Vec<_>>(), [(2, WARNING)], "{said:?}");
    }
}

#[test]
fn programs_of_nvidias_driver() {
    check("import os\nos.system(\"nvidia-smi\")\n", 2, WARNING, "`nvidia-smi` is a program");
    check("import subprocess\nsubprocess.run([\"nvidia-smi\", \"-L\"])\n", 2, WARNING, "`nvidia-smi` is a program");
    check("import os\nx = os.popen(\"/usr/bin/nvidia-smi -q | grep Free\")\n", 2, WARNING, "`nvidia-smi` is a program");
    check("import shutil\nx = shutil.which(\"nvcc\")\n", 2, INFO, "`nvcc` is a program");
    check_silent("import subprocess\nversions = {\"nvcc\": 2}\nif kind == \"nvcc\" or versions[\"nvcc\"]:\n    pass\n");
    check("line = \"nvidia-smi --query-gpu=name\"\nrun(line)\n", 1, WARNING, "`nvidia-smi` is a program");
    check("label(\"nvcc\")\n", 1, INFO, "`nvcc` refers to CUDA or other software from NVIDIA");
    check_silent("print(\"nvidia-smi\")\n\"nvidia-smi\"\nx = \"nvidia-smi is not installed\"\n");
}

#[test]
fn cuda_by_its_name_in_torch() {
    check("import torch\ngetattr(torch, \"cuda\").synchronize()\n", 2, WARNING, "`torch.cuda` remains");
    check("import torch\nassert torch.version.cuda >= \"11\"\n", 2, WARNING, "torch.version.");
    let kernels = "from torch.utils.cpp_extension import CUDAExtension\nx = CUDAExtension(\"a\", [\"a.cu\"])\n";
    check(kernels, 2, WARNING, "`torch.utils.cpp_extension.CUDAExtension` needs CUDA");
    check_one("import torch\nprint(torch.version.cuda)\nx = torch.version.cuda is None\n", 2, "nothing has to change");
    check_one("import torch\nx = \"CUDA\" if torch.version.cuda else \"HIP\"\n", 2, "nothing has to change");
    check_one("import torch.backends.cudnn as c\nc.benchmark = True\nc.enabled = False\n", 2, "has no effect");
}

#[test]
fn a_number_as_a_device() {
    for target in ["ipu", "popdist", "rdu"] {
        let there = |text: &str| said(target, text).iter().any(|d| d.message.contains("as a device is a number of an"));
        assert!(there("import torch\nx = torch.zeros(1, device=0)\n"));
        assert!(there("x = x.to(1)\n") && there("x = x.new_zeros(3, device=1)\n") && there("x = x.to(device=0)\n"));
        assert!(!there("x = x.to(True)\nx = play(device=0)\nx = x.to(dtype)\n"));
        assert!(there("import torch\nx = torch.load(path, map_location=0)\n"));
        let own = |does: &str| format!("class A:\n    def to(self, at):\n        {does}\na = A()\na.to(0)\n");
        assert!(!there(&own("self.at = at")) && there(&own("self.net.to(at)")));
    }
    let on_intel = said("xpu", "import torch\nx = torch.zeros(1).to(0)\n");
    assert_eq!(on_intel.iter().map(|d| d.severity).collect::<Vec<_>>(), [INFO]);
}

#[test]
fn a_device_of_tensorflow() {
    check("with tf.device(\"/gpu:0\"):\n    pass\n", 1, WARNING, "names a CUDA device");
    check_silent("x = \"/gpu:one\", \"a/gpu:0 b\"\n");
}

/// A rule that speaks of a call says nothing about what is given to it.
#[test]
fn a_message_about_a_call_hides_no_device_in_it() {
    let model = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        \
                 return x * torch.zeros(3, device=\"cuda\")\n\n\n";
    let program = super::ports::SCRIPT.replace("import torch\n", model).replace("torch.nn.Linear(3, 3)", "Net()");
    let said = said("rdu", &program);
    let at =
        |words: &str| said.iter().filter(|d| d.message.contains(words)).map(|d| d.original.line).collect::<Vec<_>>();
    assert_eq!((at("bfloat16"), at("names a CUDA device")), (vec![6], Vec::<usize>::new()), "{said:?}");
}

/// What the metadata of packages says needs CUDA is in the list of the guides.
#[test]
fn the_list_has_what_the_metadata_says() {
    let listed = codemod::RecipeSet::embedded().names("ipu", "needs_cuda");
    let modules = include_str!("../../../../tests/corpus/modules_for_cuda.txt").lines();
    let modules =
        modules.filter_map(|line| line.split(" #").next()).map(str::trim).filter(|name| !name.starts_with('#'));
    let missing: Vec<&str> = modules.filter(|name| listed.iter().all(|one| one.name != **name)).collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn a_table_without_an_entry_for_the_target() {
    let lacks = "has an entry for CUDA and none for the target";
    check("t = {\"cpu\": 1, \"cuda\": 2}[x.device.type]\n", 1, WARNING, lacks);
    check("t = {\n    \"cuda\": 2,\n    \"cpu\": 1,\n}\ny = t[kind]\n", 2, WARNING, lacks);
    let kept = "class A:\n    def __init__(self):\n        self.t = {\"cpu\": 1, \"cuda\": 2}\n\n    def f(self, kind):\n        return self.t.get(kind)\n";
    check(kept, 3, WARNING, lacks);
    // By another name, and in another function.
    check("t = {\"cpu\": 1, \"cuda\": 2}\nsizes = t\ny = sizes[kind]\n", 1, WARNING, lacks);
    check("def f(t):\n    return t[kind]\n\n\nf({\"cpu\": 1, \"cuda\": 2})\n", 5, WARNING, lacks);
    // One note, at the first key.
    let key = "is a key or a name here";
    check("t = {\"cpu\": 0, \"cuda\": 0}\nt[\"cuda\"] += 1\n", 1, INFO, key);
    check("t = {\"cpu\": 0, \"cuda\": 0}\nt[kind] = 1\n", 1, INFO, key);
    for names in ["t", "sorted(t)", "t.keys()", "list(t)"] {
        check(&format!("t = {{\"cpu\": 0, \"cuda\": 0}}\nfor name in {names}:\n    print(t[name])\n"), 1, INFO, key);
    }
    check("t = {\"cpu\": 0, \"cuda\": 0}\nfor name, _ in t.items():\n    print(t[name])\n", 1, INFO, key);
    check("def f():\n    t = {\"cpu\": 0, \"cuda\": 0}\n\n\ndef g(t):\n    return t[kind]\n", 2, INFO, key);
    let other = "def g(t, i):\n    return t[i]\n\n\ndef f():\n    t = {\"cpu\": 0, \"cuda\": 0}\n    return t\n";
    check(other, 6, INFO, key);
    check_one("y = t.get(\"cuda\")\nz = t[\"cuda\"]\n", 1, key);
    // Not at the first, which the target does not reach.
    let said = |target, text| said(target, text).iter().map(|d| d.original.line).collect::<Vec<_>>();
    let text = "import torch\n\nif torch.cuda.is_available():\n    y = t[\"cuda\"]\nz = t[\"cuda:0\"]\n";
    assert_eq!(said("ipu", text), [3, 5]);
    let own = said("xpu", "t = {\"cuda\": 1, \"xpu\": 2, \"cpu\": 3}[kind]\n");
    assert_eq!(own, [0; 0]);
    check_silent("t = {\"cuda_home\": 1}\nprint(\"cuda\")\n");
}

#[test]
fn a_name_that_is_no_device() {
    let key = "is a key or a name here";
    check_one("x = Backend(name=\"cuda\")\n", 1, key);
    check_one("import re\n\nx = re.sub(\"cuda\", \"\", name)\n", 3, key);
    check_one("x = name.replace(\"cuda\", \"gpu\")\n", 1, key);
    check_one("x = hasattr(net, \"cuda\")\n", 1, key);
    check_one("x = find_spec(\"cuda\")\n", 1, key);
    let said =
        said("ipu", "x = a.replace(\"hip\", \"cuda\")\ny = {\"cuda\": 1}\nz = b.split(\"cuda\")\nv = y[\"cuda\"]\n");
    assert_eq!(said.iter().map(|d| d.original.line).collect::<Vec<_>>(), [1, 2, 3]);
    let patched = "with mock.patch.object(net, \"cuda\", other):\n    pass\n";
    check_one(patched, 1, key);
    assert_eq!(port_script("hpu", patched).files[0].text, patched);
    let device = "with mock.patch.object(net, \"device\", \"cuda\"):\n    pass\n";
    check_one(device, 1, "names a CUDA device");
    check_silent("import torch\n\nx = hasattr(torch, \"cuda\")\nx = os.path.join(base, \"cuda\")\n");
}

#[test]
fn a_variable_in_an_environment_that_is_named_as_a_string() {
    let set = "with patch.dict(\"os.environ\", {\"CUDA_VISIBLE_DEVICES\": \"3\"}):\n    pass\n";
    check(set, 1, WARNING, "`CUDA_VISIBLE_DEVICES`");
    // Nothing says what it is.
    let named = "If `NCCL_DEBUG` becomes a variable";
    check_one("start({\"NCCL_DEBUG\": level})\ny = config[\"NCCL_ALGO\"]\n", 1, named);
    check_silent("print(\"NCCL_DEBUG\")\nx = \"NCCL_DEBUG is set\"\n");
}

#[test]
fn the_module_as_a_value() {
    let given = "def _torch():\n    import torch\n\n    return torch\n\n\n";
    let left = "`torch.cuda` remains";
    check(&format!("{given}getattr(_torch(), \"cuda\").synchronize()\n"), 7, WARNING, left);
    check(&format!("{given}_torch().cuda.synchronize()\n"), 7, WARNING, left);
    check("import sys\n\nsys.modules[\"torch\"].cuda.synchronize()\n", 3, WARNING, left);
    check("import sys\n\nt = sys.modules[\"torch\"]\ngetattr(t, \"cuda\").synchronize()\n", 4, WARNING, left);
    check_one("import sys\n\nsys.modules[\"jax\"].cuda.synchronize()\nload().cuda.synchronize()\n", 3, NO_RECIPE);
}

#[test]
fn a_type_names_the_devices_that_are_accepted() {
    let text = "from typing import Literal\n\nDevice = Literal[\"cpu\", \"cuda\"]\n";
    assert!(port_script("hpu", text).files[0].text.contains("Literal[\"cpu\", \"hpu\"]"));
    assert!(said("ipu", text)[0].message.contains("names a CUDA device"));
    let own = text.replace("\"cpu\"", "\"cpu\", \"hpu\"");
    assert_eq!(port_script("hpu", &own).files[0].text, own);
}

#[test]
fn a_program_that_sets_names_in_the_module() {
    check_one("import torch\n\ntorch.cuda.Event = Mine\ntorch.cuda.stream = mine\n", 3, "is set here");
}

#[test]
fn what_a_function_imports_for_another() {
    check(
        "def f():\n    torch = load()\n    getattr(torch, \"cuda\").synchronize()\n",
        3,
        WARNING,
        "`torch.cuda` remains",
    );
    check("def f():\n    torch = load()\n    torch.cuda.set_stream(s)\n", 3, WARNING, "set_stream");
}

#[test]
fn the_method_cuda_by_its_name() {
    let left = "needs an NVIDIA GPU";
    check("getattr(net, \"cuda\")()\n", 1, WARNING, left);
    check("import torch\n\nnet.apply(torch.nn.Module.cuda)\n", 3, WARNING, "`torch.nn.Module.cuda` remains");
    check_silent("flag = getattr(args, \"cuda\")\n");
}

#[test]
fn a_program_that_is_first_named_for_another_system() {
    let text = "import platform, subprocess\n\nif platform.system() == \"Windows\":\n    tool = \"nvidia-smi\"\nelse:\n    \
        tool = \"nvidia-smi\"\nsubprocess.run([tool])\n";
    check(text, 6, WARNING, "`nvidia-smi` is a program of NVIDIA's");
}

#[test]
fn a_question_by_the_name_of_its_class() {
    let text = "def choose():\n    if CUDAAccelerator.is_available():\n        return \"cuda\"\n    return \"cpu\"\n";
    for target in TARGETS {
        let said = said(target, text);
        let places: Vec<_> = said.iter().map(|d| (d.original.line, d.severity)).collect();
        assert_eq!(places, [(2, INFO)], "{target}: {said:?}");
    }
}

/// Whatever runs programs, chooses cards or compares versions: no target passes over it.
#[test]
fn nothing_for_the_source_vendor_is_passed_over() {
    for code in [
        "try:\n    from apex.optimizers import FusedAdam\nexcept ImportError:\n    FusedAdam = None",
        "try:\n    import cupy as np\nexcept ImportError:\n    import numpy as np",
        "cupy = importlib.import_module(\"cupy\")",
        "getattr(torch, \"cuda\").synchronize()",
        "os.environ[\"NCCL_DEBUG\"] = \"INFO\"",
        "os.environ.setdefault(\"NCCL_P2P_DISABLE\", \"1\")",
        "os.putenv(\"NCCL_DEBUG\", \"INFO\")",
        "os.environ[\"CUDA_VISIBLE_DEVICES\"] = str(rank)",
        "os.system(\"CUDA_VISIBLE_DEVICES=0 python train.py\")",
        "os.system(\"nvidia-smi\")",
        "subprocess.check_output([\"/usr/bin/nvidia-smi\", \"-L\"])",
        "subprocess.getoutput(\"nvidia-smi | grep MiB\")",
        "x = torch.zeros(1, device=0)",
        "x = y.to(0)",
        "torch.set_default_device(0)",
        "x = torch.load(\"x.pt\", map_location=0)",
        "assert torch.version.cuda >= \"11\"",
        "major = int(torch.version.cuda.split(\".\")[0])",
        "import bitsandbytes as bnb\nopt = bnb.optim.Adam8bit(p)",
        "import triton\n@triton.jit\ndef kernel(p):\n    pass",
        "model = A.from_pretrained(\"x\", attn_implementation=\"flash_attention_2\")",
        "parser.add_argument(\"--device\", default=\"cuda\")",
    ] {
        let text = format!("import importlib, os, subprocess, torch\n\n{code}\n");
        for target in TARGETS {
            let ported = port_script(target, &text).files.remove(0);
            let is_told = ported.diagnostics.iter().any(|d| d.original.line >= 3);
            assert!(is_told || !ported.text.contains(code), "{target}: {code}");
        }
    }
}
