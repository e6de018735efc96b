//! A handle on the page's state, and those actions of its controls that do not involve the worker.

use super::files::Files;
use super::running::Running;
use crate::check::state::planes::Planes;
use crate::check::state::report::json;
use crate::check::state::{Comparison, Place, State};
use crate::shared::browser;
use leptos::ev;
use leptos::prelude::*;
use leptos::task::spawn_local;

/// A handle on the state and on related data.
#[derive(Clone, Copy)]
pub(in crate::check) struct Session {
    /// The state.
    pub(in crate::check) state: RwSignal<State>,
    /// The planes.
    pub(in crate::check) planes: RwSignal<Planes>,
    /// The chosen files. The worker reads them.
    pub(super) files: StoredValue<Files, LocalStorage>,
    /// The worker.
    pub(super) engine: StoredValue<Running, LocalStorage>,
}

fn hash() -> String {
    browser::window().location().hash().unwrap_or_default()
}

/// Focuses a control after its contents have been updated.
pub(super) fn focus(id: String) {
    browser::later(0, move || {
        if let Some(control) = browser::element(&id) {
            // An element that can't have the focus does not change it.
            let _ = control.focus();
        }
    });
}

impl Session {
    /// The form from the address; both are kept in sync.
    pub(in crate::check) fn start() -> Session {
        let session = Session {
            state: RwSignal::new(State::at(&hash())),
            planes: RwSignal::default(),
            files: StoredValue::new_local(Files::default()),
            engine: StoredValue::new_local(Running::default()),
        };
        window_event_listener(ev::hashchange, move |_| session.state.update(|state| state.open(&hash())));
        session
    }

    /// Applies the size that was suggested next to a field.
    pub(in crate::check) fn take_size(self, size: (usize, usize)) {
        self.state.update(|state| state.take_size(size));
        self.keep();
        focus("f-height".to_owned());
    }

    /// Writes the form to the address.
    pub(super) fn keep(self) {
        // If a browser refuses frequent changes, the only effect is that the address is out of date.
        let _ = browser::set_address(&self.state.with_untracked(State::fragment));
    }

    pub(super) fn say(self, text: impl Into<String>) {
        let text = text.into();
        self.state.update(|state| state.said = text);
    }

    pub(super) fn fault(self, place: Place, problem: impl Into<String>) {
        let problem = problem.into();
        self.state.update(|state| state.set_fault(place, problem));
    }

    /// Copies a link to the form.
    pub(in crate::check) fn copy_link(self) {
        spawn_local(async move {
            let address = browser::window().location().href().unwrap_or_default();
            match browser::copy(&address).await {
                Ok(()) => self.say("Link copied to the clipboard. It does not include your files."),
                Err(why) => self.say(format!("The link is in the address bar. ({})", browser::reason(&why))),
            }
        });
    }

    pub(super) fn download(self, name: &str, kind: &str, bytes: &[u8]) {
        match browser::download(name, kind, bytes) {
            Ok(()) => self.say(format!("Downloaded {name}.")),
            Err(why) => self.say(format!("{name} could not be saved: {}", browser::reason(&why))),
        }
    }

    /// Downloads the configuration.
    pub(in crate::check) fn download_config(self) {
        let config = self.state.with_untracked(|state| state.choice.config_json());
        self.download("config.json", "application/json", config.as_bytes());
    }

    /// Downloads the script that runs a ported project with the last run's reference.
    pub(in crate::check) fn download_script(self) {
        let script = self
            .state
            .with_untracked(|state| state.results.as_ref().map(|results| uresnet::check_script(&results.facts.config)));
        if let Some(script) = script {
            self.download("check_port.py", "text/x-python", script.as_bytes());
        }
    }

    /// Downloads the last comparison.
    pub(in crate::check) fn download_report(self) {
        let report = self.state.with_untracked(|state| {
            let report = state.comparison.as_ref().map(|Comparison { report, .. }| report);
            state.results.as_ref().map(|results| json(&results.facts, report))
        });
        if let Some(report) = report {
            self.download("portolan-check.json", "application/json", report.as_bytes());
        }
    }
}
