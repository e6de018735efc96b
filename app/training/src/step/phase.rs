//! One loop for training and validation, distinguished by the name of the phase:
//! `if phase == "train": loss.backward()`.

use python::PythonFile;
use python::strings::plain_string;
use python::tree::{Id, kinds};

/// The test around all updates of the weights, if it only tests the phase, or whether there is an optimizer.
pub(crate) fn phase_test<'t>(file: &PythonFile<'t>, optimizer: &str, tests: &[Option<Id>]) -> Option<&'t str> {
    let k = kinds();
    let index = &file.index;
    let mut found: Option<&str> = None;
    for test in tests {
        let test = (*test)?;
        let condition = index.condition(test)?;
        let text = index.text_of(condition);
        if index.otherwise(test).is_some() || found.is_some_and(|t| t != text) {
            return None;
        }
        let trains = |words: &str| words.to_ascii_lowercase().contains("train");
        let is_phase = |part: Id| index.kind(part) == k.string && plain_string(index, part).is_some_and(trains);
        let named = index.kind(condition) == k.comparison_operator && {
            let sides: Vec<Id> = index.parts(condition).collect();
            matches!(sides[..], [a, b] if match index.between(a, b) {
                "==" => is_phase(a) || is_phase(b),
                "is not" => index.is_text(a, optimizer) && index.kind(b) == k.none,
                _ => false,
            })
        };
        let flag = index.kind(condition) == k.identifier && trains(text) && !text.ends_with("_loss");
        if !(named || flag) {
            return None;
        }
        found = Some(text);
    }
    found
}
