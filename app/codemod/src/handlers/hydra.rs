//! `hydra-version-base`: the argument goes where the project pins a Hydra that does not know it.

use super::{Input, Wish};
use crate::change::Change;
use crate::sdk::compare;
use crate::tree::{fields, kinds};

/// First Hydra with `version_base`.
const FIRST: &str = "1.2";

pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let Some(view) = input.view else { return Vec::new() };
    if !input.files.iter().any(|(_, text)| pins_old(text)) {
        return Vec::new();
    }
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let mut wishes = Vec::new();
    for name in ["main", "initialize", "initialize_config_dir", "initialize_config_module"] {
        for &call in view.calls(name) {
            let ours = index
                .field(call, f.function)
                .is_some_and(|function| view.names.stands_for(index, function, &format!("hydra.{name}")));
            let Some(arguments) = index.field(call, f.arguments).filter(|_| ours) else { continue };
            let all: Vec<_> = index.parts(arguments).collect();
            let at = all.iter().position(|a| {
                index.kind(*a) == k.keyword_argument
                    && index.field(*a, f.name).is_some_and(|n| index.text_of(n) == "version_base")
            });
            let Some(at) = at else { continue };
            // With the comma and the blank on one side.
            let range = match (all.get(at + 1), at.checked_sub(1).and_then(|p| all.get(p))) {
                (Some(next), _) => index.item(all[at]).start..index.item(*next).start,
                (None, Some(previous)) => index.item(*previous).end..index.item(all[at]).end,
                (None, None) => index.range(all[at]),
            };
            wishes.push(Wish {
                at: range.start,
                changes: vec![Change::Raw { range, text: String::new() }],
                imports: Vec::new(),
            });
        }
    }
    wishes
}

/// `hydra-core==1.1`, `hydra-core~=1.1.0`, `hydra-core<1.2`.
fn pins_old(text: &str) -> bool {
    text.match_indices("hydra-core").any(|(at, word)| {
        let rest = text[at + word.len()..].trim_start();
        let (sign, version) = match ["==", "~=", "<=", "<"].iter().find_map(|s| rest.strip_prefix(s).map(|v| (*s, v))) {
            Some(found) => found,
            None => return false,
        };
        let version: String = version.trim_start().chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        let order = compare(version.trim_end_matches('.'), FIRST);
        !version.is_empty() && (order.is_lt() || (sign == "<" && order.is_eq()))
    })
}
