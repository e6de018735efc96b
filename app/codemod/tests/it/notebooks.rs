//! Ports of notebooks.

use crate::ports::in_place;
use codemod::{RecipeSet, port};
use python::SourceFile;
use python::notebook::Notebook;
use serde_json::json;
use training::words::NOTEBOOK_MAGICS;

/// The sources of a notebook's cells after its port, and the messages, each with its place.
fn ported(target: &str, cells: &[&str]) -> (Vec<String>, String) {
    let cells: Vec<_> = cells.iter().map(|code| json!({"cell_type": "code", "source": code})).collect();
    let json = json!({"cells": cells, "metadata": {}, "nbformat": 4}).to_string();
    let mut notebook = Notebook::read(&json, NOTEBOOK_MAGICS).unwrap();
    let program = notebook.program();
    let source = SourceFile { path: "a.ipynb".into(), text: notebook.readable(&program) };
    let mut ported = port(&[source], RecipeSet::embedded(), &in_place(target));
    ported.put_back(&[("a.ipynb".to_owned(), notebook)].into());
    let written: serde_json::Value = serde_json::from_str(ported.files[0].written()).unwrap();
    let sources = written["cells"].as_array().unwrap().iter().map(|cell| cell["source"].as_str().unwrap().to_owned());
    let said = ported.files[0].diagnostics.iter().map(|d| format!("{}: {}\n", d.original.shown(), d.message));
    (sources.collect(), said.collect())
}

#[track_caller]
fn check(target: &str, cells: &[&str], expected: &[&str]) {
    let (sources, said) = ported(target, cells);
    assert_eq!(sources, expected, "{said}");
}

/// The messages that have some words, by their places.
#[track_caller]
fn check_said(cells: &[&str], words: &str, places: &[&str]) {
    let (_, said) = ported("hpu", cells);
    let found: Vec<&str> = said.lines().filter(|line| line.contains(words)).collect();
    assert_eq!(found.len(), places.len(), "{said}");
    for (line, place) in found.iter().zip(places) {
        assert!(line.starts_with(&format!("{place}: ")), "{said}");
    }
}

#[test]
fn cells_in_other_languages_stay_as_they_are() {
    let bash = "%%bash\nnvidia-smi";
    let html = "\n%%html\n<b>cuda</b>\n";
    let setting = "import os\nos.environ.setdefault('PT_HPU_LAZY_MODE', '0')\n";
    check("hpu", &[bash, "x.cuda()", html], &[bash, "x.to('hpu')", html]);
    check(
        "hpu",
        &[bash, "# why\nimport torch\ntorch.zeros(3).cuda()", html],
        &[bash, &format!("# why\n{setting}import torch\ntorch.zeros(3).to('hpu')"), html],
    );
    let plain = "def f(x):\n    return x.cuda()";
    for target in ["hpu", "xpu", "ipu"] {
        let trains = "import torch\nimport torch.nn.functional as F\nnet = torch.nn.Linear(3, 3).cuda()\n\
            opt = torch.optim.Adam(net.parameters())\nfor x, y in loader:\n    opt.zero_grad()\n    loss = F.mse_loss(net(x), y)\n    \
            loss.backward()\n    opt.step()";
        let cells = [html, bash, trains, bash, plain, html];
        let (sources, said) = ported(target, &cells);
        for n in [0, 1, 3, 5] {
            assert_eq!(sources[n], cells[n], "{target}: {said}");
        }
        assert_ne!(sources[2], trains, "{target}: {said}");
        assert!(!said.contains("cell that has none") && !said.contains("boundary"), "{target}: {said}");
    }
}

#[test]
fn a_notebook_is_left_if_jupyter_can_not_start_programs() {
    let cells = ["import torch\nx = torch.zeros(3).cuda()"];
    for target in ["rdu", "popdist"] {
        let (sources, said) = ported(target, &cells);
        assert_eq!(sources, cells);
        assert!(said.lines().count() == 1 && said.contains("jupyter nbconvert --to script"), "{target}: {said}");
        assert_eq!(ported(target, &["x = 1"]).1, "");
    }
}

#[test]
fn a_cell_whose_first_statement_goes_keeps_its_boundary() {
    check(
        "hpu",
        &["import torch", "torch.backends.cudnn.benchmark = True\nx = 1", "y = 2"],
        &["import torch", "x = 1", "y = 2"],
    );
}

#[test]
fn python_under_a_magic_that_is_not_known_is_reported() {
    let trains = "import torch\nnet.cuda()";
    check_said(&["x = 1", &format!("%%wandb\n{trains}")], "the code that `%%wandb` runs", &["cell 2:1:1"]);
    check_said(&[&format!("#@title A\n%%px --local\n{trains}")], "the code that `%%px` runs", &["cell 1:1:1"]);
    for other in ["bash", "writefile a.txt", "html", "unknown"] {
        check_said(&[&format!("%%{other}\nx y")], "not analysed", &[]);
    }
    check_said(&["%%bash\nls"], "not analysed", &[]);
    check_said(&["%%time\nx = 1\n%lprun -f f net.cuda()"], "the code that `%lprun` runs", &["cell 1:3:1"]);
}

#[test]
fn a_statement_behind_a_magic_is_ported() {
    check(
        "xpu",
        &["import torch\n%time net.cuda()\n%timeit -n 5 x = y.to('cuda')\n%time import os"],
        &["import torch\n%time net.to('xpu')\n%timeit -n 5 x = y.to('xpu')\n%time import os"],
    );
}

#[test]
fn a_statement_that_is_no_python_leaves_the_others() {
    let cells = ["pip install x\nx.cuda()\n>>> y", "x.cuda()\nif a:\n  b c", "x.cuda()"];
    let expected = ["pip install x\nx.to('hpu')\n>>> y", "x.to('hpu')\nif a:\n  b c", "x.to('hpu')"];
    check("hpu", &cells, &expected);
    check_said(&cells, "is not Python", &["cell 1:1:1", "cell 2:2:1"]);
}
