//! What rules match: names as Python resolves them, calls with arguments in any order, values that are read.

use crate::ports::{check, check_bytes, check_said_at, check_silent, check_unchanged, in_place, port_files};
use codemod::Options;

#[test]
fn nested_matches_settle_over_rounds() {
    check_bytes("hpu", "x = f(a.cuda(b.cuda())).cuda()\n", "x = f(a.to(\"hpu\")).to(\"hpu\")\n");
}

#[test]
fn a_name_of_ones_own_is_no_vendors() {
    check_bytes(
        "hpu",
        "def autocast():\n    return None\n\n\nwith autocast():\n    pass\n",
        "def autocast():\n    return None\n\n\nwith autocast():\n    pass\n",
    );
}

#[test]
fn a_chain_of_local_names_does_not_leak_into_other_functions() {
    let text = "import torch\n\n\ndef a():\n    from torch.nn.parallel import DistributedDataParallel as DDP\n    return DDP(net, device_ids=[0])\n\n\ndef b():\n    return torch.nn.parallel.DistributedDataParallel(net, device_ids=[0])\n";
    let ported = port_files(&[("a.py", text)], &in_place("hpu")).files[0].text.clone();
    assert!(ported.contains("    return DDP(net)\n"), "{ported}");
    assert!(ported.contains("    return torch.nn.parallel.DistributedDataParallel(net)\n"), "{ported}");
}

#[test]
fn an_import_means_something_in_its_own_function_only() {
    let text = "import torch\n\n\ndef f():\n    from helpers import GradScaler\n    s = GradScaler()\n    s.update()\n    return s\n\n\ndef g(amp):\n    with amp.autocast():\n        pass\n";
    check_bytes("hpu", text, text);
}

#[test]
fn a_name_alone_deletes_nothing() {
    let text = "def observe(scaler, batch):\n    scaler.update(batch)\n    return scaler.mean\n";
    check_bytes("hpu", text, text);
}

#[test]
fn a_name_of_an_option_names_no_device() {
    let text = "p.add_argument('--fast', dest='cuda')\nfast = getattr(args, 'cuda', False)\n";
    check_bytes("hpu", text, text);
}

#[test]
fn circles_of_names_end() {
    let circle = "a = b\nb = c\nc = d\nd = e\ne = f\nf = a\n".repeat(40);
    let text = format!("{circle}a.step()\nloss.backward()\n");
    let options = Options { sdk: Some("1.19".to_owned()), ..in_place("hpu") };
    assert!(port_files(&[("a.py", &text)], &options).certificate.idempotent);
}

#[test]
fn a_function_of_ones_own_called_cuda() {
    let text = "def cuda(tensor, uses):\n    return tensor\n\n\nx = cuda(x, False)\n";
    for target in ["hpu", "xpu", "ipu", "rdu"] {
        check_silent(target, text);
    }
}

#[test]
fn another_thing_of_the_same_name_is_not_told() {
    let text = "import torch\n\ntry:\n    from torch.cuda.amp import autocast\nexcept ImportError:\n    autocast = None\n\n\n\
        with torch.autocast('cpu'):\n    pass\n";
    for target in ["hpu", "xpu", "ipu"] {
        check_silent(target, text);
    }
}

#[test]
fn arguments_get_names_behind_named_ones() {
    const HEAD: &str = "import torch\nfrom torch.cuda.amp import autocast\n";
    let check = |before: &str, after: &str| {
        check("hpu", &format!("{HEAD}{before}"), &format!("import torch\n{after}"));
    };
    check(
        "with autocast(on, **more):\n    pass\n",
        "with torch.autocast(device_type=\"hpu\", dtype=torch.bfloat16, enabled=on, **more):\n    pass\n",
    );
    check(
        "with autocast(  # half\n    on,\n    cache_enabled=False,\n):\n    pass\n",
        "with torch.autocast(device_type=\"hpu\", dtype=torch.bfloat16,  # half\n    enabled=on,\n    cache_enabled=False,\n):\n    pass\n",
    );
    check(
        "@autocast(on)\nasync def f():\n    pass\n",
        "@torch.autocast(device_type=\"hpu\", dtype=torch.bfloat16, enabled=on)\nasync def f():\n    pass\n",
    );
    check_unchanged("hpu", "import torch\nwith torch.cuda.amp.autocast(*args):\n    pass\n", 2, "Name them");
}

