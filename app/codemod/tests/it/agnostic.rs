//! Ports in agnostic style: one program for all devices.

mod branches;
mod kept;
mod styles;
mod switch;

use crate::ports::{in_place, port_files};
use codemod::{Options, Ported, Severity, Style};

fn ported(target: &str, text: &str) -> Ported {
    let options = Options { style: Style::Agnostic, ..in_place(target) };
    let ported = port_files(&[("a.py", text)], &options);
    assert!(ported.certificate.parses && ported.certificate.idempotent, "{text}");
    ported
}

/// A port to Intel's GPUs, whose test for the device is short.
#[track_caller]
fn check(before: &str, after: &str) {
    let start = "import torch\n\n";
    let text = &ported("xpu", &format!("{start}{before}")).files[0].text;
    assert_eq!(text.strip_prefix(start), Some(after), "{before}");
}

const CHOICE: &str = "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n";
const CHOSEN: &str =
    "device = torch.device('cuda' if torch.cuda.is_available() else 'xpu' if torch.xpu.is_available() else 'cpu')\n";

#[test]
fn the_choice_of_the_device() {
    check(CHOICE, CHOSEN);
    check(
        "device = 'cuda' if 'cuda' in name else 'cpu'\n",
        "device = 'cuda' if 'cuda' in name else 'xpu' if 'xpu' in name else 'cpu'\n",
    );
    check(
        "device = torch.device('cuda') if torch.cuda.is_available() and big else torch.device('cpu')\n",
        "device = torch.device('cuda') if torch.cuda.is_available() and big else torch.device('xpu') if \
         torch.xpu.is_available() and big else torch.device('cpu')\n",
    );
    check(
        "if torch.cuda.is_available():\n    device = 'cuda'\nelse:\n    device = 'cpu'\n",
        "if torch.cuda.is_available():\n    device = 'cuda'\nelif torch.xpu.is_available():\n    device = 'xpu'\nelse:\n    device = 'cpu'\n",
    );
    check(CHOSEN, CHOSEN);
}

/// What a decorator is given is evaluated where the function is defined, like a default.
#[test]
fn a_device_in_a_decorator() {
    check(
        "@fast\n@torch.autocast(device_type='cuda', dtype=torch.float32)\ndef scale(x):\n    return 2 * x\n",
        "@fast\n@torch.autocast(device_type='xpu' if torch.xpu.is_available() else 'cuda', dtype=torch.float32)\n\
         def scale(x):\n    return 2 * x\n",
    );
    let of_method = |device: &str| {
        format!(
            "class Net(torch.nn.Module):\n    @torch.autocast({device}, enabled=False)\n    def forward(self, x, device):\n        return x\n"
        )
    };
    check(&of_method("'cuda'"), &of_method("'xpu' if torch.xpu.is_available() else 'cuda'"));
}

/// Type checkers accept no choice, and nothing computes with a type.
#[test]
fn annotations_stay() {
    let text = "import torch\n\n\ndef run(stream: torch.cuda.Stream | None = None) -> torch.cuda.Event:\n    \
                event: torch.cuda.Event = torch.cuda.Event()\n    return event\n";
    for target in ["xpu", "hpu"] {
        let file = ported(target, text).files.remove(0);
        let choice = file.text.lines().find(|line| line.contains("event: torch.cuda.Event = (torch."));
        assert!(
            choice.is_some() && file.text.contains("(stream: torch.cuda.Stream | None = None) -> torch.cuda.Event:"),
            "{}",
            file.text
        );
        assert_eq!(file.diagnostics, [], "{target}");
    }
}

#[test]
fn a_name_for_the_answer_means_either_device() {
    check(
        "use_cuda = torch.cuda.is_available()\ndevice = 'cuda' if use_cuda else 'cpu'\n",
        "use_cuda = torch.cuda.is_available() or torch.xpu.is_available()\n\
         device = ('xpu' if torch.xpu.is_available() else 'cuda') if use_cuda else 'cpu'\n",
    );
    check(
        "if not torch.cuda.is_available():\n    raise SystemExit\nnet.cuda()\n",
        "if not (torch.cuda.is_available() or torch.xpu.is_available()):\n    raise SystemExit\n\
         net.to(\"xpu\" if torch.xpu.is_available() else \"cuda\")\n",
    );
}

