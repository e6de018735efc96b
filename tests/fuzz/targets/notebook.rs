//! Opened or pasted text that may be a notebook: a notebook is distinguished from a program, a script that was exported
//! from one is ported like any program, and a program in the cells of a notebook comes back as the same file.

use super::port_program::{RECIPES, ports};
use super::{Mutator, Target, Ways};
use codemod::{Options, SourceFile, port};
use python::notebook::Notebook;
use serde_json::{Value, json};
use training::words::NOTEBOOK_MAGICS;
use web::port::state::project::{check_text, name_in, not_python, text_of};

pub(super) const TARGET: Target =
    Target { name: "notebook", check, seeds: Vec::new, mutator: Mutator::Program, short: 40 };

fn check(input: &[u8], ways: Ways) {
    let text = match text_of("a.py", input.to_vec()) {
        Ok(text) => text,
        Err(why) => {
            assert!(!why.to_string().is_empty());
            return;
        }
    };
    assert!(check_text(&text).is_ok(), "what is opened may be pasted");
    let parsed = serde_json::from_str::<Value>(&text);
    if parsed.is_ok_and(|value| value["cells"].is_array() && value["nbformat"].is_number()) {
        assert!(
            not_python(&text).is_some_and(|advice| advice.contains("notebook")),
            "a notebook that is not seen as one"
        );
    }
    let _ = name_in(&text);
    ports(&text, &RECIPES, ways);
    in_cells(&text);
}

/// The program in cells, each of them up to an empty line.
fn in_cells(text: &str) {
    let cell = |(n, code): (usize, &str)| {
        let lines: Vec<&str> = code.split_inclusive('\n').collect();
        let source = if n % 2 == 0 { json!(lines) } else { json!(code) };
        json!({"cell_type": "code", "metadata": {}, "outputs": [{"text": "\u{e9}"}], "source": source})
    };
    let cells: Vec<Value> = text.split("\n\n").enumerate().map(cell).collect();
    let file = serde_json::to_string_pretty(&json!({"cells": cells, "metadata": {}, "nbformat": 4})).unwrap();
    let notebook = Notebook::read(&file, NOTEBOOK_MAGICS).expect("a notebook");
    let program = notebook.program();
    assert_eq!(notebook.with_program(&program), file, "without a change");
    let source = SourceFile { path: "a.ipynb".into(), text: program };
    let mut ported = port(&[source], &RECIPES, &Options { target: "hpu".into(), ..Options::default() });
    ported.put_back(&[("a.ipynb".to_owned(), notebook)].into());
    let written: Value = serde_json::from_str(ported.files[0].written()).expect("JSON");
    let all = written["cells"].as_array().expect("cells");
    assert_eq!(all.len(), cells.len());
    assert!(all.iter().zip(&cells).all(|(new, old)| new["outputs"] == old["outputs"]));
}
