//! The signal that the state is in.

use crate::port::state::State;
use leptos::prelude::*;

/// What a closure reads or changes goes through a few functions here: the library's own are compiled once for each closure,
/// and there are a hundred.
#[derive(Clone, Copy)]
pub(in crate::port) struct StateSignal(RwSignal<State>);

impl StateSignal {
    /// An empty state.
    pub(super) fn new() -> StateSignal {
        StateSignal(RwSignal::new(State::default()))
    }

    /// Reads the state. Who asks here is told when it changes.
    pub(in crate::port) fn with<T>(self, read: impl FnOnce(&State) -> T) -> T {
        self.track();
        self.with_untracked(read)
    }

    /// Reads the state.
    pub(in crate::port) fn with_untracked<T>(self, read: impl FnOnce(&State) -> T) -> T {
        let (mut read, mut value) = (Some(read), None);
        self.read(&mut |state| value = read.take().map(|read| read(state)));
        value.expect("the state lives as long as the page")
    }

    /// Changes the state.
    pub(in crate::port) fn update(self, change: impl FnOnce(&mut State)) {
        self.try_update(change);
    }

    /// Changes the state, and hands on what came of it.
    pub(in crate::port) fn try_update<T>(self, change: impl FnOnce(&mut State) -> T) -> Option<T> {
        let value = self.try_update_untracked(change);
        self.notify();
        value
    }

    /// The same, and nobody is told.
    pub(in crate::port) fn try_update_untracked<T>(self, change: impl FnOnce(&mut State) -> T) -> Option<T> {
        let (mut change, mut value) = (Some(change), None);
        self.write(&mut |state| value = change.take().map(|change| change(state)));
        value
    }

    /// Whoever works something out here is told when the state changes.
    pub(in crate::port) fn track(self) {
        self.0.track();
    }

    /// Tells those who read the state that it changed.
    pub(in crate::port) fn notify(self) {
        self.0.notify();
    }

    fn read(self, read: &mut dyn FnMut(&State)) {
        self.0.with_untracked(|state| read(state));
    }

    fn write(self, write: &mut dyn FnMut(&mut State)) {
        self.0.try_update_untracked(|state| write(state));
    }
}
