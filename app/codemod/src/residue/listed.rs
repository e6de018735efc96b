//! What the guides list as needing the source vendor's devices: modules and names in them, variables, commands.
//!
//! Each is reported once in a file, at the place that fails first, with the number of its uses.

use super::is_own_module;
use super::reach::Reach;
use crate::condition::has_fallback;
use crate::definitions::{Definitions, Said};
use crate::messages;
use crate::ported::Severity;
use guide::ListedName;
use python::PythonFile;
use python::names::{Names, called_name};
use python::origins::{Part, Place};
use python::strings::{joined_string, plain_string};
use python::tree::{Id, Index, ROOT, fields, kinds};
use sorting::SortedMap;
use training::project::has_part;
use training::words::CALLS_FOR_PEOPLE;
use training::{FileView, ProjectFacts};

/// Modules, and names in modules, that need the source vendor's devices; what each is, and what to do.
pub(super) const NEEDED: &str = "needs_cuda";
/// Names that do nothing, or return 0, without its devices.
pub(super) const HARMLESS: &str = "harmless_without_cuda";
/// Variables that only its software reads.
pub(crate) const VARIABLES: &str = "variables_of_cuda";
/// Those of them by which a program chooses its devices.
pub(crate) const CHOOSING: &str = "variables_that_choose_cards";
/// Programs of its driver and its toolkit.
pub(crate) const COMMANDS: &str = "commands_of_cuda";
/// Names in files that run programs.
const RUNNING: &str = "runs_programs";
/// Keyword arguments that take a device.
const DEVICES: &str = "arguments_for_devices";
/// Keyword arguments that are shown to people.
const SHOWN: &str = "arguments_for_people";

/// Parts of names by which the source vendor's software is recognised.
pub(super) const WORDS: &str = "words_of_cuda";
/// Texts with such a part that have nothing to do with devices.
pub(super) const OTHER_MEANINGS: &str = "other_meanings_of_cuda_words";

/// Calls that put texts together.
pub(super) const JOINING: &str = "puts_texts_together";
/// Calls that compare a text with what they are given.
pub(super) const COMPARING: &str = "compares_texts";

/// What some code of the engine reads, so that the shared guide has to define it.
pub(crate) const LISTS: [&str; 12] = [
    NEEDED,
    HARMLESS,
    VARIABLES,
    CHOOSING,
    COMMANDS,
    RUNNING,
    DEVICES,
    SHOWN,
    WORDS,
    OTHER_MEANINGS,
    JOINING,
    COMPARING,
];

/// What to do instead on a target, where its guide knows better than the shared lists.
const REPLACED: &str = "replaced_here";
/// What works on a target all the same, and why.
const WORKS: &str = "works_here";

/// The lists that a target may have.
pub(crate) const LISTS_OF_TARGETS: [&str; 2] = [REPLACED, WORKS];

/// The entry of [`WORKS`] for a device that is given as a number.
const NUMBER: &str = "device=0";

type Finding = (Id, Severity, Said);

/// All of them in a file.
pub(super) fn listed(
    reach: &Reach<'_>,
    project: &ProjectFacts<'_, '_>,
    definitions: &Definitions,
    own_device: Option<&str>,
) -> Vec<Finding> {
    let (lists, view) = (Lists { definitions, own_device, reach }, reach.view);
    let mut found = lists.modules(view, project);
    found.extend(lists.strings(view));
    found.extend(lists.numbers(view, project));
    found.extend(lists.arguments(view));
    found
}

/// Whether what an import names is software that needs the source vendor's devices.
pub(crate) fn needs_vendor(
    view: &FileView<'_>,
    project: &ProjectFacts<'_, '_>,
    definitions: &Definitions,
    name: &str,
) -> bool {
    let head = name.split('.').next().unwrap_or(name);
    let mut ends = name.match_indices('.').map(|(dot, _)| dot).chain([name.len()]);
    let is_in = |list: &str, end: usize| definitions.listed(list, &name[..end]).is_some();
    // PyTorch is there, whatever it was built for, but not each of its classes.
    (head != "torch" || is_in(NEEDED, name.len()))
        && !ends.clone().any(|end| is_in(WORKS, end))
        && ends.any(|end| is_in(NEEDED, end))
        && !is_own_module(view, project, head)
}

