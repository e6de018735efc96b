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

#[cfg(test)]
mod tests {
    use super::phase_test;
    use crate::marked;

    /// The test for the phase, if the marked `if` is one.
    #[track_caller]
    fn check(program: &str, expected: Option<&str>) {
        marked::check(program, expected.map(str::to_owned), |at| {
            phase_test(&at.file(), "optimizer", &[Some(at.node())]).map(str::to_owned)
        });
    }

    #[test]
    fn a_test_for_the_phase() {
        check("if phase == 'train':\n^^\n    f()\n", Some("phase == 'train'"));
        check("if is_train:\n^^\n    f()\n", Some("is_train"));
        check("if optimizer is not None:\n^^\n    f()\n", Some("optimizer is not None"));
    }

    #[test]
    fn a_test_for_something_else() {
        check("if phase == 'val':\n^^\n    f()\n", None);
        check("if phase != 'train':\n^^\n    f()\n", None);
        check("if train_loss:\n^^\n    f()\n", None);
        check("if scheduler is not None:\n^^\n    f()\n", None);
        check("if phase == 'train':\n^^\n    f()\nelse:\n    g()\n", None);
    }

    #[test]
    fn two_tests_have_to_be_the_same() {
        let both = |first: &str, second: &str, expected: Option<&str>| {
            let program = format!("if {first}:\n^^\n    f()\nif {second}:\n^^\n    g()\n");
            marked::check(&program, expected.map(str::to_owned), |at| {
                phase_test(&at.file(), "optimizer", &[Some(at.node()), Some(at.last())]).map(str::to_owned)
            });
        };
        both("is_train", "is_train", Some("is_train"));
        both("is_train", "training", None);
    }
}
