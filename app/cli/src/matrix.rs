//! `portolan matrix`: one project, compared across all targets.

use crate::args::{ListFormat, MatrixArgs};
use crate::messages::{OnDisk, message};
use crate::output::print;
use crate::project::Project;
use crate::said::say_line;
use anyhow::Result;
use codemod::{CellState, Matrix, MatrixCell, RecipeSet, Style, matrix};
use python::SourceFile;
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
        ListFormat::Json => print(&format!("{:#}\n", serde_json::to_value(&matrix)?))?,
        ListFormat::Text => print(&table(&matrix))?,
    }
    Ok(all_read)
}

fn table(matrix: &Matrix) -> String {
    if matrix.rows.is_empty() {
        return "No target changes or reports anything here.\n".to_owned();
    }
    let place = |path: &str, line: usize, text: &str| {
        let short: String = text.chars().take(WIDEST).collect();
        format!("{path}:{line}  {short}{}", if short.len() < text.len() { "…" } else { "" })
    };
    let places: Vec<String> = matrix.rows.iter().map(|row| place(&row.path, row.line, &row.text)).collect();
    let first = places.iter().map(|place| place.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = matrix.targets.iter().map(|target| target.len().max("not possible".len())).collect();
    let mut out = format!("{:first$}", "");
    for (target, width) in matrix.targets.iter().zip(&widths) {
        let _ = write!(out, "  {target:width$}");
    }
    out = out.trim_end().to_owned() + "\n";
    for (place, row) in places.iter().zip(&matrix.rows) {
        let mut line = format!("{place:first$}");
        for (cell, width) in row.cells.iter().zip(&widths) {
            let _ = write!(line, "  {:width$}", word(cell));
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

fn word(cell: &MatrixCell) -> &'static str {
    match cell.state {
        CellState::Untouched => "-",
        CellState::Done => "done",
        CellState::NeedsYou => "to do",
        CellState::NotPossible => "not possible",
    }
}
