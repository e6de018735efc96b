//! The project's files as a tree, with the port's result for each.

use crate::port::state::{State, needs_person};
use codemod::Severity;
use sorting::SortedSet;

/// The view options of the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Look {
    /// Show only files that the port changes or has a message about.
    pub changed_only: bool,
    /// Folders that are collapsed.
    pub folded: SortedSet<String>,
}

/// The port's result for a file, or for all files in a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sums {
    /// The number of changes.
    pub changes: usize,
    /// The number of messages that require action.
    pub todo: usize,
    /// The number of files that could not be ported.
    pub failed: usize,
}

/// A line of the tree.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// What it represents.
    pub of: Of,
    /// Its path.
    pub path: String,
    /// Its name.
    pub name: String,
    /// The number of enclosing folders.
    pub depth: usize,
    /// The port's result for it, or for all files in it.
    pub sums: Sums,
    /// Its position in its folder, counted from 1, and the number of entries there.
    pub place: (usize, usize),
}

/// What a line of the tree represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Of {
    /// A folder.
    Folder {
        /// Whether it is expanded.
        open: bool,
    },
    /// A file.
    File {
        /// Its number.
        index: usize,
        /// Whether it is the main program.
        is_program: bool,
    },
    /// A file that the port adds.
    New,
}

/// The effect of a key in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Makes the line with this path the current one.
    To(String),
    /// Collapses or expands the folder.
    Flip(String),
    /// Shows the file.
    Show(usize),
    /// Removes the file.
    Remove(usize),
}

/// The effect of a key on the current line, as WAI-ARIA specifies for trees; `None` for keys that the tree does not
/// use.
pub fn step(nodes: &[Node], at: Option<usize>, key: &str) -> Option<Step> {
    let to = |at: usize| nodes.get(at).map(|node| Step::To(node.path.clone()));
    let Some((at, node)) = at.and_then(|at| Some((at, nodes.get(at)?))) else {
        return match key {
            "ArrowDown" | "Home" => to(0),
            "ArrowUp" | "End" => nodes.len().checked_sub(1).and_then(to),
            _ => None,
        };
    };
    let flip = || Some(Step::Flip(node.path.clone()));
    match (key, node.of) {
        ("ArrowDown", _) => to(at + 1),
        ("ArrowUp", _) => at.checked_sub(1).and_then(to),
        ("Home", _) => to(0),
        ("End", _) => nodes.len().checked_sub(1).and_then(to),
        ("ArrowRight", Of::Folder { open: false }) | ("ArrowLeft", Of::Folder { open: true }) => flip(),
        ("ArrowRight", Of::Folder { open: true }) => {
            nodes.get(at + 1).filter(|next| next.depth > node.depth).and(to(at + 1))
        }
        ("ArrowLeft", _) => nodes[..at].iter().rposition(|other| other.depth < node.depth).and_then(to),
        ("Enter" | " ", Of::Folder { .. }) => flip(),
        ("Enter" | " ", Of::File { index, .. }) => Some(Step::Show(index)),
        ("Delete", Of::File { index, .. }) => Some(Step::Remove(index)),
        _ => {
            // A letter goes to the next line that starts with it.
            let mut letters = key.chars();
            let letter = letters.next().filter(|letter| letter.is_alphanumeric() && letters.next().is_none())?;
            let begins = |place: &usize| {
                nodes[*place].name.chars().next().is_some_and(|first| first.eq_ignore_ascii_case(&letter))
            };
            (at + 1..nodes.len()).chain(0..at).find(begins).and_then(to)
        }
    }
}

impl State {
    /// The lines of the tree: folders with their files, in the order of their paths.
    pub fn tree(&self) -> Vec<Node> {
        let sums: Vec<Sums> = (0..self.files.len()).map(|index| self.sums(index)).collect();
        let shown = |index: &usize| !self.tree.changed_only || sums[*index] != Sums::default();
        let own = (0..self.files.len()).filter(shown).map(|index| (self.files[index].path.as_str(), Some(index)));
        let new = self.outcome.iter().flat_map(|outcome| &outcome.new_files).map(|path| (path.as_str(), None));
        let mut order: Vec<(&str, Option<usize>)> = own.chain(new).collect();
        // Folders before files, as in file managers.
        let place = |(path, _): &(&str, Option<usize>)| {
            let parts: Vec<&str> = path.split('/').collect();
            let last = parts.len() - 1;
            parts.into_iter().enumerate().map(|(at, part)| (at == last, part.to_owned())).collect::<Vec<_>>()
        };
        order.sort_by_cached_key(place);
        let mut nodes = Vec::new();
        let mut open: Vec<String> = Vec::new();
        for (path, index) in order {
            let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
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
                let is_program = |index| self.outcome.as_ref().is_some_and(|outcome| outcome.program == Some(index));
                nodes.push(Node {
                    of: index.map_or(Of::New, |index| Of::File { index, is_program: is_program(index) }),
                    path: path.to_owned(),
                    name: name.to_owned(),
                    depth: around.len(),
                    sums: index.map_or_else(Sums::default, |index| sums[index]),
                    place: (0, 0),
                });
            }
        }
        number(&mut nodes);
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
        Node { of: Of::Folder { open }, path: path.to_owned(), name: name.to_owned(), depth, sums, place: (0, 0) }
    }

    fn sums(&self, index: usize) -> Sums {
        let Some(file) = self.outcome_of(index) else { return Sums::default() };
        Sums {
            changes: file.hunks,
            todo: file.diagnostics.iter().filter(|d| needs_person(d)).count(),
            failed: usize::from(file.diagnostics.iter().any(|d| d.severity == Severity::Error)),
        }
    }

    /// Collapses or expands a folder.
    pub fn flip_folder(&mut self, path: &str) {
        if !self.tree.folded.remove(path) {
            self.tree.folded.insert(path.to_owned());
        }
    }
}

