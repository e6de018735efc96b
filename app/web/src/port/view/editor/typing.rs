//! How keys and the clipboard change the field's text.

use crate::port::state::lines::{Splice, take_typed};
use crate::port::state::project::check_text;
use crate::port::work::{Session, open_list};
use crate::shared::browser;
use js_sys::{JsString, Reflect};
use leptos::ev::{ClipboardEvent, KeyboardEvent};
use leptos::html::Textarea;
use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use web_sys::{HtmlDocument, HtmlTextAreaElement};

/// The field's value after the last key press, to compare the next one with.
pub(super) type LastValue = StoredValue<Option<JsString>, LocalStorage>;

/// Handles typing, or a paste over the `whole` text.
pub(super) fn type_in(
    session: Session,
    field: &HtmlTextAreaElement,
    whole: bool,
    last: LastValue,
    given: StoredValue<Option<(u64, usize)>>,
) {
    let value: JsString = Reflect::get(field, &"value".into()).expect("a text field has a value").unchecked_into();
    let splice = session.state.with_untracked(|state| {
        let stored = state.file().map(|file| file.lines.text().clone());
        let stored = stored.as_deref().unwrap_or("");
        let caret = field.selection_end().ok().flatten().unwrap_or(0);
        let before = last.try_update_value(|last| last.replace(value.clone())).flatten();
        before
            .and_then(|before| at_the_caret(stored, &before, &value, caret))
            .or_else(|| take_typed(stored, &String::from(&value)))
    });
    let Some(splice) = splice else { return };
    session.type_in(&splice, whole);
    // The field already contains this text.
    given.set_value(session.state.with_untracked(|state| Some((state.project, state.selected))));
}

/// Finds what was typed or deleted in front of the caret by comparing the field's two values in the browser: copying a long
/// text into this module at every key press takes longer than everything else that is done with it. `None` for other
/// edits, and for a text whose bytes are not the field's UTF-16 units one by one.
fn at_the_caret(stored: &str, before: &JsString, after: &JsString, caret: u32) -> Option<Splice> {
    // Line endings of two characters and characters outside ASCII make the field's text the shorter one.
    if before.length() as usize != stored.len() {
        return None;
    }
    let end = (caret + before.length()).checked_sub(after.length())?;
    let start = caret.min(end);
    let is_same = before.slice(0, start) == after.slice(0, start)
        && before.slice(end, before.length()) == after.slice(caret, after.length());
    let text = String::from(after.slice(start, caret));
    (is_same && caret != end).then_some(Splice { start: start as usize, end: end as usize, text })
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
