//! What remains to be done by hand, and other information.

mod controls;
mod group;

use super::overview::Overview;
use crate::port::state::State;
use crate::port::state::todo::Group;
use crate::port::work::Session;
use crate::shared::text::{count, hash_of};
use crate::shared::view::{Prose, When, each, live};
use controls::Controls;
use group::{FIRST, Section, head};
use leptos::html::Div;
use leptos::prelude::*;

/// The number of entries added at a time: as many as a page can lay out without a pause.
const STEP: usize = 40;

/// The number of groups whose visible entries add up to this many.
fn made(groups: &[Group], reach: usize) -> &[Group] {
    let mut entries = 0;
    let end = groups.iter().position(|group| {
        entries += group.entries.len().min(FIRST);
        entries >= reach
    });
    end.map_or(groups, |end| &groups[..=end])
}

/// The panel.
#[component]
pub(super) fn Todo() -> impl IntoView {
    let session: Session = expect_context();
    let groups = session.memo_of_port(State::todo);
    let none = session
        .memo_of_port(|state| state.outcome.iter().flat_map(|o| &o.files).all(|file| file.diagnostics.is_empty()));
    let advice = session.memo_of_port(State::not_python);
    // Entries that have elements, counted by groups; more are added as the reader scrolls close to their end.
    let reach = RwSignal::new(STEP);
    let list = NodeRef::<Div>::new();
    let look = move |_| {
        let near = list
            .get_untracked()
            .is_some_and(|list| list.scroll_top() + 2 * list.client_height() > list.scroll_height());
        if near && groups.with_untracked(|groups| made(groups, reach.get_untracked()).len() < groups.len()) {
            reach.update(|reach| *reach += STEP);
        }
    };
    let heads = move || groups.with(|groups| made(groups, reach.get()).iter().map(head).collect::<Vec<_>>());
    let rest = move || groups.with(|groups| groups.len() - made(groups, reach.get()).len());
    let some = Memo::new(move |_| !none.get());
    let has_rest = Memo::new(move |_| rest() > 0);
    let no_match = Memo::new(move |_| groups.with(Vec::is_empty));
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="To do" node_ref=list on:scroll=look>
            <Overview folded=false/>
            {live(move || advice.get().map(|text| view! { <p><Prose text=text.to_owned()/></p> }))}
            <When holds=none>
                <NoMessages/>
            </When>
            <When holds=some>
                <Controls/>
                {each(heads, hash_of, move |head| view! { <Section head groups/> })}
                <When holds=has_rest>
                    <button class="button quiet small" on:click=move |_| reach.update(|reach| *reach += STEP)>
                        {live(move || format!("Show the other {}", count(rest(), "group")))}
                    </button>
                </When>
                <When holds=no_match>
                    <p class="fine">"No matching entry."</p>
                </When>
            </When>
        </div>
    }
}

#[component]
fn NoMessages() -> impl IntoView {
    let session: Session = expect_context();
    let rest = session.memo(|state| state.outcome.as_ref().is_some_and(|outcome| !outcome.residue.is_empty()));
    view! {
        <div class="state">
            <h3>"Nothing to do"</h3>
            <p>
                "There are no messages about this port."
                {live(move || rest.get().then_some(" CUDA or NVIDIA references remain; the checks list them."))}
            </p>
        </div>
    }
}
