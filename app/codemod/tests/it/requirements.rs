//! Requirements and settings of a project, besides its programs.

use crate::ports::{SCRIPT, in_place, port_files, ported};

#[test]
fn tensorflow_beside_pytorch_stays_installed() {
    // Gaudi's current software has no TensorFlow.
    for (target, brings_its_own) in [("hpu", false), ("ipu", true)] {
        let wanted = |train: &str| {
            let files = [("train.py", train), ("requirements.txt", "torch\ntensorflow==2.8\n")];
            ported(target, &files).0[1].contains("# tensorflow")
        };
        assert!(!wanted(&format!("import tensorflow as tf\n{SCRIPT}tf.summary.scalar('loss', loss)\n")));
        let keras =
            "import tensorflow as tf\n\nmodel = tf.keras.Sequential([])\nmodel.compile('sgd')\nmodel.fit(x, y)\n";
        assert_eq!(wanted(keras), brings_its_own);
    }
}

/// The target's software brings packages that a list for pip would have as comments.
#[test]
fn packages_of_the_target_that_are_installed_over() {
    let check = |path: &str, text: &str, expected: &str| {
        let said = ported("xpu", &[(path, text)]).1;
        let said = said.contains("This installs over what the target's own software has").then_some(said);
        assert!(said.clone().unwrap_or_default().contains(expected), "{path}: {said:?}");
        assert_eq!(said.is_some(), !expected.is_empty(), "{path}: {said:?}");
    };
    let project = |rest: &str| format!("[project]\ndependencies = [\"numpy\"]\n{rest}\n");
    check(
        "pyproject.toml",
        "[project]\ndependencies = [\"numpy\", \"torch==2.9.1\"]\n",
        "2: This installs over what the target's own software has: `torch==2.9.1`.",
    );
    check("pyproject.toml", "[project]\ndependencies = [\n  \"numpy\",\n  \"torchvision<1\",\n]\n", "`torchvision<1`");
    check("pyproject.toml", &project("[project.optional-dependencies]\ntorch = [\"torch==2\"]"), "`torch==2`");
    check("pyproject.toml", &project("[tool.poetry.dependencies]\ntorch = \"^2.1\""), "`torch =`");
    check("setup.py", "setup(install_requires=[\"torch==2\"], keywords=[\"torch\"])\n", "`torch==2`. Leave");
    check("setup.py", "setup(extras_require={\"gpu\": [\"torch==2\"]})\n", "`torch==2`");
    check("setup.cfg", "[options]\ninstall_requires =\n    numpy\n    torch<2\n", "`torch<2`");
    check("setup.cfg", "[options.extras_require]\ngpu =\n    torch==2\n", "`torch==2`");
    check("environment.yml", "channels:\n  - pytorch\ndependencies:\n  - torchvision\n", "4: This installs over");
    check("run.sh", "pip install -q torch==2.1 && python train.py\n", "`torch==2.1`");
    check("Dockerfile", "FROM a\nRUN pip install \\\n    numpy \\\n    torch==2.1\n", "`torch==2.1`");
    let none = [
        ("pyproject.toml", "[project]\nkeywords = [\"torch==1\"]\ndependencies = [\"torchmetrics\"]\n"),
        ("pyproject.toml", "[project]\ndependencies = [\"torch\", \"torchvision>=0.2\", \"torch==2.9+xpu\"]\n"),
        ("pyproject.toml", &project("[tool.isort]\nknown = [\"torch==1\"]")),
        ("pyproject.toml", "[tool.poetry.dependencies]\na = { version = \"^2.1\", source = \"pytorch\" }\n"),
        ("setup.py", "setup(install_requires=[\"numpy==1\"], keywords=[\"torch\"])\n"),
        ("setup.cfg", "[options]\ninstall_requires =\n    numpy\n[x]\n torch==1\n"),
        ("environment.yml", "channels:\n  - pytorch\ndependencies:\n  - numpy\n"),
        ("run.sh", "python -m torch.distributed.run torch==2\n"),
        ("run.sh", "echo pip install torch==2\npre-commit install && pytest torch==2\n"),
        ("run.sh", "pip install a && python train.py torch==2\nconda install numpy -c pytorch\n"),
        ("run.sh", "pip install torch==2.9 --index-url https://download.pytorch.org/whl/xpu\n"),
        ("requirements.txt", "torch==2\n"),
    ];
    none.iter().for_each(|(path, text)| check(path, text, ""));
}

