//! Messages about unchanged places on Gaudi and Intel GPUs, and cases without message or change.

mod said;

use codemod::{Options, RecipeSet, Style, port};
use python::SourceFile;
use said::{STEP, check_in_project, check_said, check_silent, ported};

#[test]
fn a_demonstration_beside_the_program_needs_no_card() {
    let train = "import torch\nfrom net import Net\n\nnet = Net().cuda()\n";
    let net =
        "import torch\n\n\nclass Net(torch.nn.Module):\n    pass\n\n\nif __name__ == '__main__':\n    print(Net())\n";
    let (after, _) = ported("hpu", &[("train.py", train), ("net.py", net)]);
    assert!(after[0].contains("PT_HPU_LAZY_MODE"), "{}", after[0]);
    assert_eq!(after[1], net);
    // A program that leads to the one that moves the model is set up before torch is loaded.
    let start = "import torch\nimport train\n\nif __name__ == '__main__':\n    train.main()\n";
    let (after, _) = ported("hpu", &[("start.py", start), ("train.py", train), ("net.py", net)]);
    assert!(after[0].contains("PT_HPU_LAZY_MODE"), "{}", after[0]);
}

#[test]
fn a_spectrum_in_a_step_and_one_in_a_data_set() {
    let sound = "import torch\n\n\ndef mel(sound):\n    return torch.stft(sound, 512, return_complex=True).abs()\n\n\nclass Sounds(torch.utils.data.Dataset):\n    def __getitem__(self, n):\n        return mel(self.sounds[n])\n";
    let train = STEP.replace("import torch\n", "import torch\nfrom sound import mel, Sounds\n");
    let words = "no complex numbers";
    let spectral = train.replace("F.mse_loss(out, y)", "F.mse_loss(mel(out), y)");
    check_in_project("hpu", &[("train.py", &spectral), ("sound.py", sound)], words, true);
    check_in_project("hpu", &[("train.py", &train), ("sound.py", sound)], words, false);
}

#[test]
fn branches_that_become_equal_are_one() {
    let (head, turns) = STEP.split_once("    optimizer.zero_grad()\n").expect("a step");
    let plain = turns.replace("    ", "        ").replace("\n        optimizer.zero_grad()", "");
    let scaled = "        scaler.scale(loss).backward()\n        scaler.step(optimizer)\n        scaler.update()\n";
    let head = head.replace("for x, y", "if amp:\n    scaler = torch.cuda.amp.GradScaler()\nfor x, y");
    let program = format!("{head}    optimizer.zero_grad()\n    if amp:\n{scaled}    else:\n{plain}");
    let (after, _) = ported("hpu", &[("a.py", &program)]);
    assert!(!after[0].contains("if amp:") && after[0].contains("\n    loss.backward()\n"), "{}", after[0]);
    // Branches of the program itself are kept, and so is a test with an effect.
    let own = "if late:\n    wait()\nelse:\n    wait()\n";
    assert!(ported("hpu", &[("a.py", &format!("{STEP}{own}"))]).0[0].contains(own));
    let asks = program.replace("    if amp:\n        scaler.sc", "    if amp():\n        scaler.sc");
    assert!(ported("hpu", &[("a.py", &asks)]).0[0].contains("if amp():"));
}

#[test]
fn a_test_that_has_asked_already() {
    let head = "import torch\n\nargs.cuda = not args.cpu and torch.cuda.is_available()\n";
    let (after, _) =
        ported("hpu", &[("a.py", &format!("{head}if args.cuda:\n    torch.cuda.manual_seed(1)\n    net.cuda()\n"))]);
    assert!(after[0].contains("if args.cuda:\n    torch.hpu.manual_seed(1)\n"), "{}", after[0]);
}

