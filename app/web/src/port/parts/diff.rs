//! The diff: the tools above it, what its rows show. Which rows exist at a time is the page's business.

pub mod paper;
pub mod row;

use super::only;
use crate::port::state::State;

/// The place where tools and rows go.
pub const SHELL: &str = "<div class=\"tools\" id=\"tools\" role=\"toolbar\" aria-label=\"Changes\"></div>\
    <div class=\"diff-scroll\" id=\"diff-scroll\" tabindex=\"0\" role=\"region\">\
    <table class=\"changes\" id=\"changes\"><colgroup></colgroup><thead class=\"visually-hidden\"></thead>\
    <tbody></tbody></table></div>";

/// Columns and their headings.
pub fn columns(unified: bool) -> (&'static str, &'static str) {
    match unified {
        true => (
            "<col class=\"num\"><col class=\"num\"><col>",
            "<tr aria-rowindex=\"1\"><th>Line of the original</th><th>Line of the port</th><th>Code</th></tr>",
        ),
        false => (
            "<col class=\"num\"><col><col class=\"num\"><col>",
            "<tr aria-rowindex=\"1\"><th>Line</th><th>Original</th><th>Line</th><th>Port</th></tr>",
        ),
    }
}

/// The buttons above the table.
pub fn tools(state: &State) -> String {
    let (undo, redo) = state.can_undo();
    let button = |id: &str, label: &str, more: &str| {
        format!("<button class=\"button quiet small\" id=\"{id}\" data-do=\"{id}\"{more}>{label}</button>")
    };
    let pressed = |on: bool| if on { " aria-pressed=\"true\"" } else { " aria-pressed=\"false\"" };
    [
        button("previous", "↑ Previous", " aria-keyshortcuts=\"Shift+F8\""),
        button("next", "↓ Next", " aria-keyshortcuts=\"F8\""),
        button("undo", "Undo", &format!(" title=\"Undo the last accept or reject\"{}", only(!undo, " disabled"))),
        button("redo", "Redo", only(!redo, " disabled")),
        "<span class=\"stretch\"></span>".to_owned(),
        button("whole", "Whole file", pressed(state.shows_whole())),
        button("unified", "One column", pressed(state.unified)),
        button("wide", "Hide source", pressed(state.source_hidden)),
    ]
    .concat()
}
