//! A text split into lines, and how a text field changes one.
//!
//! A text field converts every line ending to `\n`. The user's file may have others; [`take_typed`] applies an edit to
//! the stored text so that only what was really typed changes.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The width of a tab, as in the style sheet.
const TAB: usize = 4;

/// A text with the starts of its lines. A line ends after its `\n`, as in git and in `codemod`'s diff.
#[derive(Clone, Debug)]
pub struct Lines {
    serial: u64,
    text: Arc<str>,
    starts: Arc<[u32]>,
}

static SERIAL: AtomicU64 = AtomicU64::new(0);

impl PartialEq for Lines {
    fn eq(&self, other: &Lines) -> bool {
        Arc::ptr_eq(&self.text, &other.text) || self.text == other.text
    }
}

impl Default for Lines {
    fn default() -> Lines {
        Lines::new("".into())
    }
}

impl Lines {
    /// Splits a text.
    pub fn new(text: Arc<str>) -> Lines {
        let ends = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i as u32 + 1);
        let mut starts: Vec<u32> = std::iter::once(0).chain(ends).collect();
        // An empty rest after the last `\n` is not a line.
        if starts.last().is_some_and(|last| *last as usize == text.len()) {
            starts.pop();
        }
        Lines { serial: SERIAL.fetch_add(1, Ordering::Relaxed), text, starts: starts.into() }
    }

    /// The text with an edit applied. The lines after the edit are not split again.
    pub fn spliced(&self, splice: &Splice) -> Lines {
        let Splice { start, end, text: came } = splice;
        let text = [&self.text[..*start], came, &self.text[*end..]].concat();
        let before = self.starts.partition_point(|at| (*at as usize) < *start);
        let behind = self.starts.partition_point(|at| (*at as usize) <= *end);
        let begins = *start == 0 || self.text.as_bytes()[start - 1] == b'\n';
        let mut starts = self.starts[..before].to_vec();
        starts.extend(begins.then_some(*start as u32));
        starts.extend(came.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| (start + i) as u32 + 1));
        starts.extend(self.starts[behind..].iter().map(|at| (*at as usize - end + start + came.len()) as u32));
        // An empty rest after the last `\n` is not a line.
        if starts.last().is_some_and(|last| *last as usize == text.len()) {
            starts.pop();
        }
        Lines { serial: SERIAL.fetch_add(1, Ordering::Relaxed), text: text.into(), starts: starts.into() }
    }

    /// A number that is unique to this split text and its clones.
    pub fn serial(&self) -> u64 {
        self.serial
    }

    /// The whole text.
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// Number of lines.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there is no line at all.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// The byte at which a line starts; the text's length after the last one.
    pub fn start(&self, line: usize) -> usize {
        self.starts.get(line).map_or(self.text.len(), |start| *start as usize)
    }

    /// A line without its ending; empty if there is no such line.
    pub fn line(&self, line: usize) -> &str {
        let whole = &self.text[self.start(line)..self.start(line + 1)];
        let whole = whole.strip_suffix('\n').unwrap_or(whole);
        whole.strip_suffix('\r').unwrap_or(whole)
    }

    /// The line that contains a byte.
    pub fn line_of(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start as usize <= byte).saturating_sub(1)
    }
}

/// The width of a line in a fixed-width font, in columns: tabs advance to the next multiple of their width, and
/// characters outside ASCII count twice, which is never too little.
pub fn columns(line: &str) -> usize {
    line.chars().fold(0, column_behind)
}

fn column_behind(column: usize, c: char) -> usize {
    match c {
        '\t' => (column / TAB + 1) * TAB,
        c if c.is_ascii() => column + 1,
        _ => column + 2,
    }
}

/// Where a line of code wraps if a row has this many columns: the first byte of each further row. It wraps between
/// words if there are any, and otherwise anywhere. Trailing blanks may extend beyond the row.
pub fn breaks(line: &str, width: usize) -> Vec<usize> {
    let mut breaks = Vec::new();
    let mut start = 0;
    // No character but a tab takes more columns than bytes, so most lines need no counting.
    let most = |text: &str| text.len() + (TAB - 1) * text.bytes().filter(|byte| *byte == b'\t').count();
    // Counted once: a line may be megabytes long.
    let mut rest = most(line);
    while rest > width {
        let Some(length) = row_of(&line[start..], width) else { break };
        rest -= most(&line[start..start + length]);
        start += length;
        breaks.push(start);
    }
    breaks
}

