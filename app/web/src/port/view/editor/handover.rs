//! The field, for the text that was typed into its stand-in.

use super::field::Field;
use super::typing::Given;
use crate::port::work::Session;
use crate::shared::browser;
use leptos::prelude::*;

/// The field, and which file it shows.
#[derive(Clone, Copy)]
pub(in crate::port::view) struct EditorField {
    pub(super) field: Field,
    pub(super) given: Given,
}

impl EditorField {
    pub(in crate::port::view) fn new() -> EditorField {
        EditorField { field: Field::new(), given: StoredValue::new(None) }
    }

    /// Shows the current text as if it had been pasted, so that it can be undone.
    pub(in crate::port::view) fn adopt(self, session: Session, text: &str) {
        self.field.show("");
        self.field.replace(text);
        session.state.with_untracked(|state| {
            // The text is already stored.
            let _ = state.file().map(|file| self.field.edit(&file.lines));
            self.given.set_value(Some((state.project, state.selected)));
        });
    }

    /// Selects from one place to another, each a line and a column in UTF-16 units, counted from 0.
    pub(in crate::port::view) fn select(self, [from, to]: [(usize, usize); 2]) {
        self.field.select(from, to);
    }

    pub(in crate::port::view) fn scroll(self, (left, top): (i32, i32)) {
        if let Some(scroller) = browser::element("editor-scroll") {
            scroller.set_scroll_left(left);
            scroller.set_scroll_top(top);
        }
    }
}
