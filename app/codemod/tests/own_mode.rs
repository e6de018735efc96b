//! Projects that already have the target's mode.

use codemod::{Options, RecipeSet, SourceFile, Style, port};

const TRAINER: &str = r#"import enum
import intel_extension_for_pytorch as ipex
import torch


class Mode(enum.Enum):
    CPU = 0
    GPU = 1
    XPU = 2


class Trainer:
    def device(self):
        if self.mode == Mode.GPU:
            return torch.device("cuda")
        elif self.mode == Mode.XPU:
            return ipex.xpu.device("xpu:0")
        return torch.device("cpu")

    def move(self, batch):
        if self.mode == Mode.GPU:
            batch = batch.cuda()
        return batch
"#;

/// The port of a text, and the engine's messages with their lines.
fn ported(text: &str, style: Style) -> (String, Vec<(String, usize)>) {
    let files = [SourceFile { path: "trainer.py".to_owned(), text: text.to_owned() }];
    let options = Options { target: "xpu".to_owned(), style, ..Options::default() };
    let ported = port(&files, RecipeSet::embedded(), &options);
    assert!(ported.certificate.parses && ported.certificate.idempotent);
    let told = ported.files[0].diagnostics.iter().filter(|d| d.recipe.starts_with("engine#own"));
    (ported.files[0].text.clone(), told.map(|d| (d.recipe.clone(), d.original.line)).collect())
}

#[test]
fn its_branches_are_brought_up_to_date_and_no_others_are_added() {
    let (text, told) = ported(TRAINER, Style::Auto);
    assert!(text.contains("            return torch.xpu.device(\"xpu:0\")\n"), "{text}");
    assert!(text.ends_with(TRAINER.split_once("    def move").unwrap().1), "{text}");
    let own = "engine#own-mode".to_owned();
    assert_eq!(told, [(own.clone(), 16), (own, 21)]);
}

#[test]
fn branches_are_added_where_they_are_asked_for() {
    let (text, told) = ported(TRAINER, Style::Branch);
    assert!(text.contains("        elif self.mode == Mode.XPU:\n            batch = batch.to(\"xpu\")\n"), "{text}");
    assert_eq!(told, []);
}

#[test]
fn a_mode_that_no_branch_asks_for_is_ported() {
    let (start, end) = TRAINER.split_once("        elif").unwrap();
    let rest = end.split_once("        return torch.device(\"cpu\")").unwrap().1;
    let (text, told) = ported(&format!("{start}        return torch.device(\"cpu\"){rest}"), Style::Auto);
    assert!(text.contains("batch.to(\"xpu\")"), "{text}");
    assert_eq!(told, []);
}
