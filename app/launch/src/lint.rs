//! Reads a script that somebody else wrote for faults that published scripts are known to have, and for what the target's
//! vendor says otherwise.

mod gaudi;
mod graphcore;
mod processes;
mod sambanova;
mod shell;
mod wall_time;
mod words;

use crate::request::Target;
use shell::{Command, Token, commands};
use std::fmt::Write;
use std::ops::Range;

/// A fault in a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its line, from 1.
    pub line: usize,
    /// A name for this kind of fault.
    pub rule: &'static str,
    /// What is wrong, and what to do.
    pub message: String,
}

/// What a look at a script found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linted {
    /// The faults, by line.
    pub findings: Vec<Finding>,
    /// The script with those faults mended that have one right answer.
    pub fixed: String,
}

/// Checks a script for a target.
pub fn lint(script: &str, target: Target) -> Linted {
    let mut look = Look { script, target, commands: commands(script), findings: Vec::new(), edits: Vec::new() };
    words::check(&mut look);
    wall_time::check(&mut look);
    processes::check(&mut look);
    match target {
        Target::Hpu => gaudi::check(&mut look),
        Target::Rdu => sambanova::check(&mut look),
        Target::Ipu | Target::Popdist => graphcore::check(&mut look),
    }
    look.findings.sort_by_key(|finding| finding.line);
    Linted { fixed: look.fixed(), findings: look.findings }
}

impl Linted {
    /// The mended lines as a patch without context; empty when nothing was mended.
    pub fn diff(&self, script: &str, name: &str) -> String {
        let mut out = String::new();
        let pairs = script.split_inclusive('\n').zip(self.fixed.split_inclusive('\n'));
        for (at, (old, new)) in pairs.enumerate().filter(|(_, (old, new))| old != new) {
            if out.is_empty() {
                let _ = write!(out, "--- a/{name}\n+++ b/{name}\n");
            }
            let _ = writeln!(out, "@@ -{0} +{0} @@", at + 1);
            for (sign, line) in [('-', old), ('+', new)] {
                let _ = write!(out, "{sign}{line}");
                if !line.ends_with('\n') {
                    out.push_str("\n\\ No newline at end of file\n");
                }
            }
        }
        out
    }
}

/// A script that is looked at, and what was found so far.
struct Look<'s> {
    script: &'s str,
    target: Target,
    commands: Vec<Command>,
    findings: Vec<Finding>,
    /// What is put in a place's stead. A line break is never put in or taken out, so lines keep their numbers.
    edits: Vec<(Range<usize>, String)>,
}

impl Look<'_> {
    /// A fault at a place of the script; the same fault is said once a line.
    fn found(&mut self, at: usize, rule: &'static str, message: impl Into<String>) {
        let line = 1 + self.script[..at].matches('\n').count();
        let finding = Finding { line, rule, message: message.into() };
        if !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }

    fn mend(&mut self, range: Range<usize>, new: impl Into<String>) {
        let new = new.into();
        let overlaps = self.edits.iter().any(|(other, _)| other.start < range.end && range.start < other.end);
        if !overlaps && !self.script[range.clone()].contains('\n') && !new.contains('\n') {
            self.edits.push((range, new));
        }
    }

    fn fixed(&mut self) -> String {
        self.edits.sort_by_key(|(range, _)| range.start);
        let mut fixed = String::new();
        let mut from = 0;
        for (range, new) in &self.edits {
            fixed += &self.script[from..range.start];
            fixed += new;
            from = range.end;
        }
        fixed + &self.script[from..]
    }

    /// Calls `act` with each command; the commands themselves stay as they are.
    fn each(&mut self, mut act: impl FnMut(&mut Self, &Command)) {
        let commands = std::mem::take(&mut self.commands);
        for command in &commands {
            act(self, command);
        }
        self.commands = commands;
    }

    /// Calls `act` with each word.
    fn each_word(&mut self, mut act: impl FnMut(&mut Self, &Token)) {
        self.each(|look, command| command.words.iter().for_each(|word| act(look, word)));
    }

    /// Whether some command gives the variable a value.
    fn assigns(&self, name: &str) -> bool {
        let mut words = self.commands.iter().flat_map(|command| &command.words);
        words.any(|word| word.assigned().is_some_and(|(known, _)| known == name))
    }
}

/// Where `name` stands in a text as a whole word of letters, digits and `_`.
fn whole<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = usize> + 't {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(name)
        .map(|(at, _)| at)
        .filter(move |at| !text[..*at].ends_with(is_letter) && !text[at + name.len()..].starts_with(is_letter))
}

#[cfg(test)]
mod tests;
