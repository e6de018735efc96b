//! What a port begins with whose training step could not be ported. The worker writes it.

use super::{escape, marked};
use crate::port::state::count;
use codemod::{Overview, Ported};

/// The overview as a section. A place is a button that goes there.
pub fn section(overview: &Overview<'_>, ported: &Ported) -> String {
    let stop = |(index, diagnostic): &(usize, &codemod::Diagnostic)| {
        let span = diagnostic.ported;
        format!(
            "<li><button class=\"link place\" data-do=\"go\" data-to=\"{index} {} {}\">{}:{}</button> {}</li>",
            span.line,
            span.column,
            escape(&ported.files[*index].path),
            span.line,
            marked(&diagnostic.message)
        )
    };
    let stops: String = overview.stops.iter().map(stop).collect();
    let done = match overview.done.is_empty() {
        true => "nothing".to_owned(),
        false => escape(&overview.done.join("; ")),
    };
    let left = overview.left.iter().map(|(title, places)| match places {
        1 => escape(title),
        _ => format!("{} ({})", escape(title), count(*places, "place")),
    });
    let left = match overview.left.is_empty() {
        true => "nothing else".to_owned(),
        false => left.collect::<Vec<_>>().join("; "),
    };
    format!(
        "<section class=\"overview\" aria-label=\"Overview\" tabindex=\"0\"><h3>The training step is not ported</h3>\
         <ul>{stops}</ul><dl><dt>Ported</dt><dd>{done}</dd><dt>Left for you too</dt><dd>{left}</dd></dl></section>"
    )
}
