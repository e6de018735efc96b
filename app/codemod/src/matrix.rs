//! One project, all targets: the result of each target for every line that any of them changes or reports.

use crate::port::Views;
use crate::ported::{Edit, Options, Ported, PortedFile, SourceFile};
use crate::totals::{CellState, Totals};
use crate::{RecipeSet, port_with_views};
use python::Trees;
use python::notebook::{CellLines, CellPlace, is_notebook};
use python::tree::Id;
use serde::{Deserialize, Serialize};
use sorting::SortedMap;
use std::ops::RangeInclusive;

/// The constructs of a project as rows, the targets as columns. Initially without columns; [`Matrix::add`] adds one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Matrix {
    /// Ids of the targets, in the order of the columns.
    pub targets: Vec<String>,
    /// Rows by path and line.
    pub rows: Vec<MatrixRow>,
    /// The numbers of each target, in places: a row may have several, or share one with the next.
    pub totals: Vec<Totals>,
    /// Training steps that a target does not port: file, column, the steps' lines, and the contents of their lines.
    #[serde(skip)]
    refused: Vec<(usize, usize, Vec<RangeInclusive<usize>>, MatrixCell)>,
}

/// A line of the original that at least one target changes or reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MatrixRow {
    /// Index of the file, in the original order.
    #[serde(skip)]
    pub file: usize,
    /// Path as passed.
    pub path: String,
    /// Line of the original, from 1.
    pub line: usize,
    /// Its cell in a notebook.
    #[serde(default)]
    pub cell: Option<CellPlace>,
    /// The line without its indentation.
    pub text: String,
    /// One cell per target.
    pub cells: Vec<MatrixCell>,
}

/// A target's result for a line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatrixCell {
    /// The status of the port.
    pub state: CellState,
    /// Recipes that changed or reported the line.
    pub recipes: Vec<String>,
    /// Line in that target's ported text to show, from 1.
    pub line: Option<usize>,
}

impl MatrixRow {
    /// Its line, in a notebook `cell N:line`.
    #[must_use]
    pub fn shown(&self) -> String {
        self.cell.map_or_else(|| self.line.to_string(), |CellPlace { cell, line }| format!("cell {cell}:{line}"))
    }
}

impl Matrix {
    /// Ports the project, always the same one, to the options' target, and adds that port as a column.
    pub fn add(&mut self, files: &[SourceFile], recipes: &RecipeSet, options: &Options) {
        let trees = Trees::default();
        let (ported, views) = port_with_views(files, recipes, options, &trees);
        self.add_port(files, recipes, &ported, &views);
    }

    /// Adds a port of the project, always the same one, as a column.
    pub fn add_port(&mut self, files: &[SourceFile], recipes: &RecipeSet, ported: &Ported, views: &Views<'_>) {
        let column = self.targets.len();
        let texts = files.iter().map(|file| file.text.as_str()).chain(std::iter::repeat("")).zip(&ported.files);
        self.totals.push(Totals::of(&ported.target, texts, recipes));
        self.targets.push(ported.target.clone());
        self.rows.iter_mut().for_each(|row| row.cells.push(MatrixCell::default()));
        for (number, (SourceFile { path, text }, file)) in files.iter().zip(&ported.files).enumerate() {
            let starts = line_starts(text);
            let in_cells = is_notebook(path).then(|| CellLines::of(text));
            for (line, cell) in cells(text, file) {
                let place = self.rows.binary_search_by_key(&(number, line), |row| (row.file, row.line));
                let at = place.unwrap_or_else(|at| {
                    let text = line_text(text, &starts, line).to_owned();
                    let cells = vec![MatrixCell::default(); column + 1];
                    let cell = in_cells.as_ref().and_then(|in_cells| in_cells.place(line));
                    self.rows.insert(at, MatrixRow { file: number, path: path.clone(), line, cell, text, cells });
                    at
                });
                self.rows[at].cells[column] = cell;
            }
        }
        let stops = ported.files.iter().enumerate().filter_map(|(number, file)| {
            let stop = file.diagnostics.iter().find(|said| said.stops_step)?;
            let view = views.before.iter().find(|view| view.path == file.path)?;
            let span = |step: &Id| {
                let (starts, range) = (line_starts(view.index.text), view.index.range(*step));
                line_of(&starts, range.start)..=line_of(&starts, range.end)
            };
            let cell = MatrixCell {
                state: CellState::NeedsYou,
                recipes: vec![stop.recipe.clone()],
                line: Some(stop.ported.line),
            };
            Some((number, column, view.steps.training.iter().map(span).collect(), cell))
        });
        self.refused.extend(stops);
        // Changes that other targets make to a step are manual work if the step is not ported.
        for (number, column, spans, cell) in &self.refused {
            let within =
                |row: &&mut MatrixRow| row.file == *number && spans.iter().any(|span| span.contains(&row.line));
            for row in self.rows.iter_mut().filter(within) {
                if row.cells[*column].state == CellState::Untouched {
                    row.cells[*column] = cell.clone();
                }
            }
        }
    }
}

