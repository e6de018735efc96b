//! Twin runs: the archive to download, and the result to open.

use super::engine;
use super::session::Session;
use crate::port::protocol::{Answer, Ask, Parcel};
use crate::port::state::Panel;
use crate::port::work::twin_kit::{TwinFiles, files, kit};
use crate::shared::archive;
use crate::shared::browser;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

/// The location of the kit relative to the page's module.
pub(super) const KIT: &str = "portolan-rehearsal.zip";

/// Downloads kit, port and original as one archive.
pub(in crate::port) fn twin_archive(session: Session) {
    let about = session.state.with_untracked(|state| {
        let outcome = state.outcome.as_ref()?;
        Some((outcome.target.clone(), outcome.twin.clone()?.kit))
    });
    let Some((target, command)) = about else { return };
    engine::ask(engine::bare(Ask::TwinFiles), move |answer| {
        let Answer::TwinFiles(paths) = answer.head else { return };
        let port = TwinFiles::new(paths, answer.texts);
        spawn_local(async move {
            let packed = match browser::fetch_bytes(KIT).await {
                Ok(bytes) => kit(&bytes.to_vec()),
                Err(why) => Err(format!("the twin run kit can't be loaded: {}", browser::reason(&why))),
            };
            let written = packed.and_then(|kit| {
                let files = files(kit, port, &command, &format!("portolan-{target}.json"));
                archive::write(files.iter().map(|(path, text)| (path.as_str(), text.as_str())))
            });
            let name = format!("portolan-{target}-twin.zip");
            match written.map(|bytes| browser::download(&name, "application/zip", &bytes)) {
                Ok(Ok(())) => session.say(false, format!("Downloaded {name}. Its README.md has the command.")),
                Ok(Err(why)) => session.say(true, format!("{name} could not be saved: {}", browser::reason(&why))),
                Err(why) => session.say(true, format!("The archive could not be written: {why}")),
            }
        });
    });
}

/// Opens a file that may be the result of a twin run; if it is not one, it is rejected and the previous result stays.
pub(super) fn take(session: Session, name: String, text: String) {
    if session.state.with_untracked(|state| state.outcome.is_none()) {
        return session.say(true, format!("{name} may be the result of a twin run. Open its project first."));
    }
    engine::ask(Parcel { head: Ask::Twin, texts: vec![text], colours: Vec::new() }, move |answer| {
        let Answer::Twin(result) = answer.head else { return };
        match result {
            Ok(result) => {
                session.state.update(|state| {
                    state.take_twin(*result);
                    state.panel = Panel::Twin;
                });
                session.say(false, format!("Opened {name}."));
                keep();
            }
            Err(why) => session.say(true, format!("{name} {why}")),
        }
    });
}

/// Notifies the script that saves the work: the result arrived after the user's last action.
pub(super) fn keep() {
    if let Ok(event) = web_sys::Event::new("change") {
        let _ = browser::window().dispatch_event(&event);
    }
}
