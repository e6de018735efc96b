//! Opened or pasted text that may be a notebook: a notebook is distinguished from a program, and one that was exported
//! as a script is ported like any program.

use super::port_program::{RECIPES, ports};
use super::{Mutator, Target, Ways};
use serde_json::Value;
use web::port::state::project::{check_text, name_in, not_python, text_of};

pub(super) const TARGET: Target =
    Target { name: "notebook", check, seeds: Vec::new, mutator: Mutator::Program, short: 40 };

fn check(input: &[u8], ways: Ways) {
    let text = match text_of(input.to_vec()) {
        Ok(text) => text,
        Err(why) => {
            assert!(!why.to_string().is_empty());
            return;
        }
    };
    assert!(check_text(&text).is_ok(), "what is opened may be pasted");
    let parsed = serde_json::from_str::<Value>(&text);
    if parsed.is_ok_and(|value| value["cells"].is_array() && value["nbformat"].is_number()) {
        assert!(
            not_python(&text).is_some_and(|advice| advice.contains("nbconvert")),
            "a notebook that is not seen as one"
        );
    }
    let _ = name_in(&text);
    ports(&text, &RECIPES, ways);
}
