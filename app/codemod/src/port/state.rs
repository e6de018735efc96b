//! A file during a port, and facts about its original.

use super::before::Before;
use super::settled::{choices_with_own, for_older_releases, settled, tests_for_kernels};
use crate::definitions::Said;
use crate::machines_device::MachinesDevice;
use crate::messages;
use crate::place::{self, Remark};
use crate::ported::{Severity, SourceFile};
use crate::reached::mentions;
use crate::rope::{Provenance, Replacement, Rope};
use guide::LedgerTerms;
use python::names::Packages;
use python::notebook::is_notebook;
use python::packages::packages;
use python::tree::ROOT;
use python::{Tree, Trees};
use sorting::SortedSet;
use std::ops::Range;
use std::rc::Rc;
use training::FileView;
use training::ledger::Precision;

/// A file during a port.
pub(super) struct State<'a> {
    pub(super) source: &'a SourceFile,
    pub(super) rope: Rope<'a>,
    pub(super) text: String,
    /// None for non-Python files.
    pub(super) tree: Option<&'a Tree>,
    /// Facts read from the tree; none if the text is not Python. Kept, because most rounds change few files.
    view: Option<Rc<FileView<'a>>>,
    /// The same for the original file.
    original: (Option<&'a Tree>, Option<Rc<FileView<'a>>>),
    /// What it imports from other files.
    packages: Packages,
    /// Why the file is not edited.
    pub(super) blocked: Option<Remark>,
    trees: &'a Trees,
}

impl<'a> State<'a> {
    /// Opens the files of a project.
    pub(super) fn open_all(files: &'a [SourceFile], trees: &'a Trees) -> Vec<Self> {
        let mut states: Vec<Self> = files.iter().map(|file| Self::open(file, trees)).collect();
        let mut readable: Vec<&mut Self> = states.iter_mut().filter(|state| state.view.is_some()).collect();
        let views: Vec<Rc<FileView<'_>>> = readable.iter().filter_map(|state| state.view.clone()).collect();
        let packages = packages(&views.iter().map(|view| &view.file).collect::<Vec<_>>());
        for (state, packages) in readable.iter_mut().zip(packages).filter(|(_, packages)| !packages.is_empty()) {
            state.packages = packages;
            state.view = state.tree.map(|tree| state.read(tree));
            state.original.1.clone_from(&state.view);
        }
        states
    }

    fn read(&self, tree: &'a Tree) -> Rc<FileView<'a>> {
        Rc::new(FileView::read_with(&self.source.path, tree, &self.packages))
    }

    fn open(source: &'a SourceFile, trees: &'a Trees) -> Self {
        let (mut tree, mut view, mut blocked) = (None, None, place::unreadable(source));
        if blocked.is_none() && python::is_python(&source.path) {
            let parsed = trees.parse(&source.text);
            blocked = place::not_python(&source.text, parsed);
            view = blocked.is_none().then(|| Rc::new(FileView::read(&source.path, parsed)));
            tree = Some(parsed);
        }
        let (rope, text, original) = (Rope::new(&source.text), source.text.clone(), (tree, view.clone()));
        Self { source, rope, text, tree, view, original, packages: Packages::default(), blocked, trees }
    }

    /// Leaves a notebook that computes with a framework, if Jupyter can't start a program on the target.
    pub(super) fn bar_notebook(&mut self, launcher: Option<&str>) {
        let computes = |view: &Rc<FileView<'_>>| ["torch", "tensorflow"].iter().any(|name| view.names.imports(name));
        if let Some(launcher) = launcher.filter(|_| is_notebook(&self.source.path))
            && self.view().as_ref().is_some_and(computes)
        {
            let said = messages::notebook_needs_launcher(launcher);
            self.blocked = Some(Remark::of_engine(0..0, Severity::Warning, said));
        }
    }

    /// The current file, if it is Python that can be ported.
    pub(super) fn view(&self) -> Option<Rc<FileView<'a>>> {
        self.view.clone().filter(|_| self.blocked.is_none())
    }

    /// The original and the current file, if these are Python.
    pub(super) fn both_views(&self) -> (Option<Rc<FileView<'a>>>, Option<Rc<FileView<'a>>>) {
        (self.original.1.clone(), self.view.clone())
    }

    /// Applies replacements; if the text would no longer be Python, does nothing and returns the responsible edits.
    pub(super) fn apply(&mut self, replacements: &[Replacement]) -> Vec<Provenance> {
        if replacements.is_empty() {
            return Vec::new();
        }
        let Some((rope, text, tree)) = self.with(replacements) else { return self.culprits(replacements) };
        (self.rope, self.text) = (rope, text);
        if let Some(tree) = tree {
            let tree = self.trees.keep(tree);
            self.tree = Some(tree);
            self.view = Some(self.read(tree));
        }
        Vec::new()
    }