/// What a project's scripts pass to its programs.
#[test]
fn scripts_that_start_programs_for_cuda() {
    let check = |text: &str, expected: &str| {
        let said = ported("hpu", &[("scripts/run.sh", text)]).1;
        assert!(if expected.is_empty() { said.is_empty() } else { said.contains(expected) }, "{text}: {said}");
    };
    check("#!/bin/bash\npython train.py --device cuda:0 --lr 1\n", "2: This is for NVIDIA GPUs: `--device cuda:0`.");
    check("python train.py --device=cuda\n", "`--device=cuda`");
    check("python train.py model.device=cuda\n", "`model.device=cuda`");
    check(
        "export NCCL_DEBUG=INFO\nCUDA_VISIBLE_DEVICES=0,1 python a.py \\\n  --dist-backend \"nccl\"\n",
        "`NCCL_DEBUG=INFO`, `CUDA_VISIBLE_DEVICES=0,1`, `--dist-backend \"nccl\"`",
    );
    check("nvidia-smi\n", "`nvidia-smi`");
    for none in [
        "python train.py --device cpu # --device cuda\n",
        "#SBATCH --gres=gpu:1\n",
        "python a.py --name cuda\n",
        "echo device cuda\n",
        "echo nvidia-smi\n",
        "CUDA_VISIBLE_DEVICES= python train.py\n",
    ] {
        check(none, "");
    }
}

/// Other files of a project: the configuration, and the packages that it installs.
#[test]
fn settings_for_cuda() {
    let train = "import torch\n\ndist.init_process_group(cfg.dist.backend)\n";
    let check = |path: &str, text: &str, expected: &str| {
        let said = ported("hpu", &[(path, text)]).1;
        assert!(if expected.is_empty() { said.is_empty() } else { said.contains(expected) }, "{path}: {said}");
    };
    let devices = "seed: 1\ndist:\n  backend: nccl  # fast\ndevice: 'cuda:0'\n";
    check("conf/a.yaml", devices, "3: This configures an NVIDIA GPU: `backend: nccl`, `device: 'cuda:0'`. Set");
    check("a.json", "{\"train_device\": \"cuda\", \"n\": 1}", "`\"train_device\": \"cuda\"`");
    check("a.toml", "accelerator = \"gpu\"\n", "`accelerator = \"gpu\"`");
    check("a.yaml", "a: {device: cuda, n: 1}\n", "`device: cuda`");
    for none in
        ["device: cpu\n", "# device: cuda\n", "name: cuda\nmodel: gpu\n", "device: auto\nn: nccl\n", "mydevice: cuda\n"]
    {
        check("a.yaml", none, "");
    }
    let packages = "numpy\nnvidia-ml-py>=12\n# apex\nbitsandbytes\ncupy_cuda12x==13\n";
    check(
        "requirements.txt",
        packages,
        "2: This installs software for NVIDIA GPUs, or a build for them: `nvidia-ml-py>=12`, `bitsandbytes`, `cupy_cuda12x==13`.",
    );
    check(
        "environment.yml",
        "name: a\ndependencies:\n  - pytorch::pytorch-cuda=12.1\n  - pip:\n    - flash-attn\n",
        "`pytorch::pytorch-cuda=12.1`, `flash-attn`",
    );
    check("pyproject.toml", "[project]\ndependencies = [\"numpy\", \"torch==2.1+cu118\"]\n", "`torch==2.1+cu118`");
    check(
        "setup.py",
        "from setuptools import setup\n\nsetup(name=\"x\", install_requires=[\"apex\", \"numpy\"])\n",
        "`apex`",
    );
    for none in ["apexpy\nnumpy\n", "torch==2.1\n", "cuda-free\n"] {
        check("requirements.txt", &none.replace("torch", "torchmetrics"), "");
    }
    let index = "[[tool.uv.index]]\nurl = \"https://download.pytorch.org/whl/cu128\"\n";
    check("pyproject.toml", index, "`https://download.pytorch.org/whl/cu128`");
    check("requirements.txt", "--index-url https://x.org/whl/cu118\nnumpy\n", "`--index-url https://x.org/whl/cu118`");
    check(
        "docker/Dockerfile",
        "FROM nvidia/cuda:12.1-base AS a\nRUN pip install cupy\n",
        "`nvidia/cuda:12.1-base`, `cupy`",
    );
    check("gpu.Dockerfile", "FROM pytorch/pytorch:2.1-cuda12.1-cudnn8\n", "`pytorch/pytorch:2.1-cuda12.1-cudnn8`");
    check("Dockerfile-cpu", "FROM python:3.11 AS cuda\nFROM cuda-free/python\nCOPY cuda /opt\n", "");
    check("setup.cfg", "[metadata]\nkeywords = apex, torch\n", "");
    check("pyproject.toml", "[tool.isort]\nknown = [\"apex\"]\n", "");
    check("environment.yml", "dependencies:\n  - cudatoolkit=11\n", "`cudatoolkit=11`");
    let place = "The value is set in conf/a.yaml:3";
    let said =
        ported("hpu", &[("conf/a.yaml", devices), ("train.py", &format!("import torch.distributed as dist\n{train}"))])
            .1;
    assert!(said.contains(place), "{said}");
}

