//! The source: a plain text field, with colours painted under its transparent letters.
//!
//! The field is as large as its text and scrolls with what is painted, so both always stand at the same place; only the
//! lines in sight are painted. Its undo is the browser's own: the page sets its value only when another file is shown.

use crate::browser;
use crate::port::app::Session;
use crate::port::lines::{Lines, as_field_text, columns, field_offset, take_typed};
use crate::port::opening::open_list;
use crate::port::project;
use crate::port::rows::TAB;
use crate::port::state::{Jump, State, View};
use codemod::html_line;
use reactive_graph::effect::Effect;
use reactive_graph::prelude::*;
use reactive_graph::signal::RwSignal;
use std::cell::Cell;
use std::ops::Range;
use wasm_bindgen::prelude::*;
use web_sys::{ClipboardEvent, Event, HtmlDocument, HtmlTextAreaElement, KeyboardEvent};

/// Height of a line, as in the style sheet.
const LINE: usize = 20;
/// Lines painted above and below those in sight.
const SPARE: usize = 8;

thread_local! {
    /// Escape was pressed: the next Tab walks on.
    static TAB_WALKS: Cell<bool> = const { Cell::new(false) };
    /// The project and file whose text the field was given.
    static GIVEN: Cell<Option<(u64, usize)>> = const { Cell::new(None) };
    /// What is painted: text, colours, first line, number of lines.
    static PAINTED: Cell<(u64, u64, usize, usize)> = const { Cell::new((0, 0, 0, 0)) };
    /// The text whose size the sheet has.
    static SIZED: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// Keeps the editor up to date.
pub(super) fn start(session: Session, moved: RwSignal<u32>) {
    Effect::new(move |_| {
        moved.track();
        let jumped = session.state.with(|state| {
            give(state);
            paint(state);
            jump(state)
        });
        if jumped {
            session.state.update(|state| state.jump = None);
        }
    });
}

/// The editor's place has changed.
pub(super) fn moved(session: Session) {
    PAINTED.set((0, 0, 0, 0));
    session.state.with_untracked(paint);
}

fn field() -> Option<HtmlTextAreaElement> {
    browser::element("source")?.dyn_into().ok()
}

/// The one place that writes into the field: another file, or the same one from elsewhere.
fn give(state: &State) {
    let shown = Some((state.project, state.selected));
    if GIVEN.get() == shown {
        return;
    }
    let Some(field) = field() else { return };
    GIVEN.set(shown);
    let text = state.file().map(|file| as_field_text(file.lines.text())).unwrap_or_default();
    if field.value() != text {
        field.set_value(&text);
        if let Some(scroller) = browser::element("editor-scroll") {
            scroller.set_scroll_top(0);
            scroller.set_scroll_left(0);
        }
    }
}

fn paint(state: &State) {
    let (Some(scroller), Some(sheet), Some(painted)) =
        (browser::element("editor-scroll"), browser::element("editor-sheet"), browser::element("painted"))
    else {
        return;
    };
    let empty = Lines::default();
    let lines = state.file().map_or(&empty, |file| &file.lines);
    let serial = if lines.is_empty() { 0 } else { lines.serial() };
    if SIZED.replace(serial) != serial {
        let long = (0..lines.len()).map(|i| lines.line(i)).filter(|line| line.len() > 60);
        let widest = long.map(|line| columns(line, TAB)).max().unwrap_or(60) + 8;
        let height = (lines.len().max(1) + 1) * LINE + 24;
        let style = format!("height:{height}px;min-width:calc({widest}ch + var(--gutter-width))");
        let _ = sheet.set_attribute("style", &style);
    }
    let first = (scroller.scroll_top().max(0) as usize / LINE).saturating_sub(SPARE);
    let count = scroller.client_height().max(0) as usize / LINE + 2 * SPARE;
    let view = state.view.as_deref();
    let now = (serial, view.map_or(0, |view| view.serial), first, count);
    if PAINTED.replace(now) != now {
        painted.set_inner_html(&html(lines, first..first + count, view));
    }
}

/// Lines in sight as HTML. Colours come from the last port; a line that was typed since has none for a moment.
fn html(lines: &Lines, window: Range<usize>, view: Option<&View>) -> String {
    let mut html = format!("<div style=\"height:{}px\"></div>", window.start * LINE);
    for index in window.start..window.end.min(lines.len()) {
        let line = lines.line(index);
        let spans = view.map_or(&[][..], |view| {
            // The line stood at the same distance from the start, or from the end.
            let from_end = (index + view.old.len()).checked_sub(lines.len());
            let same = [Some(index), from_end].into_iter().flatten().find(|old| view.old.line(*old) == line);
            same.map_or(&[][..], |old| view.old_colours.line(old))
        });
        html += &format!("<div class=\"ln\"><b>{}</b>{}</div>", index + 1, html_line(line, spans, &[]));
    }
    html
}

/// Goes to a line of the source, if that is where to go.
fn jump(state: &State) -> bool {
    let (Some((_, Jump::Source(line, column))), Some(file)) = (&state.jump, state.file()) else { return false };
    let (line, column) = (*line, *column);
    let (Some(field), Some(scroller)) = (field(), browser::element("editor-scroll")) else { return false };
    let offset = field_offset(file.lines.text(), line, column) as u32;
    let _ = field.focus();
    let _ = field.set_selection_range(offset, offset);
    scroller.set_scroll_top(((line * LINE) as i32 - scroller.client_height() / 3).max(0));
    scroller.set_scroll_left(0);
    true
}

/// Something was typed.
pub(super) fn typed(session: Session, event: &Event) {
    let Some(field) = event.target().and_then(|target| target.dyn_into::<HtmlTextAreaElement>().ok()) else { return };
    let value = field.value();
    let splice = session.state.with_untracked(|state| {
        let stored = state.file().map(|file| file.lines.text().clone());
        take_typed(stored.as_deref().unwrap_or(""), &value)
    });
    if let Some(splice) = splice {
        session.state.update(|state| {
            state.type_text(&splice);
            // The field has this text already.
            GIVEN.set(Some((state.project, state.selected)));
        });
        session.port_soon();
    }
}

/// Tab writes spaces; Escape gives it back to walking through the page.
pub(super) fn key(event: &KeyboardEvent) {
    match event.key().as_str() {
        "Escape" => TAB_WALKS.set(true),
        "Tab" if event.shift_key() || event.ctrl_key() || event.alt_key() || TAB_WALKS.get() => TAB_WALKS.set(false),
        "Tab" => {
            event.prevent_default();
            // As if typed, so that the browser can undo it.
            let document: HtmlDocument = browser::document().unchecked_into();
            let _ = document.exec_command_with_show_ui_and_value("insertText", false, "    ");
        }
        "Shift" | "Control" | "Alt" | "Meta" => {}
        _ => TAB_WALKS.set(false),
    }
}

/// Files are opened; text goes into the field if it can be ported at all.
pub(super) fn paste(session: Session, event: &ClipboardEvent) {
    let Some(data) = event.clipboard_data() else { return };
    if let Some(files) = data.files().filter(|files| files.length() > 0) {
        event.prevent_default();
        return open_list(session, &files);
    }
    let text = data.get_data("text/plain").unwrap_or_default();
    if let Err(why) = project::check_text(&text) {
        event.prevent_default();
        session.say(true, format!("What you pasted {why} Nothing was changed."));
    }
}
