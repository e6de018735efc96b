//! Which command-line arguments something in a program depends on: `if args.dist_url == "env://":`.

use super::settings::last_name;
use super::{RunRole, RunSetting, SettingKind};
use crate::view::FileView;
use python::tree::{Id, kinds};

/// Arguments without which a place is not reached, as far as its conditions refer to settings. Conditions around the
/// calls of its function count too.
pub(super) fn words(reached: &[&FileView<'_>], view: &FileView<'_>, id: Id, settings: &[RunSetting]) -> Vec<String> {
    let mut words = around(view, id, settings);
    let name = view.function_of(id).map(|function| view.name_of(function));
    if let Some(name) = name {
        let calls = reached.iter().flat_map(|view| view.calls(name).iter().map(move |call| (*view, *call)));
        let outer: Vec<Vec<String>> = calls.map(|(view, call)| around(view, call, settings)).collect();
        // One call without a condition is enough.
        if let Some(least) = outer.into_iter().min_by_key(Vec::len) {
            words.extend(least.into_iter().filter(|word| !words.contains(word)).collect::<Vec<_>>());
        }
    }
    words
}

/// The same for the conditions of the `if`s whose bodies contain the place.
fn around(view: &FileView<'_>, id: Id, settings: &[RunSetting]) -> Vec<String> {
    let index = &view.index;
    let ifs = index.ancestors(id).filter(|ancestor| index.kind(*ancestor) == kinds().if_statement);
    let mut words: Vec<String> = Vec::new();
    for statement in ifs {
        let text = index.text_of(statement);
        // The code after `else` is reached without it.
        let (Some(condition), Some(end)) = (index.parts(statement).next(), text.find(':')) else { continue };
        let in_body = index.item(id).start > index.item(statement).start + end
            && index.parts(statement).nth(1).is_some_and(|body| index.is_within(id, body));
        if in_body {
            for atom in atoms(index.text_of(condition)) {
                words.extend(word(atom, settings).filter(|word| !words.contains(word)));
            }
        }
    }
    words
}

/// The parts of a condition that must all be true; none for one with alternatives.
fn atoms(condition: &str) -> Vec<&str> {
    if condition.contains(" or ") {
        return Vec::new();
    }
    condition.split(" and ").map(|atom| atom.trim().trim_matches(['(', ')'])).collect()
}

/// The argument that makes a condition true, if it refers to a setting whose default makes it false.
fn word(atom: &str, settings: &[RunSetting]) -> Option<String> {
    let (name, value) = match atom.split_once("==") {
        // Only a string can be written directly on a command line; an enum member, for example, has its own syntax.
        Some((name, value)) => (name.trim(), Some(text_of(value.trim())?)),
        None => (atom.trim(), None),
    };
    let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    if name.is_empty() || !name.chars().all(plain) {
        return None;
    }
    let setting = settings.iter().find(|setting| last_name(&setting.name) == last_name(name))?;
    // The settings for joining processes and for the device have roles of their own.
    let is_told = setting.name.starts_with('-') || setting.name.contains('.');
    if matches!(setting.role, Some(RunRole::Distributed | RunRole::Device)) || !is_told {
        return None;
    }
    let default = setting.value.as_deref();
    match (value, setting.kind) {
        (Some(value), SettingKind::Value) if default != Some(value) => Some(format!("{}={value}", setting.name)),
        (None, SettingKind::Switch) if default != Some("True") => Some(setting.name.clone()),
        (None, SettingKind::Value) if default == Some("False") => Some(format!("{}=True", setting.name)),
        _ => None,
    }
}

/// The text between the quotes of a string.
fn text_of(value: &str) -> Option<&str> {
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    value.strip_prefix(quote)?.strip_suffix(quote).filter(|text| !text.contains(quote))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions() {
        assert_eq!(atoms("args.a == 'x' and args.b"), ["args.a == 'x'", "args.b"]);
        assert!(atoms("a or b").is_empty());
    }
}
