use super::table::Table;
use crate::check::state::names::short_path;
use crate::check::state::report::{Stages as Told, figure, stages};
use leptos::prelude::*;
use uresnet::{Distance, Report, StageDistance};

/// Where two runs diverge, according to the modules' outputs.
#[component]
pub(super) fn Stages(report: Report) -> impl IntoView {
    let told = match stages(&report) {
        Told::None => view! {
            "The file has no module outputs, so the first module that differs can’t be located. Include them as "
            <code>"stage.PATH.plane0"</code>
            " to find it."
        }
        .into_any(),
        Told::First(name) => view! { "First module outside tolerance: " <code>{name}</code> "." }.into_any(),
        Told::Within(count) => format!("None of the {count} modules’ outputs is outside tolerance.").into_any(),
    };
    let tolerance = report.tolerance;
    let row = move |StageDistance { name, distance, .. }: StageDistance| {
        let off = distance.max_relative_to_range > tolerance || distance.not_finite > 0;
        distance_row(view! { <code>{short_path(&name)}</code> }.into_any(), &distance, off)
    };
    let count = report.stages.len();
    let heads = ["Module", "Max difference", "Mean difference", "Max difference / largest number"];
    let table = (count > 0).then(move || {
        view! {
            <details>
                <summary>{format!("{count} modules in the order they run")}</summary>
                <Table label="Modules" heads=heads.map(str::to_owned).to_vec()>
                    {report.stages.into_iter().map(row).collect_view()}
                </Table>
            </details>
        }
    });
    view! {
        <p id="stages">{told}</p>
        {table}
    }
}

/// A row of differences.
pub(super) fn distance_row(head: AnyView, distance: &Distance, off: bool) -> impl IntoView + use<> {
    let figures = [distance.max_absolute, distance.mean_absolute, distance.max_relative_to_range];
    let cells = figures.map(|number| view! { <td>{figure(number)}</td> }).collect_view();
    view! {
        <tr class:off=off>
            <th scope="row">{head}</th>
            {cells}
        </tr>
    }
}
