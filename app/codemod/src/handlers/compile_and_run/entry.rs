//! Where a project with compute modes starts: the target's part of the command line is taken off before the program reads its own.

use super::super::{Input, Wish};
use super::messages::{ENTRY, RUNTIME};
use crate::definitions::Values;
use python::edit::Change;
use training::FileView;
use training::turn::starts;

/// Reads the command line in a program whose trainer has been ported: above its main block, which stays as it is for every other mode.
pub(super) fn wish(input: &Input<'_, '_>, view: &FileView<'_>) -> Option<Wish> {
    let defined = input.settings.definitions.defined_by(RUNTIME);
    let class = format!("class {}:", defined.first()?);
    let trainers = input.files.iter().filter(|(_, text)| text.contains(&class));
    let start = trainers
        .into_iter()
        .find_map(|(path, _)| starts(input.files, path).into_iter().find(|s| s.path == view.path))?;
    let index = &view.index;
    let mut at = index.item(start.main(view)?).start;
    let module = start.module.as_deref();
    let values = Values::default().flag("imported", module.is_some()).text("module", module.unwrap_or_default());
    let reads = input.block(view, ENTRY, &values)?;
    if reads.lines().last().is_some_and(|call| index.text.contains(call.trim())) {
        return None;
    }
    // Above its comments.
    while let Some(line) = index.text[..at].lines().next_back().filter(|l| l.starts_with('#')) {
        at -= line.len() + view.layout.newline.len();
    }
    let text = format!("{reads}\n\n").replace('\n', view.layout.newline);
    Some(Wish { at, changes: vec![Change::Raw { range: at..at, text }], imports: vec!["import sys".to_owned()] })
}
