//! The diff: a table of which only the rows in sight exist.

mod marks;
mod paper;
mod row;

use crate::app::session;
use crate::browser;
use crate::rows::{Row, Shape};
use crate::state::{Jump, State};
use leptos::ev;
use leptos::html::Div;
use leptos::prelude::*;
use paper::Paper;
use std::sync::Arc;
use wasm_bindgen::prelude::*;
use web_sys::{Element, HtmlElement, ScrollToOptions};

/// Pixels rendered above and below what is in sight.
const SPARE: f64 = 160.0;
/// Pages narrower than this show one column.
const NARROW: f64 = 900.0;

/// Where a scroller stands, and how large it is.
#[derive(Clone, Copy)]
pub(crate) struct Measured {
    node: NodeRef<Div>,
    /// Pixels scrolled.
    pub(crate) top: RwSignal<f64>,
    /// Pixels of height in sight.
    pub(crate) height: RwSignal<f64>,
    /// Pixels of width in sight.
    pub(crate) width: RwSignal<f64>,
}

impl Measured {
    /// Watches an element once it is there.
    pub(crate) fn of(node: NodeRef<Div>) -> Measured {
        let measured =
            Measured { node, top: RwSignal::new(0.0), height: RwSignal::new(600.0), width: RwSignal::new(600.0) };
        Effect::new(move |_| {
            let Some(element) = node.get() else { return };
            measured.read();
            let look = Closure::<dyn FnMut()>::new(move || measured.read());
            let observer = web_sys::ResizeObserver::new(look.as_ref().unchecked_ref());
            if let Ok(observer) = observer {
                observer.observe(&element);
                let kept = StoredValue::new_local(Some((observer, look)));
                on_cleanup(move || {
                    if let Some(Some((observer, _look))) = kept.try_update_value(Option::take) {
                        observer.disconnect();
                    }
                });
            }
        });
        measured
    }

    fn read(self) {
        if let Some(element) = self.node.try_get_untracked().flatten() {
            let (height, width) = (f64::from(element.client_height()), f64::from(element.client_width()));
            if height > 0.0 && self.height.get_untracked() != height {
                self.height.set(height);
            }
            if width > 0.0 && self.width.get_untracked() != width {
                self.width.set(width);
            }
            self.scrolled();
        }
    }

    /// The element was scrolled.
    pub(crate) fn scrolled(self) {
        if let Some(element) = self.node.get_untracked() {
            self.top.set(f64::from(element.scroll_top()));
        }
    }

    /// Scrolls.
    pub(crate) fn scroll_to(self, top: f64) {
        if let Some(element) = self.node.get_untracked() {
            let to = ScrollToOptions::new();
            to.set_top(top);
            element.scroll_to_with_scroll_to_options(&to);
            self.scrolled();
        }
    }
}

/// The diff of the file shown, with its tools.
#[component]
pub(crate) fn Diff() -> impl IntoView {
    let session = session();
    let scroller = NodeRef::<Div>::new();
    let place = Measured::of(scroller);
    let page_width = RwSignal::new(page_width());
    let resized = window_event_listener(ev::resize, move |_| page_width.set(self::page_width()));
    on_cleanup(move || resized.remove());
    let narrow = Memo::new(move |_| page_width.get() < NARROW);
    let wish = session.part(|state| state.unified);
    let unified = Memo::new(move |_| narrow.get() || wish.get());
    let letter = letter_width();
    let shape = Memo::new(move |_| Shape::of(place.width.get(), letter, unified.get()));
    let paper: Memo<Arc<Paper>> = Memo::new_with_compare(
        move |_| {
            let shape = shape.get();
            session.state.with(|state| Arc::new(Paper::of(state, shape)))
        },
        |before, now| match (before, now) {
            (Some(a), Some(b)) => a != b,
            _ => true,
        },
    );
    let window = Memo::new(move |_| paper.get().layout.window(place.top.get(), place.height.get(), SPARE));
    keep_place(place, paper);
    follow_jumps(place, paper);

    let rows = move || {
        let (paper, window) = (paper.get(), window.get());
        window.map(|index| row::Keyed::of(&paper, index)).collect::<Vec<_>>()
    };
    let above = move || paper.get().layout.tops.get(window.get().start).copied().unwrap_or(0);
    let below = move || {
        let layout = &paper.get().layout;
        layout.height() - layout.tops.get(window.get().end).copied().unwrap_or(0)
    };
    let path = session.part(|state| state.file().map(|f| f.path.clone()).unwrap_or_default());
    let label = move || format!("Changes in {}", path.get());
    let sides = move || match unified.get() {
        true => view! { <col class="num" /><col class="num" /><col /> }.into_any(),
        false => view! { <col class="num" /><col /><col class="num" /><col /> }.into_any(),
    };
    let heads = move || match unified.get() {
        true => view! { <th>"Line of the original"</th><th>"Line of the port"</th><th>"Code"</th> }.into_any(),
        false => view! { <th>"Line"</th><th>"Original"</th><th>"Line"</th><th>"Port"</th> }.into_any(),
    };
    let digits = move || paper.get().digits();
    view! {
        <Tools narrow=narrow.into() />
        <div class="diff-scroll" node_ref=scroller tabindex="0" role="region" aria-label=label on:scroll=move |_| place.scrolled()
            on:click=move |event| unfold(session, &event) on:mousedown=choose_side>
            <table class="changes" class:unified=unified aria-label=label style:--digits=digits
                aria-rowcount=move || (paper.get().layout.rows.len() + 1).to_string()>
                <colgroup>{sides}</colgroup>
                <thead class="visually-hidden"><tr aria-rowindex="1">{heads}</tr></thead>
                <tbody>
                    <tr class="space" aria-hidden="true" style:height=move || format!("{}px", above())></tr>
                    <For each=rows key=|row| row.key let:row>{row::show(row)}</For>
                    <tr class="space" aria-hidden="true" style:height=move || format!("{}px", below())></tr>
                </tbody>
            </table>
        </div>
    }
}

