//! The steps of a twin run as a table.

use crate::port::state::twin::shown;
use crate::port::twin_result::Step;
use crate::shared::text::count;
use leptos::prelude::*;

/// The number of rows shown; the rest of a longer run is in its file.
const MOST: usize = 500;

/// The table, collapsed.
#[component]
pub(super) fn Steps(steps: Vec<Step>) -> impl IntoView {
    let all = steps.len();
    let rest = (all > MOST)
        .then(|| view! { <p class="fine">{format!("{} more are in the file.", count(all - MOST, "step"))}</p> });
    (all > 0).then(|| {
        view! {
            <details class="steps-table">
                <summary>{format!("Table of {}", count(all, "step"))}</summary>
                <div class="table-scroll" tabindex="0" role="region" aria-label="Steps">
                    <table>
                        <thead>
                            <tr>
                                <th scope="col">"Step"</th>
                                <th scope="col">"Loss, original"</th>
                                <th scope="col">"Loss, port"</th>
                                <th scope="col">"Gradient norm, original"</th>
                                <th scope="col">"Gradient norm, port"</th>
                                <th scope="col">"Samples"</th>
                            </tr>
                        </thead>
                        <tbody>{steps.into_iter().take(MOST).map(row).collect_view()}</tbody>
                    </table>
                </div>
                {rest}
            </details>
        }
    })
}

fn row(Step { step, loss, norm, samples }: Step) -> impl IntoView {
    let values = [loss[0], loss[1], norm[0], norm[1]].map(|value| view! { <td>{shown(value)}</td> });
    let samples =
        if samples[0] == samples[1] { samples[1].to_string() } else { format!("{}, {}", samples[0], samples[1]) };
    view! {
        <tr>
            <th scope="row">{step}</th>
            {values.into_iter().collect_view()}
            <td>{samples}</td>
        </tr>
    }
}
