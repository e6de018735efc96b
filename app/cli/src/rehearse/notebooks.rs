//! Notebooks run as one program, the code of their cells: `NAME.ipynb.py` beside them.

use crate::project::Project;
use codemod::Ported;
use python::notebook::{Notebook, is_notebook};
use training::words::NOTEBOOK_MAGICS;

/// The file that runs for a program of the project: of a notebook the program of its cells.
pub(super) fn started(entry: &str) -> String {
    if is_notebook(entry) { format!("{entry}.py") } else { entry.to_owned() }
}

/// The programs of a project's notebooks, by path, before and after the port.
pub(super) fn programs(project: &Project, ported: &Ported) -> Vec<(String, [String; 2])> {
    let files = project.inputs.iter().zip(&ported.files);
    let before_and_after = files.filter_map(|(input, file)| {
        let (before, after) = input.before_and_after(file).filter(|_| input.notebook.is_some())?;
        Some((started(&input.path), [program(before)?, program(after)?]))
    });
    before_and_after.collect()
}

/// The code of a notebook, with calls for what is not Python.
fn program(json: &str) -> Option<String> {
    let mut notebook = Notebook::read(json, NOTEBOOK_MAGICS).ok()?;
    let program = notebook.program();
    Some(notebook.readable(&program))
}