#[test]
fn a_backend_that_the_port_has_written() {
    let start =
        "import torch\n\ntorch.distributed.init_process_group(backend=settings.dist_backend, init_method='env://')\n";
    let words = "rejects nccl: set hccl there";
    let files = |settings: &'static str| [("start.py", start), ("settings.py", settings)];
    check_in_project("hpu", &files("settings = Settings(dist_backend='nccl')\n"), words, false);
    check_in_project("hpu", &files("parser.add_argument('--dist-backend', '-b', default='nccl')\n"), words, false);
    check_in_project("hpu", &files("if settings.kind == 'nccl':\n    other = 'nccl'\n"), words, true);
}

#[test]
fn software_of_another_accelerator_is_named_however_it_is_imported() {
    let said = |imports: &str| ported("xpu", &[("a.py", &format!("{imports}\nimport torch\n\nnet.cuda()\n"))]).1;
    for imports in [
        "import habana_frameworks.torch.core as htcore",
        "import os, habana_frameworks.torch.core",
        "from habana_frameworks.torch import core",
        "from habana_frameworks.torch.core import *",
    ] {
        assert!(said(imports).contains("1: `habana_frameworks` belongs to another accelerator (HPU)"), "{imports}");
    }
    // Two targets have it; it is reported under the name of the one that the other extends.
    assert!(said("import poptorch as pt").contains("`poptorch` belongs to another accelerator (IPU)"));
    for imports in [
        "from . import habana_frameworks",
        "from .poptorch import net",
        "try:\n    import poptorch\nexcept ImportError:\n    poptorch = None",
    ] {
        assert_eq!(said(imports), "", "{imports}");
    }
}

#[test]
fn gloo_where_another_file_wraps_the_model() {
    let group = "import torch.distributed as dist\n\n\ndef start():\n    dist.init_process_group(\"gloo\")\n";
    let train = "import torch\nfrom torch.nn.parallel import DistributedDataParallel as DDP\n\nnet = DDP(torch.nn.Linear(2, 1).cuda())\n";
    for (target, backend) in [("hpu", "hccl"), ("xpu", "xccl")] {
        let (after, _) = ported(target, &[("group.py", group), ("train.py", train)]);
        assert!(after[0].contains(&format!("init_process_group(\"{backend}\")")), "{}", after[0]);
        let (alone, _) = ported(target, &[("group.py", group)]);
        assert!(alone[0].contains("init_process_group(\"gloo\")"), "between CPUs it serves: {}", alone[0]);
    }
}

#[test]
fn a_device_of_a_configuration_is_told_unless_the_port_has_changed_it_there() {
    let elsewhere = "The device name comes from a configuration";
    for target in ["hpu", "xpu"] {
        let reads = "net.to(torch.device(options[\"device\"]))\n";
        check_said(target, &format!("import torch\n\noptions = load()\n{reads}"), elsewhere);
        let here = "options = {\"device\": \"cuda\"}\n";
        check_silent(target, &format!("import torch\n\n{here}{reads}"));
        let default = "parser.add_argument(\"--device\", default=\"cuda\")\noptions = vars(parser.parse_args())\n";
        check_silent(
            target,
            &format!("import argparse\n\nimport torch\n\nparser = argparse.ArgumentParser()\n{default}{reads}"),
        );
    }
}

#[test]
fn the_cpu_beside_a_test_for_cuda_is_no_device_to_replace() {
    let text = "import torch\n\nif torch.cuda.is_available():\n    device = torch.device(\"cuda\")\nelse:\n    \
        device = torch.device(\"cpu\")\nnet = torch.nn.Linear(2, 2).to(device)\nnet(x.to(device)).sum().backward()\n";
    for target in ["hpu", "xpu"] {
        let files = [SourceFile { path: "a.py".to_owned(), text: text.to_owned() }];
        let options = Options { target: target.to_owned(), style: Style::InPlace, ..Options::default() };
        let ported = port(&files, RecipeSet::embedded(), &options);
        let offered = ported.files[0].diagnostics.iter().any(|d| d.recipe.ends_with("#cpu-device"));
        assert!(!offered, "{:#?}", ported.files[0].diagnostics);
    }
}

