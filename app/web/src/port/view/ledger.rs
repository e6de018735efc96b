use super::links::Place;
use crate::port::state::State;
use crate::port::work::Session;
use crate::shared::text::sentence;
use crate::shared::view::Prose;
use codemod::{Figure, Ledger, LedgerEntry};
use leptos::prelude::*;

/// What an optimizer step of each program processes, before and after the port.
#[component]
pub(super) fn BatchSummary(ledgers: Vec<Ledger>) -> impl IntoView {
    if ledgers.is_empty() {
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
    let several = ledgers.len() > 1;
    ledgers.into_iter().map(|ledger| view! { <OfProgram ledger named=several/> }).collect_view().into_any()
}

#[component]
fn OfProgram(ledger: Ledger, named: bool) -> impl IntoView {
    let Ledger { programs, entries, flags } = ledger;
    let programs = (named && !programs.is_empty()).then(|| {
        let names = programs.join(", ");
        view! { <p class="fine">"In " <code>{names}</code></p> }
    });
    let flag = |flag: String| view! { <li><Prose text=sentence(&flag)/></li> };
    let flags = match flags.is_empty() {
        true => view! { <p>"By these figures, the port does not change a step."</p> }.into_any(),
        false => view! { <ul class="flags">{flags.into_iter().map(flag).collect_view()}</ul> }.into_any(),
    };
    view! {
        <section class="ledger">
            <h3>"Batch summary"</h3>
            {programs}
            <table>
                <caption>"What an optimizer step consists of, as read from the code"</caption>
                <thead>
                    <tr>
                        <th scope="col">"Quantity"</th>
                        <th scope="col">"Original"</th>
                        <th scope="col">"Port"</th>
                    </tr>
                </thead>
                <tbody>{entries.into_iter().map(|entry| view! { <Line entry/> }).collect_view()}</tbody>
            </table>
            {flags}
        </section>
    }
}

#[component]
fn Line(entry: LedgerEntry) -> impl IntoView {
    let LedgerEntry { name, before, after, .. } = entry;
    let changed = before.text != after.text;
    let mark = changed.then(|| view! { <span class="badge">"changed"</span> });
    let old = before.place.map(|(path, line)| view! { <small>{format!("{path}:{line}")}</small> });
    view! {
        <tr class:changed=changed>
            <th scope="row"><span>{name}</span> " " {mark}</th>
            <td>{before.text} " " {old}</td>
            <td>
                <Ported figure=after/>
            </td>
        </tr>
    }
}

/// A figure of the port, with a button that goes to its location.
#[component]
fn Ported(figure: Figure) -> impl IntoView {
    let session: Session = expect_context();
    let place = figure.place.and_then(|(path, line)| {
        let file = session
            .state
            .with_untracked(|state: &State| state.outcome.as_ref()?.files.iter().position(|file| file.path == path))?;
        Some(view! { <Place file line path original=line/> })
    });
    view! { {figure.text} " " {place} }
}
