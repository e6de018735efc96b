//! The log that the user pasted, and what is known about it.

use super::Session;
use crate::port::protocol::{Answer, Ask, Parcel};
use crate::port::work::engine;
use crate::shared::browser;
use leptos::prelude::*;
use std::sync::Arc;

/// Milliseconds without typing before a log is looked up.
const PAUSE: i32 = 250;

impl Session {
    /// The log is another; it is looked up after a pause in typing.
    pub(in crate::port) fn type_log(self, log: String) {
        self.state.update(|state| {
            state.log.clone_from(&log);
            if log.trim().is_empty() {
                state.explanation = None;
            }
        });
        browser::later(PAUSE, move || {
            if self.state.with_untracked(|state| state.log == log) {
                self.explain();
            }
        });
    }

    /// Looks the log up.
    pub(in crate::port) fn explain(self) {
        let (log, options) = self.state.with_untracked(|state| (state.log.clone(), state.options()));
        if log.trim().is_empty() {
            return;
        }
        let ask = Parcel { head: Ask::Explain(options), texts: vec![log.clone()], colours: Vec::new() };
        engine::ask(ask, move |answer| {
            let Answer::Explained(found) = answer.head else { return };
            self.state.update(|state| {
                if state.log == log {
                    state.explanation = Some(Arc::new(*found));
                }
            });
        });
    }
}
