//! Names and strings that speak of the source vendor's software, where neither a recipe nor another message has anything
//! to say: each is told once in a file, so that no mention is silent.

use super::Found;
use super::keys::is_key;
use super::listed::{HARMLESS, NEEDED, content, imported, is_for_people, only_for_types};
use crate::definitions::Definitions;
use crate::messages;
use crate::ported::Severity;
use crate::reached::{on_another_system, only_with_cuda};
use python::PythonFile;
use python::names::{called_name, dotted};
use python::scopes::Scopes;
use python::strings::plain_string;
use python::tree::{Id, Index, kinds};
use sorting::SortedSet;
use std::ops::Range;
use training::{FileView, ProjectFacts};

/// Parts of names by which the source vendor's software is recognised.
pub(crate) const WORDS: &str = "words_of_cuda";
/// Texts with such a part that have nothing to do with devices.
pub(crate) const OTHER_MEANINGS: &str = "other_meanings_of_cuda_words";

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
    /// Of variables, parameters, functions and classes.
    variables: SortedSet<String>,
    /// Of attributes, options and entries.
    attributes: SortedSet<String>,
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
        // Its modules and folders.
        own.variables.extend(project.places.iter().filter(|name| vocabulary.has(name)).cloned());
        own
    }

    fn add_bound(&mut self, file: &PythonFile<'_>, vocabulary: &Vocabulary<'_>) {
        let (index, k) = (&file.index, kinds());
        let is_imported = |id: Id| {
            let mut around = index.ancestors(id).take_while(|a| index.kind(*a) != k.aliased_import);
            around.any(|a| [k.import_statement, k.import_from_statement].contains(&index.kind(a)))
        };
        for (name, bound, is_visible) in Scopes::of(index).bound(index) {
            if vocabulary.has(name) && bound.iter().any(|one| !is_imported(one.id)) {
                self.variables.insert(name.to_owned());
                if is_visible {
                    self.attributes.insert(name.to_owned());
                }
            }
        }
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
            if is_name && (text.starts_with('-') && is_argument(index, string) || is_key(index, string)) {
                self.attributes.insert(as_name(text));
            }
        }
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

/// Whether a string is the key of an entry of the program's own. A key that is put together may be one of many.
fn is_entry(index: &Index<'_>, string: Id) -> bool {
    plain_string(index, string).is_some() && is_key(index, string)
}

/// `cuda`, `cuda:0`: as a device or a key, it has messages of its own.
fn is_device(text: &str) -> bool {
    let number = text.strip_prefix("cuda").map(|rest| rest.strip_prefix(':').unwrap_or(rest));
    number.is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()) && !text.ends_with(':'))
}

/// Whether a string is text rather than a name; what an error's message is compared with is one.
fn is_sentence(index: &Index<'_>, string: Id) -> bool {
    let is_compared = || index.parent(string).is_some_and(|around| index.kind(around) == kinds().comparison_operator);
    fixed_part(index, string).trim().contains(char::is_whitespace) && !is_compared()
}

/// What a literal says without the values that are put into it.
fn fixed_part(index: &Index<'_>, string: Id) -> String {
    let (whole, mut text) = (index.range(string), String::new());
    let mut at = whole.start;
    // Values in values are inside of what is left out.
    for inside in index.of_kind_in(kinds().interpolation, string).iter().map(|value| index.range(*value)) {
        text += index.text.get(at..inside.start).unwrap_or_default();
        at = at.max(inside.end);
    }
    text + &index.text[at..whole.end]
}

/// The dotted name of a module that an identifier is a part of, or the identifier.
fn whole_module<'t>(index: &Index<'t>, id: Id) -> (Id, &'t str) {
    let whole = index.parent(id).filter(|of| index.kind(*of) == kinds().dotted_name).unwrap_or(id);
    (whole, index.text_of(whole))
}

