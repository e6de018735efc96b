//! The source: a plain text field, with colours painted under its transparent letters.
//!
//! The field is as large as its text and scrolls together with the painted lines, so both are always aligned; only the
//! visible lines are painted. Undo is the browser's own: the page sets the field's value only when another file is
//! shown.

mod painted;
mod typing;

use crate::port::state::lines::{as_field_text, columns, field_offset};
use crate::port::state::{Jump, State};
use crate::port::work::Session;
use crate::shared::browser;
use leptos::html::{Div, Textarea};
use leptos::prelude::*;
use painted::Painted;
use typing::{LastValue, key, paste, type_in};

/// The height of a line, as in the style sheet.
const LINE: usize = 20;
/// The number of lines painted above and below the visible ones.
const SPARE: usize = 8;

/// The editor of the current file.
#[component]
pub(super) fn Editor() -> impl IntoView {
    let session: Session = expect_context();
    let (field, scroller) = (NodeRef::<Textarea>::new(), NodeRef::<Div>::new());
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
    let given = StoredValue::new(None);
    let last = LastValue::new_local(None);
    give(session, field, scroller, last, given);
    follow(session, field, scroller);
    // The paste that is in progress replaces the whole text.
    let whole = StoredValue::new(false);
    let typed = move |_| {
        let whole = whole.try_update_value(std::mem::take).unwrap_or_default();
        if let Some(field) = field.get_untracked() {
            type_in(session, &field, whole, last, given);
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
                    <textarea
                        id="source"
                        aria-label="Source"
                        aria-describedby="source-keys"
                        spellcheck="false"
                        autocomplete="off"
                        autocapitalize="off"
                        wrap="off"
                        node_ref=field
                        on:input=typed
                        on:keydown=move |event| key(&event, tab_walks)
                        on:paste=move |event| whole.set_value(paste(session, &event, field))
                    ></textarea>
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

/// The only function that writes to the field: when another file is shown, or the same one was changed elsewhere.
fn give(
    session: Session,
    field: NodeRef<Textarea>,
    scroller: NodeRef<Div>,
    last: LastValue,
    given: StoredValue<Option<(u64, usize)>>,
) {
    let shown = session.memo(|state| (state.project, state.selected));
    Effect::new(move |_| {
        let (shown, Some(field)) = (Some(shown.get()), field.get()) else { return };
        if given.get_value() == shown {
            return;
        }
        given.set_value(shown);
        last.set_value(None);
        let text = session.state.with_untracked(|state| state.file().map(|file| as_field_text(file.lines.text())));
        let text = text.unwrap_or_default();
        if field.value() != text {
            field.set_value(&text);
            if let Some(scroller) = scroller.get_untracked() {
                scroller.set_scroll_top(0);
                scroller.set_scroll_left(0);
            }
        }
    });
}

/// Scrolls to a line of the source if that is the requested location.
fn follow(session: Session, field: NodeRef<Textarea>, scroller: NodeRef<Div>) {
    let jump = session.memo(|state| state.jump.clone().filter(|(_, jump)| matches!(jump, Jump::Source(..))));
    Effect::new(move |_| {
        let Some((_, Jump::Source(line, column))) = jump.get() else { return };
        session.state.update(|state| state.jump = None);
        // The pane may have been hidden until now, and the field may still contain another file's text.
        request_animation_frame(move || {
            let (Some(field), Some(scroller)) = (field.get_untracked(), scroller.get_untracked()) else { return };
            let offset = session.state.with_untracked(|state| {
                state.file().map_or(0, |file| field_offset(file.lines.text(), line, column)) as u32
            });
            let _ = field.focus();
            let _ = field.set_selection_range(offset, offset);
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