impl Shape {
    /// The shape of a table of so many pixels. The numbers are the style sheet's.
    fn of(width: f64, letter: f64, unified: bool) -> Shape {
        let number = 6.0 * letter + 8.0;
        let code = if unified { width - 2.0 * number } else { width / 2.0 - number };
        let columns = ((code - 26.0) / letter).floor().max(8.0) as usize;
        Shape { unified, columns, prose: width, line: 20 }
    }
}

fn page_width() -> f64 {
    browser::window().inner_width().ok().and_then(|width| width.as_f64()).unwrap_or(1280.0)
}

/// Width of a letter of the code font.
fn letter_width() -> f64 {
    let measure = || {
        let probe: HtmlElement = browser::document().create_element("pre").ok()?.unchecked_into();
        probe.set_class_name("probe");
        probe.set_text_content(Some(&"x".repeat(100)));
        browser::document().body()?.append_child(&probe).ok()?;
        let width = probe.get_bounding_client_rect().width() / 100.0;
        probe.remove();
        (width > 1.0).then_some(width)
    };
    measure().unwrap_or(7.8)
}

/// Keeps the line at the top where it is when the diff changes.
fn keep_place(place: Measured, paper: Memo<Arc<Paper>>) {
    let anchor = StoredValue::new(None::<(usize, u32, f64)>);
    Effect::new(move |_| {
        let paper = paper.get();
        if let Some((file, old, offset)) = anchor.get_value()
            && file == paper.file
            && let Some(row) = paper.layout.row_of_old(old)
        {
            let top = f64::from(paper.layout.tops[row]) + offset;
            if (top - place.top.get_untracked()).abs() > 0.5 {
                place.scroll_to(top);
            }
        }
    });
    Effect::new(move |_| {
        let top = place.top.get();
        let paper = paper.get_untracked();
        let layout = &paper.layout;
        let lines = layout.window(top, 400.0, 0.0).find_map(|row| match layout.rows[row] {
            Row::Same { old, .. } | Row::Change { old: Some(old), .. } => {
                Some((old, top - f64::from(layout.tops[row])))
            }
            _ => None,
        });
        anchor.set_value(lines.filter(|_| top > 0.0).map(|(old, offset)| (paper.file, old, offset)));
    });
}