/// Whether a text ends in a name: `torch.version.cuda`.
fn ends_in_name(text: &str, name: &str) -> bool {
    let before = text.strip_suffix(name);
    before.is_some_and(|before| !before.ends_with(|last: char| last.is_alphanumeric() || last == '_'))
}

/// What a file says of the source vendor's software that is not in one of the ranges that were `told`, in the order of the
/// text.
pub(crate) fn unaccounted(
    view: &FileView<'_>,
    own: &OwnNames,
    definitions: &Definitions,
    told: &[Range<usize>],
) -> Vec<Found> {
    let vocabulary = Vocabulary::of(definitions);
    let (index, k) = (&view.index, kinds());
    let mut named: Vec<(Id, &str)> = Vec::new();
    for (name, ids) in view.words().filter(|(name, _)| vocabulary.has(name)) {
        let is_of_others = |id: &Id| {
            let is_argument = index.parent(*id).is_some_and(|of| index.kind(of) == k.keyword_argument);
            let (is_label, is_attribute) = (index.is_label(*id), own.attributes.contains(name));
            let is_variable = (!is_label || is_argument) && own.variables.contains(name);
            !is_variable && !(is_label && is_attribute)
        };
        let of_others = ids.iter().filter(|id| is_of_others(id));
        // Told where it begins: the name's own import, or a use that is reported.
        if !told.iter().any(|range| ends_in_name(&index.text[range.clone()], name)) {
            named.extend(of_others.map(|id| whole_module(index, *id)));
        }
    }
    let is_own = |text: &str| own.attributes.contains(&as_name(text));
    for &string in index.of_kind(k.string) {
        let is_code = || !is_for_people(view, string, definitions) && !is_entry(index, string);
        let text = content(index, string);
        if vocabulary.has(&fixed_part(index, string))
            && !is_own(text)
            && !is_sentence(index, string)
            && !is_device(text)
            && is_code()
        {
            named.push((string, text));
        }
    }
    let overlaps = |id: Id| {
        let at = index.range(id);
        told.iter().any(|range| range.start < at.end && at.start < range.end)
    };
    // What a list has, or is a part of `torch.cuda`, was told where it matters.
    let lists = [NEEDED, HARMLESS].into_iter().flat_map(|list| definitions.names(list));
    let listed: Vec<&str> = lists.map(|listed| listed.name.as_str()).chain(["torch.cuda"]).collect();
    let is_listed = |name: &str| {
        let is_in = |list: &&str| name.strip_prefix(*list).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        listed.iter().any(|list| is_in(list))
    };
    let imported: Vec<(Range<usize>, String)> =
        imported(view).into_iter().map(|(at, name, _)| (index.range(at), name)).collect();
    let is_known = |id: Id| {
        let whole = index.parent(id).filter(|_| index.is_label(id)).unwrap_or(id);
        let at = index.range(id);
        let is_here = |(range, _): &&(Range<usize>, String)| range.start <= at.start && at.end <= range.end;
        view.names.meanings(index, whole).iter().any(|name| is_listed(name))
            || whole != id && is_listed(index.text_of(whole))
            || imported.iter().find(is_here).is_some_and(|(_, name)| is_listed(name))
    };
    named.retain(|(id, _)| {
        !overlaps(*id)
            && !is_known(*id)
            && only_with_cuda(view, *id).is_none()
            && !on_another_system(view, *id)
            && !only_for_types(view, *id)
    });
    sorting::by_key(&mut named, |(id, _)| *id);
    let mut seen: SortedSet<&str> = SortedSet::new();
    named.retain(|(_, text)| seen.insert(text));
    let found = |(id, text): (Id, &str)| {
        let whole = index.parent(id).filter(|around| index.is_label(id) && dotted(index, *around).is_some());
        let range = index.range(whole.unwrap_or(id));
        let shown = if whole.is_some() { &index.text[range.clone()] } else { text };
        Found { message: messages::speaks_of_cuda(shown), range, severity: Severity::Info }
    };
    named.into_iter().map(found).collect()
}
