//! Programs for unit tests of analyses. A line of `^` below a program's text marks the node that a test asks about:
//!
//! ```text
//! keep = labels == 1
//! x[keep]
//!   ^^^^
//! ```
//!
//! A mark below a keyword stands for its whole statement. The lines of marks are not part of the program. A program has
//! several files if a line such as `#- models.py` begins each of them; the facts are those of all files together.

use crate::project::{FileInProject, ProjectFacts};
use crate::step::{Obstacle, TrainingStep};
use crate::target::TargetFacts;
use crate::view::FileView;
use python::tree::{Id, Tree};
use std::fmt::Debug;
use std::ops::Range;

/// Compares the answer of a query about a program with the expected one.
#[track_caller]
pub(crate) fn check<T: PartialEq<E> + Debug, E: Debug>(
    program: &str,
    expected: E,
    query: impl FnOnce(&Marked<'_, '_>) -> T,
) {
    let files = files(program);
    let trees: Vec<Tree> = files.iter().map(|file| Tree::parse(&file.text)).collect();
    assert!(!trees.iter().any(Tree::has_error), "not Python:\n{program}");
    let read: Vec<(&str, &Tree)> = files.iter().zip(&trees).map(|(file, tree)| (file.path.as_str(), tree)).collect();
    let views = FileView::read_all(&read);
    let modes = ["cpu", "hpu", "ipu", "rdu", "xpu"].map(str::to_owned).to_vec();
    let target = TargetFacts { mode: "HPU".to_owned(), compute_modes: modes, ..TargetFacts::default() };
    let mut project = ProjectFacts::collect(&views.iter().collect::<Vec<_>>(), &target);
    project.follow_values(&views.iter().collect::<Vec<_>>());
    let marks = files.iter().enumerate().flat_map(|(n, file)| file.marks.iter().map(move |mark| (n, mark)));
    let marks: Vec<(usize, Id)> = marks.map(|(n, mark)| (n, node(&views[n], mark))).collect();
    let found = query(&Marked { views: &views, project: &project, marks: &marks });
    assert!(found == expected, "\nexpected {expected:?}\nbut got  {found:?} for\n{program}");
}

/// A program that was read, with its marks.
pub(crate) struct Marked<'a, 't> {
    /// Its files.
    pub(crate) views: &'a [FileView<'t>],
    /// What they show together.
    pub(crate) project: &'a ProjectFacts<'a, 't>,
    marks: &'a [(usize, Id)],
}

impl<'a, 't> Marked<'a, 't> {
    /// The file with the first mark; without marks the first one.
    pub(crate) fn file(&self) -> FileInProject<'a, 't> {
        let file = self.marks.first().map_or(0, |(file, _)| *file);
        FileInProject { view: &self.views[file], project: self.project }
    }

    /// The node at the first mark.
    #[track_caller]
    pub(crate) fn node(&self) -> Id {
        self.marks.first().expect("a program with a mark").1
    }

    /// The node at the last mark.
    #[track_caller]
    pub(crate) fn last(&self) -> Id {
        self.marks.last().expect("a program with a mark").1
    }

    /// The files, as queries about a whole project take them.
    pub(crate) fn project_views(&self) -> Vec<&'a FileView<'t>> {
        self.views.iter().collect()
    }

    /// The function or the loop of the file's first training step.
    #[track_caller]
    pub(crate) fn whole(&self) -> Id {
        *self.file().view.steps.training.first().expect("a program that trains")
    }

    /// The file's first training step, or the obstacles to reading it.
    #[track_caller]
    pub(crate) fn step(&self) -> Result<TrainingStep<'a, 't>, Vec<Obstacle>> {
        TrainingStep::read(self.file(), self.whole())
    }

    /// Nodes by the first line of each, one below the other.
    pub(crate) fn lines(&self, ids: impl IntoIterator<Item = Id>) -> String {
        let index = &self.file().view.index;
        let lines = ids.into_iter().map(|id| index.text_of(id).lines().next().unwrap_or_default());
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// A program that begins with a model, its optimizer and a loader.
pub(crate) fn with_setup(rest: &str) -> String {
    let setup = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\nnet = nn.Linear(2, 2)\n\
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n\
        loader = torch.utils.data.DataLoader(data, batch_size=8)\n";
    setup.lines().chain(unindented(rest)).map(|line| format!("{line}\n")).collect()
}

/// The lines of a program that is indented as a whole.
fn unindented(program: &str) -> impl Iterator<Item = &str> {
    let lines = program.lines().filter(|line| !line.trim().is_empty());
    let indent = lines.map(|line| line.len() - line.trim_start().len()).min().unwrap_or_default();
    program.lines().map(move |line| line.get(indent..).unwrap_or_default())
}

/// Obstacles by their names.
pub(crate) fn names(obstacles: &[Obstacle]) -> String {
    obstacles.iter().map(|obstacle| obstacle.name).collect::<Vec<_>>().join(" ")
}

/// A file without its lines of marks, and the ranges of its text above them.
struct File {
    path: String,
    text: String,
    marks: Vec<Range<usize>>,
}

fn files(program: &str) -> Vec<File> {
    let mut files = vec![File { path: "train.py".to_owned(), text: String::new(), marks: Vec::new() }];
    let mut above = 0;
    for line in unindented(program) {
        let file = files.last_mut().expect("there is one from the start");
        if let Some(path) = line.strip_prefix("#- ") {
            let next = File { path: path.to_owned(), text: String::new(), marks: Vec::new() };
            // A program may begin with such a line.
            if file.text.trim().is_empty() { *file = next } else { files.push(next) }
        } else if line.contains('^') && line.trim_matches([' ', '^']).is_empty() {
            let (from, to) = (line.find('^').unwrap_or_default(), line.len());
            file.marks.push(above + from..above + to);
        } else {
            above = file.text.len();
            file.text += line;
            file.text.push('\n');
        }
    }
    files
}

/// The innermost node at a mark.
#[track_caller]
fn node(view: &FileView<'_>, mark: &Range<usize>) -> Id {
    let index = &view.index;
    let is_marked = |id: &Id| {
        let range = index.range(*id);
        range == *mark || range.start == mark.start && index.last_row(*id) > index.row(*id)
    };
    let found = index.innermost(mark).filter(is_marked);
    found.unwrap_or_else(|| panic!("no node is exactly above the mark of {:?}", index.text.get(mark.clone())))
}

#[test]
fn a_mark_stands_for_the_text_above_it() {
    let text = |at: &Marked<'_, '_>| at.lines([at.node()]);
    check("x[labels == 1]\n  ^^^^^^^^^^^\n", "labels == 1", text);
    check("x = 1\nfor x in y:\n^^^\n    f(x)\n", "for x in y:", text);
    let spaced = "
        def f(x):
            return g(x)
                   ^^^^
    ";
    check(spaced, "g(x)", text);
    check("#- a.py\nx = 1\n#- b.py\ny = 2\n    ^\n", "b.py 2", |at| format!("{} {}", at.file().path, text(at)));
}
