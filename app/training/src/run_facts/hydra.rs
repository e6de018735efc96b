//! Keys of a Hydra configuration: dataclasses in its store, and YAML files.

use super::yaml::{self, Default, Yaml};
use super::{Place, RunSetting, SettingKind, keyword, literal, place, positional, role_of};
use crate::modes::enum_members;
use crate::view::FileView;
use python::tree::{Id, kinds};
use sorting::SortedMap;

/// The depth to which nested classes are followed; a configuration that contains itself has no end.
const DEEPEST: usize = 5;

struct Config<'a, 't> {
    views: &'a [&'a FileView<'t>],
    /// Class name to its view and node.
    classes: SortedMap<&'t str, (&'a FileView<'t>, Id)>,
    stored: Vec<Stored>,
    files: Vec<File<'a>>,
    /// Group to its selected name, and where it is selected.
    groups: Vec<(String, String, Place)>,
    settings: Vec<RunSetting>,
}

/// A YAML file.
struct File<'a> {
    path: &'a str,
    yaml: Yaml,
}

/// `cs.store(group=…, name=…, node=…)`.
struct Stored {
    group: String,
    name: String,
    class: String,
}

/// A dataclass's field.
struct Field<'a, 't> {
    view: &'a FileView<'t>,
    name: &'t str,
    annotation: &'t str,
    default: Option<Id>,
    assignment: Id,
}

