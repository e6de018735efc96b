//! The contents of the table: its rows laid out for the available width, and the visible ones.

use crate::port::state::State;
use crate::port::state::paper::Paper;
use crate::port::state::rows::Shape;
use crate::port::work::Session;
use crate::shared::browser;
use leptos::prelude::*;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// Pixels rendered above and below the visible part.
const SPARE: f64 = 160.0;
/// Pages narrower than this show one column.
const NARROW: f64 = 900.0;

/// A paper that is compared by a hash of its inputs.
#[derive(Clone)]
pub(super) struct Sheet {
    key: u64,
    pub(in crate::port::view) paper: Arc<Paper>,
}

impl PartialEq for Sheet {
    fn eq(&self, other: &Sheet) -> bool {
        self.key == other.key
    }
}

/// A visible row: a key that stays the same as long as its contents do, and its index.
pub(super) type InSight = (String, usize);

/// The rows for the current state, recomputed when they would change.
pub(super) fn sheet(session: Session, frame: RwSignal<Frame>, page_width: RwSignal<f64>) -> Memo<Sheet> {
    let shape = shape(session, frame, page_width);
    let key = Memo::new(move |_| session.state.with(|state| key_of(state, shape.get())));
    Memo::new(move |_| {
        let paper = |state: &State| Arc::new(Paper::of(state, shape.get_untracked()));
        Sheet { key: key.get(), paper: session.state.with_untracked(paper) }
    })
}

/// The visible part of the table: its scroll position, height and width in pixels.
pub(super) type Frame = (f64, f64, f64);

/// The table's dimensions. The numbers are from the style sheet.
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

/// Equal for states that give the same paper.
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

pub(super) fn in_sight(paper: &Paper, (top, height, _): Frame) -> Vec<InSight> {
    let mut rows: Vec<InSight> = Vec::new();
    for index in paper.layout.window(top, height, SPARE) {
        let mut key = paper.key_of(index);
        // Two identical messages at the same line.
        while rows.iter().any(|(other, _)| *other == key) {
            key.push('+');
        }
        rows.push((key, index));
    }
    rows
}

/// The width of a character of the code font.
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
