//! One project, all targets: what each target makes of every line that any of them speaks of.

use crate::ported::{Edit, Options, PortedFile, Severity, SourceFile, Style};
use crate::{RecipeSet, port};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The constructs of a project as rows, the targets as columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Matrix {
    /// Ids of the targets, in the order of the columns.
    pub targets: Vec<String>,
    /// Rows by path and line.
    pub rows: Vec<MatrixRow>,
}

/// A line of the original that at least one target changes or speaks of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatrixRow {
    /// Path as given.
    pub path: String,
    /// Line of the original, from 1.
    pub line: usize,
    /// The line without its indentation.
    pub text: String,
    /// One cell a target.
    pub cells: Vec<MatrixCell>,
}

/// What a target makes of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatrixCell {
    /// How far the port goes.
    pub state: CellState,
    /// Recipes that changed the line or speak of it.
    pub recipes: Vec<String>,
    /// Line of that target's ported text to look at, from 1.
    pub line: Option<usize>,
}

/// How far a target's port goes at a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellState {
    /// Stays as it is.
    #[default]
    Untouched,
    /// The port changed it.
    Done,
    /// A person has to.
    NeedsYou,
    /// The file can't be ported to this target.
    NotPossible,
}

/// Ports a project to every target with the options' style and default options of each, and lays the ports side by side.
/// Pure, as [`port`] is; takes as long as one port for each target.
#[must_use]
pub fn matrix(files: &[SourceFile], recipes: &RecipeSet, style: Style) -> Matrix {
    let targets: Vec<String> = recipes.targets().into_iter().map(|target| target.id).collect();
    let mut rows: BTreeMap<(usize, usize), Vec<MatrixCell>> = BTreeMap::new();
    for (column, target) in targets.iter().enumerate() {
        let ported = port(files, recipes, &Options { target: target.clone(), style, ..Options::default() });
        for (number, (source, file)) in files.iter().zip(&ported.files).enumerate() {
            for (line, cell) in cells(&source.text, file) {
                let row = rows.entry((number, line)).or_insert_with(|| vec![MatrixCell::default(); targets.len()]);
                row[column] = cell;
            }
        }
    }
    let rows = rows
        .into_iter()
        .map(|((number, line), cells)| {
            let SourceFile { path, text } = &files[number];
            let text = text.lines().nth(line - 1).unwrap_or_default().trim().to_owned();
            MatrixRow { path: path.clone(), line, text, cells }
        })
        .collect();
    Matrix { targets, rows }
}

/// What one port did to the lines of one file.
fn cells(original: &str, file: &PortedFile) -> BTreeMap<usize, MatrixCell> {
    let mut cells: BTreeMap<usize, MatrixCell> = BTreeMap::new();
    let mut put = |line: usize, state: CellState, recipe: &str, there: usize| {
        let cell = cells.entry(line).or_default();
        if state > cell.state {
            cell.state = state;
            cell.line = Some(there);
        }
        if !cell.recipes.iter().any(|known| known == recipe) {
            cell.recipes.push(recipe.to_owned());
        }
    };
    let starts = line_starts(original);
    let mut moved = 0isize;
    for edit in &file.edits {
        let there = edit.start.saturating_add_signed(moved);
        moved += edit.text.len() as isize - (edit.end - edit.start) as isize;
        // Lines that are only added belong to no line of the original.
        let adds_lines = edit.text.contains('\n') || edit.text.trim().is_empty();
        if original[edit.start..edit.end].trim().is_empty() && adds_lines {
            continue;
        }
        let there = 1 + file.text.get(..there).map_or(0, |before| before.matches('\n').count());
        for line in line_of(&starts, edit.start)..=line_of(&starts, edit.end.max(edit.start + 1) - 1) {
            if original.lines().nth(line - 1).is_some_and(|text| !text.trim().is_empty()) {
                put(line, CellState::Done, &edit.recipe, there);
            }
        }
    }
    let ported = line_starts(&file.text);
    for diagnostic in &file.diagnostics {
        let state = match diagnostic.severity {
            Severity::Error => CellState::NotPossible,
            Severity::Warning => CellState::NeedsYou,
            Severity::Info | Severity::Hint => continue,
        };
        let text = file.text.lines().nth(diagnostic.line - 1).unwrap_or_default();
        let column = text.char_indices().nth(diagnostic.column - 1).map_or(0, |(at, _)| at);
        let at = ported.get(diagnostic.line - 1).map_or(0, |start| start + column);
        put(line_of(&starts, original_offset(&file.edits, at)), state, &diagnostic.recipe, diagnostic.line);
    }
    cells
}

