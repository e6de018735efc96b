//! The diff's table: elements for the rows in sight, scrolling, and where to go.

use crate::browser;
use crate::port::app::Session;
use crate::port::parts::diff::paper::Paper;
use crate::port::parts::diff::{columns, row};
use crate::port::rows::{Row, Shape};
use crate::port::state::{Jump, State};
use reactive_graph::effect::Effect;
use reactive_graph::prelude::*;
use reactive_graph::signal::RwSignal;
use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use wasm_bindgen::prelude::*;
use web_sys::{Element, Event, HtmlElement};

/// Pixels rendered above and below what is in sight.
const SPARE: f64 = 160.0;
/// Pages narrower than this show one column.
const NARROW: f64 = 900.0;

/// What the table shows at the moment.
#[derive(Default)]
struct Shown {
    /// Changes with everything that the paper follows from.
    key: u64,
    paper: Paper,
    body: Option<Element>,
    /// File, line of the original at the top, and pixels of it that are scrolled away.
    anchor: Option<(usize, u32, f64)>,
    letter: f64,
}

thread_local! {
    static SHOWN: RefCell<Shown> = RefCell::default();
}

/// Keeps the table up to date.
pub(super) fn start(session: Session, moved: RwSignal<u32>) {
    Effect::new(move |_| {
        moved.track();
        let after = session.state.with(|state| SHOWN.with_borrow_mut(|shown| shown.update(state)));
        match after {
            After::Nothing => {}
            After::Arrived => session.state.update(|state| state.jump = None),
            After::Unfold(from, to) => session.state.update(|state| state.unfolded.push(from..to)),
        }
    });
    // Sizes change without scrolling too.
    browser::when_resized(&["source-pane", "result-pane"], move || moved.update(|n| *n = n.wrapping_add(1)));
}

/// What the state has to be told.
enum After {
    Nothing,
    Arrived,
    Unfold(u32, u32),
}

impl Shown {
    fn update(&mut self, state: &State) -> After {
        let (Some(scroller), Some(table)) = (browser::element("diff-scroll"), browser::element("changes")) else {
            self.key = 0;
            return After::Nothing;
        };
        let Some(body) = table.query_selector("tbody").ok().flatten() else { return After::Nothing };
        let shape = self.shape(state, f64::from(scroller.client_width()));
        let key = key_of(state, shape);
        let fresh = self.body.as_ref() != Some(&body);
        if key != self.key || fresh {
            let turned = fresh || self.paper.unified != shape.unified;
            (self.key, self.paper) = (key, Paper::of(state, shape));
            self.body = Some(body.clone());
            self.dress(state, &scroller, &table, turned);
            // Nothing can be scrolled to before it has its height.
            self.render(&body, &scroller);
            self.keep_place(&scroller);
        }
        let after = self.follow(state, &scroller);
        self.render(&body, &scroller);
        self.remember_place(&scroller);
        after
    }

    /// The numbers are the style sheet's.
    fn shape(&mut self, state: &State, width: f64) -> Shape {
        if self.letter == 0.0 {
            self.letter = letter_width();
        }
        let unified = state.unified || page_width() < NARROW;
        let digits = state.view.as_ref().map_or(3, |view| Paper::digits(view));
        let number = (digits as f64 * self.letter + 16.0).ceil();
        let code = if unified { width - 2.0 * number } else { width / 2.0 - number };
        let columns = ((code - 27.0) / self.letter).max(8.0) as usize;
        Shape { unified, columns, prose: width, line: 20 }
    }

    /// Everything about the table that is not a row.
    fn dress(&self, state: &State, scroller: &Element, table: &Element, turned: bool) {
        let path = state.file().map(|file| file.path.as_str()).unwrap_or_default();
        let label = format!("Changes in {path}");
        let _ = scroller.set_attribute("aria-label", &label);
        let _ = table.set_attribute("aria-label", &label);
        let _ = table.set_attribute("style", &format!("--digits:{}", Paper::digits(&self.paper.view)));
        let _ = table.set_attribute("aria-rowcount", &(self.paper.layout.rows.len() + 1).to_string());
        if turned {
            let _ = table.class_list().toggle_with_force("unified", self.paper.unified);
            let (cols, heads) = columns(self.paper.unified);
            for (part, html) in [("colgroup", cols), ("thead", heads)] {
                if let Ok(Some(part)) = table.query_selector(part) {
                    part.set_inner_html(html);
                }
            }
        }
    }

    /// Keeps the line at the top where it is when the diff changes.
    fn keep_place(&self, scroller: &Element) {
        if let Some((file, old, offset)) = self.anchor
            && file == self.paper.file
            && let Some(row) = self.paper.layout.row_of_old(old)
        {
            scroller.set_scroll_top((f64::from(self.paper.layout.tops[row]) + offset) as i32);
        }
    }

    fn remember_place(&mut self, scroller: &Element) {
        let top = f64::from(scroller.scroll_top());
        let layout = &self.paper.layout;
        let line = layout.window(top, 400.0, 0.0).find_map(|row| match layout.rows[row] {
            Row::Same { old, .. } | Row::Change { old: Some(old), .. } => {
                Some((old, top - f64::from(layout.tops[row])))
            }
            _ => None,
        });
        self.anchor = line.filter(|_| top > 0.0).map(|(old, offset)| (self.paper.file, old, offset));
    }

