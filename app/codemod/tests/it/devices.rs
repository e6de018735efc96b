//! Devices that a program names: in code, options, configurations and libraries.

use crate::ports::{
    SCRIPT, check_bytes, check_in_project, check_said, check_silent, in_place, port_files, port_script, ported,
    ported_script,
};
use codemod::{Options, Style};

#[test]
fn an_accelerator_that_is_chosen_before() {
    let program = |more: &str| {
        format!(
            "import torch\nimport lightning.pytorch as pl\n\n\n\
             kind = \"gpu\" if torch.cuda.is_available() else \"cpu\"\n{more}\
             trainer = pl.Trainer(accelerator=kind, devices=1)\n"
        )
    };
    for (target, class) in [("hpu", "HPUAccelerator()"), ("xpu", "XPUAccelerator()")] {
        let (texts, said) = ported(target, &[("a.py", &program(""))]);
        assert!(texts[0].contains(&format!("kind = {class} if ")), "{said}{}", texts[0]);
        // Other code reads the string.
        let (texts, _) = ported(target, &[("a.py", &program("if kind == \"gpu\":\n    print(kind)\n"))]);
        assert!(texts[0].contains("kind = \"gpu\" if "), "{}", texts[0]);
    }
}

#[test]
fn a_block_that_names_a_device_of_tensorflow() {
    let text = |device: &str| format!("import tensorflow as tf\n\nwith tf.device('{device}'):\n    run()\n");
    check_said("ipu", &text("/gpu:0"), "blocks that name a GPU");
    check_in_project("ipu", &[("a.py", &text("/CPU:0"))], "blocks that name a GPU", false);
    let (_, said) = ported("rdu", &[("a.py", &text("/gpu:0"))]);
    assert!(said.contains("TensorFlow") && said.contains("3: this string names"), "{said}");
    assert_eq!(said.lines().count(), 2, "{said}");
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
fn a_default_for_cuda_is_told_where_the_settings_are_handed_out_whole() {
    let program = |reads: &str| {
        let default = "parser = argparse.ArgumentParser()\nparser.add_argument(\"--device\", default=\"cuda\")\n";
        let guarded = "if torch.cuda.is_available():\n    net = net.to(args.device)\n";
        format!("import argparse\n\nimport torch\n\n{default}{reads}net = torch.nn.Linear(2, 2)\n{guarded}")
    };
    check_silent("ipu", &program("args = parser.parse_args()\n"));
    let told = "this string names a CUDA device";
    check_said("ipu", &program("args = Config(**vars(parser.parse_args()))\n"), told);
    // Nothing in the file reads it: another file may, under a name that is put together.
    check_said("ipu", &program("args = parser.parse_args()\n").replace("args.device", "\"cpu\""), told);
}

#[test]
fn the_cpu_beside_a_test_for_cuda_is_no_device_to_replace() {
    let text = "import torch\n\nif torch.cuda.is_available():\n    device = torch.device(\"cuda\")\nelse:\n    \
        device = torch.device(\"cpu\")\nnet = torch.nn.Linear(2, 2).to(device)\nnet(x.to(device)).sum().backward()\n";
    for target in ["hpu", "xpu"] {
        let ported = port_script(target, text);
        let offered = ported.files[0].diagnostics.iter().any(|d| d.recipe.ends_with("#cpu-device"));
        assert!(!offered, "{:#?}", ported.files[0].diagnostics);
    }
}

#[test]
fn a_device_that_nothing_is_moved_to_is_told_unless_another_file_moves_things() {
    let train = "import torch\nfrom models import Net\n\ndevice = torch.device(\"cuda\" if torch.cuda.is_available() else \"cpu\")\n\
                 net = Net()\nnet(torch.rand(4, 8)).mean().backward()\n";
    let model = |moves: &str| {
        format!(
            "import torch\n\n\nclass Net(torch.nn.Linear):\n    def forward(self, x):\n        return super().forward(x{moves})\n"
        )
    };
    for target in ["hpu", "xpu"] {
        let check = |moves: &str, expected: bool| {
            check_in_project(
                target,
                &[("train.py", train), ("models.py", &model(moves))],
                "Nothing is moved to this",
                expected,
            );
        };
        check("", true);
        check(".to(torch.float32)", true);
        check(".to(DEVICE)", false);
        check(".cuda()", false);
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
fn a_configuration_for_lightning_cli_needs_more_than_an_accelerator() {
    let cli = "from lightning.pytorch.cli import LightningCLI\n\nLightningCLI(Net)\n";
    check_said("hpu", cli, "strategy=lightning_habana.HPUDDPStrategy for a LightningCLI");
    check_said("xpu", cli, "`class_path: xpu_lightning.XPUAccelerator` as `accelerator`");
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
fn a_choice_of_where_a_tensor_is() {
    let given = |input: &str| ported("rdu", &[("a.py", &SCRIPT.replace("model(x)", &format!("model({input})")))]);
    for input in
        ["x.cuda() if args.cuda else x", "x if cpu else x.cuda(0)", "(x.cuda() if torch.cuda.is_available() else x)"]
    {
        let (after, said) = given(input);
        assert!(after[0].contains("rdu.forward("), "{said}{}", after[0]);
    }
    for input in ["x.cuda() if args.cuda else y", "x + noise if noisy else x", "x.half() if half else x"] {
        assert!(given(input).1.contains("not all positional tensors"), "{input}");
    }
}

#[test]
fn a_choice_of_a_device_as_a_default() {
    let text =
        "import torch\n\nadd('--device', default=torch.device('cuda' if torch.cuda.is_available() else 'cpu'))\n";
    check_in_project("rdu", &[("a.py", text), ("train.py", SCRIPT)], "Check the code that depends on it", false);
}

/// A string that names a device is no number of a card, whatever it is passed to.
#[test]
fn a_device_that_is_set() {
    let text = "import torch\n\nplace = 'cuda'\nif ddp:\n    place = f'cuda:{rank}'\n    torch.cuda.set_device(place)\nnet.to(place)\n";
    for target in ["hpu", "xpu"] {
        let (texts, said) = ported(target, &[("a.py", text)]);
        assert!(texts[0].contains("net.to(place)"), "{target}: {said}{}", texts[0]);
    }
}

#[test]
fn the_machines_own_device_is_compared_with_cuda() {
    let of = |kind: &str, test: &str| {
        format!(
            "import torch\n\n{kind}\n\n\ndef half():\n    if {test}:\n        return torch.float16\n    return torch.bfloat16\n\n\n\
             net = net.to(kind)\n"
        )
    };
    let kind = "kind = torch.accelerator.current_accelerator().type";
    let device =
        "kind = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else torch.device('cpu')";
    for (kind, test) in [
        (kind, "kind == 'cuda'"),
        (device, "kind.type == 'cuda'"),
        (device, "'cuda' in str(kind)"),
        (kind, "torch.accelerator.current_accelerator().type == 'cuda'"),
        (&format!("{device}\nname = kind.type"), "name == 'cuda'"),
    ] {
        let text = of(kind, test);
        check_bytes("xpu", &text, &text);
        check_silent("xpu", &text);
        let options = Options { style: Style::Agnostic, ..in_place("xpu") };
        let ported = port_files(&[("a.py", &text)], &options);
        assert_eq!(ported.files[0].text, text);
        let (after, said) = ported_script("hpu", &text);
        assert!(after.contains(&format!("if {test}:")) && !said.contains("float16"), "{after}{said}");
    }
    // What only CUDA's machines run is theirs.
    let text = format!(
        "import torch\n\n{kind}\nif kind == 'mps':\n    pass\nelif kind == 'cuda':\n    torch.cuda.empty_cache()\n    x = x.to('cuda:0')\n"
    );
    check_bytes("xpu", &text, &text);
    check_silent("xpu", &text);
    // The program chooses.
    let chosen = "kind = 'cuda' if torch.cuda.is_available() else 'cpu'";
    check_bytes(
        "xpu",
        &of(chosen, "kind == 'cuda'"),
        &of("kind = 'xpu' if torch.xpu.is_available() else 'cpu'", "kind == 'xpu'"),
    );
    let both = format!("{kind}\nif args.first:\n    kind = 'cuda'");
    check_bytes("xpu", &of(&both, "kind == 'cuda'"), &of(&both, "kind == 'cuda'").replace("'cuda'", "'xpu'"));
}

#[test]
fn what_runs_only_where_the_machines_device_is_cuda_stays() {
    let of = |body: &str| {
        format!("import torch\n\nkind = torch.accelerator.current_accelerator().type\nx = torch.ones(3)\n{body}\n")
    };
    for body in [
        "x = x.cuda() if kind == 'cuda' else x",
        "x = x.to('cuda:0') if 'cuda' in kind else x.to(kind)",
        "x = x if kind != 'cuda' else x.cuda()",
        "x = x if not (kind == 'cuda') else x.cuda()",
        "torch.distributed.init_process_group('nccl' if kind == 'cuda' else 'gloo')",
        "if kind != 'cuda':\n    pass\nelse:\n    x = x.cuda()",
        "if kind != 'cuda':\n    pass\nelif args.second:\n    x = x.cuda()\nelse:\n    x = x.to('cuda:1')",
        "if kind == 'cuda' and torch.cuda.is_bf16_supported():\n    x = x.cuda()",
        "half = kind == 'cuda' and torch.cuda.is_bf16_supported()",
        "half = kind != 'cuda' or torch.cuda.is_bf16_supported()",
        "if kind in ('cuda', 'mps'):\n    torch.cuda.empty_cache()",
        "while kind == 'cuda':\n    torch.cuda.synchronize()\n    break",
        "torch.autocast('cuda', enabled=kind == 'cuda')",
        "is_cuda = kind == 'cuda'\nif is_cuda:\n    x = x.cuda()\nwith torch.autocast('cuda', enabled=is_cuda):\n    pass",
        "def move(x):\n    if kind != 'cuda':\n        return x\n    return x.cuda()",
    ] {
        let text = of(body);
        let (after, said) = ported_script("xpu", &text);
        assert_eq!(after, text);
        assert_eq!(said, "", "{text}");
        let (after, said) = ported_script("hpu", &text);
        assert!(after.contains(body), "{after}");
        assert_eq!(said, "", "{text}");
    }
    let scaled = of("scaler = torch.cuda.amp.GradScaler(enabled=kind == 'cuda')");
    check_bytes("xpu", &scaled, &scaled);
    // The target runs this too.
    check_bytes(
        "xpu",
        &of("if kind != 'cuda' or args.all:\n    x = x.cuda()"),
        &of("if kind != 'cuda' or args.all:\n    x = x.to('xpu')"),
    );
    check_bytes(
        "xpu",
        &of("if kind in ('cuda', 'xpu'):\n    x = x.cuda()"),
        &of("if kind in ('cuda', 'xpu'):\n    x = x.to('xpu')"),
    );
    check_bytes(
        "xpu",
        &of("half = torch.cuda.is_bf16_supported() and kind == 'cuda'"),
        &of("half = torch.xpu.is_bf16_supported() and kind == 'cuda'"),
    );
}

#[test]
fn a_program_that_ends_unless_the_machines_device_is_cuda() {
    let of = |body: &str| format!("import torch\n\nacc = torch.accelerator.current_accelerator()\n{body}\n");
    for target in ["xpu", "hpu"] {
        for body in [
            "if acc.type != 'cuda':\n    raise RuntimeError('needs CUDA')",
            "if not acc.type == 'cuda':\n    raise SystemExit('CUDA only')",
            "if acc.type != 'cuda':\n    print('needs CUDA')\n    sys.exit(1)",
            "if acc.type == 'cuda':\n    pass\nelse:\n    raise RuntimeError('needs CUDA')",
            "assert acc.type == 'cuda'",
        ] {
            let (after, said) = ported_script(target, &of(body));
            assert!(after.contains(body), "{after}");
            assert!(said.starts_with("4: ") && said.contains("stops here"), "{target}: {body}: {said}");
        }
        for body in [
            "if acc.type != 'cuda':\n    print('slow')",
            "if acc.type == 'xpu':\n    pass\nelif acc.type == 'hpu':\n    pass\nelif acc.type == 'cuda':\n    pass\nelse:\n    raise RuntimeError('needs a card')",
            "assert acc.type != 'cuda' or args.fast",
        ] {
            let (_, said) = ported_script(target, &of(body));
            assert!(!said.contains("stops here"), "{target}: {body}: {said}");
        }
    }
}

#[test]
fn another_functions_device_of_the_machine() {
    let of = |kind: &str| {
        format!(
            "import torch\n\n\ndef setup(device):\n    if device.type != '{kind}':\n        raise RuntimeError('none')\n\n\n\
             def main():\n    device = torch.accelerator.current_accelerator()\n    return device\n"
        )
    };
    check_bytes("xpu", &of("cuda"), &of("xpu"));
}

#[test]
fn labels_that_get_a_name_are_moved_once() {
    let of = |net: &str, first: &str, label: &str| {
        format!(
            "import torch\n\nnet = torch.nn.Linear(2, 2)\n{net}opt = torch.optim.SGD(net.parameters(), lr=.1)\n\n\n\
             def run(pair):\n    out = net({first})\n    y = {label}\n    hits = (out.argmax(1) == y).sum()\n    \
             loss = torch.nn.functional.cross_entropy(out, y)\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n\n\n\
             for pair in loader:\n    run(pair)\n"
        )
    };
    let moved = of("net.to(\"xpu\")\n", "pair[0].to(\"xpu\")", "pair[1].to(\"xpu\")");
    check_bytes("xpu", &of("", "pair[0]", "pair[1]"), &moved);
}
