//! What differs between two reports of ports of the same files, as Markdown.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Lines of a port that are listed.
const MOST_LINES: usize = 60;
/// Lines of a whole table that are listed. A page that shows a table has a limit, too.
const MOST_IN_ALL: usize = 2_000;
/// Characters of a line that are shown.
const MOST_CHARACTERS: usize = 160;

/// An edit or a message of a port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    path: String,
    line: u64,
    column: u64,
    is_edit: bool,
    /// The section of its guide.
    section: String,
    /// What is replaced by what, or the message.
    text: String,
}

/// The edits and messages of a report; `read` gives the text of a file of the original.
pub(super) fn entries(report: &Value, read: impl Fn(&str) -> Option<String>) -> Vec<Entry> {
    let mut out = Vec::new();
    for file in report["files"].as_array().into_iter().flatten() {
        let path = file["path"].as_str().unwrap_or_default();
        let original = read(path).unwrap_or_default();
        let word = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
        let number = |value: &Value, key: &str| value[key].as_u64().unwrap_or_default();
        for edit in file["edits"].as_array().into_iter().flatten() {
            let (start, end) = (number(edit, "start") as usize, number(edit, "end") as usize);
            let old = original.get(start..end).unwrap_or_default();
            let before = original.get(..start).unwrap_or_default();
            let line = before.rfind('\n').map_or(0, |end| end + 1);
            out.push(Entry {
                path: path.to_owned(),
                line: before.matches('\n').count() as u64 + 1,
                column: before[line..].chars().count() as u64 + 1,
                is_edit: true,
                section: word(edit, "recipe"),
                text: format!("{:?} becomes {:?}", old, word(edit, "text")),
            });
        }
        for found in file["diagnostics"].as_array().into_iter().flatten() {
            out.push(Entry {
                path: path.to_owned(),
                line: number(found, "line"),
                column: number(found, "column"),
                is_edit: false,
                section: word(found, "recipe"),
                text: format!("{}: {}", word(found, "severity"), word(found, "message")),
            });
        }
    }
    out
}

/// A string of each element of a list.
pub(super) fn values_of(list: &Value, key: &str) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(|one| Some(one[key].as_str()?.to_owned())).collect()
}

/// Two ports of a repository to a target.
pub(super) struct Compared {
    repository: String,
    target: String,
    /// Entries that only one of the ports has, with whether it is the second; or the sentence of a port that failed.
    found: Result<Vec<(Entry, bool)>, String>,
    /// Whether the second port failed, and the first not or in another way.
    pub(super) is_broken: bool,
}

/// Numbers of entries that went and that came.
#[derive(Clone, Copy, Default)]
struct Count {
    went: usize,
    came: usize,
}

impl Count {
    fn shown(self) -> String {
        let part = |sign, number| if number == 0 { String::new() } else { format!("{sign}{number}") };
        let parts = [part('+', self.came), part('−', self.went)];
        parts.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join(" ")
    }
}

impl Compared {
    /// Compares the entries, of which each may be there several times.
    pub(super) fn new(
        repository: &str,
        target: &str,
        before: Result<Vec<Entry>, String>,
        after: Result<Vec<Entry>, String>,
    ) -> Self {
        let is_broken = after.as_ref().is_err_and(|after| before.as_ref().err() != Some(after));
        let found = match (before, after) {
            (Ok(before), Ok(after)) => Ok(different(before, after)),
            (Err(before), Err(after)) if before == after => Err(format!("both builds fail: {after}")),
            (before, after) => {
                let failed =
                    |name: &str, port: Result<Vec<Entry>, String>| Some(format!("{name} fails: {}", port.err()?));
                let failed = [failed("the base build", before), failed("this tree", after)];
                Err(failed.into_iter().flatten().collect::<Vec<_>>().join("; "))
            }
        };
        Self { repository: repository.to_owned(), target: target.to_owned(), found, is_broken }
    }

    /// Whether the builds do the same.
    fn is_same(&self) -> bool {
        self.found.as_ref().is_ok_and(Vec::is_empty)
    }

    /// The result in a few words.
    pub(super) fn in_short(&self) -> String {
        match &self.found {
            Err(why) => why.clone(),
            Ok(found) if found.is_empty() => "the same".to_owned(),
            Ok(found) => {
                let [edits, messages] = [true, false].map(|is_edit| count(found, |one| one.is_edit == is_edit).shown());
                let named =
                    [("edits", edits), ("messages", messages)].into_iter().filter(|(_, count)| !count.is_empty());
                named.map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")
            }
        }
    }
}

