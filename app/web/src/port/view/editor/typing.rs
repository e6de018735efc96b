//! How keys and the clipboard change the field's text.

use crate::port::state::lines::take_typed;
use crate::port::state::project::check_text;
use crate::port::work::{Session, open_list};
use crate::shared::browser;
use leptos::ev::{ClipboardEvent, KeyboardEvent};
use leptos::html::Textarea;
use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use web_sys::HtmlDocument;

/// Handles typing, or a paste over the `whole` text.
pub(super) fn type_in(session: Session, value: &str, whole: bool, given: StoredValue<Option<(u64, usize)>>) {
    let splice = session.state.with_untracked(|state| {
        let stored = state.file().map(|file| file.lines.text().clone());
        take_typed(stored.as_deref().unwrap_or(""), value)
    });
    let Some(splice) = splice else { return };
    session.type_in(&splice, whole);
    // The field already contains this text.
    given.set_value(session.state.with_untracked(|state| Some((state.project, state.selected))));
}

/// Tab inserts spaces; after Escape it moves the focus as usual.
pub(super) fn key(event: &KeyboardEvent, tab_walks: StoredValue<bool>) {
    match event.key().as_str() {
        "Escape" => tab_walks.set_value(true),
        "Tab" if event.shift_key() || event.ctrl_key() || event.alt_key() || tab_walks.get_value() => {
            tab_walks.set_value(false);
        }
        "Tab" => {
            event.prevent_default();
            // Inserted as if typed, so that the browser can undo it.
            let document: HtmlDocument = browser::document().unchecked_into();
            let _ = document.exec_command_with_show_ui_and_value("insertText", false, "    ");
        }
        "Shift" | "Control" | "Alt" | "Meta" => {}
        _ => tab_walks.set_value(false),
    }
}

/// Opens pasted files; pasted text is inserted only if it can be ported at all. Returns whether it replaces everything
/// in the field.
pub(super) fn paste(session: Session, event: &ClipboardEvent, field: NodeRef<Textarea>) -> bool {
    let Some(data) = event.clipboard_data() else { return false };
    if let Some(files) = data.files().filter(|files| files.length() > 0) {
        event.prevent_default();
        open_list(session, &files);
        return false;
    }
    let text = data.get_data("text/plain").unwrap_or_default();
    match check_text(&text) {
        Err(why) => {
            event.prevent_default();
            session.say(true, format!("The pasted text {why} Nothing was changed."));
            false
        }
        Ok(()) => {
            // A script is pasted to read its port; a line is pasted to continue editing.
            session.state.update_untracked(|state| state.unread |= state.is_empty());
            field.get_untracked().is_some_and(|field| {
                let length = field.text_length();
                length > 0
                    && !text.is_empty()
                    && field.selection_start() == Ok(Some(0))
                    && field.selection_end() == Ok(Some(length))
            })
        }
    }
}