/// The effects of one port on the lines of one file.
fn cells(original: &str, file: &PortedFile) -> SortedMap<usize, MatrixCell> {
    let mut cells: SortedMap<usize, MatrixCell> = SortedMap::new();
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
    let (starts, ported) = (line_starts(original), line_starts(&file.text));
    let mut moved = 0isize;
    for edit in &file.edits {
        let there = edit.start.saturating_add_signed(moved);
        moved += edit.text.len() as isize - (edit.end - edit.start) as isize;
        // The first line that shows a part of the change.
        let shown = there + edit.text.len() - edit.text.trim_start().len();
        let there = line_of(&ported, shown);
        let Some((first, last)) = lines_of(original, &starts, edit) else { continue };
        for line in (first..=last).filter(|line| !line_text(original, &starts, *line).is_empty()) {
            put(line, CellState::Done, &edit.recipe, there);
        }
    }
    for diagnostic in &file.diagnostics {
        let state = CellState::of(diagnostic.severity);
        if state != CellState::Untouched {
            put(diagnostic.original.line, state, &diagnostic.recipe, diagnostic.ported.line);
        }
    }
    cells
}

/// First and last line of the original to which an edit belongs. Lines that are only added belong to the code above
/// them, and after the imports to none.
fn lines_of(original: &str, starts: &[usize], edit: &Edit) -> Option<(usize, usize)> {
    let first = line_of(starts, edit.start);
    let at_end = original[edit.end..].starts_with(['\n', '\r']);
    let adds_lines = (edit.text.contains('\n') || at_end) && original[edit.start..edit.end].trim().is_empty();
    if !adds_lines {
        return Some((first, line_of(starts, edit.end.max(edit.start + 1) - 1)));
    }
    let is_code = |line: &usize| {
        let text = line_text(original, starts, *line);
        !text.is_empty() && !text.starts_with('#')
    };
    // Inserted at the start of a line, they belong to the one before.
    let last = if original[..edit.start].ends_with('\n') { first - 1 } else { first };
    let above = (1..=last).rev().find(is_code).filter(|_| edit.start > 0)?;
    let imports = |text: &str| text.starts_with("import ") || text.starts_with("from ") || text == ")";
    (!imports(line_text(original, starts, above))).then_some((above, above))
}

/// A line without surrounding white space.
fn line_text<'t>(text: &'t str, starts: &[usize], line: usize) -> &'t str {
    let end = starts.get(line).copied().unwrap_or(text.len());
    starts.get(line - 1).map_or("", |start| text[*start..end].trim())
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
    use super::Matrix;
    use crate::{CellState, Options, RecipeSet, SourceFile, Style};

    /// Ports to every target.
    fn matrix(files: &[SourceFile], recipes: &RecipeSet, style: Style) -> Matrix {
        let mut matrix = Matrix::default();
        for target in recipes.targets() {
            matrix.add(files, recipes, &Options { target: target.id, style, ..Options::default() });
        }
        matrix
    }

    fn of(text: &str) -> Matrix {
        let file = SourceFile { path: "a.py".to_owned(), text: text.to_owned() };
        matrix(&[file], RecipeSet::embedded(), Style::InPlace)
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
    fn added_lines_belong_to_the_code_above_them_unless_they_are_imports() {
        let matrix = of(
            "import os\n# a note\nimport torch\n\n# another\nnet = build().cuda()\nopt = torch.optim.SGD(net.parameters(), 0.1)\n\
            plan = torch.optim.lr_scheduler.StepLR(opt, 3)\nfor x, y in data:\n    loss = torch.nn.functional.mse_loss(net(x), y)\n    \
            loss.backward()\n    opt.step()\n    plan.step()\n",
        );
        check(&matrix, "plan.step()", "ipu", CellState::Done);
        let is_row = |row: &crate::MatrixRow| row.text.starts_with('#') || row.text.starts_with("import");
        assert!(!matrix.rows.iter().any(is_row), "{matrix:#?}");
    }

    #[test]
    fn a_step_that_a_target_refuses_is_left_to_the_user() {
        let matrix = of(
            "import torch\n\nnet = torch.nn.Linear(2, 1).cuda()\nopt = torch.optim.SGD(net.parameters(), 0.1)\n\n\n\
            def train(loader):\n    for x, y in loader:\n        loss = torch.nn.functional.mse_loss(net(x), y)\n        \
            loss.backward(torch.ones_like(loss))\n        opt.step()\n        print(loss)\n",
        );
        check(&matrix, "opt.step()", "ipu", CellState::NeedsYou);
        check(&matrix, "opt.step()", "hpu", CellState::Untouched);
        assert!(!matrix.rows.iter().any(|row| row.text == "print(loss)"), "{matrix:#?}");
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
        let matrix = matrix(std::slice::from_ref(&file), set, Style::InPlace);
        let row = matrix.rows.iter().find(|row| row.line == 5).expect("the device is a row");
        for (target, cell) in matrix.targets.iter().zip(&row.cells) {
            let Some(line) = cell.line else { continue };
            let options = crate::Options { target: target.clone(), style: Style::InPlace, ..crate::Options::default() };
            let ported = crate::port(std::slice::from_ref(&file), set, &options);
            let there = ported.files[0].text.lines().nth(line - 1).unwrap_or_default().to_owned();
            assert!(there.contains("torch.device("), "{target}: line {line} is {there:?}");
        }
    }
}
