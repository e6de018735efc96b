//! Names and strings that speak of the source vendor's software, where neither a recipe nor another message has anything
//! to say: each is told once in a file, so that no mention is silent.

use super::Found;
use super::keys::is_key;
use super::listed::{
    self, CHOOSING, COMMANDS, COMPARING, HARMLESS, JOINING, NEEDED, OTHER_MEANINGS, VARIABLES, WORDS, content,
    imported, is_shown, only_for_types, speaks,
};
use super::reach::Reach;
use crate::definitions::{Definitions, covers};
use crate::messages;
use crate::ported::Severity;
use crate::ranges::Ranges;
use python::PythonFile;
use python::names::{called_name, dotted};
use python::origins::Place;
use python::scopes::{Bound, Scopes};
use python::strings::plain_string;
use python::tree::{Id, Index, fields, kinds};
use sorting::SortedSet;
use std::ops::Range;
use training::{FileView, ProjectFacts};

/// The words, with what they are not.
struct Vocabulary<'d> {
    words: Vec<&'d str>,
    others: Vec<&'d str>,
}

impl<'d> Vocabulary<'d> {
    fn of(definitions: &'d Definitions) -> Self {
        let list = |name| definitions.names(name).iter().map(|listed| listed.name.as_str()).collect();
        Self { words: list(WORDS), others: list(OTHER_MEANINGS) }
    }

    fn has(&self, text: &str) -> bool {
        let mut text = text.to_ascii_lowercase();
        for other in &self.others {
            text = text.replace(other, "");
        }
        self.words.iter().any(|word| text.contains(word))
    }
}

/// Names with such words that a project gives to things of its own.
#[derive(Default)]
pub(crate) struct OwnNames {
    /// What modules and classes have.
    names: SortedSet<String>,
    /// Attributes that are set, options and entries.
    attributes: SortedSet<String>,
    /// Parameters of functions, and the functions and classes of the files that name such software.
    parameters: SortedSet<String>,
    functions: SortedSet<String>,
    /// Its modules and folders.
    modules: SortedSet<String>,
}

impl OwnNames {
    pub(crate) fn of(project: &ProjectFacts<'_, '_>, definitions: &Definitions) -> Self {
        let vocabulary = Vocabulary::of(definitions);
        let mut own = Self::default();
        for file in project.origins.files() {
            if file.words().any(|(word, _)| vocabulary.has(word)) {
                own.add_bound(file, &vocabulary);
            }
            own.add_options(&file.index, &vocabulary);
        }
        own.modules.extend(project.places.iter().filter(|name| vocabulary.has(name)).cloned());
        own
    }

    fn add_bound(&mut self, file: &PythonFile<'_>, vocabulary: &Vocabulary<'_>) {
        let (index, k) = (&file.index, kinds());
        for (name, bound, is_visible) in Scopes::of(index).bound(index) {
            let is_own = |one: &Bound| !is_imported(index, one.id);
            if is_visible && vocabulary.has(name) && bound.iter().any(is_own) {
                self.names.insert(name.to_owned());
            }
        }
        for &function in index.of_kind(k.function_definition) {
            let parameters = index.function(function).into_iter().flat_map(|function| function.parameters());
            self.parameters.extend(parameters.map(|one| one.name.to_owned()).filter(|name| vocabulary.has(name)));
        }
        let definitions = index.of_kind(k.function_definition).iter().chain(index.of_kind(k.class_definition));
        let names = definitions.filter_map(|definition| index.field(*definition, fields().name));
        self.functions.extend(names.map(|name| index.text_of(name).to_owned()));
        let is_attribute =
            |id: &Id| index.parent(*id).is_some_and(|of| index.kind(of) == k.attribute && index.is_stored(of));
        let names_argument = |id: &Id| index.parent(*id).is_some_and(|of| index.kind(of) == k.keyword_argument);
        for (name, ids) in file.words().filter(|(name, _)| vocabulary.has(name)) {
            let labels = ids.iter().filter(|id| index.is_label(**id));
            // `Namespace(use_cuda=True)` has it from then on.
            let makes = |id: &Id| names_argument(id) && makes_object(index, *id);
            if labels.clone().any(is_attribute) || labels.clone().any(makes) {
                self.attributes.insert(name.to_owned());
            }
        }
    }

    /// `"--no-cuda"`, `{"use_cuda": True}`.
    fn add_options(&mut self, index: &Index<'_>, vocabulary: &Vocabulary<'_>) {
        for &string in index.of_kind(kinds().string) {
            let Some(text) = plain_string(index, string).filter(|text| vocabulary.has(text)) else { continue };
            let is_name = text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
            if is_name && (text.starts_with('-') && is_argument(index, string) || makes_entry(index, string)) {
                self.attributes.insert(as_name(text));
            }
        }
    }
}

