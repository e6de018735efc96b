//! When one program is the style of a port by itself, and what a second port of it does.

use super::{CHOICE, CHOSEN, ported};
use crate::ports::{in_place, port_files};
use codemod::{Options, Severity, Style};

/// The tests for the device of an earlier port stay, whichever was first.
#[test]
fn a_port_to_a_second_device() {
    let program = format!(
        "import torch\n\n{}scaler = torch.amp.GradScaler(\"cuda\", enabled=use_amp)\ntorch.cuda.synchronize()\ntorch.cuda.empty_cache()\n\
         print(torch.cuda.memory_allocated() / 1024)\n",
        CHOICE.replace('\'', "\"")
    );
    let twice = |first: &str, second: &str| {
        let ported = ported(second, &ported(first, &program).files[0].text);
        let told = &ported.files[0].diagnostics;
        assert!(told.iter().all(|d| d.severity != Severity::Warning), "{first}, {second}: {told:?}");
        assert_eq!(self::ported(first, &ported.files[0].text).files[0].text, ported.files[0].text);
        ported.files[0].text.clone()
    };
    let text = twice("xpu", "hpu");
    for part in [
        "GradScaler(\"hpu\" if device.type == \"hpu\" else \"xpu\" if device.type == \"xpu\" else \"cuda\", enabled=device.type != \"hpu\" and bool(use_amp))\n",
        "if device.type == \"xpu\":\n    torch.xpu.synchronize()\nelse:\n    (torch.hpu if device.type == \"hpu\" else torch.cuda).synchronize()\n",
        "    torch.xpu.empty_cache()\nelse:\n    if device.type != \"hpu\":\n        torch.cuda.empty_cache()\n",
        "print((torch.xpu.memory_allocated() if device.type == \"xpu\" else (torch.hpu if device.type == \"hpu\" else torch.cuda).memory_allocated()) / 1024)\n",
    ] {
        assert!(text.contains(part), "no {part}\n{text}");
    }
    let text = twice("hpu", "xpu");
    for part in [
        "enabled=device.type != \"hpu\" and bool(use_amp))\n",
        "    torch.hpu.synchronize()\nelse:\n    (torch.xpu if device.type == \"xpu\" else torch.cuda).synchronize()\n",
        "if device.type != \"hpu\":\n    (torch.xpu if device.type == \"xpu\" else torch.cuda).empty_cache()\n",
    ] {
        assert!(text.contains(part), "no {part}\n{text}");
    }
}

#[test]
fn the_style_of_a_program_that_chooses_its_device() {
    let style = |target: &str, text: &str| {
        port_files(&[("a.py", text)], &Options { style: Style::Auto, ..in_place(target) }).style
    };
    let with = |name: &str, value: &str| {
        let options = [(name.to_owned(), value.to_owned())].into_iter().collect();
        let options = Options { style: Style::Auto, options, ..in_place("hpu") };
        port_files(&[("a.py", &format!("import torch\n\n{CHOICE}"))], &options).style
    };
    assert_eq!([with("lazy", "on"), with("processes", "many")], [Style::Agnostic, Style::InPlace]);
    let choosing = [
        CHOICE,
        "use_gpu = torch.cuda.is_available()\ndevice = 'cuda:0' if use_gpu else 'cpu'\n",
        "if not torch.cuda.is_available():\n    device = 'cpu'\nelse:\n    device = 'cuda'\n",
        "parser.add_argument('--device', default='cuda')\n",
        "device = torch.accelerator.current_accelerator()\n",
        "device = 'cuda' if torch.cuda.device_count() else 'cpu'\n",
        "device = 'cuda' if args.cuda else 'cpu'\n",
        CHOSEN,
    ];
    for program in choosing.map(|choice| format!("import torch\n\n{choice}net.to(device)\n")) {
        assert_eq!([style("xpu", &program), style("hpu", &program)], [Style::Agnostic; 2], "{program}");
        assert_eq!(style("ipu", &program), Style::InPlace, "{program}");
    }
    for needs_cuda in [
        "net.cuda()\n",
        "device = 'cuda'\nnet.to(device)\n",
        "if torch.cuda.is_available():\n    net.to('cuda')\n",
        "state = torch.load(path, map_location='cpu')\nnet.cuda()\n",
        "state = torch.load(path, map_location='cpu' if not torch.cuda.is_available() else None)\nnet.cuda()\n",
        "parser.add_argument('--host', default='cpu')\nnet.cuda()\n",
    ] {
        assert_eq!(style("xpu", &format!("import torch\n\n{needs_cuda}")), Style::InPlace, "{needs_cuda}");
    }
}

