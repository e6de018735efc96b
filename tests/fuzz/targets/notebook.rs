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

/// The program in cells, each of them up to an empty line, with what only notebooks have: magics, commands, cells in other
/// languages, indented ones, and other ends of lines.
fn in_cells(text: &str) {
    let mut sources: Vec<String> = Vec::new();
    for (n, code) in text.split("\n\n").enumerate() {
        if n % 5 == 1 {
            sources.push("%%bash\nnvidia-smi \\\n  -l\n".to_owned());
        }
        let code = match n % 6 {
            1 => format!("%%time\n{code}"),
            2 => format!("!pip install \\\n  torch\n{code}\nfiles = !ls"),
            3 => code.replace('\n', "\r\n"),
            4 => code.split_inclusive('\n').map(|line| format!("  {line}")).collect(),
            5 => format!("#@title A\n%%capture\n{code}\npip install torch\n%env A=1"),
            _ => code.to_owned(),
        };
        sources.push(code);
    }
    let cell = |(n, code): (usize, &String)| {
        let lines: Vec<&str> = code.split_inclusive('\n').collect();
        let source = if n % 2 == 0 { json!(lines) } else { json!(code) };
        json!({"cell_type": "code", "metadata": {}, "outputs": [{"text": "\u{e9}"}], "source": source})
    };
    let cells: Vec<Value> = sources.iter().enumerate().map(cell).collect();
    let file = serde_json::to_string_pretty(&json!({"cells": cells, "metadata": {}, "nbformat": 4})).unwrap();
    let mut notebook = Notebook::read(&file, NOTEBOOK_MAGICS).expect("a notebook");
    let program = notebook.program();
    let program = notebook.readable(&program);
    assert_eq!(notebook.with_program(&program), file, "without a change");
    let source = SourceFile { path: "a.ipynb".into(), text: program };
    let mut ported = port(&[source], &RECIPES, &Options { target: "hpu".into(), ..Options::default() });
    ported.put_back(&[("a.ipynb".to_owned(), notebook)].into());
    let ported = &ported.files[0];
    let mut again = Notebook::read(ported.written(), NOTEBOOK_MAGICS).expect("a notebook");
    let program = again.program();
    let again = again.readable(&program);
    // The calls of IPython have the quotes of most strings.
    let bare = |program: &str| program.replace(['\'', '"', '\\'], "");
    assert_eq!(bare(&again), bare(&ported.text), "the written notebook is another program");
    let written: Value = serde_json::from_str(ported.written()).expect("JSON");
    let all = written["cells"].as_array().expect("cells");
    assert_eq!(all.len(), cells.len());
    assert!(all.iter().zip(&cells).all(|(new, old)| new["outputs"] == old["outputs"]));
    for (new, (old, code)) in all.iter().zip(cells.iter().zip(&sources)) {
        let text = new["source"].as_array().map_or_else(
            || new["source"].as_str().unwrap_or_default().to_owned(),
            |lines| lines.iter().filter_map(Value::as_str).collect(),
        );
        assert!(text != *code || new == old, "a cell without a change has other bytes");
        assert!(!code.starts_with("%%bash") || new == old, "a cell in another language changed");
    }
}
