//! Batches that a file of a traceback does not move to the device of its model.

use super::Explanation;
use crate::ported::Ported;
use python::lines::LineStarts;
use python::tree::{Id, Trees};
use training::project::{FileInProject, ProjectFacts};
use training::target::TargetFacts;
use training::{FileView, unmoved};

/// The section whose answer is an unmoved tensor.
const TWO_DEVICES: &str = "errors#two-devices";

/// Tensors that a model or a loss receives, and that are not moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOnHost {
    /// Path of the file in the project.
    pub path: String,
    /// Line of the port, from 1, above which they have to be moved.
    pub line: usize,
    /// Its code.
    pub code: String,
    /// Their names.
    pub names: Vec<String>,
}

/// For a log that complains of tensors on two devices: what the files of its traceback do not move, in the port.
#[must_use]
pub fn left_on_host(found: &Explanation, ported: &Ported, target: &TargetFacts) -> Vec<LeftOnHost> {
    if !found.candidates.iter().any(|one| one.section == TWO_DEVICES) {
        return Vec::new();
    }
    let trees = Trees::default();
    let programs = ported.files.iter().filter(|file| python::is_python(&file.path));
    let parsed = programs.map(|file| (file.path.as_str(), trees.parse(&file.text)));
    let views = FileView::read_all(&parsed.filter(|(_, tree)| !tree.has_error()).collect::<Vec<_>>());
    let all: Vec<&FileView<'_>> = views.iter().collect();
    let mut project = ProjectFacts::collect(&all, target);
    project.follow_values(&all);
    let named = views.iter().filter(|view| found.frames.iter().any(|frame| frame.path == view.path));
    let left = named.flat_map(|view| {
        let lines = LineStarts::new(view.index.text);
        let moves = unmoved::moves(FileInProject { view, project: &project });
        let at = |id: Id, names: Vec<String>| LeftOnHost {
            path: view.path.to_owned(),
            line: lines.row(view.index.range(id).start).0 + 1,
            code: view.index.text_of(id).lines().next().unwrap_or_default().to_owned(),
            names,
        };
        let named = moves.tensors.into_iter().chain(moves.tables).filter(|one| !one.after);
        named.map(|one| at(one.at, one.names)).collect::<Vec<_>>()
    });
    left.collect()
}
