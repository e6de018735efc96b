//! Names that hold the answer of a test, and functions that return it: `self.on_gpu = device.type == "cuda"`.

use super::Vendors;
use python::edit::Splice;
use python::origins::Place;
use python::strings::plain_string;
use python::tree::{Id, fields, kinds};
use training::{FileView, ProjectFacts};

/// What a flag decides.
pub(super) struct Decided(Vec<Id>);

impl Decided {
    /// What the flag decides that is all of a test's answer.
    pub(super) fn by(view: &FileView<'_>, project: &ProjectFacts<'_, '_>, answer: Id) -> Option<Self> {
        let flag = flag(view, answer)?;
        let all = reads(view, project, flag).into_iter().flat_map(|read| decided(view, read));
        Some(Self(all.collect())).filter(|decided| !decided.0.is_empty())
    }

    /// Whether these edits port some of it.
    pub(super) fn is_ported(&self, view: &FileView<'_>, edits: &[Splice]) -> bool {
        self.0.iter().any(|code| edits.iter().any(|edit| view.index.range(*code).contains(&edit.range.start)))
    }

    /// Whether some of it is for the source vendor's device alone.
    pub(super) fn is_vendors(&self, vendors: &Vendors<'_>) -> bool {
        self.0.iter().any(|code| (vendors.is_alone)(*code))
    }

    /// Whether it chooses the device or moves something there.
    pub(super) fn chooses_device(&self, view: &FileView<'_>) -> bool {
        self.0.iter().any(|code| moves(view, *code))
    }
}

/// Whether code names the source vendor's device or moves something there.
pub(super) fn moves(view: &FileView<'_>, code: Id) -> bool {
    let (k, index) = (kinds(), &view.index);
    let is_device = |text: &Id| plain_string(index, *text).is_some_and(|d| d == "cuda" || d.starts_with("cuda:"));
    let mut strings = index.of_kind_in(k.string, code).iter().chain(Some(&code));
    strings.any(is_device) || !view.calls_in("cuda", code).is_empty()
}

/// The name that holds an answer, or that of the function that returns it.
fn flag(view: &FileView<'_>, answer: Id) -> Option<Id> {
    let (k, index) = (kinds(), &view.index);
    let parent = index.parent(answer)?;
    if index.kind(parent) == k.return_statement {
        return index.field(view.function_of(answer)?, fields().name);
    }
    index.assignment(parent).filter(|assignment| assignment.value() == Some(answer))?.target()
}

/// Where a flag is read: an attribute of any object, or the name where it means this one.
fn reads(view: &FileView<'_>, project: &ProjectFacts<'_, '_>, flag: Id) -> Vec<Id> {
    let (k, index) = (kinds(), &view.index);
    let name = index.text_of(flag).rsplit('.').next().unwrap_or_default();
    let is_method = |id: Id| {
        view.class_of(id).is_some_and(|_| index.parent(id).is_some_and(|f| index.kind(f) == k.function_definition))
    };
    let is_attribute = index.kind(flag) == k.attribute || is_method(flag);
    let file = project.origins.number(&view.file);
    let is_read = |id: &Id| {
        let of = index
            .parent(*id)
            .filter(|parent| index.kind(*parent) == k.attribute && index.parts(*parent).last() == Some(*id));
        let node = of.unwrap_or(*id);
        let means = || {
            let bound = file.map(|file| project.origins.visible_name(Place { file, id: *id }, name));
            bound.is_some_and(|bound| bound.iter().any(|bound| bound.id == flag))
        };
        let is_variable = || of.is_none() && !index.is_label(*id) && means();
        !index.is_stored(node) && if is_attribute { of.is_some() } else { is_variable() }
    };
    view.identifiers(name).iter().copied().filter(|id| *id != flag).filter(is_read).collect()
}

/// The code that a name's value decides where it is read: the branches of a test, with what follows one that leaves, or the
/// statement, of which only its head if it has a body.
fn decided(view: &FileView<'_>, read: Id) -> Vec<Id> {
    let (k, index) = (kinds(), &view.index);
    let asks = |clause: &Id| index.condition(*clause).is_some_and(|test| index.is_within(read, test));
    if let Some(clause) = index.ancestors(read).find(asks) {
        let leaves = |code: Id| {
            let last = index.parts(code).last().map(|last| index.kind(last));
            last.is_some_and(|last| [k.return_statement, k.raise_statement].contains(&last))
        };
        let is_left = index.consequence(clause).is_some_and(leaves);
        let block = index.parent(clause).filter(|_| is_left && index.kind(clause) == k.if_statement);
        let rest = block.into_iter().flat_map(|block| index.parts(block)).filter(|statement| *statement > clause);
        return rest.chain([clause]).collect();
    }
    let Some(statement) = view.statement_of(read) else { return Vec::new() };
    let head = index.parts(statement).find(|part| index.is_within(read, *part));
    let has_body = index.body(statement).is_some();
    head.filter(|_| has_body).or(Some(statement)).into_iter().collect()
}
