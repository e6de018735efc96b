//! The project on the page: its files, edits to them, and what the worker has of them.

use crate::port::state::fragment::Share;
use crate::port::state::lines::{Lines, Splice};
use crate::port::state::original::Original;
use crate::port::state::project::name_in;
use crate::port::state::steps::Steps;
use crate::port::state::{Choice, Guides, Jump, Notice, Panel, RejectedEdit, State, Switches, Undo};
use codemod::{Example, Options};
use python::SourceFile;
use python::notebook::{Notebook, is_notebook};
use std::sync::Arc;
use training::words::NOTEBOOK_MAGICS;

/// A file of the project.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    /// Path from the project's root.
    pub path: String,
    /// Its text, byte for byte.
    pub lines: Lines,
    /// Whether the page made up the name, because pasted text has none.
    pub unnamed: bool,
    /// The text on which a patch of it is based.
    original: Original,
    /// The notebook as it was opened; the text is its program.
    notebook: Option<Arc<Notebook>>,
}

impl File {
    /// A file with this content.
    fn read(SourceFile { path, text }: SourceFile) -> Self {
        let notebook = is_notebook(&path).then(|| Notebook::read(&text, NOTEBOOK_MAGICS).ok()).flatten();
        let lines = Lines::new(notebook.as_ref().map_or(text, Notebook::program).into());
        let original = Original::of(lines.text().clone());
        Self { path, lines, unnamed: false, original, notebook: notebook.map(Arc::new) }
    }

    /// What the file contains if this is its text.
    pub fn content(&self, text: &str) -> String {
        self.notebook.as_ref().map_or_else(|| text.to_owned(), |notebook| notebook.with_program(text))
    }

    /// The text of the notebook's file as it was opened.
    pub fn notebook(&self) -> Option<&str> {
        self.notebook.as_deref().map(Notebook::json)
    }
}

/// The name of pasted text without a name.
const UNNAMED: &str = "trainer.py";

/// Shown with a patch after edits on the page.
pub const EDITS_INCLUDED: &str = "Your edits in the source are part of the patch.";

/// Files to send to the worker.
#[derive(Clone, Debug, PartialEq)]
pub enum Delivery {
    /// All.
    All,
    /// These.
    Some(Vec<usize>),
}

impl State {
    /// Replaces the project with the user's own. The user's options stay; rejections in the old project are dropped,
    /// and come back with [`State::bring_back`].
    pub fn open(&mut self, files: Vec<SourceFile>) {
        self.set_aside();
        self.touch();
        self.choose_as_before();
        self.put(Share { files, choice: self.choice.clone(), ..Share::default() });
    }

    /// Closes the project, and the guides with it.
    pub fn start_over(&mut self) {
        self.open(Vec::new());
        self.choice.guides = Guides::default();
    }

    /// Opens a new script that was typed or pasted. Returns whether it replaces something.
    pub fn open_typed(&mut self, text: &str) -> bool {
        let replaces = !self.is_empty();
        self.open(Vec::new());
        self.type_text(&Splice { start: 0, end: 0, text: text.to_owned() }, false);
        self.unread = true;
        replaces
    }

    /// Replaces the project with the sample.
    pub fn open_sample(&mut self, file: SourceFile) {
        self.open(vec![file]);
        self.given = true;
    }

    /// Opens a shared project; returns false if it is already open.
    pub fn open_share(&mut self, share: Share) -> bool {
        let now = self.share();
        let other = Share { selected: now.selected, ..share.clone() } != now;
        let originals = if other { Vec::new() } else { self.originals() };
        if other {
            self.set_aside();
            self.lend_choice();
        }
        self.put(share);
        self.put_originals(originals);
        other
    }

    /// Opens an example from a guide; returns false if it is already open.
    pub fn open_example(&mut self, example: Example) -> bool {
        let Options { target, style, sdk, allow_unsafe, annotate, options, .. } = example.options;
        let switches = Switches { allow_unsafe, annotate };
        let choice = Choice { target, style, sdk, switches, options, ..Choice::default() };
        self.open_share(Share { files: vec![example.file], choice, ..Share::default() })
    }

    /// Replaces the open project.
    pub(super) fn put(&mut self, share: Share) {
        self.files = share.files.into_iter().map(File::read).collect();
        self.selected = share.selected.min(self.files.len().saturating_sub(1));
        self.choice = share.choice;
        self.rejected.recipes = share.recipes;
        self.rejected.edits.clear();
        share.edits.into_iter().for_each(|edit| self.rejected.put(edit));
        self.past.clear();
        self.future.clear();
        self.set_outcome(None);
        (self.view, self.good, self.removed, self.twin) = (None, None, None, None);
        self.before_place = None;
        self.unfolded.clear();
        self.ticked.clear();
        self.notice = None;
        self.panel = Panel::Changes;
        self.unread = false;
        self.give_up_trial();
        // The pane of a single file is hidden with its source, and with it the button that brings back the previous
        // project.
        self.source_hidden &= self.files.len() > 1;
        self.project += 1;
        self.unsent = None;
        self.settle_choice();
    }

    /// Originals that differ from the current texts.
    pub(super) fn originals(&self) -> Vec<SourceFile> {
        let of = |f: &File| {
            let text = f.original.kept(f.lines.text())?;
            Some(SourceFile { path: f.path.clone(), text: f.notebook().map_or(text, str::to_owned) })
        };
        self.files.iter().filter_map(of).collect()
    }

    /// Restores the result of [`State::originals`] for the same files.
    pub(super) fn put_originals(&mut self, kept: Vec<SourceFile>) {
        for original in kept {
            if let Some(file) = self.files.iter_mut().find(|file| file.path == original.path) {
                let File { original, notebook, .. } = File::read(original);
                (file.original, file.notebook) = (original, notebook);
            }
        }
    }

