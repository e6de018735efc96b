//! Branch style must not change a project's existing modes.

use codemod::{Options, RecipeSet, SourceFile, Style, port};

/// A port in branch style, of one file next to another.
fn ported(target: &str, text: &str, other: &str) -> String {
    let files = [("run.py", text), ("main.py", other)]
        .map(|(path, text)| SourceFile { path: path.to_owned(), text: text.to_owned() });
    let options = Options { target: target.to_owned(), style: Style::Branch, ..Options::default() };
    let ported = port(&files, RecipeSet::embedded(), &options);
    assert!(ported.certificate.parses && ported.certificate.idempotent);
    ported.files[0].text.clone()
}

const RUN: &str = "from dataclasses import dataclass
from enum import Enum


class Compute(Enum):
    CPU = 0
    GPU = 1


@dataclass
class Run:
    distributed: bool = False
    compute_mode: Compute = Compute.GPU
    iterations: int = 3

    def name(self): return \"run\"
";

#[test]
fn fields_keep_the_places_by_which_they_are_given() {
    let of_mode = "    compute_mode: Compute = Compute.GPU\n    lazy_mode: bool = False\n    iterations: int = 3\n";
    let last = "    compute_mode: Compute = Compute.GPU\n    iterations: int = 3\n    lazy_mode: bool = False\n";
    for (main, expected) in [
        ("Run(True, iterations=2)\n", of_mode),
        ("Run(True, Compute.CPU)\n", of_mode),
        ("from run import Compute, Run\nRun(True, Compute.CPU, 2)\n", last),
        ("from run import Run\nrun = Run(*read())\n", last),
    ] {
        let text = ported("hpu", RUN, main);
        assert!(text.contains(expected), "{main}{text}");
    }
}

#[test]
fn lines_end_as_the_file_has_them() {
    let step = "import torch

def step(run, model, x, y):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    if run.compute_mode == Compute.GPU:
        torch.cuda.synchronize()
";
    for target in ["hpu", "ipu", "popdist", "rdu", "xpu"] {
        let text = ported(target, &format!("{RUN}{step}").replace('\n', "\r\n"), "");
        assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "{target}\n{text}");
    }
}
