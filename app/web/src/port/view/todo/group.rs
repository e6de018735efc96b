//! A group of what is to do, and its places.

use super::super::links::{GuideLink, Place};
use crate::port::state::todo::{Entry, Group, heading};
use crate::port::work::Session;
use crate::shared::view::Prose;
use codemod::Severity;
use leptos::prelude::*;

/// A group: what it is about once, then its places.
#[component]
pub(super) fn Section(group: Group) -> impl IntoView {
    let Group { title, recipe, severity, message, entries } = group;
    let class = match severity {
        Severity::Error => "needs error",
        Severity::Warning => "needs warning",
        _ => "needs",
    };
    let number = entries.len();
    let alone = message.is_none();
    let link = recipe.map(|recipe| view! { <GuideLink recipe title="In the guide"/> });
    let entries = entries.into_iter().map(move |entry| view! { <Line entry alone/> }).collect_view();
    view! {
        <section class=class>
            <h3>
                {title}
                " "
                <span class="count">{number}</span>
                " "
                <small>{heading(severity)}</small>
            </h3>
            {message.map(|text| view! { <p><Prose text/></p> })}
            {link}
            <ul>{entries}</ul>
        </section>
    }
}

/// One place: a tick, where it is, the line of code, and what is to be done there unless the group says it.
#[component]
fn Line(entry: Entry, alone: bool) -> impl IntoView {
    let session: Session = expect_context();
    let Entry { key, file, path, line, source, code, severity, message, ticked, .. } = entry;
    let label = format!("Done: {path}:{line}");
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
                <Place file line path/>
                " "
                <code class="line">{code}</code>
                " "
                <button class="link edit" on:click=edit>"Edit source"</button>
                {alone.then(|| view! { <p><Prose text=message/></p> })}
            </div>
        </li>
    }
}
