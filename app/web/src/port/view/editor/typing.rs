//! How keys and the clipboard change the field's text.

use super::field::Field;
use crate::port::state::lines::Lines;
use crate::port::state::project::check_text;
use crate::port::work::{Session, open_list};
use crate::shared::browser;
use leptos::ev::{ClipboardEvent, InputEvent, KeyboardEvent};
use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use web_sys::HtmlDocument;

/// The project and the file whose text the field shows.
pub(super) type Given = StoredValue<Option<(u64, usize)>>;

/// Handles typing, or a paste over the `whole` text.
pub(super) fn type_in(session: Session, field: Field, whole: bool, given: Given) {
    let splice = session.state.with_untracked(|state| match state.file() {
        Some(file) => field.edit(&file.lines),
        None => field.edit(&Lines::default()),
    });
    let Some(splice) = splice else { return };
    session.type_in(&splice, whole);
    // The field already contains this text.
    given.set_value(session.state.with_untracked(|state| Some((state.project, state.selected))));
}

/// Tab inserts spaces; after Escape it moves the focus as usual. Returns `Some` for a key that undoes (`false`) or redoes.
pub(super) fn key(event: &KeyboardEvent, tab_walks: StoredValue<bool>) -> Option<bool> {
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
        key => {
            tab_walks.set_value(false);
            let command = event.ctrl_key() || event.meta_key();
            match key {
                "z" | "Z" if command => return Some(event.shift_key()),
                "y" if command => return Some(true),
                _ => {}
            }
        }
    }
    None
}

/// Deletes everything, if all is selected and about to be deleted or replaced: the browser would leave an empty line.
/// Returns `Some` for undo (`false`) or redo from the browser's menu.
pub(super) fn before_input(session: Session, event: &InputEvent, field: Field, given: Given) -> Option<bool> {
    match event.input_type().as_str() {
        "historyUndo" => return Some(false),
        "historyRedo" => return Some(true),
        "insertText" | "insertLineBreak" | "insertParagraph" if field.is_all_selected() => field.replace(""),
        kind if kind.starts_with("delete") && field.is_all_selected() => {
            event.prevent_default();
            field.replace("");
            type_in(session, field, false, given);
        }
        _ => {}
    }
    None
}

/// Opens pasted files; pasted text is inserted only if it can be ported at all.
pub(super) fn paste(session: Session, event: &ClipboardEvent, field: Field, given: Given) {
    let Some(data) = event.clipboard_data() else { return };
    if let Some(files) = data.files().filter(|files| files.length() > 0) {
        event.prevent_default();
        open_list(session, &files);
        return;
    }
    let text = data.get_data("text/plain").unwrap_or_default();
    if let Err(why) = check_text(&text) {
        event.prevent_default();
        session.say(true, format!("The pasted text {why} Nothing was changed."));
        return;
    }
    // A script is pasted to read its port; a line is pasted to continue editing.
    session.state.update_untracked(|state| state.unread |= state.is_empty());
    let whole = field.is_all_selected();
    if !text.is_empty() && (whole || field.is_empty()) {
        event.prevent_default();
        field.replace(&text);
        type_in(session, field, whole, given);
    }
}
