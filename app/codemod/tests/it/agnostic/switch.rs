//! Targets that are no devices of PyTorch: a name tells them from the others.

use super::ported;
use crate::ports::{in_place, port_files};
use codemod::{Options, Severity, Style};

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
fn messages_about_a_loop_look_into_the_switch() {
    let text = "import torch\n\nx, y = torch.rand(42, 3), torch.rand(42, 3)\nnet = torch.nn.Linear(3, 3)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n\
                for i in range(0, len(x), 8):\n    opt.zero_grad()\n    loss = torch.nn.functional.mse_loss(net(x[i:i + 8]), y[i:i + 8])\n    \
                loss.backward()\n    opt.step()\n";
    let file = &ported("ipu", text).files[0];
    assert!(file.text.contains("if USE_IPU:"), "{}", file.text);
    assert!(
        file.diagnostics.iter().any(|said| said.message.contains("loop cuts is shorter")),
        "{:?}",
        file.diagnostics
    );
}