#[test]
fn code_for_cuda_that_suits_both_is_for_both() {
    let either = "torch.cuda.is_available() or torch.xpu.is_available()";
    for code in
        ["device = torch.device(args.device if @ else 'cpu')\n", "workers = 4 if @ else 0\n", "if @:\n    pin = True\n"]
    {
        check(&code.replace('@', "torch.cuda.is_available()"), &code.replace('@', either));
    }
    check(
        "if torch.cuda.is_available():\n    device = args.cuda_device\nelse:\n    device = 'cpu'\n",
        &format!("if {either}:\n    device = args.cuda_device\nelse:\n    device = 'cpu'\n"),
    );
    check(
        "pin = 1 if 'cuda' in str(device) else 0\nfast = 1 if name.startswith('cuda') else 0\n",
        "pin = 1 if 'cuda' in str(device) or 'xpu' in str(device) else 0\n\
         fast = 1 if name.startswith('cuda') or name.startswith('xpu') else 0\n",
    );
    check("x = x.cpu() if x.is_cuda else x\n", "x = x.cpu() if x.device.type in (\"cuda\", \"xpu\") else x\n");
    check(
        "kind = 'a' if torch.cuda.is_available() and torch.cuda.is_bf16_supported() else 'b'\n",
        &format!(
            "kind = 'a' if ({either}) and (torch.xpu if torch.xpu.is_available() else torch.cuda).is_bf16_supported() else 'b'\n"
        ),
    );
    check(
        "if torch.cuda.device_count() > 1 and sharded:\n    dist.all_reduce(total)\n",
        "if (torch.cuda.device_count() > 1 or torch.xpu.device_count() > 1) and sharded:\n    dist.all_reduce(total)\n",
    );
    // What needs CUDA or is chosen beside the target's own code.
    for kept in [
        "if torch.cuda.is_available():\n    import fused\n",
        "if torch.cuda.is_available():\n    net = torch.nn.DataParallel(net)\n",
        "if torch.cuda.is_available():\n    torch.backends.cudnn.benchmark = True\n",
        "y = fused(x) if x.is_cuda else plain(x)\n",
        "half = torch.float16 if device.type == 'cuda' else torch.bfloat16\nbackend = {'xpu': 1}\n",
    ] {
        check(kept, kept);
    }
}

#[test]
fn the_chosen_device_is_asked_where_it_can_be_read() {
    let rest = |call: &str| format!("\n\ndef fit(net):\n    {call}\n");
    check(&format!("{CHOICE}{}", rest("net.cuda()")), &format!("{CHOSEN}{}", rest("net.to(device)")));
    // Not where another name hides it that may hold anything, nor where it may not have its value yet.
    let asked = |start: &str, call: &str, ported: &str| {
        check(&format!("{CHOICE}{start}{call}\n"), &format!("{CHOSEN}{start}{ported}\n"))
    };
    let by_test = "(torch.xpu if torch.xpu.is_available() else torch.cuda).synchronize()";
    for start in [
        "\n\ndef fit(net, device=None):\n    ",
        "\n\ndef fit(net):\n    device = None\n    ",
        "\n\ndef fit(net):\n    for device in devices:\n        ",
        "\n\ndef fit(net):\n    if late:\n        device = torch.device(name)\n    ",
    ] {
        asked(start, "torch.cuda.synchronize()", by_test);
    }
    asked("f = lambda device: ", "x.cuda()", "x.to('xpu' if torch.xpu.is_available() else 'cuda')");
    check(
        &format!("def fit(net):\n    torch.cuda.synchronize()\n\n\nfit(make())\n{CHOICE}"),
        &format!("def fit(net):\n    {by_test}\n\n\nfit(make())\n{CHOSEN}"),
    );
    // The CPU is no choice, and a card by its number no other.
    check(
        "host = torch.device('cpu')\ntorch.cuda.synchronize()\n",
        &format!("host = torch.device('cpu')\n{by_test}\n"),
    );
    check(
        "device = torch.device('cuda:1')\nnet.cuda()\n",
        "device = torch.device('xpu:1' if torch.xpu.is_available() else 'cuda:1')\nnet.to('xpu' if device.type == 'xpu' else 'cuda')\n",
    );
    let class = |choice: &str, call: &str| {
        format!(
            "class A:\n    def __init__(self):\n        self.device = {choice}\n\n    def run(self, x):\n        {call}\n"
        )
    };
    let (choice, chosen) =
        (CHOICE.trim_start_matches("device = ").trim(), CHOSEN.trim_start_matches("device = ").trim());
    check(&class(choice, "return x.cuda()"), &class(chosen, "return x.to(self.device)"));
    // Not in another class.
    let other = "\n\nclass B:\n    def run(self, x):\n        return ";
    check(
        &format!("{}{other}x.cuda()\n", class(choice, "pass")),
        &format!("{}{other}x.to('xpu' if torch.xpu.is_available() else 'cuda')\n", class(chosen, "pass")),
    );
}

