//! The source: a plain text field, with colours painted under its transparent letters.
//!
//! The field is as large as its text and scrolls with what is painted, so both always stand at the same place; only the
//! lines in sight are painted. Its undo is the browser's own: the page sets its value only when another file is shown.

use crate::app::session;
use crate::browser;
use crate::lines::{Lines, as_field_text, columns, field_offset, take_typed};
use crate::parts::diff::Measured;
use crate::parts::opening::{open_list, open_sample};
use crate::project;
use crate::rows::TAB;
use crate::state::{Jump, View};
use codemod::html_line;
use leptos::ev;
use leptos::html::{Div, Textarea};
use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use web_sys::{HtmlDocument, ScrollToOptions};

/// Height of a line, as in the style sheet.
const LINE: f64 = 20.0;
/// Lines painted above and below those in sight.
const SPARE: usize = 8;

/// The source pane's editor.
#[component]
pub(crate) fn Editor() -> impl IntoView {
    let session = session();
    let scroller = NodeRef::<Div>::new();
    let field = NodeRef::<Textarea>::new();
    let lines = session.keyed(
        |state| state.file().map_or(0, |file| file.lines.serial() + 1),
        |state| state.file().map(|file| file.lines.clone()).unwrap_or_default(),
    );
    let view = session.keyed(|state| state.view.as_ref().map_or(0, |view| view.serial), |state| state.view.clone());
    let empty = session.part(|state| state.is_empty());
    let place = Measured::of(scroller);

    // The one place that writes into the field: another file, or the same one from elsewhere.
    let shown = session.part(|state| (state.project, state.selected));
    Effect::new(move |_| {
        shown.get();
        let Some(field) = field.get() else { return };
        let text = as_field_text(lines.get_untracked().text());
        if field.value() != text {
            field.set_value(&text);
        }
        if let Some(scroller) = scroller.get_untracked() {
            scroller.set_scroll_top(0);
            scroller.set_scroll_left(0);
        }
    });

    let jump = session.part(|state| state.jump.clone());
    Effect::new(move |_| {
        let (Some((_, Jump::Source(line, column))), Some(field), Some(scroller)) =
            (jump.get(), field.get(), scroller.get())
        else {
            return;
        };
        session.state.update(|state| state.jump = None);
        let offset = field_offset(lines.get_untracked().text(), line, column) as u32;
        let _ = field.focus();
        let _ = field.set_selection_range(offset, offset);
        let top = line as f64 * LINE - f64::from(scroller.client_height()) / 3.0;
        let to = ScrollToOptions::new();
        to.set_top(top.max(0.0));
        to.set_left(0.0);
        scroller.scroll_to_with_scroll_to_options(&to);
    });

    let size = Memo::new(move |_| {
        let lines = lines.get();
        let widest = (0..lines.len()).map(|i| lines.line(i)).filter(|l| l.len() > 60).map(|l| columns(l, TAB)).max();
        (lines.len().max(1) + 1, widest.unwrap_or(0).max(60) + 8)
    });
    let sheet = move || {
        let (rows, columns) = size.get();
        format!("height:{}px;min-width:calc({columns}ch + var(--gutter-width))", rows * LINE as usize + 24)
    };

    let window = Memo::new(move |_| {
        let (top, height) = (place.top.get(), place.height.get());
        let first = ((top / LINE) as usize).saturating_sub(SPARE);
        first..first + (height / LINE) as usize + 2 * SPARE
    });
    let painted = move || {
        let (window, view) = (window.get(), view.get());
        paint(&lines.get(), window, view.as_deref())
    };

    let typed = move || {
        let Some(field) = field.get_untracked() else { return };
        let value = field.value();
        let stored = lines.get_untracked().text().clone();
        if let Some(splice) = take_typed(&stored, &value) {
            session.state.update(|state| state.type_text(&splice));
            session.port_soon();
        }
    };

    // Tab writes spaces; Escape gives it back to walking through the page.
    let tab_walks = StoredValue::new(false);
    let key = move |event: ev::KeyboardEvent| match event.key().as_str() {
        "Escape" => tab_walks.set_value(true),
        "Tab" if event.shift_key() || event.ctrl_key() || event.alt_key() || tab_walks.get_value() => {}
        "Tab" => {
            event.prevent_default();
            write("    ");
        }
        "Shift" | "Control" | "Alt" | "Meta" => {}
        _ => tab_walks.set_value(false),
    };
    let paste = move |event: ev::ClipboardEvent| {
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
    };

    view! {
        <div class="editor">
            <div class="editor-scroll" node_ref=scroller on:scroll=move |_| place.scrolled()>
                <div class="editor-sheet" style=sheet>
                    <div class="painted" aria-hidden="true" inner_html=painted></div>
                    <textarea id="source" node_ref=field aria-label="Source" aria-describedby="source-keys"
                        spellcheck="false" autocomplete="off" autocapitalize="off" wrap="off"
                        on:input=move |_| typed() on:keydown=key on:paste=paste
                        on:blur=move |_| tab_walks.set_value(false)></textarea>
                </div>
            </div>
            <Show when=move || empty.get()>
                <div class="editor-empty">
                    <p>"Paste a training script here, or drop a file, several, a folder or a zip archive anywhere on the page."</p>
                    <p><button class="button small" on:click=move |_| open_sample(session)>"Start from a sample trainer"</button></p>
                </div>
            </Show>
        </div>
        <p class="keys" id="source-keys">
            <kbd>"Tab"</kbd>" indents; "<kbd>"Esc"</kbd>" then "<kbd>"Tab"</kbd>" leaves. "
            <kbd>"Ctrl"</kbd>"+"<kbd>"Enter"</kbd>" ports now. "<kbd>"F8"</kbd>" next change."
        </p>
    }
}

/// Lines in sight as HTML. Colours come from the last port; a line that was typed since has none for a moment.
fn paint(lines: &Lines, window: std::ops::Range<usize>, view: Option<&View>) -> String {
    let mut html = format!("<div style=\"height:{}px\"></div>", window.start * LINE as usize);
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

/// Writes into the focused field as if typed, so that the browser can undo it.
fn write(text: &str) {
    let document: HtmlDocument = browser::document().unchecked_into();
    let _ = document.exec_command_with_show_ui_and_value("insertText", false, text);
}
