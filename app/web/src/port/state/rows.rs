//! The layout of the diff: rows, folds, heights, and the few visible rows.
//!
//! The table can have 50,000 rows; the page creates elements only for the visible ones. This requires that every height
//! is known in advance: code has a fixed-width font and wraps where [`breaks`] says, not where a browser would.

use crate::port::state::lines::{Lines, breaks};
use codemod::FileDiff;
use std::ops::Range;

/// Unchanged lines shown around a change.
const CONTEXT: u32 = 3;
/// Fewer unchanged lines than this are never folded.
const LEAST_FOLD: u32 = 4;

/// A row of the table. Lines are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Row {
    /// The description of a hunk, by index.
    Head(usize),
    /// A rejected change, by index.
    Ghost(usize),
    /// A message, by index.
    Note(usize),
    /// An unchanged line.
    Same {
        /// Line of the original.
        old: u32,
        /// Line of the port.
        new: u32,
    },
    /// A changed line: removed, added, or both side by side.
    Change {
        /// Line of the original.
        old: Option<u32>,
        /// Line of the port.
        new: Option<u32>,
        /// Index of the hunk.
        hunk: usize,
    },
    /// Unchanged lines that are folded away.
    Fold {
        /// First line of the original.
        old: u32,
        /// First line of the port.
        new: u32,
        /// How many.
        count: u32,
    },
}

/// The dimensions that determine heights, in CSS pixels and columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// One column instead of two.
    pub unified: bool,
    /// The number of characters that fit into a code cell.
    pub columns: usize,
    /// The width available to prose, in pixels.
    pub prose: f64,
    /// The height of a line of code.
    pub line: u32,
}

/// A message or a rejected change: its line and its height.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The line: of the port for messages, of the original for rejected changes.
    pub line: u32,
    /// Height in pixels.
    pub height: u32,
}

/// The rows and their positions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    /// The rows.
    pub rows: Vec<Row>,
    /// The offset of each row, and of the end, in pixels.
    pub tops: Vec<u32>,
}

/// The inputs of a layout.
#[derive(Clone, Copy, Debug)]
pub struct Sheet<'a> {
    /// The difference.
    pub diff: &'a FileDiff,
    /// The original.
    pub old: &'a Lines,
    /// The port.
    pub new: &'a Lines,
    /// Height of each hunk's head.
    pub heads: &'a [u32],
    /// Messages, by line.
    pub notes: &'a [Mark],
    /// Rejected changes, by line.
    pub ghosts: &'a [Mark],
    /// Lines of the original that are unfolded.
    pub unfolded: &'a [Range<u32>],
}

impl Layout {
    /// Lays a diff out.
    pub fn new(sheet: Sheet<'_>, shape: Shape) -> Layout {
        let mut build = Build { sheet, shape, layout: Layout { rows: Vec::new(), tops: vec![0] }, note: 0, ghost: 0 };
        let (mut old, mut new) = (0, 0);
        for (index, hunk) in sheet.diff.hunks.iter().enumerate() {
            build.unchanged(old..hunk.old_start, new);
            build.push(Row::Head(index), sheet.heads.get(index).copied().unwrap_or(0));
            build.hunk(index);
            (old, new) = (hunk.old_end, hunk.new_end);
        }
        build.unchanged(old..sheet.old.len() as u32, new);
        build.rest();
        build.layout
    }

    /// The total height.
    pub fn height(&self) -> u32 {
        self.tops.last().copied().unwrap_or(0)
    }

    /// The height of a row.
    pub fn height_of(&self, row: usize) -> u32 {
        self.tops[row + 1] - self.tops[row]
    }

    /// The rows visible at a scroll position, with `spare` additional pixels on both sides.
    pub fn window(&self, top: f64, height: f64, spare: f64) -> Range<usize> {
        let from = (top - spare).max(0.0) as u32;
        let to = (top + height + spare).max(0.0) as u32;
        let first = self.tops.partition_point(|t| *t <= from).saturating_sub(1);
        let last = self.tops.partition_point(|t| *t < to);
        first.min(self.rows.len())..last.min(self.rows.len())
    }

    /// The row that shows a line of the port, or the fold that contains it.
    pub fn row_of_new(&self, line: u32) -> Option<usize> {
        self.rows.iter().position(|row| match *row {
            Row::Same { new, .. } | Row::Change { new: Some(new), .. } => new == line,
            Row::Fold { new, count, .. } => (new..new + count).contains(&line),
            _ => false,
        })
    }

