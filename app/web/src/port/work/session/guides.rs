//! The user's own guides, which the worker compiles.

use super::Session;
use crate::port::protocol::{Answer, Ask, Parcel};
use crate::port::state::{Guides, State};
use crate::port::work::engine;
use crate::port::work::twin::keep;
use crate::shared::tasks;
use leptos::prelude::*;
use python::SourceFile;

impl Session {
    /// Adds guides that were opened, unless one of them has an error: then nothing changes.
    pub(in crate::port) fn add_guides(self, opened: Vec<SourceFile>) {
        self.change_and_port(|state| state.try_guides(opened));
    }

    /// Whether the worker and the page have the recipes of the guides in use; otherwise it is asked for them, and a port
    /// follows.
    pub(super) fn has_recipes(self) -> bool {
        let (waits, unsent) = self.state.try_update_untracked(State::wants_recipes).unwrap_or_default();
        if let Some(guides) = unsent {
            self.ask_for_recipes(guides);
        }
        !waits
    }

    fn ask_for_recipes(self, guides: Guides) {
        let (paths, texts) = guides.iter().map(|guide| (guide.path.clone(), guide.text.clone())).unzip();
        engine::ask(Parcel { head: Ask::Catalogue(paths), texts, colours: Vec::new() }, move |answer| {
            let Answer::Catalogue(catalogue) = answer.head else { return };
            // The page is complete by then. The answer was decoded in this task, and filling the lists takes a phone as
            // long.
            tasks::last(move || {
                let trial = self.state.try_update(|state| state.take_recipes(guides, catalogue));
                self.port_now();
                if trial == Some(true) {
                    keep();
                }
            });
        });
    }
}
