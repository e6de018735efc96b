//! `portolan matrix`: one project, compared across all targets.

use crate::args::{MatrixArgs, MatrixFormat};
use crate::messages::{OnDisk, message};
use crate::output::print;
use crate::project::Project;
use crate::said::say_line;
use crate::{notebook_shell, totals};
use anyhow::Result;
use codemod::{CellState, Matrix, Options, RecipeSet};
use python::Trees;
use std::fmt::Write;

/// Maximum number of characters shown of a line of code.
const WIDEST: usize = 56;

/// Prints every target's result for the project. Returns whether every file could be read.
pub(crate) fn run(args: &MatrixArgs) -> Result<bool> {
    let project = Project::read(&args.paths, None)?;
    let recipes = RecipeSet::embedded();
    let mut matrix = of_all_targets(&project, recipes);
    let mut all_read = true;
    for input in &project.inputs {
        let Err(diagnostic) = &input.text else { continue };
        all_read = false;
        say_line!("{}", message(&input.shown, diagnostic, OnDisk::Original));
        for totals in &mut matrix.totals {
            totals.add_refused(diagnostic.severity, &diagnostic.recipe, recipes);
        }
    }
    match args.format {
        MatrixFormat::Json => print(&format!("{:#}\n", serde_json::to_value(&matrix)?))?,
        MatrixFormat::Csv => print(&totals::csv(&matrix.totals))?,
        MatrixFormat::Text => print(&table(&matrix))?,
    }
    Ok(all_read)
}

/// Ports the project to each target with its default options, as `portolan port` does.
fn of_all_targets(project: &Project, recipes: &RecipeSet) -> Matrix {
    let (sources, notebooks) = (project.sources(), project.notebooks());
    let mut matrix = Matrix::default();
    for target in recipes.targets() {
        let (trees, options) = (Trees::default(), Options { target: target.id, ..Options::default() });
        let (mut ported, views) = codemod::port_with_views(&sources, recipes, &options, &trees);
        for file in &mut ported.files {
            if let Some(notebook) = notebooks.get(&file.path) {
                notebook_shell::report(notebook, file, recipes, &options);
            }
        }
        matrix.add_port(&sources, recipes, &ported, &views);
    }
    matrix
}

/// The states that are counted: all but that of unchanged places.
const COUNTED: [CellState; 3] = [CellState::Done, CellState::NeedsYou, CellState::NotPossible];

fn table(matrix: &Matrix) -> String {
    if matrix.rows.is_empty() && matrix.totals.iter().all(|totals| totals.kinds.is_empty()) {
        return "No target changes or reports anything here.\n".to_owned();
    }
    let place = |path: &str, line: String, text: &str| {
        let short: String = text.chars().take(WIDEST).collect();
        format!("{path}:{line}  {short}{}", if short.len() < text.len() { "…" } else { "" })
    };
    let places: Vec<String> = matrix.rows.iter().map(|row| place(&row.path, row.shown(), &row.text)).collect();
    let longest = places.iter().map(|place| place.chars().count()).max().unwrap_or(0);
    let first = longest.max("places not possible".len());
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
        let mut line = format!("{:first$}", format!("places {}", word(state)));
        for (totals, width) in matrix.totals.iter().zip(&widths) {
            let _ = write!(line, "  {:<width$}", totals.all.with(state));
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
    for totals in matrix.totals.iter().filter(|totals| !totals.kinds.is_empty()) {
        let _ = write!(out, "\n{}", totals::table(totals));
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
