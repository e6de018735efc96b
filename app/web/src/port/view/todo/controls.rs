//! The view options of the to-do list, and its progress.

use crate::port::state::todo::Grouping;
use crate::port::work::Session;
use leptos::prelude::*;

/// Grouping, filter, and progress.
#[component]
pub(super) fn Controls() -> impl IntoView {
    let session: Session = expect_context();
    let state = session.state;
    let progress = session.memo_of_port(|state| match state.progress() {
        (0, _) => "Nothing to do".to_owned(),
        (all, done) => format!("{done} of {all} done"),
    });
    let grouping = session.memo(|state| state.todo.grouping);
    let filter = session.memo(|state| state.todo.filter.clone());
    let annotate = session.memo(|state| state.choice.switches.annotate);
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
            <label class="switch" title="One comment above each statement with something left to do. A later port removes those that are done.">
                <input
                    type="checkbox"
                    id="annotate"
                    prop:checked=annotate
                    on:change=move |event| {
                        let on = event_target_checked(&event);
                        session.change_and_port(|state| state.choose(|choice| choice.switches.annotate = on));
                    }
                />
                "Comments in the code"
            </label>
            <span class="summary" role="status">{progress}</span>
        </div>
    }
}
