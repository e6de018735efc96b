//! Checks a script that somebody else wrote for known mistakes of published scripts, and for violations of the vendor's
//! documentation.

mod arrays;
mod compiled;
mod cores;
mod directives;
mod exported;
mod foreign;
mod job;
mod late;
mod model;
mod names;
mod processes;
mod program;
mod quoted;
mod ranks;
mod redirected;
mod shares;
mod shell;
mod spelling;
mod start_folder;
mod submitted;
mod tasks;
mod unset;
mod values;
mod vendor;
mod wall_time;
mod words;

pub use program::{Started, nearest, refused, started_programs};

use crate::target::Target;
use directives::Directive;
use model::Model;
use serde::{Deserialize, Serialize};
use shell::{Command, Quote, Token, commands};
use sorting::SortedSet;
use std::ops::Range;
use tables::LaunchTable;

/// A mistake in a script.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Its line, from 1.
    pub line: usize,
    /// A name for this kind of fault.
    pub rule: String,
    /// What is wrong, and what to do.
    pub message: String,
}

/// The result of checking a script.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Linted {
    /// The mistakes, by line.
    pub findings: Vec<Finding>,
    /// The script with those mistakes fixed that have a unique fix.
    pub fixed: String,
    /// The fixed lines, by line.
    pub hunks: Vec<Hunk>,
    /// The message for a script without findings: what was checked.
    pub checked: String,
}

/// Checks a script for a target.
pub fn lint(script: &str, target: Target) -> Linted {
    let (own, within) = submitted::read(script);
    let mut look = Look::new(&own, target, Vec::new(), Model::default());
    look.check();
    let mut unseen: Vec<usize> = look.model.unseen().collect();
    for inner in within {
        // Those that it submits itself are not read.
        let (text, _) = submitted::read(&inner.text);
        let mut within = Look::new(&text, target, inner.given.clone(), look.model.clone());
        within.check();
        unseen.extend(within.model.unseen().map(|at| inner.place(at)));
        for finding in within.findings {
            look.add(Finding { line: inner.line(script, finding.line), ..finding });
        }
        look.edits.extend(within.edits.into_iter().filter_map(|edit| inner.edit(edit)));
    }
    look.script = script;
    sorting::by_key(&mut look.edits, |(range, _)| (range.start, range.end));
    let (hunks, checked) = (look.hunks(), look.checked(&unseen));
    Linted { fixed: look.fixed(), findings: look.findings, hunks, checked }
}

/// Lines of a script, and their replacement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// The first of the old lines, from 1; if lines are only inserted, the line before them, 0 at the start.
    pub line: usize,
    /// The old lines, with their line breaks.
    pub old: Vec<String>,
    /// The new ones.
    pub new: Vec<String>,
}

/// A range of the script, and its replacement.
type Edit = (Range<usize>, String);

/// A script that is being checked, with the findings so far.
struct Look<'s> {
    script: &'s str,
    target: Target,
    table: &'static LaunchTable,
    /// Its own commands.
    commands: Vec<Command>,
    /// The same as a shell runs them.
    model: Model,
    directives: Vec<Directive>,
    /// How many of them are not its own lines.
    given: usize,
    /// The script that submits it.
    outer: Model,
    findings: Vec<Finding>,
    /// Replaces a range.
    edits: Vec<Edit>,
}

