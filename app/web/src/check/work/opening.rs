//! Opens the file with the event, and sets the form to its image size.

use super::image_size::image_size;
use super::larcv;
use super::session::Session;
use super::task::{at_rest, prepare};
use crate::check::state::{Place, Slot, State};
use leptos::prelude::*;
use web_sys::File;

/// Opens the file with the event that was just chosen, for its image size. During a run this waits until the next one.
pub(super) fn open_chosen(session: Session) {
    if session.engine.with_value(|engine| engine.opening) {
        end_opening(session);
    }
    let file = session.files.with_value(|files| files.input.clone());
    let Some(file) = file.filter(|_| session.engine.with_value(|engine| engine.since.is_none())) else { return };
    let number = session.state.with_untracked(|state| state.choice.event);
    open(session, file, number, move || {
        let size = session.state.with_untracked(State::taken_size);
        session.say(size.map_or(String::new(), |(height, width)| format!("Image size set to {height} × {width}.")));
    });
    session.engine.update_value(|engine| engine.opening = true);
}

/// Cancels the opening of a file.
pub(super) fn end_opening(session: Session) {
    larcv::stop();
    session.engine.update_value(|engine| engine.preparations += 1);
    at_rest(session);
}

/// Opens a file for the event with this number, and sets the form to its image size.
pub(super) fn open(session: Session, file: File, number: u64, then: impl FnOnce() + 'static) {
    let source = file.clone();
    let opened = async move {
        let file = larcv::readable(file, number).await?;
        let size = image_size(&file).await;
        Ok((file, size))
    };
    let done = move |(file, size)| {
        // Another file may have been chosen in the meantime.
        if session.files.with_value(|files| files.input.as_ref() == Some(&source)) {
            session.files.update_value(|files| files.readable = Some((number, file)));
            session.state.update(|state| state.set_image_size(size));
            session.keep();
        }
        then();
    };
    let refuse = move |why: &str| session.fault(Place::File(Slot::Input), why);
    prepare(session, "Opening the event", opened, done, refuse);
}
