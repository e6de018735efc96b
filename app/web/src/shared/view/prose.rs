use crate::shared::text::{Piece, pieces};
use leptos::prelude::*;

/// A text in which code and addresses are marked up.
#[component]
pub(crate) fn Prose(#[prop(into)] text: String) -> impl IntoView {
    let piece = |piece| match piece {
        Piece::Words(words) => words.into_any(),
        Piece::Code(code) => view! { <code>{code}</code> }.into_any(),
        Piece::Link(address, host) => view! { <a href=address rel="external">{host}</a> }.into_any(),
    };
    pieces(&text).into_iter().map(piece).collect_view()
}
