//! Errors in files and in arguments: one clear message each, and the correct exit status.

use crate::{TRAINER, folder, portolan, portolan_with, read};
use std::fs;

/// Ports one file with these bytes; expects exit status 1 and one message with this location and text.
#[track_caller]
fn check(bytes: &[u8], place: &str, words: &str) {
    let home = folder(&[("good.py", TRAINER)]);
    fs::write(home.path().join("bad.py"), bytes).unwrap();
    let ran = portolan(home.path(), &["port", "--target", "hpu", "bad.py", "good.py"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let about: Vec<&str> = ran.err.lines().filter(|line| line.starts_with("bad.py:")).collect();
    assert_eq!(about.len(), 1, "{ran:?}");
    assert!(about[0].starts_with(&format!("bad.py:{place}: error[engine#")), "{ran:?}");
    assert!(about[0].contains(words), "{ran:?}");
    assert!(ran.out.contains("+++ b/good.py\n"), "the other file is ported all the same: {ran:?}");
    assert!(!ran.out.contains("bad.py"), "{ran:?}");
    // The same file alone, from stdin, and with --write: never changed.
    let ran = portolan(home.path(), &["port", "--target", "hpu", "--write", "bad.py"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert_eq!(fs::read(home.path().join("bad.py")).unwrap(), bytes);
    let ran = portolan_with(home.path(), &["port", "--target", "hpu", "-"], bytes, &[]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
}

#[test]
fn bytes_that_are_no_text() {
    check(b"import torch\nx = '\xe9'\n", "2:6", "not UTF-8");
    check(b"# coding: latin-1\n# caf\xe9\n", "2:6", "latin-1");
    check(b"\xff\xfei\0m\0", "1:1", "UTF-16");
    check(b"import torch\nx = '\0'\n", "2:6", "NUL");
    check(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "3:1", "binary");
    check(&b"x = 1\n".repeat(2 << 20), "1:1", "the file has 12.0 MiB");
}

#[test]
fn texts_that_are_no_python() {
    check(b"", "1:1", "empty");
    check("\u{feff}\n \n".as_bytes(), "1:1", "empty");
    check(b"import torch\nprint 'loss', 1\n", "2:1", "Python 2");
    check(b"import torch\n\ndef f(:\n    pass\n", "3:7", "not Python");
    check(b"# A page\n\n<html><p>no</p></html>\n", "3:1", "not Python");
}

#[test]
fn a_half_pasted_file() {
    check(b"import torch\nnet.cuda()\nx = foo(1,\n", "3:1", "Python");
}

#[test]
fn files_that_are_not_there() {
    let home = folder(&[("good.py", TRAINER), ("empty/readme.md", ""), ("run.yaml", "a: cuda\n")]);
    for (path, words) in [("no.py", "file not found"), ("empty", "no Python file"), ("run.yaml", "neither Python")] {
        let ran = portolan(home.path(), &["port", "--target", "hpu", path, "good.py"]);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(
            ran.err.starts_with(&format!("{path}:1:1: error[engine#input] ")) && ran.err.contains(words),
            "{ran:?}"
        );
        assert!(ran.out.contains("+++ b/good.py\n"), "{ran:?}");
    }
}

#[test]
fn notebooks_without_cells() {
    let home = folder(&[
        ("only/a.ipynb", "{}"),
        ("only/sub/b.ipynb", "{}"),
        ("only/.ipynb_checkpoints/b.ipynb", "{}"),
        ("both/a.ipynb", "{}"),
        ("both/trainer.py", TRAINER),
    ]);
    let said = "warning[engine#notebook] this is not a notebook: it has no cells";
    let ran = portolan(home.path(), &["port", "--target", "hpu", "only"]);
    assert_eq!((ran.code, ran.err.matches(said).count()), (0, 2), "{ran:?}");
    let ran = portolan(home.path(), &["port", "--target", "hpu", "both"]);
    assert_eq!((ran.code, ran.err.matches(said).count()), (0, 1), "{ran:?}");
    let ran = portolan(home.path(), &["port", "--target", "hpu", "only/a.ipynb"]);
    assert_eq!(ran.code, 1, "{ran:?}");
}

#[test]
fn an_empty_file_of_a_folder_is_nothing_to_speak_of() {
    let home = folder(&[("p/__init__.py", ""), ("p/a.py", "x = 1\n")]);
    let ran = portolan(home.path(), &["port", "--target", "hpu", "p"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{ran:?}");
}

#[test]
fn wrong_usage_is_2() {
    let home = folder(&[("a.py", TRAINER)]);
    for (words, expected) in [
        (&["port", "a.py"][..], "--target"),
        (&["port", "--target", "hpu"], "PATH"),
        (&["port", "--target", "gpu", "a.py"], "no recipes for target `gpu`"),
        (&["port", "--target", "hpu", "--sdk", "new", "a.py"], "don't cover SDK version"),
        (
            &["port", "--target", "hpu", "--sdk", "9.9", "a.py"],
            "don't cover SDK version `9.9`; they cover 1.8, 1.12, 1.19, 1.23",
        ),
        (&["port", "--target", "rdu", "--sdk", "1.2", "a.py"], "they cover 1.16, 1.19, 1.24"),
        (&["port", "--target", "hpu", "--style", "x", "a.py"], "in-place"),
        (&["port", "--target", "hpu", "--option", "lazy", "a.py"], "NAME=VALUE"),
        (&["port", "--target", "hpu", "--option", "lasy=on", "a.py"], "unknown option `lasy`"),
        (&["port", "--target", "hpu", "--reject", "hpu#x", "a.py"], "unknown recipe `hpu#x`"),
        (&["port", "--target", "hpu", "--write", "--diff", "a.py"], "cannot be used with"),
        (&["port", "--target", "hpu", "--format", "xml", "a.py"], "sarif"),
        (&["port", "--target", "hpu", "-", "-"], "once"),
        (&["recipes", "test", "nowhere"], "nowhere"),
        (&["site", "serve", "--dir", "nowhere"], "nowhere"),
        (&["sail"], "sail"),
        (&[], "Usage"),
    ] {
        let ran = portolan(home.path(), words);
        assert_eq!(ran.code, 2, "{words:?}: {ran:?}");
        assert!(ran.err.contains(expected), "{words:?}: {ran:?}");
        assert_eq!(ran.out, "", "{words:?}");
    }
    assert_eq!(read(home.path(), "a.py"), TRAINER);
}

#[test]
fn an_option_without_effect_is_an_error() {
    let home = folder(&[("a.py", TRAINER)]);
    let ported = portolan(home.path(), &["port", "--target", "ipu", "a.py"]);
    let ran = portolan(home.path(), &["port", "--target", "ipu", "--option", "stages=4", "a.py"]);
    let expected = "portolan: error: option `stages` (Stages of a Keras pipeline) changes nothing in this port\n";
    assert_eq!((ran.code, ran.out, ran.err.ends_with(expected)), (1, ported.out, true), "{}", ran.err);
    let rehearsed = portolan(home.path(), &["rehearse", "--target", "ipu", "--option", "stages=4", "a.py"]);
    assert!(rehearsed.code == 2 && rehearsed.err.contains("option `stages`"), "{rehearsed:?}");
    // The default needs no effect, and an option that has one is taken.
    for (target, set) in [("ipu", "stages=2"), ("hpu", "lazy=on")] {
        let ran = portolan(home.path(), &["port", "--target", target, "--option", set, "a.py"]);
        assert!(ran.code == 0 && !ran.err.contains("changes nothing in this port"), "{set}: {ran:?}");
    }
}

#[test]
fn requirements_that_can_not_be_read_stop_nothing() {
    let home = folder(&[("train.py", TRAINER)]);
    fs::write(home.path().join("requirements.txt"), b"\xff\xfen\0u\0m\0p\0y\0").unwrap();
    let ran = portolan(home.path(), &["port", "--target", "hpu", "."]);
    assert!(ran.err.contains("requirements.txt:1:1: warning[engine#not-utf8] the file is UTF-16"), "{ran:?}");
    assert!(ran.code == 0 && ran.out.contains("+++ b/train.py\n"), "{ran:?}");
}
