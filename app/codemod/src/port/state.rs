//! A file while it is being ported, and what is remembered of it as it was given.

use super::before::Before;
use crate::definitions::Said;
use crate::place::{self, Remark};
use crate::ported::{Severity, SourceFile};
use crate::rope::{Provenance, Replacement, Rope};
use guide::LedgerTerms;
use python::{Tree, Trees};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use training::FileView;
use training::ledger::Precision;

/// A file while it is being ported.
pub(super) struct State<'a> {
    pub(super) source: &'a SourceFile,
    pub(super) rope: Rope<'a>,
    pub(super) text: String,
    /// None for files that are no Python.
    pub(super) tree: Option<&'a Tree>,
    /// What was read off the tree; none where the text is no Python. Most rounds change few files, so it is kept.
    view: Option<Rc<FileView<'a>>>,
    /// The same of the file as it was given.
    original: (Option<&'a Tree>, Option<Rc<FileView<'a>>>),
    /// Why the file is left alone.
    pub(super) blocked: Option<Remark>,
    trees: &'a Trees,
}

impl<'a> State<'a> {
    pub(super) fn open(source: &'a SourceFile, trees: &'a Trees) -> Self {
        let (mut tree, mut view, mut blocked) = (None, None, place::unreadable(source));
        if blocked.is_none() && python::is_python(&source.path) {
            let parsed = trees.parse(&source.text);
            blocked = place::not_python(&source.text, parsed);
            view = blocked.is_none().then(|| Rc::new(FileView::read(&source.path, parsed)));
            tree = Some(parsed);
        }
        let (rope, text, original) = (Rope::new(&source.text), source.text.clone(), (tree, view.clone()));
        Self { source, rope, text, tree, view, original, blocked, trees }
    }

    /// The file as it is, where it is Python that can be ported.
    pub(super) fn view(&self) -> Option<Rc<FileView<'a>>> {
        self.view.clone().filter(|_| self.blocked.is_none())
    }

    /// The file as it was given and as it is, where these are Python.
    pub(super) fn both_views(&self) -> (Option<Rc<FileView<'a>>>, Option<Rc<FileView<'a>>>) {
        (self.original.1.clone(), self.view.clone())
    }

    /// Applies replacements; where the text would no longer be Python, does nothing and returns whose doing that is.
    pub(super) fn apply(&mut self, replacements: &[Replacement]) -> Vec<Provenance> {
        if replacements.is_empty() {
            return Vec::new();
        }
        let Some((rope, text, tree)) = self.with(replacements) else { return self.culprits(replacements) };
        (self.rope, self.text) = (rope, text);
        if let Some(tree) = tree {
            let tree = self.trees.keep(tree);
            self.tree = Some(tree);
            self.view = Some(Rc::new(FileView::read(&self.source.path, tree)));
        }
        Vec::new()
    }

    /// The text with replacements; none where it is no Python.
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
        let spans: Vec<_> = replacements.iter().map(|r| (r.range.clone(), r.text.len())).collect();
        let tree = if ends.is_some() { Tree::parse(&text) } else { tree.reparse(&text, &spans) };
        (!tree.has_error()).then_some((rope, text, Some(tree)))
    }

    /// Takes the newlines back that end a text whose last lines went, where the file as it was given ends without one.
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
        let mut authors: Vec<&Provenance> = Vec::new();
        for r in replacements {
            if !authors.contains(&&r.by) {
                authors.push(&r.by);
            }
        }
        let parses = |authors: &[&Provenance]| {
            let of_them: Vec<Replacement> = replacements.iter().filter(|r| authors.contains(&&r.by)).cloned().collect();
            self.with(&of_them).is_some()
        };
        let mut out = Vec::new();
        while !parses(&authors) {
            // The first one with whom the text is Python no more.
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

    /// Back to the file as it was given.
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

/// What is remembered of a file as it was given.
#[derive(Default)]
pub(super) struct Origin {
    pub(super) comments: BTreeMap<String, usize>,
    /// Imported names that it used, with what they stand for.
    pub(super) used: BTreeSet<(String, String)>,
    /// What Python would say against it; none for a file that is no Python.
    pub(super) before: Option<Before>,
    /// What it computed in.
    pub(super) precision: Precision,
}

impl Origin {
    pub(super) fn read(view: Option<&FileView<'_>>, terms: &LedgerTerms) -> Self {
        let mut origin = Self::default();
        if let Some(view) = view {
            origin.before = Some(Before::read(&view.index));
            origin.comments = place::comments(&view.index);
            origin.used = python::imports::read_imports(view);
            origin.precision.read(view, terms, true);
        }
        origin
    }
}

/// The files as they are, where they are Python that can be ported.
pub(super) fn views<'a>(states: &[State<'a>]) -> Vec<Option<Rc<FileView<'a>>>> {
    states.iter().map(State::view).collect()
}
