//! What the page's controls ask of the worker.

use super::session::Session;
use super::{engine, files};
use crate::check::state::Slot;
use leptos::prelude::*;
use web_sys::File;

impl Session {
    /// The user sets a control.
    pub(in crate::check) fn choose(self, key: &'static str, value: &str) {
        self.state.update(|state| state.choose(key, value));
        self.keep();
        if key == "precision" {
            engine::compare_again(self);
        }
    }

    /// The user chooses a file, or drops one.
    pub(in crate::check) fn choose_file(self, slot: Slot, file: File) {
        let chosen = files::described(&file);
        if self.state.try_update(|state| state.choose_file(slot, chosen)) != Some(true) {
            return;
        }
        self.files.update_value(|files| files.put(slot, file));
        match slot {
            Slot::Candidate => engine::compare_again(self),
            _ => self.keep(),
        }
    }

    /// Computes what the form says.
    pub(in crate::check) fn run(self) {
        engine::run(self);
    }

    /// Ends what goes on; the form and the last results stay.
    pub(in crate::check) fn cancel(self) {
        engine::cancel(self);
    }

    /// Downloads the last run as a file.
    pub(in crate::check) fn download_bundle(self) {
        engine::bundle(self);
    }
}