#[test]
fn a_program_without_a_device_beside_one_that_names_one() {
    let step = "net = torch.nn.Linear(2, 1)\noptimizer = torch.optim.SGD(net.parameters(), lr=0.1)\nfor x in loader:\n    \
        net(x).sum().backward()\n    optimizer.step()\n";
    let host = format!("import torch\n\n{step}");
    let moved = "import torch\n\nnet = torch.nn.Linear(2, 1).cuda()\nnet(torch.ones(2).cuda()).sum().backward()\n";
    for target in ["hpu", "xpu"] {
        let said = ported(target, &[("poisson/main.py", &host), ("burgers/main.py", moved)]).1;
        assert_eq!(said.matches("6: The program names no device").count(), 1, "{said}");
        check_in_project(
            target,
            &[("a.py", moved), ("b.py", "device = torch.device('cuda')\n")],
            "names no device",
            false,
        );
    }
}

#[test]
fn the_number_of_a_card_that_chooses_none_is_told_once() {
    let said = ported(
        "hpu",
        &[
            ("a.py", "import torch\n\ntorch.cuda.set_device(opts.gpu)\nnet.cuda(opts.gpu)\n"),
            ("b.py", "import torch\n\nx = x.to('cuda:{}'.format(opts.gpu))\n"),
        ],
    )
    .1;
    assert_eq!(said.matches("The number no longer chooses a card").count(), 1, "{said}");
    check_silent("hpu", "import torch\nimport torch.distributed as dist\n\ntorch.cuda.set_device(rank)\n");
    check_silent("hpu", "import torch\n\ntorch.cuda.set_device(0)\nx = x.cuda(non_blocking=True)\n");
}

#[test]
fn a_data_generator_with_a_configuration_is_no_program_for_the_card() {
    let files = [
        (
            "generate.py",
            "import hydra\nimport numpy\n\n\n@hydra.main()\ndef main(cfg):\n    numpy.save(cfg.to, cfg.data)\n",
        ),
        (
            "train.py",
            "import torch\n\nnet = torch.nn.Linear(2, 1).cuda()\nnet(torch.ones(2).cuda()).sum().backward()\n",
        ),
    ];
    assert_eq!(ported("hpu", &files).0[0], files[0].1);
}

#[test]
fn a_configuration_for_lightning_cli_needs_more_than_an_accelerator() {
    let cli = "from lightning.pytorch.cli import LightningCLI\n\nLightningCLI(Net)\n";
    check_said("hpu", cli, "strategy=lightning_habana.HPUDDPStrategy for a LightningCLI");
    check_said("xpu", cli, "`class_path: xpu_lightning.XPUAccelerator` as `accelerator`");
}

#[test]
fn apex_is_told_once() {
    let uses = "from apex import amp\n\nnet, opt = amp.initialize(net, opt)\nwith amp.scale_loss(loss, opt) as scaled:\n    \
        scaled.backward()\n";
    for target in ["hpu", "xpu"] {
        let said = ported(target, &[("a.py", uses), ("b.py", uses)]).1;
        assert_eq!(said.matches("Replace Apex").count(), 1, "{said}");
    }
}

#[test]
fn float64_that_stays_on_the_host_is_not_told() {
    let table = |end: &str| {
        format!(
            "import torch\n\n\ndef betas(n):\n    b = torch.linspace(0, 1, n, dtype=torch.float64)\n    return {end}\n"
        )
    };
    check_silent("hpu", &table("b.numpy()"));
    check_silent("hpu", &table("b.to(torch.float32)"));
    check_said("hpu", &table("b"), "5: Check the data types");
    check_said("hpu", &table("b.to(torch.float32)").replace("n, ", "n, device='cuda', "), "5: Check the data types");
    let step = "for x in loader:\n    loss = net(x.to(torch.float32)).to(torch.float64).sum()\n    loss.backward()\n    \
        optimizer.step()\n";
    check_said("hpu", &format!("import torch\n\n{step}"), "4: Check the data types");
}

