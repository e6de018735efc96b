//! Logs of failed runs, each with the section that answers it: `tests/fixtures/errors/`.

use codemod::{embedded_guides, explain};
use serde::Deserialize;
use std::fmt::Write;

#[derive(Deserialize)]
struct Logs {
    log: Vec<Log>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Log {
    /// The report, or the vendor's source, that it was reworded from.
    #[serde(default)]
    from: String,
    /// The sections that answer it; none if no section ought to.
    #[serde(default)]
    section: Vec<String>,
    text: String,
}

/// How many logs lead first to a section that answers them, or to none if none ought to, how many there are, and the others.
fn measured(logs: &str) -> (usize, usize, String) {
    let logs: Logs = toml::from_str(logs).expect("logs");
    let mut missed = String::new();
    let mut right = 0;
    for Log { from, section, text } in &logs.log {
        let found = explain(text, embedded_guides(), None, None).candidates;
        let first = found.first().map(|candidate| &candidate.section);
        if first.map_or(section.is_empty(), |first| section.contains(first)) {
            right += 1;
        } else {
            let _ = writeln!(missed, "{from}: {first:?} instead of {section:?}\n{text}");
        }
    }
    (right, logs.log.len(), missed)
}

#[test]
fn four_of_five_known_logs_lead_to_their_section() {
    for logs in [include_str!("../fixtures/errors/known.toml"), include_str!("../fixtures/errors/kept-back.toml")] {
        let (right, all, missed) = measured(logs);
        println!("{right} of {all}\n{missed}");
        assert!(right * 5 >= all * 4, "{right} of {all} lead to their section\n{missed}");
    }
}

#[test]
fn unrelated_logs_lead_to_no_section() {
    let (right, all, missed) = measured(include_str!("../fixtures/errors/unrelated.toml"));
    assert_eq!(right, all, "{missed}");
}
