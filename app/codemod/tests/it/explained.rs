//! Logs and the sections that answer them.

use codemod::{embedded_guides, explain};
use guide::Guide;
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/errors")
}

/// Messages that do not lead to their section first: that, what they lead to, and the message.
const KNOWN_WRONG: [&str; 0] = [];

/// The sections that answer a log.
fn sections(log: &str) -> Vec<String> {
    explain(log, embedded_guides(), None, None).candidates.into_iter().map(|candidate| candidate.section).collect()
}

/// Messages of public bug reports, each with its section. They are from other reports than the samples in the guides, so
/// they show how well samples carry over. Those that are known to lead elsewhere are listed.
#[test]
fn messages_lead_to_their_section_first() {
    let text = fs::read_to_string(folder().join("messages.txt")).unwrap();
    let messages: Vec<(&str, &str)> = text.lines().filter_map(|line| line.split_once(" | ")).collect();
    assert!(messages.len() >= 40, "{} messages", messages.len());
    let wrong = messages.iter().filter_map(|(section, message)| {
        let first = sections(message).into_iter().next().unwrap_or_else(|| "nothing".to_owned());
        (first != *section).then(|| format!("{section} | {first} | {message}"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert_eq!(wrong, KNOWN_WRONG);
}

#[test]
fn unrelated_logs_are_not_known() {
    let logs: Vec<PathBuf> =
        fs::read_dir(folder().join("unrelated")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(logs.len() >= 20, "{} logs", logs.len());
    let known = logs.iter().filter_map(|log| {
        let found = sections(&fs::read_to_string(log).unwrap());
        (!found.is_empty()).then(|| format!("{}: {found:?}", log.display()))
    });
    let known: Vec<String> = known.collect();
    assert!(known.is_empty(), "{}", known.join("\n"));
}

/// A page's engine has the guides without what only readers and tests need.
#[test]
fn what_a_page_downloads_is_enough_to_explain() {
    let downloaded = guide::for_download(embedded_guides().to_vec());
    let text = fs::read_to_string(folder().join("messages.txt")).unwrap();
    for (_, message) in text.lines().filter_map(|line| line.split_once(" | ")) {
        let answers = |guides: &[Guide]| {
            let found = explain(message, guides, None, None).candidates.into_iter();
            found.map(|one| (one.section, one.title, one.cause, one.remedy, one.line, one.text)).collect::<Vec<_>>()
        };
        assert_eq!(answers(&downloaded), answers(embedded_guides()), "{message}");
    }
}
