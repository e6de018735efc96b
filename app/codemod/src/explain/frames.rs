//! The project's lines in tracebacks, and what the port did there.

use super::log::Line;
use super::{Changed, Frame, Message, PortedProject, Side};
use crate::ported::{Diagnostic, Edit, PortedFile, Span};
use crate::recipe::recipe_id;
use guide::Guide;
use python::lines::LineStarts;
use python::notebook::{CellLines, CellPlace, is_notebook};
use sorting::SortedMap;

/// The most frames of an explanation.
const MOST: usize = 5;

/// Lines below that of a frame among which its code is.
const CONTEXT: usize = 12;

/// Folders of installed packages: a file there may have the name of one of the project's.
const INSTALLED: [&str; 2] = ["site-packages", "dist-packages"];

/// The frames in the project's files, the innermost first.
pub(super) fn frames(lines: &[Line], port: &PortedProject<'_>, guides: &[Guide]) -> Vec<Frame> {
    let mut frames: Vec<Frame> = Vec::new();
    let mut read: SortedMap<usize, Texts<'_>> = SortedMap::new();
    for (at, line) in lines.iter().enumerate().rev() {
        let Some(named) = Named::read(&line.text) else { continue };
        let below = || lines[at + 1..].iter().take(CONTEXT).map(|line| line.text.as_str());
        let shown = named.code(below());
        let files = match &named.path {
            Some(path) => file_of(path, port).into_iter().collect(),
            None => notebooks(port),
        };
        let is_known = |index: &usize| {
            let path = &port.files[*index].path;
            frames.iter().any(|other| (&other.path, other.line) == (path, named.line))
        };
        if named.path.is_some() && files.first().is_some_and(is_known) {
            continue;
        }
        for index in &files {
            read.entry(*index).or_insert_with(|| Texts::new(*index, port));
        }
        let of_file = |index: &usize| match named.path {
            Some(_) => Some((*index, read[index].side(shown, named.line))),
            None => Some((*index, read[index].side_in_cell(shown?, named.line)?)),
        };
        let mut found = files.iter().filter_map(of_file);
        // The log does not say which notebook it is.
        let Some((index, (side, place))) = found.next().filter(|_| found.next().is_none()) else { continue };
        if named.path.is_none()
            && frames.iter().any(|other| other.path == port.files[index].path && other.at(side) == Some(place))
        {
            continue;
        }
        frames.push(frame(index, &named, shown, (side, place), &read[&index], port, guides));
        if frames.len() == MOST {
            break;
        }
    }
    frames
}

/// What a line of a traceback names.
#[derive(Debug, PartialEq, Eq)]
struct Named<'l> {
    /// The file; none for a cell of a notebook that was not named.
    path: Option<String>,
    line: usize,
    /// What is above the frames of one process, such as `[rank1]:`; none if the code is marked by an arrow.
    prefix: Option<&'l str>,
}

impl<'l> Named<'l> {
    /// `File "a/b.py", line 3, in f` of Python, `File a/b.py:3, in f()` and `Cell In[2], line 3` of IPython,
    /// `a/b.py:3 in f` of Rich.
    fn read(text: &'l str) -> Option<Self> {
        text.match_indices(".py")
            .find_map(|(at, ending)| {
                let (before, rest) = (&text[..at], &text[at + ending.len()..]);
                let of_python = rest.strip_prefix(['"', '\'']).and_then(|rest| rest.strip_prefix(", line "));
                let line = number(of_python.or_else(|| rest.strip_prefix(':'))?)?;
                let quote = rest.chars().next().unwrap_or_default();
                let start = match of_python {
                    Some(_) => before.rfind(quote)? + 1,
                    None => before
                        .rfind(['"', '\'', ' ', '│', '\t'])
                        .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8)),
                };
                let path = format!("{}{ending}", &before[start..]).replace('\\', "/");
                let prefix = of_python.map(|_| before[..start - 1].trim_end().trim_end_matches("File").trim_end());
                let is_file = path.rsplit('/').next() != Some(ending);
                is_file.then_some(Self { path: Some(path), line, prefix })
            })
            .or_else(|| {
                let (_, cell) = text.split_once("Cell In[")?;
                let (_, line) = cell.split_once("], line ")?;
                Some(Self { path: None, line: number(line)?, prefix: None })
            })
    }

    /// The code that the log shows for it: Python in the next line, IPython (`----> 4 code`) and Rich (`│ ❱ 4 code │`) at an
    /// arrow with the number.
    fn code<'c>(&self, mut below: impl Iterator<Item = &'c str>) -> Option<&'c str> {
        if let Some(prefix) = self.prefix {
            let next = below.next()?;
            // It is indented, an exception's name is not; a logger may write another time before it.
            let is_code = next.strip_prefix(prefix).is_none_or(|code| code.starts_with([' ', '\t']));
            let code = next.strip_prefix(prefix).unwrap_or(next);
            return (is_code && Named::read(next).is_none()).then(|| code.trim());
        }
        below.take_while(|line| Named::read(line).is_none()).find_map(|line| {
            let (_, marked) = line.split_once("❱").or_else(|| {
                let rest = line.trim_start().strip_prefix("--")?;
                Some(("", rest.trim_start_matches('-').strip_prefix('>')?))
            })?;
            let code = marked.trim_start().strip_prefix(&self.line.to_string())?;
            let is_whole = code.is_empty() || code.starts_with([' ', '\t', '│']);
            is_whole.then(|| code.trim_matches([' ', '\t', '│']))
        })
    }
}

