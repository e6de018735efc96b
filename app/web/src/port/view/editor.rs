//! The source: a plain text field, with colours painted under its transparent letters.
//!
//! The field is as large as its text and scrolls with what is painted, so both always stand at the same place; only the
//! lines in sight are painted. Its undo is the browser's own: the page sets its value only when another file is shown.

use crate::port::state::lines::{as_field_text, columns, field_offset, take_typed};
use crate::port::state::project::check_text;
use crate::port::state::rows::TAB;
use crate::port::state::{Jump, PaintedLine, State};
use crate::port::work::{Session, open_list};
use crate::shared::browser;
use crate::shared::view::{Code, coloured};
use leptos::ev::{ClipboardEvent, KeyboardEvent};
use leptos::html::{Div, Textarea};
use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use web_sys::HtmlDocument;

/// Height of a line, as in the style sheet.
const LINE: usize = 20;
/// Lines painted above and below those in sight.
const SPARE: usize = 8;

/// The editor of the file shown.
#[component]
pub(super) fn Editor() -> impl IntoView {
    let session: Session = expect_context();
    let (field, scroller) = (NodeRef::<Textarea>::new(), NodeRef::<Div>::new());
    // The first line in sight, and how many there are.
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
    give(session, field, scroller, given);
    follow(session, field, scroller);
    let typed = move |_| {
        let Some(value) = field.get_untracked().map(|field| field.value()) else { return };
        type_in(session, &value, given);
    };
    let empty = session.memo(|state| state.file().is_none_or(|file| file.lines.text().is_empty()));
    let size = session.memo(sheet);
    let sheet_style = move || {
        let (lines, widest) = size.get();
        format!("height:{}px;min-width:calc({widest}ch + var(--gutter-width))", (lines + 1) * LINE + 24)
    };
    // Escape was pressed: the next Tab walks on.
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
                        on:paste=move |event| paste(session, &event)
                    ></textarea>
                </div>
            </div>
            <div class="editor-empty" id="editor-empty" hidden=move || !empty.get()>
                <p>"Paste a training script here, or drop files, a folder or a zip."</p>
            </div>
        </div>
    }
}

/// The number of lines, and columns of the widest.
fn sheet(state: &State) -> (usize, usize) {
    let Some(lines) = state.file().map(|file| &file.lines) else { return (1, 68) };
    let long = (0..lines.len()).map(|i| lines.line(i)).filter(|line| line.len() > 60);
    (lines.len().max(1), long.map(|line| columns(line, TAB)).max().unwrap_or(60) + 8)
}

/// The lines in sight, in their colours.
#[component]
fn Painted(window: RwSignal<(usize, usize)>) -> impl IntoView {
    let session: Session = expect_context();
    let lines = Memo::new(move |_| {
        let (first, count) = window.get();
        session.state.with(|state| state.painted(first..first + count))
    });
    let above = move || format!("{}px", lines.with(|lines| lines.first().map_or(0, |line| line.number)) * LINE);
    view! {
        <div class="painted" id="painted" aria-hidden="true">
            <div style:height=above></div>
            <For each=move || lines.get() key=|line| line.key let(line)>
                {painted_line(line)}
            </For>
        </div>
    }
}

fn painted_line(line: PaintedLine) -> impl IntoView {
    let PaintedLine { number, text, colours, mark, .. } = line;
    let class = mark.map_or("ln", |urgent| if urgent { "ln urgent" } else { "ln noted" });
    view! {
        <div class=class>
            <b class="number">{number + 1}</b>
            <Code line=coloured(&text, &colours, &[])/>
        </div>
    }
}

/// The one place that writes into the field: another file, or the same one from elsewhere.
fn give(session: Session, field: NodeRef<Textarea>, scroller: NodeRef<Div>, given: StoredValue<Option<(u64, usize)>>) {
    let shown = session.memo(|state| (state.project, state.selected));
    Effect::new(move |_| {
        let (shown, Some(field)) = (Some(shown.get()), field.get()) else { return };
        if given.get_value() == shown {
            return;
        }
        given.set_value(shown);
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

/// Goes to a line of the source, if that is where to go.
fn follow(session: Session, field: NodeRef<Textarea>, scroller: NodeRef<Div>) {
    let jump = session.memo(|state| state.jump.clone().filter(|(_, jump)| matches!(jump, Jump::Source(..))));
    Effect::new(move |_| {
        let Some((_, Jump::Source(line, column))) = jump.get() else { return };
        session.state.update(|state| state.jump = None);
        // The pane may have been hidden until now, and the field have another file's text.
        request_animation_frame(move || {
            let (Some(field), Some(scroller)) = (field.get_untracked(), scroller.get_untracked()) else { return };
            let offset = session.state.with_untracked(|state| {
                state.file().map_or(0, |file| field_offset(file.lines.text(), line, column)) as u32
            });
            let _ = field.focus();
            let _ = field.set_selection_range(offset, offset);
            scroller.set_scroll_top(((line * LINE) as i32 - scroller.client_height() / 3).max(0));
            scroller.set_scroll_left(0);
        });
    });
}

/// Something was typed.
fn type_in(session: Session, value: &str, given: StoredValue<Option<(u64, usize)>>) {
    let splice = session.state.with_untracked(|state| {
        let stored = state.file().map(|file| file.lines.text().clone());
        take_typed(stored.as_deref().unwrap_or(""), value)
    });
    let Some(splice) = splice else { return };
    session.state.update(|state| {
        state.type_text(&splice);
        // The field has this text already.
        given.set_value(Some((state.project, state.selected)));
    });
    session.port_soon();
}

/// Tab writes spaces; Escape gives it back to walking through the page.
fn key(event: &KeyboardEvent, tab_walks: StoredValue<bool>) {
    match event.key().as_str() {
        "Escape" => tab_walks.set_value(true),
        "Tab" if event.shift_key() || event.ctrl_key() || event.alt_key() || tab_walks.get_value() => {
            tab_walks.set_value(false);
        }
        "Tab" => {
            event.prevent_default();
            // As if typed, so that the browser can undo it.
            let document: HtmlDocument = browser::document().unchecked_into();
            let _ = document.exec_command_with_show_ui_and_value("insertText", false, "    ");
        }
        "Shift" | "Control" | "Alt" | "Meta" => {}
        _ => tab_walks.set_value(false),
    }
}

/// Files are opened; text goes into the field if it can be ported at all.
fn paste(session: Session, event: &ClipboardEvent) {
    let Some(data) = event.clipboard_data() else { return };
    if let Some(files) = data.files().filter(|files| files.length() > 0) {
        event.prevent_default();
        return open_list(session, &files);
    }
    let text = data.get_data("text/plain").unwrap_or_default();
    if let Err(why) = check_text(&text) {
        event.prevent_default();
        session.say(true, format!("The pasted text {why} Nothing was changed."));
    }
}