/// Where a byte of the ported text comes from; inside new text, where that text was put.
fn original_offset(edits: &[Edit], at: usize) -> usize {
    let mut moved = 0isize;
    for edit in edits {
        let start = edit.start.saturating_add_signed(moved);
        if at < start {
            break;
        }
        if at < start + edit.text.len() {
            return edit.start;
        }
        moved += edit.text.len() as isize - (edit.end - edit.start) as isize;
    }
    at.saturating_add_signed(-moved)
}

fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

/// Line of a byte, from 1.
fn line_of(starts: &[usize], at: usize) -> usize {
    starts.partition_point(|start| *start <= at)
}

#[cfg(test)]
mod tests {
    use super::{CellState, Matrix, matrix};
    use crate::{RecipeSet, SourceFile, Style};

    fn of(text: &str) -> Matrix {
        let file = SourceFile { path: "a.py".to_owned(), text: text.to_owned() };
        matrix(&[file], &RecipeSet::embedded(), Style::InPlace)
    }

    fn check(matrix: &Matrix, text: &str, target: &str, expected: CellState) {
        let column = matrix.targets.iter().position(|t| t == target).expect("the target has recipes");
        let row = matrix.rows.iter().find(|row| row.text == text).unwrap_or_else(|| panic!("{text}: {matrix:#?}"));
        assert_eq!(row.cells[column].state, expected, "{text} on {target}: {row:#?}");
    }

    #[test]
    fn a_line_has_a_cell_for_every_target() {
        let matrix = of("import torch\n\nnet = build().cuda()\nold = torch.jit.script(net)\nplain = 1\n");
        check(&matrix, "net = build().cuda()", "hpu", CellState::Done);
        check(&matrix, "net = build().cuda()", "rdu", CellState::Done);
        check(&matrix, "old = torch.jit.script(net)", "hpu", CellState::NeedsYou);
        assert!(!matrix.rows.iter().any(|row| row.text == "plain = 1"), "{matrix:#?}");
        assert!(matrix.rows.iter().all(|row| row.cells.len() == matrix.targets.len()));
    }

    #[test]
    fn a_file_with_faults_can_be_ported_nowhere() {
        let matrix = of("import torch\nnet.cuda(\n");
        assert!(matrix.rows.iter().flat_map(|row| &row.cells).any(|cell| cell.state == CellState::NotPossible));
    }

    #[test]
    fn cells_lead_into_the_ported_text() {
        let text = "import torch\n\n\n\nx = torch.device(\"cuda\")\n";
        let file = SourceFile { path: "a.py".to_owned(), text: text.to_owned() };
        let set = RecipeSet::embedded();
        let matrix = matrix(std::slice::from_ref(&file), &set, Style::InPlace);
        let row = matrix.rows.iter().find(|row| row.line == 5).expect("the device is a row");
        for (target, cell) in matrix.targets.iter().zip(&row.cells) {
            let Some(line) = cell.line else { continue };
            let options = crate::Options { target: target.clone(), style: Style::InPlace, ..crate::Options::default() };
            let ported = crate::port(std::slice::from_ref(&file), &set, &options);
            let there = ported.files[0].text.lines().nth(line - 1).unwrap_or_default().to_owned();
            assert!(there.contains("torch.device("), "{target}: line {line} is {there:?}");
        }
    }
}
