//! The page's current task. There is one at a time, in a worker or waiting for a file.

use super::running::Running;
use super::session::Session;
use crate::check::state::{Busy, Place};
use crate::shared::browser::{self, now};
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::JsValue;

/// Waits for a file.
pub(super) fn prepare<T>(
    session: Session,
    doing: &str,
    file: impl Future<Output = Result<T, JsValue>> + 'static,
    done: impl FnOnce(T) + 'static,
    refuse: impl FnOnce(&str) + 'static,
) {
    if is_busy(session) {
        return;
    }
    let number = session.engine.try_update_value(|engine| {
        engine.since = Some(now());
        engine.preparations += 1;
        engine.preparations
    });
    show_doing(session, doing);
    spawn_local(async move {
        let file = file.await;
        if session.engine.with_value(|engine| Some(engine.preparations) != number) {
            return;
        }
        at_rest(session);
        match file {
            Ok(file) => done(file),
            Err(why) => {
                session.say("");
                refuse(&browser::reason(&why));
            }
        }
    });
}

/// Shows a notice if another task is in progress.
pub(super) fn is_busy(session: Session) -> bool {
    let busy = session.engine.with_value(|engine| engine.since.is_some());
    if busy {
        session.fault(Place::Run, "A run is in progress: wait for it to finish, or cancel it.");
    }
    busy
}

/// Ends the current task; returns the seconds that it took.
pub(super) fn at_rest(session: Session) -> f64 {
    session.state.update(|state| state.busy = None);
    let end = |engine: &mut Running| {
        engine.opening = false;
        engine.since.take()
    };
    let since = session.engine.try_update_value(end).flatten();
    since.map_or(0.0, |since| (now() - since) / 1e3)
}

/// The progress, displayed and for screen readers.
pub(super) fn show_doing(session: Session, doing: &str) {
    session.state.update(|state| {
        state.said = doing.to_owned();
        state.busy = Some(Busy { line: doing.to_owned(), share: 0.0 });
    });
}
