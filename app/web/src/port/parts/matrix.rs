//! All targets side by side: the page's part of it, and the table, which the worker writes.

use super::{escape, only, target_name};
use crate::port::fragment;
use crate::port::state::{Engine, State, count};
use codemod::{CellState, Matrix, MatrixCell, MatrixRow, RecipeInfo};

/// Rows that a table begins with, and that are added at a time: what a page can lay out without a pause.
pub const FIRST_ROWS: usize = 150;
/// Characters of a line of code that a row shows at most.
const WIDEST: usize = 120;

/// The table, or how far it is.
pub fn panel(state: &State) -> String {
    let matrix = &state.matrix;
    if let Engine::Broken(_) = state.engine {
        return "<div class=\"state bad\"><h3>The engine stopped</h3><p>Your text is as it was.</p></div>".to_owned();
    }
    let whole = matrix.total > 0 && matrix.done == matrix.total;
    let progress = match whole {
        true => String::new(),
        false => format!(
            "<p class=\"columns\"><label>Porting to every target <progress max=\"{}\" value=\"{}\"></progress></label></p>",
            matrix.total.max(1),
            matrix.done
        ),
    };
    format!("{progress}<div class=\"matrix-place\"{}>{}</div>", only(!whole, " aria-busy=\"true\""), matrix.html)
}

/// What the entries mean. The style sheet writes their signs, here as in the table.
const LEGEND: &str = "<dl class=\"legend\">\
    <div><dt class=\"done\">done</dt><dd>the port changes the line</dd></div>\
    <div><dt class=\"needs-you\">needs you</dt><dd>the port leaves something there to you</dd></div>\
    <div><dt class=\"not-possible\">not possible</dt><dd>the file can't be ported to that target</dd></div>\
    <div><dt>–</dt><dd>the line stays as it is</dd></div></dl>";

/// Every line that a target changes or speaks of as a row, the targets as columns; `rows` at most.
pub fn table(matrix: &Matrix, recipes: &[RecipeInfo], rows: usize) -> String {
    if matrix.rows.is_empty() {
        return "<div class=\"state\"><h3>Nothing to compare</h3><p>No target changes anything in this project, and none has \
                anything to say about it.</p></div>"
            .to_owned();
    }
    let heads: String = (0..matrix.targets.len()).map(|column| head(matrix, column)).collect();
    let mut body = String::new();
    let mut path = "";
    for row in matrix.rows.iter().take(rows) {
        if row.path != path {
            path = &row.path;
            body += &format!(
                "<tr class=\"file\"><th colspan=\"{}\" scope=\"rowgroup\">{}</th></tr>",
                matrix.targets.len() + 1,
                escape(path)
            );
        }
        body += &line(matrix, row, recipes);
    }
    let more = match matrix.rows.len().saturating_sub(rows) {
        0 => String::new(),
        left => format!(
            "<p><button class=\"button quiet small\" id=\"more-rows\" data-do=\"rows\" data-to=\"{}\">Show {} more of {}</button></p>",
            rows + FIRST_ROWS,
            left.min(FIRST_ROWS),
            count(left, "line")
        ),
    };
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"All targets\">\
         <p class=\"fine\">What each target makes of each line that any of them speaks of. An entry leads to that place of that \
         target's port; Back leads here again.</p>{LEGEND}\
         <table class=\"matrix\"><thead><tr><th scope=\"col\">Line</th>{heads}</tr></thead><tbody>{body}</tbody></table>{more}</div>"
    )
}

/// A target, and how its column adds up.
fn head(matrix: &Matrix, column: usize) -> String {
    let of = |state: CellState| matrix.rows.iter().filter(|row| row.cells[column].state == state).count();
    let numbers =
        [(CellState::Done, "done"), (CellState::NeedsYou, "for you"), (CellState::NotPossible, "not possible")];
    let numbers = numbers.map(|(state, word)| (of(state), word));
    let numbers: Vec<String> = numbers.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    let target = escape(&target_name(&matrix.targets[column]));
    format!("<th scope=\"col\">{target}<small>{}</small></th>", numbers.join(", "))
}

fn line(matrix: &Matrix, row: &MatrixRow, recipes: &[RecipeInfo]) -> String {
    let mut text: String = row.text.chars().take(WIDEST).collect();
    if text.len() < row.text.len() {
        text.push('…');
    }
    let cells = matrix.targets.iter().zip(&row.cells).map(|(target, cell)| entry(target, row, cell, recipes));
    format!(
        "<tr><th scope=\"row\"><b>{}</b> <code>{}</code></th>{}</tr>",
        row.line,
        escape(&text),
        cells.collect::<String>()
    )
}

/// One cell. The style sheet writes the dash.
fn entry(target: &str, row: &MatrixRow, cell: &MatrixCell, recipes: &[RecipeInfo]) -> String {
    let (class, word) = match cell.state {
        CellState::Untouched => return "<td></td>".to_owned(),
        CellState::Done => ("done", "done"),
        CellState::NeedsYou => ("needs-you", "needs you"),
        CellState::NotPossible => ("not-possible", "not possible"),
    };
    let titles = cell.recipes.iter().filter_map(|id| recipes.iter().find(|recipe| recipe.id == *id));
    let titles: Vec<&str> = titles.map(|recipe| recipe.title.as_str()).collect();
    format!(
        "<td class=\"{class}\"><a href=\"{}\" title=\"{}\" aria-label=\"{word}: {}, line {}\">{word}</a></td>",
        escape(&fragment::of_place(target, row.file, cell.line.unwrap_or(row.line))),
        escape(&titles.join("; ")),
        escape(&target_name(target)),
        row.line,
    )
}
