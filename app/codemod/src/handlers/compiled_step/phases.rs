//! One loop for training and validation: the step under its test, and next to it the same statements with the inference model.

use super::plan::Plan;
use python::edit::dedent;
use python::lines::line_indent;
use python::tree::kinds;
use training::step::{Slice, is_model_call};

/// Both sides, if `test` tests for the training phase and `call` is the call of the compiled step.
pub(super) fn both_phases(plan: &mut Plan<'_, '_>, slice: &Slice<'_>, test: &str, call: &str) -> String {
    let file = plan.step.file;
    let index = &file.view.index;
    let unit = &file.layout.indent;
    let under = |text: &str| {
        let line = |l: &str| if l.is_empty() { String::new() } else { format!("{unit}{l}") };
        text.split('\n').map(line).collect::<Vec<_>>().join("\n")
    };
    let otherwise: Vec<String> = slice
        .statements
        .iter()
        .map(|&s| {
            let range = index.range(s);
            let mut out = String::new();
            let mut at = range.start;
            for &c in index.of_kind_in(kinds().call, s).iter().filter(|c| is_model_call(file, **c)) {
                let Some(model) = index.callee(c) else { continue };
                let model = index.range(model);
                out.push_str(&index.text[at..model.start]);
                out.push_str(&plan.inferring(&index.text[model.clone()]));
                at = model.end;
            }
            out.push_str(&index.text[at..range.end]);
            under(&dedent(&out, line_indent(index.text, range.start)))
        })
        .collect();
    format!("if {test}:\n{}\nelse:\n{}", under(call), otherwise.join("\n"))
}
