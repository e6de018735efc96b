//! A group of entries to do, and their locations.

use super::super::links::{GuideLink, Place};
use crate::port::state::State;
use crate::port::state::todo::{Entry, Group, heading};
use crate::port::work::Session;
use crate::shared::text::{hash_of, sentence};
use crate::shared::view::{Prose, each, live};
use codemod::Severity;
use leptos::prelude::*;

/// The number of a group's entries shown at first, and added at a time.
pub(super) const FIRST: usize = 12;
const MORE: usize = 50;

/// The identity of a group: its elements stay as long as there is a group with this name.
pub(super) fn head(group: &Group) -> (Severity, String) {
    (group.severity, group.title.clone())
}

/// A group: its explanation once, then its locations.
#[component]
pub(super) fn Section(head: (Severity, String), groups: Memo<Vec<Group>>) -> impl IntoView {
    let session: Session = expect_context();
    let group = Memo::new(move |_| {
        let is_it = |group: &&Group| (group.severity, &group.title) == (head.0, &head.1);
        groups.with(|groups| groups.iter().find(is_it).cloned())
    });
    let of = move || group.get_untracked();
    let Some(Group { title, recipe, severity, .. }) = of() else { return ().into_any() };
    let class = match severity {
        Severity::Error => "needs error",
        Severity::Warning => "needs warning",
        _ => "needs",
    };
    let number = move || group.with(|group| group.as_ref().map_or(0, |group| group.entries.len()));
    let message = Memo::new(move |_| group.with(|group| group.as_ref().and_then(|group| group.message.clone())));
    let link = recipe.map(|recipe| view! { <GuideLink recipe title="In the guide"/> });
    let shown = RwSignal::new(FIRST);
    // The next port's messages may be in the same group and at the same places, but on other lines.
    let port = session.memo_of_port(State::port_key);
    let entries = move || {
        port.track();
        let alone = message.with(Option::is_none);
        let shown = group.with(|group| {
            let entries = group.iter().flat_map(|group| &group.entries).take(shown.get());
            session.state.with_untracked(|state| entries.filter_map(|at| state.entry(*at)).collect::<Vec<_>>())
        });
        shown.into_iter().enumerate().map(|(place, entry)| (place, alone, entry)).collect::<Vec<_>>()
    };
    let more = move || {
        let left = number().saturating_sub(shown.get());
        (left > 0).then(|| {
            let label = format!("Show {} more of {left}", left.min(MORE));
            view! {
                <button class="button quiet small" on:click=move |_| shown.update(|shown| *shown += MORE)>{label}</button>
            }
        })
    };
    view! {
        <section class=class>
            <h3>
                {title}
                " "
                <span class="count">{live(number)}</span>
                " "
                <small>{heading(severity)}</small>
            </h3>
            {live(move || message.get().map(|text| view! { <p><Prose text=sentence(&text)/></p> }))}
            {link}
            <ul>
                {each(entries, hash_of, |(_, alone, entry)| view! { <Line entry alone/> })}
            </ul>
            {live(more)}
        </section>
    }
    .into_any()
}

/// One location: a check box, the location, the line of code, and what to do there unless the group says it.
#[component]
fn Line(entry: Entry, alone: bool) -> impl IntoView {
    let session: Session = expect_context();
    let Entry { key, file, path, line, source, code, severity, message, .. } = entry;
    let ticked = session.memo_of_port(move |state| state.ticked.contains(&key));
    let label = format!("Done: {path}:{}", source.0);
    let tick = (severity <= Severity::Warning).then(|| {
        view! {
            <input
                type="checkbox"
                aria-label=label
                prop:checked=ticked
                on:change=move |event| {
                    let on = event_target_checked(&event);
                    session.state.update(|state| state.tick(key, on));
                }
            />
        }
    });
    let edit = move |_| {
        session.select(file);
        session.go_to_source(source.0, source.1);
    };
    view! {
        <li class:ticked=ticked>
            {tick}
            <div>
                <Place file line path original=source.0/>
                " "
                <code class="line">{code}</code>
                " "
                <button class="link edit" on:click=edit>"Edit source"</button>
                {alone.then(|| view! { <p><Prose text=sentence(&message)/></p> })}
            </div>
        </li>
    }
}
