//! A loss without a name, on the targets that compile a step: the step is ported as if the loss had one, or keeps its lines.

use codemod::{Options, PortedFile, RecipeSet, Style, port};
use python::SourceFile;

const TARGETS: [&str; 3] = ["ipu", "popdist", "rdu"];

fn run(target: &str, text: &str) -> PortedFile {
    let options = Options { target: target.to_owned(), style: Style::InPlace, ..Options::default() };
    let file = SourceFile { path: "train.py".to_owned(), text: text.to_owned() };
    let mut ported = port(&[file], RecipeSet::embedded(), &options);
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
fn check(unnamed: &str, named: &str) {
    for target in TARGETS {
        let [unnamed, named] = [unnamed, named].map(|step| run(target, &script("SGD", step)).text);
        assert!(named.contains("training_step(") || named.contains("rdu.forward("), "{target} refuses:\n{named}");
        assert_eq!(unnamed, named, "{target}");
    }
}

/// A step that a target refuses is unchanged, and the place is in the original text.
fn check_refused(optimizer: &str, step: &str, place: &str) {
    let text = script(optimizer, step);
    let line = 1 + text.lines().position(|line| line.contains(place)).expect("the place");
    for target in TARGETS {
        let file = run(target, &text);
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
    check(
        "optimizer.zero_grad()\ncriterion(net(x), y).backward()\noptimizer.step()",
        "optimizer.zero_grad()\nloss = criterion(net(x), y)\nloss.backward()\noptimizer.step()",
    );
}

#[test]
fn brackets_stay_where_they_are_needed() {
    check(
        "(criterion(net(x), y) * 0.5).backward()\noptimizer.step()",
        "loss = criterion(net(x), y) * 0.5\nloss.backward()\noptimizer.step()",
    );
    check(
        "(criterion(net(x), y)\n + net.bias.sum()).backward()\noptimizer.step()",
        "loss = (criterion(net(x), y)\n + net.bias.sum())\nloss.backward()\noptimizer.step()",
    );
}

#[test]
fn a_name_that_is_taken_is_not_given() {
    check(
        "criterion(net(x), y).backward()\noptimizer.step()\nlog.add(loss=3)",
        "step_loss = criterion(net(x), y)\nstep_loss.backward()\noptimizer.step()\nlog.add(loss=3)",
    );
}

#[test]
fn a_refused_step_keeps_its_lines() {
    let step = "optimizer.zero_grad()\ncriterion(net(x), y).backward()\noptimizer.step()";
    check_refused("Rprop", step, "torch.optim.Rprop");
    check_refused("SGD", "criterion(net(x), y).backward()\nif i > 3:\n    optimizer.step()", "if i > 3");
    check_refused(
        "SGD",
        "try:\n    criterion(net(x), y).backward()\nexcept ValueError:\n    continue\noptimizer.step()",
        "try:",
    );
    check_refused("SGD", "criterion(net(x), y).backward()\noptimizer.step(closure)", "step(closure)");
}
