//! Notebooks: ported in their cells.

use crate::{folder, portolan, portolan_with, read};
use serde_json::Value;
use std::fs;
use std::process::Command;

/// A notebook as Jupyter saves it: a cell of text, code with a magic and a shell command, one with an output.
pub(crate) const NOTEBOOK: &str = r##"{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "a1",
   "metadata": {},
   "source": [
    "# A linear model"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 1,
   "id": "b2",
   "metadata": {},
   "outputs": [],
   "source": [
    "%matplotlib inline\n",
    "!pip install torchinfo\n",
    "import torch\n",
    "model = torch.nn.Linear(4, 1).to(\"cuda\")"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 2,
   "id": "c3",
   "metadata": {"tags": []},
   "outputs": [
    {
     "data": {
      "text/plain": [
       "'caf\u00e9'"
      ]
     },
     "metadata": {},
     "output_type": "display_data"
    }
   ],
   "source": [
    "%%time\n",
    "x = torch.randn(8, 4).cuda()\n",
    "print(torch.cuda.get_device_properties(0).uuid)\n",
    "model(x).sum().backward()"
   ]
  }
 ],
 "metadata": {"language_info": {"name": "python"}},
 "nbformat": 4,
 "nbformat_minor": 5
}
"##;

/// The same after the port to Gaudi.
fn ported() -> String {
    let ported = NOTEBOOK.replace(r#".to(\"cuda\")"#, r#".to(\"hpu\")"#).replace(".cuda()", r#".to(\"hpu\")"#);
    let setting = r#"    "import os\n",
    "os.environ.setdefault(\"PT_HPU_LAZY_MODE\", \"0\")\n",
    "import torch\n",
"#;
    ported.replacen("    \"import torch\\n\",\n", setting, 1)
}

#[test]
fn only_the_changed_lines_of_cells_change() {
    let home = folder(&[("nb.ipynb", NOTEBOOK)]);
    let ran = portolan(home.path(), &["port", "--target", "hpu", "--write", "--patch", "p.patch", "nb.ipynb"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(read(home.path(), "nb.ipynb"), ported());
    assert!(ran.err.contains("nb.ipynb:cell 3:3:7: warning["), "{ran:?}");
    assert_eq!(read(home.path(), "p.patch"), codemod::git_patch_of("nb.ipynb", NOTEBOOK, &ported()),);
}

#[test]
fn a_copy_and_a_second_port() {
    let home = folder(&[("p/sub/nb.ipynb", NOTEBOOK), ("p/data.csv", "1,2\n")]);
    let ran = portolan(home.path(), &["port", "--target", "hpu", "--out", "q", "p"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(read(home.path(), "q/sub/nb.ipynb"), ported());
    let ran = portolan(home.path(), &["port", "--target", "hpu", "q"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{ran:?}");
}

#[test]
fn the_report_names_cells_and_hashes_files() {
    let home = folder(&[("nb.ipynb", NOTEBOOK)]);
    let ran = portolan(home.path(), &["port", "--target", "hpu", "--format", "json", "nb.ipynb"]);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    let found = &report["files"][0]["diagnostics"][0];
    assert_eq!(found["cell"], serde_json::json!({"cell": 3, "line": 3}), "{found}");
    let sums = &report["certificate"]["files"]["nb.ipynb"];
    let of = |text: &str| {
        fs::write(home.path().join("text"), text).unwrap();
        let ran = Command::new("sha256sum").current_dir(home.path()).arg("text").output().unwrap();
        String::from_utf8_lossy(&ran.stdout).split(' ').next().unwrap().to_owned()
    };
    assert_eq!((&sums["input"], &sums["output"]), (&of(NOTEBOOK).into(), &of(&ported()).into()));
}

#[test]
fn a_notebook_on_stdin_is_one_and_one_in_a_script_is_refused() {
    let home = folder(&[("nb.py", NOTEBOOK)]);
    let ran = portolan_with(home.path(), &["port", "--target", "hpu", "-"], NOTEBOOK.as_bytes(), &[]);
    assert!(ran.code == 0 && ran.out == codemod::git_patch_of("stdin.ipynb", NOTEBOOK, &ported()), "{ran:?}");
    let ran = portolan(home.path(), &["port", "--target", "hpu", "nb.py"]);
    assert!(ran.code == 1 && ran.err.contains("a name that ends in .ipynb"), "{ran:?}");
}

#[test]
fn every_form_of_messages_has_places_that_exist() {
    let home = folder(&[("nb.ipynb", NOTEBOOK)]);
    let line = |text: &str| NOTEBOOK.lines().position(|line| line.contains(text)).unwrap() + 1;
    let ran = portolan(home.path(), &["port", "--target", "hpu", "--format", "sarif", "nb.ipynb"]);
    let log: Value = serde_json::from_str(&ran.out).unwrap();
    let region = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"];
    assert_eq!(region, &serde_json::json!({"startLine": line("uuid")}), "{log}");
    let ran = portolan(home.path(), &["matrix", "nb.ipynb"]);
    assert!(ran.out.contains("nb.ipynb:cell 3:2  x = torch.randn(8, 4).cuda()"), "{ran:?}");
}

#[test]
fn what_jupyter_runs_is_not_launched() {
    let home = folder(&[("nb.ipynb", NOTEBOOK)]);
    let ran = portolan(home.path(), &["launch", "--target", "hpu", "--entry", "nb.ipynb", "--instances", "1"]);
    assert!(ran.code == 2 && ran.err.contains("jupyter nbconvert --to script"), "{ran:?}");
}

/// A cell that a shell runs is one call of the program: what is found in it stands where the cell does.
#[test]
fn a_shell_cell_keeps_its_place() {
    let cell = |text: &str| serde_json::json!({"cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [], "source": text});
    let cells = [
        cell("import torch\nx = torch.ones(1).cuda()"),
        cell("%%sh\nls\ntorchrun --nproc_per_node=8 t.py --backend nccl"),
    ];
    let text = serde_json::json!({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).to_string();
    let home = folder(&[("nb.ipynb", &text)]);
    let ran = portolan(home.path(), &["port", "--target", "hpu", "--format", "json", "nb.ipynb"]);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    let found = report["files"][0]["diagnostics"].as_array().unwrap();
    let of_shell = found.iter().find(|found| found["recipe"] == "shell#backend").expect("a finding");
    assert_eq!(of_shell["cell"], serde_json::json!({"cell": 2, "line": 3}), "{of_shell}");
    assert!(of_shell["line"].as_u64() > Some(3), "{of_shell}");
}

/// What pip installs there is read as a list of packages is.
#[test]
fn packages_that_a_notebook_installs() {
    let shell =
        NOTEBOOK.replace("!pip install torchinfo", r"!pip install torchinfo bitsandbytes\n%pip install -U torch cupy");
    let home = folder(&[("nb.ipynb", &shell)]);
    let ran = portolan(home.path(), &["port", "--target", "hpu", "nb.ipynb"]);
    let said = |place: &str, words: &str| ran.err.lines().any(|line| line.contains(place) && line.contains(words));
    assert!(said("nb.ipynb:cell 2:2:", "software for NVIDIA GPUs, or a build for them: `bitsandbytes`"), "{ran:?}");
    assert!(said("nb.ipynb:cell 2:3:", "[shell#stock-framework]"), "{ran:?}");
    assert!(said("nb.ipynb:cell 2:3:", "`cupy`"), "{ran:?}");
}

/// The lines for a shell go through the check of scripts; a line with a message of the port's own has no second one.
#[test]
fn shell_lines_are_checked() {
    let shell = NOTEBOOK.replace(
        "!pip install torchinfo",
        r"!nvidia-smi\n!torchrun --nproc_per_node=$n t.py --backend nccl\n%env NCCL_DEBUG=INFO",
    );
    let home = folder(&[("nb.ipynb", &shell)]);
    let port = ["port", "--target", "hpu", "nb.ipynb"];
    for (command, expected) in [
        (&port[..], "cell 2:3:1: warning[shell#backend]"),
        (&["launch", "--target", "hpu", "--lint", "nb.ipynb"], "cell 2:3: warning[backend]"),
    ] {
        let ran = portolan(home.path(), command);
        let lines = |text: &str| ran.err.lines().filter(|line| line.contains(text)).count();
        assert_eq!((lines("nb.ipynb:cell 2:2:"), lines(expected)), (1, 1), "{ran:?}");
        assert_eq!((lines("nb.ipynb:cell 2:4:"), lines("unset-variable")), (1, 0), "{ran:?}");
    }
    let ran = portolan(home.path(), &[&port[..], &["--check"]].concat());
    assert_eq!(ran.code, 1, "{ran:?}");
    // They are messages of the port like all others.
    let ran = portolan(home.path(), &[&port[..], &["--format", "json"]].concat());
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    crate::schema::check(&report);
    let found = report["files"][0]["diagnostics"].as_array().unwrap();
    let found: Vec<&Value> = found.iter().filter(|found| found["recipe"] == "shell#backend").collect();
    // The imports are inserted below it.
    let places = (&found[0]["cell"], &found[0]["ported"]["cell"]);
    let place = |line: usize| serde_json::json!({"cell": 2, "line": line});
    assert_eq!((found.len(), places), (1, (&place(3), &place(3))), "{found:?}");
    let kind = report["totals"]["kinds"].as_array().unwrap().iter().find(|kind| kind["recipe"] == "shell#backend");
    assert_eq!(kind.map(|kind| &kind["needs-you"]), Some(&1.into()), "{}", report["totals"]);
    // The comparison of all targets counts them, too.
    let ran = portolan(home.path(), &["matrix", "--format", "json", "nb.ipynb"]);
    let compared: Value = serde_json::from_str(&ran.out).unwrap();
    let of_target = compared["totals"].as_array().unwrap().iter().find(|totals| totals["target"] == "hpu");
    assert_eq!(of_target, Some(&report["totals"]), "{compared}");
    let ran = portolan(home.path(), &[&port[..], &["--format", "sarif"]].concat());
    let log: Value = serde_json::from_str(&ran.out).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let found = results.iter().find(|result| result["ruleId"] == "shell#backend").expect("a result");
    let line = shell.lines().position(|line| line.contains("torchrun")).unwrap() + 1;
    assert_eq!(found["locations"][0]["physicalLocation"]["region"], serde_json::json!({"startLine": line}), "{log}");
    let home = folder(&[("nb.ipynb", "{}")]);
    let ran = portolan(home.path(), &["launch", "--target", "hpu", "--lint", "nb.ipynb"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("nb.ipynb: this is not a notebook"), "{ran:?}");
}

#[test]
fn a_statement_behind_a_magic_has_no_comment_of_its_own() {
    let text = NOTEBOOK.replace("!pip install torchinfo", "%time torch.cuda.synchronize()");
    let home = folder(&[("nb.ipynb", &text)]);
    let ran = portolan(home.path(), &["port", "--target", "ipu", "--format", "json", "nb.ipynb"]);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(report["certificate"]["comments_removed"], serde_json::json!([]), "{report:#}");
    assert!(!ran.err.contains("# %time"), "{ran:?}");
}
