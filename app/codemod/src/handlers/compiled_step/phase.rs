//! One loop for training and validation, told apart by the name of the phase: `if phase == "train": loss.backward()`.

use crate::change::dedent;
use crate::facts::{FileView, line_indent};
use crate::pattern::plain_string;
use crate::tree::{Id, fields, kinds};

/// The test that all updates of the weights stand under, when it asks for the phase and nothing else.
pub(super) fn phase_test<'t>(view: &FileView<'t>, tests: &[Option<Id>]) -> Option<&'t str> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let mut found: Option<&str> = None;
    for test in tests {
        let test = (*test)?;
        let condition = index.field(test, f.condition)?;
        let text = index.text_of(condition);
        if index.field(test, f.alternative).is_some() || found.is_some_and(|t| t != text) {
            return None;
        }
        let trains = |words: &str| words.to_ascii_lowercase().contains("train");
        let named = index.kind(condition) == k.comparison_operator && text.contains("==") && {
            index
                .parts(condition)
                .any(|p| index.kind(p) == k.string && plain_string(index.text, index.item(p).node).is_some_and(trains))
        };
        let flag = index.kind(condition) == k.identifier && trains(text) && !text.ends_with("_loss");
        if !(named || flag) {
            return None;
        }
        found = Some(text);
    }
    found
}

/// The step under its test, and beside it the same statements with the model of inference.
pub(super) fn both_phases(
    view: &FileView<'_>,
    test: &str,
    call: &str,
    slice: &[Id],
    is_model: &dyn Fn(Id) -> bool,
) -> String {
    let index = &view.index;
    let unit = &view.layout.indent;
    let under = |text: &str| {
        text.split('\n')
            .map(|l| if l.is_empty() { String::new() } else { format!("{unit}{l}") })
            .collect::<Vec<_>>()
            .join("\n")
    };
    let otherwise: Vec<String> = slice
        .iter()
        .map(|&s| {
            let range = index.range(s);
            let mut out = String::new();
            let mut at = range.start;
            for &c in index.of_kind_in(kinds().call, s) {
                let Some(model) = index.field(c, fields().function).filter(|_| is_model(c)) else { continue };
                let model = index.range(model);
                out.push_str(&index.text[at..model.start]);
                out.push_str(&format!("ipu_inference({})", &index.text[model.clone()]));
                at = model.end;
            }
            out.push_str(&index.text[at..range.end]);
            under(&dedent(&out.replace("\r\n", "\n"), line_indent(index.text, range.start)))
        })
        .collect();
    format!("if {test}:\n{}\nelse:\n{}", under(call), otherwise.join("\n"))
}