#[test]
fn only_what_is_read_is_replaced() {
    check(
        "hpu",
        "class A:\n    def __init__(self, d):\n        self.is_cuda = d\n",
        "class A:\n    def __init__(self, d):\n        self.is_cuda = d\n",
    );
    check("hpu", "del x.is_cuda\nfor y.is_cuda in z:\n    pass\n", "del x.is_cuda\nfor y.is_cuda in z:\n    pass\n");
    check("hpu", "y = [*x.is_cuda, *z]\n", "y = [*(x.device.type == \"hpu\"), *z]\n");
    check("hpu", "ok = all(x.is_cuda for x in (y := z))\n", "ok = all((x.device.type == \"hpu\") for x in (y := z))\n");
}

#[test]
fn names_and_strings_in_any_spelling_are_found() {
    check("hpu", "x.to(u\"cuda\", r'cuda')\n", "x.to(\"hpu\", 'hpu')\n");
    check("hpu", "x.to(\"cu\" \"da\")\nx.to(\"\"\"cuda\"\"\")\n", "x.to(\"hpu\")\nx.to(\"hpu\")\n");
    check_said_at("ipu", "import torch\nok = (torch.cuda.\n      is_available())\n", 2, "NVIDIA");
    check_said_at("ipu", "from common import *\ntorch.cuda.set_device(0)\n", 2, "`torch.cuda.set_device`");
    // The condition that disables it is a name that does not mention CUDA.
    let head = "import torch\ncan = fast and torch.cuda.is_available()\n";
    check_said_at("ipu", &format!("{head}if can:\n    x = x.cuda()\n"), 4, "`can` is true only with an NVIDIA GPU");
    let lines = format!("{head}def f(x):\n    return x.cuda() if (can and\n  big) else x\n");
    check_said_at("ipu", &lines, 4, "`(can and big)` is true only");
    check_said_at("rdu", "backend = 'NCCL'\n", 1, "nccl");
    check_said_at("rdu", "backend = 'cpu:gloo,cuda:nccl'\n", 1, "nccl");
    check_said_at("ipu", "import tensorflow as tf\nwith tf.device('/gpu:0'):\n    pass\n", 2, "blocks that name a GPU");
    check_said_at(
        "ipu",
        "import torch\nmatch x:\n    case torch.cuda.Stream():\n        pass\n",
        3,
        "torch.cuda.Stream",
    );
}

#[test]
fn a_capture_keeps_its_meaning_in_the_replacement() {
    let head = "import torch\n\n";
    for (before, after) in [
        ("use_cuda=on", "use_device=\"xpu\" if on else None"),
        ("use_cuda=on or off", "use_device=\"xpu\" if on or off else None"),
        ("use_cuda=a if on else b", "use_device=\"xpu\" if (a if on else b) else None"),
        ("use_cuda=lambda: on", "use_device=\"xpu\" if (lambda: on) else None"),
    ] {
        let profile = |arguments: &str| format!("{head}p = torch.autograd.profiler.profile({arguments})\n");
        check("xpu", &profile(before), &profile(after));
    }
}

#[test]
fn a_listed_member_by_another_name() {
    let text = "import torch\nfrom torch import nn, equal as same\n\n\nclass Net(nn.Module):\n    def forward(self, x, y):\n        if same(x, y):\n            return x\n        return y\n\n\nnet = Net().cuda()\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor x, y in loader:\n    opt.zero_grad()\n    loss = net(x.cuda(), y.cuda()).sum()\n    loss.backward()\n    opt.step()\n";
    check_said_at("ipu", text, 7, "values can't be tested here");
}
