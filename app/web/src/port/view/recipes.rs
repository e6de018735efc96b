//! The recipes of this port, each with its switch.

use super::links::{Cited, guide_address};
use crate::port::state::paper::{citations, grounds};
use crate::port::state::{State, Tally};
use crate::port::work::Session;
use crate::shared::text::{count, hash_of};
use crate::shared::view::{Prose, When, each, live};
use leptos::prelude::*;

/// The list, in the order of the guides. Turning a recipe off removes its edits, and edits that only those required.
#[component]
pub(super) fn Recipes() -> impl IntoView {
    let session: Session = expect_context();
    let tally = session.memo_of_port(State::tally);
    let none = Memo::new(move |_| tally.with(Vec::is_empty));
    let some = Memo::new(move |_| !none.get());
    let ids = move || tally.with(|tally| tally.iter().map(|entry| entry.id.clone()).collect::<Vec<_>>());
    view! {
        <When holds=none>
            <div class="state">
                <h3>"No recipe applied"</h3>
            </div>
        </When>
        <When holds=some>
            <div class="scroll" tabindex="0" role="region" aria-label="Recipes">
                <ul class="recipes">
                    {each(ids, hash_of, move |id| view! { <Entry id tally/> })}
                </ul>
            </div>
        </When>
    }
}

#[component]
fn Entry(id: String, tally: Memo<Vec<Tally>>) -> impl IntoView {
    let session: Session = expect_context();
    let entry = {
        let id = id.clone();
        Memo::new(move |_| tally.with(|tally| tally.iter().find(|entry| entry.id == id).cloned().unwrap_or_default()))
    };
    let off = Memo::new(move |_| entry.with(|entry| entry.off));
    let title = session.state.with_untracked(|state| state.title(&id));
    let about =
        session.state.with_untracked(|state| state.recipe(&id).map(|r| (r.reason.clone(), grounds(r), citations(r))));
    let numbers = move || {
        entry.with(|entry| match (entry.applied, entry.refused) {
            _ if entry.off => "turned off".to_owned(),
            (n, 0) => format!("in {}", count(n, "change")),
            (0, m) => format!("{} rejected", count(m, "change")),
            (n, m) => format!("in {}, {m} rejected", count(n, "change")),
        })
    };
    let address = guide_address(&id);
    let reason = {
        let title = title.clone();
        about.map(|(reason, grounds, citations)| {
            view! {
                <p>
                    <Prose text=reason/>
                    <br/>
                    <Cited text=grounds citations/>
                    " "
                    <a class="guide-link" target="_blank" href=address>
                        "In the guide"
                        <span class="visually-hidden">": " {title}</span>
                    </a>
                </p>
            }
        })
    };
    let switch = {
        let id = id.clone();
        move |event| {
            let on = event_target_checked(&event);
            session.change_and_port(|state| state.switch_recipe(&id, on));
        }
    };
    view! {
        <li class:off=off>
            <label class="switch">
                <input type="checkbox" id=format!("switch-{id}") prop:checked=move || !off.get() on:change=switch/>
                <span>{title}</span>
            </label>
            <span class="numbers">{live(numbers)}</span>
            {reason}
        </li>
    }
}