#[test]
fn modes_of_a_library_are_not_those_of_a_program() {
    let library = "import torch\n\n\nclass Module(torch.nn.Module):\n    def place(self, d):\n        if d == 'cpu':\n            \
                   self.cpu()\n        elif d == 'gpu':\n            self.cuda()\n        else:\n            raise ValueError\n";
    let program = "import torch\nfrom library import Module\n\nnet = Module().cuda()\n\
                   opt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor x, y in loader:\n    opt.zero_grad()\n    \
                   loss = (net(x.cuda()) - y.cuda()).pow(2).mean()\n    loss.backward()\n    opt.step()\n";
    let file = |path: &str, text: &str| SourceFile { path: path.to_owned(), text: text.to_owned() };
    let files = [file("library.py", library), file("train.py", program)];
    let options = Options { target: "hpu".to_owned(), ..Options::default() };
    let ported = port(&files, RecipeSet::embedded(), &options);
    assert_eq!(ported.style, Style::InPlace);
    assert!(ported.files[1].text.contains("Module().to(\"hpu\")"), "{}", ported.files[1].text);
    assert!(ported.files[0].text.contains("self.to('hpu')"), "{}", ported.files[0].text);
}

#[test]
fn what_a_program_has_for_the_target_is_no_residue() {
    let chain = "import torch\n\nif torch.xpu.is_available():\n    x = x.to('xpu')\nelif torch.cuda.is_available():\n    x = x.cuda()\n";
    let siblings =
        "import torch\n\nif torch.cuda.is_available():\n    x.cuda()\nif torch.xpu.is_available():\n    x.to('xpu')\n";
    let choice = "import torch\n\nname = 'xpu' if ready else 'cuda'\n";
    let list = "import torch\n\nfast = x.device.type in ('cuda', 'xpu') and get_backend() in ['nccl', 'xccl']\n";
    for text in [chain, siblings, choice, list] {
        let (after, said) = ported("xpu", &[("a.py", text)]);
        assert_eq!((after[0].as_str(), said.as_str()), (text, ""));
    }
    let (after, _) =
        ported("xpu", &[("a.py", "import torch\n\nif ready:\n    x.cuda()\nelif args.use_hpu:\n    x.to('hpu')\n")]);
    assert!(after[0].contains("x.to('xpu')") || after[0].contains("x.to(\"xpu\")"), "{}", after[0]);
}

#[test]
fn a_test_for_cuda_stays_with_code_that_needs_cuda_alone() {
    let asks = "    return torch.cuda.get_device_properties(0).major\n";
    let text = format!("import torch\n\ndef level():\n    if torch.cuda.is_available():\n    {asks}    return 0\n");
    assert!(ported("hpu", &[("a.py", &text)]).0[0].contains("if torch.cuda.is_available():"));
    let moved = text.replace("        return", "        net.to(device)\n        return");
    assert!(ported("hpu", &[("a.py", &moved)]).0[0].contains("torch.hpu.is_available()"));
}

#[test]
fn methods_of_objects_that_a_step_has() {
    let library = "import torch\n\nclass Fourier:\n    def inverse(self, x):\n        return torch.istft(x, 8)\n";
    let train = STEP.replace("import torch\n", "import torch\nfrom b import Fourier\n\nfourier = Fourier()\n");
    let step = train.replace("F.mse_loss(out, y)", "F.mse_loss(self.fourier.inverse(out), y)");
    check_in_project("hpu", &[("a.py", &step), ("b.py", library)], "Gaudi has no complex numbers", true);
    check_in_project("hpu", &[("a.py", &train), ("b.py", library)], "Gaudi has no complex numbers", false);
}

#[test]
fn validation_that_is_only_called_without_gradients() {
    let validate = "def validate(net, data):\n    net.eval()\n    for x in data:\n        show(net(x))\n";
    let text = |call: &str| format!("import torch\n\nnet = torch.nn.Linear(2, 2)\n{validate}\n{call}");
    let after = |call: &str| ported("hpu", &[("a.py", &text(call))]).0.remove(0);
    assert!(!after("with torch.no_grad():\n    validate(net, data)\n").contains("@torch.no_grad()"));
    assert!(after("validate(net, data)\n").contains("@torch.no_grad()"));
}

