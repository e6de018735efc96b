//! Invalid input: unchanged to the byte, and reported with its location.

use codemod::{Severity, port};
use python::SourceFile;
use std::fs;
use tests::sound::{RECIPES, assert_sound, here, to, to_hpu, told};

fn assert_refused(path: &str, text: &str) {
    let file = SourceFile { path: path.into(), text: text.into() };
    let ported = port(&[file], &RECIPES, &to_hpu(None));
    let file = &ported.files[0];
    assert!(file.text == text && !file.changed && file.edits.is_empty(), "{path}: something was edited");
    let error = file.diagnostics.iter().find(|d| d.severity == Severity::Error);
    let error = error.unwrap_or_else(|| panic!("{path}: no error among {}", told(&file.diagnostics)));
    assert!(
        error.original.line >= 1 && error.original.column >= 1 && error.message.len() > 20,
        "{path}: {}",
        told(&file.diagnostics)
    );
}

fn bad(name: &str) -> Vec<u8> {
    fs::read(here().join("fixtures/bad").join(name)).unwrap()
}

#[test]
fn text_that_is_not_python() {
    for name in ["not_python.py", "half_pasted.py"] {
        assert_refused(name, &String::from_utf8(bad(name)).unwrap());
    }
}

#[test]
fn python_2() {
    assert_refused("python2.py", &String::from_utf8(bad("python2.py")).unwrap());
}

#[test]
fn a_nul_byte() {
    assert_refused("nul.py", &String::from_utf8(bad("nul.py")).unwrap());
    assert_refused("binary.py", &String::from_utf8_lossy(&bad("binary.py")));
}

#[test]
fn five_thousand_brackets() {
    let open = "[".repeat(5_000);
    assert_refused("open.py", &format!("net.cuda()\nx = {open}\n"));
    let text = format!("import torch\n\nx = {open}{}\n", "]".repeat(5_000));
    let ported = port(&[SourceFile { path: "closed.py".into(), text }], &RECIPES, &to_hpu(None));
    assert!(!ported.files[0].changed);
}

#[test]
fn ten_megabytes() {
    let line = "weights = [0.0, 1.0, 2.0]  # one of many\n";
    let text = line.repeat(10_000_000 / line.len());
    let ported = port(&[SourceFile { path: "large.py".into(), text }], &RECIPES, &to_hpu(None));
    assert!(!ported.files[0].changed);
}

/// Each assignment leads to all others.
#[test]
fn a_pipeline_of_forty_steps() {
    let steps = "    data = data.map(lambda x: x)\n".repeat(40);
    let text = format!("import tensorflow as tf\n\n\ndef pipeline(data):\n{steps}    return data.batch(8)\n");
    for target in ["ipu", "popdist"] {
        let ported = port(&[SourceFile { path: "data.py".into(), text: text.clone() }], &RECIPES, &to(target));
        assert!(!ported.files[0].changed);
    }
}

#[test]
fn an_empty_file() {
    let ported = port(&[SourceFile { path: "empty.py".into(), text: String::new() }], &RECIPES, &to_hpu(None));
    assert!(!ported.files[0].changed && ported.files[0].diagnostics.iter().all(|d| d.severity != Severity::Error));
}

#[test]
fn crlf_and_tabs() {
    let text = String::from_utf8(bad("crlf_tabs.py")).unwrap();
    let ported = assert_sound(&[SourceFile { path: "crlf_tabs.py".into(), text }], &to_hpu(None));
    assert!(ported.files[0].text.contains("\tnet.to(\"hpu\")\r\n"));
    assert!(ported.files[0].text.contains("\t\tnet(torch.rand(1, 4).to(\"hpu\"))  \t# Ende\r\n"));
}

/// Python begins a line at a carriage return, but the parser does not.
#[test]
fn lines_that_end_in_a_carriage_return() {
    for name in ["cr.py", "cr_in_a_comment.py"] {
        let text = String::from_utf8(bad(name)).unwrap();
        assert_refused(name, &text);
        let ported = port(&[SourceFile { path: name.into(), text }], &RECIPES, &to_hpu(None));
        assert_eq!(ported.files[0].diagnostics[0].recipe, "engine#cr", "{name}");
    }
    let text = "import torch\n\nnote = \"\"\"a\rb\"\"\"\nnet.cuda()\n".to_owned();
    let ported = port(&[SourceFile { path: "string.py".into(), text }], &RECIPES, &to_hpu(None));
    assert!(ported.files[0].text.contains("\"\"\"a\rb\"\"\"\nnet.to(\"hpu\")\n"), "in a string it is a character");
}

/// The grammar alone parses neither; `python::tree` works around it.
#[test]
fn lines_left_of_their_block_and_starred_parts() {
    let text = String::from_utf8(bad("outdented.py")).unwrap();
    let moved = text.replace(".cuda()", ".to(\"hpu\")");
    let ported = assert_sound(&[SourceFile { path: "outdented.py".into(), text }], &to_hpu(None));
    let losses = |text: &str| text[text.find("def losses").unwrap()..].to_owned();
    assert_eq!(losses(&ported.files[0].text), losses(&moved));
}

/// Python 3 compiles it, and fails when it is executed.
#[test]
fn a_print_into_a_stream() {
    let text = String::from_utf8(bad("print_into_a_stream.py")).unwrap();
    let ported = assert_sound(&[SourceFile { path: "print.py".into(), text }], &to_hpu(None));
    assert!(ported.files[0].text.contains("Linear(2, 2).to(\"hpu\")"), "{}", ported.files[0].text);
    let said = &ported.files[0].diagnostics;
    assert!(said.iter().any(|d| d.recipe == "engine#print-into-a-stream" && d.original.line == 5), "{}", told(said));
}