#[test]
fn the_style_of_a_program_that_serves_several_devices() {
    let style = |target: &str, text: &str| {
        port_files(&[("a.py", text)], &Options { style: Style::Auto, ..in_place(target) }).style
    };
    let empties = "if torch.cuda.is_available():\n    torch.cuda.empty_cache()\n";
    for asked in [
        "if x.device.type == 'mps':\n    torch.mps.empty_cache()\n",
        "if x.device.type in ('cuda', 'npu'):\n    clear()\n",
        "if str(device).startswith('xla'):\n    clear()\n",
        "match device.type:\n    case 'musa':\n        clear()\n",
        "from accelerate.utils import is_mlu_available\n\nif is_mlu_available():\n    clear()\n",
        "if torch.backends.mps.is_available():\n    torch.mps.empty_cache()\n",
        "if hasattr(torch, 'npu'):\n    torch.npu.empty_cache()\n",
        "if device.type == 'xpu':\n    raise RuntimeError('not on Intel')\nelif device.type == 'hpu':\n    raise RuntimeError('not on Gaudi')\n",
        "from deepspeed.accelerator import get_accelerator\n\nnet.to(get_accelerator().device_name())\n",
        "import lightning as L\n\nfabric = L.Fabric(accelerator='auto')\n",
    ] {
        let program = format!("import torch\n\n{empties}{asked}");
        assert_eq!([style("xpu", &program), style("hpu", &program)], [Style::Agnostic; 2], "{program}");
    }
    // Names of devices beside a test, and a program for the target alone.
    for asked in [
        "print('mps')\n",
        "import mps\n\nif mps.ready():\n    clear()\n",
        "state = torch.load(path, map_location='mps')\n",
    ] {
        assert_eq!(style("xpu", &format!("import torch\n\n{empties}{asked}")), Style::InPlace, "{asked}");
    }
    let own = "import torch\n\nif torch.xpu.is_available():\n    torch.xpu.empty_cache()\nnet.cuda()\n";
    assert_eq!(style("xpu", own), Style::InPlace);
}

/// A port again, each time in the style that it takes by itself.
#[test]
fn a_second_port_by_itself_changes_nothing() {
    for text in [
        "parser.add_argument('--device', default='cuda')\nif args.device == 'cuda' and not torch.cuda.is_available():\n    raise SystemExit\n",
        "use_cuda = torch.cuda.is_available()\ndevice = 'cuda' if use_cuda else 'cpu'\ntorch.backends.cudnn.benchmark = True\n",
        "if not torch.cuda.is_available():\n    device = 'cpu'\nelse:\n    torch.cuda.set_device(rank)\n    device = 'cuda'\n",
    ] {
        for target in ["xpu", "hpu"] {
            let options = Options { style: Style::Auto, ..in_place(target) };
            let first = &port_files(&[("a.py", &format!("import torch\n\n{text}"))], &options).files[0].text;
            let second = port_files(&[("a.py", first)], &options);
            assert_eq!((&second.files[0].text, second.style), (first, Style::Agnostic), "{target}");
        }
    }
}

#[test]
fn a_program_that_serves_the_target_is_told_so_once() {
    let told = |text: &str| {
        let ported = port_files(&[("a.py", text), ("b.py", text)], &Options { style: Style::Auto, ..in_place("xpu") });
        let all = ported.files.iter().flat_map(|file| &file.diagnostics);
        all.filter(|d| d.message.contains("code for `xpu` of its own")).count()
    };
    let chosen = format!("import torch\n\n{CHOSEN}net.to(device)\n");
    assert_eq!(told(&chosen), 1);
    assert_eq!(told(&chosen.replace("net.to(device)", "torch.cuda.synchronize()")), 0, "something is changed");
    let refused =
        "import torch\n\nif device.type == 'mps':\n    clear()\nelif device.type == 'xpu':\n    raise RuntimeError\n";
    assert_eq!(told(refused), 0);
}
