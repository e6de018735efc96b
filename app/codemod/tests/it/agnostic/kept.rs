//! What stays as it is in one program for all devices.

use super::{CHOICE, check, ported};
use crate::ports::{in_place, port_files};
use codemod::{Options, Severity, Style};

#[test]
fn a_test_without_code_for_the_target_is_told() {
    let told = &ported("xpu", "import torch\n\nif torch.cuda.is_available():\n    x = x.half()\n").files[0].diagnostics;
    assert!(told.iter().any(|d| d.severity == Severity::Info && d.original.line == 3), "{told:?}");
}

#[test]
fn a_test_for_the_target_stays() {
    // A rule that takes this name for a card's number does not change the test.
    let text = "import torch\nimport torch.distributed as dist\n\n\ndef start(rank):\n    device_id = torch.device(f\"cuda:{rank}\")\n    \
                dist.init_process_group()\n\n\ndef end(device_id):\n    dist.barrier(device_ids=[device_id])\n";
    let text = &ported("hpu", text).files[0].text;
    assert!(text.contains(":\n        dist.barrier()\n    else:\n"), "{text}");
}

#[test]
fn what_stays_for_cuda_alone() {
    for kept in [
        // Software that only runs with CUDA, behind a test for it, in any form and in a function of its own.
        "import torch_scatter\n\n\ndef most(x):\n    if not x.is_cuda:\n        return x.max()\n    return torch_scatter.scatter(x, at, reduce='max')\n",
        "def watch():\n    if not torch.cuda.is_available():\n        return False\n    try:\n        import pynvml\n        pynvml.nvmlInit()\n        return True\n    except ImportError:\n        raise RuntimeError\n",
        "import subprocess\n\n\ndef cards():\n    return subprocess.check_output('nvidia-smi -q', shell=True)\n\n\nif torch.cuda.is_available():\n    print(cards())\n",
        // A method, an entry and a device that a file was written on.
        "if not matrix.is_cuda():\n    rows = matrix.rows()\n",
        "state = {}\nstate['cuda'] = 1\nhas_cuda = 'cuda' in state\n",
        "torch.load(path, map_location=where)\nwhere = {'cuda:%d' % 0: name}\n",
        // A choice that has the target already.
        "with_cuda = torch.cuda.is_available()\nwith_xpu = torch.xpu.is_available()\n\
         device = 'cuda' if with_cuda else 'xpu' if with_xpu else 'cpu'\n",
    ] {
        check(kept, kept);
    }
    // No device may be given.
    check(
        "def move(x, device=None):\n    return x.cuda(device)\n",
        "def move(x, device=None):\n    return x.xpu(device) if torch.xpu.is_available() else x.cuda(device)\n",
    );
}

#[test]
fn a_part_that_asks_cuda_keeps_its_test() {
    for kept in [
        "if torch.cuda.is_available() and torch.cuda.get_device_capability()[0] >= 8:\n    fast = True\n",
        "state = torch.load(path, map_location=None if torch.cuda.is_available() else 'cpu')\n",
    ] {
        check(kept, kept);
    }
}

#[test]
fn a_rejected_choice_stays_as_it_was() {
    let text = &format!("import torch\n\n{CHOICE}");
    let options =
        Options { style: Style::Agnostic, rejected_recipes: vec!["xpu#device".to_owned()], ..in_place("xpu") };
    assert_eq!(&port_files(&[("a.py", text)], &options).files[0].text, text);
}

/// Whoever gives a name of `torch.cuda` another value means the name that the rest of the program calls, on every target.
#[test]
fn names_that_the_program_replaces_stay() {
    let replaced = "import torch\nfrom torch import cuda\n\nif torch.xpu.is_available():\n    \
                    torch.cuda.synchronize = mine\n    torch.cuda.Event, cuda.set_device = torch.xpu.Event, mine\n    \
                    torch.cuda.empty_cache = torch.xpu.empty_cache\n    setattr(torch.cuda, 'current_device', mine)\n    \
                    del torch.cuda.memory_allocated\n    torch.cuda.synchronize.__doc__ = 'other'\n";
    for target in ["xpu", "hpu"] {
        for style in [Style::InPlace, Style::Agnostic] {
            let file = &port_files(&[("a.py", replaced)], &Options { style, ..in_place(target) }).files[0];
            let start = "import os\nos.environ.setdefault(\"PT_HPU_LAZY_MODE\", \"0\")\n";
            assert_eq!(file.text.strip_prefix(start).unwrap_or(&file.text), replaced, "{target}");
            let told = file.diagnostics.iter().filter(|d| d.message.contains("is set here"));
            assert_eq!(told.count(), 1, "{:?}", file.diagnostics);
            assert!(file.diagnostics.iter().all(|d| d.severity == Severity::Info), "{:?}", file.diagnostics);
        }
    }
}