    /// Goes where the state wants to go.
    fn follow(&self, state: &State, scroller: &Element) -> After {
        let Some((_, jump)) = &state.jump else { return After::Nothing };
        let layout = &self.paper.layout;
        let (seen, height) = (f64::from(scroller.scroll_top()), f64::from(scroller.client_height()));
        let row = match jump {
            Jump::New(line) => layout.row_of_new(*line),
            Jump::Edit(id) => self.paper.row_of_edit(id),
            Jump::Next => layout.step(seen, true),
            Jump::Previous => layout.step(seen, false),
            Jump::Source(..) => return After::Nothing,
        };
        let Some(row) = row else { return After::Arrived };
        if let (Row::Fold { old, count, .. }, Jump::New(_)) = (layout.rows[row], jump) {
            return After::Unfold(old, old + count);
        }
        let top = f64::from(layout.tops[row]);
        match jump {
            Jump::Edit(_) if top >= seen && top + 60.0 < seen + height => {}
            Jump::Next | Jump::Previous => scroller.set_scroll_top(top as i32),
            _ => scroller.set_scroll_top((top - height / 3.0).max(0.0) as i32),
        }
        let key = self.paper.key_of(row);
        browser::later(0, move || focus_row(&key));
        After::Arrived
    }

    /// Makes the elements of the rows in sight; those that are there already stay.
    fn render(&self, body: &Element, scroller: &Element) {
        let layout = &self.paper.layout;
        let window = layout.window(f64::from(scroller.scroll_top()), f64::from(scroller.client_height()), SPARE);
        let mut old: Vec<(String, Element)> = Vec::new();
        let children = body.children();
        for child in (0..children.length()).filter_map(|index| children.item(index)) {
            old.push((child.get_attribute("data-key").unwrap_or_default(), child));
        }
        let mut take = |key: &str| Some(old.swap_remove(old.iter().position(|(old, _)| old == key)?).1);
        let space = |row: Option<Element>, key: &str, height: u32| {
            let row = row.unwrap_or_else(|| make_row(key, "space"));
            let _ = row.set_attribute("aria-hidden", "true");
            let _ = row.set_attribute("style", &format!("height:{height}px"));
            row
        };
        let mut rows = vec![space(take("above"), "above", layout.tops.get(window.start).copied().unwrap_or(0))];
        for index in window.clone() {
            let key = self.paper.key_of(index);
            rows.push(take(&key).unwrap_or_else(|| {
                let (class, html) = row::show(&self.paper, index);
                let row = make_row(&key, class);
                let _ = row.set_attribute("style", &format!("height:{}px", layout.height_of(index)));
                row.set_inner_html(&html);
                row
            }));
            let _ = rows[rows.len() - 1].set_attribute("aria-rowindex", &(index + 2).to_string());
        }
        let below = layout.height() - layout.tops.get(window.end).copied().unwrap_or(0);
        rows.push(space(take("below"), "below", below));
        old.iter().for_each(|(_, row)| row.remove());
        let mut next = body.first_element_child();
        for row in rows {
            if next.as_ref() == Some(&row) {
                next = row.next_element_sibling();
            } else {
                let _ = body.insert_before(&row, next.as_deref());
            }
        }
    }
}

fn make_row(key: &str, class: &str) -> Element {
    let row = browser::document().create_element("tr").expect("tr is a name");
    row.set_class_name(class);
    let _ = row.set_attribute("data-key", key);
    row
}

/// Equal as long as the paper would be.
fn key_of(state: &State, shape: Shape) -> u64 {
    let mut hasher = DefaultHasher::new();
    let view = state.view.as_ref().map_or(0, |view| view.serial);
    let shape = (shape.unified, shape.columns, shape.prose as u32);
    (view, state.ports, shape, state.catalogue.recipes.len()).hash(&mut hasher);
    for range in &state.unfolded {
        (range.start, range.end).hash(&mut hasher);
    }
    for edit in &state.rejected.edits {
        edit.id.hash(&mut hasher);
    }
    hasher.finish().max(1)
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

/// Selecting text takes one side only.
pub(super) fn choose_side(event: &Event) {
    let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    let Some(cell) = target.and_then(|target| target.closest(".changes td").ok().flatten()) else { return };
    let side = if cell.class_list().contains("old") { "old" } else { "new" };
    if let Ok(Some(table)) = cell.closest("table") {
        let _ = table.set_attribute("data-side", side);
    }
}

/// Closes the menu of downloads.
pub(super) fn close_menu() {
    if let Ok(Some(menu)) = browser::document().query_selector(".menu[open]") {
        let _ = menu.remove_attribute("open");
        if let Ok(Some(summary)) = menu.query_selector("summary") {
            let _ = summary.unchecked_into::<HtmlElement>().focus();
        }
    }
}

fn page_width() -> f64 {
    browser::window().inner_width().ok().and_then(|width| width.as_f64()).unwrap_or(1280.0)
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
