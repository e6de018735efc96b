//! Connects the page's state to the browser: address, clipboard, downloads, the readers of users' own files.

mod readers;

use crate::launch::protocol::{Script, SiteFile};
use crate::launch::state::{Entry, State};
use crate::shared::{archive, browser};
use launch::Problem;
use launch::form::{FormGroup, Written};
use leptos::ev;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::JsValue;

/// A handle on the state and on what is derived from it.
#[derive(Clone, Copy)]
pub(super) struct Session {
    /// The state.
    pub(super) state: RwSignal<State>,
    /// The current form.
    pub(super) form: Memo<Vec<FormGroup>>,
    /// The script, or the problems.
    pub(super) result: Memo<Result<Written, Vec<Problem>>>,
}

fn hash() -> String {
    browser::window().location().hash().unwrap_or_default()
}

impl Session {
    /// The form's fields as in the address, kept in sync with it.
    pub(super) fn start() -> Session {
        let state = RwSignal::new(State::at(&hash()));
        let form = Memo::new(move |_| state.with(State::form));
        let result = Memo::new(move |_| state.with(State::written));
        // In the single-file site, Back may lead to another page of the same document.
        window_event_listener(ev::popstate, move |_| {
            if state.with_untracked(|state| state.is_at(&hash())) {
                state.update(|state| state.open(&hash()));
            }
        });
        let to_read = Memo::new(move |_| state.with(|state| state.site_file_to_read().map(str::to_owned)));
        Effect::new(move |_| {
            let Some(text) = to_read.get() else { return };
            readers::ask(&readers::SITE_FILES, &SiteFile(text.clone()), move |site| {
                let site = site.unwrap_or_else(|why| Err(not_loaded(&why)));
                state.update(|state| state.site_file_read(text, site));
            });
        });
        let to_check = Memo::new(move |_| state.with(State::script_to_check));
        Effect::new(move |_| {
            let Some((text, target)) = to_check.get() else { return };
            let script = Script { text: text.clone(), target: target.name().to_owned() };
            readers::ask(&readers::SCRIPTS, &script, move |found| {
                state.update(|state| state.script_checked(text, target, found));
            });
        });
        Session { state, form, result }
    }

    /// Writes the form and the script, which are kept until a field changes.
    pub(super) fn write(self) {
        self.form.with_untracked(|_| ());
        self.result.with_untracked(|_| ());
    }

    /// Handles an edit of a field, or the end of one.
    pub(super) fn edit(self, name: &str, value: String, finished: bool) {
        self.state.update(|state| {
            state.edit(name, value);
            if finished {
                state.touch(name);
            }
        });
        self.keep(finished);
    }

    /// Clears the form; Back restores it.
    pub(super) fn clear(self) {
        self.state.update(State::clear);
        self.keep(true);
    }

    /// Writes the fields to the address.
    fn keep(self, finished: bool) {
        let entry = self.state.try_update_untracked(|state| state.entry(finished));
        let (Some(entry), Ok(history)) = (entry, browser::window().history()) else { return };
        // If a browser refuses frequent changes, the only effect is that the address is out of date.
        let replace = |to: &str| drop(history.replace_state_with_url(&JsValue::NULL, "", Some(to)));
        match entry {
            Entry::Keep => {}
            Entry::Replace(now) => replace(&now),
            Entry::Push(before, now) => {
                replace(&before);
                drop(history.push_state_with_url(&JsValue::NULL, "", Some(&now)));
            }
        }
    }

    fn say(self, text: String) {
        self.state.update(|state| state.said = text);
    }

    fn copy(self, what: &'static str, text: String) {
        spawn_local(async move {
            match browser::copy(&text).await {
                Ok(()) => self.say(format!("{what} copied.")),
                Err(why) => self.say(format!("{what} could not be copied: {}", browser::reason(&why))),
            }
        });
    }

    fn download(self, name: &str, kind: &str, bytes: &[u8]) {
        match browser::download(name, kind, bytes) {
            Ok(()) => self.say(format!("Downloaded {name}.")),
            Err(why) => self.say(format!("{name} could not be saved: {}", browser::reason(&why))),
        }
    }

    /// Copies the script.
    pub(super) fn copy_script(self) {
        if let Ok(written) = self.result.get_untracked() {
            self.copy("Script", written.script);
        }
    }

    /// Downloads the script.
    pub(super) fn download_script(self) {
        if let Ok(written) = self.result.get_untracked() {
            self.download(&written.file, "text/x-shellscript", written.script.as_bytes());
        }
    }

    /// Downloads all scripts of this launch as an archive.
    pub(super) fn download_all(self) {
        let files = self.state.with_untracked(State::all_scripts);
        match archive::write(files.iter().map(|(path, text)| (path.as_str(), text.as_str()))) {
            Ok(bytes) => self.download("launch-scripts.zip", "application/zip", &bytes),
            Err(why) => self.say(format!("The archive could not be written: {why}")),
        }
    }

    /// Copies a link to the current form.
    pub(super) fn copy_link(self) {
        self.keep(true);
        self.copy("Link", browser::window().location().href().unwrap_or_default());
    }

    /// The command that writes the same script.
    pub(super) fn command(self) -> String {
        self.state.with(State::command)
    }

    /// Copies the command.
    pub(super) fn copy_command(self) {
        self.copy("Command", self.state.with_untracked(State::command));
    }
}

fn not_loaded(why: &str) -> Problem {
    let field = "site-file".to_owned();
    Problem { field, message: format!("can't be read: the reader of site files stopped: {why}") }
}
