//! Exporting the port: files, patch, report, clipboard, link.

use super::engine;
use super::session::Session;
use super::twin::KIT;
use crate::port::protocol::{Answer, Ask, Parcel};
use crate::port::state::{EDITS_INCLUDED, GUIDES_FOLDER, State, fragment};
use crate::shared::archive;
use crate::shared::browser;
use crate::shared::text::thousands;
use leptos::prelude::*;
use python::SourceFile;
use python::notebook::is_notebook;
use wasm_bindgen_futures::spawn_local;

/// `portolan-hpu.patch` and the like.
fn named(session: Session, ending: &str) -> String {
    let target = session.state.with_untracked(|s| s.outcome.as_ref().map(|o| o.target.clone()).unwrap_or_default());
    format!("portolan-{target}.{ending}")
}

/// That the current file imports one that the port adds, and where that is; empty if there is none.
fn with_new_files(session: Session) -> String {
    let new = session.state.with_untracked(|state| state.outcome.as_ref().map(|outcome| outcome.new_files.join(", ")));
    match new.filter(|new| !new.is_empty()) {
        Some(new) => format!(" The port also has the new file {new}: it is in the patch and in the zip of all files."),
        None => String::new(),
    }
}

fn give(session: Session, name: &str, kind: &str, bytes: &[u8]) {
    match browser::download(name, kind, bytes) {
        Ok(()) => session.say(false, format!("Downloaded {name}.")),
        Err(why) => session.say(true, format!("{name} could not be saved: {}", browser::reason(&why))),
    }
}

/// Downloads the patch.
pub(in crate::port) fn patch(session: Session) {
    let texts = session.state.with_untracked(State::bases);
    let edits = if texts.is_empty() { "" } else { EDITS_INCLUDED };
    engine::ask(Parcel { head: Ask::Patch, texts, colours: Vec::new() }, move |answer| {
        let text = answer.texts.into_iter().next().unwrap_or_default();
        let name = named(session, "patch");
        give(session, &name, "text/x-patch", text.as_bytes());
        let advice = session.state.with_untracked(|state| match state.is_named() {
            true => "",
            false => " First enter the file’s path in your project: the patch uses it.",
        });
        session.say(false, format!("Downloaded {name}. In your project’s root: `git apply {name}`.{advice} {edits}"));
    });
}

/// Downloads the report.
pub(in crate::port) fn report(session: Session) {
    engine::ask(engine::bare(Ask::Report), move |answer| {
        let text = answer.texts.into_iter().next().unwrap_or_default();
        give(session, &named(session, "json"), "application/json", text.as_bytes());
    });
}

/// Downloads all files.
pub(in crate::port) fn zip(session: Session) {
    engine::ask(engine::bare(Ask::Texts), move |answer| {
        let Answer::Texts(paths) = answer.head else { return };
        let guides = session.state.with_untracked(|state| state.choice.guides.clone());
        let path_of = |guide: &SourceFile| format!("{GUIDES_FOLDER}/{}", guide.path);
        let paths: Vec<String> = paths.into_iter().chain(guides.iter().map(path_of)).collect();
        let texts = answer.texts.iter().chain(guides.iter().map(|guide| &guide.text)).map(String::as_str);
        match archive::write(paths.iter().map(String::as_str).zip(texts)) {
            Ok(bytes) => give(session, &named(session, "zip"), "application/zip", &bytes),
            Err(why) => session.say(true, format!("The archive could not be written: {why}")),
        }
    });
}

/// Downloads the twin run kit: read here, because the site in one file contains it, and an address of its own would not.
pub(in crate::port) fn kit(session: Session) {
    spawn_local(async move {
        match browser::fetch_bytes(KIT).await {
            Ok(bytes) => give(session, KIT, "application/zip", &bytes.to_vec()),
            Err(why) => session.say(true, format!("The twin run kit can’t be loaded: {}", browser::reason(&why))),
        }
    });
}

/// Downloads the current file.
pub(in crate::port) fn file(session: Session) {
    let Some((index, path)) = session.state.with_untracked(|s| Some((s.selected, s.file()?.path.clone()))) else {
        return;
    };
    engine::ask(engine::bare(Ask::TextOf(index)), move |answer| {
        let text = answer.texts.into_iter().next().unwrap_or_default();
        let kind = if is_notebook(&path) { "application/x-ipynb+json" } else { "text/x-python" };
        let name = path.rsplit('/').next().unwrap_or(&path);
        give(session, name, kind, text.as_bytes());
        let new = with_new_files(session);
        if !new.is_empty() {
            session.say(false, format!("Downloaded {name}.{new}"));
        }
    });
}

/// Copies the current file.
pub(in crate::port) fn copy(session: Session) {
    let Some(view) = session.state.with_untracked(|s| s.view.clone()) else { return };
    spawn_local(async move {
        match browser::copy(view.new.text()).await {
            Ok(()) => session.say(false, format!("Ported file copied.{}", with_new_files(session))),
            Err(why) => session.say(true, format!("Could not copy: {}", browser::reason(&why))),
        }
    });
}

/// Puts the whole project into the address, and copies the address to the clipboard.
pub(in crate::port) fn share(session: Session) {
    let share = session.state.with_untracked(|state| state.share());
    spawn_local(async move {
        let link = match browser::deflate(&share.to_bytes()).await {
            Ok(deflated) => fragment::of_share(&deflated),
            Err(why) => return session.say(true, format!("Could not make a link: {}", browser::reason(&why))),
        };
        if link.len() > fragment::MAX_LINK {
            return session.say(true, "This project is too big for a link. Download all files (.zip) instead.");
        }
        let location = browser::window().location();
        let address = location.href().unwrap_or_default();
        let address = format!("{}{link}", address.split('#').next().unwrap_or_default());
        let kept = browser::set_address(&address);
        let length = thousands(address.len() as u64);
        let said = |done: &str| {
            format!("Link {done} ({length} characters). It contains your code: anyone with the link can read it.")
        };
        match (browser::copy(&address).await, kept) {
            (Ok(()), _) => session.say(false, said("copied")),
            (Err(_), Ok(())) => session.say(false, said("in the address bar")),
            (Err(why), Err(_)) => session.say(true, format!("Could not copy: {}", browser::reason(&why))),
        }
    });
}
