//! What Lightning's Trainer is told of a launch: its devices, its machines, and the batches of a step.

use super::settings::{last_name, top_number};
use super::{RunRole, RunSetting, SettingKind, keyword, literal, place};
use crate::view::FileView;
use python::tree::{Id, kinds};

/// Arguments of the Trainer that decide something about a launch.
const ARGUMENTS: [(&str, RunRole); 3] =
    [("devices", RunRole::Devices), ("num_nodes", RunRole::Nodes), ("accumulate_grad_batches", RunRole::Accumulation)];

/// Gives the settings that a Trainer reads their roles; a number in the call is a setting that the command line does not reach.
pub(crate) fn roles(reached: &[&FileView<'_>], settings: &mut Vec<RunSetting>) {
    if let Some(at) = of_configuration(settings).map(|target| target.name.clone()) {
        let group = at.trim_end_matches("_target_");
        for (name, role) in ARGUMENTS {
            let own = |setting: &&mut RunSetting| setting.name.strip_prefix(group) == Some(name);
            let numbered =
                |setting: &&mut RunSetting| setting.value.as_deref().is_some_and(|n| n.parse::<u32>().is_ok());
            if let Some(setting) = settings.iter_mut().find(own).filter(numbered) {
                setting.role = Some(role);
            }
        }
    }
    for view in reached {
        for &call in view.calls("Trainer").iter().filter(|call| is_of_lightning(view, **call)) {
            for (name, role) in ARGUMENTS {
                if let Some(value) = keyword(view, call, name) {
                    settle(reached, view, settings, (name, role, value));
                }
            }
        }
    }
}

/// The key by which a configuration names Lightning's Trainer as the class to make: `trainer._target_`.
pub(crate) fn of_configuration(settings: &[RunSetting]) -> Option<&RunSetting> {
    settings.iter().find(|setting| {
        let class = setting.value.as_deref().unwrap_or_default();
        setting.name.ends_with("._target_")
            && class.ends_with(".Trainer")
            && python::names::canonical(class).starts_with("lightning")
    })
}

fn is_of_lightning(view: &FileView<'_>, call: Id) -> bool {
    let function = view.qualified(call);
    function.is_some_and(|name| python::names::canonical(&name).starts_with("lightning"))
}

fn settle(
    reached: &[&FileView<'_>],
    view: &FileView<'_>,
    settings: &mut Vec<RunSetting>,
    (name, role, value): (&str, RunRole, Id),
) {
    let text = view.index.text_of(value);
    // The first Trainer's number is the one that counts.
    if settings.iter().any(|setting| setting.role == Some(role) && setting.kind == SettingKind::Constant) {
        return;
    }
    let by_role = |setting: &&mut RunSetting| setting.role == Some(role);
    let told = |setting: &RunSetting| setting.kind == SettingKind::Value && last_name(&setting.name) == last_name(text);
    if let Some(at) = settings.iter().position(told) {
        settings.iter_mut().filter(by_role).for_each(|setting| setting.role = None);
        settings[at].role = Some(role);
        return;
    }
    let number = count(view, value)
        .map(|number| (number, place(view, value)))
        .or_else(|| reached.iter().find_map(|view| top_number(view, text)));
    let Some((number, place)) = number else { return };
    settings.iter_mut().filter(by_role).for_each(|setting| setting.role = None);
    settings.push(RunSetting {
        name: name.to_owned(),
        value: Some(number),
        kind: SettingKind::Constant,
        choices: Vec::new(),
        required: false,
        role: Some(role),
        place,
    });
}

/// `8`, `"8"` and `[0, 1, 2]` as a number; `-1` and `"auto"` are none.
fn count(view: &FileView<'_>, value: Id) -> Option<String> {
    if view.index.kind(value) == kinds().list {
        return Some(view.index.parts(value).count().to_string());
    }
    literal(view, value).filter(|number| number.parse::<u32>().is_ok())
}
