//! The script: its name, actions, lines, and the reasons for them.

use super::Command;
use super::about::About;
use super::missing::Missing;
use crate::launch::colours::coloured;
use crate::launch::state::State;
use crate::launch::work::Session;
use crate::shared::view::Prose;
use leptos::prelude::*;

/// The pane beside the form.
#[component]
pub(super) fn Script() -> impl IntoView {
    let session: Session = expect_context();
    let result = session.result;
    let name = move || result.with(|result| result.as_ref().map_or_else(|_| "Script".to_owned(), |w| w.file.clone()));
    let lacking = move || result.with(Result::is_err);
    let said = move || match session.state.with(|state| state.said.clone()) {
        said if said.is_empty() => result.with(State::summary),
        said => said,
    };
    view! {
        <div class="launch-bar">
            <h2 id="script-name" tabindex="-1">{name}</h2>
            <p class="take">
                <button class="button quiet small" type="button" prop:disabled=lacking on:click=move |_| session.copy_script()>
                    "Copy script"
                </button>
                <button class="button quiet small" type="button" on:click=move |_| session.copy_link()>"Copy link"</button>
                <button class="button quiet small" type="button" on:click=move |_| session.download_all()>
                    "All scripts (.zip)"
                </button>
                <button class="button small" type="button" prop:disabled=lacking on:click=move |_| session.download_script()>
                    "Download script"
                </button>
            </p>
        </div>
        <p class="said" id="script-said" role="status">{said}</p>
        <Missing/>
        <Warnings/>
        <pre id="script" tabindex="0" aria-labelledby="script-name" hidden=lacking>
            <Coloured/>
        </pre>
        <Command/>
        <About/>
    }
}

/// What users must know before they start the script.
#[component]
fn Warnings() -> impl IntoView {
    let session: Session = expect_context();
    let warnings = move || {
        session
            .result
            .with(|result| result.as_ref().map_or_else(|_| Vec::new(), |written| written.plan.warnings.clone()))
    };
    let line = |text: String| view! { <p><Prose text/></p> };
    let show = move |all: Vec<String>| {
        (!all.is_empty()).then(|| view! { <div class="state bad">{all.into_iter().map(line).collect_view()}</div> })
    };
    view! { <div id="warnings">{move || show(warnings())}</div> }
}

/// The script's text with its colours.
#[component]
fn Coloured() -> impl IntoView {
    let session: Session = expect_context();
    let piece = |(colour, text): (Option<&'static str>, &str)| match colour {
        Some(class) => view! { <span class=class>{text.to_owned()}</span> }.into_any(),
        None => text.to_owned().into_any(),
    };
    move || {
        session.result.with(|result| {
            let script = result.as_ref().map_or("", |written| written.script.as_str());
            coloured(script).into_iter().map(piece).collect_view()
        })
    }
}
