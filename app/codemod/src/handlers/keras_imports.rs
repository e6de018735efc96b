//! `keras-of-tensorflow`: Keras is imported from TensorFlow, if that has all that the file imports.

use super::{Input, Wish};
use python::edit::Change;
use python::tree::{Id, kinds};
use training::FileView;

/// Modules of Keras that TensorFlow has, without `keras.`, and classes of Keras itself.
pub(super) const MODULES: &str = "keras_of_tensorflow";

/// Names that it lacks, with a module if another has them.
pub(super) const LACKS: &str = "keras_of_tensorflow_lacks";

pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let beside = input.project.imports("torch") && !input.project.trains_in_tensorflow;
    let Some(view) = input.view.filter(|_| !beside) else { return Vec::new() };
    let (k, index) = (kinds(), &view.index);
    let statements = index.of_kind(k.import_statement).iter().chain(index.of_kind(k.import_from_statement));
    let of_keras = statements.copied().filter(|id| names_in(view, *id).any(|(_, name)| rest_of(name).is_some()));
    // Classes of both packages don't work together, so a file keeps one of them.
    let changes: Option<Vec<(Id, Change)>> = of_keras.map(|id| Some((id, change(input, view, id)?))).collect();
    let newer = index.of_kind(k.attribute).iter().any(|id| {
        let module = rest_of(index.text_of(*id)).unwrap_or_default();
        input.lists(LACKS, module)
    });
    let changes = changes.filter(|_| !newer).unwrap_or_default();
    changes.into_iter().map(|(id, change)| Wish::new(view, id, vec![change])).collect()
}

/// The dotted names of an import, first the module of a `from`.
fn names_in<'v>(view: &'v FileView<'_>, id: Id) -> impl Iterator<Item = (Id, &'v str)> {
    view.index.of_kind_in(kinds().dotted_name, id).iter().map(|name| (*name, view.index.text_of(*name)))
}

/// What follows `keras.` in a name; nothing for Keras itself.
fn rest_of(name: &str) -> Option<&str> {
    match name.strip_prefix("keras")? {
        "" => Some(""),
        rest => rest.strip_prefix('.'),
    }
}

/// The import of the same from TensorFlow, if it has it.
fn change(input: &Input<'_, '_>, view: &FileView<'_>, id: Id) -> Option<Change> {
    let (k, index) = (kinds(), &view.index);
    let has = |name: &str| input.lists(MODULES, name);
    let mut names = names_in(view, id);
    let (module, text) = names.next()?;
    let rest = rest_of(text)?;
    if !rest.is_empty() && !has(rest) {
        return None;
    }
    let whole = |text: &str| Change::Expression { node: id, range: index.range(id), text: text.to_owned() };
    let from_tensorflow =
        Change::Expression { node: module, range: index.range(module), text: format!("tensorflow.{text}") };
    if index.kind(id) == k.import_from_statement {
        let lacks = |name: &str| input.lists(LACKS, name) || input.lists(LACKS, &format!("{rest}.{name}"));
        let known = |name: &str| if rest.is_empty() { has(name) } else { !lacks(name) };
        return names.all(|(_, name)| known(name)).then_some(from_tensorflow);
    }
    // Of several modules in one statement, others are not Keras.
    if names.next().is_some() {
        return None;
    }
    let renamed = !index.of_kind_in(k.aliased_import, id).is_empty();
    Some(if renamed { from_tensorflow } else { whole("from tensorflow import keras") })
}