/// What was told: the parts of the text, the strings among them, and what the others say.
struct Told<'t> {
    ranges: Ranges,
    texts: SortedSet<&'t str>,
    names: SortedSet<&'t str>,
}

impl<'t> Told<'t> {
    fn of(text: &'t str, ranges: &[Range<usize>]) -> Self {
        let (quoted, names): (Vec<&str>, Vec<&str>) =
            ranges.iter().map(|range| &text[range.clone()]).partition(|told| told.starts_with(['"', '\'']));
        let texts = quoted.into_iter().map(|text| text.trim_matches(['"', '\''])).collect();
        // A remark on a call is about its callee; what is given to it is another matter.
        let told = |range: &Range<usize>| {
            let whole = &text[range.clone()];
            range.start..range.start + whole.find('(').unwrap_or(whole.len())
        };
        Self { ranges: Ranges::by(ranges.iter().map(told)), texts, names: names.into_iter().collect() }
    }
}

/// The attribute that an option becomes.
fn as_name(option: &str) -> String {
    option.trim_start_matches('-').replace('-', "_")
}

fn is_argument(index: &Index<'_>, id: Id) -> bool {
    index.parent(id).is_some_and(|of| index.kind(of) == kinds().argument_list)
}

/// Whether a keyword argument is given to a class or to `dict`.
fn makes_object(index: &Index<'_>, label: Id) -> bool {
    let call = index.ancestors(label).find(|a| index.kind(*a) == kinds().call);
    let name = call.and_then(|call| called_name(index, call)).unwrap_or_default();
    name == "dict" || name == "update" || name.starts_with(char::is_uppercase)
}

/// Whether a name is bound by an import, under the name that it has there.
fn is_imported(index: &Index<'_>, id: Id) -> bool {
    let is_alias = index.ancestors(id).any(|around| index.kind(around) == kinds().aliased_import);
    !is_alias && is_in_import(index, id)
}

fn is_in_import(index: &Index<'_>, id: Id) -> bool {
    let k = kinds();
    index.ancestors(id).any(|around| [k.import_statement, k.import_from_statement].contains(&index.kind(around)))
}

/// Whether a text is a command of the source vendor's with its options, wherever it stands: `nvidia-smi -L`.
fn is_command(text: &str, definitions: &Definitions) -> bool {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default();
    words.next().is_some_and(|option| option.starts_with('-')) && definitions.listed(COMMANDS, first).is_some()
}

/// Whether a string is the key of an entry of the program's own. A key that is put together may be one of many, and the
/// environment is not the program's.
fn is_entry(index: &Index<'_>, string: Id) -> bool {
    let is_environment = |around: Id| {
        let called = index.callee(around).and_then(|callee| index.attribute(callee)).and_then(|callee| callee.owner());
        index.value(around).or(called).is_some_and(|of| index.text_of(of).ends_with("environ"))
    };
    // `Literal["cpu", "cuda-12"]`
    let is_one_of_many = |around: Id| index.kind(around) == kinds().subscript && index.parts(around).count() > 2;
    plain_string(index, string).is_some()
        && is_key(index, string)
        && !index.ancestors(string).take(2).any(is_environment)
        && !index.parent(string).is_some_and(is_one_of_many)
}

/// Whether a string makes an entry: `{"key": …}`, `table["key"] = …`, `table.setdefault("key", …)`.
fn makes_entry(index: &Index<'_>, string: Id) -> bool {
    let Some(around) = index.parent(string).filter(|_| is_entry(index, string)) else { return false };
    let call = || index.parent(around).and_then(|call| called_name(index, call));
    index.kind(around) == kinds().pair || index.is_stored(around) || call() == Some("setdefault")
}

/// `cuda`, `cuda:0`: as a device or a key, it has messages of its own.
fn is_device(text: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    text.strip_prefix("cuda").is_some_and(|rest| rest.is_empty() || rest.strip_prefix(':').is_some_and(is_number))
}

/// The strings of a file, where literals side by side are one.
fn strings(index: &Index<'_>) -> impl Iterator<Item = Id> {
    let k = kinds();
    let is_whole = |id: &Id| index.parent(*id).is_none_or(|around| index.kind(around) != k.concatenated_string);
    index.of_kind(k.string).iter().copied().filter(is_whole).chain(index.of_kind(k.concatenated_string).iter().copied())
}