#[test]
fn a_device_that_an_object_holds() {
    let [choice, chosen] = [CHOICE, CHOSEN].map(|text| text.trim_start_matches("device = ").trim());
    let by_test = "(torch.xpu if torch.xpu.is_available() else torch.cuda).synchronize()";
    let by_value = |text: &str| format!("(torch.xpu if {text}.type == 'xpu' else torch.cuda).synchronize()");
    for (start, end, held) in [
        ("args.device = ", "", "args.device"),
        ("cfg = {'device': ", "}", "cfg['device']"),
        ("class C:\n    device = ", "", "C.device"),
    ] {
        let program = |choice: &str, call: &str| format!("{start}{choice}{end}\nnet.to({held})\n{call}\n");
        check(&program(choice, "torch.cuda.synchronize()"), &program(chosen, &by_value(held)));
        // It may not have been used by then.
        let program =
            |choice: &str, call: &str| format!("{start}{choice}{end}\nif late:\n    net.to({held})\n{call}\n");
        check(&program(choice, "torch.cuda.synchronize()"), &program(chosen, by_test));
    }
    // What an option holds is a device if the program makes one of it.
    check(
        "device = torch.device(args.device)\nmade = torch.device(args.device).type\ntorch.cuda.synchronize()\n",
        "device = torch.device(args.device)\nmade = torch.device(args.device).type\n(torch.xpu if device.type == \"xpu\" else torch.cuda).synchronize()\n",
    );
    check(
        "net.to(torch.device(args.where))\ntorch.cuda.synchronize()\n",
        "net.to(torch.device(args.where))\n(torch.xpu if torch.device(args.where).type == \"xpu\" else torch.cuda).synchronize()\n",
    );
    // It may have another value by then, be gone, or never have been read.
    for changed in ["args.where = None", "args = other", "del args", "for args in all:\n    pass", "del args.where"] {
        let program = |call: &str| format!("net.to(torch.device(args.where))\n{changed}\n{call}\n");
        check(&program("torch.cuda.synchronize()"), &program(by_test));
    }
    for never in [
        "f = lambda: torch.device(args.where)",
        "late and torch.device(args.where)",
        "[torch.device(c.where) for c in all]",
    ] {
        let program = |call: &str| format!("{never}\n{call}\n");
        check(&program("torch.cuda.synchronize()"), &program(by_test));
    }
    // In an f-string the quotes are not the string's.
    check(
        &format!("cfg = {{'device': {choice}}}\nnet.to(cfg['device'])\nprint(f'{{torch.cuda.memory_allocated()}}')\n"),
        &format!(
            "cfg = {{'device': {chosen}}}\nnet.to(cfg['device'])\n\
             print(f'{{(torch.xpu if cfg[\"device\"].type == \"xpu\" else torch.cuda).memory_allocated()}}')\n"
        ),
    );
    // A type is none.
    check("net.to(args.dtype)\ntorch.cuda.synchronize()\n", &format!("net.to(args.dtype)\n{by_test}\n"));
}

/// A choice that gives the target what a rule would write is left.
#[test]
fn card_numbers_of_a_wrapper() {
    let program = |ids: &str| {
        format!(
            "import torch\nfrom torch.nn.parallel import DistributedDataParallel as DDP\n\n{CHOICE}net = DDP(net, device_ids={ids})\n"
        )
        .replace('\'', "\"")
    };
    for (ids, new) in [
        ("[rank] if torch.cuda.is_available() else None", "[rank] if torch.cuda.is_available() else None"),
        ("[rank] if device.type == 'cuda' else None", "[rank] if device.type == \"cuda\" else None"),
        (
            "None if device.type == 'cpu' else [rank]",
            "None if device.type == \"cpu\" else (None if device.type == \"hpu\" else [rank])",
        ),
        (
            "[rank] if torch.cuda.is_available() else []",
            "(None if device.type == \"hpu\" else [rank]) if torch.cuda.is_available() or hasattr(torch, \"hpu\") and torch.hpu.is_available() else (None if device.type == \"hpu\" else [])",
        ),
    ] {
        let ported = ported("hpu", &program(ids));
        let (text, told) = (&ported.files[0].text, &ported.files[0].diagnostics);
        assert!(text.ends_with(&format!("device_ids={new})\n")), "{text}");
        assert!(told.iter().all(|d| d.severity != Severity::Warning), "{told:?}");
    }
}