#[test]
fn requirements_that_the_python_of_the_sdk_can_have() {
    let said = |line: &str| ported("ipu", &[("requirements.txt", &format!("{line}\n"))]).1.contains("Python 3.8");
    for line in ["numpy>=1.26", "numpy==1.26.0", "SciPy>1.11,<2", "scikit_learn~=1.4"] {
        assert!(said(line), "{line}");
    }
    for line in ["numpy", "numpy==1.24", "numpy>=1.20,<2", "numpy>=1.26; python_version > '3.8'", "# numpy>=1.26"] {
        assert!(!said(line), "{line}");
    }
}

#[test]
fn lists_of_other_devices_stay() {
    let train = "import torch\n\nnet = torch.nn.Linear(4, 1).to(\"cuda\")\n";
    let torch = "torch==2.10.0\nnvidia-ml-py\nnumpy\n";
    let kept = |target: &str, path: &str, text: &str| {
        let (texts, said) = ported(target, &[("train.py", train), (path, text)]);
        texts[1] == text && !said.contains("nvidia")
    };
    for path in ["requirements.cuda.txt", "requirements-rocm.txt", "requirements_cpu.txt", "reqs/requirements.tpu.txt"]
    {
        assert!(kept("hpu", path, torch) && kept("xpu", path, torch), "{path}");
    }
    assert!(kept("hpu", "requirements.xpu.txt", torch) && !kept("xpu", "requirements.xpu.txt", torch));
    assert!(kept("xpu", "requirements-gaudi.txt", torch) && !kept("hpu", "requirements-gaudi.txt", torch));
    assert!(kept("hpu", "environment-cuda.yml", "name: a\ndependencies:\n  - pytorch-cuda=12.1\n  - nvidia-ml-py\n"));
    for path in ["requirements.txt", "requirements-gpu.txt", "requirements-dev.txt"] {
        assert!(!kept("hpu", path, torch), "{path}");
    }
    // The vendor's own build is one to install.
    assert!(kept("xpu", "requirements.xpu.txt", "torch==2.9.0+xpu\n"));
    assert!(!kept("xpu", "requirements.txt", "torch==2.9.0+cu130\n"));
    let proposed = |files: &[(&str, &str)]| {
        let ported = port_files(files, &in_place("hpu"));
        ported
            .files
            .iter()
            .flat_map(|file| &file.diagnostics)
            .any(|said| said.message.contains("none is named for this target"))
    };
    assert!(proposed(&[("train.py", train), ("requirements.cuda.txt", torch), ("requirements.rocm.txt", torch)]));
    assert!(!proposed(&[("train.py", train), ("requirements.cuda.txt", torch), ("requirements.txt", "numpy\n")]));
    assert!(proposed(&[("train.py", train), ("requirements-cuda.txt", torch), ("requirements-dev.txt", "pytest\n")]));
    assert!(proposed(&[
        ("train.py", train),
        ("environment-cuda.yml", "name: a\ndependencies:\n  - pytorch-cuda=12.1\n")
    ]));
    assert!(!proposed(&[("train.py", train)]));
}
