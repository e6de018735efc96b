use super::table::{Facts, Table};
use crate::check::state::names::{CLASS_NAMES, precision};
use crate::check::state::report::statistics;
use crate::check::work::Session;
use crate::shared::text::thousands;
use leptos::prelude::*;

/// What was run, and with what it was compared.
#[component]
pub(super) fn About() -> impl IntoView {
    let session: Session = expect_context();
    let rows = Memo::new(move |_| {
        session.state.with(|state| {
            let about = state.results.iter().flat_map(|results| results.about.rows.iter().cloned());
            let compared = state.comparison.as_ref().map(|comparison| {
                ("Compared", format!("{} ({})", comparison.name, precision(comparison.report.precision)))
            });
            about.chain(compared).map(|(name, value)| (name.to_owned(), value)).collect::<Vec<_>>()
        })
    });
    move || view! { <Facts rows=rows.get() id="about"/> }
}

/// The statistics of the run.
#[component]
pub(super) fn Statistics() -> impl IntoView {
    let session: Session = expect_context();
    let facts = Memo::new(move |_| session.state.with(|state| state.results.as_ref().map(|r| r.facts.clone())));
    let cautioned = Memo::new(move |_| {
        session.state.with(|state| state.results.as_ref().is_some_and(|results| !results.about.caution.is_empty()))
    });
    let show = move || {
        let facts = facts.get()?;
        let heads = std::iter::once("Plane").chain(CLASS_NAMES).map(str::to_owned).collect();
        let row = |(plane, counts): (usize, &[u64; 3])| {
            let counts = counts.iter().map(|&count| view! { <td>{thousands(count)}</td> }).collect_view();
            view! {
                <tr>
                    <th scope="row">{plane}</th>
                    {counts}
                </tr>
            }
        };
        let rows = facts.pixels.iter().enumerate().map(row).collect_view();
        let pictures = facts.shape.first().copied().filter(|pictures| *pictures > 1);
        Some(view! {
            <Facts rows=statistics(&facts)/>
            {(cautioned.get() && facts.scores.is_some()).then(|| view! {
                <p class="hint" id="score-caution">
                    "Correct class and IoU depend on the predicted classes: see the note above the planes."
                </p>
            })}
            <Table label="Pixels" caption="Pixels by predicted class" heads>
                {rows}
            </Table>
            {pictures.map(|n| view! { <p>{format!("The file contains {n} images. All of them were computed and compared; the first one is shown.")}</p> })}
        })
    };
    view! { <div id="statistics">{show}</div> }
}