    /// The row that shows a line of the original, or the fold that contains it.
    pub fn row_of_old(&self, line: u32) -> Option<usize> {
        self.rows.iter().position(|row| match *row {
            Row::Same { old, .. } | Row::Change { old: Some(old), .. } => old == line,
            Row::Fold { old, count, .. } => (old..old + count).contains(&line),
            _ => false,
        })
    }

    /// The heads of hunks, and rejected changes.
    pub fn heads(&self) -> impl Iterator<Item = usize> {
        let rows = self.rows.iter().enumerate();
        rows.filter(|(_, row)| matches!(row, Row::Head(_) | Row::Ghost(_))).map(|(index, _)| index)
    }

    /// Whether a row is visible at a scroll position, as it is after a step to it that was cut short by the end of the
    /// table.
    pub fn is_near(&self, row: usize, top: f64) -> bool {
        const SIGHT: f64 = 900.0;
        self.tops.get(row).is_some_and(|at| (f64::from(*at) - top).abs() < SIGHT)
    }

    /// The head of the next hunk below a scroll position, or the previous one above it.
    pub fn step(&self, top: f64, forward: bool) -> Option<usize> {
        let mut heads = self.heads();
        match forward {
            true => heads.find(|row| f64::from(self.tops[*row]) > top + 1.0),
            false => heads.take_while(|row| f64::from(self.tops[*row]) < top - 1.0).last(),
        }
    }
}

struct Build<'a> {
    sheet: Sheet<'a>,
    shape: Shape,
    layout: Layout,
    note: usize,
    ghost: usize,
}

impl Build<'_> {
    fn push(&mut self, row: Row, height: u32) {
        let top = self.layout.height();
        self.layout.rows.push(row);
        self.layout.tops.push(top + height);
    }

    /// The number of rows that a line of code takes.
    fn wrapped(&self, line: &str) -> u32 {
        breaks(line, self.shape.columns).len() as u32 + 1
    }

    fn code(&mut self, row: Row, old: Option<u32>, new: Option<u32>) {
        let ghosts = old.map_or(0..0, |old| self.take_ghosts(old));
        for index in ghosts {
            self.push(Row::Ghost(index), self.sheet.ghosts[index].height);
        }
        let left = old.map_or(1, |line| self.wrapped(self.sheet.old.line(line as usize)));
        let right = match row {
            Row::Same { .. } => left,
            _ => new.map_or(1, |line| self.wrapped(self.sheet.new.line(line as usize))),
        };
        self.push(row, left.max(right) * self.shape.line);
        if let Some(new) = new {
            while self.sheet.notes.get(self.note).is_some_and(|note| note.line <= new) {
                self.push(Row::Note(self.note), self.sheet.notes[self.note].height);
                self.note += 1;
            }
        }
    }

    fn take_ghosts(&mut self, old: u32) -> Range<usize> {
        let from = self.ghost;
        while self.sheet.ghosts.get(self.ghost).is_some_and(|ghost| ghost.line <= old) {
            self.ghost += 1;
        }
        from..self.ghost
    }

    fn hunk(&mut self, index: usize) {
        let diff = self.sheet.diff;
        let hunk = &diff.hunks[index];
        if self.shape.unified {
            for old in hunk.old_start..hunk.old_end {
                self.code(Row::Change { old: Some(old), new: None, hunk: index }, Some(old), None);
            }
            for new in hunk.new_start..hunk.new_end {
                self.code(Row::Change { old: None, new: Some(new), hunk: index }, None, Some(new));
            }
        } else {
            for row in hunk.rows() {
                self.code(Row::Change { old: row.old, new: row.new, hunk: index }, row.old, row.new);
            }
        }
    }

    /// A run of unchanged lines of the original, folded unless something keeps it open.
    fn unchanged(&mut self, lines: Range<u32>, new_start: u32) {
        let total = self.sheet.old.len() as u32;
        let new_of = |old: u32| old - lines.start + new_start;
        // What must stay visible, in order: the context of the hunks on both sides, of messages and of rejected
        // changes, and what the reader unfolded.
        let mut open: Vec<Range<u32>> = Vec::new();
        let mut keep = |range: Range<u32>| {
            let range = range.start.max(lines.start)..range.end.min(lines.end);
            if range.start < range.end {
                open.insert(open.partition_point(|other| other.start <= range.start), range);
            }
        };
        if lines.start > 0 || new_start > 0 {
            keep(lines.start..lines.start + CONTEXT);
        }
        if lines.end < total || !self.at_end(&lines, new_start) {
            keep(lines.end.saturating_sub(CONTEXT)..lines.end);
        }
        let around = |line: u32| line.saturating_sub(CONTEXT)..line + CONTEXT + 1;
        let notes = self.sheet.notes.iter().filter(|n| n.line >= new_start).map(|n| n.line - new_start + lines.start);
        notes.filter(|line| *line < lines.end).map(around).for_each(&mut keep);
        self.sheet.ghosts.iter().filter(|g| lines.contains(&g.line)).map(|g| around(g.line)).for_each(&mut keep);
        self.sheet.unfolded.iter().cloned().for_each(&mut keep);
        open.push(lines.end..lines.end);

        let mut at = lines.start;
        for range in open {
            let from = range.start.max(at);
            if from - at >= LEAST_FOLD {
                self.push(Row::Fold { old: at, new: new_of(at), count: from - at }, FOLD_HEIGHT);
            } else {
                for old in at..from {
                    self.code(Row::Same { old, new: new_of(old) }, Some(old), Some(new_of(old)));
                }
            }
            at = from;
            for old in from..range.end.max(from) {
                self.code(Row::Same { old, new: new_of(old) }, Some(old), Some(new_of(old)));
            }
            at = at.max(range.end);
        }
    }

    /// Whether no hunk follows an unchanged run.
    fn at_end(&self, lines: &Range<u32>, new_start: u32) -> bool {
        new_start + (lines.end - lines.start) == self.sheet.diff.new_lines.max(self.sheet.new.len() as u32)
    }

    /// Messages and rejected changes after the last line.
    fn rest(&mut self) {
        for index in self.ghost..self.sheet.ghosts.len() {
            self.push(Row::Ghost(index), self.sheet.ghosts[index].height);
        }
        for index in self.note..self.sheet.notes.len() {
            self.push(Row::Note(index), self.sheet.notes[index].height);
        }
    }
}