/// Where a listed name is in a file.
#[derive(Default)]
struct Places {
    imports: Vec<Id>,
    uses: Vec<Id>,
    /// `from module import *`, or a module that is loaded by its name: its uses are not known.
    is_opaque: bool,
}

struct Lists<'d> {
    reach: &'d Reach<'d>,
    definitions: &'d Definitions,
    /// The target's, if it is a device of PyTorch.
    own_device: Option<&'d str>,
}

impl<'d> Lists<'d> {
    fn list(&self, name: &str) -> &'d [ListedName] {
        self.definitions.names(name)
    }

    /// What to do about an entry, on this target.
    fn remedy(&self, listed: &'d ListedName) -> &'d str {
        let own = self.definitions.listed(REPLACED, &listed.name);
        &own.unwrap_or(listed).remark
    }

    /// The message about something, or why it works here.
    fn say(&self, name: &str, severity: Severity, message: impl FnOnce() -> Said) -> (Severity, Said) {
        match self.definitions.listed(WORKS, name) {
            Some(works) => (Severity::Info, messages::works_here(name, &works.remark)),
            None => (severity, message()),
        }
    }

    fn modules(&self, view: &FileView<'_>, project: &ProjectFacts<'_, '_>) -> Vec<Finding> {
        let of = |list: &str, needed: bool| self.list(list).iter().map(move |one| (one.name.as_str(), (one, needed)));
        let entries: SortedMap<&str, (&ListedName, bool)> = of(HARMLESS, false).chain(of(NEEDED, true)).collect();
        // From the package to the most exact name.
        let covering = |name: &str| {
            let ends = name.match_indices('.').map(|(dot, _)| dot).chain([name.len()]);
            ends.filter_map(|end| Some(entries.get(&name[..end])?.0.name.as_str())).collect::<Vec<&str>>()
        };
        let mut places: SortedMap<&str, Places> = SortedMap::new();
        for (at, name, is_opaque) in imported(view) {
            if let Some(entry) = covering(&name).pop().filter(|_| !only_for_types(view, at)) {
                let place = places.entry(entry).or_default();
                place.imports.push(at);
                place.is_opaque |= is_opaque;
            }
        }
        let heads: Vec<&str> = entries.keys().map(|name| name.split('.').next().unwrap_or(name)).collect();
        let known = |binding: &str| binding.split('.').next().is_some_and(|head| heads.contains(&head));
        if view.has_word("torch") || view.names.bindings.iter().any(|binding| known(&binding.qualified)) {
            for (at, name) in used(view, project) {
                let covering = covering(&name);
                // If its package is imported, the import is what fails.
                let is_imported = |entry: &&&str| places.get(**entry).is_some_and(|place| !place.imports.is_empty());
                let imported = covering.iter().rev().find(is_imported);
                if let Some(entry) = imported.or(covering.last()) {
                    places.entry(entry).or_default().uses.push(at);
                }
            }
        }
        let of_project = |name: &str| is_own_module(view, project, name.split('.').next().unwrap_or(name));
        let mut found = Vec::new();
        for (name, places) in places.into_iter().filter(|(name, _)| !of_project(name)) {
            let (listed, is_needed) = entries[name];
            let place = if is_needed { self.needed(view, listed, &places) } else { harmless(listed, &places) };
            found.extend(place);
        }
        found
    }

    /// What a module, or something in one, needs; at the import that fails, or at the first use.
    fn needed(&self, view: &FileView<'_>, listed: &'d ListedName, places: &Places) -> Option<Finding> {
        let name = listed.name.as_str();
        // PyTorch is there, whatever it was built for.
        let is_there = name.starts_with("torch.");
        let is_reached = |at: &&Id| self.reach.has(**at);
        let imports: Vec<&Id> = places.imports.iter().filter(|at| !is_there && is_reached(at)).collect();
        if imports.is_empty() && !is_there && !places.imports.is_empty() {
            return None;
        }
        let fails = |at: &&&Id| !has_fallback(view, ***at);
        let reached = || places.uses.iter().filter(is_reached);
        let mut uses = reached().filter(|at| !imports.is_empty() || !only_asks(view, **at)).peekable();
        let remedy = self.remedy(listed);
        let first = imports.iter().find(fails).or(imports.first()).copied();
        let Some(at) = first.or_else(|| uses.peek().copied()) else {
            if let Some(at) = reached().find(|at| self.decides_for_target(view, **at)) {
                return Some((*at, Severity::Warning, messages::decides_by_cuda(name, remedy)));
            }
            let Some(asked) = reached().next().copied() else {
                // PyTorch's own, which nothing here uses.
                let unused = places.imports.iter().find(|_| places.uses.is_empty() && !name.starts_with("torch.cuda."));
                return unused.map(|at| (*at, Severity::Info, messages::cuda_import_left(name)));
            };
            let (severity, said) = self.say(name, Severity::Info, || messages::asks_about_cuda(name, remedy));
            return Some((asked, severity, said));
        };
        let count = uses.count();
        // What only the source vendor's code uses is used.
        let is_unused = count == 0 && places.uses.is_empty() && !places.is_opaque && !is_there;
        let may_fail =
            has_fallback(view, *at) || is_unused && view.is_tried(*at) || !is_there && is_asked_for(view, *at, name);
        let severity = if may_fail { Severity::Info } else { Severity::Warning };
        let (severity, said) = self.say(name, severity, || match count {
            _ if may_fail => messages::cuda_software_with_fallback(name, remedy),
            0 if is_unused => messages::cuda_software_unused(name, remedy),
            0 | 1 => messages::cuda_software(name, remedy),
            _ => messages::cuda_software_used(name, remedy, count.to_string()),
        });
        Some((*at, severity, said))
    }

    /// Whether what a question about the source vendor decides is for the target: its device is in the same statement. On
    /// the target the answer is no.
    fn decides_for_target(&self, view: &FileView<'_>, at: Id) -> bool {
        let index = &view.index;
        let is_shown = index.ancestors(at).any(|a| index.kind(a) == kinds().interpolation || speaks(view, a));
        let decided = view.statement_of(at).filter(|_| !is_shown).map_or("", |statement| index.text_of(statement));
        self.own_device.is_some_and(|own| has_part(decided, own))
    }

    /// Variables and commands, which are strings.
    fn strings(&self, view: &FileView<'_>) -> Vec<Finding> {
        let (index, k) = (&view.index, kinds());
        let mut variables: SortedMap<(bool, &str), Vec<(Id, String)>> = SortedMap::new();
        let mut named: SortedMap<&str, (Id, &str)> = SortedMap::new();
        let mut commands: SortedMap<&str, (Id, bool)> = SortedMap::new();
        let is_name = |name: &str| name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
        // `patch.dict("os.environ", …)`
        let names_environment = |string: &Id| content(index, *string).ends_with("environ");
        let has_environment =
            view.words().any(|(word, _)| is_environment(word)) || index.of_kind(k.string).iter().any(names_environment);
        let runs_programs = self.list(RUNNING).iter().any(|one| view.has_word(&one.name));
        let is_hidden = |at: Id| !self.reach.has(at);
        let mut set = |name: &str, at: Id, is_read: bool| {
            let listed = self.definitions.listed(CHOOSING, name).or_else(|| self.definitions.listed(VARIABLES, name));
            if let Some(listed) = listed.filter(|_| is_name(name)) {
                variables.entry((is_read, &listed.name)).or_default().push((at, name.to_owned()));
            }
        };
        for &string in index.of_kind(k.string) {
            if is_for_people(view, string, self.definitions) {
                continue;
            }
            let text = content(index, string);
            let holder = index.parent(string).map_or(ROOT, |holder| holder);
            let is_looked_up = [k.subscript, k.comparison_operator].contains(&index.kind(holder));
            let is_key = index.item(string).field == fields().key;
            // What the environment has are strings.
            let is_count = is_key && index.value(holder).is_some_and(|value| counts(view, value));
            // `NAME`, or `NAME=value` in a shell's text.
            let assigned = text.split([' ', ';', '\n']).filter_map(|word| Some(word.split_once('=')?.0));
            for name in assigned.chain(Some(text).filter(|_| has_environment && !is_count)) {
                set(name, string, reads(view, string));
            }
            // Where nothing speaks of the environment, it may be passed on, or be something else.
            let listed = self.definitions.listed(CHOOSING, text).or_else(|| self.definitions.listed(VARIABLES, text));
            if let Some(listed) =
                listed.filter(|_| !has_environment && !is_count && is_name(text) && !is_hidden(string))
            {
                named.entry(&listed.name).or_insert((string, text));
            }
            let is_run = |command: &Command<'_>| (runs_programs || command.has_options) && !is_key && !is_looked_up;
            for command in commands_in(text).filter(is_run) {
                let is_given = || index.ancestors(string).any(|a| index.kind(a) == k.argument_list);
                if let Some(listed) = self.definitions.listed(COMMANDS, command.name)
                    && (command.is_plain || is_given())
                {
                    let asks =
                        index.ancestors(string).nth(1).and_then(|call| called_name(index, call)) == Some("which");
                    let found = (string, asks || view.is_tried(string));
                    let first = commands.entry(&listed.name).or_insert(found);
                    if is_hidden(first.0) && !is_hidden(string) {
                        *first = found;
                    }
                }
            }
        }
        // `os.environ.update(NAME="…")`
        let of_environment = |keyword: &&Id| {
            let call = index.parent(**keyword).and_then(|given| index.parent(given));
            call.is_some_and(|call| sets_environment(view, call, FURTHEST))
        };
        for &keyword in index.of_kind(k.keyword_argument).iter().filter(of_environment) {
            set(index.keyword_name(keyword).unwrap_or_default(), keyword, false);
        }
        let said = named.into_iter().map(|(_, (at, name))| (at, Severity::Info, messages::cuda_variable_named(name)));
        let mut found: Vec<Finding> = said.collect();
        for ((is_read, entry), places) in variables {
            let chooses = self.definitions.listed(CHOOSING, entry);
            let Some(listed) = chooses.or_else(|| self.definitions.listed(VARIABLES, entry)) else {
                continue;
            };
            let severity = if is_read || chooses.is_some() { Severity::Warning } else { Severity::Info };
            let Some(at) = places.iter().map(|(at, _)| *at).min_by_key(|at| (is_hidden(*at), index.item(*at).start))
            else {
                continue;
            };
            let (names, remedy) = (list_of(places.into_iter().map(|(_, name)| name)), self.remedy(listed));
            let (severity, said) = self.say(entry, severity, || match is_read {
                true => messages::cuda_variable_read(names, remedy),
                false => messages::cuda_variable(names, remedy),
            });
            found.push((at, severity, said));
        }
        for (name, (at, is_safe)) in commands {
            let Some(listed) = self.definitions.listed(COMMANDS, name) else { continue };
            let severity = if is_safe { Severity::Info } else { Severity::Warning };
            let (severity, said) = self.say(name, severity, || messages::cuda_command(name, self.remedy(listed)));
            found.push((at, severity, said));
        }
        found
    }

    /// Arguments that make a library use software of the source vendor's: `load_in_8bit=True`.
    fn arguments(&self, view: &FileView<'_>) -> Vec<Finding> {
        let (index, k) = (&view.index, kinds());
        let literals = [k.r#true, k.r#false, k.none, k.integer, k.float, k.string];
        let is_literal = |given: Id| literals.contains(&index.kind(given));
        let mut found: Vec<Finding> = Vec::new();
        for (listed, (name, value)) in self.list(NEEDED).iter().filter_map(|one| Some((one, one.name.split_once('=')?)))
        {
            let mut arguments = index.of_kind(k.keyword_argument).iter();
            let text = value.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
            let is_given = |given: Id| match text {
                Some(text) => plain_string(index, given) == Some(text),
                // A variable may hold it.
                None => index.is_text(given, value) || !is_literal(given),
            };
            let is_it = |at: &&Id| {
                index.keyword_name(**at) == Some(name)
                    && index.value(**at).is_some_and(is_given)
                    && self.reach.has(**at)
            };
            if let Some(at) = arguments.find(is_it) {
                let said = || messages::cuda_software(&listed.name, self.remedy(listed));
                let (severity, said) = self.say(&listed.name, Severity::Warning, said);
                found.push((*at, severity, said));
            }
        }
        found
    }

    /// Numbers in place of a device: `x.to(0)`, `torch.zeros(3, device=1)`.
    fn numbers(&self, view: &FileView<'_>, project: &ProjectFacts<'_, '_>) -> Vec<Finding> {
        let (index, k) = (&view.index, kinds());
        let is_number = |value: &Id| index.kind(*value) == k.integer;
        let mut found = Vec::new();
        for &call in index.of_kind(k.call) {
            let arguments = index.arguments(call);
            let name = called_name(index, call).unwrap_or_default();
            let qualified = view.qualified(call);
            let moves = name == "to" && index.receiver(call).is_some() && qualified.is_none();
            let is_of_torch = qualified.as_deref().is_some_and(|name| name.starts_with("torch."));
            let makes = is_of_torch || name.starts_with("new_") && index.receiver(call).is_some();
            let mut named = self.list(DEVICES).iter().filter_map(|one| arguments.keyword(&one.name));
            let given = named.next().filter(|_| moves || makes);
            let first = arguments.positional().next();
            let first = first
                .filter(|_| moves || matches!(qualified.as_deref(), Some("torch.device" | "torch.set_default_device")));
            let number = given.or(first).filter(is_number);
            if let Some(number) = number.filter(|_| !is_of_other_object(project, view, call)) {
                let said = || messages::device_by_number(index.text_of(number));
                let (severity, said) = self.say(NUMBER, Severity::Warning, said);
                found.push((number, severity, said));
                // Why it works is told once.
                if severity == Severity::Info {
                    break;
                }
            }
        }
        found
    }
}

/// Whether a string is text for people: a comment, what is printed, an error's message, a description.
pub(super) fn is_for_people(view: &FileView<'_>, string: Id, definitions: &Definitions) -> bool {
    let (index, k) = (&view.index, kinds());
    let Some(parent) = index.parent(string) else { return true };
    [k.expression_statement, k.module, k.block].contains(&index.kind(parent))
        || is_shown(view, string, definitions)
        || index.ancestors(string).any(|a| index.kind(a) == k.raise_statement || speaks(view, a))
}

/// Whether a value is given under a keyword for text that people read.
pub(super) fn is_shown(view: &FileView<'_>, value: Id, definitions: &Definitions) -> bool {
    let keyword = view.index.parent(value).and_then(|parent| view.index.keyword_name(parent));
    keyword.is_some_and(|keyword| definitions.listed(SHOWN, keyword).is_some())
}

/// Names without an effect, at the first of them.
fn harmless(listed: &ListedName, places: &Places) -> Option<Finding> {
    // Those of `torch.cuda` are reported each.
    let at = places.uses.first().filter(|_| !listed.name.starts_with("torch.cuda."))?;
    Some((*at, Severity::Info, messages::cuda_name_harmless(&listed.name)))
}

/// What a file imports, by full names, and whether the uses of it are unknown.
pub(super) fn imported(view: &FileView<'_>) -> Vec<(Id, String, bool)> {
    let (index, k) = (&view.index, kinds());
    let mut out = Vec::new();
    for binding in &view.names.bindings {
        let kind = index.kind(binding.statement);
        let is_whole = kind == k.import_statement && index.kind(binding.part) == k.dotted_name;
        // `import a.b` binds `a`.
        let name = if is_whole { index.text_of(binding.part) } else { &binding.qualified };
        if kind != k.assignment {
            out.push((binding.part, name.split_whitespace().collect(), false));
        }
    }
    for &star in index.of_kind(k.wildcard_import) {
        out.extend(Names::wildcard_module(index, star).map(|module| (star, module.to_owned(), true)));
    }
    for &call in view.calls("import_module").iter().chain(view.calls("__import__")) {
        let named = index.arguments(call).positional().next().and_then(|first| plain_string(index, first));
        out.extend(named.map(|module| (call, module.to_owned(), true)));
    }
    sorting::by_key(&mut out, |(at, ..)| index.item(*at).start);
    out
}

/// Where a file uses something that it imports, with its full name: `cuda.jit`, `getattr(torch, "cuda")`.
fn used(view: &FileView<'_>, project: &ProjectFacts<'_, '_>) -> Vec<(Id, String)> {
    let (index, k) = (&view.index, kinds());
    let mut out = Vec::new();
    for &id in [k.attribute, k.identifier].iter().flat_map(|kind| index.of_kind(*kind)) {
        // The longest dotted name includes its parts.
        let is_part = index
            .parent(id)
            .is_some_and(|p| index.kind(p) == k.attribute && index.item(p).start == index.item(id).start);
        let is_bound = index.kind(id) == k.identifier && index.is_stored(id);
        let in_import =
            || index.ancestors(id).any(|a| [k.import_statement, k.import_from_statement].contains(&index.kind(a)));
        let defines = || index.item(id).field == fields().name;
        if is_part || is_bound || index.is_label(id) || defines() || in_import() {
            continue;
        }
        out.extend(full_name(view, id).map(|name| (id, name)));
    }
    out.extend(gotten(view, project));
    sorting::by_key(&mut out, |(at, _)| index.item(*at).start);
    out
}

/// The full name of an identifier or an attribute; a fragment uses `torch` without importing it, and a function may import it for
/// another.
fn full_name(view: &FileView<'_>, id: Id) -> Option<String> {
    let as_written = || {
        let name: String = view.index.text_of(id).split_whitespace().collect();
        (name == "torch" || name.starts_with("torch.")).then_some(name)
    };
    view.names.qualify(&view.index, id).or_else(as_written)
}

/// Names that are got from a module in another way than by its name: `getattr(torch, "cuda")`, `load_torch().cuda`.
pub(super) fn gotten(view: &FileView<'_>, project: &ProjectFacts<'_, '_>) -> Vec<(Id, String)> {
    let (index, k) = (&view.index, kinds());
    let by_name = |call: &Id| {
        let mut given = index.arguments(*call).positional();
        let (owner, name) = (given.next()?, plain_string(index, given.next()?)?);
        let module = full_name(view, owner).or_else(|| module_given(view, project, owner))?;
        Some((*call, format!("{module}.{name}")))
    };
    let of_value = |attribute: &Id| {
        let attribute = index.attribute(index.parent(*attribute)?)?;
        let is_value = |id: &Id| [k.call, k.subscript].contains(&index.kind(*id));
        let module = attribute.owner().filter(is_value).and_then(|owner| module_given(view, project, owner))?;
        Some((attribute.id(), format!("{module}.{}", attribute.name()?)))
    };
    let by_names = view.calls("getattr").iter().filter_map(by_name);
    by_names.chain(view.identifiers("cuda").iter().filter_map(of_value)).collect()
}

/// The module that an expression gives: what a function imports and returns, `sys.modules["torch"]`.
fn module_given(view: &FileView<'_>, project: &ProjectFacts<'_, '_>, value: Id) -> Option<String> {
    let origins = &project.origins;
    let place = Place { file: origins.number(&view.file)?, id: value };
    origins.origins(place).into_iter().find_map(|origin| {
        let file = origins.files()[origin.place.file];
        let first = file.names.qualify(&file.index, origin.place.id)?;
        origin.parts().iter().rev().try_fold(first, |of, part| match part {
            Part::Attribute(name) => Some(format!("{of}.{name}")),
            Part::Item(name) => Some((*name).to_owned()).filter(|_| of == "sys.modules"),
            Part::Any => None,
        })
    })
}

/// Names in backticks, each once, and at most four.
fn list_of(names: impl Iterator<Item = String>) -> String {
    let mut all: Vec<String> = Vec::new();
    for name in names.map(|name| format!("`{name}`")) {
        if !all.contains(&name) {
            all.push(name);
        }
        if all.len() > 4 {
            break;
        }
    }
    if all.len() > 4 {
        all.truncate(4);
        all.push("…".to_owned());
    }
    all.join(", ")
}

/// Whether only a type checker reads an import.
pub(super) fn only_for_types(view: &FileView<'_>, at: Id) -> bool {
    let index = &view.index;
    index.ancestors(at).any(|a| {
        let runs = index.consequence(a).is_some_and(|body| index.is_within(at, body));
        let test = index.condition(a).map_or("", |test| index.text_of(test));
        runs && test.rsplit('.').next() == Some("TYPE_CHECKING")
    })
}

/// Whether a value is only shown, or tested for being there.
fn only_asks(view: &FileView<'_>, at: Id) -> bool {
    let (index, k) = (&view.index, kinds());
    let Some(parent) = index.parent(at) else { return false };
    let kind = index.kind(parent);
    let is_none = |part: Id| index.kind(part) == k.none;
    kind == k.interpolation
        || kind == k.not_operator
        || kind == k.boolean_operator
        || kind == k.pair
        || kind == k.comparison_operator && index.parts(parent).any(is_none)
        || index.condition(parent) == Some(at)
        || kind == k.conditional_expression && index.parts(parent).nth(1) == Some(at)
        || kind == k.argument_list && index.parent(parent).is_some_and(|call| speaks(view, call))
}

pub(super) fn speaks(view: &FileView<'_>, call: Id) -> bool {
    called_name(&view.index, call).is_some_and(|name| CALLS_FOR_PEOPLE.contains(&name))
}

/// Whether text has to do with the variables of the environment: `os.environ`, `getenv`, `env=…`.
fn is_environment(text: &str) -> bool {
    text.to_ascii_lowercase().contains("env")
}

/// Assignments over which a value is followed.
const FURTHEST: usize = 4;

/// Whether a key or an argument is one for an environment: `env`, `env_vars`.
fn names_environment(name: &str) -> bool {
    ["env", "environ", "environment"].iter().any(|part| has_part(name, part))
}

/// Whether the keyword arguments of a call become variables of the environment.
fn sets_environment(view: &FileView<'_>, call: Id, further: usize) -> bool {
    let index = &view.index;
    match (called_name(index, call), index.receiver(call)) {
        (Some("dict"), None) => becomes_environment(view, call, further),
        (Some("update"), Some(of)) => is_of_environment(view, of) || becomes_environment(view, of, further),
        _ => false,
    }
}

/// Whether an expression is the environment, or a copy of it.
fn is_of_environment(view: &FileView<'_>, value: Id) -> bool {
    let index = &view.index;
    let says = |value: Id| index.mentions(value, |word| word == "environ");
    says(value) || index.assignments_to(index.text_of(value)).filter_map(|a| a.value()).any(says)
}

/// Whether what an expression gives becomes the environment of this program, or of one that it starts.
fn becomes_environment(view: &FileView<'_>, value: Id, further: usize) -> bool {
    let (index, k) = (&view.index, kinds());
    let Some(parent) = index.parent(value) else { return false };
    let kind = index.kind(parent);
    if kind == k.keyword_argument {
        return index.keyword_name(parent).is_some_and(names_environment) || becomes_environment(view, parent, further);
    }
    if kind == k.argument_list {
        return index.parent(parent).is_some_and(|call| sets_environment(view, call, further));
    }
    if kind == k.pair {
        let key = index.text_of(parent).split(':').next().unwrap_or_default().trim_matches([' ', '"', '\'']);
        return names_environment(key) || becomes_environment(view, parent, further);
    }
    if let Some(assignment) = index.assignment(parent).filter(|a| a.value() == Some(value)) {
        let name = assignment.target().filter(|target| index.kind(*target) == k.identifier);
        let uses = name.map_or(&[][..], |name| view.identifiers(index.text_of(name)));
        return further > 0 && uses.iter().any(|id| Some(*id) != name && becomes_environment(view, *id, further - 1));
    }
    let is_whole = [k.block, k.module, k.expression_statement, k.subscript, k.attribute, k.call].contains(&kind);
    !is_whole && becomes_environment(view, parent, further)
}

/// Whether a value is no text: a number, a list.
fn counts(view: &FileView<'_>, value: Id) -> bool {
    let k = kinds();
    [k.integer, k.float, k.list, k.tuple, k.dictionary, k.set].contains(&view.index.kind(value))
}

/// Whether a call is of a function of the project that has nothing to do with devices: it moves nothing itself.
fn is_of_other_object(project: &ProjectFacts<'_, '_>, view: &FileView<'_>, call: Id) -> bool {
    let origins = &project.origins;
    let Some(file) = origins.number(&view.file) else { return false };
    let definitions = origins.definitions(Place { file, id: call });
    let moves = |definition: &Place| {
        let file = origins.files()[definition.file];
        let inside = |id: &Id| file.index.is_within(*id, definition.id);
        file.words().any(|(word, ids)| {
            (matches!(word, "to" | "cuda" | "super") || has_part(word, "device"))
                && ids.iter().any(|id| inside(id) && index_of_name(file, definition.id) != Some(*id))
        })
    };
    !definitions.is_empty() && !definitions.iter().any(moves)
}

fn index_of_name(file: &PythonFile<'_>, definition: Id) -> Option<Id> {
    file.index.field(definition, fields().name)
}

/// Whether an import runs only if the program has asked for the package: `if find_spec("cupy"):`.
fn is_asked_for(view: &FileView<'_>, at: Id, name: &str) -> bool {
    let (index, k) = (&view.index, kinds());
    let package = name.split('.').next().unwrap_or(name);
    let is_package = |string: &Id| {
        let is_given = index.parent(*string).is_some_and(|given| index.kind(given) == k.argument_list);
        is_given && content(index, *string).split('.').next() == Some(package)
    };
    let asks = |value: Id| index.of_kind_in(k.string, value).iter().any(is_package);
    let is_answer = |id: &Id| index.assignments_to(index.text_of(*id)).filter_map(|a| a.value()).any(asks);
    index.ancestors(at).any(|a| {
        let runs = index.consequence(a).is_some_and(|body| index.is_within(at, body));
        let test = index.condition(a).filter(|_| runs);
        test.is_some_and(|test| asks(test) || index.of_kind_in(k.identifier, test).iter().any(is_answer))
    })
}

/// The text of a string literal, with what is inserted in it as it is written.
pub(super) fn content<'t>(index: &Index<'t>, string: Id) -> &'t str {
    let text = index.text_of(string);
    joined_string(index, string).map_or_else(
        || text.trim_start_matches(char::is_alphabetic).trim_matches(['"', '\'']),
        |_| plain_string(index, string).unwrap_or(text),
    )
}