    /// Whether a file that was opened or pasted has been edited on the page.
    pub fn is_edited(&self) -> bool {
        self.files.iter().any(|file| file.original.is_edited(file.lines.text()))
    }

    /// The texts on which a patch is based, one per file; empty if they are the current ones.
    pub fn bases(&self) -> Vec<String> {
        let base = |file: &File| file.original.base(file.lines.text()).to_string();
        if self.is_edited() { self.files.iter().map(base).collect() } else { Vec::new() }
    }

    /// The contents of a link.
    pub fn share(&self) -> Share {
        Share {
            files: self.contents(),
            selected: self.selected,
            choice: self.choice.clone(),
            recipes: self.rejected.recipes.clone(),
            // Without groups, as in a link, so that a link to the open project is recognised.
            edits: self.rejected.edits.iter().map(|edit| RejectedEdit { group: 0, ..edit.clone() }).collect(),
        }
    }

    /// The files in the form that the engine expects.
    pub fn sources(&self) -> Vec<SourceFile> {
        let source = |f: &File| SourceFile { path: f.path.clone(), text: f.lines.text().to_string() };
        self.files.iter().map(source).collect()
    }

    /// The files as they are on disk.
    fn contents(&self) -> Vec<SourceFile> {
        let file = |f: &File| SourceFile { path: f.path.clone(), text: f.content(f.lines.text()) };
        self.files.iter().map(file).collect()
    }

    /// The current file.
    pub fn file(&self) -> Option<&File> {
        self.files.get(self.selected)
    }

    /// Whether there is nothing at all.
    pub fn is_blank(&self) -> bool {
        self.is_empty() && self.choice.guides.is_empty()
    }

    /// Whether there is nothing to port.
    pub fn is_empty(&self) -> bool {
        self.files.iter().all(|f| f.lines.text().trim().is_empty())
    }

    /// Applies an edit of the current file, or a paste over its `whole` text. Rejected edits after it are moved; those
    /// inside it are dropped. Returns whether more than the text has changed.
    pub fn type_text(&mut self, splice: &Splice, whole: bool) -> bool {
        let before = (self.files.len(), self.is_empty(), self.notice.take().is_some(), self.rejected.edits.len());
        self.touch();
        if self.files.is_empty() {
            let name = name_in(&splice.text);
            let unnamed = name.is_none();
            let path = name.unwrap_or_else(|| UNNAMED.to_owned());
            let (lines, original) = (Lines::default(), Original::default());
            self.files.push(File { path, lines, unnamed, original, notebook: None });
            self.project += 1;
        }
        let index = self.selected;
        let file = &mut self.files[index];
        let was = std::mem::take(&mut file.lines);
        file.lines = was.spliced(splice);
        file.original.follow(was.text(), file.lines.text(), whole);
        let path = file.path.clone();
        self.rejected.follow(&path, splice);
        self.past.iter_mut().chain(&mut self.future).for_each(|(rejected, _)| rejected.follow(&path, splice));
        match &mut self.unsent {
            Some(unsent) if !unsent.contains(&index) => unsent.push(index),
            _ => {}
        }
        // The next text is a new script.
        if self.is_empty() {
            self.choose_as_before();
        }
        before != (self.files.len(), self.is_empty(), false, 0)
    }

    /// Renames the current file.
    pub fn rename(&mut self, path: &str) {
        let path = path.trim().trim_start_matches('/');
        let index = self.selected;
        if path.is_empty() || self.files.iter().any(|f| f.path == path) || index >= self.files.len() {
            return;
        }
        self.touch();
        self.files[index].unnamed = false;
        if !is_notebook(path) {
            self.files[index].notebook = None;
        }
        let old = std::mem::replace(&mut self.files[index].path, path.to_owned());
        for edit in self.rejected.edits.iter_mut().filter(|e| e.path == old) {
            edit.path = path.to_owned();
        }
        self.unsent = None;
    }

    /// Whether all files have names given by the user or by the code itself.
    pub fn is_named(&self) -> bool {
        self.files.iter().all(|file| !file.unnamed)
    }

    /// Switches to another file.
    pub fn select(&mut self, index: usize) {
        if index < self.files.len() && index != self.selected {
            self.selected = index;
            self.view = None;
            self.unfolded.clear();
            // A step into this file starts at the end from which it is entered.
            self.steps = Steps::entering(matches!(self.jump, Some((_, Jump::Next | Jump::Previous))));
        }
    }

    /// Removes a file from the project.
    pub fn close(&mut self, index: usize) {
        if index < self.files.len() {
            self.touch();
            let gone = self.files.remove(index);
            self.rejected.edits.retain(|edit| edit.path != gone.path);
            let text = format!("Removed {}.", gone.path);
            self.notice = Some(Notice { bad: false, text, undo: Some(Undo::Removal) });
            self.removed = Some((index, gone));
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

    /// Restores the file that was removed last.
    pub fn restore_removed(&mut self) {
        let Some((index, file)) = self.removed.take() else { return };
        self.touch();
        let index = index.min(self.files.len());
        self.files.insert(index, file);
        self.selected = index;
        self.view = None;
        self.set_outcome(None);
        self.notice = None;
        self.project += 1;
        self.unsent = None;
    }

    /// The files that the worker lacks; from now on, they count as sent.
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

    /// A new worker has no files and no guides.
    pub fn forget_sent(&mut self) {
        self.unsent = None;
        (self.asked_for, self.learned) = (None, None);
    }
}
