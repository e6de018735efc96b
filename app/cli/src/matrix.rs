//! `portolan matrix`: one project, compared across all targets.

use crate::args::{ListFormat, MatrixArgs};
use crate::messages::{OnDisk, message};
use crate::output::print;
use crate::project::Project;
use crate::said::say_line;
use anyhow::Result;
use codemod::{CellState, Matrix, RecipeSet, Style, matrix};
use python::SourceFile;
use serde_json::{Value, json};
use std::fmt::Write;

/// Maximum number of characters shown of a line of code.
const WIDEST: usize = 56;

/// Prints every target's result for the project. Returns whether every file could be read.
pub(crate) fn run(args: &MatrixArgs) -> Result<bool> {
    let project = Project::read(&args.paths, None)?;
    let mut sources = Vec::new();
    let mut all_read = true;
    for input in &project.inputs {
        match &input.text {
            Ok(text) => sources.push(SourceFile { path: input.path.clone(), text: text.clone() }),
            Err(diagnostic) => {
                all_read = false;
                say_line!("{}", message(&input.shown, diagnostic, OnDisk::Original));
            }
        }
    }
    sources.extend(project.configuration().into_iter().map(|(_, file)| file));
    let matrix = matrix(&sources, RecipeSet::embedded(), Style::Auto);
    match args.format {
        ListFormat::Json => {
            let mut value = serde_json::to_value(&matrix)?;
            value["totals"] = totals(&matrix);
            print(&format!("{value:#}\n"))?;
        }
        ListFormat::Text => print(&table(&matrix))?,
    }
    Ok(all_read)
}

/// The states that are counted: all but those of unchanged lines.
const COUNTED: [CellState; 3] = [CellState::Done, CellState::NeedsYou, CellState::NotPossible];

/// The number of lines with a state on the target of a column.
fn count(matrix: &Matrix, column: usize, state: CellState) -> usize {
    matrix.rows.iter().filter(|row| row.cells[column].state == state).count()
}

/// The counts of each target, under the names of the cells' states.
fn totals(matrix: &Matrix) -> Value {
    let of = |(column, target): (usize, &String)| {
        let mut one = json!({ "target": target });
        for state in COUNTED {
            let name = json!(state).as_str().unwrap_or_default().to_owned();
            one[name] = count(matrix, column, state).into();
        }
        one
    };
    matrix.targets.iter().enumerate().map(of).collect()
}

fn table(matrix: &Matrix) -> String {
    if matrix.rows.is_empty() {
        return "No target changes or reports anything here.\n".to_owned();
    }
    let place = |path: &str, line: String, text: &str| {
        let short: String = text.chars().take(WIDEST).collect();
        format!("{path}:{line}  {short}{}", if short.len() < text.len() { "…" } else { "" })
    };
    let places: Vec<String> = matrix.rows.iter().map(|row| place(&row.path, row.shown(), &row.text)).collect();
    let longest = places.iter().map(|place| place.chars().count()).max().unwrap_or(0);
    let first = longest.max("lines not possible".len());
    let widths: Vec<usize> = matrix.targets.iter().map(|target| target.len().max("not possible".len())).collect();
    let mut out = format!("{:first$}", "");
    for (target, width) in matrix.targets.iter().zip(&widths) {
        let _ = write!(out, "  {target:width$}");
    }
    out = out.trim_end().to_owned() + "\n";
    for (place, row) in places.iter().zip(&matrix.rows) {
        let mut line = format!("{place:first$}");
        for (cell, width) in row.cells.iter().zip(&widths) {
            let _ = write!(line, "  {:width$}", word(cell.state));
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out.push('\n');
    for state in COUNTED {
        let mut line = format!("{:first$}", format!("lines {}", word(state)));
        for (column, width) in widths.iter().enumerate() {
            let _ = write!(line, "  {:<width$}", count(matrix, column, state));
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

fn word(state: CellState) -> &'static str {
    match state {
        CellState::Untouched => "-",
        CellState::Done => "done",
        CellState::NeedsYou => "to do",
        CellState::NotPossible => "not possible",
    }
}