/// The number of bytes in the first row of a text; `None` if all of it fits.
fn row_of(text: &str, width: usize) -> Option<usize> {
    let is_blank = |c: char| c == ' ' || c == '\t';
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '"' | '\'') || !c.is_ascii();
    let is_sign = |c: char| matches!(c, ',' | '.' | ':' | ';' | '=' | '(' | '[' | '{' | '/' | '|' | '&' | '*');
    // The last word that starts after a blank, and the last that starts after a sign: byte and column.
    let (mut behind_blank, mut behind_sign) = (None, None);
    let (mut column, mut before, mut indentation) = (0, ' ', true);
    for (at, c) in text.char_indices() {
        if !indentation && !is_blank(c) {
            if is_blank(before) {
                behind_blank = Some((at, column));
            } else if is_sign(before) && is_word(c) {
                behind_sign = Some((at, column));
            }
        }
        indentation &= is_blank(c);
        let here = column;
        column = column_behind(column, c);
        if column > width && at > 0 && !is_blank(c) {
            let roomy = |place: &(usize, usize)| place.1 * 2 >= width;
            let best = behind_blank.filter(roomy).or(behind_sign.filter(roomy)).or(behind_blank).or(behind_sign);
            return Some(best.unwrap_or((at, here)).0);
        }
        before = c;
    }
    None
}

/// Where a long name may wrap: before a dot, and after `_`, `/` and the signs between arguments. For text without a
/// known width, where the browser chooses among these positions.
pub fn breaks_in_names(text: &str) -> Vec<usize> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let opens = |at: &usize| {
        let (before, behind) = text.split_at(*at);
        let mut behind = behind.chars();
        match (before.chars().next_back(), behind.next()) {
            (Some(before), Some('.')) => is_word(before) && behind.next().is_some_and(is_word),
            (Some(before), Some(after)) => "_/,=([{:".contains(before) && after.is_alphanumeric(),
            _ => false,
        }
    };
    text.char_indices().map(|(at, _)| at).filter(opens).collect()
}

/// A text as a text field returns it.
pub fn as_field_text(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// One replacement in a text, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splice {
    /// The first byte that changed.
    pub start: usize,
    /// The end of the bytes that were removed.
    pub end: usize,
    /// The text that was inserted.
    pub text: String,
}

/// Finds the edit of a part of the stored text from the text field's value of that part; `None` if nothing changed.
///
/// Line endings of unchanged lines are kept; typed ones are converted to the file's own.
pub fn take_typed(stored: &str, part: Range<usize>, typed: &str) -> Option<Splice> {
    let (front, typed_front) = common_front(&stored[part.clone()], typed);
    if front == part.len() && typed_front == typed.len() {
        return None;
    }
    let start = part.start + front;
    let (stored_rest, typed_rest) = (&stored[start..part.end], &typed[typed_front..]);
    let (back, typed_back) = common_back(stored_rest, typed_rest);
    let came = &typed_rest[..typed_rest.len() - typed_back];
    let is_crlf = || stored.matches("\r\n").count() * 2 > stored.matches('\n').count();
    let text = if came.contains('\n') && is_crlf() { came.replace('\n', "\r\n") } else { came.to_owned() };
    Some(Splice { start, end: part.end - back, text })
}

/// The length of the common prefix in bytes: in the stored text, and in the typed one.
fn common_front(stored: &str, typed: &str) -> (usize, usize) {
    let (a, b) = (stored.as_bytes(), typed.as_bytes());
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let step = match (a[i], b[j]) {
            (b'\r', b'\n') if a.get(i + 1) == Some(&b'\n') => 2,
            (b'\r', b'\n') => 1,
            (x, y) if x == y => 1,
            _ => break,
        };
        (i, j) = (i + step, j + 1);
    }
    while !stored.is_char_boundary(i) || !typed.is_char_boundary(j) {
        (i, j) = (i - 1, j - 1);
    }
    (i, j)
}