impl<'s> Look<'s> {
    fn new(script: &'s str, target: Target, given: Vec<Directive>, outer: Model) -> Look<'s> {
        let commands = commands(script);
        let first =
            commands.first().and_then(|command| command.words.first()).map_or(script.len(), |word| word.range.start);
        let (count, mut directives) = (given.len(), given);
        directives.extend(directives::read(script, first));
        Look {
            script,
            target,
            table: target.table(),
            commands,
            model: Model::read(script),
            directives,
            given: count,
            outer,
            findings: Vec::new(),
            edits: Vec::new(),
        }
    }

    fn check(&mut self) {
        words::check(self);
        job::check(self);
        directives::check(self);
        start_folder::check(self);
        redirected::check(self);
        quoted::check(self);
        late::check(self);
        ranks::check(self);
        wall_time::check(self);
        processes::check(self);
        cores::check(self);
        tasks::check(self);
        arrays::check(self);
        values::check(self);
        unset::check(self);
        exported::check(self);
        vendor::check(self);
        foreign::check(self);
        if let Some(shares) = &self.table.lint.shares {
            shares::check(self, shares);
        }
        if let Some(words) = &self.table.lint.compiled {
            compiled::check(self, words);
        }
    }

    /// A mistake at a place of the script; the same one is reported once per line.
    fn found(&mut self, at: usize, rule: &'static str, message: impl Into<String>) {
        self.add(Finding { line: self.line(at), rule: rule.to_owned(), message: message.into() });
    }

    fn add(&mut self, finding: Finding) {
        if !self.findings.contains(&finding) {
            let at = self.findings.partition_point(|other| other.line <= finding.line);
            self.findings.insert(at, finding);
        }
    }

    /// The line of a place, from 1.
    fn line(&self, at: usize) -> usize {
        1 + self.script[..at].matches('\n').count()
    }

    /// What was checked, and which lines run commands that the script does not show.
    fn checked(&self, unseen: &[usize]) -> String {
        let foreign = &self.table.lint.foreign;
        let lines: SortedSet<usize> = unseen.iter().map(|at| self.line(*at)).collect();
        if lines.is_empty() {
            return foreign.checked.clone();
        }
        let list: Vec<String> = lines.iter().map(ToString::to_string).collect();
        let lines = format!("line{} {}", if list.len() == 1 { "" } else { "s" }, list.join(", "));
        format!("{} {}", foreign.checked, foreign.unseen.replace("{lines}", &lines))
    }

    fn mend(&mut self, range: Range<usize>, new: impl Into<String>) {
        let new = new.into();
        // Quotes in a text that is itself in quotes would end it.
        let in_quotes = || {
            let mut pieces = self.commands.iter().flat_map(|command| &command.words).flat_map(|word| &word.pieces);
            pieces.any(|piece| {
                piece.quote != Quote::Bare && piece.range.start < range.start && range.end < piece.range.end
            })
        };
        if new.contains(['"', '\'']) && in_quotes() {
            return;
        }
        let overlaps = self.edits.iter().any(|(other, _)| other.start < range.end && range.start < other.end);
        if !overlaps {
            // They are kept in the order of the script; what is inserted comes before what is replaced there.
            let at = self.edits.partition_point(|(other, _)| (other.start, other.end) <= (range.start, range.end));
            self.edits.insert(at, (range, new));
        }
    }

    fn fixed(&self) -> String {
        let mut fixed = String::new();
        let mut from = 0;
        for (range, new) in &self.edits {
            fixed += &self.script[from..range.start];
            fixed += new;
            from = range.end;
        }
        fixed + &self.script[from..]
    }

    /// The fixes by line: those that share a line are one hunk.
    fn hunks(&self) -> Vec<Hunk> {
        let script = self.script;
        let starts: Vec<usize> = std::iter::once(0).chain(script.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let line_of = |at: usize| starts.partition_point(|start| *start <= at) - 1;
        let end_of = |line: usize| starts.get(line + 1).copied().unwrap_or(script.len());
        // Changed lines, from the first to after the last; and the edits in them.
        let mut touched: Vec<(Range<usize>, Vec<&Edit>)> = Vec::new();
        for edit in &self.edits {
            let (range, new) = edit;
            let first = line_of(range.start);
            let whole = range.start == starts[first];
            let last = match range.is_empty() {
                // Lines inserted between two others change neither.
                true if whole && new.ends_with('\n') => first,
                true => first + 1,
                false => line_of(range.end - 1) + 1,
            };
            match touched.last_mut() {
                Some((lines, edits)) if first < lines.end => {
                    lines.end = lines.end.max(last);
                    edits.push(edit);
                }
                _ => touched.push((first..last, vec![edit])),
            }
        }
        let lines = |text: &str| text.split_inclusive('\n').map(str::to_string).collect::<Vec<_>>();
        let hunk = |(own, edits): (Range<usize>, Vec<&(Range<usize>, String)>)| {
            let from = starts[own.start];
            let to = if own.is_empty() { from } else { end_of(own.end - 1) };
            let (mut new, mut at) = (String::new(), from);
            for (range, text) in edits {
                new += &script[at..range.start];
                new += text;
                at = range.end;
            }
            new += &script[at..to];
            let line = if own.is_empty() { own.start } else { own.start + 1 };
            Hunk { line, old: lines(&script[from..to]), new: lines(&new) }
        };
        touched.into_iter().map(hunk).filter(|hunk| hunk.old != hunk.new).collect()
    }

    /// Calls `act` with each command as it runs, with values in place of variables.
    fn each(&mut self, mut act: impl FnMut(&mut Self, &Command)) {
        let runs = std::mem::take(&mut self.model.runs);
        for run in &runs {
            act(self, &run.command);
        }
        self.model.runs = runs;
    }

    /// Calls `act` with each of the script's own commands; the commands themselves stay as they are.
    fn each_own(&mut self, mut act: impl FnMut(&mut Self, &Command)) {
        let commands = std::mem::take(&mut self.commands);
        for command in &commands {
            act(self, command);
        }
        self.commands = commands;
    }

    /// Calls `act` with each word.
    fn each_word(&mut self, mut act: impl FnMut(&mut Self, &Token)) {
        self.each_own(|look, command| command.words.iter().for_each(|word| act(look, word)));
    }

    /// Whether some command assigns the variable.
    fn assigns(&self, name: &str) -> bool {
        let mut words = self.commands.iter().flat_map(|command| &command.words);
        words.any(|word| word.assigned().is_some_and(|(known, _)| known == name))
    }
}

/// Where `name` occurs in a text as a whole word of letters, digits and `_`.
fn whole<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = usize> + 't {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(name)
        .map(|(at, _)| at)
        .filter(move |at| !text[..*at].ends_with(is_letter) && !text[at + name.len()..].starts_with(is_letter))
}

#[cfg(test)]
mod tests;