/// The number at the start of a text, from 1.
fn number(text: &str) -> Option<usize> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..digits].parse().ok().filter(|number| *number > 0)
}

/// Whether a path is that of a file of Python or of a package, as far as its folders say.
fn is_installed(path: &str) -> bool {
    let folders: Vec<&str> = path.split('/').collect();
    let is_version =
        |name: &str| name.strip_prefix("python").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    folders.iter().any(|folder| INSTALLED.contains(folder))
        || folders.windows(2).any(|pair| pair[0].eq_ignore_ascii_case("lib") && is_version(pair[1]))
}

/// The file of the project that a traceback names: the one with the longest path that the named one ends with.
fn file_of(path: &str, port: &PortedProject<'_>) -> Option<usize> {
    if is_installed(path) {
        return None;
    }
    let path = path.trim_start_matches("./");
    let ends =
        |long: &str, short: &str| long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
    let within = |index: &usize| ends(path, &port.files[*index].path);
    files(port).filter(within).max_by_key(|index| port.files[*index].path.len()).or_else(|| {
        // A program that was started in its folder is named without it.
        let mut inside = files(port).filter(|index| ends(&port.files[*index].path, path));
        inside.next().filter(|_| inside.next().is_none())
    })
}

fn files(port: &PortedProject<'_>) -> std::ops::Range<usize> {
    0..port.files.len().min(port.ported.files.len())
}

fn notebooks(port: &PortedProject<'_>) -> Vec<usize> {
    files(port).filter(|index| is_notebook(&port.files[*index].path)).collect()
}

fn frame(
    index: usize,
    named: &Named<'_>,
    shown: Option<&str>,
    (side, line): (Side, usize),
    texts: &Texts<'_>,
    port: &PortedProject<'_>,
    guides: &[Guide],
) -> Frame {
    let (original, ported) = (&texts.original, &texts.ported);
    let file = &port.ported.files[index];
    let text = if side == Side::Original { original } else { ported };
    let mut frame = Frame {
        path: port.files[index].path.clone(),
        line: named.line,
        code: shown.filter(|_| side == Side::Neither).or_else(|| text.line(line)).unwrap_or_default().to_owned(),
        side,
        ported: None,
        original: None,
        cells: None,
        recipes: Vec::new(),
        messages: Vec::new(),
    };
    let places = match side {
        Side::Ported => (line, to_original(&file.edits, original, ported, line)),
        Side::Original => (to_ported(&file.edits, original, ported, line), line),
        Side::Neither => return frame,
    };
    (frame.ported, frame.original) = (Some(places.0), Some(places.1));
    frame.cells = ported.cell(places.0).zip(original.cell(places.1));
    let unrejected = port.unrejected.and_then(|port| port.files.get(index));
    (frame.recipes, frame.messages) = notes(file, unrejected, original, places, guides);
    frame
}

impl Frame {
    /// Its line in a text.
    fn at(&self, side: Side) -> Option<usize> {
        match side {
            Side::Ported => self.ported,
            Side::Original => self.original,
            Side::Neither => None,
        }
    }
}

/// A file of the project, before and after.
struct Texts<'a> {
    original: Text<'a>,
    ported: Text<'a>,
}

impl<'a> Texts<'a> {
    fn new(index: usize, port: &PortedProject<'a>) -> Self {
        let path = &port.files[index].path;
        Self {
            original: Text::new(path, &port.files[index].text),
            ported: Text::new(path, &port.ported.files[index].text),
        }
    }