/// Whether a string is text rather than a name; what an error's message is compared with is one.
fn is_sentence(index: &Index<'_>, string: Id, definitions: &Definitions) -> bool {
    let looks_up =
        |call: Id| called_name(index, call).is_some_and(|name| definitions.listed(COMPARING, name).is_some());
    let is_compared = || {
        let mut outwards = index.ancestors(string);
        let around = outwards.find(|around| index.kind(*around) != kinds().parenthesized_expression);
        around.is_some_and(|around| index.kind(around) == kinds().comparison_operator)
            || is_argument(index, string) && around.and_then(|of| index.parent(of)).is_some_and(looks_up)
    };
    let text = fixed_part(index, string);
    let has_lines = || text.trim_end_matches("\\n").contains("\\n") || text.trim().contains('\n');
    text.trim().contains(char::is_whitespace) && (has_lines() || !is_compared())
}

/// What a string says without the values that are put into it.
fn fixed_part(index: &Index<'_>, string: Id) -> String {
    if index.kind(string) == kinds().concatenated_string {
        return index.parts(string).map(|literal| fixed_part(index, literal)).collect();
    }
    let (whole, mut text) = (index.range(string), String::new());
    let mut at = whole.start;
    // Values in values are inside of what is left out.
    for inside in index.of_kind_in(kinds().interpolation, string).iter().map(|value| index.range(*value)) {
        text += index.text.get(at..inside.start).unwrap_or_default();
        at = at.max(inside.end);
    }
    text += &index.text[at..whole.end];
    text.trim_start_matches(char::is_alphabetic).trim_matches(['"', '\'']).to_owned()
}

/// The dotted name of a module that an identifier is a part of, or the identifier.
fn whole_module<'t>(index: &Index<'t>, id: Id) -> (Id, &'t str) {
    let whole = index.parent(id).filter(|of| index.kind(*of) == kinds().dotted_name).unwrap_or(id);
    (whole, index.text_of(whole))
}

/// Whether a string is text for people, alone or as a part of one; what it is given to in between may do something else.
fn is_for_people(view: &FileView<'_>, string: Id, definitions: &Definitions) -> bool {
    let (index, k) = (&view.index, kinds());
    let puts_together =
        |call: &Id| called_name(index, *call).is_some_and(|name| definitions.listed(JOINING, name).is_some());
    let raised = |call: Id| index.parent(call).is_some_and(|of| index.kind(of) == k.raise_statement);
    let mut calls = index.ancestors(string).filter(|around| index.kind(*around) == k.call);
    let call = calls.find(|call| !puts_together(call));
    call.is_none_or(|call| raised(call) || speaks(view, call) || is_shown(view, string, definitions))
        && listed::is_for_people(view, string, definitions)
}

