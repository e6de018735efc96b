//! The source: an editable element, with colours painted under its transparent letters.
//!
//! The element is as large as its text and scrolls together with the painted lines, so both are always aligned; only the
//! visible lines are painted. Undo is the browser's own: the page replaces the text only when another file is shown, or
//! when something is pasted over all of it.

mod field;
mod handover;
mod painted;
mod typing;

use super::early;
use crate::port::state::lines::columns;
use crate::port::state::{Jump, State};
use crate::port::work::Session;
use crate::shared::browser;
use field::Field;
pub(super) use handover::EditorField;
use leptos::html::Div;
use leptos::prelude::*;
use painted::Painted;
use typing::{Given, before_input, key, paste, type_in};

/// The height of a line, as in the style sheet.
const LINE: usize = 20;
/// The number of lines painted above and below the visible ones.
const SPARE: usize = 8;

/// The editor of the current file.
#[component]
pub(super) fn Editor(editor: EditorField) -> impl IntoView {
    let session: Session = expect_context();
    let EditorField { field, given } = editor;
    let scroller = NodeRef::<Div>::new();
    // The first visible line, and the number of visible lines.
    let window = RwSignal::new((0usize, 60usize));
    let look = move || {
        if let Some(scroller) = scroller.try_get_untracked().flatten() {
            let first = (scroller.scroll_top().max(0) as usize / LINE).saturating_sub(SPARE);
            let count = scroller.client_height().max(0) as usize / LINE + 2 * SPARE;
            if window.get_untracked() != (first, count) {
                window.set((first, count));
            }
        }
    };
    scroller.on_load(move |scroller| browser::when_resized(&scroller, look));
    give(session, field, scroller, given);
    follow(session, field, scroller);
    // A paste over everything is undone here, everything else by the browser.
    let undone = move |event: &web_sys::Event, again: Option<bool>| {
        if again.is_some_and(|again| field.undo(again)) {
            event.prevent_default();
            type_in(session, field, false, given);
        }
    };
    let empty = session.memo(|state| state.file().is_none_or(|file| file.lines.text().is_empty()));
    let size = session.memo_of_text(sheet);
    let sheet_style = move || {
        let (lines, widest) = size.get();
        format!("height:{}px;min-width:calc({widest}ch + var(--gutter-width))", (lines + 1) * LINE + 24)
    };
    // Escape was pressed: the next Tab moves the focus.
    let tab_walks = StoredValue::new(false);
    view! {
        <div class="editor">
            <div class="editor-scroll" id="editor-scroll" node_ref=scroller on:scroll=move |_| look()>
                <div class="editor-sheet" id="editor-sheet" style=sheet_style>
                    <Painted window/>
                    <div
                        id="source"
                        class="field"
                        role="textbox"
                        aria-multiline="true"
                        aria-label="Source"
                        aria-describedby="source-keys"
                        contenteditable="plaintext-only"
                        tabindex="0"
                        spellcheck="false"
                        autocapitalize="off"
                        translate="no"
                        node_ref=field.element
                        on:input=move |_| type_in(session, field, false, given)
                        on:beforeinput=move |event| undone(&event, before_input(session, &event, field, given))
                        on:keydown=move |event| undone(&event, key(&event, tab_walks))
                        on:paste=move |event| paste(session, &event, field, given)
                    ></div>
                </div>
            </div>
            <div class="editor-empty" id="editor-empty" hidden=move || !empty.get()>
                <p>"Paste a training script here, or drop files, a folder or a zip."</p>
            </div>
        </div>
    }
}

/// The number of lines, and the width of the widest one in columns.
fn sheet(state: &State) -> (usize, usize) {
    let Some(lines) = state.file().map(|file| &file.lines) else { return (1, 68) };
    let mut widest = 60;
    for line in (0..lines.len()).map(|i| lines.line(i)) {
        // Only tabs take more columns than bytes, so few lines have to be measured.
        if line.len() > widest || line.contains('\t') {
            widest = columns(line).max(widest);
        }
    }
    (lines.len().max(1), widest + 8)
}

/// Shows the text of another file, or of the same one if it was changed elsewhere.
fn give(session: Session, field: Field, scroller: NodeRef<Div>, given: Given) {
    let shown = session.memo(|state| (state.project, state.selected));
    Effect::new(move |_| {
        let (shown, Some(_)) = (Some(shown.get()), field.element.get()) else { return };
        if given.get_value() == shown {
            return;
        }
        given.set_value(shown);
        early::give_way();
        let text = session.state.with_untracked(|state| state.file().map(|file| file.lines.text().clone()));
        if field.show(text.as_deref().unwrap_or_default())
            && let Some(scroller) = scroller.get_untracked()
        {
            scroller.set_scroll_top(0);
            scroller.set_scroll_left(0);
        }
    });
}

/// Scrolls to a line of the source if that is the requested location.
fn follow(session: Session, field: Field, scroller: NodeRef<Div>) {
    let jump = session.memo(|state| state.jump.clone().filter(|(_, jump)| matches!(jump, Jump::Source(..))));
    Effect::new(move |_| {
        let Some((_, Jump::Source(line, column))) = jump.get() else { return };
        session.state.update(|state| state.jump = None);
        // The pane may have been hidden until now, and the field may still contain another file's text.
        request_animation_frame(move || {
            let (Some(element), Some(scroller)) = (field.element.get_untracked(), scroller.get_untracked()) else {
                return;
            };
            let column = session.state.with_untracked(|state| {
                let line = state.file().map_or("", |file| file.lines.line(line));
                line.chars().take(column).map(char::len_utf16).sum()
            });
            let _ = element.focus();
            field.put_caret(line, column);
            show_line(line);
            scroller.set_scroll_left(0);
        });
    });
}

/// Scrolls the source to a line, counted from 0. Neither the focus nor the cursor moves.
pub(super) fn show_line(line: usize) {
    if let Some(scroller) = browser::element("editor-scroll") {
        scroller.set_scroll_top((line * LINE) as i32 - scroller.client_height() / 3);
    }
}
