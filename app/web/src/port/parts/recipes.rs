//! The recipes of this port, each with its switch.

use super::{escape, grounds_html, guide_address, only};
use crate::port::state::{State, Tally, count};

/// The list, in the order of the guides. Turning one off takes its edits out, and those that only they needed.
pub fn list(state: &State) -> String {
    let entry = |Tally { id, applied, refused, off }: Tally| {
        let numbers = match (applied, refused) {
            (0, 0) => "turned off".to_owned(),
            (n, 0) => count(n, "edit"),
            (0, m) => format!("{} turned off", count(m, "edit")),
            (n, m) => format!("{}, {m} turned off", count(n, "edit")),
        };
        let reason = match state.recipe(&id) {
            Some(recipe) => format!(
                "{}<br>{} <a class=\"guide-link\" target=\"_blank\" href=\"{}\">In the guide<span class=\"visually-hidden\">: {}</span></a>",
                escape(&recipe.reason),
                grounds_html(recipe),
                guide_address(&id),
                escape(&recipe.title)
            ),
            None => String::new(),
        };
        format!(
            "<li{}><label class=\"switch\"><input type=\"checkbox\" id=\"switch-{key}\" data-set=\"recipe\" \
             data-to=\"{key}\"{}><span>{}</span></label><span class=\"numbers\">{numbers}</span><p>{reason}</p></li>",
            only(off, " class=\"off\""),
            only(!off, " checked"),
            escape(&state.title(&id)),
            key = escape(&id),
        )
    };
    let entries: String = state.tally().into_iter().map(entry).collect();
    if entries.is_empty() {
        return "<div class=\"state\"><h3>No recipe applied</h3></div>".to_owned();
    }
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Recipes\"><ul class=\"recipes\">{entries}</ul></div>"
    )
}