/// What a name is used as: a file may have a variable and a setting of one name.
fn use_of(index: &Index<'_>, id: Id) -> &'static str {
    let k = kinds();
    match index.parent(id).filter(|_| index.is_label(id)).map(|around| index.kind(around)) {
        Some(kind) if kind == k.keyword_argument => "argument",
        Some(_) => "attribute",
        None if index.kind(id) == k.identifier => "variable",
        None => "text",
    }
}

/// A text in a message.
fn shown(text: &str) -> String {
    const LONGEST: usize = 60;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = text.chars().take(LONGEST).collect();
    if cut.len() < text.len() { cut + "…" } else { text }
}

/// What a file says of the source vendor's software that is not in one of the ranges that were `told`, in the order of the
/// text.
pub(crate) fn unaccounted(
    reach: &Reach<'_>,
    project: &ProjectFacts<'_, '_>,
    own: &OwnNames,
    definitions: &Definitions,
    told: &[Range<usize>],
) -> Vec<Found> {
    let (vocabulary, view) = (Vocabulary::of(definitions), reach.view);
    let (index, k) = (&view.index, kinds());
    if !vocabulary.has(index.text) {
        return Vec::new();
    }
    let told = Told::of(index.text, told);
    let mut bound: SortedSet<&str> = SortedSet::new();
    for (name, places, _) in Scopes::of(index).bound(index) {
        // An import that is told tells what the name is.
        let is_known = |one: &Bound| !is_imported(index, one.id) || told.ranges.touch(&index.range(one.id));
        if vocabulary.has(name) && places.iter().any(is_known) {
            bound.insert(name);
        }
    }
    let of_project = |call: Id| {
        let place = project.origins.number(&view.file).map(|file| Place { file, id: call });
        called_name(index, call).is_some_and(|name| own.functions.contains(name))
            || place.is_some_and(|place| !project.origins.definitions(place).is_empty())
    };
    let mut named: Vec<(Id, &str)> = Vec::new();
    for (name, ids) in view.words().filter(|(name, _)| vocabulary.has(name)) {
        let is_name = own.names.contains(name) || own.modules.contains(name);
        let is_attribute = is_name || own.attributes.contains(name);
        let is_parameter = is_attribute || own.parameters.contains(name);
        let is_own = |id: Id| {
            let Some(parent) = index.parent(id).filter(|_| index.is_label(id)) else {
                return is_name || !is_in_import(index, id) && bound.contains(name);
            };
            if index.kind(parent) == k.keyword_argument {
                let call = index.ancestors(parent).find(|a| index.kind(*a) == k.call);
                return is_parameter && call.is_some_and(of_project) || makes_object(index, id) && is_attribute;
            }
            // Such a call has a message of its own.
            let is_call = || index.parent(parent).is_some_and(|call| index.callee(call) == Some(parent));
            is_attribute || name == "cuda" && is_call()
        };
        named.extend(ids.iter().filter(|id| !is_own(**id)).map(|id| whole_module(index, *id)));
    }
    // What a line of a list covers is told once in a file.
    let lists = [NEEDED, COMMANDS, VARIABLES, CHOOSING].into_iter().flat_map(|list| definitions.names(list));
    let names = lists.map(|listed| listed.name.as_str());
    let is_said = |name: &&str| told.texts.iter().chain(&told.names).any(|text| covers(name, text));
    let told_names: Vec<&str> = names.filter(is_said).collect();
    let is_told = |string: Id, text: &str| {
        let is_covered = || plain_string(index, string).is_some() && told_names.iter().any(|name| covers(name, text));
        told.texts.contains(text) || text.contains("://") || is_covered()
    };
    let is_attribute = |name: String| own.names.contains(&name) || own.attributes.contains(&name);
    let is_own = |text: &str| is_attribute(as_name(text)) && !is_device(text);
    for string in strings(index) {
        let fixed = fixed_part(index, string);
        // What is put together is not of the program's own names.
        let is_own = || index.of_kind_in(k.interpolation, string).is_empty() && is_own(&fixed);
        let is_other = || is_own() || is_sentence(index, string, definitions) || is_entry(index, string);
        let text = content(index, string);
        if vocabulary.has(&fixed)
            && (is_command(&fixed, definitions) || !is_other())
            && !is_device(text)
            && !is_told(string, text)
            && !is_for_people(view, string, definitions)
        {
            named.push((string, text));
        }
    }
    // What a list has, or is a part of `torch.cuda`, was told where it matters.
    let of_list = |list| definitions.names(list).iter().map(|listed| listed.name.as_str());
    let needed: Vec<&str> = of_list(NEEDED).chain(["torch.cuda"]).collect();
    let harmless: Vec<&str> = of_list(HARMLESS).collect();
    let is_listed = |name: &str| {
        let in_module =
            |module: &&str| name.strip_prefix(*module).filter(|rest| rest.is_empty() || rest.starts_with('.'));
        // What is in a module without an effect may have one: `cudnn.rnn.get_cudnn_mode`.
        let has_none = |rest: &str| !vocabulary.has(rest);
        needed.iter().any(|module| in_module(module).is_some()) || harmless.iter().filter_map(in_module).any(has_none)
    };
    // The module of `from nvidia.dali import fn` is told with what comes from it.
    let with_module = |at: Id| {
        let statement = index.ancestors(at).find(|around| index.kind(*around) == k.import_from_statement);
        let module = statement.and_then(|statement| index.field(statement, fields().module_name));
        module.into_iter().chain([at])
    };
    let imported: Vec<(Range<usize>, String)> = imported(view)
        .into_iter()
        .flat_map(|(at, name, _)| with_module(at).map(move |part| (index.range(part), name.clone())))
        .collect();
    let is_known = |id: Id| {
        let whole = index.parent(id).filter(|_| index.is_label(id)).unwrap_or(id);
        let at = index.range(id);
        let is_here = |(range, _): &&(Range<usize>, String)| range.start <= at.start && at.end <= range.end;
        // What an import binds may have another meaning elsewhere.
        !is_in_import(index, id) && view.names.meanings(index, whole).iter().any(|name| is_listed(name))
            || whole != id && is_listed(index.text_of(whole))
            || imported.iter().filter(is_here).any(|(_, name)| is_listed(name))
    };
    named.retain(|(id, _)| {
        !told.ranges.touch(&index.range(*id)) && !is_known(*id) && reach.has(*id) && !only_for_types(view, *id)
    });
    sorting::by_key(&mut named, |(id, _)| *id);
    let mut seen = SortedSet::new();
    named.retain(|(id, text)| seen.insert(format!("{} {}", use_of(index, *id), as_name(text))));
    let found = |(id, text): (Id, &str)| {
        let whole = index.parent(id).filter(|around| index.is_label(id) && dotted(index, *around).is_some());
        let range = index.range(whole.unwrap_or(id));
        let said = shown(if whole.is_some() { &index.text[range.clone()] } else { text });
        let message = match definitions.listed(HARMLESS, &said).is_some() {
            true => messages::cuda_name_harmless(said),
            false => messages::speaks_of_cuda(said),
        };
        Found { message, range, severity: Severity::Info }
    };
    named.into_iter().map(found).collect()
}