/// The keys of a program under `@hydra.main(…)`; `main` is that call.
pub(crate) fn settings(views: &[&FileView<'_>], main: Id, files: &[(&str, &str)]) -> Vec<RunSetting> {
    let program = views[0];
    let argument = |name: &str, at: usize| {
        let given = keyword(program, main, name).or_else(|| positional(program, main).get(at).copied());
        given.and_then(|id| literal(program, id))
    };
    let folder = joined(program.path.rsplit_once('/').map_or("", |(folder, _)| folder), argument("config_path", 0));
    let name = argument("config_name", 1).unwrap_or_else(|| "config".to_owned());
    let mut config = Config {
        views,
        classes: SortedMap::new(),
        stored: Vec::new(),
        files: files.iter().map(|(path, text)| File { path, yaml: yaml::read(text) }).collect(),
        groups: Vec::new(),
        settings: Vec::new(),
    };
    config.read_python();
    config.read_root(&folder, without_ending(&name), 0);
    config.read_groups(&folder);
    let own = config.file(&folder, without_ending(&name));
    if let Some(at) = own {
        config.read_entries(at, "");
    }
    config.settings
}

impl<'a, 't> Config<'a, 't> {
    fn read_python(&mut self) {
        for view in self.views {
            for &class in view.index.of_kind(kinds().class_definition) {
                self.classes.entry(view.name_of(class)).or_insert((view, class));
            }
            for &call in view.calls("store") {
                let given = positional(view, call);
                let argument = |name: &str, at: usize| keyword(view, call, name).or_else(|| given.get(at).copied());
                let text = |name: &str, at: usize| argument(name, at).and_then(|id| literal(view, id));
                let (Some(name), Some(node)) = (text("name", 0), argument("node", 1)) else { continue };
                let class = view.index.text_of(node).split('(').next().unwrap_or_default();
                let class = class.rsplit('.').next().unwrap_or_default().to_owned();
                self.stored.push(Stored { group: text("group", 2).unwrap_or_default(), name, class });
            }
        }
    }

    fn file(&self, folder: &str, name: &str) -> Option<usize> {
        let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
        self.files.iter().position(|file| without_ending(file.path) == path)
    }

    /// The configuration of that name: a file, or a class in the store. Its defaults are read first.
    fn read_root(&mut self, folder: &str, name: &str, depth: usize) {
        if depth > DEEPEST {
            return;
        }
        let class = self.stored.iter().find(|s| s.group.is_empty() && s.name == name).map(|s| s.class.clone());
        if let Some(at) = self.file(folder, name) {
            for Default { group, name, line } in self.files[at].yaml.defaults.clone() {
                if group.is_empty() && name != "_self_" {
                    self.read_root(folder, &name, depth + 1);
                } else if !group.is_empty() {
                    self.choose(&group, &name, Place { path: self.files[at].path.to_owned(), line });
                }
            }
        } else if let Some(class) = class {
            self.read_class_root(&class);
        }
    }

    fn choose(&mut self, group: &str, name: &str, place: Place) {
        if group.starts_with("hydra/") || group.starts_with("/hydra") {
            return;
        }
        self.groups.retain(|(known, ..)| known != group);
        self.groups.push((group.to_owned(), name.to_owned(), place));
    }

    fn read_class_root(&mut self, class: &str) {
        for field in self.fields_of(class, 0) {
            if field.name == "defaults" {
                self.read_defaults(&field);
            } else if self.stored.iter().all(|stored| stored.group != field.name) {
                self.read_field("", &field, 0);
            }
        }
    }

    /// `field(default_factory=lambda: defaults)`: a list in place, or a list that is a variable of the module.
    fn read_defaults(&mut self, field: &Field<'a, 't>) {
        let k = kinds();
        let index = &field.view.index;
        let Some(default) = field.default else { return };
        let list = index.of_kind_in(k.list, default).first().copied().or_else(|| {
            let names = index.of_kind_in(k.identifier, default);
            index.of_kind(k.assignment).iter().find_map(|assignment| {
                let left = index.target(*assignment)?;
                let right = index.source(*assignment).filter(|right| index.kind(*right) == k.list)?;
                names.iter().any(|name| index.text_of(*name) == index.text_of(left)).then_some(right)
            })
        });
        let Some(list) = list else { return };
        for &pair in index.of_kind_in(k.pair, list) {
            let parts: Vec<Option<String>> = index.parts(pair).map(|part| literal(field.view, part)).collect();
            if let [Some(group), Some(name)] = parts.as_slice() {
                let group = group.trim_start_matches("override ").trim();
                self.choose(group, name, place(field.view, pair));
            }
        }
    }

    fn read_groups(&mut self, folder: &str) {
        for (group, chosen, place) in self.groups.clone() {
            let mut choices: Vec<String> =
                self.stored.iter().filter(|stored| stored.group == group).map(|stored| stored.name.clone()).collect();
            let below = joined(folder, Some(group.clone()));
            let inside =
                self.files.iter().filter_map(|file| without_ending(file.path).strip_prefix(&below)?.strip_prefix('/'));
            choices.extend(inside.filter(|name| !name.contains('/')).map(str::to_owned));
            choices.dedup();
            let setting = RunSetting {
                name: group.clone(),
                required: chosen == "???",
                value: Some(chosen.clone()).filter(|chosen| chosen != "???"),
                kind: SettingKind::Value,
                choices,
                role: None,
                place,
            };
            self.settings.push(setting);
            let prefix = group.replace('/', ".");
            let class = self.stored.iter().find(|s| s.group == group && s.name == chosen).map(|s| s.class.clone());
            if let Some(class) = class {
                self.read_class(&prefix, &class, 0);
            }
            if let Some(at) = self.file(&below, without_ending(&chosen)) {
                let prefix = if self.files[at].yaml.is_global { String::new() } else { prefix };
                self.read_entries(at, &prefix);
            }
        }
    }

    fn read_class(&mut self, prefix: &str, class: &str, depth: usize) {
        for field in self.fields_of(class, 0) {
            self.read_field(prefix, &field, depth);
        }
    }

    fn read_field(&mut self, prefix: &str, field: &Field<'a, 't>, depth: usize) {
        let name = if prefix.is_empty() { field.name.to_owned() } else { format!("{prefix}.{}", field.name) };
        let class = field.annotation.trim_start_matches("Optional[").trim_end_matches(']');
        let members = self.members_of(class);
        if members.is_empty() && self.classes.contains_key(class) {
            if depth < DEEPEST {
                self.read_class(&name, class, depth + 1);
            }
            return;
        }
        let text = field.default.map_or("", |default| field.view.index.text_of(default));
        let last = text.rsplit('.').next().unwrap_or(text);
        let value = match field.default {
            Some(_) if members.iter().any(|member| member == last) => Some(last.to_owned()),
            Some(default) => literal(field.view, default).or_else(|| {
                let inner = keyword(field.view, default, "default")?;
                literal(field.view, inner)
            }),
            None => None,
        };
        self.put(RunSetting {
            required: last == "MISSING" || text == "\"???\"",
            value: value.filter(|value| value != "???"),
            choices: members,
            kind: SettingKind::Value,
            role: None,
            place: place(field.view, field.assignment),
            name,
        });
    }

    /// Adds a key, or changes an existing one.
    fn put(&mut self, mut setting: RunSetting) {
        if let Some(known) = self.settings.iter_mut().find(|known| known.name == setting.name) {
            known.value = setting.value;
            known.required = setting.required;
            known.place = setting.place;
            return;
        }
        setting.role = role_of(&setting.name, setting.value.as_deref(), setting.kind);
        self.settings.push(setting);
    }

    fn read_entries(&mut self, at: usize, prefix: &str) {
        for entry in self.files[at].yaml.entries.clone() {
            let name = if prefix.is_empty() { entry.key } else { format!("{prefix}.{}", entry.key) };
            self.put(RunSetting {
                required: entry.value == "???",
                value: Some(spelled(&entry.value)).filter(|value| value != "???"),
                kind: SettingKind::Value,
                choices: Vec::new(),
                role: None,
                place: Place { path: self.files[at].path.to_owned(), line: entry.line },
                name,
            });
        }
    }

    /// Members of an enum of the project.
    fn members_of(&self, class: &str) -> Vec<String> {
        let Some((view, node)) = self.classes.get(class) else { return Vec::new() };
        let is_enum =
            view.index.class(*node).is_some_and(|c| c.bases().ids().any(|b| view.index.text_of(b).contains("Enum")));
        if !is_enum {
            return Vec::new();
        }
        enum_members(view, *node).into_iter().map(|(name, _)| name.to_owned()).collect()
    }

    /// Fields of a class and its bases, those of the bases first.
    fn fields_of(&self, class: &str, depth: usize) -> Vec<Field<'a, 't>> {
        let k = kinds();
        let Some(&(view, node)) = self.classes.get(class).filter(|_| depth < DEEPEST) else { return Vec::new() };
        let index = &view.index;
        let mut out: Vec<Field<'a, 't>> = Vec::new();
        for base in index.class(node).into_iter().flat_map(|class| class.bases().ids()) {
            let name = index.text_of(base);
            out.extend(self.fields_of(name.rsplit('.').next().unwrap_or(name), depth + 1));
        }
        let Some(body) = index.body(node) else { return out };
        for statement in index.parts(body).filter(|s| index.kind(*s) == k.expression_statement) {
            let Some(assignment) = index.parts(statement).next().filter(|a| index.kind(*a) == k.assignment) else {
                continue;
            };
            let annotated = index.assignment(assignment).and_then(|a| a.target().zip(a.annotation()));
            let Some((left, annotation)) = annotated else { continue };
            let field = Field {
                view,
                name: index.text_of(left),
                annotation: index.text_of(annotation),
                default: index.source(assignment),
                assignment,
            };
            match out.iter_mut().find(|known| known.name == field.name) {
                Some(known) => *known = field,
                None => out.push(field),
            }
        }
        out
    }
}

/// YAML's spellings of booleans, as Python and Hydra's command line write them.
fn spelled(value: &str) -> String {
    match value {
        "true" => "True".to_owned(),
        "false" => "False".to_owned(),
        _ => value.to_owned(),
    }
}

fn without_ending(path: &str) -> &str {
    path.strip_suffix(".yaml").or_else(|| path.strip_suffix(".yml")).unwrap_or(path)
}

/// A folder relative to another, with `..` resolved.
fn joined(folder: &str, below: Option<String>) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    let below = below.unwrap_or_default();
    for part in below.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}
