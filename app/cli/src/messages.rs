//! Messages on stderr.

use codemod::{Diagnostic, Edit, Overview, Places, Ported, RemovedComment, Severity, Span, Style, Totals};
use std::collections::{BTreeSet, HashSet};

/// The text on disk under the file's name once the command is done, to which the line numbers of messages refer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnDisk {
    /// The original.
    Original,
    /// The ported text, which replaced it.
    Ported,
}

impl OnDisk {
    /// Where a message is in that text.
    pub(crate) fn place(self, diagnostic: &Diagnostic) -> Span {
        match self {
            OnDisk::Original => diagnostic.original,
            OnDisk::Ported => diagnostic.ported,
        }
    }
}

/// `path:line:column: severity[recipe] message`, on one line.
pub(crate) fn message(path: &str, diagnostic: &Diagnostic, on_disk: OnDisk) -> String {
    let place = on_disk.place(diagnostic).shown();
    let Diagnostic { severity, recipe, message, .. } = diagnostic;
    let severity = word(*severity);
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{path}:{place}: {severity}[{recipe}] {message}")
}

/// The reports of a port, one per line. A remedy of several sentences is printed completely at its first place; after
/// that only its first sentence.
pub(crate) fn messages<'d>(found: impl Iterator<Item = (&'d str, &'d Diagnostic, OnDisk)>) -> Vec<String> {
    let mut said: HashSet<(&str, &str)> = HashSet::new();
    let line = |(path, diagnostic, on_disk): (&'d str, &'d Diagnostic, OnDisk)| {
        let whole = message(path, diagnostic, on_disk);
        if said.insert((&diagnostic.recipe, &diagnostic.message)) {
            return whole;
        }
        let first = diagnostic.message.split_once(". ").map(|(first, _)| format!("{first}."));
        first.map_or(whole, |message| self::message(path, &Diagnostic { message, ..diagnostic.clone() }, on_disk))
    };
    found.map(line).collect()
}

/// The severity as spelled in the schema.
pub(crate) fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "info",
        Severity::Hint => "hint",
    }
}

/// The first lines of a port without its training step: where the step stops, what was done, what remains.
pub(crate) fn outline(overview: &Overview<'_>, target: &str, shown: &[&str], on_disk: &[OnDisk]) -> String {
    let stops = overview
        .stops
        .iter()
        .map(|(file, diagnostic)| format!("{}:{}", shown[*file], on_disk[*file].place(diagnostic).shown()));
    let or_nothing = |list: Vec<String>| if list.is_empty() { "nothing".to_owned() } else { list.join("; ") };
    let left = overview.left.iter().map(|(title, places)| match places {
        1 => title.clone(),
        _ => format!("{title} ({})", count(*places, "place")),
    });
    let places = if overview.stops.len() > 1 { format!(", at {} places", overview.stops.len()) } else { String::new() };
    format!(
        "portolan: the training step is not ported to {target}{places}\n  stopped at    {}\n  \
         ported        {}\n  left for you  {}\n",
        stops.collect::<Vec<_>>().join(", "),
        or_nothing(overview.done.clone()),
        or_nothing(left.collect()),
    )
}

/// A one-line summary of a port and its totals. `left` are the changed files that were not written.
pub(crate) fn summary(ported: &Ported, left: &BTreeSet<usize>, totals: &Totals) -> String {
    let new: Vec<&str> = ported.new_files().map(|file| file.path.as_str()).collect();
    let changed = ported.files.iter().filter(|file| file.changed).count() - new.len() - left.len();
    let Places { done, to_do, not_possible } = totals.all;
    let mut line = format!("portolan: {}", count(done, "change"));
    line += &format!(" in {} of {}", changed, count(ported.files.len() - new.len(), "file"));
    if ported.style == Style::Agnostic {
        line += ", one program for all devices";
    }
    if !new.is_empty() {
        line += &format!(" and {}, {}", count(new.len(), "new file"), new.join(", "));
    }
    if not_possible > 0 {
        line += &format!(", {}", count(not_possible, "error"));
    }
    if to_do > 0 {
        line += &format!(", {} to review", count(to_do, "place"));
    }
    line
}

/// The comments that a port removes with the code that they describe; none if it removes none.
pub(crate) fn removed_comments(path: &str, edits: &[Edit]) -> Option<String> {
    let all: Vec<&RemovedComment> = edits.iter().flat_map(|edit| &edit.comments_removed).collect();
    let (first, number) = (all.first()?, all.len());
    let lines: Vec<String> = all.iter().map(|comment| comment.shown()).collect();
    Some(match number {
        1 => {
            format!("{path}:{}: the comment `{}` is removed with the code that it describes", first.shown(), first.text)
        }
        _ => format!(
            "{path}: {number} comments are removed with the code that they describe, in lines {}",
            lines.join(", ")
        ),
    })
}

pub(crate) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagnostic(line: usize, message: &str) -> Diagnostic {
        Diagnostic {
            original: Span { line, column: 7, end_line: line, end_column: 9, cell: None },
            ported: Span { line: line + 10, column: 11, end_line: line + 10, end_column: 13, cell: None },
            severity: Severity::Warning,
            recipe: "hpu#data-parallel".into(),
            message: message.into(),
            stops_step: false,
        }
    }

    #[test]
    fn comments_that_go_are_named() {
        let check = |comments: &[(usize, &str)], expected: Option<&str>| {
            let of =
                |(line, text): &(usize, &str)| RemovedComment { line: *line, cell: None, text: (*text).to_owned() };
            let edit = Edit {
                id: "a".into(),
                recipe: "hpu#amp".into(),
                applicability: codemod::Applicability::Safe,
                start: 0,
                end: 0,
                text: String::new(),
                comments_removed: comments.iter().map(of).collect(),
            };
            assert_eq!(removed_comments("a.py", &[edit]).as_deref(), expected);
        };
        check(&[], None);
        check(&[(3, "# room")], Some("a.py:3: the comment `# room` is removed with the code that it describes"));
        let two = "a.py: 2 comments are removed with the code that they describe, in lines 3, 5";
        check(&[(3, "# a"), (5, "# b")], Some(two));
    }

    #[test]
    fn a_message_is_one_line() {
        let diagnostic = diagnostic(3, "not here;\n  use DDP");
        let said = "warning[hpu#data-parallel] not here; use DDP";
        assert_eq!(message("a.py", &diagnostic, OnDisk::Original), format!("a.py:3:7: {said}"));
        assert_eq!(message("a.py", &diagnostic, OnDisk::Ported), format!("a.py:13:11: {said}"));
    }

    #[test]
    fn a_remedy_is_written_out_once() {
        let places = [
            diagnostic(3, "Use DDP. It has one card."),
            diagnostic(5, "Use DDP. It has one card."),
            diagnostic(6, "Use DDP"),
        ];
        let lines = messages(places.iter().map(|d| ("a.py", d, OnDisk::Original)));
        let expected = [
            "3:7: warning[hpu#data-parallel] Use DDP. It has one card.",
            "5:7: warning[hpu#data-parallel] Use DDP.",
            "6:7: warning[hpu#data-parallel] Use DDP",
        ];
        assert_eq!(lines, expected.map(|line| format!("a.py:{line}")));
    }
}
