//! Options of `argparse` and `click`.

use super::RunRole;
use super::{RunSetting, SettingKind, keyword, literal, place, positional, role_of};
use crate::view::FileView;
use python::tree::{Id, kinds};

/// The options that a file declares, in order.
pub(crate) fn options(view: &FileView<'_>) -> Vec<RunSetting> {
    let click = |call: &&Id| {
        let function = view.index.callee(**call);
        function.and_then(|f| view.names.qualify(&view.index, f)).is_some_and(|name| name == "click.option")
    };
    let mut calls: Vec<Id> = view.calls("add_argument").to_vec();
    calls.extend(view.calls("option").iter().filter(click));
    sorting::plain(&mut calls);
    calls.into_iter().filter_map(|call| option(view, call)).collect()
}

fn option(view: &FileView<'_>, call: Id) -> Option<RunSetting> {
    let names: Vec<String> = positional(view, call).into_iter().filter_map(|id| literal(view, id)).collect();
    // argparse distinguishes options with one dash by their length, click does not; the long one has the meaningful
    // name.
    let long = names.iter().filter(|name| name.starts_with("--")).max_by_key(|name| name.len());
    let name = long.or_else(|| names.first())?.split('/').next().unwrap_or_default().to_owned();
    let text = |word: &str| keyword(view, call, word).map(|id| view.index.text_of(id));
    let is_position = !name.starts_with('-');
    let kind = match (text("action").map(|action| action.trim_matches(['"', '\''])), text("is_flag")) {
        (Some("store_true"), _) | (_, Some("True")) => SettingKind::Switch,
        (Some("store_false"), _) => SettingKind::SwitchOff,
        (Some(action), _) if action.ends_with("BooleanOptionalAction") => SettingKind::Switch,
        _ => SettingKind::Value,
    };
    let default = keyword(view, call, "default");
    let value = match (default, kind) {
        (Some(default), _) => literal(view, default),
        (None, SettingKind::Switch) => Some("False".to_owned()),
        (None, SettingKind::SwitchOff) => Some("True".to_owned()),
        (None, _) => None,
    };
    let choices = keyword(view, call, "choices").map_or_else(Vec::new, |list| strings(view, list));
    let optional = text("nargs").is_some_and(|nargs| nargs.contains(['?', '*']));
    let mut role = role_of(&name, value.as_deref(), kind);
    // `type=bool` interprets any text as true, "False" too: a launcher can't disable it.
    if text("type") == Some("bool") && role == Some(RunRole::Distributed) {
        role = None;
    }
    Some(RunSetting {
        required: text("required") == Some("True") || (is_position && default.is_none() && !optional),
        role: role.filter(|_| !is_position),
        name,
        value,
        kind,
        choices,
        place: place(view, call),
    })
}

/// Plain strings in a list, a tuple or a call around one.
fn strings(view: &FileView<'_>, list: Id) -> Vec<String> {
    view.index.of_kind_in(kinds().string, list).iter().filter_map(|id| literal(view, *id)).collect()
}