/// Goes where the state wants to go.
fn follow_jumps(place: Measured, paper: Memo<Arc<Paper>>) {
    let session = session();
    let jump = session.part(|state| state.jump.clone());
    Effect::new(move |_| {
        let Some((_, jump)) = jump.get() else { return };
        let paper = paper.get();
        let layout = &paper.layout;
        let row = match &jump {
            Jump::New(line) => layout.row_of_new(*line),
            Jump::Edit(id) => paper.row_of_edit(id),
            Jump::Next => layout.step(place.top.get_untracked(), true),
            Jump::Previous => layout.step(place.top.get_untracked(), false),
            Jump::Source(..) => return,
        };
        if let (Some(Row::Fold { old, count, .. }), Jump::New(_)) = (row.map(|row| layout.rows[row]), &jump) {
            return session.state.update(|state| state.unfolded.push(old..old + count));
        }
        session.state.update(|state| state.jump = None);
        let Some(row) = row else { return };
        let (top, height) = (f64::from(layout.tops[row]), place.height.get_untracked());
        let seen = place.top.get_untracked();
        match &jump {
            Jump::Edit(_) if top >= seen && top + 60.0 < seen + height => {}
            Jump::Next | Jump::Previous => place.scroll_to(top),
            _ => place.scroll_to((top - height / 3.0).max(0.0)),
        }
        let key = paper.key_of(row);
        browser::later(30, move || focus_row(&key));
    });
}

/// Focuses the first control of a row, or the row itself.
fn focus_row(key: &str) {
    let row = browser::document().query_selector(&format!("tr[data-key=\"{key}\"]")).ok().flatten();
    let Some(row) = row else { return };
    let _ = row.class_list().add_1("here");
    let control = row.query_selector("button, a").ok().flatten().unwrap_or_else(|| row.clone());
    let _ = control.unchecked_into::<HtmlElement>().focus();
    browser::later(1600, move || {
        let _ = row.class_list().remove_1("here");
    });
}

/// A click on a fold opens it.
fn unfold(session: crate::app::Session, event: &ev::MouseEvent) {
    let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    let fold = target.and_then(|target| target.closest("[data-fold]").ok().flatten());
    let Some(lines) = fold.and_then(|fold| fold.get_attribute("data-fold")) else { return };
    let range = lines.split_once('-').and_then(|(from, to)| Some(from.parse::<u32>().ok()?..to.parse::<u32>().ok()?));
    if let Some(range) = range {
        session.state.update(|state| state.unfolded.push(range));
    }
}

/// Selecting text takes one side only.
fn choose_side(event: ev::MouseEvent) {
    let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    let cell = target.and_then(|target| target.closest("td").ok().flatten());
    let Some(cell) = cell else { return };
    let side = if cell.class_list().contains("old") { "old" } else { "new" };
    if let Ok(Some(table)) = cell.closest("table") {
        let _ = table.set_attribute("data-side", side);
    }
}

/// The buttons above the table.
#[component]
fn Tools(narrow: Signal<bool>) -> impl IntoView {
    let session = session();
    let can = session.part(|state| state.can_undo());
    let unified = session.part(|state| state.unified);
    let hidden = session.part(|state| state.source_hidden);
    let whole = session.part(self::whole);
    let step = move |forward: bool| session.state.update(|state| state.step(forward));
    let back = move |forward: bool| {
        let done = session.state.try_update(|state| if forward { state.redo() } else { state.undo() });
        if done == Some(true) {
            session.port_now();
        }
    };
    let flip_whole = move |_| {
        session.state.update(|state| {
            let unfold = !self::whole(state);
            state.unfolded.clear();
            if unfold {
                state.unfolded.push(0..u32::MAX);
            }
        });
    };
    let pressed = |on: bool| if on { "true" } else { "false" };
    view! {
        <div class="tools" role="toolbar" aria-label="Changes">
            <button class="button quiet small" id="previous" aria-keyshortcuts="Shift+F8" on:click=move |_| step(false)>"↑ Previous"</button>
            <button class="button quiet small" id="next" aria-keyshortcuts="F8" on:click=move |_| step(true)>"↓ Next"</button>
            <button class="button quiet small" id="undo" title="Undo the last accept or reject" disabled=move || !can.get().0 on:click=move |_| back(false)>"Undo"</button>
            <button class="button quiet small" id="redo" title="Redo" disabled=move || !can.get().1 on:click=move |_| back(true)>"Redo"</button>
            <span class="stretch"></span>
            <button class="button quiet small" id="whole" aria-pressed=move || pressed(whole.get()) on:click=flip_whole>"Whole file"</button>
            <Show when=move || !narrow.get()>
                <button class="button quiet small" id="unified" aria-pressed=move || pressed(unified.get())
                    on:click=move |_| session.state.update(|state| state.unified ^= true)>"One column"</button>
                <button class="button quiet small" id="wide" aria-pressed=move || pressed(hidden.get())
                    on:click=move |_| session.state.update(|state| state.source_hidden ^= true)>"Hide source"</button>
            </Show>
        </div>
    }
}

fn whole(state: &State) -> bool {
    state.unfolded.iter().any(|range| range.end == u32::MAX)
}