    /// The text with replacements; none if it is not Python.
    fn with(&self, replacements: &[Replacement]) -> Option<(Rope<'a>, String, Option<Tree>)> {
        let mut rope = self.rope.clone();
        rope.apply(replacements);
        let mut text = rope.text();
        let ends = self.without_last_newline(&text, replacements);
        if let Some(end) = &ends {
            rope.apply(std::slice::from_ref(end));
            text.truncate(end.range.start);
        }
        let Some(tree) = self.tree else { return Some((rope, text, None)) };
        let replaced: Vec<_> = replacements.iter().map(|r| (r.range.clone(), r.text.len())).collect();
        let tree = if ends.is_some() { Tree::parse(&text) } else { tree.reparse(&text, &replaced) };
        (!tree.has_error()).then_some((rope, text, Some(tree)))
    }

    /// Removes newlines at the end of a text whose last lines were removed, if the original ends without one.
    fn without_last_newline(&self, text: &str, replacements: &[Replacement]) -> Option<Replacement> {
        let given = &self.source.text;
        if given.is_empty() || given.ends_with('\n') || !text.ends_with('\n') {
            return None;
        }
        let start = text.trim_end_matches(['\r', '\n']).len();
        Some(Replacement { range: start..text.len(), text: String::new(), by: replacements.last()?.by.clone() })
    }

    /// The authors without whom the replacements would give Python.
    fn culprits(&self, replacements: &[Replacement]) -> Vec<Provenance> {
        let mut authors = authors(replacements);
        let parses = |authors: &[&Provenance]| {
            let of_them: Vec<Replacement> = replacements.iter().filter(|r| authors.contains(&&r.by)).cloned().collect();
            self.with(&of_them).is_some()
        };
        let mut out = Vec::new();
        while !parses(&authors) {
            // The first one with whom the text is no longer Python.
            let (mut good, mut bad) = (0, authors.len());
            while bad - good > 1 {
                let middle = (good + bad) / 2;
                if parses(&authors[..middle]) {
                    good = middle;
                } else {
                    bad = middle;
                }
            }
            if authors.is_empty() {
                break;
            }
            out.push(authors.remove(bad - 1).clone());
        }
        out
    }

    /// Reverts to the original file.
    pub(super) fn restart(&mut self) {
        self.rope = Rope::new(&self.source.text);
        self.text.clone_from(&self.source.text);
        (self.tree, self.view) = self.original.clone();
    }

    pub(super) fn is_changed(&self) -> bool {
        self.text != self.source.text
    }

    pub(super) fn give_up(&mut self, why: Said) {
        self.restart();
        self.blocked = Some(Remark::of_engine(0..0, Severity::Error, why));
    }
}

/// Who makes these replacements, each once.
pub(super) fn authors(replacements: &[Replacement]) -> Vec<&Provenance> {
    let mut authors: Vec<&Provenance> = Vec::new();
    for r in replacements {
        if !authors.contains(&&r.by) {
            authors.push(&r.by);
        }
    }
    authors
}

/// Facts about the original file.
#[derive(Default)]
pub(super) struct Origin {
    /// Imported names that it used, with their meanings.
    pub(super) used: SortedSet<(String, String)>,
    /// Its Python errors; none for a non-Python file.
    pub(super) before: Option<Before>,
    /// Its number type.
    pub(super) precision: Precision,
    /// Ranges that are left as they are, without a message: [`settled`].
    pub(super) settled: Vec<Range<usize>>,
    /// Tests that are left as they are, with a message.
    pub(super) kept: Vec<Range<usize>>,
    /// Tests that stay because their code needs the source vendor's card, with a message, and that code, without one:
    /// [`kept_guards`](super::settled::kept_guards).
    pub(super) guards: Vec<Range<usize>>,
    pub(super) guarded: Vec<Range<usize>>,
    /// Statements that only releases of PyTorch without the newer names run: [`for_older_releases`].
    pub(super) older: Vec<Range<usize>>,
    /// Choices that have the target.
    pub(super) choices: Vec<Range<usize>>,
    /// Whether it names the target's device.
    pub(super) names_target: bool,
}

impl Origin {
    pub(super) fn read(view: Option<&FileView<'_>>, terms: &LedgerTerms) -> Self {
        let mut origin = Self::default();
        if let Some(view) = view {
            origin.before = Some(Before::read(&view.index));
            origin.used = python::imports::read_imports(view);
            origin.precision.read(view, terms, true);
            origin.settled = terms.autocast.as_ref().map_or_else(Vec::new, |own| settled(view, &own.device));
            origin.older = for_older_releases(view);
            let device = terms.autocast.as_ref().map_or("", |own| &own.device);
            let only_others = MachinesDevice::read(view, Some(device)).only_with_cuda;
            origin.settled.extend(only_others.into_iter().map(|id| view.index.range(id)));
            origin.choices = terms.autocast.as_ref().map_or_else(Vec::new, |own| choices_with_own(view, &own.device));
            origin.names_target = terms.autocast.as_ref().is_some_and(|own| mentions(view, ROOT, &own.device));
            origin.kept = terms.autocast.as_ref().map_or_else(Vec::new, |_| tests_for_kernels(view));
        }
        origin
    }
}

/// The current files, if they are Python that can be ported.
pub(super) fn views<'a>(states: &[State<'a>]) -> Vec<Option<Rc<FileView<'a>>>> {
    states.iter().map(State::view).collect()
}
