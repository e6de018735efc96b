use crate::check::state::Threads;
use crate::check::work::Session;
use crate::shared::browser::window;
use crate::shared::text::count;
use leptos::prelude::*;

/// The number of threads for a run, and why it may be one.
#[component]
pub(super) fn Machine() -> impl IntoView {
    let session: Session = expect_context();
    let threads = Memo::new(move |_| session.state.with(|state| state.threads.clone()));
    let option = move |number: usize| {
        let chosen = move || threads.with(|threads| threads.chosen == number);
        view! { <option value=number.to_string() prop:selected=chosen>{number}</option> }
    };
    let choose = move |event| {
        let chosen = event_target_value(&event).parse().unwrap_or(1);
        session.state.update(|state| state.threads.chosen = chosen);
    };
    let offered = move || threads.with(|threads| (1..=threads.offered).collect::<Vec<_>>());
    view! {
        <fieldset>
            <legend>"This machine"</legend>
            <div class="field">
                <label for="threads">"Threads"</label>
                <select
                    id="threads"
                    aria-describedby="why-threads"
                    prop:disabled=move || threads.with(|threads| threads.offered == 1)
                    on:change=choose
                >
                    <For each=offered key=|number| *number let(number)>
                        {option(number)}
                    </For>
                </select>
                <p class="hint" id="why-threads">{move || why(threads.get())}</p>
            </div>
        </fieldset>
    }
}

fn why(threads: Threads) -> AnyView {
    let Threads { most, offered, after_reload, .. } = threads;
    if offered == most {
        return format!(
            "This machine can run {} at once. The number of threads does not affect the results.",
            count(most, "thread")
        )
        .into_any();
    }
    if !after_reload {
        return "Only one: workers can share memory only on cross-origin isolated pages, and this page is not isolated.".into_any();
    }
    view! {
        "Only one on the first visit. "
        <button type="button" class="button quiet small" on:click=|_| drop(window().location().reload())>
            "Reload the page"
        </button>
        {format!(" to use up to {most}. The form is kept, but files must be chosen again.")}
    }
    .into_any()
}
