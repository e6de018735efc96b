//! The loss of a step: without a name, from an object, a function or a list; and gradients that are no loss's.

use super::{HEAD, step_lines, to_ipu};
use crate::ports::{SCRIPT, check_in_project, check_silent, port_script, ported, ported_script};
use codemod::PortedFile;

#[test]
fn gradients_in_the_loss_are_told_where_they_are_asked_for() {
    let penalty = "    slope = torch.autograd.grad(out.sum(), x)[0]\n    loss = F";
    let text = format!("{HEAD}for x, y in loader:\n{}", step_lines("2", 1).replace("    loss = F", penalty));
    for target in ["ipu", "rdu"] {
        let (ported, said) = ported_script(target, &text);
        assert!(ported == text && said.contains("8: ") && said.contains("gradients"), "{said}");
    }
}

#[test]
fn a_gradient_that_is_given_is_no_loss() {
    let given = step_lines("2", 1).replace("loss.backward()", "loss.backward(error)");
    let text = format!("{HEAD}for x, y in loader:\n{given}");
    let (ported, said) = to_ipu(&text);
    assert!(ported == text && said.contains("`backward` is called with a gradient"), "{said}{ported}");
}

const COMPILING: [&str; 3] = ["ipu", "popdist", "rdu"];

fn compiled(target: &str, text: &str) -> PortedFile {
    let mut ported = port_script(target, text);
    let certificate = &ported.certificate;
    assert!(certificate.parses && certificate.idempotent && certificate.comments_kept, "{target}: {certificate:?}");
    ported.files.remove(0)
}

fn script(optimizer: &str, step: &str) -> String {
    let step: String = step.lines().map(|line| format!("        {line}\n")).collect();
    format!(
        "import torch\nfrom torch.utils.data import DataLoader\n\nnet = torch.nn.Linear(8, 2)\n\
         criterion = torch.nn.CrossEntropyLoss()\noptimizer = torch.optim.{optimizer}(net.parameters(), lr=0.1)\n\
         batches = DataLoader(events, batch_size=8)\n\n\ndef train(epochs):\n    for i, (x, y) in enumerate(batches):\n{step}\n\n\
         if __name__ == \"__main__\":\n    train(2)\n"
    )
}

/// The port of a step is that of the step with its loss named by hand.
fn check_same_port(unnamed: &str, named: &str) {
    for target in COMPILING {
        let [unnamed, named] = [unnamed, named].map(|step| compiled(target, &script("SGD", step)).text);
        assert!(named.contains("training_step(") || named.contains("rdu.forward("), "{target} refuses:\n{named}");
        assert_eq!(unnamed, named, "{target}");
    }
}

/// A step that a target refuses is unchanged, and the place is in the original text.
fn check_kept(optimizer: &str, step: &str, place: &str) {
    let text = script(optimizer, step);
    let line = 1 + text.lines().position(|line| line.contains(place)).expect("the place");
    for target in COMPILING {
        let file = compiled(target, &text);
        let body = |text: &str| text.split_once("def train").map(|(_, body)| body.to_owned());
        assert_eq!(body(&file.text), body(&text), "{target}");
        let told: Vec<_> = file.diagnostics.iter().map(|d| (d.original.line, d.message.as_str())).collect();
        assert!(
            told.iter().any(|(at, said)| *at == line && said.to_lowercase().contains("not ported")),
            "{target}: {line} of {told:?}"
        );
    }
}

#[test]
fn a_loss_gets_a_name() {
    check_same_port(
        "optimizer.zero_grad()\ncriterion(net(x), y).backward()\noptimizer.step()",
        "optimizer.zero_grad()\nloss = criterion(net(x), y)\nloss.backward()\noptimizer.step()",
    );
}

#[test]
fn brackets_stay_where_they_are_needed() {
    check_same_port(
        "(criterion(net(x), y) * 0.5).backward()\noptimizer.step()",
        "loss = criterion(net(x), y) * 0.5\nloss.backward()\noptimizer.step()",
    );
    check_same_port(
        "(criterion(net(x), y)\n + net.bias.sum()).backward()\noptimizer.step()",
        "loss = (criterion(net(x), y)\n + net.bias.sum())\nloss.backward()\noptimizer.step()",
    );
}

#[test]
fn a_name_that_is_taken_is_not_given() {
    check_same_port(
        "criterion(net(x), y).backward()\noptimizer.step()\nlog.add(loss=3)",
        "step_loss = criterion(net(x), y)\nstep_loss.backward()\noptimizer.step()\nlog.add(loss=3)",
    );
}

