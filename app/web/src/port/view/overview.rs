use super::links::Place;
use crate::port::protocol::{Overview as Outline, Stop, Unblocked, Unblocking};
use crate::port::state::State;
use crate::port::work::Session;
use crate::shared::text::{count, sentence};
use crate::shared::view::{Prose, live};
use leptos::prelude::*;

/// Shown first for a port whose training step could not be ported; otherwise empty. Above a diff it is one line that
/// expands, to leave the space to the diff.
#[component]
pub(super) fn Overview(folded: bool) -> impl IntoView {
    let session: Session = expect_context();
    let outline = session.memo(|state| state.outcome.as_ref().and_then(|outcome| outcome.overview.clone()));
    live(move || outline.get().map(|outline| show(outline, folded)))
}

fn show(Outline { stops, done, left }: Outline, folded: bool) -> impl IntoView {
    let stop = |Stop { file, path, line, original, message }: Stop| {
        view! {
            <li>
                <Place file line path original/>
                " "
                <Prose text=sentence(&message)/>
            </li>
        }
    };
    let done = if done.is_empty() { "Nothing yet".to_owned() } else { done.join("; ") };
    let left = left.into_iter().map(|(title, places)| match places {
        1 => title,
        _ => format!("{title} ({})", count(places, "place")),
    });
    let left = left.collect::<Vec<_>>().join("; ");
    let left = if left.is_empty() { "Nothing else".to_owned() } else { left };
    view! {
        <details class="overview" open=!folded>
            <summary>
                <h3>"The training step is not ported"</h3>
                <small>"Why, and what remains to be done"</small>
            </summary>
            <ul>{stops.into_iter().map(stop).collect_view()}</ul>
            <WayOut/>
            <dl>
                <dt>"Ported"</dt>
                <dd>{done}</dd>
                <dt>"Also to be done by hand"</dt>
                <dd>{left}</dd>
            </dl>
        </details>
    }
}

/// What would let the step be ported: the choice as a button, and the resulting port.
#[component]
fn WayOut() -> impl IntoView {
    let session: Session = expect_context();
    let found = session.memo(State::unblocked);
    let show = move |Unblocked { by, stops, patch }: Unblocked| {
        let then = match stops {
            0 => "the training step is ported".to_owned(),
            n => format!("{} remain", count(n, "obstacle")),
        };
        let said = match &by {
            Unblocking::Without(places) => {
                let places: Vec<String> = places.iter().map(|(path, line)| format!("{path}:{line}")).collect();
                format!("Without the code at {}, {then}.", places.join(", "))
            }
            _ => format!("With this choice {then}:"),
        };
        let button = by.label().map(|label| {
            let choose = move |_| session.change_and_port(|state| state.unblock(&by));
            view! { <button class="button small" id="unblock" on:click=choose>{label}</button> }
        });
        view! {
            <div class="way-out">
                <p>{said} " " {button}</p>
                <details>
                    <summary>"Preview of that port"</summary>
                    <Patch patch/>
                </details>
            </div>
        }
    };
    live(move || found.get().map(show))
}

/// A patch as text, with its lines marked.
#[component]
fn Patch(patch: String) -> impl IntoView {
    let line = |line: &str| {
        let class = match line.as_bytes().first() {
            Some(b'+') => "add",
            Some(b'-') => "del",
            _ => "",
        };
        view! { <span class=class>{format!("{line}\n")}</span> }
    };
    view! { <pre class="patch" tabindex="0">{patch.lines().map(line).collect_view()}</pre> }
}
