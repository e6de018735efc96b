use crate::check::state::report::histogram;
use crate::shared::text::thousands;
use leptos::prelude::*;
use uresnet::Report;

/// A histogram of the logits by their distance in units in the last place.
#[component]
pub(super) fn Histogram(report: Report) -> impl IntoView {
    let bars = histogram(&report);
    let most = bars.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1).to_string();
    let bar = |(apart, count): (String, u64)| {
        view! {
            <tr>
                <th scope="row">{apart}</th>
                <td>{thousands(count)}</td>
                <td aria-hidden="true">
                    <meter min="0" max=most.clone() value=count.to_string()></meter>
                </td>
            </tr>
        }
    };
    view! {
        <table class="histogram" id="ulps">
            <caption>"Logits by distance, in float32 units in the last place"</caption>
            <thead>
                <tr>
                    <th scope="col">"distance"</th>
                    <th scope="col">"logits"</th>
                    <td></td>
                </tr>
            </thead>
            <tbody>{bars.into_iter().map(bar).collect_view()}</tbody>
        </table>
    }
}