/// Whether a string is a key by which something is read that has to be there: `os.environ["NAME"]`.
fn reads(view: &FileView<'_>, string: Id) -> bool {
    let index = &view.index;
    let subscript = index.parent(string).filter(|parent| index.kind(*parent) == kinds().subscript);
    let is_environment =
        |subscript: Id| index.value(subscript).is_some_and(|of| index.text_of(of).ends_with("environ"));
    subscript.is_some_and(|of| is_environment(of) && !index.is_stored(of) && !view.is_tried(of))
}

/// A program that a shell's text begins, perhaps behind others.
struct Command<'t> {
    name: &'t str,
    /// What follows can't be the rest of a sentence.
    is_plain: bool,
    has_options: bool,
}

fn commands_in(text: &str) -> impl Iterator<Item = Command<'_>> {
    text.split(['|', ';', '&', '\n', '`', '(']).filter_map(|part| {
        let mut words = part.split_whitespace().skip_while(|word| word.contains('=') || *word == "sudo");
        let first = words.next()?;
        let next = words.next();
        let is_plain = next.is_none_or(|next| next.starts_with(['-', '>', '{']));
        let has_options = next.is_some_and(|next| next.starts_with('-') && next.len() > 1);
        Some(Command { name: first.rsplit('/').next().unwrap_or(first), is_plain, has_options })
    })
}
