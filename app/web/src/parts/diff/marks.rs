//! The rows that are not code: what a hunk is about, a refused change, a message.

use super::paper::{Ghost, HunkInfo, Note, RecipeInfo};
use crate::app::session;
use crate::parts::needs::{GuideLink, guide_address};
use leptos::prelude::*;

/// What a hunk is about, and the switch that refuses it.
pub(super) fn head(hunk: HunkInfo) -> AnyView {
    let session = session();
    let recipe = |r: RecipeInfo| {
        let address = guide_address(&r.id);
        let (class, word) = if r.is_unsafe { ("badge unsafe", "unsafe") } else { ("badge safe", "safe") };
        let known = !r.reason.is_empty();
        view! {
            <div class="why">
                <p class="title">
                    {if known { view! { <a href=address target="_blank">{r.title}</a> }.into_any() } else { view! { <span>{r.title}</span> }.into_any() }}
                    <span class=class>{word}</span>
                </p>
                {(!r.again && known).then(|| view! { <p class="reason">{r.reason}</p> })}
            </div>
        }
    };
    let titles = hunk.recipes.iter().map(|r| r.title.as_str()).collect::<Vec<_>>().join(", ");
    let edits = hunk.edits;
    let refuse = (!edits.is_empty()).then(|| {
        let label = format!("Reject: {titles}");
        view! {
            <button class="button quiet small reject" aria-label=label on:click=move |_| {
                let edits = edits.clone();
                session.change_and_port(move |state| {
                    state.reject_edits(&edits);
                    state.focus_after_port = edits.into_iter().next();
                });
            }>"Reject"</button>
        }
    });
    view! {
        <div class="head">
            <div class="whys">{hunk.recipes.into_iter().map(recipe).collect_view()}</div>
            {refuse}
        </div>
    }
    .into_any()
}

/// A refused change, and the switch that takes it back.
pub(super) fn ghost(ghost: Ghost) -> AnyView {
    let session = session();
    let label = format!("Accept: {}", ghost.title);
    let edits = ghost.edits;
    view! {
        <div class="head">
            <p class="title">"Rejected: "{ghost.title}</p>
            <button class="button quiet small accept" aria-label=label on:click=move |_| {
                let edits = edits.clone();
                session.change_and_port(move |state| {
                    state.accept_edits(&edits);
                    state.focus_after_port = edits.into_iter().next();
                });
            }>"Accept"</button>
        </div>
    }
    .into_any()
}

/// A message at its line.
pub(super) fn note(note: Note) -> AnyView {
    let class = if note.needs { "note-text needs" } else { "note-text" };
    view! {
        <p class=class><b>{note.kind}": "</b>{note.message}" "<GuideLink recipe=note.recipe /></p>
    }
    .into_any()
}
