//! The rows above a hunk, in place of a rejected hunk, and for a message.

use crate::port::state::paper::{Ghost, HunkInfo, HunkRecipe, Note, TOGETHER};
use crate::port::view::links::{GuideLink, guide_address};
use crate::port::work::Session;
use crate::shared::text::sentence;
use crate::shared::view::Prose;
use leptos::prelude::*;

/// The recipes of a hunk, and the button that rejects it.
pub(super) fn head(hunk: HunkInfo, stale: bool) -> AnyView {
    let titles: Vec<&str> = hunk.recipes.iter().map(|recipe| recipe.title.as_str()).collect();
    let about = titles.join(", ");
    let edits = hunk.edits.clone();
    let together = (titles.len() > 1).then(|| view! { <p class="reason">{TOGETHER}</p> });
    let refuse = (!edits.is_empty() && !stale).then(|| view! { <Decide edits about refuse=true/> });
    let comments = (!hunk.comments.is_empty()).then(|| view! { <p class="reason"><Prose text=hunk.comments/></p> });
    let recipes = hunk.recipes.into_iter().map(|recipe| view! { <Recipe recipe/> }).collect_view();
    view! {
        <div class="head">
            <div class="whys">{together} {recipes} {comments}</div>
            {refuse}
        </div>
    }
    .into_any()
}

/// One of the recipes that contributed to a hunk.
#[component]
fn Recipe(recipe: HunkRecipe) -> impl IntoView {
    let HunkRecipe { id, title, reason, sdks, source, citations, is_unsafe } = recipe;
    let (class, word) =
        if is_unsafe { ("badge unsafe", "opt-in: may alter results") } else { ("badge safe", "automatic") };
    let title = match reason.is_empty() {
        true => title.into_any(),
        false => view! { <a href=guide_address(&id) target="_blank">{title}</a> }.into_any(),
    };
    // The full wording of its scope is in the list of recipes and in the guide.
    let grounds = (!sdks.is_empty()).then(|| {
        let sources = match citations.is_empty() {
            true => view! { <a href=guide_address(&id) target="_blank">{source}</a> }.into_any(),
            false => sources(citations),
        };
        view! { <p class="grounds">{format!("For SDK {sdks}. Source: ")} {sources}</p> }
    });
    let reason = (!reason.is_empty()).then(|| view! { <p class="reason"><Prose text=reason/></p> });
    view! {
        <div>
            <p class="title">
                {title}
                <span class=class>{word}</span>
            </p>
            {reason}
            {grounds}
        </div>
    }
}

fn sources(citations: Vec<(String, String)>) -> AnyView {
    let link = |(place, (words, url)): (usize, (String, String))| {
        let comma = (place > 0).then_some(", ");
        view! { {comma} <a href=url target="_blank">{words}</a> }
    };
    citations.into_iter().enumerate().map(link).collect_view().into_any()
}

/// A rejected change, and the button that accepts it again.
pub(super) fn refused(Ghost { title, edits, .. }: Ghost) -> AnyView {
    view! {
        <div class="head">
            <p class="title">"Rejected: " {title.clone()}</p>
            <Decide edits about=title refuse=false/>
        </div>
    }
    .into_any()
}

/// Rejects edits, or accepts them again.
#[component]
fn Decide(edits: Vec<String>, about: String, refuse: bool) -> impl IntoView {
    let session: Session = expect_context();
    let label = if refuse { "Reject" } else { "Accept" };
    let named = edits.join(" ");
    view! {
        <button
            class="button quiet small"
            class:reject=refuse
            class:accept=!refuse
            data-edits=named
            aria-label=format!("{label}: {about}")
            on:click=move |_| session.refuse(&edits, refuse)
        >
            {label}
        </button>
    }
}

/// A message at its line, with a link to the source, where the line can be edited.
pub(super) fn remark(note: Note) -> AnyView {
    let session: Session = expect_context();
    let Note { needs, kind, message, recipe, source: (line, column), .. } = note;
    let link = recipe.map(|(id, title)| view! { <GuideLink recipe=id title/> });
    view! {
        <p class="note-text" class:needs=needs>
            <b>{kind} ": "</b>
            <Prose text=sentence(&message)/>
            " "
            {link}
            " "
            <button class="link edit" on:click=move |_| session.go_to_source(line + 1, column + 1)>"Edit source"</button>
        </p>
    }
    .into_any()
}
