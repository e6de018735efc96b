//! A program with the line breaks of Windows is ported like the same program with those of Unix.

use codemod::port;
use python::SourceFile;
use tests::sound::{RECIPES, here, read_tree, to};

/// Statements that end in a comment, above places where code is inserted: a seed of the fuzzer, with the line breaks of Windows.
const COMMENTS: &str = include_str!("../fuzz/seeds/port_program/crlf_after_a_comment.py");

fn check(path: &str, text: &str, target: &str) {
    let ported = |text: String| {
        let ported = port(&[SourceFile { path: path.to_owned(), text }], &RECIPES, &to(target));
        ported.files.into_iter().next().unwrap().text
    };
    let windows = ported(text.replace('\n', "\r\n"));
    assert_same(&ported(text.to_owned()).replace('\n', "\r\n"), &windows, &format!("{path} on {target}"));
}

fn assert_same(expected: &str, found: &str, place: &str) {
    let differs = expected.split_inclusive('\n').zip(found.split_inclusive('\n')).find(|(a, b)| a != b);
    assert!(expected == found, "{place}: {differs:?}");
}

#[test]
fn the_last_byte_of_a_comment() {
    assert!(COMMENTS.contains("ignore\r\n"));
    let text = COMMENTS.replace("\r\n", "\n");
    ["hpu", "xpu", "ipu", "popdist", "rdu"].iter().for_each(|target| check("train.py", &text, target));
}

#[test]
fn every_program_that_is_run_twice() {
    for file in read_tree(&here().join("fixtures/twins/programs")) {
        if file.path.ends_with(".py") && !file.text.contains('\r') {
            ["hpu", "ipu", "popdist", "rdu"].iter().for_each(|target| check(&file.path, &file.text, target));
        }
    }
}
