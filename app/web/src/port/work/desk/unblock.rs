//! What would let a training step be ported: another choice of the user's, or code without what prevents it.

use super::{Desk, Port, options_for};
use crate::port::protocol::{Answer, Unblocked, Unblocking};
use codemod::{OptionKind, Options, Ported, PortedFile, Severity, Style, TargetInfo, git_patch_of, overview};
use python::SourceFile;
use sorting::SortedSet;

impl Desk {
    /// Makes one attempt to port more than the last port did.
    pub(super) fn unblock(&mut self, options: &Options, attempt: usize) -> Answer {
        let Some(port) = &self.port else { return Answer::Unblocked(None, 0) };
        let set = self.recipes.set();
        let recipes = &*set;
        let targets = recipes.targets();
        let Some(target) = targets.iter().find(|target| target.id == port.result.target) else {
            return Answer::Unblocked(None, 0);
        };
        let wider = targets.iter().filter(|other| recipes.extends(&other.id) == Some(&target.id));
        let wider: Vec<&TargetInfo> = wider.collect();
        let attempts = attempts(target, &wider, options, &port.result);
        let Some(by) = attempts.get(attempt) else { return Answer::Unblocked(None, attempts.len()) };
        let (files, mut options) = under(by, port, options);
        if let Some(other) = wider.iter().find(|other| other.id == options.target) {
            options = options_for(other, &options);
        }
        let result = codemod::port(&files, recipes, &options);
        let stops = overview(&result, recipes).map_or(0, |outline| outline.stops.len());
        let stopped: SortedSet<usize> = stops_of(&port.result).map(|(file, ..)| file).collect();
        let only_reports: SortedSet<String> =
            recipes.recipes().into_iter().filter(|recipe| recipe.stops_step).map(|recipe| recipe.id).collect();
        // If no step is read that could be stopped, none is ported either: the recipe that was stopped must make edits.
        let is_ported = |file: &usize| {
            let (before, after) = (&port.result.files[*file], &result.files[*file]);
            after.diagnostics.iter().all(|found| found.severity != Severity::Error)
                && writes_more(before, after, &only_reports)
        };
        if stops >= stops_of(&port.result).count() || !stopped.iter().all(is_ported) {
            return Answer::Unblocked(None, attempts.len());
        }
        let patch = stopped.iter().map(|file| {
            let SourceFile { path, text } = &files[*file];
            git_patch_of(path, &self.content(path, text), &self.content(path, &result.files[*file].text))
        });
        let found = Unblocked { by: by.clone(), stops, patch: patch.collect() };
        Answer::Unblocked(Some(Box::new(found)), attempts.len())
    }
}

/// Whether a recipe that was stopped in a file makes more edits there. A recipe that only stops steps makes no edits
/// itself; if all are of this kind, any recipe counts.
fn writes_more(before: &PortedFile, after: &PortedFile, only_reports: &SortedSet<String>) -> bool {
    let stops = before.diagnostics.iter().filter(|found| found.stops_step).map(|found| &found.recipe);
    let stopped: SortedSet<&String> = stops.filter(|recipe| !only_reports.contains(*recipe)).collect();
    let count = |file: &PortedFile| {
        let counted = file.edits.iter().filter(|edit| stopped.is_empty() || stopped.contains(&edit.recipe));
        counted.count()
    };
    count(after) > count(before)
}

/// What stops a step: number of the file, and line and column of the original, counted from 1.
fn stops_of(ported: &Ported) -> impl Iterator<Item = (usize, usize, usize)> {
    let files = ported.files.iter().enumerate();
    files.flat_map(|(number, file)| {
        let stops = file.diagnostics.iter().filter(|found| found.stops_step);
        stops.map(move |found| (number, found.original.line, found.original.column))
    })
}

/// The possible attempts, starting with the smallest change.
fn attempts(target: &TargetInfo, wider: &[&TargetInfo], options: &Options, ported: &Ported) -> Vec<Unblocking> {
    let other = if ported.style == Style::Branch { Style::InPlace } else { Style::Branch };
    let mut attempts = vec![Unblocking::Style(other)];
    if !options.allow_unsafe {
        attempts.push(Unblocking::Unsafe);
    }
    for option in &target.options {
        let OptionKind::OneOf(values) = &option.kind else { continue };
        let now = ported.options.get(&option.name);
        attempts.extend(values.iter().filter(|value| Some(*value) != now).map(|value| Unblocking::Option {
            name: option.name.clone(),
            label: option.label.clone(),
            value: value.clone(),
        }));
    }
    attempts.extend(target.sdks.iter().rev().filter(|sdk| **sdk != ported.sdk).cloned().map(Unblocking::Sdk));
    attempts.extend(wider.iter().map(|other| Unblocking::Target { id: other.id.clone(), name: other.name.clone() }));
    let places = stops_of(ported).map(|(file, line, _)| (ported.files[file].path.clone(), line));
    attempts.push(Unblocking::Without(places.collect()));
    attempts
}

