use crate::port::work::Session;
use leptos::prelude::*;

/// The address of a recipe's section, seen from the page.
pub(super) fn guide_address(recipe: &str) -> String {
    let (guide, section) = recipe.split_once('#').unwrap_or((recipe, ""));
    format!("../guides/{guide}/#{section}")
}

/// A link to the guide's section about a recipe.
#[component]
pub(super) fn GuideLink(#[prop(into)] recipe: String, #[prop(into)] title: String) -> impl IntoView {
    view! {
        <a class="guide-link" href=guide_address(&recipe) target="_blank">{title}</a>
    }
}

/// A place of the port as a button that goes there: number of the file, line and column from 1. `original`: the line of the
/// source that it is called by.
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

/// What a recipe is drawn from: a text in which what is cited is a link.
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