/// The height of a fold, as in the style sheet.
pub const FOLD_HEIGHT: u32 = 30;

/// The number of lines that prose takes at this width in pixels, in the page's 13 px text, if its letters have the width
/// that they have on average in a wide font.
pub fn prose_lines(text: &str, width: f64) -> u32 {
    let fits = (width / 7.0).max(12.0) as usize;
    let (mut lines, mut column) = (1, 0);
    for word in text.split_whitespace().map(|word| word.chars().count()) {
        match column {
            0 => column = word,
            _ if column + 1 + word <= fits => column += 1 + word,
            _ => (lines, column) = (lines + 1, word),
        }
        // A word that is longer than a line is broken.
        lines += (column.saturating_sub(1) / fits) as u32;
        column -= column.saturating_sub(1) / fits * fits;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use codemod::diff_texts;

    const WIDE: Shape = Shape { unified: false, columns: 80, prose: 600.0, line: 20 };

    struct Page {
        old: Lines,
        new: Lines,
        diff: FileDiff,
    }

    fn page(old: &str, new: &str) -> Page {
        Page { diff: diff_texts(old, new, &[]), old: Lines::new(old.into()), new: Lines::new(new.into()) }
    }

    fn numbered(count: usize) -> String {
        (0..count).map(|i| format!("line {i}\n")).collect()
    }

    fn sheet(page: &Page) -> Sheet<'_> {
        Sheet {
            diff: &page.diff,
            old: &page.old,
            new: &page.new,
            heads: &[60, 60, 60],
            notes: &[],
            ghosts: &[],
            unfolded: &[],
        }
    }

    fn show(layout: &Layout) -> String {
        let line = |line: Option<u32>| line.map_or("-".to_owned(), |l| l.to_string());
        let words = layout.rows.iter().map(|row| match *row {
            Row::Head(_) => "head".to_owned(),
            Row::Ghost(_) => "ghost".to_owned(),
            Row::Note(_) => "note".to_owned(),
            Row::Same { old, new } => format!("{old}={new}"),
            Row::Change { old, new, .. } => format!("{}~{}", line(old), line(new)),
            Row::Fold { count, .. } => format!("[{count}]"),
        });
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn folds_keep_context() {
        let old = numbered(20);
        let new = old.replace("line 10\n", "line ten\nand more\n");
        let page = page(&old, &new);
        let layout = Layout::new(sheet(&page), WIDE);
        assert_eq!(show(&layout), "[7] 7=7 8=8 9=9 head 10~10 -~11 11=12 12=13 13=14 [6]");
        assert_eq!(layout.height(), 2 * FOLD_HEIGHT + 60 + 8 * 20);
        let unified = Layout::new(sheet(&page), Shape { unified: true, ..WIDE });
        assert_eq!(show(&unified), "[7] 7=7 8=8 9=9 head 10~- -~10 -~11 11=12 12=13 13=14 [6]");
    }

    #[test]
    fn a_changed_first_or_last_line_needs_no_context_beyond() {
        let old = numbered(12);
        let page = page(&old, &format!("import x\n{old}end\n"));
        let layout = Layout::new(sheet(&page), WIDE);
        assert_eq!(show(&layout), "head -~0 0=1 1=2 2=3 [6] 9=10 10=11 11=12 head -~13");
    }

    #[test]
    fn notes_and_ghosts_keep_their_lines_open() {
        let text = numbered(40);
        let page = page(&text, &text);
        let notes = [Mark { line: 20, height: 40 }];
        let ghosts = [Mark { line: 2, height: 30 }];
        let layout = Layout::new(Sheet { notes: &notes, ghosts: &ghosts, ..sheet(&page) }, WIDE);
        assert_eq!(
            show(&layout),
            "0=0 1=1 ghost 2=2 3=3 4=4 5=5 [11] 17=17 18=18 19=19 20=20 note 21=21 22=22 23=23 [16]"
        );
        let all = std::slice::from_ref(&(0..40));
        let layout = Layout::new(Sheet { notes: &notes, unfolded: all, ..sheet(&page) }, WIDE);
        assert_eq!(layout.rows.len(), 41);
        assert_eq!(layout.height(), 40 * 20 + 40);
    }

    #[test]
    fn notes_behind_the_end_are_shown() {
        let page = page("", "");
        let layout = Layout::new(Sheet { notes: &[Mark { line: 0, height: 40 }], ..sheet(&page) }, WIDE);
        assert_eq!(show(&layout), "note");
    }

    #[test]
    fn long_lines_are_higher() {
        let long = format!("{}\n", "x".repeat(161));
        let page = page(&long, &long);
        let layout = Layout::new(sheet(&page), WIDE);
        assert_eq!(layout.height(), 3 * 20);
    }

    #[test]
    fn few_rows_are_in_sight() {
        let text = numbered(50_000);
        let page = page(&text, &text);
        let all = std::slice::from_ref(&(0..50_000));
        let layout = Layout::new(Sheet { unfolded: all, ..sheet(&page) }, WIDE);
        assert_eq!(layout.rows.len(), 50_000);
        assert_eq!(layout.window(0.0, 600.0, 0.0), 0..30);
        assert_eq!(layout.window(400_000.0, 600.0, 200.0), 19_990..20_040);
        assert_eq!(layout.window(2e6, 600.0, 0.0).end, 50_000);
        assert_eq!(Layout::default().window(0.0, 100.0, 100.0), 0..0);
    }

    #[test]
    fn stepping_from_change_to_change() {
        let old = numbered(60);
        let new = old.replace("line 10\n", "ten\n").replace("line 40\n", "forty\n");
        let page = page(&old, &new);
        let layout = Layout::new(sheet(&page), WIDE);
        let first = layout.step(0.0, true).unwrap();
        assert_eq!(layout.rows[first], Row::Head(0));
        let second = layout.step(f64::from(layout.tops[first]), true).unwrap();
        assert_eq!(layout.rows[second], Row::Head(1));
        assert_eq!(layout.step(f64::from(layout.tops[second]), true), None);
        assert_eq!(layout.step(f64::from(layout.tops[second]), false), Some(first));
        assert_eq!(
            layout.row_of_new(40).map(|row| layout.rows[row]),
            Some(Row::Change { old: Some(40), new: Some(40), hunk: 1 })
        );
        assert!(matches!(layout.row_of_old(25).map(|row| layout.rows[row]), Some(Row::Fold { .. })));
    }
}