    /// Whether the code that the log shows for a line is the port's or the original's, and its line there. A file that was
    /// edited meanwhile has it elsewhere.
    fn side(&self, shown: Option<&str>, number: usize) -> (Side, usize) {
        let (ported, original) = (self.ported.line(number), self.original.line(number));
        let Some(shown) = shown else {
            return if ported.is_some() { (Side::Ported, number) } else { (Side::Neither, number) };
        };
        let is = |code: &Option<&str>| *code == Some(shown);
        // Behind what a logger writes before each line.
        let ends = |code: &Option<&str>| {
            let rest = code.and_then(|code| shown.strip_suffix(code));
            rest.is_some_and(|rest| rest.ends_with([' ', '\t']))
                && code.is_some_and(|code| code.contains(char::is_alphanumeric))
        };
        for fits in [&is as &dyn Fn(&Option<&str>) -> bool, &ends] {
            match (fits(&ported), fits(&original)) {
                (true, true) if original.map(str::len) > ported.map(str::len) => return (Side::Original, number),
                (true, _) => return (Side::Ported, number),
                (_, true) => return (Side::Original, number),
                _ => {}
            }
        }
        match (self.ported.only(shown), self.original.only(shown)) {
            (Some(line), _) => (Side::Ported, line),
            (_, Some(line)) => (Side::Original, line),
            _ => (Side::Neither, number),
        }
    }

    /// The same for a line of a cell.
    fn side_in_cell(&self, shown: &str, number: usize) -> Option<(Side, usize)> {
        let place = |text: &Text<'_>| {
            let is_it = |line: &usize| text.cell(*line).is_some_and(|cell| cell.line == number);
            let mut there = text.with(shown).filter(is_it);
            there.next().filter(|_| there.next().is_none())
        };
        let ported = place(&self.ported).map(|line| (Side::Ported, line));
        ported.or_else(|| place(&self.original).map(|line| (Side::Original, line)))
    }
}

/// A text by its lines, which count from 1.
struct Text<'a> {
    text: &'a str,
    starts: LineStarts,
    /// Without their indentation.
    lines: Vec<&'a str>,
    cells: Option<CellLines>,
}

impl<'a> Text<'a> {
    fn new(path: &str, text: &'a str) -> Self {
        let cells = is_notebook(path).then(|| CellLines::of(text));
        Self { text, starts: LineStarts::new(text), lines: text.lines().map(str::trim).collect(), cells }
    }

    fn line(&self, line: usize) -> Option<&'a str> {
        self.lines.get(line.checked_sub(1)?).copied()
    }

    fn cell(&self, line: usize) -> Option<CellPlace> {
        self.cells.as_ref()?.place(line)
    }

    /// The lines with some code.
    fn with(&self, code: &str) -> impl Iterator<Item = usize> {
        let lines = self.lines.iter().enumerate();
        lines.filter(move |(_, line)| !line.is_empty() && **line == code).map(|(row, _)| row + 1)
    }

    /// The only line with some code.
    fn only(&self, code: &str) -> Option<usize> {
        let mut there = self.with(code);
        there.next().filter(|_| there.next().is_none())
    }

    fn line_at(&self, offset: usize) -> usize {
        self.starts.row(offset.min(self.text.len())).0 + 1
    }

    /// The first character of a line that is not its indentation: an edit may replace a line and what is above it.
    fn code_of(&self, line: usize) -> usize {
        let start = self.starts.start(line - 1).unwrap_or(self.text.len());
        start + self.text[start..].find(|c: char| c != ' ' && c != '\t').unwrap_or(0)
    }
}

fn to_original(edits: &[Edit], original: &Text<'_>, ported: &Text<'_>, line: usize) -> usize {
    let offset = ported.code_of(line);
    let mut shift = 0isize;
    for edit in edits {
        let start = edit.start.saturating_add_signed(shift);
        if start > offset {
            break;
        }
        if offset < start + edit.text.len() {
            return original.line_at(edit.start);
        }
        shift += edit.text.len() as isize - (edit.end - edit.start) as isize;
    }
    original.line_at(offset.saturating_add_signed(-shift))
}

fn to_ported(edits: &[Edit], original: &Text<'_>, ported: &Text<'_>, line: usize) -> usize {
    let offset = original.code_of(line);
    let mut shift = 0isize;
    for edit in edits {
        if edit.start > offset {
            break;
        }
        if offset < edit.end {
            return ported.line_at(edit.start.saturating_add_signed(shift));
        }
        shift += edit.text.len() as isize - (edit.end - edit.start) as isize;
    }
    ported.line_at(offset.saturating_add_signed(shift))
}

