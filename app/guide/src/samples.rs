//! Lines of `says` fences.

use crate::error::Faults;
use crate::model::Sample;

/// The samples in the body of a fence whose first line is `first`.
pub(crate) fn read(body: &str, first: usize, faults: &mut Faults) -> Vec<Sample> {
    let lines = body.lines().enumerate().map(|(at, text)| Sample { line: first + at, text: text.trim().to_string() });
    let samples: Vec<Sample> = lines.filter(|sample| !sample.text.is_empty()).collect();
    if samples.is_empty() {
        faults.add(first - 1, "this fence is empty: add a line of an error message, or remove it");
    }
    for (at, Sample { line, text }) in samples.iter().enumerate() {
        if text.starts_with(Sample::VARIES) || text.ends_with(Sample::VARIES) {
            faults.add(*line, "remove the `…` at the end: a sample is found anywhere in a line");
        } else if text.chars().filter(|c| *c != Sample::VARIES).count() < Sample::SHORTEST {
            let fewest = Sample::SHORTEST;
            faults.add(
                *line,
                format!("this sample is too short and would match unrelated logs: use {fewest} characters or more"),
            );
        } else if samples[..at].iter().any(|other| other.text == *text) {
            faults.add(*line, "this sample is already in this fence");
        }
    }
    samples
}
