//! The diff: the tools above it, and a table of which only the rows in sight have elements.

use super::row::Row;
use crate::port::state::paper::Paper;
use crate::port::state::rows::{Row as Kind, Shape};
use crate::port::state::{Jump, State};
use crate::port::work::Session;
use crate::shared::browser;
use leptos::ev;
use leptos::ev::MouseEvent;
use leptos::html::{Div, Table};
use leptos::prelude::*;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

/// Pixels rendered above and below what is in sight.
const SPARE: f64 = 160.0;
/// Pages narrower than this show one column.
const NARROW: f64 = 900.0;

/// A paper, equal as long as what it follows from is.
#[derive(Clone)]
pub(super) struct Sheet {
    key: u64,
    pub(super) paper: Arc<Paper>,
}

impl PartialEq for Sheet {
    fn eq(&self, other: &Sheet) -> bool {
        self.key == other.key
    }
}

/// A row in sight: a name that stays the same as long as it shows the same, and its index.
pub(super) type InSight = (String, usize);

/// What is seen of the table: pixels above, height and width of the frame.
type Frame = (f64, f64, f64);

/// The tools and the table.
#[component]
pub(super) fn Diff() -> impl IntoView {
    let session: Session = expect_context();
    let scroller = NodeRef::<Div>::new();
    let frame = RwSignal::<Frame>::new((0.0, 600.0, 800.0));
    let page_width = RwSignal::new(browser::page_width());
    let look = move || {
        if let Some(scroller) = scroller.try_get_untracked().flatten() {
            let now = (
                f64::from(scroller.scroll_top()),
                f64::from(scroller.client_height()),
                f64::from(scroller.client_width()),
            );
            if frame.get_untracked() != now {
                frame.set(now);
            }
        }
    };
    scroller.on_load(move |scroller| {
        look();
        browser::when_resized(&scroller, look);
    });
    let handle = window_event_listener(ev::resize, move |_| page_width.set(browser::page_width()));
    on_cleanup(move || handle.remove());

    let shape = shape(session, frame, page_width);
    let key = Memo::new(move |_| session.state.with(|state| key_of(state, shape.get())));
    let sheet = Memo::new(move |_| {
        let paper = |state: &State| Arc::new(Paper::of(state, shape.get_untracked()));
        Sheet { key: key.get(), paper: session.state.with_untracked(paper) }
    });
    let rows = Memo::new(move |_| in_sight(&sheet.get().paper, frame.get()));
    keep_place(sheet, frame, scroller);
    follow(session, sheet, frame, scroller);
    view! {
        <Tools/>
        <Frame rows sheet scroller look=Callback::new(move |()| look())/>
    }
}

/// The table in its frame.
#[component]
fn Frame(rows: Memo<Vec<InSight>>, sheet: Memo<Sheet>, scroller: NodeRef<Div>, look: Callback<()>) -> impl IntoView {
    let session: Session = expect_context();
    let label = session.memo(|state| format!("Changes in {}", state.file().map_or("", |file| file.path.as_str())));
    let unified = Memo::new(move |_| sheet.with(|sheet| sheet.paper.unified));
    let stale = Memo::new(move |_| sheet.with(|sheet| sheet.paper.stale));
    let count = Memo::new(move |_| sheet.with(|sheet| sheet.paper.layout.rows.len() + 1));
    let digits = Memo::new(move |_| sheet.with(|sheet| Paper::digits(&sheet.paper.view)));
    let above = move || {
        let first = rows.with(|rows| rows.first().map_or(0, |(_, index)| *index));
        sheet.with(|sheet| sheet.paper.layout.tops.get(first).copied().unwrap_or(0))
    };
    let below = move || {
        let end = rows.with(|rows| rows.last().map_or(0, |(_, index)| index + 1));
        sheet.with(|sheet| {
            let layout = &sheet.paper.layout;
            layout.height() - layout.tops.get(end).copied().unwrap_or(0)
        })
    };
    let height = move || sheet.with(|sheet| sheet.paper.layout.height());
    // Selecting text takes one side only.
    let side = RwSignal::new("new");
    let table = NodeRef::<Table>::new();
    let choose_side = move |event: MouseEvent| {
        let cell = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        if let Some(cell) = cell.and_then(|target| target.closest("td").ok().flatten()) {
            side.set(if cell.class_list().contains("old") { "old" } else { "new" });
        }
    };
    view! {
        <div
            class="diff-scroll"
            id="diff-scroll"
            tabindex="0"
            role="region"
            aria-label=label
            node_ref=scroller
            on:scroll=move |_| look.run(())
        >
            <div class="diff-sheet" id="diff-sheet" style:height=move || format!("{}px", height())>
                <table
                    class="changes"
                    id="changes"
                    class:unified=unified
                    class:stale=stale
                    aria-label=label
                    aria-rowcount=move || count.get().to_string()
                    data-side=side
                    style:--digits=move || digits.get().to_string()
                    node_ref=table
                    on:mousedown=choose_side
                >
                    <Heads unified/>
                    <tbody>
                        <tr class="space" aria-hidden="true" style:height=move || format!("{}px", above())></tr>
                        <For each=move || rows.get() key=|row| row.0.clone() let((key, index))>
                            <Row sheet=sheet.get_untracked() rows key index/>
                        </For>
                        <tr class="space" aria-hidden="true" style:height=move || format!("{}px", below())></tr>
                    </tbody>
                </table>
            </div>
        </div>
    }
}

