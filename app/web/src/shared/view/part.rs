//! Parts of a page, each of which is created in a task of its own when the page starts. Afterwards, when users act, all is
//! created at once.

use super::live;
use crate::shared::tasks;
use leptos::prelude::*;
use leptos::task::spawn_local;

/// A part of the page.
pub(crate) fn part(of: impl Fn() -> AnyView + Send + 'static) -> AnyView {
    boxed(Box::new(of))
}

/// Boxed, so that the module contains this code only once.
fn boxed(of: Box<dyn Fn() -> AnyView + Send>) -> AnyView {
    let made = RwSignal::new(false);
    live(move || {
        let is_made = made.get();
        if !is_made && tasks::busy() {
            tasks::next(move || {
                let _ = made.try_set(true);
            });
            return None;
        }
        Some(of())
    })
    .into_any()
}

/// Calls back once all parts of the current one have been created.
pub(crate) fn when_made(call: impl FnOnce() + 'static) {
    let call: Box<dyn FnOnce()> = Box::new(call);
    // By then the part's elements exist, so its own parts are already waiting.
    spawn_local(async move { tasks::next(call) });
}