/// Adds to each line its position in its folder.
fn number(nodes: &mut [Node]) {
    // The lines of the enclosing folders, outermost first.
    let mut around: Vec<Vec<usize>> = Vec::new();
    let close = |nodes: &mut [Node], folder: Vec<usize>| {
        for (place, at) in folder.iter().enumerate() {
            nodes[*at].place = (place + 1, folder.len());
        }
    };
    for at in 0..nodes.len() {
        while around.len() > nodes[at].depth + 1 {
            let folder = around.pop().unwrap_or_default();
            close(nodes, folder);
        }
        around.resize_with(nodes[at].depth + 1, Vec::new);
        around[nodes[at].depth].push(at);
    }
    around.into_iter().for_each(|folder| close(nodes, folder));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::protocol::{FileOutcome, Outcome};
    use python::SourceFile;
    use std::sync::Arc;

    fn shown(state: &State) -> Vec<String> {
        let line = |Node { of, name, depth, sums, .. }: &Node| {
            let kind = match of {
                Of::Folder { open: true } => "/ open",
                Of::Folder { open: false } => "/ folded",
                Of::File { .. } => "",
                Of::New => " new",
            };
            format!("{}{name}{kind} {}", "  ".repeat(*depth), sums.changes)
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
        state.flip_folder("src");
        Arc::make_mut(state.outcome.as_mut().unwrap()).new_files = vec!["src/helper.py".into()];
        assert_eq!(shown(&state), ["src/ open 3", "  io/ folded 2", "  helper.py new 0", "  net.py 1"]);
        check(&mut state, "Home ArrowDown ArrowDown Enter Delete", "– – src/helper.py");
    }

    fn opened(paths: &[&str]) -> State {
        let mut state = State::default();
        state.open(paths.iter().map(|path| SourceFile { path: (*path).into(), text: "x\n".into() }).collect());
        state
    }

    #[test]
    fn lines_are_numbered_within_their_folders() {
        let state = opened(&["a/b/one.py", "a/b/two.py", "a/three.py", "c/four.py", "five.py"]);
        let places = state.tree().into_iter().map(|node| format!("{} {}/{}", node.name, node.place.0, node.place.1));
        let expected =
            ["a 1/3", "b 1/2", "one.py 1/2", "two.py 2/2", "three.py 2/2", "c 2/3", "four.py 1/1", "five.py 3/3"];
        assert_eq!(places.collect::<Vec<_>>(), expected);
    }

    /// Presses keys one after another, starting at the first line; returns where they lead and their effects.
    #[track_caller]
    fn check(state: &mut State, keys: &str, expected: &str) {
        let (mut at, mut said) = (None, Vec::new());
        for key in keys.split_whitespace() {
            let nodes = state.tree();
            let here = nodes.iter().position(|node| Some(&node.path) == at.as_ref());
            match step(&nodes, here, key) {
                Some(Step::To(path)) => at = Some(path),
                Some(Step::Flip(path)) => state.flip_folder(&path),
                Some(other) => said.push(format!("{other:?}")),
                None => said.push("–".to_owned()),
            }
        }
        said.push(at.unwrap_or_default());
        assert_eq!(said.join(" "), expected, "{keys}");
    }

    #[test]
    fn keys_walk_the_tree() {
        let mut state = opened(&["src/io/read.py", "src/net.py", "train.py"]);
        let state = &mut state;
        // Without a current line, keys that move enter the tree, and others do nothing.
        check(state, "Enter", "– ");
        check(state, "ArrowRight", "– ");
        check(state, "Delete", "– ");
        check(state, "ArrowDown", "src");
        check(state, "ArrowUp", "train.py");
        check(state, "Home", "src");
        check(state, "End", "train.py");
        // Keys do not move beyond the first and the last line.
        check(state, "Home ArrowUp", "– src");
        check(state, "End ArrowDown", "– train.py");
        check(state, "Home ArrowDown ArrowDown ArrowDown", "src/net.py");
        check(state, "End ArrowUp ArrowUp", "src/io/read.py");
        // Into a folder and out of it.
        check(state, "Home ArrowRight ArrowRight", "src/io/read.py");
        check(state, "End ArrowUp ArrowLeft", "src");
        check(state, "End ArrowRight", "– train.py");
        // Files are shown and removed, folders are collapsed.
        check(state, "Home ArrowDown ArrowDown Enter Delete", "Show(0) Remove(0) src/io/read.py");
        check(state, "Home Delete", "– src");
        check(state, "Home Enter ArrowDown", "train.py");
        check(state, "Home Enter ArrowDown", "src/io");
        // A letter goes to the next line that starts with it, and wraps around at the end.
        check(state, "Home r", "src/io/read.py");
        check(state, "Home N t s", "src");
        check(state, "Home z", "– src");
        check(state, "Home F2", "– src");
    }

    #[test]
    fn arrows_fold_and_unfold() {
        let mut state = opened(&["src/io/read.py", "src/net.py", "train.py"]);
        check(&mut state, "End ArrowUp ArrowLeft ArrowLeft", "src");
        assert_eq!(shown(&state), ["src/ folded 0", "train.py 0"]);
        check(&mut state, "Home ArrowRight ArrowRight", "src/io");
        check(&mut state, "Home ArrowRight ArrowLeft", "src/io");
        assert_eq!(shown(&state), ["src/ open 0", "  io/ folded 0", "  net.py 0", "train.py 0"]);
    }
}