fn different(before: Vec<Entry>, after: Vec<Entry>) -> Vec<(Entry, bool)> {
    let mut counts: BTreeMap<Entry, isize> = BTreeMap::new();
    before.into_iter().for_each(|entry| *counts.entry(entry).or_default() -= 1);
    after.into_iter().for_each(|entry| *counts.entry(entry).or_default() += 1);
    let repeated = |(entry, count): (Entry, isize)| vec![(entry, count > 0); count.unsigned_abs()];
    let mut out: Vec<(Entry, bool)> = counts.into_iter().flat_map(repeated).collect();
    // At one place, what went is above what came.
    out.sort_by(|(a, a_came), (b, b_came)| {
        (&a.path, a.line, a_came, a.column).cmp(&(&b.path, b.line, b_came, b.column)).then_with(|| a.cmp(b))
    });
    out
}

fn count(found: &[(Entry, bool)], is_counted: impl Fn(&Entry) -> bool) -> Count {
    let mut count = Count::default();
    for (_, came) in found.iter().filter(|(entry, _)| is_counted(entry)) {
        *if *came { &mut count.came } else { &mut count.went } += 1;
    }
    count
}

/// The table of all that differs, and below it the lines, folded.
pub(super) fn table(compared: &[Compared], skipped: &[String]) -> String {
    let mut out = "## Ports of public repositories\n\n".to_owned();
    let other: Vec<&Compared> = compared.iter().filter(|one| !one.is_same()).collect();
    let _ = write!(out, "Ports compared: {}; different: {}.", compared.len(), other.len());
    if !skipped.is_empty() {
        let _ = write!(out, " Skipped:\n\n{}", skipped.iter().map(|one| format!("- {one}\n")).collect::<String>());
    }
    out.push('\n');
    if other.is_empty() {
        return out;
    }
    out += "\n| repository | target | edits | messages | by section |\n|---|---|---|---|---|\n";
    for Compared { repository, target, found, .. } in &other {
        let found = match found {
            Ok(found) => found,
            Err(why) => {
                let _ = writeln!(out, "| {repository} | {target} | | | {} |", why.replace('|', "\\|"));
                continue;
            }
        };
        let of_kind = |is_edit| count(found, |one| one.is_edit == is_edit).shown();
        let mut sections: Vec<&str> = found.iter().map(|(entry, _)| entry.section.as_str()).collect();
        sections.sort_unstable();
        sections.dedup();
        let of_section = |section: &&str| format!("{section} {}", count(found, |one| one.section == **section).shown());
        let by_section = sections.iter().map(of_section).collect::<Vec<_>>().join(", ");
        let _ = writeln!(out, "| {repository} | {target} | {} | {} | {by_section} |", of_kind(true), of_kind(false));
    }
    let mut rest = MOST_IN_ALL;
    for one in other {
        let Ok(found) = &one.found else { continue };
        let shown = found.len().min(MOST_LINES).min(rest);
        rest -= shown;
        let _ = write!(
            out,
            "\n<details><summary>{}, {}: {}</summary>\n\n````diff\n",
            one.repository,
            one.target,
            one.in_short()
        );
        for (entry, came) in &found[..shown] {
            let Entry { path, line, column, section, text, .. } = entry;
            let sign = if *came { '+' } else { '-' };
            let whole = format!("{path}:{line}:{column} {section} {}", text.replace('\n', " "));
            let cut = whole.char_indices().nth(MOST_CHARACTERS).map_or(whole.len(), |(at, _)| at);
            let _ = writeln!(out, "{sign} {}{}", &whole[..cut], if cut < whole.len() { " …" } else { "" });
        }
        if shown < found.len() {
            let _ = writeln!(out, "  and {} more", found.len() - shown);
        }
        out += "````\n\n</details>\n";
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const ORIGINAL: &str = "import torch\né = net.cuda()\n";

    fn edit(text: &str) -> Value {
        json!({ "recipe": "guide#move", "start": 18, "end": 28, "text": text })
    }

    fn message(line: usize, text: &str) -> Value {
        json!({ "recipe": "engine#left", "line": line, "column": 1, "severity": "warning", "message": text })
    }

    fn report(edits: &[Value], diagnostics: &[Value]) -> Value {
        json!({ "files": [{ "path": "a.py", "edits": edits, "diagnostics": diagnostics }] })
    }

    fn compared(before: &Value, after: &Value) -> Compared {
        let [before, after] = [before, after].map(|report| Ok(entries(report, |_| Some(ORIGINAL.to_owned()))));
        Compared::new("owner/name", "t", before, after)
    }

    /// The row of the table without its first columns, and the listed lines.
    #[track_caller]
    fn check(before: &Value, after: &Value, row: &str, lines: &[&str]) {
        let text = table(&[compared(before, after)], &[]);
        let found = text.lines().find_map(|line| line.strip_prefix("| owner/name | t | "));
        assert_eq!(found.unwrap_or_default(), row, "{text}");
        let listed = text.lines().skip_while(|line| *line != "````diff").skip(1).take_while(|line| *line != "````");
        assert_eq!(listed.collect::<Vec<_>>(), lines, "{text}");
    }

    #[test]
    fn what_is_the_same_has_no_row() {
        let same = report(&[edit("x")], &[message(1, "m")]);
        check(&same, &same, "", &[]);
        assert!(table(&[compared(&same, &same)], &[]).contains("Ports compared: 1; different: 0."));
    }

    #[test]
    fn edits_and_messages_that_come_and_go() {
        check(
            &report(&[edit("net.to(d)")], &[message(2, "a | b")]),
            &report(&[edit("net.to(e)\n")], &[message(2, "a | b"), message(2, "a | b")]),
            "+1 −1 | +1 | engine#left +1, guide#move +1 −1 |",
            &[
                "- a.py:2:5 guide#move \"net.cuda()\" becomes \"net.to(d)\"",
                "+ a.py:2:1 engine#left warning: a | b",
                "+ a.py:2:5 guide#move \"net.cuda()\" becomes \"net.to(e)\\n\"",
            ],
        );
        check(
            &report(&[], &[message(1, "m")]),
            &report(&[], &[]),
            " | −1 | engine#left −1 |",
            &["- a.py:1:1 engine#left warning: m"],
        );
    }

    #[test]
    fn long_lists_and_long_lines_are_cut() {
        let all: Vec<Value> = (1..=MOST_LINES + 5).map(|line| message(line, &"é".repeat(500))).collect();
        let text = table(&[compared(&report(&[], &all), &report(&[], &[]))], &[]);
        assert!(text.contains("\n  and 5 more\n"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() < MOST_CHARACTERS + 10), "{text}");
        let many: Vec<Compared> = (0..100).map(|_| compared(&report(&[], &all), &report(&[], &[]))).collect();
        assert_eq!(table(&many, &[]).lines().filter(|line| line.starts_with("- a.py")).count(), MOST_IN_ALL);
    }

    #[test]
    fn a_port_that_fails_is_named() {
        let failed = |before: Option<&str>, after: Option<&str>| {
            let port = |why: Option<&str>| why.map_or(Ok(Vec::new()), |why| Err(why.to_owned()));
            Compared::new("owner/name", "t", port(before), port(after)).in_short()
        };
        let is_broken = |before, after| Compared::new("owner/name", "t", before, after).is_broken;
        let fails = || Err("exit 101".to_owned());
        assert!(is_broken(Ok(Vec::new()), fails()));
        assert!(!is_broken(fails(), Ok(Vec::new())) && !is_broken(fails(), fails()));
        assert_eq!(failed(None, Some("exit 101")), "this tree fails: exit 101");
        assert_eq!(failed(Some("exit 2"), Some("exit 101")), "the base build fails: exit 2; this tree fails: exit 101");
        assert_eq!(failed(Some("exit 2"), Some("exit 2")), "both builds fail: exit 2");
        let one = Compared::new("owner/name", "t", Ok(Vec::new()), Err("a | b".to_owned()));
        assert!(table(&[one], &[]).contains("| owner/name | t | | | this tree fails: a \\| b |"));
    }

    #[test]
    fn what_is_skipped_is_said() {
        let text = table(&[], &["owner/name: it can't be fetched".to_owned()]);
        assert_eq!(
            text,
            "## Ports of public repositories\n\nPorts compared: 0; different: 0. Skipped:\n\n- owner/name: it can't be fetched\n\n"
        );
    }
}
