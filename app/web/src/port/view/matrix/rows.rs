//! The table: one line of code per row, one target per column.

use super::legend::Legend;
use crate::port::protocol::{Table, TableRow};
use crate::port::state::State;
use crate::port::state::fragment::of_place;
use crate::port::state::lines::breaks_in_names;
use crate::port::work::Session;
use crate::shared::text::{count, thousands};
use crate::shared::view::{Code, Coloured, coloured};
use codemod::{CellState, MatrixCell};
use leptos::prelude::*;
use std::sync::Arc;

/// The number of rows added at a time.
const MORE: usize = 150;

/// The table with its legend, or a note that it is empty.
#[component]
pub(super) fn Rows(table: Arc<Table>) -> impl IntoView {
    let session: Session = expect_context();
    if table.rows.is_empty() {
        return view! {
            <div class="state">
                <h3>"Nothing to compare"</h3>
                <p>"No target changes or reports anything in this project."</p>
            </div>
        }
        .into_any();
    }
    let heads = table.targets.iter().zip(&table.sums).map(|(target, sums)| head(target, sums)).collect_view();
    let width = (table.targets.len() + 1).to_string();
    let mut path = "";
    let body = table.rows.iter().map(|row| {
        let file = (row.path != path).then(|| {
            view! {
                <tr class="file">
                    <th colspan=width.clone() scope="rowgroup"><Code line=plain(&row.path)/></th>
                </tr>
            }
        });
        path = &row.path;
        view! { {file} {line(&table.targets, row)} }
    });
    let body = body.collect_view();
    let left = table.total - table.rows.len();
    let wanted = table.rows.len() + MORE;
    let more = (left > 0).then(|| {
        let label = format!("Show {} more of {}", thousands(left.min(MORE) as u64), count(left, "line"));
        view! {
            <p>
                <button class="button quiet small" id="more-rows" on:click=move |_| session.more_rows(wanted)>{label}</button>
            </p>
        }
    });
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="All targets">
            <p class="fine">
                "Every affected line, compared across targets. An entry opens that place in that target’s port; use Back to return."
            </p>
            <Legend/>
            <table class="matrix">
                <thead>
                    <tr>
                        <th scope="col">"Line"</th>
                        {heads}
                    </tr>
                </thead>
                <tbody>{body}</tbody>
            </table>
            {more}
        </div>
    }
    .into_any()
}

/// The display name of a target.
fn named(target: &str) -> String {
    let session: Session = expect_context();
    session.state.with_untracked(|state| state.target_name(target))
}

/// A target, and the totals of its column.
fn head(target: &str, sums: &[usize; 3]) -> impl IntoView + use<> {
    let words = ["changed", "to do", "not possible"];
    let sums = sums.iter().zip(words).filter(|(n, _)| **n > 0).map(|(n, word)| format!("{n} {word}"));
    view! {
        <th scope="col">
            {named(target)}
            <small>"places: " {sums.collect::<Vec<_>>().join(", ")}</small>
        </th>
    }
}

fn line(targets: &[String], row: &TableRow) -> impl IntoView + use<> {
    let session: Session = expect_context();
    let cells = targets.iter().zip(&row.cells);
    let cells = cells.map(|(target, cell)| {
        let titles = session.state.with_untracked(|state: &State| {
            let known = cell.recipes.iter().filter_map(|id| state.recipe(id));
            known.map(|recipe| recipe.title.clone()).collect::<Vec<_>>().join("; ")
        });
        entry(target, row, cell, titles)
    });
    view! {
        <tr>
            <th scope="row">
                <b>{row.line}</b>
                " "
                <code><Code line=plain(&row.text)/></code>
            </th>
            {cells.collect_view()}
        </tr>
    }
}

/// A text that can wrap between the parts of its names.
fn plain(text: &str) -> Coloured {
    coloured(text, &[], &[], &breaks_in_names(text))
}

/// One cell. The style sheet adds the dash.
fn entry(target: &str, row: &TableRow, cell: &MatrixCell, titles: String) -> AnyView {
    let (class, word) = match cell.state {
        CellState::Untouched => return view! { <td></td> }.into_any(),
        CellState::Done => ("done", "done"),
        CellState::NeedsYou => ("needs-you", "to do"),
        CellState::NotPossible => ("not-possible", "not possible"),
    };
    let place = of_place(target, row.file, cell.line.unwrap_or(row.line));
    let label = format!("{word}: {}, line {}", named(target), row.line);
    view! {
        <td class=class>
            <a href=place title=titles aria-label=label>{word}</a>
        </td>
    }
    .into_any()
}