#[test]
fn gates_admit_either_device() {
    let either = "(torch.cuda.is_available() or torch.xpu.is_available())";
    for gate in [
        "assert @, 'no GPU'\n",
        "assert ready and @\n",
        "if not @:\n    print('no GPU')\n    sys.exit(1)\n",
        "if @ is False:\n    raise SystemExit\n",
        "if big or not @:\n    raise RuntimeError('no GPU')\n",
        "@ or sys.exit('no GPU')\n",
    ] {
        check(&gate.replace('@', "torch.cuda.is_available()"), &gate.replace('@', either));
    }
    for (gate, new) in [
        (
            "torch.cuda.device_count() == 0",
            "(torch.xpu if torch.xpu.is_available() else torch.cuda).device_count() == 0",
        ),
        ("not x.is_cuda", "not x.device.type in (\"cuda\", \"xpu\")"),
        ("x.device.type != \"cuda\"", "x.device.type not in (\"cuda\", \"xpu\")"),
    ] {
        let program = |gate: &str| format!("if {gate}:\n    raise RuntimeError(\"no GPU\")\n");
        check(&program(gate), &program(new));
    }
}

#[test]
fn what_may_be_chosen_is_the_same_everywhere() {
    check("parse('--device', choices=['cuda', 'cpu'])\n", "parse('--device', choices=['cuda', 'xpu', 'cpu'])\n");
    check("fast = kind in ('cuda', 'mps')\n", "fast = kind in ('cuda', 'xpu', 'mps')\n");
}

#[test]
fn several_cards() {
    check(
        "if torch.cuda.device_count() > 1:\n    torch.cuda.set_device(1)\n",
        "if torch.cuda.device_count() > 1:\n    torch.cuda.set_device(1)\nelif torch.xpu.device_count() > 1:\n    torch.xpu.set_device(1)\n",
    );
}

/// A test that is left as it is in place, since only CUDA runs its kernel, means both devices here; so do the parts of
/// an `or`.
#[test]
fn a_test_with_another_condition_is_for_both() {
    let check = |test: &str, after: &str| {
        let program = |test: &str| {
            format!(
                "import torch\n\ntry:\n    import tqdm\nexcept ImportError:\n    tqdm = None\n\n\ndef f(x):\n    if {test}:\n        raise ValueError(x)\n"
            )
        };
        assert_eq!(ported("xpu", &program(test)).files[0].text, program(after), "{test}");
    };
    check("tqdm is None and not x.is_cuda", "tqdm is None and not x.device.type in (\"cuda\", \"xpu\")");
    let text = "import torch\n\n\ndef g(x):\n    if torch.cuda.is_available() or x.is_cuda:\n        x = x.cuda()\n    return x\n";
    assert!(ported("xpu", text).files[0].text.contains(".to(\"xpu\""), "{text}");
}

#[test]
fn a_card_by_its_number_stays_that_card() {
    check(
        &format!("{CHOICE}x = x.cuda(rank, non_blocking=True)\n"),
        &format!(
            "{CHOSEN}x = x.xpu(rank, non_blocking=True) if device.type == 'xpu' else x.cuda(rank, non_blocking=True)\n"
        ),
    );
}

#[test]
fn a_choice_in_front_of_an_if_is_in_parentheses() {
    let program = "import torch\nfrom modes import ComputeMode\n\n\ndef run(args):\n    if args.mode == ComputeMode.GPU:\n        start()\n    \
                   if torch.cuda.max_memory_allocated() > 3:\n        stop()\n";
    let options = Options { style: Style::Branch, ..in_place("hpu") };
    let text = &port_files(&[("a.py", program)], &options).files[0].text;
    assert!(
        text.contains("if ((torch.hpu.max_memory_allocated() if hasattr(torch, \"hpu\") else 0) if args.mode == "),
        "{text}"
    );
}

#[test]
fn a_file_that_does_not_import_torch() {
    let text = &ported("xpu", "def move(x):\n    return x.cuda()\n").files[0].text;
    let moved = "def move(x):\n    return x.to(\"xpu\" if torch.xpu.is_available() else \"cuda\")\n";
    assert_eq!(text, &format!("import torch\n\n{moved}"));
}

#[test]
fn imports_that_only_the_target_has_are_under_its_test() {
    let text = "import lightning as L\nimport torch\n\ntrainer = L.Trainer(accelerator=\"gpu\", max_epochs=1)\ntrainer.fit(net, loader)\n";
    let text = &ported("hpu", text).files[0].text;
    let import = "if hasattr(torch, \"hpu\") and torch.hpu.is_available():\n    from lightning_habana.pytorch.accelerator import HPUAccelerator\ntrainer = ";
    assert!(text.contains(import), "{text}");
}

