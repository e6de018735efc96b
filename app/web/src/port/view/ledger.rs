use super::links::Place;
use crate::port::state::State;
use crate::port::work::Session;
use leptos::prelude::*;
use training::{Figure, Ledger, LedgerEntry};

/// What an optimizer step sees and means, before and after.
#[component]
pub(super) fn BatchSummary(ledger: Ledger) -> impl IntoView {
    if ledger.entries.is_empty() {
        return view! {
            <section class="ledger">
                <h3>"Batch summary"</h3>
                <p class="fine">
                    "No data loader or training step was recognised, so batch size per step could not be compared."
                </p>
            </section>
        }
        .into_any();
    }
    let flag = |flag: String| view! { <li>{format!("{flag}.")}</li> };
    let flags = match ledger.flags.is_empty() {
        true => view! { <p>"By these figures, a step means the same as before."</p> }.into_any(),
        false => view! { <ul class="flags">{ledger.flags.into_iter().map(flag).collect_view()}</ul> }.into_any(),
    };
    view! {
        <section class="ledger">
            <h3>"Batch summary"</h3>
            <table>
                <caption>"What an optimizer step sees and means, as read from the code"</caption>
                <thead>
                    <tr>
                        <th scope="col">"Quantity"</th>
                        <th scope="col">"Original"</th>
                        <th scope="col">"Port"</th>
                    </tr>
                </thead>
                <tbody>{ledger.entries.into_iter().map(|entry| view! { <Line entry/> }).collect_view()}</tbody>
            </table>
            {flags}
        </section>
    }
    .into_any()
}

#[component]
fn Line(entry: LedgerEntry) -> impl IntoView {
    let LedgerEntry { quantity, before, after } = entry;
    let changed = before.text != after.text;
    let mark = changed.then(|| view! { <span class="badge">"changed"</span> });
    let old = before.place.map(|(path, line)| view! { <small>{format!("{path}:{line}")}</small> });
    view! {
        <tr class:changed=changed>
            <th scope="row">{quantity.to_string()} " " {mark}</th>
            <td>{before.text} " " {old}</td>
            <td>
                <Ported figure=after/>
            </td>
        </tr>
    }
}

/// A figure of the port; its place leads there.
#[component]
fn Ported(figure: Figure) -> impl IntoView {
    let session: Session = expect_context();
    let place = figure.place.and_then(|(path, line)| {
        let file = session
            .state
            .with_untracked(|state: &State| state.outcome.as_ref()?.files.iter().position(|file| file.path == path))?;
        Some(view! { <Place file line path/> })
    });
    view! { {figure.text} " " {place} }
}
