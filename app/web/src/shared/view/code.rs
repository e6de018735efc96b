//! The only place where a string becomes markup: lines of code in their colours.

use leptos::prelude::*;
use python::html_line;

/// Markup that is known to be only text in coloured spans. Only [`coloured`] creates it, with the output that the
/// engine's highlighter has escaped.
pub(crate) struct Coloured(String);

/// A line of code in its colours; `words` are marked, and it may wrap before the bytes in `breaks`.
pub(crate) fn coloured(line: &str, colours: &[u32], words: &[(u32, u32)], breaks: &[usize]) -> Coloured {
    Coloured(html_line(line, colours, words, breaks))
}

/// A line of code.
#[component]
pub(crate) fn Code(line: Coloured) -> impl IntoView {
    view! { <span inner_html=line.0></span> }
}
