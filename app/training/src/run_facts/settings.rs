//! Names and numbers of settings.

use super::{Place, literal, place};
use crate::view::FileView;
use python::tree::{ROOT, kinds};

/// `minibatch_size` of `run.minibatch_size`, `batch_size` of `--batch-size` and of `args.batch_size`.
pub(crate) fn last_name(text: &str) -> String {
    text.trim_start_matches('-').rsplit('.').next().unwrap_or(text).replace('-', "_")
}

/// A number that is a variable of the module.
pub(crate) fn top_number(view: &FileView<'_>, name: &str) -> Option<(String, Place)> {
    let k = kinds();
    let index = &view.index;
    index.of_kind(k.assignment).iter().find_map(|assignment| {
        let left = index.target(*assignment).filter(|left| index.text_of(*left) == name)?;
        let at_top = index.parent(*assignment).and_then(|s| index.parent(s)) == Some(ROOT);
        let value = literal(view, index.source(*assignment)?).filter(|value| value.parse::<u32>().is_ok())?;
        at_top.then(|| (value, place(view, left)))
    })
}
