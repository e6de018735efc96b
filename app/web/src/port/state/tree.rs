//! The project's files as a tree, with what the port makes of each.

use crate::port::state::{State, needs_person};
use codemod::Severity;
use std::collections::BTreeSet;

/// How the tree is looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Look {
    /// Only files that the port changes or has something to say about.
    pub changed_only: bool,
    /// Folders that are folded.
    pub folded: BTreeSet<String>,
}

/// What the port makes of a file, or of all in a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sums {
    /// Changed places.
    pub changes: usize,
    /// Messages that want a person.
    pub todo: usize,
    /// Files that could not be ported.
    pub failed: usize,
}

/// A line of the tree.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// A folder, and all that is in it.
    Folder {
        /// Its path.
        path: String,
        /// Its name.
        name: String,
        /// Folders around it.
        depth: usize,
        /// Its files are shown.
        open: bool,
        /// What the port makes of them.
        sums: Sums,
    },
    /// A file.
    File {
        /// Its number.
        index: usize,
        /// Its path.
        path: String,
        /// Its name.
        name: String,
        /// Folders around it.
        depth: usize,
        /// What the port makes of it.
        sums: Sums,
        /// The file that is run.
        is_program: bool,
    },
}

impl State {
    /// The lines of the tree: folders with their files, in the order of their paths.
    pub fn tree(&self) -> Vec<Node> {
        let sums: Vec<Sums> = (0..self.files.len()).map(|index| self.sums(index)).collect();
        let shown = |index: &usize| !self.tree.changed_only || sums[*index] != Sums::default();
        let mut order: Vec<usize> = (0..self.files.len()).filter(shown).collect();
        // Folders before files, as file managers have it.
        let place = |index: &usize| {
            let parts: Vec<&str> = self.files[*index].path.split('/').collect();
            let last = parts.len() - 1;
            parts.into_iter().enumerate().map(|(at, part)| (at == last, part)).collect::<Vec<_>>()
        };
        order.sort_by_cached_key(place);
        let mut nodes = Vec::new();
        let mut open: Vec<String> = Vec::new();
        for index in order {
            let path = &self.files[index].path;
            let (folders, name) = path.rsplit_once('/').map_or(("", path.as_str()), |(folders, name)| (folders, name));
            let around: Vec<&str> = folders.split('/').filter(|part| !part.is_empty()).collect();
            let wanted: Vec<String> = (1..=around.len()).map(|depth| around[..depth].join("/")).collect();
            let same = open.iter().zip(&wanted).take_while(|(a, b)| a == b).count();
            for (depth, folder) in wanted.iter().enumerate().skip(same) {
                if !self.is_folded(&wanted[..depth]) {
                    nodes.push(self.folder(folder, around[depth], depth, &sums));
                }
            }
            open.clone_from(&wanted);
            if !self.is_folded(&wanted) {
                nodes.push(Node::File {
                    index,
                    path: path.clone(),
                    name: name.to_owned(),
                    depth: around.len(),
                    sums: sums[index],
                    is_program: self.outcome.as_ref().is_some_and(|outcome| outcome.program == Some(index)),
                });
            }
        }
        nodes
    }

    fn is_folded(&self, around: &[String]) -> bool {
        around.iter().any(|folder| self.tree.folded.contains(folder))
    }

    fn folder(&self, path: &str, name: &str, depth: usize, sums: &[Sums]) -> Node {
        let inside = |file: &&(usize, &crate::port::state::File)| {
            file.1.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
        };
        let files: Vec<_> = self.files.iter().enumerate().collect();
        let sums = files.iter().filter(inside).fold(Sums::default(), |all, (index, _)| Sums {
            changes: all.changes + sums[*index].changes,
            todo: all.todo + sums[*index].todo,
            failed: all.failed + sums[*index].failed,
        });
        let open = !self.tree.folded.contains(path);
        Node::Folder { path: path.to_owned(), name: name.to_owned(), depth, open, sums }
    }

    fn sums(&self, index: usize) -> Sums {
        let Some(file) = self.outcome_of(index) else { return Sums::default() };
        Sums {
            changes: file.hunks,
            todo: file.diagnostics.iter().filter(|d| needs_person(d)).count(),
            failed: usize::from(file.diagnostics.iter().any(|d| d.severity == Severity::Error)),
        }
    }

    /// Folds a folder, or opens it.
    pub fn flip_folder(&mut self, path: &str) {
        if !self.tree.folded.remove(path) {
            self.tree.folded.insert(path.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::protocol::{FileOutcome, Outcome};
    use python::SourceFile;
    use std::sync::Arc;

    fn shown(state: &State) -> Vec<String> {
        let line = |node: &Node| match node {
            Node::Folder { name, depth, open, sums, .. } => {
                format!("{}{name}/ {} {}", "  ".repeat(*depth), if *open { "open" } else { "folded" }, sums.changes)
            }
            Node::File { name, depth, sums, .. } => format!("{}{name} {}", "  ".repeat(*depth), sums.changes),
        };
        state.tree().iter().map(line).collect()
    }

    #[test]
    fn files_stand_in_their_folders() {
        let mut state = State::default();
        let file = |path: &str| SourceFile { path: path.into(), text: "x\n".into() };
        state.open(["a.py", "src/io/read.py", "src/net.py"].map(file).into());
        let outcome = |(path, hunks): (&str, usize)| FileOutcome { path: path.into(), hunks, ..FileOutcome::default() };
        let files = [("a.py", 0), ("src/io/read.py", 2), ("src/net.py", 1)].map(outcome).into();
        state.set_outcome(Some(Arc::new(Outcome { files, ..Outcome::default() })));
        assert_eq!(shown(&state), ["src/ open 3", "  io/ open 2", "    read.py 2", "  net.py 1", "a.py 0"]);
        state.flip_folder("src/io");
        assert_eq!(shown(&state), ["src/ open 3", "  io/ folded 2", "  net.py 1", "a.py 0"]);
        state.tree.changed_only = true;
        state.flip_folder("src");
        assert_eq!(shown(&state), ["src/ folded 3"]);
    }
}