#[test]
fn an_object_that_chooses_the_device_leaves_nothing_to_move() {
    let text = "import torch\nfrom accelerate import Accelerator\n\naccelerator = Accelerator()\nnet = torch.nn.Linear(8, 1)\n\
                opt = torch.optim.SGD(net.parameters(), lr=0.1)\nnet, opt, loader = accelerator.prepare(net, opt, loader)\n\
                for x, y in loader:\n    loss = torch.nn.functional.mse_loss(net(x), y)\n    accelerator.backward(loss)\n    opt.step()\n";
    for style in [Style::InPlace, Style::Agnostic] {
        let ported = port_files(&[("a.py", text)], &Options { style, ..in_place("xpu") });
        assert_eq!(ported.files[0].text, text);
        assert!(ported.files[0].diagnostics.is_empty(), "{:?}", ported.files[0].diagnostics);
    }
}

#[test]
fn only_the_device_of_a_test_is_renamed() {
    check(
        "if args.cuda_device.startswith('cuda'):\n    torch.cuda.synchronize()\n",
        "if args.cuda_device.startswith('cuda'):\n    torch.cuda.synchronize()\n\
         elif args.cuda_device.startswith('xpu'):\n    torch.xpu.synchronize()\n",
    );
}

/// Python would chain `a == x.device.type in (…)`.
#[test]
fn a_replacement_binds_as_what_it_replaces() {
    check("same = a == x.is_cuda\n", "same = a == (x.device.type in (\"cuda\", \"xpu\"))\n");
    check("count = 1 + x.is_cuda\n", "count = 1 + (x.device.type in (\"cuda\", \"xpu\"))\n");
    check("both = a and x.is_cuda\n", "both = a and x.device.type in (\"cuda\", \"xpu\")\n");
    check(
        "f(x.is_cuda, [x.is_cuda])\n",
        "f(x.device.type in (\"cuda\", \"xpu\"), [x.device.type in (\"cuda\", \"xpu\")])\n",
    );
}

/// A list that is compared as a whole holds the device that was chosen; one that is searched holds all that may be.
#[test]
fn a_list_is_compared_or_searched() {
    let chosen = "names = ['xpu' if device.type == 'xpu' else 'cuda']\n";
    let program = |line: &str| format!("{CHOICE}names = ['cuda']\n{line}");
    check(
        &program("if names == ['cuda']:\n    f()\n"),
        &format!("{CHOSEN}{chosen}if names == ['xpu' if device.type == 'xpu' else 'cuda']:\n    f()\n"),
    );
    check("if device in ['cuda', 'mps']:\n    f()\n", "if device in ['cuda', 'xpu', 'mps']:\n    f()\n");
}

/// A file that imports PyTorch under another name gets no second import.
#[test]
fn torch_keeps_its_name() {
    let text = "import torch as th\n\nprint(th.cuda.device_count())\n";
    let new = &ported("xpu", text).files[0].text;
    assert_eq!(new, "import torch as th\n\nprint((th.xpu if th.xpu.is_available() else th.cuda).device_count())\n");
}

#[test]
fn the_default_of_a_parameter_is_a_choice() {
    let is = "torch.xpu.is_available()";
    check(
        "def to(x, device='cuda', *, other: str = 'cuda:1'):\n    return x.to(device)\n",
        &format!(
            "def to(x, device='xpu' if {is} else 'cuda', *, other: str = 'xpu:1' if {is} else 'cuda:1'):\n    return x.to(device)\n"
        ),
    );
    // No parameter has a value where the default is evaluated.
    check(
        &format!("{CHOICE}\n\ndef to(x, device=torch.device('cuda:0')):\n    return x.to(device)\n"),
        &format!(
            "{CHOSEN}\n\ndef to(x, device=torch.device('xpu:0' if device.type == 'xpu' else 'cuda:0')):\n    return x.to(device)\n"
        ),
    );
    check(
        "@torch.no_grad()\ndef to(x, device='cuda'):\n    return x.to(device)\n",
        &format!("@torch.no_grad()\ndef to(x, device='xpu' if {is} else 'cuda'):\n    return x.to(device)\n"),
    );
    // What a class is made with is left to a person, with one message.
    let kept = "import torch\n\n\nclass Net(Base, device='cuda'):\n    pass\n";
    let left = &ported("xpu", kept).files[0];
    assert_eq!((left.text.as_str(), left.diagnostics.len()), (kept, 1), "{:?}", left.diagnostics);
}
