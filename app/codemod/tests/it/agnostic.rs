//! Ports in agnostic style: one program for all devices.

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

#[test]
fn code_below_a_test_for_cuda() {
    // What suits both devices gets a test for either.
    check(
        &format!("{CHOICE}if torch.cuda.is_available():\n    net.cuda()\n"),
        &format!("{CHOSEN}if torch.cuda.is_available() or torch.xpu.is_available():\n    net.to(device)\n"),
    );
    // What differs gets a branch, without the settings of CUDA's libraries.
    check(
        "if torch.cuda.is_available():\n    torch.cuda.manual_seed(1)\n    torch.backends.cudnn.benchmark = True\n",
        "if torch.cuda.is_available():\n    torch.cuda.manual_seed(1)\n    torch.backends.cudnn.benchmark = True\n\
         elif torch.xpu.is_available():\n    torch.xpu.manual_seed(1)\n",
    );
    // What is for CUDA alone stays.
    for kept in [
        "dtype = torch.float16 if device.type == 'cuda' else torch.bfloat16\n",
        "if torch.cuda.is_available():\n    torch.backends.cudnn.benchmark = True\n",
        "kind = torch.accelerator.current_accelerator().type\nhalf = torch.float16 if kind == 'cuda' else torch.bfloat16\n",
    ] {
        check(kept, kept);
    }
}

/// The target's branch is a copy, without what stops there; the message is at the vendor's.
#[test]
fn what_only_cuda_has_is_not_copied() {
    let test = "if torch.cuda.is_available():\n";
    let own = "elif torch.xpu.is_available():\n    torch.xpu.manual_seed(1)\n";
    for statements in [
        "    print(torch.cuda.get_device_name(0), torch.cuda.get_device_properties(0).major)\n",
        "    print(f'{torch.cuda.memory_allocated()} {torch.cuda.get_device_properties(0).major}')\n",
        "    torch.set_default_tensor_type('torch.cuda.FloatTensor')\n",
        // With what reads it.
        "    major = torch.cuda.get_device_properties(0).major\n    print(f'version {major}')\n",
        // One that there is without it.
        "    net = torch.cuda.make_graphed_callables(net, torch.cuda.get_device_properties(0).major)\n",
    ] {
        let program = |own: &str| format!("net = make()\n{test}{statements}    torch.cuda.manual_seed(1)\n{own}");
        check(&program(""), &program(own));
        let told = &ported("xpu", &format!("import torch\n\n{}", program(""))).files[0].diagnostics;
        assert!(told.iter().any(|d| d.severity == Severity::Warning && d.original.line == 5), "{told:?}");
    }
    // Nothing is left of a branch and of an arm.
    for kept in [
        "if torch.cuda.is_available():\n    print(torch.cuda.memory_allocated(), torch.cuda.get_device_properties(0).major)\n",
        "figures = [torch.cuda.memory_allocated(), torch.cuda.get_device_properties(0).major] if torch.cuda.is_available() else []\n",
    ] {
        check(kept, kept);
        let told = &ported("xpu", &format!("import torch\n\n{kept}")).files[0].diagnostics;
        assert!(told.iter().any(|d| d.severity == Severity::Warning), "{told:?}");
    }
    // What others read or what has more code in it is copied: the program stops there, where it is reported.
    for (statements, copied, end) in [
        (
            "    major = torch.cuda.get_device_properties(0).major\n",
            "    major = torch.cuda.get_device_properties(0).major\n",
            "print(major)\n",
        ),
        (
            "    if torch.cuda.get_device_properties(0).major > 7:\n        torch.cuda.synchronize()\n",
            "    if torch.cuda.get_device_properties(0).major > 7:\n        torch.xpu.synchronize()\n",
            "",
        ),
    ] {
        let program = |own: &str| format!("{test}{statements}    torch.cuda.manual_seed(1)\n{own}{end}");
        let own = format!("elif torch.xpu.is_available():\n{copied}    torch.xpu.manual_seed(1)\n");
        check(&program(""), &program(&own));
    }
}

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
        "print((torch.xpu.memory_allocated() if device.type == \"xpu\" else ((torch.hpu.memory_allocated() if hasattr(torch, \"hpu\") else 0) if device.type == \"hpu\" else torch.cuda.memory_allocated())) / 1024)\n",
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