/// What PyTorch has no newer name for runs the older one; a release with the newer name never gets there.
#[test]
fn code_for_older_releases_stays() {
    for (newer, older) in [
        (
            "try:\n    scaler = torch.amp.GradScaler('cpu')\n",
            "except AttributeError:\n    scaler = torch.cuda.amp.GradScaler()\n",
        ),
        (
            "from torch import amp\n\nif hasattr(amp, 'GradScaler'):\n    scaler = amp.GradScaler('cpu')\n",
            "else:\n    scaler = torch.cuda.amp.GradScaler()\n",
        ),
        (
            "if version.parse(torch.__version__) < version.parse('2.3'):\n    scaler = torch.cuda.amp.GradScaler()\n",
            "else:\n    scaler = torch.amp.GradScaler(device)\n",
        ),
        (
            "try:\n    cast = torch.autocast(device_type=kind)\n",
            "except (AttributeError, TypeError):\n    cast = torch.cuda.amp.autocast()\n",
        ),
    ] {
        let text = format!("import torch\n\n{newer}{older}");
        for style in [Style::InPlace, Style::Agnostic] {
            let ported = port_files(&[("a.py", &text)], &Options { style, ..in_place("xpu") });
            assert_eq!(ported.files[0].text, text);
            let told = &ported.files[0].diagnostics;
            assert!(told.iter().all(|d| d.severity == Severity::Info), "{told:?}");
        }
    }
    // A test for a device is none for a release.
    check(
        "if kind == 'cuda':\n    scaler = torch.cuda.amp.GradScaler()\nelse:\n    scaler = torch.amp.GradScaler('cpu')\n",
        "if kind in ('cuda', 'xpu'):\n    scaler = torch.amp.GradScaler('xpu' if torch.xpu.is_available() else 'cuda')\n\
         else:\n    scaler = torch.amp.GradScaler('cpu')\n",
    );
}

#[test]
fn a_check_for_cuda_where_the_program_names_it() {
    for kept in [
        "if kind == 'cuda':\n    assert torch.cuda.is_available(), 'no CUDA here'\n",
        "if device.type == 'cuda':\n    if not torch.cuda.is_available():\n        raise SystemExit('no CUDA')\n",
    ] {
        check(kept, kept);
    }
}

#[test]
fn what_cuda_alone_can_do_stays_refused() {
    let others = "if device.type == 'mps':\n    torch.mps.empty_cache()\n";
    for kept in [
        "if int4 and device.type != 'cuda':\n    raise SystemExit('--int4 needs --device=cuda')\n",
        "if fp8:\n    if device.type != 'cuda':\n        print('fp8 needs CUDA, ignored')\n    else:\n        convert(model)\n",
    ] {
        let kept = format!("{others}{kept}");
        check(&kept, &kept);
    }
    // The program itself needs a GPU.
    check(
        "if train and device.type != 'cuda':\n    raise SystemExit('needs CUDA')\n",
        "if train and device.type not in ('cuda', 'xpu'):\n    raise SystemExit('needs CUDA')\n",
    );
}

#[test]
fn an_imported_function_is_no_model() {
    let text = "from importlib import import_module\n\nimport torch\n\n\ndef load(names, net, x):\n    \
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n    net(x).sum().backward()\n    optimizer.step()\n    \
                return [import_module(name) for name in names]\n";
    for target in ["hpu", "xpu"] {
        let new = &ported(target, text).files[0].text;
        assert!(new.contains("[import_module(name) for name in names]") && new != text, "{new}");
    }
}

