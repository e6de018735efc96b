//! What the page's address names: shared projects, examples of the guides, places in a port.

use super::Session;
use crate::port::state::fragment::{self, ExampleId, Fragment, Share};
use crate::port::state::{Panel, State, project};
use crate::shared::browser;
use codemod::Example;
use leptos::prelude::*;
use leptos::task::spawn_local;

/// Why a link can't be read.
const LINK: &str = "it was cut or altered, is too big, or was made by another version of this page. \
                    Ask for it again, or for the project as a zip.";

impl Session {
    /// Opens what the address names for the first time, after the saved work.
    pub(in crate::port) fn begin(self) {
        self.read_fragment();
        self.state.update(|state| state.has_begun = true);
    }

    /// Opens what the address names.
    pub(in crate::port) fn read_fragment(self) {
        let hash = browser::window().location().hash().unwrap_or_default();
        match fragment::parse(&hash) {
            Fragment::Empty => {}
            Fragment::Unknown => self.say(true, "The address does not name anything this page can open."),
            Fragment::Matrix => {
                self.show(Panel::Matrix);
                if self.state.try_update(State::choose_as_before_place) == Some(true) {
                    self.port_now();
                }
            }
            Fragment::Place { target, file, line } => {
                if self.state.try_update(|state| state.go_to_port(target, file, line)) == Some(true) {
                    self.port_now();
                }
            }
            Fragment::Choose { target, sdk } => self.change_and_port(|state| state.ask_for(target, sdk)),
            Fragment::Share(deflated) => spawn_local(async move { self.open_share(&deflated).await }),
            Fragment::Example(id) => spawn_local(async move { self.open_example(id).await }),
        }
    }

    async fn open_example(self, id: ExampleId) {
        self.state.update(|state| state.reading += 1);
        let packed = browser::fetch_text(&format!("examples/{}.bin", id.guide)).await;
        self.state.update(|state| state.reading -= 1);
        match packed.map(|packed| Example::unpack(&packed, &id.section, id.number)) {
            Ok(Some(example)) => self.open_given("Opened the guide’s example.", |state| state.open_example(example)),
            Ok(None) => self.say(true, "The guides do not contain this example."),
            Err(why) => self.say(true, format!("The example could not be loaded: {}", browser::reason(&why))),
        }
    }

    async fn open_share(self, deflated: &[u8]) {
        let share = match browser::inflate(deflated, 2 * project::MAX_PROJECT).await {
            Ok(bytes) => Share::from_bytes(&bytes),
            Err(_) => None,
        };
        let share = share.ok_or_else(|| LINK.to_owned());
        match share.and_then(|share| share.check().map(|()| share)) {
            Ok(share) => self.open_given("Opened the shared project.", |state| state.open_share(share)),
            Err(why) => self.say(true, format!("The shared link can't be opened: {why}")),
        }
    }

    /// Clears an address that names the opened project once that is changed: otherwise reloading the page would open
    /// the original instead of the saved work. The same applies to an address that names the table of targets once
    /// something else is shown.
    pub(in crate::port) fn follow_edits(self) {
        Effect::new(move |before: Option<(u64, bool)>| {
            self.typed.track();
            let (edits, matrix) = self.state.with(|state| (state.edits, state.panel == Panel::Matrix));
            let hash = browser::window().location().hash().unwrap_or_default();
            let edited = before.is_some_and(|(before, _)| before != edits) && fragment::names_work(&hash);
            let left = before.is_some_and(|(_, before)| before && !matrix) && hash == fragment::MATRIX;
            if edited || left {
                browser::clear_fragment();
            }
            (edits, matrix)
        });
    }
}
