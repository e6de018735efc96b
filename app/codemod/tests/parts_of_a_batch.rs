//! A loop over parts of a batch, on the targets that split the batch themselves: a step sees the same samples, or the
//! port reports where it may not.

use codemod::{Options, PortedFile, RecipeSet, Style, port};
use python::SourceFile;

fn run(target: &str, numbers: &str, batch: &str, parts: &str) -> (String, PortedFile) {
    let text = format!(
        "import argparse\nimport torch\nfrom torch.utils.data import DataLoader\n\n{numbers}\nnet = torch.nn.Linear(8, 2)\n\
         criterion = torch.nn.CrossEntropyLoss()\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n\
         batches = DataLoader(events, batch_size={batch})\n\nfor x, y in batches:\n    opt.zero_grad()\n    \
         for part, wanted in zip(x.chunk({parts}), y.chunk({parts})):\n        \
         loss = criterion(net(part), wanted) / {parts}\n        loss.backward()\n    opt.step()\n"
    );
    let options = Options { target: target.to_owned(), style: Style::InPlace, ..Options::default() };
    let file = SourceFile { path: "train.py".to_owned(), text: text.clone() };
    let mut ported = port(&[file], RecipeSet::embedded(), &options);
    assert!(ported.certificate.idempotent, "{target}: {:?}", ported.certificate);
    (text, ported.files.remove(0))
}

/// The loader's number of samples in the port, and whether the condition for it is reported.
fn check(numbers: &str, (batch, parts): (&str, &str), after: &str, says: bool) {
    for target in ["ipu", "popdist"] {
        let (_, file) = run(target, numbers, batch, parts);
        let wanted = format!("events, batch_size={after}");
        assert!(file.text.contains(&wanted), "{target}: no {wanted} in\n{}", file.text);
        let rule = format!("`assert {batch} % {parts} == 0`");
        let said = file.diagnostics.iter().any(|d| d.message.contains(&rule));
        assert_eq!(said, says, "{target}: {:?}", file.diagnostics);
    }
}

fn check_refused(numbers: &str, batch: &str, parts: &str) {
    for target in ["ipu", "popdist", "rdu"] {
        let (text, file) = run(target, numbers, batch, parts);
        let step = |text: &str| text.split_once("for x, y").map(|(_, step)| step.to_owned());
        assert_eq!(step(&file.text), step(&text), "{target}");
        assert!(
            file.diagnostics.iter().any(|d| d.message.to_lowercase().contains("not ported")),
            "{target}: {:?}",
            file.diagnostics
        );
    }
}

const ASKED: &str = "parser = argparse.ArgumentParser()\nparser.add_argument(\"--batch\", type=int)\n\
    parser.add_argument(\"--parts\", type=int)\nargs = parser.parse_args()";

#[test]
fn numbers_that_divide() {
    check("", ("12", "4"), "3", false);
    check("BATCH = 12\nPARTS = 4", ("BATCH", "PARTS"), "BATCH // PARTS", false);
    check("BATCH = 12", ("BATCH", "4"), "BATCH // 4", false);
}

#[test]
fn numbers_that_do_not_divide() {
    check_refused("", "10", "4");
    check_refused("BATCH = 10\nPARTS = 4", "BATCH", "PARTS");
    check_refused("PARTS = 4", "10", "PARTS");
}

#[test]
fn numbers_that_are_not_known() {
    check(ASKED, ("args.batch", "args.parts"), "args.batch // args.parts", true);
    check(ASKED, ("args.batch", "4"), "args.batch // 4", true);
    check("BATCH = 12\nif tiny:\n    BATCH = 2", ("BATCH", "4"), "BATCH // 4", true);
}
