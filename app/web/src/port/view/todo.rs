//! What is left for a person, and what is worth knowing.

use super::links::{GuideLink, Place};
use super::overview::Overview;
use crate::port::state::State;
use crate::port::state::todo::{Entry, Group, Grouping, heading};
use crate::port::work::Session;
use crate::shared::text::count;
use crate::shared::view::Prose;
use codemod::Severity;
use leptos::prelude::*;

/// The panel.
#[component]
pub(super) fn Todo() -> impl IntoView {
    let session: Session = expect_context();
    let groups = session.memo(State::todo);
    let none =
        session.memo(|state| state.outcome.iter().flat_map(|o| &o.files).all(|file| file.diagnostics.is_empty()));
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="To do">
            <Overview/>
            <Show when=move || !none.get() fallback=|| view! { <NoMessages/> }>
                <Controls/>
                <For each=move || groups.get() key=|group| format!("{group:?}") let(group)>
                    <Section group/>
                </For>
                <Show when=move || groups.with(Vec::is_empty)>
                    <p class="fine">"No entry fits."</p>
                </Show>
            </Show>
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
                "The engine has no message about this port."
                {move || rest.get().then_some(" CUDA or NVIDIA references remain; the checks list them.")}
            </p>
        </div>
    }
}

/// How the list is looked at, and how far it is.
#[component]
fn Controls() -> impl IntoView {
    let session: Session = expect_context();
    let state = session.state;
    let progress = session.memo(|state| {
        let (all, done) = state.progress();
        format!("{done} of {} done", count(all, "entry").replace("entrys", "entries"))
    });
    let grouping = session.memo(|state| state.todo.grouping);
    let filter = session.memo(|state| state.todo.filter.clone());
    let open_only = session.memo(|state| state.todo.open_only);
    view! {
        <div class="todo-controls">
            <label class="field">
                <span>"Group by"</span>
                <select
                    id="todo-grouping"
                    on:change=move |event| {
                        let by_file = event_target_value(&event) == "file";
                        state.update(|state| {
                            state.todo.grouping = if by_file { Grouping::File } else { Grouping::Recipe };
                        });
                    }
                >
                    <option value="recipe" prop:selected=move || grouping.get() == Grouping::Recipe>"Task"</option>
                    <option value="file" prop:selected=move || grouping.get() == Grouping::File>"File"</option>
                </select>
            </label>
            <label class="field">
                <span>"Filter"</span>
                <input
                    type="search"
                    id="todo-filter"
                    prop:value=filter
                    on:input=move |event| {
                        let text = event_target_value(&event);
                        state.update(|state| state.todo.filter = text);
                    }
                />
            </label>
            <label class="switch">
                <input
                    type="checkbox"
                    id="todo-open"
                    prop:checked=open_only
                    on:change=move |event| {
                        let on = event_target_checked(&event);
                        state.update(|state| state.todo.open_only = on);
                    }
                />
                "Hide done"
            </label>
            <span class="summary" role="status">{progress}</span>
        </div>
    }
}

/// A group: what it is about once, then its places.
#[component]
fn Section(group: Group) -> impl IntoView {
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
