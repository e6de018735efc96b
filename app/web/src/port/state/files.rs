//! The project on the page: its files, what is typed into them, and what the worker has of them.

use crate::port::fragment::Share;
use crate::port::lines::{Lines, Splice};
use crate::port::protocol::Example;
use crate::port::state::{Choice, Panel, Rejected, State};
use codemod::SourceFile;

/// A file of the project.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    /// Path from the project's root.
    pub path: String,
    /// Its text, byte for byte.
    pub lines: Lines,
}

/// A project that was replaced.
#[derive(Clone, Debug, Default)]
pub(super) struct Former {
    files: Vec<File>,
    selected: usize,
    choice: Choice,
    rejected: Rejected,
}

/// Files to hand to the worker.
#[derive(Clone, Debug, PartialEq)]
pub enum Delivery {
    /// All.
    All,
    /// These.
    Some(Vec<usize>),
}

impl State {
    /// Replaces the project. What was chosen stays; what was turned off in the old project goes, and comes back with
    /// [`State::bring_back`].
    pub fn open(&mut self, files: Vec<SourceFile>) {
        if !self.is_empty() {
            self.former = Some(Box::new(Former {
                files: std::mem::take(&mut self.files),
                selected: self.selected,
                choice: self.choice.clone(),
                rejected: self.rejected.clone(),
            }));
        }
        let file = |f: SourceFile| File { path: f.path, lines: Lines::new(f.text.into()) };
        self.files = files.into_iter().map(file).collect();
        self.selected = 0;
        self.rejected = Rejected::default();
        self.past.clear();
        self.future.clear();
        self.set_outcome(None);
        self.view = None;
        self.unfolded.clear();
        self.notice = None;
        self.panel = Panel::Changes;
        self.unread = false;
        self.project += 1;
        self.unsent = None;
    }

    /// Whether [`State::bring_back`] has something to bring.
    pub fn has_former(&self) -> bool {
        self.former.is_some()
    }

    /// Swaps the project for the one it replaced.
    pub fn bring_back(&mut self) {
        if let Some(former) = self.former.take() {
            self.open(Vec::new());
            (self.files, self.selected) = (former.files, former.selected);
            (self.choice, self.rejected) = (former.choice, former.rejected);
        }
    }

    /// Takes a shared project.
    pub fn open_share(&mut self, share: Share) {
        self.open(share.files);
        self.selected = share.selected.min(self.files.len().saturating_sub(1));
        self.choice = share.choice;
        self.rejected.recipes = share.recipes.into_iter().map(|id| (id, 0)).collect();
        self.rejected.edits = share.edits;
        self.settle_choice();
    }

    /// Takes an example out of a guide.
    pub fn open_example(&mut self, example: Example, text: String) {
        self.open(vec![SourceFile { path: example.path, text }]);
        self.choice = Choice {
            target: example.target,
            style: example.style,
            sdk: example.sdk,
            allow_unsafe: example.allow_unsafe,
            options: example.options,
        };
        self.settle_choice();
    }

    /// What a link has to carry.
    pub fn share(&self) -> Share {
        Share {
            files: self.sources(),
            selected: self.selected,
            choice: self.choice.clone(),
            recipes: self.rejected.recipes.iter().map(|(id, _)| id.clone()).collect(),
            edits: self.rejected.edits.clone(),
        }
    }

    /// The files as the engine takes them.
    pub fn sources(&self) -> Vec<SourceFile> {
        let source = |f: &File| SourceFile { path: f.path.clone(), text: f.lines.text().to_string() };
        self.files.iter().map(source).collect()
    }

    /// The file shown.
    pub fn file(&self) -> Option<&File> {
        self.files.get(self.selected)
    }

    /// Whether there is nothing to port.
    pub fn is_empty(&self) -> bool {
        self.files.iter().all(|f| f.lines.text().trim().is_empty())
    }

    /// Something was typed into the file shown. Refused edits behind it move along; those inside it are forgotten.
    pub fn type_text(&mut self, splice: &Splice) {
        if self.files.is_empty() {
            self.files.push(File { path: "trainer.py".into(), lines: Lines::default() });
            self.project += 1;
        }
        let index = self.selected;
        let file = &mut self.files[index];
        let mut text = file.lines.text().to_string();
        text.replace_range(splice.start..splice.end, &splice.text);
        file.lines = Lines::new(text.into());
        let path = file.path.clone();
        self.rejected.follow(&path, splice);
        self.past.iter_mut().chain(&mut self.future).for_each(|rejected| rejected.follow(&path, splice));
        match &mut self.unsent {
            Some(unsent) if !unsent.contains(&index) => unsent.push(index),
            _ => {}
        }
        self.notice = None;
    }

    /// Gives the file shown another path.
    pub fn rename(&mut self, path: &str) {
        let path = path.trim().trim_start_matches('/');
        let index = self.selected;
        if path.is_empty() || self.files.iter().any(|f| f.path == path) || index >= self.files.len() {
            return;
        }
        let old = std::mem::replace(&mut self.files[index].path, path.to_owned());
        for edit in self.rejected.edits.iter_mut().filter(|e| e.path == old) {
            edit.path = path.to_owned();
        }
        self.unsent = None;
    }

    /// Shows another file.
    pub fn select(&mut self, index: usize) {
        if index < self.files.len() && index != self.selected {
            self.selected = index;
            self.view = None;
            self.unfolded.clear();
        }
    }

    /// Takes a file out of the project.
    pub fn close(&mut self, index: usize) {
        if index < self.files.len() {
            let gone = self.files.remove(index);
            self.rejected.edits.retain(|edit| edit.path != gone.path);
            if self.selected >= index {
                self.selected = self.selected.saturating_sub(1);
            }
            self.view = None;
            self.set_outcome(None);
            self.unfolded.clear();
            self.project += 1;
            self.unsent = None;
        }
    }

    /// What the worker lacks; it counts as sent from now on.
    pub fn take_unsent(&mut self) -> Delivery {
        if self.unsent.as_ref().is_none_or(|unsent| !unsent.is_empty()) {
            self.matrix.done = 0;
            self.trials.forget();
        }
        match self.unsent.replace(Vec::new()) {
            Some(some) => Delivery::Some(some),
            None => Delivery::All,
        }
    }

    /// A new worker knows nothing.
    pub fn forget_sent(&mut self) {
        self.unsent = None;
    }
}
