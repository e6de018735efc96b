//! A file while it is being ported, and what is remembered of it as it was given.

use super::before::Before;
use crate::definitions::Said;
use crate::place::{self, Remark};
use crate::ported::{Severity, SourceFile};
use crate::rope::{Provenance, Replacement, Rope};
use guide::LedgerTerms;
use python::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};
use training::FileView;
use training::ledger::Precision;

/// A file while it is being ported.
pub(super) struct State<'a> {
    pub(super) source: &'a SourceFile,
    pub(super) rope: Rope<'a>,
    pub(super) text: String,
    /// None for files that are no Python.
    pub(super) tree: Option<Tree>,
    /// Why the file is left alone.
    pub(super) blocked: Option<Remark>,
}

impl<'a> State<'a> {
    pub(super) fn open(source: &'a SourceFile) -> Self {
        let mut state =
            Self { source, rope: Rope::new(&source.text), text: source.text.clone(), tree: None, blocked: None };
        let python = python::is_python(&source.path);
        if let Some(blocked) = place::unreadable(source) {
            state.blocked = Some(blocked);
        } else if python {
            let tree = Tree::parse(&source.text);
            state.blocked = place::not_python(&source.text, &tree);
            state.tree = Some(tree);
        }
        state
    }

    /// Applies replacements; where the text would no longer be Python, does nothing and returns whose doing that is.
    pub(super) fn apply(&mut self, replacements: &[Replacement]) -> Vec<Provenance> {
        if replacements.is_empty() {
            return Vec::new();
        }
        let Some((rope, text, tree)) = self.with(replacements) else { return self.culprits(replacements) };
        (self.rope, self.text) = (rope, text);
        if self.tree.is_some() {
            self.tree = tree;
        }
        Vec::new()
    }

    /// The text with replacements; none where it is no Python.
    fn with(&self, replacements: &[Replacement]) -> Option<(Rope<'a>, String, Option<Tree>)> {
        let mut rope = self.rope.clone();
        rope.apply(replacements);
        let text = rope.text();
        let Some(tree) = &self.tree else { return Some((rope, text, None)) };
        let spans: Vec<_> = replacements.iter().map(|r| (r.range.clone(), r.text.len())).collect();
        let tree = tree.reparse(&text, &spans);
        (!tree.has_error()).then_some((rope, text, Some(tree)))
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
        if self.tree.is_some() {
            self.tree = Some(Tree::parse(&self.text));
        }
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
    pub(super) fn read(view: &Option<FileView<'_>>, terms: &LedgerTerms) -> Self {
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
pub(super) fn views<'t>(states: &'t [State<'_>]) -> Vec<Option<FileView<'t>>> {
    states
        .iter()
        .map(|s| match (&s.tree, &s.blocked) {
            (Some(tree), None) => Some(FileView::read(&s.source.path, tree)),
            _ => None,
        })
        .collect()
}