/// What is imported or assigned for CUDA alone is used for it alone.
#[test]
fn names_that_only_code_for_cuda_binds() {
    let test = "if torch.cuda.is_available():\n";
    let start = format!("{test}    import fused\n\n    tuned = fused.start()\n");
    let cases = [
        // Code that would suit both devices, or be the same for both.
        (format!("{test}    net = fused.wrap(net)\n"), String::new()),
        (format!("{test}    net = fused.wrap(net.cuda())\n"), String::new()),
        ("net = fused.wrap(net) if torch.cuda.is_available() else net\n".to_owned(), String::new()),
        ("net = fused.wrap(net.cuda()) if torch.cuda.is_available() else net\n".to_owned(), String::new()),
        // A statement among others, and a function of its own.
        (
            format!("{test}    torch.cuda.manual_seed(1)\n    net = fused.wrap(net, tuned)\n"),
            "elif torch.xpu.is_available():\n    torch.xpu.manual_seed(1)\n".to_owned(),
        ),
        (
            format!("def fit(net):\n    {test}        torch.cuda.manual_seed(1)\n        fused.fit(net)\n"),
            "    elif torch.xpu.is_available():\n        torch.xpu.manual_seed(1)\n".to_owned(),
        ),
    ];
    for (code, own) in cases {
        check(&format!("net = make()\n{start}{code}"), &format!("net = make()\n{start}{code}{own}"));
    }
    let told = &ported("xpu", &format!("import torch\n\n{start}{test}    fused.fit(torch.cuda.memory_allocated())\n"));
    let told = &told.files[0].diagnostics;
    assert!(
        told.iter().any(|d| d.original.line == 8 && d.message.contains("`fused` is there for CUDA alone")),
        "{told:?}"
    );
    // NVIDIA's software, however it is imported.
    for import in ["from apex import amp\n", "try:\n    from apex import amp\nexcept ImportError:\n    amp = None\n"] {
        let program = |own: &str| {
            format!(
                "{import}{test}    torch.cuda.manual_seed(1)\n    net, opt = amp.initialize(net, opt)\n{own}net, opt = net, opt\n"
            )
        };
        let program = |own: &str| format!("net = opt = make()\n{}", program(own));
        check(&program(""), &program("elif torch.xpu.is_available():\n    torch.xpu.manual_seed(1)\n"));
    }
    let both = format!(
        "import pynvml\nfrom apex import amp\n{test}    torch.cuda.manual_seed(1)\n    pynvml.nvmlInit()\n    amp.init()\n"
    );
    let told = &ported("xpu", &format!("import torch\n\n{both}")).files[0].diagnostics;
    for name in ["`pynvml` is there", "`amp` is there"] {
        assert!(told.iter().any(|d| d.message.contains(name)), "{told:?}");
    }
    // With a value for others, it is for all.
    for other in ["else:\n    fused = None\n", "fused = None\n"] {
        let program = |test: &str| {
            format!("if torch.cuda.is_available():\n    import fused\n{other}if {test}:\n    net = fused or net\n")
        };
        check(&program("torch.cuda.is_available()"), &program("torch.cuda.is_available() or torch.xpu.is_available()"));
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

#[test]
fn a_branch_whose_first_statement_is_not_for_the_target() {
    let text = "import torch\n\n\ndef start(rank):\n    if torch.cuda.is_available():\n        torch.cuda.set_device(rank)\n        net.cuda(rank)\n        fit(net)\n";
    let text = &ported("hpu", text).files[0].text;
    let branch =
        "    elif hasattr(torch, \"hpu\") and torch.hpu.is_available():\n        net.to(\"hpu\")\n        fit(net)\n";
    assert!(text.contains(branch), "{text}");
}

#[test]
fn a_branch_that_declares_a_global_name_is_not_copied() {
    let program = |test: &str, given: &str| {
        format!(
            "def at():\n    if {test}:\n        global last\n        last = last + 1\n        return {given}\n    return 'cpu'\n"
        )
    };
    check(
        &program("torch.cuda.is_available()", "torch.device('cuda', last)"),
        &program(
            "torch.cuda.is_available() or torch.xpu.is_available()",
            "torch.device('xpu' if torch.xpu.is_available() else 'cuda', last)",
        ),
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
fn a_test_without_code_for_the_target_is_told() {
    let told = &ported("xpu", "import torch\n\nif torch.cuda.is_available():\n    x = x.half()\n").files[0].diagnostics;
    assert!(told.iter().any(|d| d.severity == Severity::Info && d.original.line == 3), "{told:?}");
}

#[test]
fn a_choice_in_front_of_an_if_is_in_parentheses() {
    let text = &ported("hpu", "import torch\n\nif torch.cuda.max_memory_allocated() > 3:\n    stop()\n").files[0].text;
    assert!(
        text.contains("if ((torch.hpu.max_memory_allocated() if hasattr(torch, \"hpu\") else 0) if hasattr"),
        "{text}"
    );
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

/// A target that is no device of PyTorch's has a name for it, which each file that asks defines.
#[test]
fn a_target_that_compiles_the_step_stands_behind_a_switch() {
    let text = "import torch\n\nnet = torch.nn.Linear(3, 3).cuda()\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n\
                if torch.cuda.is_available():\n    torch.backends.cudnn.benchmark = True\nfor x, y in loader:\n    \
                x, y = x.cuda(), y.cuda()\n    opt.zero_grad()\n    loss = torch.nn.functional.mse_loss(net(x), y)\n    \
                loss.backward()\n    opt.step()\n";
    for (target, name, step) in [
        ("ipu", "USE_IPU", "        loss = training_step(x, y)\n"),
        ("popdist", "USE_IPU", "        loss = training_step(x, y)\n"),
        ("rdu", "USE_RDU", "        rdu.update()\n"),
    ] {
        let port = ported(target, text);
        let new = &port.files[0].text;
        assert_eq!(new.matches(&format!("\n{name} = os.environ.get(\"{name}\")")).count(), 1, "{new}");
        // The original's step is there, beside the target's.
        for line in ["opt.zero_grad()\n", "loss.backward()\n", "opt.step()\n", "net(x)", ".cuda()"] {
            assert!(new.contains(line), "{line}: {new}");
        }
        assert!(new.contains(&format!("    if {name}:\n")) && new.contains(step), "{new}");
        assert!(new.contains("\nif torch.cuda.is_available():\n    torch.backends.cudnn.benchmark = True\n"), "{new}");
        let again = ported(target, new);
        assert_eq!(&again.files[0].text, new);
        assert!(!again.files[0].diagnostics.iter().any(|d| d.severity == Severity::Error), "{again:?}");
    }
}

#[test]
fn a_switch_has_a_name_of_its_own_and_the_file_s_quotes() {
    let text = "import torch\n\nUSE_IPU = False\nname = 'a'\nnet = torch.nn.Linear(3, 3)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n\
                for x, y in loader:\n    opt.zero_grad()\n    loss = torch.nn.functional.mse_loss(net(x), y)\n    \
                with torch.cuda.amp.autocast():\n        pass\n    loss.backward()\n    opt.step()\n";
    let new = &ported("ipu", text).files[0].text;
    assert!(
        new.contains("\nUSE_IPU_ = os.environ.get('USE_IPU') != '0' and importlib.util.find_spec('poptorch')")
            && new.contains("if USE_IPU_:\n"),
        "{new}"
    );
    assert_eq!(&ported("ipu", new).files[0].text, new);
    let plain = &ported("ipu", &text.replace("USE_IPU = False\n", "")).files[0].text;
    assert!(
        plain.contains("\nUSE_IPU = os.environ.get('USE_IPU') != '0' and importlib.util.find_spec('poptorch')"),
        "{plain}"
    );
    assert_eq!(&ported("ipu", plain).files[0].text, plain);
}

/// What the program does for the devices that it had stays outside the test, and is not changed.
#[test]
fn the_program_s_own_code_is_the_same_beside_a_switch() {
    let step = |more: &str| {
        format!(
            "import os\nos.environ[\"OMP_NUM_THREADS\"] = \"1\"\nfrom torch import nn, optim\nimport torch.nn.functional as F\n\n\
             net = nn.Linear(3, 3)\nopt = optim.SGD(net.parameters(), lr=0.1)\nfor x, y in loader:\n    opt.zero_grad()\n    \
             loss = F.mse_loss(net(x), y)\n{more}    loss.backward()\n    opt.step()\n"
        )
    };
    let new = &ported("ipu", &step("    if n_gpu > 1:\n        loss = loss.mean()\n")).files[0].text;
    let environment = new.find("os.environ").unwrap();
    assert!(new.find("import torch\n").is_some_and(|import| import > environment), "{new}");
    assert!(new.contains("if n_gpu > 1:") && new.contains("training_step = ipu_training_step("), "{new}");
    let saved = "    best = {k: v.cpu() for k, v in net.state_dict().items()}\n";
    let new = &ported("ipu", &step(saved)).files[0].text;
    assert!(
        new.contains("    else:\n        best = {k: v.cpu() for k, v in")
            || new.contains("else {k: v.cpu() for k, v in"),
        "{new}"
    );
}

#[test]
fn a_helper_of_another_file_asks_the_switch_too() {
    let step = "import torch\nfrom helper import put\n\nnet = torch.nn.Linear(3, 3).cuda()\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n\
                for x, y in loader:\n    x, y = put(x), put(y)\n    opt.zero_grad()\n    \
                loss = torch.nn.functional.mse_loss(net(x), y)\n    loss.backward()\n    opt.step()\n";
    let helper = "import poptorch\n\n\ndef put(x):\n    return x.cuda()\n";
    let options = Options { style: Style::Agnostic, ..in_place("ipu") };
    let ported = port_files(&[("train.py", step), ("helper.py", helper)], &options);
    let text = &ported.files[1].text;
    assert!(text.contains("USE_IPU = ") && text.contains("return x if USE_IPU else x.cuda()"), "{text}");
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
fn all_parts_of_a_test_are_for_the_target_in_its_branch() {
    check(
        "import torch.distributed as dist\n\nif dist.is_nccl_available() and torch.cuda.is_available():\n    backend = 'nccl'\n",
        "import torch.distributed as dist\n\nif dist.is_nccl_available() and torch.cuda.is_available():\n    backend = 'nccl'\n\
         elif dist.is_xccl_available() and torch.xpu.is_available():\n    backend = 'xccl'\n",
    );
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
fn a_test_above_ported_code_is_ported() {
    let either = "torch.cuda.is_available() or torch.xpu.is_available()";
    let count = "(torch.xpu if torch.xpu.is_available() else torch.cuda).device_count()";
    check(
        "n = torch.cuda.device_count() if torch.cuda.is_available() else 0\n",
        &format!("n = {count} if {either} else 0\n"),
    );
    check(
        "if not torch.cuda.is_available():\n    backend = 'gloo'\nelse:\n    backend = 'nccl'\n    torch.cuda.set_device(rank)\n",
        &format!(
            "if not ({either}):\n    backend = 'gloo'\nelse:\n    backend = 'xccl' if torch.xpu.is_available() else 'nccl'\n    \
             (torch.xpu if torch.xpu.is_available() else torch.cuda).set_device(rank)\n"
        ),
    );
}

#[test]
fn only_the_device_of_a_test_is_renamed() {
    check(
        "if args.cuda_device.startswith('cuda'):\n    torch.cuda.synchronize()\n",
        "if args.cuda_device.startswith('cuda'):\n    torch.cuda.synchronize()\n\
         elif args.cuda_device.startswith('xpu'):\n    torch.xpu.synchronize()\n",
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
fn what_the_else_does_for_any_device_needs_no_branch() {
    let start = "device = torch.accelerator.current_accelerator()\n";
    for kept in [
        "if device.type == 'cuda':\n    model = torch.nn.DataParallel(model).cuda()\nelse:\n    model.to(device)\n",
        "if slow:\n    print('slow')\nelif wide and device.type == 'cuda':\n    x = x.cuda(gpu, non_blocking=True)\n    y = y.cuda()\n\
         else:\n    x, y = x.to(device), y.to(device)\n",
    ] {
        check(kept, kept);
        check(&format!("{start}{kept}"), &format!("{start}{kept}"));
    }
    // It does more there.
    check(
        "if device.type == 'cuda':\n    x = x.cuda()\n    torch.cuda.synchronize()\nelse:\n    x = x.to(device)\n",
        "if device.type == 'cuda':\n    x = x.cuda()\n    torch.cuda.synchronize()\nelif device.type == 'xpu':\n    \
         x = x.to('xpu')\n    torch.xpu.synchronize()\nelse:\n    x = x.to(device)\n",
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
fn branches_that_the_program_has_for_the_target() {
    for kept in [
        "if device.type == 'cuda':\n    torch.cuda.empty_cache()\nif device.type == 'mps':\n    torch.mps.empty_cache()\n\
         if device.type == 'xpu':\n    torch.xpu.empty_cache()\n",
        "HAS_CUDA = torch.cuda.is_available()\nHAS_XPU = torch.xpu.is_available()\nif HAS_CUDA:\n    device = torch.device('cuda')\n\
         elif HAS_XPU:\n    device = torch.device('xpu')\n",
        "from accelerate.utils import is_xpu_available\n\nif torch.cuda.is_available():\n    torch.cuda.empty_cache()\n\
         elif is_xpu_available():\n    torch.xpu.empty_cache()\n",
        "HAS_XPU = torch.xpu.is_available()\nif torch.cuda.is_available():\n    torch.cuda.empty_cache()\nelif HAS_XPU:\n    \
         torch.xpu.empty_cache()\n",
    ] {
        check(kept, kept);
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

/// A test for the target beside one for CUDA is its branch only if it does the same.
#[test]
fn a_test_for_the_target_that_does_something_else_is_no_branch() {
    let text = "import torch\n\n\ndef wait(device):\n    if device.type == \"xpu\":\n        torch.xpu.synchronize()\n    \
                if device.type == \"cuda\":\n        torch.cuda.synchronize()\n    if device.type == \"cuda\":\n        \
                torch.cuda.reset_peak_memory_stats()\n";
    let new = &ported("xpu", text).files[0].text;
    assert!(
        new.contains("torch.xpu.reset_peak_memory_stats()") && new.matches("torch.xpu.synchronize()").count() == 1,
        "{new}"
    );
}

#[test]
fn the_target_s_branch_asks_for_the_target() {
    let text = "import torch\n\n\ndef pick(name):\n    device = torch.device(name)\n    if device.type == \"cuda\":\n        \
                if not torch.cuda.is_available():\n            raise RuntimeError(\"no GPU\")\n        \
                device = torch.device(device.type, torch.cuda.current_device())\n    elif device.type == \"mps\":\n        \
                device = torch.device(\"mps\")\n    return device\n";
    let new = &ported("xpu", text).files[0].text;
    let branch = new.split("elif device.type == \"xpu\":").nth(1).unwrap_or_default();
    assert!(branch.contains("torch.xpu.is_available()") && !branch.contains("torch.cuda."), "{new}");
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

#[test]
fn the_target_s_branch_asks_for_it_no_more() {
    check(
        "if torch.cuda.is_available():\n    n = torch.cuda.device_count()\n    s = torch.cuda.amp.GradScaler()\n    torch.cuda.reset_peak_memory_stats()\n",
        "if torch.cuda.is_available():\n    n = torch.cuda.device_count()\n    s = torch.cuda.amp.GradScaler()\n    torch.cuda.reset_peak_memory_stats()\n\
         elif torch.xpu.is_available():\n    n = torch.xpu.device_count()\n    s = torch.amp.GradScaler(\"xpu\")\n    torch.xpu.reset_peak_memory_stats()\n",
    );
}

/// A file that imports PyTorch under another name gets no second import.
#[test]
fn torch_keeps_its_name() {
    let text = "import torch as th\n\nprint(th.cuda.device_count())\n";
    let new = &ported("xpu", text).files[0].text;
    assert_eq!(new, "import torch as th\n\nprint((th.xpu if th.xpu.is_available() else th.cuda).device_count())\n");
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
