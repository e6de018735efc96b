//! The project's lines in tracebacks, and what the port did there.

use super::log::Line;
use super::{Changed, Frame, Message, PortedProject, Side};
use crate::ported::{Diagnostic, Edit, PortedFile, Span};
use crate::recipe::recipe_id;
use guide::Guide;

/// The most frames of an explanation.
const MOST: usize = 5;

/// Folders of installed packages: a file there may have the name of one of the project's.
const INSTALLED: [&str; 4] = ["site-packages", "dist-packages", "lib/python", "<frozen"];

/// The frames in the project's files, the innermost first.
pub(super) fn frames(lines: &[Line], port: &PortedProject<'_>, guides: &[Guide]) -> Vec<Frame> {
    let mut frames: Vec<Frame> = Vec::new();
    for (at, line) in lines.iter().enumerate().rev() {
        let Some((path, number)) = place(&line.text) else { continue };
        let Some(index) = file_of(&path, port) else { continue };
        let frame = frame(index, number, lines.get(at + 1).map(|next| next.text.trim()), port, guides);
        if !frames.iter().any(|other| (&other.path, other.line) == (&frame.path, frame.line)) {
            frames.push(frame);
        }
        if frames.len() == MOST {
            break;
        }
    }
    frames
}

/// The file and the line that a frame names: `File "a/b.py", line 3, in f`, `File a/b.py:3, in f()` or `a/b.py:3 in f`.
fn place(text: &str) -> Option<(String, usize)> {
    let (before, rest) = text.split_once(".py")?;
    let number = rest.strip_prefix(':').or_else(|| rest.trim_start_matches(['"', '\'']).strip_prefix(", line "))?;
    let digits = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
    let start = before
        .rfind(['"', '\'', ' ', '│', '\t'])
        .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
    let path = format!("{}.py", &before[start..]).replace('\\', "/");
    let number = number[..digits].parse().ok().filter(|number| *number > 0)?;
    (path.len() > ".py".len()).then_some((path, number))
}

/// The file of the project that a traceback names: the one with the longest path that the named one ends with.
fn file_of(path: &str, port: &PortedProject<'_>) -> Option<usize> {
    if INSTALLED.iter().any(|folder| path.contains(folder)) {
        return None;
    }
    let path = path.trim_start_matches("./");
    let ends =
        |long: &str, short: &str| long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
    let within = |index: &usize| ends(path, &port.files[*index].path);
    let files = || 0..port.files.len().min(port.ported.files.len());
    files().filter(within).max_by_key(|index| port.files[*index].path.len()).or_else(|| {
        // A program that was started in its folder is named without it.
        let mut inside = files().filter(|index| ends(&port.files[*index].path, path));
        inside.next().filter(|_| inside.next().is_none())
    })
}

fn frame(index: usize, number: usize, shown: Option<&str>, port: &PortedProject<'_>, guides: &[Guide]) -> Frame {
    let (original, ported) = (&port.files[index].text, &port.ported.files[index]);
    let (side, line) = side(shown, number, &ported.text, original);
    let text = match side {
        Side::Original => original,
        _ => &ported.text,
    };
    let mut frame = Frame {
        path: port.files[index].path.clone(),
        line: number,
        code: shown.filter(|_| side == Side::Neither).or_else(|| line_of(text, line)).unwrap_or_default().to_owned(),
        side,
        ported: None,
        original: None,
        recipes: Vec::new(),
        messages: Vec::new(),
    };
    let places = match side {
        Side::Ported => (line, to_original(&ported.edits, original, &ported.text, line)),
        Side::Original => (to_ported(&ported.edits, original, &ported.text, line), line),
        Side::Neither => return frame,
    };
    (frame.ported, frame.original) = (Some(places.0), Some(places.1));
    let unrejected = port.unrejected.and_then(|port| port.files.get(index));
    (frame.recipes, frame.messages) = notes(ported, unrejected, original, places, guides);
    frame
}

