//! Tests for CUDA, and what is reached with it, without it, or only on another machine.

use crate::ports::{begins_with, check_said, check_said_at, check_silent, port_script, ported};

#[test]
fn a_test_for_a_part_of_a_module() {
    for asks in ["getattr(torch.cuda.amp, \"autocast\") is not None", "hasattr(torch.cuda, \"amp\")"] {
        let (_, said) = ported("hpu", &[("a.py", &begins_with(&format!("native = {asks}\n")))]);
        assert!(!said.contains("remains"), "{said}");
    }
    check_said("hpu", &begins_with("card = getattr(torch.cuda, \"current_stream\")()\n"), "`torch.cuda` remains");
}

#[test]
fn a_test_for_several_gpus_around_what_stays() {
    let guard = |body: &str| begins_with(&format!("if torch.cuda.device_count() > 1:\n    {body}\n"));
    for target in ["hpu", "xpu"] {
        let (texts, said) = ported(target, &[("a.py", &guard("net = torch.nn.DataParallel(net)"))]);
        assert!(texts[0].contains("if torch.cuda.device_count() > 1:"), "{}", texts[0]);
        assert!(said.contains("Replace DataParallel"), "{said}");
        let (texts, _) = ported(target, &[("a.py", &guard("print(\"several\")"))]);
        assert!(texts[0].contains(&format!("torch.{target}.device_count()")), "{}", texts[0]);
    }
}

#[test]
fn a_number_of_gpus_that_decides_more_than_copies_is_changed() {
    let guarded =
        |guard: &str| ported("hpu", &[("a.py", &begins_with(guard).replace("\nfor x", "\nmodel.to(device)\nfor x"))]).0;
    let copies = "if torch.cuda.device_count() > 1:\n    print('several')\n    model = torch.nn.DataParallel(model)\n";
    let texts = guarded(copies);
    assert!(texts[0].contains("torch.cuda.device_count() > 1"), "{}", texts[0]);
    for more in ["    device = torch.device('cuda')\n", "else:\n    device = torch.device('cpu')\n"] {
        let texts = guarded(&format!("{copies}{more}"));
        assert!(texts[0].contains("torch.hpu.device_count()"), "{}", texts[0]);
    }
}

#[test]
fn what_cuda_alone_reaches_is_not_told() {
    for target in ["ipu", "rdu"] {
        check_silent(target, "import torch\n\nif torch.cuda.is_available():\n    move(net.cuda())\n");
        check_silent(
            target,
            "import torch\n\ncuda = True if torch.cuda.is_available() else False\nif cuda:\n    net.cuda()\n",
        );
        check_silent(
            target,
            "import torch\n\na.cuda = not a.off and torch.cuda.is_available()\nif a.cuda:\n    net.cuda()\n",
        );
        for test in ["device.type == 'cuda'", "'cuda' == str(device)", "'cuda' in name", "name.startswith('cuda')"] {
            let body = "    print(torch.cuda.get_device_name(0))\n    x = x.cuda()\n";
            check_silent(target, &format!("import torch\n\nif {test}:\n{body}"));
        }
        check_silent(target, "if x.is_cuda:\n    eye = eye.cuda()\n");
        check_silent(target, "import torch\n\nif torch.cuda.device_count() > 1:\n    torch.cuda.set_device(1)\n");
    }
    let first = "    if not torch.cuda.is_available() or not args.fast:\n        return";
    let width = format!("import torch\n\n\ndef width(net):\n{first} 0\n    return size(net.cuda())\n");
    let said = ported("ipu", &[("a.py", &width)]).1;
    assert!(!said.contains(".cuda()"), "{said}");
    let ends = format!("import torch\n\n\ndef main(net):\n{first}\n    net.cuda()\n");
    check_said("ipu", &ends, "7: `.cuda()` remains");
    check_said("ipu", "if args.cuda:\n    net.cuda()\n", "2: `.cuda()` remains");
    check_said(
        "ipu",
        "import torch\n\nif torch.cuda.is_available():\n    pass\nelse:\n    x.cuda()\n",
        "6: `.cuda()` remains",
    );
    check_said("ipu", "import torch\n\nif torch.cuda.is_available() or late:\n    x.cuda()\n", "4: `.cuda()` remains");
}

#[test]
fn a_question_that_ends_the_program_is_told() {
    for test in ["if device.type != 'cuda':", "if not device.type == 'cuda':", "if name == 'cuda':\n    go()\nelse:"] {
        check_said("ipu", &format!("{test}\n    raise SystemExit\n"), "this string names a CUDA device");
    }
    let asks = "finds no NVIDIA GPU on this target. Check";
    check_said("ipu", "import torch\n\nif not torch.cuda.is_available():\n    raise SystemExit\n", asks);
    check_said("ipu", "import torch\n\nhas = torch.cuda.is_available()\nif not has:\n    exit()\n", asks);
    check_said("ipu", "import torch\n\nif torch.cuda.is_available():\n    go()\nelse:\n    raise SystemExit\n", asks);
    check_said("rdu", "import torch\n\nassert torch.cuda.is_available()\n", asks);
    let chosen = "import torch\n\n\ndef choose(must):\n    if torch.cuda.is_available():\n        return 'gpu'\n";
    check_said(
        "ipu",
        &format!("{chosen}    if must:\n        raise RuntimeError('no GPU')\n    return 'host'\n"),
        asks,
    );
    check_silent("ipu", &format!("{chosen}    if must:\n        raise RuntimeError('no name')\n    return 'host'\n"));
}

#[test]
fn what_does_nothing_without_cuda_is_no_warning() {
    for target in ["ipu", "rdu"] {
        check_silent(target, "import torch\n\ntorch.cuda.manual_seed(3)\nprint(torch.cuda.max_memory_allocated())\n");
    }
    check_said(
        "ipu",
        "import torch\n\ntorch.cuda.reset_peak_memory_stats()\n",
        "3: `torch.cuda.reset_peak_memory_stats` remains",
    );
}

#[test]
fn a_test_that_has_asked_already() {
    let head = "import torch\n\nargs.cuda = not args.cpu and torch.cuda.is_available()\n";
    let (after, _) =
        ported("hpu", &[("a.py", &format!("{head}if args.cuda:\n    torch.cuda.manual_seed(1)\n    net.cuda()\n"))]);
    assert!(after[0].contains("if args.cuda:\n    torch.hpu.manual_seed(1)\n"), "{}", after[0]);
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
fn a_branch_for_another_operating_system_is_not_reported() {
    let text = |system: &str| {
        format!(
            "import platform\nimport torch\n\n\
            if n > 0 and platform.system() == '{system}' and not torch.cuda.is_available():\n    n = 0\n"
        )
    };
    assert!(port_script("ipu", &text("Darwin")).files[0].diagnostics.is_empty());
    check_said_at("ipu", &text("Linux"), 4, "NVIDIA");
}
