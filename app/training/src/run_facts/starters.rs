//! Calls by which a program starts its own processes, and their arguments for a launch: the devices of a machine, the
//! machines, and the batches of a step.

use super::settings::{last_name, top_number};
use super::{JoinedBy, Place, RunRole, RunSetting, SettingKind, conditions, keyword, literal, place, positional};
use crate::view::FileView;
use python::tree::{Id, kinds};

/// A function or a class that starts processes.
pub(super) struct Starter {
    name: &'static str,
    /// The package that it is imported from.
    package: &'static str,
    /// Its parameter for the processes of a machine, and its position among positional arguments.
    count: (&'static str, usize),
    /// The default number of processes; none if it joins those that something else started.
    usual: Option<&'static str>,
    /// How the processes join.
    pub(super) by: JoinedBy,
    /// The prefix of its options on a command line that it parses itself.
    options: Option<&'static str>,
}

/// As many as there are visible devices.
const ALL: &str = "all";

const fn of_lightning(name: &'static str, options: Option<&'static str>) -> Starter {
    let by = JoinedBy::Lightning;
    Starter { name, package: "lightning", count: ("devices", usize::MAX), usual: Some(ALL), by, options }
}

const fn of_spawn(name: &'static str, package: &'static str, count: (&'static str, usize)) -> Starter {
    Starter { name, package, count, usual: Some("1"), by: JoinedBy::Spawn, options: None }
}

const STARTERS: [Starter; 10] = [
    of_lightning("Trainer", None),
    of_lightning("Fabric", None),
    of_lightning("LightningCLI", Some("--trainer.")),
    of_lightning("from_argparse_args", Some("--")),
    of_spawn("spawn", "torch.multiprocessing", ("nprocs", 2)),
    of_spawn("start_processes", "torch.multiprocessing", ("nprocs", 2)),
    Starter { usual: Some(ALL), ..of_spawn("notebook_launcher", "accelerate", ("num_processes", 2)) },
    Starter { usual: Some("2"), ..of_spawn("debug_launcher", "accelerate", ("num_processes", 2)) },
    of_spawn("launch", "detectron2", ("num_gpus_per_machine", 1)),
    Starter { usual: None, ..of_spawn("Parallel", "ignite", ("nproc_per_node", 1)) },
];

/// A call that starts processes, and its arguments for their number.
pub(super) struct Started {
    pub(super) call: Id,
    pub(super) by: JoinedBy,
    count: Option<Id>,
    starter: Option<&'static Starter>,
}

/// The calls of a file that start processes.
pub(super) fn started(view: &FileView<'_>) -> Vec<Started> {
    let mut found = Vec::new();
    for starter in &STARTERS {
        for &call in view.calls(starter.name) {
            let of_package = |name: String| python::names::canonical(&name).starts_with(starter.package);
            let (name, at) = starter.count;
            let count = keyword(view, call, name).or_else(|| positional(view, call).get(at).copied());
            if view.qualified(call).is_some_and(of_package) && (count.is_some() || starter.usual.is_some()) {
                found.push(Started { call, by: starter.by, count, starter: Some(starter) });
            }
        }
    }
    let joins = |call: &Id| keyword(view, *call, "target").is_some_and(|target| joins_others(view, target));
    for &call in view.calls("Process").iter().filter(|call| joins(call)) {
        found.push(Started { call, by: JoinedBy::Spawn, count: turns(view, call), starter: None });
    }
    found
}

/// Whether a function of the file, or one that it calls, joins a group of processes: others, for example, read data.
fn joins_others(view: &FileView<'_>, function: Id) -> bool {
    let index = &view.index;
    let named = |name: &str| {
        index.of_kind(kinds().function_definition).iter().copied().find(|definition| view.name_of(*definition) == name)
    };
    let joins = |definition: Id| !view.calls_in("init_process_group", definition).is_empty();
    let Some(own) = named(last_name(index.text_of(function)).as_str()) else { return false };
    let is_called = |call: &Id| index.is_within(*call, own);
    let callees = index.of_kind(kinds().call).iter().copied().filter(is_called).filter_map(|call| index.callee(call));
    joins(own) || callees.filter_map(|callee| named(&last_name(index.text_of(callee)))).any(joins)
}

/// The number of iterations of the loop around a call, as given to its `range`.
fn turns(view: &FileView<'_>, call: Id) -> Option<Id> {
    let index = &view.index;
    let around = index
        .ancestors(call)
        .find(|id| [kinds().for_statement, kinds().list_comprehension].contains(&index.kind(*id)))?;
    let is_head = |range: &&Id| index.is_within(**range, around) && !index.is_within(call, **range);
    let range = view.calls("range").iter().find(is_head)?;
    positional(view, *range).last().copied()
}

/// Whether the place is always reached: no `if` is around it, or around the calls of its function, and nothing returns
/// before it.
pub(super) fn is_unconditional(reached: &[&FileView<'_>], view: &FileView<'_>, id: Id) -> bool {
    if !is_plain(view, id) {
        return false;
    }
    let Some(function) = view.function_of(id) else { return true };
    let name = view.name_of(function);
    let mut calls = reached.iter().flat_map(|view| view.calls(name).iter().map(move |call| (*view, *call)));
    calls.any(|(view, call)| is_plain(view, call))
}

fn is_plain(view: &FileView<'_>, id: Id) -> bool {
    let (index, k) = (&view.index, kinds());
    let function = view.function_of(id);
    let is_choice = |around: Id| match index.kind(around) {
        kind if kind == k.if_statement => {
            index.condition(around).is_none_or(|condition| !index.text_of(condition).contains("__name__"))
        }
        kind => kind == k.conditional_expression || kind == k.match_statement,
    };
    let within = index.ancestors(id).take_while(|around| Some(*around) != function);
    let start = index.item(id).start;
    let returns = index
        .of_kind(k.return_statement)
        .iter()
        .any(|exit| view.function_of(*exit) == function && function.is_some() && index.item(*exit).start < start);
    !returns && !within.into_iter().any(is_choice)
}

/// Sets the roles of the settings that a starter reads; a number in the call is a setting that can't be set on the
/// command line.
pub(crate) fn roles(reached: &[&FileView<'_>], settings: &mut Vec<RunSetting>) {
    if let Some(target) = of_configuration(settings) {
        let group = target.name.trim_end_matches("_target_").to_owned();
        let place = target.place.clone();
        of_group(settings, &group, &place);
    }
    for view in reached {
        for started in started(view) {
            let call = started.call;
            // A program that starts processes only under a switch starts none under a launcher.
            if started.by == JoinedBy::Spawn && !conditions::words(reached, view, call, settings).is_empty() {
                continue;
            }
            let at = place(view, call);
            let lightning = started.by == JoinedBy::Lightning;
            let table = table(view, call);
            if let Some(group) = table.as_deref().and_then(|table| group_of(settings, table)).filter(|_| lightning) {
                of_group(settings, &group, &at);
            }
            let usual = started.starter.and_then(|starter| starter.usual).filter(|_| table.is_none());
            let own_options = started.starter.and_then(|starter| starter.options);
            assign_role(
                reached,
                view,
                settings,
                (started.starter.map_or("processes", |one| one.count.0), RunRole::Devices, started.count),
            );
            if lightning {
                assign_role(reached, view, settings, ("num_nodes", RunRole::Nodes, keyword(view, call, "num_nodes")));
                let batches = keyword(view, call, "accumulate_grad_batches");
                assign_role(reached, view, settings, ("accumulate_grad_batches", RunRole::Accumulation, batches));
            }
            match own_options {
                Some(begins) => {
                    add(settings, RunRole::Devices, &format!("{begins}devices"), None, &at);
                    add(settings, RunRole::Nodes, &format!("{begins}num_nodes"), None, &at);
                }
                None => {
                    if let Some(usual) = usual.filter(|_| started.count.is_none()) {
                        add(
                            settings,
                            RunRole::Devices,
                            started.starter.map_or("", |one| one.count.0),
                            Some(usual),
                            &at,
                        );
                    }
                    if lightning && table.is_none() && keyword(view, call, "num_nodes").is_none() {
                        add(settings, RunRole::Nodes, "num_nodes", Some("1"), &at);
                    }
                }
            }
        }
    }
}

/// What is unpacked into a call by `**`.
fn table(view: &FileView<'_>, call: Id) -> Option<String> {
    let unpacked = view.index.arguments(call).iter().find_map(|argument| match argument {
        python::syntax::Argument::UnpackedTable(id) => Some(id),
        _ => None,
    })?;
    Some(view.index.text_of(unpacked).trim_start_matches('*').to_owned())
}

/// The group of a configuration that a string such as `cfg.trainer` names, with its dot.
fn group_of(settings: &[RunSetting], table: &str) -> Option<String> {
    let names = table.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let mut groups = names.filter(|name| !name.is_empty()).map(|name| format!("{name}."));
    groups.next_back().filter(|group| settings.iter().any(|setting| setting.name.starts_with(group)))
}

/// The keys of a group from which Hydra's configuration creates the Trainer; missing keys can be added to it.
fn of_group(settings: &mut Vec<RunSetting>, group: &str, at: &Place) {
    for (name, role) in [
        ("devices", RunRole::Devices),
        ("num_nodes", RunRole::Nodes),
        ("accumulate_grad_batches", RunRole::Accumulation),
    ] {
        let own = settings.iter_mut().find(|setting| setting.name.strip_prefix(group) == Some(name));
        match own {
            Some(setting) if role != RunRole::Accumulation || setting.value.as_deref().is_some_and(is_number) => {
                setting.role = Some(role);
            }
            None if role != RunRole::Accumulation => {
                settings
                    .push(RunSetting { kind: SettingKind::Value, ..told(&format!("+{group}{name}"), None, role, at) });
            }
            _ => {}
        }
    }
}

fn told(name: &str, value: Option<&str>, role: RunRole, at: &Place) -> RunSetting {
    RunSetting {
        name: name.to_owned(),
        value: value.map(str::to_owned),
        kind: SettingKind::Constant,
        choices: Vec::new(),
        required: false,
        role: Some(role),
        place: at.clone(),
    }
}

/// Adds a missing setting: a key that can be set, or its default as a constant. The first call that starts processes
/// counts.
fn add(settings: &mut Vec<RunSetting>, role: RunRole, name: &str, value: Option<&str>, at: &Place) {
    if settings.iter().any(|setting| setting.role == Some(role)) {
        return;
    }
    let kind = if value.is_some() { SettingKind::Constant } else { SettingKind::Value };
    settings.push(RunSetting { kind, ..told(name, value, role, at) });
}

/// The key by which a configuration names Lightning's Trainer as the class to create: `trainer._target_`.
pub(crate) fn of_configuration(settings: &[RunSetting]) -> Option<&RunSetting> {
    settings.iter().find(|setting| {
        let class = setting.value.as_deref().unwrap_or_default();
        setting.name.ends_with("._target_")
            && [".Trainer", ".Fabric"].iter().any(|name| class.ends_with(name))
            && python::names::canonical(class).starts_with("lightning")
    })
}

/// Sets the role of the setting that an argument of a starter's call reads, or adds the number that is written there.
fn assign_role(
    reached: &[&FileView<'_>],
    view: &FileView<'_>,
    settings: &mut Vec<RunSetting>,
    (name, role, value): (&str, RunRole, Option<Id>),
) {
    let Some(value) = value.map(|value| resolved(view, value)) else { return };
    let text = view.index.text_of(value);
    // The first number counts.
    if settings.iter().any(|setting| setting.role == Some(role) && setting.kind == SettingKind::Constant) {
        return;
    }
    let by_role = |setting: &&mut RunSetting| setting.role == Some(role);
    let is_told =
        |setting: &RunSetting| setting.kind == SettingKind::Value && last_name(&setting.name) == last_name(text);
    if let Some(at) = settings.iter().position(is_told) {
        settings.iter_mut().filter(by_role).for_each(|setting| setting.role = None);
        settings[at].role = Some(role);
        return;
    }
    let all = || {
        let is_all =
            matches!(&*literal(view, value).unwrap_or_default(), "auto" | "-1") || text.contains("device_count(");
        (is_all && role == RunRole::Devices).then(|| (ALL.to_owned(), place(view, value)))
    };
    let number = count(view, value)
        .map(|number| (number, place(view, value)))
        .or_else(|| reached.iter().find_map(|view| top_number(view, text)))
        .or_else(all);
    let Some((number, place)) = number else { return };
    settings.iter_mut().filter(by_role).for_each(|setting| setting.role = None);
    settings.push(told(name, Some(&number), role, &place));
}

/// The value of a name that its function assigns once: `world_size = args.gpus`.
fn resolved(view: &FileView<'_>, value: Id) -> Id {
    let (index, k) = (&view.index, kinds());
    if index.kind(value) != k.identifier {
        return value;
    }
    let (name, function) = (index.text_of(value), view.function_of(value));
    let is_own = |assignment: &&Id| {
        let target = index.target(**assignment);
        view.function_of(**assignment) == function && target.is_some_and(|target| index.text_of(target) == name)
    };
    let mut own = index.of_kind(k.assignment).iter().filter(is_own);
    match (own.next(), own.next()) {
        (Some(one), None) => index.source(*one).unwrap_or(value),
        _ => value,
    }
}

fn is_number(text: &str) -> bool {
    text.parse::<u32>().is_ok()
}

/// `8`, `"8"` and `[0, 1, 2]` as a number; none for `-1` and `"auto"`.
fn count(view: &FileView<'_>, value: Id) -> Option<String> {
    if view.index.kind(value) == kinds().list {
        return Some(view.index.parts(value).count().to_string());
    }
    literal(view, value).filter(|number| is_number(number))
}
