//! Taking the port away: files, patch, report, clipboard, link.

use crate::browser;
use crate::port::app::Session;
use crate::port::protocol::{Answer, Ask};
use crate::port::{archive, fragment, link};
use codemod::SourceFile;
use reactive_graph::prelude::*;
use wasm_bindgen_futures::spawn_local;

/// `portolan-hpu.patch` and the like.
fn named(session: Session, ending: &str) -> String {
    let target = session.state.with_untracked(|s| s.outcome.as_ref().map(|o| o.target.clone()).unwrap_or_default());
    format!("portolan-{target}.{ending}")
}

fn give(session: Session, name: &str, kind: &str, bytes: &[u8]) {
    match browser::download(name, kind, bytes) {
        Ok(()) => session.say(false, format!("{name} is in your downloads.")),
        Err(why) => session.say(true, format!("{name} can't be saved: {}", browser::reason(&why))),
    }
}

/// Downloads the patch.
pub(crate) fn patch(session: Session) {
    link::ask(link::bare(Ask::Patch), move |answer| {
        let text = answer.texts.into_iter().next().unwrap_or_default();
        give(session, &named(session, "patch"), "text/x-patch", text.as_bytes());
    });
}

/// Downloads the report.
pub(crate) fn report(session: Session) {
    link::ask(link::bare(Ask::Report), move |answer| {
        let text = answer.texts.into_iter().next().unwrap_or_default();
        give(session, &named(session, "json"), "application/json", text.as_bytes());
    });
}

/// Downloads all files.
pub(crate) fn zip(session: Session) {
    link::ask(link::bare(Ask::Texts), move |answer| {
        let Answer::Texts(paths) = answer.head else { return };
        let files = paths.into_iter().zip(answer.texts).map(|(path, text)| SourceFile { path, text });
        match archive::write(&files.collect::<Vec<_>>()) {
            Ok(bytes) => give(session, &named(session, "zip"), "application/zip", &bytes),
            Err(why) => session.say(true, format!("The archive {why}")),
        }
    });
}

/// Downloads the file shown.
pub(crate) fn file(session: Session) {
    let file = session.state.with_untracked(|s| Some((s.file()?.path.clone(), s.view.as_ref()?.new.text().clone())));
    if let Some((path, text)) = file {
        give(session, path.rsplit('/').next().unwrap_or(&path), "text/x-python", text.as_bytes());
    }
}

/// Copies the file shown.
pub(crate) fn copy(session: Session) {
    let Some(view) = session.state.with_untracked(|s| s.view.clone()) else { return };
    spawn_local(async move {
        match browser::copy(view.new.text()).await {
            Ok(()) => session.say(false, "The ported file is on the clipboard."),
            Err(why) => session.say(true, format!("Can't copy: {}", browser::reason(&why))),
        }
    });
}

/// Puts everything into the address, and the address on the clipboard.
pub(crate) fn share(session: Session) {
    let share = session.state.with_untracked(|state| state.share());
    spawn_local(async move {
        let link = match browser::deflate(&share.to_bytes()).await {
            Ok(deflated) => fragment::of_share(&deflated),
            Err(why) => return session.say(true, format!("Can't make a link: {}", browser::reason(&why))),
        };
        if link.len() > fragment::MAX_LINK {
            return session.say(true, "This project is too big for a link. Take the zip archive instead.");
        }
        let location = browser::window().location();
        let address = location.href().unwrap_or_default();
        let address = format!("{}{link}", address.split('#').next().unwrap_or_default());
        let kept = browser::set_address(&address);
        let length = address.len();
        match (browser::copy(&address).await, kept) {
            (Ok(()), _) => session.say(false, format!("The link is on the clipboard: {length} characters, which hold your code. Whoever has the link can read it.")),
            (Err(_), Ok(())) => session.say(false, format!("The link is in the address bar: {length} characters, which hold your code. Whoever has the link can read it.")),
            (Err(why), Err(_)) => session.say(true, format!("Can't copy: {}", browser::reason(&why))),
        }
    });
}