/// The length of the common suffix in bytes: in the stored text, and in the typed one.
fn common_back(stored: &str, typed: &str) -> (usize, usize) {
    let (a, b) = (stored.as_bytes(), typed.as_bytes());
    let (mut i, mut j) = (a.len(), b.len());
    while i > 0 && j > 0 {
        let step = match (a[i - 1], b[j - 1]) {
            (b'\n', b'\n') if i > 1 && a[i - 2] == b'\r' => 2,
            (b'\r', b'\n') => 1,
            (x, y) if x == y => 1,
            _ => break,
        };
        (i, j) = (i - step, j - 1);
    }
    while !stored.is_char_boundary(i) || !typed.is_char_boundary(j) {
        (i, j) = (i + 1, j + 1);
    }
    (a.len() - i, b.len() - j)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(stored: &str, value: &str) -> String {
        let mut text = stored.to_owned();
        if let Some(splice) = take_typed(stored, 0..stored.len(), value) {
            text.replace_range(splice.start..splice.end, &splice.text);
        }
        text
    }

    #[test]
    fn lines_know_their_ends() {
        let lines = Lines::new("a\r\nbb\n\nc".into());
        assert_eq!((0..lines.len()).map(|i| lines.line(i)).collect::<Vec<_>>(), ["a", "bb", "", "c"]);
        assert_eq!(lines.line_of(0), 0);
        assert_eq!(lines.line_of(3), 1);
        assert_eq!(lines.line_of(99), 3);
        assert_eq!(Lines::new("a\n".into()).len(), 1);
        assert_eq!(Lines::new("".into()).len(), 0);
        assert_eq!(Lines::new("a".into()).line(7), "");
    }

    #[test]
    fn typing_cuts_as_the_whole_text_is_cut() {
        let texts = ["", "a", "a\n", "\n", "a\nb", "a\nb\n", "a\r\nb\r\n\nc"];
        for (text, came) in texts.iter().flat_map(|text| texts.map(|came| (*text, came))) {
            for (start, end) in (0..=text.len()).flat_map(|start| (start..=text.len()).map(move |end| (start, end))) {
                let typed = Lines::new(text.into()).spliced(&Splice { start, end, text: came.to_owned() });
                let whole = Lines::new(typed.text.clone());
                assert_eq!(typed.starts, whole.starts, "{came:?} for {start}..{end} of {text:?}");
            }
        }
    }

    #[test]
    fn typing_keeps_line_ends() {
        assert_eq!(typed("a\r\nb\r\n", "a\nb\n"), "a\r\nb\r\n");
        assert_eq!(typed("a\r\nb\r\n", "a\nbx\n"), "a\r\nbx\r\n");
        assert_eq!(typed("a\r\nb\r\n", "a\nnew\nb\n"), "a\r\nnew\r\nb\r\n");
        assert_eq!(typed("a\r\nb\nc\r\n", "a\nb\nc!\n"), "a\r\nb\nc!\r\n");
        assert_eq!(typed("a\nb\n", "a\n\nb\n"), "a\n\nb\n");
        assert_eq!(typed("a\rb", "a\nbc"), "a\rbc");
        assert_eq!(typed("\u{feff}a", "\u{feff}ab"), "\u{feff}ab");
        assert_eq!(typed("", "x\ny"), "x\ny");
        assert_eq!(typed("x\r\ny", ""), "");
    }

    #[test]
    fn typing_respects_characters() {
        // `é` and `è` share their first byte.
        assert_eq!(typed("é", "è"), "è");
        assert_eq!(typed("aéb", "aèb"), "aèb");
        assert_eq!(take_typed("aaa", 0..3, "aa"), Some(Splice { start: 2, end: 3, text: String::new() }));
    }

    #[test]
    fn typing_in_a_part() {
        let check = |stored: &str, part: Range<usize>, typed: &str, want: &str| {
            let splice = take_typed(stored, part, typed).unwrap();
            let mut text = stored.to_owned();
            text.replace_range(splice.start..splice.end, &splice.text);
            assert_eq!(text, want);
        };
        check("a\nb\nc", 2..4, "bx\n", "a\nbx\nc");
        check("a\nb\nc", 2..4, "", "a\nc");
        // The line endings are those of the file, not of the part.
        check("a\r\nb\r\nc", 6..7, "c\nd", "a\r\nb\r\nc\r\nd");
        assert_eq!(take_typed("a\nb\nc", 2..4, "b\n"), None);
    }

    #[test]
    fn long_lines_break_at_words() {
        let check = |line: &str, rows: &[&str]| {
            let ends = breaks(line, 20).into_iter().chain([line.len()]);
            let mut start = 0;
            let found: Vec<&str> = ends.map(|end| &line[std::mem::replace(&mut start, end)..end]).collect();
            assert_eq!(found, rows);
        };
        check("x = 1", &["x = 1"]);
        check("twenty columns wide!", &["twenty columns wide!"]);
        check("outputs = wrapped(x, y)", &["outputs = wrapped(x, ", "y)"]);
        // After a sign, because the last blank would leave most of the row empty.
        check("loss = criterion(outputs, labels)", &["loss = criterion(", "outputs, labels)"]);
        check("    return accuracy, precision", &["    return accuracy, ", "precision"]);
        check("x = torch.nn.parallel.Wrapped", &["x = torch.nn.", "parallel.Wrapped"]);
        // Anywhere, if there is neither.
        check(&"x".repeat(45), &["xxxxxxxxxxxxxxxxxxxx", "xxxxxxxxxxxxxxxxxxxx", "xxxxx"]);
        check("日本日本日本日本日本日本", &["日本日本日本日本日本", "日本"]);
        // Indentation alone does not form a row.
        check("                xxxxxxx", &["                xxxx", "xxx"]);
        // Trailing blanks extend beyond the row.
        check("twenty columns wide!    # why", &["twenty columns wide!    ", "# why"]);
        check("\tx = 1\t\t# a long remark", &["\tx = 1\t\t# a ", "long remark"]);
        check("", &[""]);
    }

    #[test]
    fn long_names_break_at_their_parts() {
        let check = |text: &str, expected: &str| {
            let mut shown = text.to_owned();
            breaks_in_names(text).into_iter().rev().for_each(|at| shown.insert(at, '|'));
            assert_eq!(shown, expected);
        };
        check("torch.cuda.is_available()", "torch|.cuda|.is_|available()");
        check("src/data_io/é_read.py", "src/|data_|io/|é_|read|.py");
        check("f(x=1, __name__)", "f(|x=|1, __|name__)");
        check("a sentence. \"Another.\" 1.5", "a sentence. \"Another.\" 1|.5");
        check("", "");
    }

    #[test]
    fn columns_of_tabs_and_wide_characters() {
        assert_eq!(columns("\tx"), 5);
        assert_eq!(columns("ab\tx"), 5);
        assert_eq!(columns("日本"), 4);
    }
}
