//! `add-compute-mode`: a member of the enum of compute modes for the target, a value among the choices of an option.

use super::{Input, Wish};
use crate::change::Change;
use crate::facts::modes::{ModeKind, enum_members, mode_enum};
use crate::pattern::plain_string;
use crate::tree::{fields, kinds};

pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let (Some(view), Some(modes)) = (input.view, &input.project.modes) else { return Vec::new() };
    let index = &view.index;
    let (k, f) = (kinds(), fields());
    let mut wishes = Vec::new();
    if let (ModeKind::Enum(_), Some(class)) = (&modes.kind, mode_enum(view)) {
        let members = enum_members(view, class);
        let known = members.iter().any(|(n, _)| n.eq_ignore_ascii_case(&modes.target));
        if let (false, Some((last, assignment))) = (known, members.last()) {
            let values: Vec<&str> =
                members.iter().filter_map(|(_, a)| index.field(*a, f.right)).map(|v| index.text_of(v)).collect();
            let text = index.text_of(*assignment);
            let gap: String = text[last.len()..].chars().take_while(|c| *c == ' ').collect();
            let width = last.len() + gap.len();
            let member =
                format!("{:<width$}= {}", modes.target, value(&values, &modes.target, input.settings.target.number));
            if let Some(statement) = view.statement_of(*assignment) {
                wishes.push(Wish {
                    at: index.item(*assignment).start,
                    changes: vec![Change::Insert { at: statement, after: true, text: member }],
                    imports: Vec::new(),
                });
            }
        }
    }
    if modes.kind == ModeKind::Strings {
        for &argument in index.of_kind(k.keyword_argument) {
            let is_choices = index.field(argument, f.name).is_some_and(|n| index.text_of(n) == "choices");
            let Some(list) = index.field(argument, f.value).filter(|_| is_choices) else { continue };
            if index.kind(list) != k.list && index.kind(list) != k.tuple {
                continue;
            }
            let values: Vec<_> = index.parts(list).map(|v| plain_string(index.text, index.item(v).node)).collect();
            let vendor = values.iter().flatten().any(|v| *v == "gpu" || *v == "cuda");
            let modes_only = values.iter().all(|v| v.is_some_and(crate::facts::modes::is_mode));
            if !vendor || !modes_only || values.iter().flatten().any(|v| *v == modes.target) {
                continue;
            }
            if let Some(last) = index.parts(list).last() {
                let end = index.item(last).end;
                let quote = index.text_of(last).chars().next().unwrap_or('"');
                wishes.push(Wish {
                    at: end,
                    changes: vec![Change::Raw { range: end..end, text: format!(", {quote}{}{quote}", modes.target) }],
                    imports: Vec::new(),
                });
            }
        }
    }
    wishes
}

/// A value of the same kind as the others', that none of them has.
fn value(values: &[&str], target: &str, habitual: Option<i64>) -> String {
    let numbers: Vec<i64> = values.iter().filter_map(|v| v.parse().ok()).collect();
    if numbers.len() == values.len() && !numbers.is_empty() {
        let highest = numbers.iter().max().copied().unwrap_or_default();
        return habitual.filter(|h| *h > highest).unwrap_or(highest + 1).to_string();
    }
    let last = values.last().copied().unwrap_or("");
    if let Some(quote) = last.chars().next().filter(|c| *c == '"' || *c == '\'') {
        let content = last.trim_matches(quote);
        let spelled = if content == content.to_ascii_uppercase() {
            target.to_ascii_uppercase()
        } else {
            target.to_ascii_lowercase()
        };
        return format!("{quote}{spelled}{quote}");
    }
    // `auto()` and whatever else counts by itself.
    last.to_owned()
}
