//! Parts of the state that are recomputed only when they can have changed.

use super::Session;
use crate::port::state::State;
use leptos::prelude::*;

/// When a memo is recomputed.
#[derive(Clone, Copy)]
enum Upon {
    /// When the state changes.
    State,
    /// When the state changes, or a key press changes only the text.
    Text,
    /// When there is another port, or the user changes something about it.
    Port,
}

impl Session {
    /// A part of the state; what displays it is notified when it changes.
    pub(in crate::port) fn memo<T>(self, of: impl Fn(&State) -> T + Send + Sync + 'static) -> Memo<T>
    where
        T: PartialEq + Send + Sync + 'static,
    {
        self.memo_upon(Upon::State, Box::new(of))
    }

    /// A part of the state that changes with every key press.
    pub(in crate::port) fn memo_of_text<T>(self, of: impl Fn(&State) -> T + Send + Sync + 'static) -> Memo<T>
    where
        T: PartialEq + Send + Sync + 'static,
    {
        self.memo_upon(Upon::Text, Box::new(of))
    }

    /// A part of the state that depends only on the last port and on the user's changes to it. In a large project, it
    /// is important not to recompute it for anything else.
    pub(in crate::port) fn memo_of_port<T>(self, of: impl Fn(&State) -> T + Send + Sync + 'static) -> Memo<T>
    where
        T: PartialEq + Send + Sync + 'static,
    {
        self.memo_upon(Upon::Port, Box::new(of))
    }

    /// Boxed, so that the module contains Leptos's code for a memo once for each type of value, not for each closure.
    fn memo_upon<T>(self, upon: Upon, of: Box<dyn Fn(&State) -> T + Send + Sync>) -> Memo<T>
    where
        T: PartialEq + Send + Sync + 'static,
    {
        Memo::new(move |_| {
            match upon {
                Upon::State => {}
                Upon::Text => self.typed.track(),
                // Read, because a memo that is only tracked is never computed.
                Upon::Port => {
                    self.port.with(|_| ());
                    return self.state.with_untracked(&of);
                }
            }
            self.state.with(&of)
        })
    }
}
