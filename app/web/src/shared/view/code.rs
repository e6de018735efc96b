//! The one place where a string becomes markup: lines of code in their colours.

use leptos::prelude::*;
use python::html_line;

/// Markup that is known to be no more than text in coloured spans. Only [`coloured`] makes it, out of what the engine's
/// highlighter has escaped.
pub(crate) struct Coloured(String);

/// A line of code in its colours; `words` are marked, and before the bytes of `breaks` it may go on in another row.
pub(crate) fn coloured(line: &str, colours: &[u32], words: &[(u32, u32)], breaks: &[usize]) -> Coloured {
    Coloured(html_line(line, colours, words, breaks))
}

/// A line of code.
#[component]
pub(crate) fn Code(line: Coloured) -> impl IntoView {
    view! { <span inner_html=line.0></span> }
}
