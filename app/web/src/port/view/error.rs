//! What an error message means: the field for a log, and the answers.

use super::links::{GuideLink, Place};
use crate::port::state::State;
use crate::port::work::Session;
use crate::shared::text::sentence;
use crate::shared::view::{Prose, live};
use codemod::{Candidate, Changed, Explanation, Frame, Message, Operation, Side};
use leptos::html::Textarea;
use leptos::prelude::*;
use std::sync::Arc;

/// The panel.
#[component]
pub(super) fn ErrorMessage() -> impl IntoView {
    let session: Session = expect_context();
    let field = NodeRef::<Textarea>::new();
    let found = session.memo(|state| state.explanation.clone());
    let asked = session.memo(|state| !state.log.trim().is_empty());
    // The lines are those of the last port.
    let port = session.memo(|state| state.ports);
    Effect::new(move |_| {
        port.track();
        session.explain();
    });
    let clear = move |_| {
        session.type_log(String::new());
        if let Some(field) = field.get_untracked() {
            field.set_value("");
            let _ = field.focus();
        }
    };
    let answer = move || {
        match found.get() {
        Some(found) => view! { <Answer found/> }.into_any(),
        None if asked.get() => view! { <p class="fine">"Looking it up …"</p> }.into_any(),
        None => view! {
            <p class="fine">
                "The answer names the cause, what to do, and the section of the guide. Your own lines in the traceback are shown with those of the port."
            </p>
        }
        .into_any(),
    }
    };
    let log = session.state.with_untracked(|state| state.log.clone());
    view! {
        <div class="scroll explain" tabindex="0" role="region" aria-label="Error message">
            <div class="log">
                <label for="error-log">"Paste a traceback, or the end of a log. It stays in this browser."</label>
                <textarea
                    id="error-log"
                    rows="8"
                    spellcheck="false"
                    autocapitalize="off"
                    autocomplete="off"
                    node_ref=field
                    prop:value=log
                    on:input=move |event| session.type_log(event_target_value(&event))
                ></textarea>
                <button class="button quiet small" id="clear-log" disabled=move || !asked.get() on:click=clear>"Clear"</button>
            </div>
            <div id="error-found" aria-live="polite">{live(answer)}</div>
        </div>
    }
}

#[component]
fn Answer(found: Arc<Explanation>) -> impl IntoView {
    let Explanation { candidates, frames } = (*found).clone();
    let unknown = candidates.is_empty().then(|| {
        view! {
            <section class="answer">
                <h3>"Not known here"</h3>
                <p>
                    "No section of the guides answers a line of this log. If it has an earlier error, paste that part, too: the first exception is usually the cause."
                </p>
            </section>
        }
    });
    // The most likely answer, the lines to look at, then the other answers.
    let mut sections = candidates.into_iter().map(|candidate| view! { <Section candidate/> });
    let first = sections.next();
    let others = sections.collect_view();
    let frames = (!frames.is_empty()).then(|| {
        let frames = frames.into_iter().map(|frame| view! { <Line frame/> }).collect_view();
        view! {
            <section class="answer">
                <h3>"Your lines in the traceback"</h3>
                <ul>{frames}</ul>
            </section>
        }
    });
    view! {
        {unknown}
        {first}
        {frames}
        {others}
    }
}

/// A section of a guide that answers the log.
#[component]
fn Section(candidate: Candidate) -> impl IntoView {
    let session: Session = expect_context();
    // The source is in the guide.
    let Candidate { section, title, cause, remedy, target, line, text, operation, .. } = candidate;
    // The section of another target is an answer only if the chosen one has none.
    let of = target.and_then(|target| {
        session.state.with_untracked(|state| {
            let other = state.catalogue.targets.iter().find(|other| other.id == target)?;
            (other.id != state.choice.target).then(|| other.name.clone())
        })
    });
    let operation = operation.map(|Operation { name, listed }| match listed {
        Some(entry) => format!("`{name}` is `{entry}`, in the guide’s list of what the target lacks."),
        None => format!("`{name}` is not listed as missing on the target."),
    });
    let remedy = (!remedy.is_empty()).then(|| view! { <p><b>"What to do: "</b><Prose text=sentence(&remedy)/></p> });
    view! {
        <section class="answer">
            <h3>{title} {of.map(|name| view! { " " <small>{name}</small> })}</h3>
            <p class="from"><span>"Line " {line}</span> " " <code>{text}</code></p>
            <p><Prose text=sentence(&cause)/></p>
            {operation.map(|text| view! { <p><Prose text/></p> })}
            {remedy}
            <GuideLink recipe=section title="In the guide"/>
        </section>
    }
}

/// A line of the project, and what the port did there.
#[component]
fn Line(frame: Frame) -> impl IntoView {
    let session: Session = expect_context();
    let Frame { path, line, code, side, ported, original, recipes, messages, cells: _ } = frame;
    let file = session.state.with_untracked(|state: &State| state.files.iter().position(|file| file.path == path));
    let place = match (file, ported, original) {
        (Some(file), Some(ported), Some(original)) => view! { <Place file line=ported path original/> }.into_any(),
        _ => view! { <span class="place">{format!("{path}:{line}")}</span> }.into_any(),
    };
    let what = match side {
        Side::Ported => "the port’s line",
        Side::Original => "the original’s line",
        Side::Neither => "neither in the original nor in the port: the file that ran differs",
    };
    let recipe = |Changed { recipe, title, rejected }: Changed| {
        let what = if rejected { "Rejected: " } else { "Ported: " };
        view! { <p>{what} <GuideLink recipe title/></p> }
    };
    let message = |Message { recipe, message, .. }: Message| {
        view! { <p><Prose text=sentence(&message)/> " " <GuideLink recipe title="In the guide"/></p> }
    };
    view! {
        <li>
            {place} " " <code class="line">{code}</code> " " <small>{what}</small>
            {recipes.into_iter().map(recipe).collect_view()}
            {messages.into_iter().map(message).collect_view()}
        </li>
    }
}
