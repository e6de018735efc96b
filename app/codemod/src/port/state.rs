//! A file while it is being ported, and what is remembered of it as it was given.

use crate::definitions::Said;
use crate::messages::output_is_not_python;
use crate::place::{self, Remark};
use crate::ported::{Severity, SourceFile};
use crate::rope::{Replacement, Rope};
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

    pub(super) fn apply(&mut self, replacements: &[Replacement]) {
        if replacements.is_empty() {
            return;
        }
        self.rope.apply(replacements);
        let text = self.rope.text();
        if let Some(tree) = &self.tree {
            let spans: Vec<_> = replacements.iter().map(|r| (r.range.clone(), r.text.len())).collect();
            let new = tree.reparse(&text, &spans);
            if new.has_error() {
                let recipes: BTreeSet<&str> = replacements.iter().map(|r| r.by.recipe.as_str()).collect();
                let recipes = recipes.into_iter().collect::<Vec<_>>().join(", ");
                self.give_up(output_is_not_python(recipes));
                return;
            }
            self.tree = Some(new);
        }
        self.text = text;
    }

    pub(super) fn is_changed(&self) -> bool {
        self.text != self.source.text
    }

    pub(super) fn give_up(&mut self, why: Said) {
        self.rope = Rope::new(&self.source.text);
        self.text.clone_from(&self.source.text);
        if self.tree.is_some() {
            self.tree = Some(Tree::parse(&self.text));
        }
        self.blocked = Some(Remark::of_engine(0..0, Severity::Error, why));
    }
}

/// What is remembered of a file as it was given.
#[derive(Default)]
pub(super) struct Origin {
    pub(super) comments: BTreeMap<String, usize>,
    /// Imported names that it used, with what they stand for.
    pub(super) used: BTreeSet<(String, String)>,
    /// What it computed in.
    pub(super) precision: Precision,
}

impl Origin {
    pub(super) fn read(view: &Option<FileView<'_>>, terms: &LedgerTerms) -> Self {
        let mut origin = Self::default();
        if let Some(view) = view {
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
