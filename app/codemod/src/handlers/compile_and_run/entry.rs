//! The start of a project whose trainer is in another file: the target's part of the command line is removed before the program parses its
//! own.

use super::super::{Input, Wish};
use super::messages::{ADOPTS, ENTRY, RUNTIME};
use crate::definitions::Values;
use python::edit::{Change, dedent};
use python::lines::above_comments;
use std::rc::Rc;
use training::FileView;
use training::program_start::Loaded;
use training::step::optimizers_made;

/// Parses the command line in a program whose trainer has been ported: before the program parses it, or above its main block, if that is
/// unchanged for other modes.
pub(super) fn wish(input: &Input<'_, '_>, view: &FileView<'_>) -> Option<Wish> {
    let defined = input.settings.definitions.defined_by(RUNTIME);
    let class = format!("class {}:", defined.first()?);
    let other_modes = input.project.has_compute_modes();
    let trainers = input.files.loaded_by(view.path, &class);
    let start = trainers.iter().map(Rc::as_ref).find_map(|Loaded { file, starts }| {
        let text = input.files[*file].1;
        // Of the programs that import a trainer without an optimizer, those without one of their own only evaluate.
        let adopts = input.settings.definitions.names(ADOPTS).iter().any(|n| text.contains(&format!("{}(", n.name)));
        if adopts && optimizers_made(view).is_empty() {
            return None;
        }
        // A file with a main block of its own trains by itself; importing it does something else.
        let by_itself = !other_modes && starts.iter().any(|s| s.module.is_none());
        starts.iter().find(|s| s.path == view.path && !by_itself)
    })?;
    let index = &view.index;
    let module = start.module.as_deref();
    let values = Values::default()
        .flag("other_modes", other_modes)
        .flag("imported", module.is_some())
        .text("module", module.unwrap_or_default());
    let text = input.block(view, ENTRY, &values)?;
    if text.lines().last().is_some_and(|call| index.text.contains(call.trim())) {
        return None;
    }
    if !other_modes {
        // The block is written as in the main block.
        let first = start.before_parsing(view)?;
        let text = dedent(text.trim_start(), &view.layout.indent);
        let change = Change::Insert { at: first, after: false, text };
        return module.map(|_| Wish::new(view, first, vec![change]));
    }
    let at = above_comments(index.text, index.item(start.main(view)?).start);
    let text = format!("{text}\n\n").replace('\n', view.layout.newline);
    Some(Wish { at, changes: vec![Change::Raw { range: at..at, text }], imports: vec!["import sys".to_owned()] })
}