#[test]
fn a_test_above_what_cuda_alone_has_stays() {
    let unchanged = |target: &str, text: &str| {
        let text = format!("import torch\n{text}");
        assert_eq!(ported(target, &text).files[0].text, text, "{target}");
    };
    // The first place with it is outside of the test, and is the one that is reported.
    let command = "import subprocess\n\n\ndef total():\n    return subprocess.run(['nvidia-smi', '-q'])\n\n\n\
                   def used():\n    if torch.cuda.is_available():\n        return subprocess.run(['nvidia-smi', '--query'])\n\
                   \x20   return None\n";
    unchanged("xpu", command);
    let compiled = "import torch_tensorrt\n\n\ndef compiled(net, inputs):\n    assert net.device == 'cuda' and net.frozen\n\
                    \x20   net.net = torch_tensorrt.compile(net.net, inputs=inputs)\n";
    unchanged("xpu", compiled);
    let graph = "from pylibcugraphops.pytorch import CSC\n\n\ndef graph(columns, row):\n    if not row.is_cuda:\n\
                 \x20       raise RuntimeError('a tensor on a GPU is needed')\n    return CSC(columns, row)\n";
    unchanged("xpu", graph);
    check(
        "def start(device):\n    if device in ['lazy', 'cuda']:\n        torch.cuda.set_sync_debug_mode(0)\n    torch.zeros(2, device='cuda')\n",
        "def start(device):\n    if device in ['lazy', 'cuda']:\n        torch.cuda.set_sync_debug_mode(0)\n    \
         torch.zeros(2, device='xpu' if torch.xpu.is_available() else 'cuda')\n",
    );
    // A program whose check comes before one call of CUDA's runs on both.
    check(
        "def main():\n    assert torch.cuda.is_available()\n    torch.cuda.set_sync_debug_mode(1)\n    train()\n",
        "def main():\n    assert (torch.cuda.is_available() or torch.xpu.is_available())\n    torch.cuda.set_sync_debug_mode(1)\n    train()\n",
    );
    check(
        "def start(device):\n    if device in ['lazy', 'cuda']:\n        torch.cuda.synchronize()\n",
        "def start(device):\n    if device in ['lazy', 'cuda', 'xpu']:\n        \
         (torch.xpu if torch.xpu.is_available() else torch.cuda).synchronize()\n",
    );
}

#[test]
fn a_variable_of_the_vendors_software_keeps_its_test() {
    let kept = "import os\nos.environ['LTC_TS_CUDA'] = '1' if args.device == 'cuda' else '0'\n\
                os.environ.setdefault('XRT_CUDA', '1' if torch.cuda.is_available() else '0')\n";
    check(kept, kept);
}

#[test]
fn a_part_of_a_path_is_no_device() {
    let kept =
        "from pathlib import Path\n\nhome = Path('/').joinpath('usr', 'local', 'cuda')\nsame = home.parent / 'cuda'\n";
    check(kept, kept);
}

#[test]
fn a_name_that_a_function_only_compares_stays() {
    let class = "class Session:\n    def __init__(self, path, device='cpu'):\n        if device == 'cpu':\n            self.kinds = ['CPUExecutionProvider']\n\
                 \x20       elif device == 'cuda':\n            self.kinds = ['CUDAExecutionProvider']\n        else:\n            raise ValueError(path)\n\n\n";
    for call in ["Session('a.onnx', device='cuda')\n", "Session('a.onnx', 'cuda')\n"] {
        let text = format!("import torch\n\n{class}{call}");
        let left = &ported("xpu", &text).files[0];
        assert_eq!(left.text, text);
        assert!(left.diagnostics.iter().any(|said| said.severity == Severity::Warning), "{:?}", left.diagnostics);
    }
}

#[test]
fn a_list_that_the_port_extended_needs_no_message() {
    let text =
        "import torch.distributed as dist\n\nif backend in ['nccl', 'gloo']:\n    dist.init_process_group(backend)\n";
    let file = &ported("xpu", text).files[0];
    assert!(file.text.contains("['nccl', 'xccl', 'gloo']"), "{}", file.text);
    assert!(file.diagnostics.is_empty(), "{:?}", file.diagnostics);
}

#[test]
fn an_object_that_uses_the_vendor_s_software_may_ask_for_its_card() {
    let class = |method: &str| {
        format!(
            "import tensorrt as trt\n\n\nclass Engine:\n    def __init__(self):\n        assert torch.cuda.is_available()\n\n    \
             def start(self):\n        self.engine = {method}\n"
        )
    };
    let kept = class("trt.Runtime()");
    check(&kept, &kept);
    let plain = class("torch.nn.Linear(2, 2)");
    let widened = plain
        .replace("assert torch.cuda.is_available()", "assert (torch.cuda.is_available() or torch.xpu.is_available())");
    check(&plain, &widened);
    // One that trains too is made on the target.
    let trains = |text: &str| format!("{text}\n    def fit(self, loss):\n        loss.backward()\n");
    check(
        &trains(&kept),
        &trains(&kept).replace(
            "assert torch.cuda.is_available()",
            "assert (torch.cuda.is_available() or torch.xpu.is_available())",
        ),
    );
}
