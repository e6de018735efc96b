//! Programs that name no device: which models and tensors a port moves.

use crate::ports::{SCRIPT, check, check_in_project, check_said, port_script, ported, ported_script};
use codemod::Diagnostic;

const NAMES_NO_DEVICE: &str = "import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)

    def score(self, x):
        return torch.sigmoid(self.fc(x))


def load():
    model = Net()
    model.load_state_dict(torch.load(\"net.pt\"))
    return model


def parse(text):
    return torch.zeros(1, 4), {\"length\": len(text)}


def analyse(text):
    model = load()
    x, facts = parse(text)
    with torch.no_grad():
        prob = model.score(x)
    return {\"prob\": prob.item(), \"facts\": facts}


def train(samples):
    model = Net()
    optimizer = torch.optim.Adam(model.parameters())
    for x, y in samples:
        optimizer.zero_grad()
        loss = nn.functional.binary_cross_entropy(model.score(x), y)
        loss.backward()
        optimizer.step()
";

#[test]
fn a_model_whose_method_is_called_moves_with_its_input() {
    let (after, _) = ported_script("hpu", NAMES_NO_DEVICE);
    assert!(after.contains("    model = load()\n    model.to(\"hpu\")\n    x, facts = parse(text)\n"), "{after}");
    assert_eq!(after.matches("model.to(\"hpu\")").count(), 2, "{after}");
}

#[test]
fn what_is_only_returned_beside_a_result_does_not_move() {
    let (after, _) = ported_script("hpu", NAMES_NO_DEVICE);
    assert!(after.contains("    x = x.to(\"hpu\")\n    with torch.no_grad():"), "{after}");
    assert!(!after.contains("facts = facts.to"), "{after}");
}

#[test]
fn samples_that_are_made_once() {
    let whole = SCRIPT.replace("for x, y in loader:", "x, y = torch.rand(8, 3), torch.rand(8, 3)\nfor t in range(9):");
    for (target, call) in
        [("rdu", "rdu.forward(x)"), ("ipu", "training_step(x, y)"), ("popdist", "training_step(x, y)")]
    {
        let (after, said) = ported(target, &[("a.py", &whole)]);
        assert!(after[0].contains(call), "{said}{}", after[0]);
    }
    let made = |loss: &str| ported("ipu", &[("a.py", &whole.replace("F.mse_loss(out, y)", loss))]);
    for loss in ["(out - y).pow(2).mean()", "F.mse_loss(out, target=y.view(8, 3))"] {
        assert!(made(loss).0[0].contains("training_step(x, y)"), "{loss}");
    }
    // A value without samples in its first dimension is not split: it is a buffer of the step.
    let weights = whole.replace("F.mse_loss(out, y)", "F.cross_entropy(out, y, w)");
    let (after, _) = ported("ipu", &[("a.py", &weights.replace("\nx, y", "\nw = torch.ones(3)\nx, y"))]);
    assert!(after[0].contains("training_step(x, y)") && after[0].contains("register_buffer(\"w\", w)"), "{}", after[0]);
    // Beside the samples a model may be given what the loss compares with its output, and on the RDU nothing else.
    let both = whole.replace("model(x)", "model(x, y)");
    check_said("rdu", &both, "Not ported: ");
    for both in [
        &both,
        &both.replace("x, y = torch.rand(8, 3), torch.rand(8, 3)", "x = torch.rand(8, 3)\ny = torch.rand(8, 3)"),
    ] {
        assert!(ported("ipu", &[("a.py", both)]).0[0].contains("training_step(x, y)"));
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

#[test]
fn a_program_that_only_asks_for_a_device_is_moved_once() {
    let asks = |device: &str, model: &str, moved: &str| {
        format!(
            "import torch\n\n{model}optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\nfor x in loader:\n    {moved}loss = model(x).loss\n    \
             if torch.{device}.is_available():\n        loss.backward()\n    optimizer.step()\n"
        )
    };
    check("xpu", &asks("cuda", "", ""), &asks("xpu", "model.to(\"xpu\")\n", "x = x.to(\"xpu\")\n    "));
}

#[test]
fn a_program_that_only_empties_a_cache_names_no_device() {
    let step = |made: &str, moved: &str| {
        format!(
            "import torch\n\nmodel = torch.nn.Linear(2, 1)\n{made}optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\nfor x in loader:\n    \
             {moved}loss = model(x).sum()\n    loss.backward()\n    optimizer.step()\n"
        )
    };
    let before = step("", "") + "    torch.cuda.empty_cache()\n";
    let after = step("model.to(\"xpu\")\n", "x = x.to(\"xpu\")\n    ") + "    torch.xpu.empty_cache()\n";
    check("xpu", &before, &after);
}

/// A port takes the scaler away, after which nothing would name a device.
#[test]
fn a_scaler_that_is_told_a_device_moves_nothing() {
    let text = "import torch\n\nmodel = torch.nn.Linear(2, 1)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n\
                scaler = torch.amp.GradScaler(device=\"cpu\")\nfor x in loader:\n    scaler.scale(model(x).sum()).backward()\n    \
                scaler.step(optimizer)\n    scaler.update()\n";
    let (after, _) = ported_script("hpu", text);
    assert!(after.contains("model.to(\"hpu\")\n") && !after.contains("scaler"), "{after}");
    assert_eq!(ported_script("hpu", &after).0, after);
}

#[test]
fn a_model_that_follows_its_input_names_no_device() {
    let program = |moved: &str, model: &str| {
        format!(
            "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        \
             return self.layer(x + torch.zeros(2, device=x.device)).to(x.device)\n\n\nnet = Net()\n{model}\
             optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\nfor x in loader:\n    {moved}loss = net(x).sum()\n    \
             loss.backward()\n    optimizer.step()\n"
        )
    };
    check("xpu", &program("", ""), &program("x = x.to(\"xpu\")\n    ", "net.to(\"xpu\")\n"));
    // New lines end like most lines of the file.
    let mixed = port_script("xpu", &(program("", "").trim_end().to_owned() + "\r\n"));
    assert_eq!(mixed.files[0].text.matches('\r').count(), 1);
}

#[test]
fn what_is_no_tensor_is_not_moved() {
    let before = "import numpy as np\nimport torch\n\nmodel = make()\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n\n\n\
                  def evaluate(batch: torch.Tensor, names: list, mask=None, scale=1.0):\n    return model(batch, names, mask, scale)\n\n\n\
                  for n in np.linspace(0, 1, 9):\n    loss = model(torch.ones(2), n)\n    loss.backward()\n    optimizer.step()\n";
    let ported = port_script("xpu", before);
    let text = &ported.files[0].text;
    assert!(text.contains("    batch = batch.to(\"xpu\")\n    return model(batch, names, mask, scale)\n"), "{text}");
    assert!(text.contains("np.linspace(0, 1, 9):\n    loss = model(torch.ones(2).to(\"xpu\"), n)\n"), "{text}");
    // Nothing calls the function, so its messages are combined into one.
    let told = |d: &Diagnostic| d.recipe == "engine#unused" && d.message.contains("line 9 (xpu#no-device)");
    assert!(
        ported.files[0].diagnostics.iter().any(told),
        "the list and the mask are told: {:?}",
        ported.files[0].diagnostics
    );
}

/// For a program that names no device: a name that the port moves, and one that must not be moved.
#[track_caller]
fn check_moves(text: &str, moved: &str, kept: &str) {
    let ported = &port_script("xpu", text).files[0].text;
    assert!(ported.contains(&format!("{moved} = {moved}.to(\"xpu\")")), "{ported}");
    assert!(!ported.contains(&format!("{kept} = {kept}.to(")), "{ported}");
}

#[test]
fn what_is_no_tensor_stays() {
    let step = "loss = criterion(net(x), y)\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n";
    let head = "import torch\nfrom torch import nn\n";
    let made = "net = nn.Linear(4, 2)\ncriterion = nn.MSELoss()\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n";
    // A function of a package is not a model, whatever its modules are called.
    let split = "rows = read()\ntrain, rest = sklearn.model_selection.train_test_split(rows)\n";
    check_moves(
        &format!("import sklearn.model_selection\n{head}{made}{split}for x, y in data:\n    {step}"),
        "x",
        "rows",
    );
    // Something from a file of the project may be one.
    let own = format!("from . import zoo\n{head}{made}for x, y in data:\n    {step}").replace("net(x)", "zoo.model(x)");
    check_moves(&own, "x", "zoo");
    // Lists that are filled.
    let lists = "    states, targets = [], []\n    fill(states, targets)\n    x = torch.tensor(states)\n    y = torch.stack(targets)\n";
    check_moves(&format!("{head}{made}for turn in range(4):\n{lists}    {step}"), "x", "targets");
}
