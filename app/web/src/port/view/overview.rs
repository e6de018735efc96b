use super::links::Place;
use crate::port::protocol::{Overview as Outline, Stop};
use crate::port::work::Session;
use crate::shared::text::count;
use crate::shared::view::Prose;
use leptos::prelude::*;

/// What a port begins with whose training step could not be ported; nothing when it could.
#[component]
pub(super) fn Overview() -> impl IntoView {
    let session: Session = expect_context();
    let outline = session.memo(|state| state.outcome.as_ref().and_then(|outcome| outcome.overview.clone()));
    move || outline.get().map(show)
}

fn show(Outline { stops, done, left }: Outline) -> impl IntoView {
    let stop = |Stop { file, path, line, message }: Stop| {
        view! {
            <li>
                <Place file line path/>
                " "
                <Prose text=message/>
            </li>
        }
    };
    let done = if done.is_empty() { "nothing yet".to_owned() } else { done.join("; ") };
    let left = left.into_iter().map(|(title, places)| match places {
        1 => title,
        _ => format!("{title} ({})", count(places, "place")),
    });
    let left = left.collect::<Vec<_>>().join("; ");
    let left = if left.is_empty() { "nothing else".to_owned() } else { left };
    view! {
        <section class="overview" aria-label="Overview" tabindex="0">
            <h3>"The training step is not ported"</h3>
            <ul>{stops.into_iter().map(stop).collect_view()}</ul>
            <dl>
                <dt>"Ported"</dt>
                <dd>{done}</dd>
                <dt>"Also left to you"</dt>
                <dd>{left}</dd>
            </dl>
        </section>
    }
}
