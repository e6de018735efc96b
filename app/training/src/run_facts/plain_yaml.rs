//! Keys of a configuration that a program reads itself: `yaml.safe_load(open("config.yaml"))`.
//!
//! They can't be set on the command line. A file counts if the code names it in one of the usual notations for paths.

use super::yaml;
use super::{Place, RunSetting, SettingKind, keyword, literal, positional, role_of};
use crate::view::FileView;
use python::tree::{Id, kinds};

/// The number of steps followed from the argument of the call to the literal.
const DEEPEST: usize = 6;

/// The keys of the files that these views load. `options` are the program's own, one of which may name a file.
pub(crate) fn settings(views: &[&FileView<'_>], options: &[RunSetting], files: &[(&str, &str)]) -> Vec<RunSetting> {
    let mut taken: Vec<&str> = Vec::new();
    let mut settings = Vec::new();
    for view in views {
        let calls = ["safe_load", "load", "full_load"].into_iter().flat_map(|name| view.calls(name));
        for &call in calls.filter(|call| loads_yaml(view, **call)) {
            let given = positional(view, call).first().copied().or_else(|| keyword(view, call, "stream"));
            let Some(name) = given.and_then(|given| file_name(view, given, options, DEEPEST)) else { continue };
            let Some((path, text)) = found(files, view.path, &name).filter(|(path, _)| !taken.contains(path)) else {
                continue;
            };
            taken.push(path);
            settings.extend(yaml::read(text).entries.into_iter().map(|entry| RunSetting {
                role: role_of(&entry.key, Some(&entry.value), SettingKind::Constant),
                value: Some(entry.value),
                kind: SettingKind::Constant,
                choices: Vec::new(),
                required: false,
                place: Place { path: path.to_owned(), line: entry.line },
                name: entry.key,
            }));
        }
    }
    settings
}

fn loads_yaml(view: &FileView<'_>, call: Id) -> bool {
    let function = view.index.callee(call);
    let name = function.and_then(|function| view.names.qualify(&view.index, function));
    name.is_some_and(|name| {
        matches!(name.as_str(), "yaml.safe_load" | "yaml.load" | "yaml.full_load" | "omegaconf.OmegaConf.load")
    })
}

/// The path that an expression evaluates to: a literal, an opened file, a part of a path, an option's default.
fn file_name(view: &FileView<'_>, id: Id, options: &[RunSetting], depth: usize) -> Option<String> {
    let k = kinds();
    let index = &view.index;
    let depth = depth.checked_sub(1)?;
    let follow = |id: Id| file_name(view, id, options, depth);
    let kind = index.kind(id);
    if kind == k.string {
        return literal(view, id).filter(|text| text.ends_with(".yaml") || text.ends_with(".yml"));
    }
    if kind == k.call {
        // `open(p)`, `os.path.join(a, p)`, `Path(p)`, and then `p.open()`, `p.read_text()`.
        let object = index.receiver(id);
        return positional(view, id).into_iter().rev().chain(object).find_map(follow);
    }
    // `(a / p)`
    if kind == k.binary_operator || kind == k.parenthesized_expression {
        return index.parts(id).last().and_then(follow);
    }
    let last = index.text_of(id).rsplit('.').next()?.to_owned();
    if kind == k.attribute {
        let named = |option: &&RunSetting| option.name.trim_start_matches('-').replace('-', "_") == last;
        let value = options.iter().find(named)?.value.clone()?;
        return Some(value).filter(|text| text.ends_with(".yaml") || text.ends_with(".yml"));
    }
    if kind != k.identifier {
        return None;
    }
    let opened = index.of_kind(k.as_pattern_target).iter().find_map(|target| {
        let value = index.parent(*target).filter(|_| index.text_of(*target) == last)?;
        index.parts(value).next()
    });
    let assigned = || {
        let to_name = |a: &&Id| index.target(**a).is_some_and(|left| index.text_of(left) == last);
        index.of_kind(k.assignment).iter().filter(to_name).find_map(|a| index.source(*a))
    };
    opened.or_else(assigned).and_then(follow)
}

/// The file of that name: relative to the project's root, where programs are usually started, or to the program's
/// folder.
fn found<'f>(files: &[(&'f str, &'f str)], program: &str, name: &str) -> Option<(&'f str, &'f str)> {
    let name = name.trim_start_matches("./");
    let folder = program.rsplit_once('/').map_or("", |(folder, _)| folder);
    let beside = format!("{folder}/{name}");
    [name, beside.trim_start_matches('/')]
        .iter()
        .find_map(|wanted| files.iter().find(|(path, _)| path == wanted))
        .copied()
}