#[test]
fn a_refused_step_keeps_its_lines() {
    let step = "optimizer.zero_grad()\ncriterion(net(x), y).backward()\noptimizer.step()";
    check_kept("Rprop", step, "torch.optim.Rprop");
    check_kept("SGD", "criterion(net(x), y).backward()\nif i > 3:\n    optimizer.step()", "if i > 3");
    check_kept(
        "SGD",
        "try:\n    criterion(net(x), y).backward()\nexcept ValueError:\n    continue\noptimizer.step()",
        "try:",
    );
    check_kept("SGD", "criterion(net(x), y).backward()\noptimizer.step(closure)", "step(closure)");
}

#[test]
fn a_method_called_backward_is_not_always_a_backward_pass() {
    let layers =
        "import numpy as np\n\nfor x, y in batches:\n    loss.backward(net(x), y)\n    net.backward(loss.dinputs)\n";
    for target in ["ipu", "rdu"] {
        check_silent(target, layers);
    }
    let denoises = "    with torch.no_grad():\n        out = diffusion.backward(x, y)\n";
    let (after, said) = ported("ipu", &[("a.py", &format!("{SCRIPT}{denoises}"))]);
    assert!(after[0].contains("ipu_training_step(") && said.is_empty(), "{said}{}", after[0]);
}

#[test]
fn a_loss_of_the_programs_own_that_comes_from_another_file() {
    let losses = "class Masked:\n    def __call__(self, out, y):\n        return out[y != -1].mean()\n";
    let step =
        SCRIPT.replace("F.mse_loss(out, y)", "loss_fn(out, y)").replace("import torch\nfrom", "import torch\n\n\nfrom");
    let (imports, code) = step.split_once("\n\nmodel = ").unwrap_or_default();
    let body = format!("model = {code}").replace('\n', "\n    ");
    let fit = format!("{imports}\n\n\ndef fit(loss_fn, loader):\n    {body}\n");
    let main = "from fit import fit\nfrom losses import Masked\n\nloss_fn = Masked()\nfit(loss_fn, loader)\n";
    let words = "The shape of this result depends on values";
    check_in_project("ipu", &[("losses.py", losses), ("fit.py", &fit), ("main.py", main)], words, true);
}

#[test]
fn a_loss_that_is_an_object_of_a_class_without_layers() {
    let class = "class Relative:\n    def __call__(self, out, y):\n        return self.rel(out, y)\n\n    def rel(self, out, y):
        error = (out - y).abs()\n        return error[y > 0].mean()\n";
    let other = "\n\nclass Crop:\n    def __call__(self, image):\n        return image[image > 0]\n";
    let program = SCRIPT
        .replace("\nmodel =", "from losses import Crop, Relative\n\ncriterion = Relative()\ncrop = Crop()\nmodel =")
        .replace("F.mse_loss(out, y)", "criterion(out, y)");
    let (_, said) = ported("ipu", &[("a.py", &program), ("losses.py", &format!("{class}{other}"))]);
    assert_eq!(said.matches("The shape of this result depends on values").count(), 1, "{said}");
    let tested = class.replace(
        "        return error",
        "        if error.any():\n            error = error + 1\n        return error",
    );
    let (head, body) = program.split_once("criterion =").unwrap();
    let body = format!("criterion ={body}").replace('\n', "\n    ");
    let in_function = format!("{head}\n\ndef main():\n    {}\n\n\nmain()\n", body.trim_end());
    let (after, said) = ported("ipu", &[("a.py", &in_function), ("losses.py", &tested)]);
    assert!(after[0].contains("self.criterion(out, y)"), "{said}{}", after[0]);
    assert!(said.contains("values can't be tested here"), "{said}");
}

#[test]
fn a_loss_that_is_the_sum_of_a_list() {
    let program = SCRIPT.replace("    out = model(x)\n", "    (out, (middle, _)), last = model(x)\n").replace(
        "    loss =",
        "    losses = [middle.mean(), last.mean(), F.mse_loss(out, y)]\n    loss = sum(losses)\n    other =",
    );
    let (after, said) = ported("ipu", &[("a.py", &program)]);
    assert!(after[0].contains("        loss = sum(losses)\n        return"), "{said}{}", after[0]);
    let stacked = program.replace("sum(losses)", "torch.stack(losses).sum()");
    assert!(ported("ipu", &[("a.py", &stacked)]).0[0].contains("loss = torch.stack(losses).sum()"));
}
