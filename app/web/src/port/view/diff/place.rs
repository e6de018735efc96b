//! The visible part of the table: it stays in place when the diff changes, and moves to where the state requests.

use super::sheet::{Frame, Sheet};
use crate::port::state::find::Line;
use crate::port::state::rows::Row as Kind;
use crate::port::state::{Jump, Step};
use crate::port::view::editor;
use crate::port::work::Session;
use crate::shared::browser;
use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlDivElement, HtmlElement};

/// The file, the line of the original at the top, and the pixels of it that are scrolled out of view.
type Anchor = (usize, u32, f64);

/// Keeps the line at the top in place when the diff changes, and scrolls to the location that the state requests.
pub(super) fn follow(session: Session, sheet: Memo<Sheet>, frame: RwSignal<Frame>, scroller: NodeRef<Div>) {
    let anchor = StoredValue::new(None::<Anchor>);
    let jump = session.memo(|state| state.jump.clone());
    // One effect does both, in this order: going to a folded line changes the diff, and if there were two effects, the
    // one that keeps the line in place could run last and scroll back.
    Effect::new(move |shown: Option<Option<(Sheet, HtmlDivElement)>>| {
        let (jump, sheet, scroller) = (jump.get(), sheet.get(), scroller.get()?);
        let now = Some((sheet, scroller));
        let (sheet, scroller) = now.as_ref()?;
        if shown.flatten() != now {
            keep_place(anchor.get_value(), sheet, frame, scroller);
        }
        if let Some((_, jump)) = jump {
            go(session, jump, sheet, frame, scroller);
        }
        now
    });
    Effect::new(move |_| {
        let (top, ..) = frame.get();
        let layout = &sheet.get_untracked().paper.layout;
        let line = layout.window(top, 400.0, 0.0).find_map(|row| match layout.rows[row] {
            Kind::Same { old, .. } | Kind::Change { old: Some(old), .. } => {
                Some((old, top - f64::from(layout.tops[row])))
            }
            _ => None,
        });
        let file = sheet.get_untracked().paper.file;
        anchor.set_value(line.filter(|_| top > 0.0).map(|(old, offset)| (file, old, offset)));
    });
}

fn keep_place(anchor: Option<Anchor>, sheet: &Sheet, frame: RwSignal<Frame>, scroller: &Element) {
    if let Some((file, old, offset)) = anchor
        && file == sheet.paper.file
        && let Some(row) = sheet.paper.layout.row_of_old(old)
    {
        scroll_to(scroller, sheet, frame, f64::from(sheet.paper.layout.tops[row]) + offset);
    }
}

/// Scrolls, and shows the rows there immediately. The sheet gets its height first: scrolling is limited by it.
fn scroll_to(scroller: &Element, sheet: &Sheet, frame: RwSignal<Frame>, top: f64) {
    if let Some(inner) = browser::element("diff-sheet") {
        let _ = inner.style().set_property("height", &format!("{}px", sheet.paper.layout.height()));
    }
    scroller.set_scroll_top(top.max(0.0) as i32);
    frame.update(|frame| frame.0 = f64::from(scroller.scroll_top()));
}

/// Goes to a location; a folded one is unfolded first, which changes the diff and leads here again.
fn go(session: Session, jump: Jump, sheet: &Sheet, frame: RwSignal<Frame>, scroller: &Element) {
    if matches!(jump, Jump::Source(..)) || sheet.paper.layout.rows.is_empty() {
        return;
    }
    let layout = &sheet.paper.layout;
    let (seen, height) = (f64::from(scroller.scroll_top()), f64::from(scroller.client_height()));
    let step = |forward: bool| {
        let step = session.state.try_update_untracked(|state| state.stepped(layout, seen, forward));
        step.unwrap_or(Step::Nowhere)
    };
    let row = match &jump {
        Jump::New(line) | Jump::Found(Line::New(line)) => layout.row_of_new(*line),
        Jump::Found(Line::Removed(line)) => layout.row_of_old(*line),
        Jump::Edit(id) => sheet.paper.row_of_edit(id),
        Jump::Next | Jump::Previous => match step(jump == Jump::Next) {
            Step::Row(row) => Some(row),
            Step::File(file) => return session.select(file),
            Step::Nowhere => None,
        },
        Jump::Source(..) => None,
    };
    if let (Some(row), Jump::New(_) | Jump::Found(_)) = (row, &jump)
        && let Kind::Fold { old, count, .. } = layout.rows[row]
    {
        return session.state.update(|state| state.unfolded.push(old..old + count));
    }
    session.state.update(|state| state.jump = None);
    let Some(row) = row else { return };
    let top = f64::from(layout.tops[row]);
    match jump {
        Jump::Edit(_) | Jump::Found(_) if top >= seen && top + 60.0 < seen + height => {}
        Jump::Next | Jump::Previous => {
            scroll_to(scroller, sheet, frame, top);
            editor::show_line(sheet.paper.line_about(row) as usize);
        }
        _ => scroll_to(scroller, sheet, frame, top - height / 3.0),
    }
    let key = sheet.paper.key_of(row);
    let focus = !matches!(jump, Jump::Found(_));
    browser::later(0, move || show_row(&key, focus));
}

/// Highlights a row for a moment, and focuses its first control.
fn show_row(key: &str, focus: bool) {
    let row = browser::document().query_selector(&format!("tr[data-key=\"{key}\"]")).ok().flatten();
    let Some(row) = row else { return };
    // If two jumps follow in quick succession, the first row is no longer highlighted.
    if let Some(before) = browser::document().query_selector("tr.here").ok().flatten() {
        let _ = before.class_list().remove_1("here");
    }
    let _ = row.class_list().add_1("here");
    // A row without a control is reached through the table.
    let control = || row.query_selector("button, a").ok().flatten();
    let table = || browser::element("diff-scroll").map(Into::into);
    if let Some(control) = focus.then(|| control().or_else(table)).flatten() {
        let _ = control.unchecked_into::<HtmlElement>().focus();
    }
    browser::later(1600, move || {
        let _ = row.class_list().remove_1("here");
    });
}