/// The recipes and messages of a line, given in the port and in the original.
fn notes(
    file: &PortedFile,
    unrejected: Option<&PortedFile>,
    original: &Text<'_>,
    (ported, line): (usize, usize),
    guides: &[Guide],
) -> (Vec<Changed>, Vec<Message>) {
    let touches = |edit: &&Edit| {
        let last = edit.end.max(edit.start + 1) - 1;
        (original.line_at(edit.start)..=original.line_at(last)).contains(&line)
    };
    let mut recipes: Vec<Changed> = Vec::new();
    let mut add = |edit: &Edit, rejected: bool| {
        if !recipes.iter().any(|other| other.recipe == edit.recipe) {
            recipes.push(Changed { recipe: edit.recipe.clone(), title: title(&edit.recipe, guides), rejected });
        }
    };
    file.edits.iter().filter(touches).for_each(|edit| add(edit, false));
    for edit in unrejected.iter().flat_map(|file| &file.edits).filter(touches) {
        add(edit, true);
    }
    let holds = |span: &Span, line: usize| (span.line..=span.end_line).contains(&line);
    let here = |message: &&Diagnostic| holds(&message.ported, ported) || holds(&message.original, line);
    let message = |message: &Diagnostic| Message {
        recipe: message.recipe.clone(),
        severity: message.severity,
        message: message.message.clone(),
    };
    let mut messages: Vec<Message> = file.diagnostics.iter().filter(here).map(message).collect();
    messages.dedup();
    (recipes, messages)
}

/// The heading of a recipe's section.
fn title(recipe: &str, guides: &[Guide]) -> String {
    let sections = guides.iter().flat_map(|guide| guide.sections.iter().map(move |section| (guide, section)));
    let own = sections.into_iter().find(|(guide, section)| recipe_id(guide, section) == recipe);
    own.map_or_else(|| recipe.to_owned(), |(_, section)| section.title.clone())
}

#[cfg(test)]
mod tests {
    use super::{Named, is_installed};

    #[test]
    fn frames_of_python_ipython_and_rich() {
        let check = |text: &str, expected: Option<(&str, usize)>| {
            let found = Named::read(text);
            let found = found.as_ref().map(|named| (named.path.as_deref().unwrap_or("a cell"), named.line));
            assert_eq!(found, expected, "{text}");
        };
        check("  File \"/home/me/train.py\", line 12, in main", Some(("/home/me/train.py", 12)));
        check("[rank1]:   File \"train.py\", line 3", Some(("train.py", 3)));
        check("File ~/a/train.py:7, in main(x)", Some(("~/a/train.py", 7)));
        check("│ /home/me/train.py:9 in <module>    │", Some(("/home/me/train.py", 9)));
        check("  File \"C:\\a\\train.py\", line 5, in f", Some(("C:/a/train.py", 5)));
        check(
            "  File \"/home/me/ssd.pytorch/my runs/train.py\", line 5, in f",
            Some(("/home/me/ssd.pytorch/my runs/train.py", 5)),
        );
        check("File ~/.pyenv/a.py/train.py:7, in main(x)", Some(("~/.pyenv/a.py/train.py", 7)));
        check("Cell In[3], line 4", Some(("a cell", 4)));
        check("Cell In[12], line 40, in f(x)", Some(("a cell", 40)));
        check("python train.py --epochs 3", None);
        check("File \"train.py\", line 0", None);
        check("File \"train.py\", line 99999999999999999999999", None);
        check(".py:3", None);
        check("a/.py:3", None);
    }

    #[test]
    fn the_code_of_a_frame_in_each_form() {
        let check = |log: &str, expected: Option<&str>| {
            let mut lines = log.lines();
            let named = Named::read(lines.next().unwrap()).unwrap();
            assert_eq!(named.code(lines), expected, "{log}");
        };
        check("  File \"a.py\", line 4, in f\n    4 + x\n    ^", Some("4 + x"));
        check("[rank1]:   File \"a.py\", line 4, in f\n[rank1]:     f(x)", Some("f(x)"));
        check("  File \"a.py\", line 4, in f\nKeyError: 'x'", None);
        check("  File \"a.py\", line 4, in f\n  File \"b.py\", line 4, in f\n    g()", None);
        check(
            "File ~/a.py:4, in f(x)\n      2 def f(x):\n      3     # >\n----> 4     g(x)\n      5 h()",
            Some("g(x)"),
        );
        check("File ~/a.py:4, in f(x)\nFile ~/b.py:4, in g(x)\n----> 4     g(x)", None);
        check("Cell In[3], line 4\n      3 a\n----> 4 net = net.cuda()", Some("net = net.cuda()"));
        check(
            "│ /a.py:4 in f   │\n│                │\n│   3 a            │\n│ ❱ 4 │   g(x)     │\n│   5              │",
            Some("g(x)"),
        );
        check("│ /a.py:4 in f   │\n│ ❱ 40 │   g(x)     │", None);
    }

    #[test]
    fn what_is_installed() {
        for path in ["/usr/lib/python3.11/a.py", "/a/.pyenv/lib/python3/x/train.py", "C:/a/Lib/site-packages/train.py"]
        {
            assert!(is_installed(path), "{path}");
        }
        for path in [
            "/home/me/site-packages-test/train.py",
            "/home/me/lib/python/train.py",
            "/home/me/mylib/python3/train.py",
            "train.py",
        ] {
            assert!(!is_installed(path), "{path}");
        }
    }
}
