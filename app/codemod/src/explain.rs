//! From an error to its section: which sections of the guides answer a log, and what the port did in the user's own lines of
//! a traceback.

mod frames;
mod left_on_host;
mod log;
mod operations;
mod samples;

use crate::api_names::guides_of;
use crate::check::CheckFailure;
use crate::ported::{Ported, Severity, SourceFile};
use crate::recipe::{LESSON, recipe_id};
use guide::{Citation, Guide, Section};
pub use left_on_host::{LeftOnHost, left_on_host};
use log::{Kind, Line};
use python::notebook::CellPlace;
use samples::Pattern;
use serde::{Deserialize, Serialize};

/// The most candidates of an explanation.
const MOST: usize = 3;

/// What the guides say about a log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    /// The sections that answer it, the most likely first; none if the message is not known here.
    pub candidates: Vec<Candidate>,
    /// The lines of the project in the log's tracebacks, the innermost first.
    pub frames: Vec<Frame>,
}

/// A section that answers a line of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// Id of the section: `hpu#model-to-device`.
    pub section: String,
    /// Its heading.
    pub title: String,
    /// Why the error is raised.
    pub cause: String,
    /// What to do.
    pub remedy: String,
    /// The section's source, as plain text.
    pub source: String,
    /// The links in it.
    pub citations: Vec<Citation>,
    /// The target that the section is for; none if it is for all.
    pub target: Option<String>,
    /// The log's line, from 1.
    pub line: usize,
    /// Its text, without colours; from the name of the exception if there is one.
    pub text: String,
    /// The operation that the message names, `aten::fft_fft`, and whether a list of the guides has it.
    pub operation: Option<Operation>,
}

/// An operation that a message names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    /// Its name, `aten::fft_fft`.
    pub name: String,
    /// Its name in the guides' list of operations that the target lacks, `torch.fft.fft`; none if it is in no list.
    pub listed: Option<String>,
}

/// The text that a line of a traceback belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The ported text.
    Ported,
    /// The original.
    Original,
    /// Neither: the file that ran differs from both.
    Neither,
}

/// A line of the project in a traceback.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// Path of the file in the project.
    pub path: String,
    /// Its line in the log, from 1.
    pub line: usize,
    /// The code, without its indentation.
    pub code: String,
    /// Which text it is a line of.
    pub side: Side,
    /// The line of the ported text, from 1.
    pub ported: Option<usize>,
    /// The line of the original, from 1.
    pub original: Option<usize>,
    /// In a notebook, those two as places in cells.
    #[serde(default)]
    pub cells: Option<(CellPlace, CellPlace)>,
    /// The recipes that changed the line, or would have.
    pub recipes: Vec<Changed>,
    /// The port's messages about it.
    pub messages: Vec<Message>,
}

impl Frame {
    /// Where it is in the port and in the original, `line 4` or `cell 2:4`; empty if in neither.
    #[must_use]
    pub fn shown(&self) -> (String, String) {
        let place = |line: Option<usize>, cell: Option<CellPlace>| match (cell, line) {
            (Some(CellPlace { cell, line }), _) => format!("cell {cell}:{line}"),
            (None, line) => line.map(|line| format!("line {line}")).unwrap_or_default(),
        };
        (place(self.ported, self.cells.map(|(ported, _)| ported)), place(self.original, self.cells.map(|(_, own)| own)))
    }
}

/// A recipe that applies to a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changed {
    /// Id of the recipe.
    pub recipe: String,
    /// Its heading.
    pub title: String,
    /// The user rejected the change.
    pub rejected: bool,
}

/// A message of the port about a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Id of the recipe.
    pub recipe: String,
    /// Severity.
    pub severity: Severity,
    /// What is wrong and what to do.
    pub message: String,
}

/// A project and its port, for the lines of a traceback.
#[derive(Clone, Copy, Debug)]
pub struct PortedProject<'a> {
    /// The original files.
    pub files: &'a [SourceFile],
    /// Their port.
    pub ported: &'a Ported,
    /// The port without the user's rejections, if there are any.
    pub unrejected: Option<&'a Ported>,
}

/// Finds the sections of the guides that answer a log: the end of a program's output, or a traceback. With a target, only
/// its own sections and those for all targets. Only the last MiB of the log is read.
#[must_use]
pub fn explain(log: &str, guides: &[Guide], target: Option<&str>, port: Option<PortedProject<'_>>) -> Explanation {
    let lines = log::lines(log);
    let candidates = candidates(&lines, guides, target);
    let frames = port.map(|port| frames::frames(&lines, &port, guides)).unwrap_or_default();
    Explanation { candidates, frames }
}