/// The files and options for an attempt.
fn under(by: &Unblocking, port: &Port, options: &Options) -> (Vec<SourceFile>, Options) {
    let (mut files, mut options) = (port.sources.clone(), options.clone());
    match by {
        Unblocking::Style(style) => options.style = *style,
        Unblocking::Unsafe => options.allow_unsafe = true,
        Unblocking::Option { name, value, .. } => drop(options.options.insert(name.clone(), value.clone())),
        Unblocking::Sdk(sdk) => options.sdk = Some(sdk.clone()),
        Unblocking::Target { id, .. } => options.target.clone_from(id),
        Unblocking::Without(_) => {
            let stops: SortedSet<_> = stops_of(&port.result).collect();
            let mut last = None;
            // From the end, so that earlier positions stay valid.
            for (file, line, column) in stops.into_iter().rev() {
                let text = &mut files[file].text;
                match without_argument(text, line - 1, column - 1) {
                    Some(shorter) => *text = shorter,
                    None if last == Some((file, line)) => {}
                    None => *text = without(text, line - 1),
                }
                last = Some((file, line));
            }
        }
    }
    (files, options)
}

/// A text without the keyword argument that starts at a line and column, both counted from 0; `None` if there is none.
fn without_argument(text: &str, line: usize, column: usize) -> Option<String> {
    let start = text.split_inclusive('\n').take(line).map(str::len).sum::<usize>();
    let at = start + text.get(start..)?.char_indices().nth(column)?.0;
    let (before, rest) = text.split_at(at);
    let (name, value) = rest.split_once('=')?;
    let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    if !is_name || value.starts_with('=') || !before.trim_end().ends_with([',', '(']) {
        return None;
    }
    let mut depth = 0;
    let end = value.find(|c| {
        depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
        depth < 0 || depth == 0 && c == ','
    })?;
    match value[end..].strip_prefix(',') {
        Some(after) => Some(format!("{before}{}", after.trim_start())),
        None => Some(format!("{}{}", before.trim_end().trim_end_matches(','), &value[end..])),
    }
}

/// A text without the statement that starts in a line, counted from 0; the body of an `if`, a loop or the like is kept.
/// Statements that span several lines are not handled: the result is invalid Python then, and is not shown.
fn without(text: &str, line: usize) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let Some(first) = lines.get(line) else { return text.to_owned() };
    let depth = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let is_inside = |line: &&&str| line.trim().is_empty() || depth(line) > depth(first);
    let mut out: Vec<String> = lines[..line].iter().map(|line| (*line).to_owned()).collect();
    let mut rest = &lines[line + 1..];
    if !is_compound(first) {
        out.push(format!("{}pass\n", &first[..depth(first)]));
        out.extend(rest.iter().map(|line| (*line).to_owned()));
        return out.concat();
    }
    let body = rest.iter().take_while(is_inside).count();
    let shift = rest[..body].iter().find(|line| !line.trim().is_empty()).map_or(0, |line| depth(line) - depth(first));
    out.extend(rest[..body].iter().map(|line| line.get(shift.min(depth(line))..).unwrap_or_default().to_owned()));
    rest = &rest[body..];
    // The branches for when the condition is false.
    while let Some(clause) = rest.first().filter(|line| depth(line) == depth(first) && is_clause(line)) {
        let _: &&str = clause;
        let length = 1 + rest[1..].iter().take_while(is_inside).count();
        rest = &rest[length..];
    }
    out.extend(rest.iter().map(|line| (*line).to_owned()));
    out.concat()
}

fn is_compound(line: &str) -> bool {
    let head = line.trim();
    ["if ", "for ", "while ", "with ", "try:"].iter().any(|word| head.starts_with(word)) && head.ends_with(':')
}

fn is_clause(line: &str) -> bool {
    ["elif ", "else:", "except", "finally:"].iter().any(|word| line.trim().starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::{without, without_argument};

    #[test]
    fn an_argument_is_left_out() {
        let check = |text: &str, column: usize, expected: Option<&str>| {
            assert_eq!(without_argument(text, 1, column).as_deref(), expected, "{text}");
        };
        check("x\nf(a, b=g(1, 2), c=3)\n", 5, Some("x\nf(a, c=3)\n"));
        check("x\nf(a, b=1)\ny\n", 5, Some("x\nf(a)\ny\n"));
        check("x(\n  b=1,\n  c=2)\n", 2, Some("x(\n  c=2)\n"));
        check("f(b=1)\nb=1\n", 0, None);
        check("x\nf(a, b == 1)\n", 5, None);
    }

    #[test]
    fn a_statement_is_left_out_and_a_body_stays() {
        let check = |text: &str, line: usize, expected: &str| assert_eq!(without(text, line), expected, "{text}");
        check("def f():\n    a()\n    b()\n", 1, "def f():\n    pass\n    b()\n");
        let tested = "for x in y:\n    if x:\n        a()\n\n        b()\n    else:\n        c()\n    d()\n";
        check(tested, 1, "for x in y:\n    a()\n\n    b()\n    d()\n");
        check("while x:\n\ta()\nb()\n", 0, "a()\nb()\n");
        check("a()\n", 7, "a()\n");
    }
}
