use crate::port::work::Session;
use leptos::prelude::*;

/// The address of a recipe's section, relative to the page; none for the user's own guides.
pub(super) fn guide_address(recipe: &str) -> Option<String> {
    let session: Session = expect_context();
    let is_own = session.state.with_untracked(|state| state.is_own(recipe));
    let (guide, section) = recipe.split_once('#').unwrap_or((recipe, ""));
    (!is_own).then(|| format!("../guides/{guide}/#{section}"))
}

/// A link to the guide's section about a recipe; only its text for one of the user's own guides.
#[component]
pub(super) fn GuideLink(#[prop(into)] recipe: String, #[prop(into)] title: String) -> impl IntoView {
    view! {
        <a class="guide-link" href=guide_address(&recipe) target="_blank">{title}</a>
    }
}

/// A button that goes to a location in the port: the file's number, and line and column counted from 1. `original` is
/// the line of the source that the button shows.
#[component]
pub(super) fn Place(
    file: usize,
    line: usize,
    #[prop(default = 1)] column: usize,
    path: String,
    original: usize,
) -> impl IntoView {
    let session: Session = expect_context();
    let label = format!("{path}:{}", original);
    view! {
        <button class="link place" on:click=move |_| session.go(file, line, column)>{label}</button>
    }
}

/// The sources of a recipe: a text in which citations are links.
#[component]
pub(super) fn Cited(text: String, citations: Vec<(String, String)>) -> impl IntoView {
    let mut rest = text.as_str();
    let mut pieces = Vec::new();
    for (words, url) in citations {
        let Some((before, after)) = rest.split_once(words.as_str()) else { continue };
        pieces.push(before.to_owned().into_any());
        pieces.push(view! { <a href=url target="_blank">{words.clone()}</a> }.into_any());
        rest = after;
    }
    pieces.push(rest.to_owned().into_any());
    pieces
}
