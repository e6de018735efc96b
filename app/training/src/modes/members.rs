//! A value for an additional compute mode: one that no member of the enum has, or another entry in an option's list of
//! choices.

use super::{Modes, is_mode, is_vendor};
use crate::view::FileView;
use python::strings::plain_string;
use python::tree::{Id, kinds};

/// A value of the same kind as the others' that none of them has: for numbers `usual` if it is unused.
pub fn free_value(values: &[&str], target: &str, usual: Option<i64>) -> String {
    let numbers: Vec<i64> = values.iter().filter_map(|v| v.parse().ok()).collect();
    if let Some(highest) = numbers.iter().max().filter(|_| numbers.len() == values.len()) {
        return usual.filter(|u| u > highest).unwrap_or(highest + 1).to_string();
    }
    let last = values.last().copied().unwrap_or("");
    match last.chars().next().filter(|c| *c == '"' || *c == '\'') {
        Some(quote) => {
            let content = last.trim_matches(quote);
            let is_upper = content == content.to_ascii_uppercase();
            let spelled = if is_upper { target.to_ascii_uppercase() } else { target.to_ascii_lowercase() };
            format!("{quote}{spelled}{quote}")
        }
        // `auto()` and other automatic values.
        None => last.to_owned(),
    }
}

impl Modes {
    /// The last entries of `choices=["cpu", "gpu"]` of options that list compute modes including a GPU, but without the
    /// target.
    pub fn choices<'v>(&'v self, view: &'v FileView<'_>) -> impl Iterator<Item = Id> + 'v {
        let k = kinds();
        let index = &view.index;
        let keywords = index.of_kind(k.keyword_argument).iter().copied();
        let choices = keywords.filter(move |a| index.keyword_name(*a) == Some("choices"));
        choices.filter_map(move |argument| {
            let list = index.value(argument).filter(|l| [k.list, k.tuple].contains(&index.kind(*l)))?;
            let values = || index.parts(list).map(|v| plain_string(index, v));
            let lists_modes = values().all(|v| v.is_some_and(|v| is_mode(v, &self.listed)));
            let wanted =
                lists_modes && values().flatten().any(is_vendor) && !values().flatten().any(|v| v == self.target);
            index.parts(list).last().filter(|_| wanted)
        })
    }
}