/// Whether the code that the log shows for a line is the port's or the original's, and its line there. A file that was
/// edited meanwhile has it elsewhere.
fn side(shown: Option<&str>, number: usize, ported: &str, original: &str) -> (Side, usize) {
    let is = |text: &str, line: usize| {
        line_of(text, line).is_some_and(|code| shown.is_none_or(|shown| !code.is_empty() && shown.ends_with(code)))
    };
    let only = |text: &str| {
        let mut there = (1..=text.lines().count()).filter(|line| shown.is_some() && is(text, *line));
        there.next().filter(|_| there.next().is_none())
    };
    if is(ported, number) {
        return (Side::Ported, number);
    }
    if is(original, number) {
        return (Side::Original, number);
    }
    match (only(ported), only(original)) {
        (Some(line), _) => (Side::Ported, line),
        (_, Some(line)) => (Side::Original, line),
        _ => (Side::Neither, number),
    }
}

fn line_of(text: &str, line: usize) -> Option<&str> {
    text.lines().nth(line.checked_sub(1)?).map(str::trim)
}

/// Where a line begins.
fn start_of(text: &str, line: usize) -> usize {
    text.split_inclusive('\n').take(line - 1).map(str::len).sum()
}

fn line_at(text: &str, offset: usize) -> usize {
    text[..offset.min(text.len())].matches('\n').count() + 1
}

/// The first character of a line that is not its indentation: an edit may replace a line and what is above it.
fn code_of(text: &str, line: usize) -> usize {
    let start = start_of(text, line);
    start + text[start..].find(|c: char| c != ' ' && c != '\t').unwrap_or(0)
}

fn to_original(edits: &[Edit], original: &str, ported: &str, line: usize) -> usize {
    let offset = code_of(ported, line);
    let mut shift = 0isize;
    for edit in edits {
        let start = edit.start.saturating_add_signed(shift);
        if start > offset {
            break;
        }
        if offset < start + edit.text.len() {
            return line_at(original, edit.start);
        }
        shift += edit.text.len() as isize - (edit.end - edit.start) as isize;
    }
    line_at(original, offset.saturating_add_signed(-shift))
}

fn to_ported(edits: &[Edit], original: &str, ported: &str, line: usize) -> usize {
    let offset = code_of(original, line);
    let mut shift = 0isize;
    for edit in edits {
        if edit.start > offset {
            break;
        }
        if offset < edit.end {
            return line_at(ported, edit.start.saturating_add_signed(shift));
        }
        shift += edit.text.len() as isize - (edit.end - edit.start) as isize;
    }
    line_at(ported, offset.saturating_add_signed(shift))
}

/// The recipes and messages of a line, given in the port and in the original.
fn notes(
    file: &PortedFile,
    unrejected: Option<&PortedFile>,
    original: &str,
    (ported, line): (usize, usize),
    guides: &[Guide],
) -> (Vec<Changed>, Vec<Message>) {
    let touches = |edit: &&Edit| {
        let last = edit.end.max(edit.start + 1) - 1;
        (line_at(original, edit.start)..=line_at(original, last)).contains(&line)
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
    use super::place;

    #[test]
    fn frames_of_python_ipython_and_rich() {
        let check = |text: &str, expected: Option<(&str, usize)>| {
            let found = place(text);
            assert_eq!(found.as_ref().map(|(path, line)| (path.as_str(), *line)), expected, "{text}");
        };
        check("  File \"/home/me/train.py\", line 12, in main", Some(("/home/me/train.py", 12)));
        check("[rank1]:   File \"train.py\", line 3", Some(("train.py", 3)));
        check("File ~/a/train.py:7, in main(x)", Some(("~/a/train.py", 7)));
        check("│ /home/me/train.py:9 in <module>    │", Some(("/home/me/train.py", 9)));
        check("  File \"C:\\a\\train.py\", line 5, in f", Some(("C:/a/train.py", 5)));
        check("python train.py --epochs 3", None);
        check("File \"train.py\", line 0", None);
        check("File \"train.py\", line 99999999999999999999999", None);
        check(".py:3", None);
    }
}