#[test]
fn a_type_chosen_by_a_test_for_cuda() {
    let text = "import torch\n\nTensor = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.Tensor\n\n\n\
        def batch(data):\n    return data.type(Tensor)\n";
    for target in ["hpu", "xpu"] {
        check_said(target, text, "3: `torch.cuda.FloatTensor` and similar types");
    }
}

#[test]
fn an_import_with_a_fallback_is_optional() {
    let text = |otherwise: &str| {
        format!("import torch\n\ntry:\n    from xformers import ops\nexcept ImportError:\n    {otherwise}\n")
    };
    for target in ["hpu", "xpu"] {
        for otherwise in ["from own import ops", "ops = None"] {
            check_in_project(target, &[("a.py", &text(otherwise))], "CUDA kernels do not run", false);
        }
        check_said(target, &text("pass"), "CUDA kernels do not run");
    }
}

#[test]
fn a_trainer_without_a_device_on_intel() {
    let text = "import lightning as L\n\ntrainer = L.Trainer(max_epochs=3)\n";
    check_said("xpu", text, "`strategy=SingleXPUStrategy()` for one device");
    let own = text.replace("as L\n", "as L\nimport lightning_xpu\n");
    check_in_project("xpu", &[("a.py", &own)], "SingleXPUStrategy", false);
    let foreign = "`lightning_xpu` belongs to another accelerator";
    check_said("hpu", &own, foreign);
    check_in_project("hpu", &[("src/lightning_xpu/fabric.py", "import lightning_xpu\n")], foreign, false);
}

#[test]
fn what_is_reported_once_is_reported_in_the_program_that_trains() {
    let import = "import deepxde as dde\n";
    let (_, said) = ported("xpu", &[("a.py", import), ("train.py", &format!("\n{import}{STEP}"))]);
    assert_eq!(said.matches("`deepxde`").count(), 1, "{said}");
    assert!(said.lines().any(|line| line.starts_with("2: ") && line.contains("`deepxde`")), "{said}");
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
    let place = "The value is set in conf/a.yaml:3";
    let said =
        ported("hpu", &[("conf/a.yaml", devices), ("train.py", &format!("import torch.distributed as dist\n{train}"))])
            .1;
    assert!(said.contains(place), "{said}");
}

#[test]
fn a_model_that_stays_on_the_host_beside_code_that_names_a_device() {
    let net = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n";
    let moves = "    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n    return (x.to(device) - y.to(device)).mean()\n";
    let losses = format!("import torch\n\n\ndef mean(x, y):\n    return (x - y).mean()\n\n\ndef coral(x, y):\n{moves}");
    let train = |loss: &str| {
        format!(
            "import torch\nfrom losses import {loss}\nfrom net import Net\n\nnet = Net()\n\
             optimizer = torch.optim.Adam(net.parameters())\nfor x, y in loader:\n    {loss}(net(x), y).backward()\n    optimizer.step()\n"
        )
    };
    for target in ["hpu", "xpu"] {
        // Nothing calls the function that names a device.
        let unused = train("mean");
        let (after, said) = ported(target, &[("train.py", &unused), ("net.py", net), ("losses.py", &losses)]);
        assert!(
            after[0].contains(&format!("net = Net()\nnet.to(\"{target}\")\n")) && said.is_empty(),
            "{said}{}",
            after[0]
        );
        let used = train("coral");
        let words = "nothing moves `net` to one";
        check_in_project(target, &[("train.py", &used), ("net.py", net), ("losses.py", &losses)], words, true);
        let moved = used.replace("Net()", "Net().cuda()");
        check_in_project(target, &[("train.py", &moved), ("net.py", net), ("losses.py", &losses)], words, false);
        let itself = net.replace("    def forward", "    def __init__(self):\n        self.cuda()\n\n    def forward");
        check_in_project(target, &[("train.py", &used), ("net.py", &itself), ("losses.py", &losses)], words, false);
    }
}
