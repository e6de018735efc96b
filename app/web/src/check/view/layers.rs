use super::table::Table;
use crate::check::state::names::{rate, short_path};
use crate::check::state::report::{Kind, kinds};
use crate::check::work::Session;
use leptos::prelude::*;
use uresnet::Step;

/// The time of each layer: by kind, and each step in the order of execution.
#[component]
pub(super) fn Layers() -> impl IntoView {
    let session: Session = expect_context();
    let steps = Memo::new(move |_| {
        session
            .state
            .with(|state| state.results.as_ref().map(|results| results.facts.steps.clone()).unwrap_or_default())
    });
    let heads = |heads: &[&str]| heads.iter().map(|head| (*head).to_owned()).collect::<Vec<_>>();
    let show = move || {
        let steps = steps.get();
        let count = steps.len();
        let (kinds, steps) = (kinds(&steps), steps.into_iter().map(step).collect_view());
        view! {
            <Table
                label="Layer types"
                caption="Layer types"
                heads=heads(&["type", "GMAC", "ms", "share", "GFLOP/s"])
            >
                {kinds.into_iter().map(kind).collect_view()}
            </Table>
            <details>
                <summary>{format!("All {count} steps")}</summary>
                <Table label="All steps" heads=heads(&["module", "type", "GMAC", "ms", "GFLOP/s"])>
                    {steps}
                </Table>
            </details>
        }
    };
    view! {
        <div class="layer-times">
            <h2>"Layers"</h2>
            <div id="layers">{show}</div>
        </div>
    }
}

fn kind(Kind { name, macs, seconds, share }: Kind) -> impl IntoView {
    view! {
        <tr>
            <th scope="row">{name}</th>
            <td>{format!("{:.3}", macs as f64 / 1e9)}</td>
            <td>{format!("{:.1}", seconds * 1e3)}</td>
            <td>{format!("{share:.1} %")}</td>
            <td>{format!("{:.1}", rate(macs, seconds))}</td>
        </tr>
    }
}

fn step((step, seconds): (Step, f64)) -> impl IntoView {
    view! {
        <tr>
            <th scope="row">
                <code>{short_path(&step.path)}</code>
            </th>
            <td>{step.kind}</td>
            <td>{format!("{:.3}", step.macs as f64 / 1e9)}</td>
            <td>{format!("{:.2}", seconds * 1e3)}</td>
            <td>{format!("{:.1}", rate(step.macs, seconds))}</td>
        </tr>
    }
}
