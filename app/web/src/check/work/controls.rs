//! Actions of the page's controls that involve the worker.

use super::session::Session;
use super::{engine, files, opening};
use crate::check::state::Slot;
use leptos::prelude::*;
use web_sys::File;

impl Session {
    /// Sets the value of a control.
    pub(in crate::check) fn choose(self, key: &'static str, value: &str) {
        self.state.update(|state| state.choose(key, value));
        self.keep();
        if key == "precision" {
            engine::compare_again(self);
        }
    }

    /// Handles a file that the user chose or dropped.
    pub(in crate::check) fn choose_file(self, slot: Slot, file: File) {
        let chosen = files::described(&file);
        if self.state.try_update(|state| state.choose_file(slot, chosen)) != Some(true) {
            return;
        }
        self.files.update_value(|files| files.put(slot, file));
        match slot {
            Slot::Candidate => engine::compare_again(self),
            Slot::Weights => self.keep(),
            Slot::Input => {
                self.keep();
                opening::open_chosen(self);
            }
        }
    }

    /// Runs the form's network.
    pub(in crate::check) fn run(self) {
        engine::run(self);
    }

    /// Cancels the current task; the form and the last results stay.
    pub(in crate::check) fn cancel(self) {
        engine::cancel(self);
    }

    /// Downloads the last run as a file.
    pub(in crate::check) fn download_bundle(self) {
        engine::bundle(self);
    }
}