/// A section's best line of the log.
struct Hit<'g> {
    guide: &'g Guide,
    section: &'g Section,
    line: usize,
    kind: Kind,
    /// Number of characters of the sample that don't vary.
    length: usize,
}

fn candidates(lines: &[Line], guides: &[Guide], target: Option<&str>) -> Vec<Candidate> {
    let answering: Vec<(&Guide, &Section, Vec<Pattern>)> = answering(guides, target).collect();
    let mut hits: Vec<Hit<'_>> = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let text = line.with(lines.get(number + 1));
        let said = answering.iter().filter_map(|(guide, section, patterns)| {
            let found = patterns.iter().filter(|pattern| pattern.is_in(&text));
            Some((*guide, *section, found.max_by_key(|pattern| pattern.length)?))
        });
        let said: Vec<(&Guide, &Section, &Pattern)> = said.collect();
        for (guide, section, pattern) in &said {
            // A sample that is part of another one is for the messages that no section knows better.
            if said.iter().any(|(_, other, more)| !std::ptr::eq(*other, *section) && more.says_more_than(pattern)) {
                continue;
            }
            let hit = Hit { guide, section, line: number, kind: line.kind, length: pattern.length };
            // Of one section's lines, the first of the most serious kind counts.
            match hits.iter_mut().find(|other| std::ptr::eq(other.section, *section)) {
                Some(other) if other.kind <= hit.kind => {}
                Some(other) => *other = hit,
                None => hits.push(hit),
            }
        }
    }
    // Exceptions come before other lines, and warnings after them; the first of several processes' and of a chain is most
    // likely the cause of the others; of two samples in one line, the one that says more.
    sorting::by_key(&mut hits, |hit| (hit.kind, hit.line, usize::MAX - hit.length));
    let mut found: Vec<Candidate> = Vec::new();
    for hit in &hits {
        for candidate in operations::looked_up(hit, &lines[hit.line], guides, target) {
            if !found.iter().any(|other| other.section == candidate.section) {
                found.push(candidate);
            }
        }
    }
    found.truncate(MOST);
    found
}

/// The sections that answer messages.
fn answering<'g>(
    guides: &'g [Guide],
    target: Option<&str>,
) -> impl Iterator<Item = (&'g Guide, &'g Section, Vec<Pattern>)> {
    let of_target = target.map(|target| guides_of(guides, target));
    let applies = move |guide: &&Guide| match (&of_target, &guide.front.target) {
        (_, None) => true,
        (Some(own), Some(_)) => own.iter().any(|own| own.name == guide.name),
        (None, Some(target)) => target != LESSON,
    };
    let sections = guides.iter().filter(applies).flat_map(|guide| guide.sections.iter().map(move |own| (guide, own)));
    sections.filter(|(_, section)| !section.says.is_empty()).map(|(guide, section)| {
        let patterns = section.says.iter().map(|sample| Pattern::new(&sample.text)).collect();
        (guide, section, patterns)
    })
}

impl Candidate {
    fn new(guide: &Guide, section: &Section, line: &Line) -> Candidate {
        Candidate {
            section: recipe_id(guide, section),
            title: section.title.clone(),
            cause: section.reason.clone(),
            remedy: section.remedy.clone(),
            source: section.source.clone(),
            citations: section.citations.clone(),
            target: guide.front.target.clone(),
            line: line.number,
            text: line.message().to_owned(),
            operation: None,
        }
    }
}

/// Checks the samples of all guides: each leads to its own section and to no other, and those of `says nothing` lead to none.
#[must_use]
pub fn check_samples(guides: &[Guide]) -> Vec<CheckFailure> {
    let mut failures = Vec::new();
    for guide in guides {
        let target = guide.front.target.as_deref().filter(|target| *target == LESSON);
        for section in &guide.sections {
            let own = recipe_id(guide, section);
            let answered = section.says.iter().map(|sample| (sample, Some(&own)));
            for (sample, expected) in answered.chain(section.says_nothing.iter().map(|sample| (sample, None))) {
                let log = sample.text.replace(guide::Sample::VARIES, "x");
                let found = explain(&log, guides, target, None).candidates;
                let others = found.iter().map(|candidate| &candidate.section).filter(|id| Some(*id) != expected);
                let others: Vec<&str> = others.map(String::as_str).collect();
                let message = match expected {
                    _ if !others.is_empty() => format!("this line leads to {}", others.join(", ")),
                    Some(_) if found.is_empty() => "this sample does not lead to its section".to_owned(),
                    _ => continue,
                };
                failures.push(CheckFailure { path: guide.path.clone(), line: sample.line, message, fill: None });
            }
        }
    }
    failures
}

#[cfg(test)]
mod tests;