/// Columns and their headings.
#[component]
fn Heads(unified: Memo<bool>) -> impl IntoView {
    let heads = |heads: &[&'static str]| heads.iter().map(|head| view! { <th>{*head}</th> }).collect_view();
    let columns = move || match unified.get() {
        true => view! { <col class="num"/> <col class="num"/> <col/> }.into_any(),
        false => view! { <col class="num"/> <col/> <col class="num"/> <col/> }.into_any(),
    };
    view! {
        <colgroup>{columns}</colgroup>
        <thead class="visually-hidden">
            <tr aria-rowindex="1">
                {move || match unified.get() {
                    true => heads(&["Line of the original", "Line of the port", "Code"]),
                    false => heads(&["Line", "Original", "Line", "Port"]),
                }}
            </tr>
        </thead>
    }
}

/// The buttons above the table.
#[component]
fn Tools() -> impl IntoView {
    let session: Session = expect_context();
    let state = session.state;
    let undo = session.memo(|state| state.can_undo());
    let (whole, unified) = (session.memo(State::shows_whole), session.memo(|state| state.unified));
    let hidden = session.memo(|state| state.source_hidden);
    let place = session.memo(|state| state.step_said.clone());
    view! {
        <div class="tools" id="tools" role="toolbar" aria-label="Changes">
            <button class="button quiet small" id="previous" aria-keyshortcuts="Shift+F8" on:click=move |_| session.step(false)>
                "↑ Previous"
            </button>
            <button class="button quiet small" id="next" aria-keyshortcuts="F8" on:click=move |_| session.step(true)>
                "↓ Next"
            </button>
            <span class="step-place" id="step-place" role="status">{place}</span>
            <button
                class="button quiet small"
                id="undo"
                title="Undo the last accept or reject"
                prop:disabled=move || !undo.get().0
                on:click=move |_| session.undo(false)
            >
                "Undo"
            </button>
            <button class="button quiet small" id="redo" prop:disabled=move || !undo.get().1 on:click=move |_| session.undo(true)>
                "Redo"
            </button>
            <span class="stretch"></span>
            <button
                class="button quiet small"
                id="whole"
                aria-pressed=move || whole.get().to_string()
                on:click=move |_| state.update(State::flip_whole)
            >
                "Show all lines"
            </button>
            <button
                class="button quiet small"
                id="unified"
                aria-pressed=move || unified.get().to_string()
                on:click=move |_| state.update(|state| state.unified ^= true)
            >
                "Unified"
            </button>
            <button
                class="button quiet small"
                id="wide"
                aria-pressed=move || hidden.get().to_string()
                on:click=move |_| state.update(|state| state.source_hidden ^= true)
            >
                "Hide source"
            </button>
        </div>
    }
}

/// The measures of the table. The numbers are the style sheet's.
fn shape(session: Session, frame: RwSignal<Frame>, page_width: RwSignal<f64>) -> Memo<Shape> {
    let letter = letter_width();
    let digits = session.memo(|state| state.in_sight().map_or(3, |(_, view, _)| Paper::digits(view)));
    let unified = session.memo(|state| state.unified);
    let width = Memo::new(move |_| frame.get().2);
    Memo::new(move |_| {
        let (width, unified) = (width.get(), unified.get() || page_width.get() < NARROW);
        let number = (digits.get() as f64 * letter + 16.0).ceil();
        let code = if unified { width - 2.0 * number } else { width / 2.0 - number };
        let columns = ((code - 27.0) / letter).max(8.0) as usize;
        Shape { unified, columns, prose: width, line: 20 }
    })
}

/// Equal as long as the paper would be.
fn key_of(state: &State, shape: Shape) -> u64 {
    let mut hasher = DefaultHasher::new();
    let view = state.view.as_ref().map_or(0, |view| view.serial);
    let shape = (shape.unified, shape.columns, shape.prose as u32);
    (view, state.ports, state.is_stale(), shape, state.catalogue.recipes.len()).hash(&mut hasher);
    for range in &state.unfolded {
        (range.start, range.end).hash(&mut hasher);
    }
    for edit in &state.rejected.edits {
        edit.id.hash(&mut hasher);
    }
    hasher.finish()
}

fn in_sight(paper: &Paper, (top, height, _): Frame) -> Vec<InSight> {
    let mut rows: Vec<InSight> = Vec::new();
    for index in paper.layout.window(top, height, SPARE) {
        let mut key = paper.key_of(index);
        // Two messages that say the same at the same line.
        while rows.iter().any(|(other, _)| *other == key) {
            key.push('+');
        }
        rows.push((key, index));
    }
    rows
}

/// Keeps the line at the top where it is when the diff changes.
fn keep_place(sheet: Memo<Sheet>, frame: RwSignal<Frame>, scroller: NodeRef<Div>) {
    // File, line of the original at the top, and pixels of it that are scrolled away.
    let anchor = StoredValue::new(None::<(usize, u32, f64)>);
    Effect::new(move |_| {
        let sheet = sheet.get();
        let Some(scroller) = scroller.get() else { return };
        if let Some((file, old, offset)) = anchor.get_value()
            && file == sheet.paper.file
            && let Some(row) = sheet.paper.layout.row_of_old(old)
        {
            scroll_to(&scroller, &sheet, frame, f64::from(sheet.paper.layout.tops[row]) + offset);
        }
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

/// Scrolls, and shows the rows that are there in the same moment. Nothing can be scrolled to before it has its height.
fn scroll_to(scroller: &Element, sheet: &Sheet, frame: RwSignal<Frame>, top: f64) {
    if let Some(inner) = browser::element("diff-sheet") {
        let _ = inner.style().set_property("height", &format!("{}px", sheet.paper.layout.height()));
    }
    scroller.set_scroll_top(top.max(0.0) as i32);
    frame.update(|frame| frame.0 = f64::from(scroller.scroll_top()));
}

/// Goes where the state wants to go.
fn follow(session: Session, sheet: Memo<Sheet>, frame: RwSignal<Frame>, scroller: NodeRef<Div>) {
    let jump = session.memo(|state| state.jump.clone());
    Effect::new(move |_| {
        let (Some((_, jump)), sheet, Some(scroller)) = (jump.get(), sheet.get(), scroller.get()) else { return };
        if matches!(jump, Jump::Source(..)) || sheet.paper.layout.rows.is_empty() {
            return;
        }
        let layout = &sheet.paper.layout;
        let (seen, height) = (f64::from(scroller.scroll_top()), f64::from(scroller.client_height()));
        let row = match &jump {
            Jump::New(line) => layout.row_of_new(*line),
            Jump::Edit(id) => sheet.paper.row_of_edit(id),
            Jump::Next => session.state.try_update_untracked(|state| state.stepped(layout, seen, true)).flatten(),
            Jump::Previous => session.state.try_update_untracked(|state| state.stepped(layout, seen, false)).flatten(),
            Jump::Source(..) => None,
        };
        if let (Some(row), Jump::New(_)) = (row, &jump)
            && let Kind::Fold { old, count, .. } = layout.rows[row]
        {
            return session.state.update(|state| state.unfolded.push(old..old + count));
        }
        session.state.update(|state| state.jump = None);
        let Some(row) = row else { return };
        let top = f64::from(layout.tops[row]);
        match jump {
            Jump::Edit(_) if top >= seen && top + 60.0 < seen + height => {}
            Jump::Next | Jump::Previous => scroll_to(&scroller, &sheet, frame, top),
            _ => scroll_to(&scroller, &sheet, frame, top - height / 3.0),
        }
        let key = sheet.paper.key_of(row);
        browser::later(0, move || focus_row(&key));
    });
}

/// Focuses the first control of a row.
fn focus_row(key: &str) {
    let row = browser::document().query_selector(&format!("tr[data-key=\"{key}\"]")).ok().flatten();
    let Some(row) = row else { return };
    let _ = row.class_list().add_1("here");
    // A row without a control is reached through the table.
    let control = row.query_selector("button, a").ok().flatten();
    if let Some(control) = control.or_else(|| browser::element("diff-scroll").map(Into::into)) {
        let _ = control.unchecked_into::<HtmlElement>().focus();
    }
    browser::later(1600, move || {
        let _ = row.class_list().remove_1("here");
    });
}

/// Width of a letter of the code font.
fn letter_width() -> f64 {
    let measure = || {
        let probe = browser::document().create_element("pre").ok()?;
        probe.set_class_name("probe");
        probe.set_text_content(Some(&"x".repeat(100)));
        browser::document().body()?.append_child(&probe).ok()?;
        let width = probe.get_bounding_client_rect().width() / 100.0;
        probe.remove();
        (width > 1.0).then_some(width)
    };
    measure().unwrap_or(7.8)
}
