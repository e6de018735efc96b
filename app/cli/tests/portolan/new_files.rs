//! Files that a port adds, at every destination of a port.

use crate::{folder, portolan, portolan_with, read};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const SCRIPT: &str = "import lightning as L\n\ntrainer = L.Trainer(accelerator=\"gpu\", devices=1)\ntrainer.fit(net)\n";
const NEW: &str = "xpu_lightning.py";

fn home() -> TempDir {
    folder(&[("p/train.py", SCRIPT)])
}

fn git(root: &Path, words: &[&str]) {
    let status = Command::new("git").current_dir(root).args(words).status().unwrap();
    assert!(status.success(), "git {words:?}");
}

fn port(home: &TempDir, words: &[&str]) -> crate::Ran {
    let ran = portolan(home.path(), &[&["port", "--target", "xpu"], words].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    ran
}

#[test]
fn the_patch_adds_it() {
    let home = home();
    let ran = port(&home, &["p"]);
    assert!(ran.err.contains("2 changes in 1 of 1 file and 1 new file, xpu_lightning.py\n"), "{ran:?}");
    fs::write(home.path().join("p/port.patch"), &ran.out).unwrap();
    git(&home.path().join("p"), &["apply", "port.patch"]);
    assert!(read(home.path(), "p/xpu_lightning.py").starts_with("import torch\n"));
    let again = port(&home, &["p"]);
    assert_eq!(again.out, "", "{again:?}");
    let of_one_file = port(&home, &["p/train.py"]);
    assert!(
        of_one_file.out.is_empty() && !of_one_file.err.contains(NEW),
        "what lies beside the file is seen: {of_one_file:?}"
    );
}

#[test]
fn a_copy_has_it() {
    let home = home();
    for (words, path) in [(["--out", "whole", "p"], "whole"), (["--out", "one", "p/train.py"], "one/p")] {
        port(&home, &words);
        assert!(read(home.path(), &format!("{path}/xpu_lightning.py")).contains("class XPUAccelerator"));
    }
    assert!(!home.path().join("p").join(NEW).exists());
}

#[test]
fn a_port_in_place_writes_it_and_its_patch_removes_it() {
    let home = home();
    port(&home, &["--write", "--patch", "back.patch", "p"]);
    assert!(read(home.path(), "p/xpu_lightning.py").contains("class XPUAccelerator"));
    fs::rename(home.path().join("back.patch"), home.path().join("p/back.patch")).unwrap();
    git(&home.path().join("p"), &["apply", "-R", "back.patch"]);
    assert!(!home.path().join("p").join(NEW).exists() && read(home.path(), "p/train.py") == SCRIPT);
}

#[test]
fn a_port_is_finished_if_the_file_is_there_already() {
    let home = home();
    port(&home, &["--write", "p"]);
    // What a run leaves that is killed after it added the file.
    fs::write(home.path().join("p/train.py"), SCRIPT).unwrap();
    let ran = port(&home, &["--write", "--patch", "back.patch", "p"]);
    assert!(!ran.err.contains("is there already"), "{ran:?}");
    assert!(read(home.path(), "p/train.py").contains("from xpu_lightning import"));
    let patch = read(home.path(), "back.patch");
    assert!(patch.starts_with("diff --git a/train.py ") && !patch.contains("/dev/null"), "{patch}");
}

#[test]
fn an_existing_file_is_never_overwritten() {
    let home = folder(&[("p/train.py", SCRIPT), ("p/xpu_lightning.py", "x = 1\n")]);
    for words in [&["p/train.py"][..], &["--write", "p/train.py"]] {
        let ran = port(&home, words);
        assert!(ran.err.contains("xpu_lightning.py` is there already") && !ran.out.contains("/dev/null"), "{ran:?}");
        assert_eq!(read(home.path(), "p/xpu_lightning.py"), "x = 1\n");
    }
    let home = folder(&[("p/train.py", SCRIPT), ("out/p/xpu_lightning.py", "x = 1\n")]);
    let ran = portolan(home.path(), &["port", "--target", "xpu", "--out", "out", "p/train.py"]);
    assert!(ran.code == 2 && ran.err.contains("differs from the port; nothing was written"), "{ran:?}");
    assert!(!home.path().join("out/p/train.py").exists() && read(home.path(), "out/p/xpu_lightning.py") == "x = 1\n");
}

#[test]
fn a_series_adds_it_with_the_code_that_imports_it() {
    let home = home();
    port(&home, &["--series", "s", "p"]);
    let patches: Vec<String> = fs::read_dir(home.path().join("s"))
        .unwrap()
        .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    let adding: Vec<&String> = patches.iter().filter(|patch| patch.contains("+++ b/xpu_lightning.py\n")).collect();
    assert!(matches!(&adding[..], [one] if one.contains("+from xpu_lightning import")), "{patches:?}");
    let repository = home.path().join("p");
    git(&repository, &["init", "-q"]);
    git(&repository, &["add", "."]);
    let me = ["-c", "user.name=A", "-c", "user.email=a@b.c"];
    git(&repository, &[&me[..], &["commit", "-q", "-m", "x"]].concat());
    let patch = home.path().join("s").read_dir().unwrap().next().unwrap().unwrap().path();
    git(&repository, &[&me[..], &["am", "-q", patch.to_str().unwrap()]].concat());
    assert!(repository.join(NEW).exists());
}

#[test]
fn reports_have_it() {
    let home = home();
    let ran = port(&home, &["--format", "json", "--report", "report.html", "p"]);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    crate::schema::check(&report);
    let new = &report["files"][1];
    assert_eq!((&new["path"], &new["new"]), (&NEW.into(), &true.into()));
    assert!(new["edits"][0]["text"].as_str().unwrap().contains("class XPUAccelerator"));
    assert_eq!(report["totals"]["done"], 2);
    let page = read(home.path(), "report.html");
    assert!(page.contains(">xpu_lightning.py") && page.contains("XPUDDPStrategy"));
    port(&home, &["--format", "sarif", "p"]);
    let table = portolan(home.path(), &["matrix", "p"]);
    assert!(table.code == 0, "{table:?}");
}

#[test]
fn stdin_has_no_place_for_it() {
    let home = home();
    let ran = portolan_with(home.path(), &["port", "--target", "xpu", "--write", "-"], SCRIPT.as_bytes(), &[]);
    assert!(ran.code == 0 && ran.err.contains("save xpu_lightning.py next to the program"), "{ran:?}");
    assert!(!home.path().join(NEW).exists());
    let ran = portolan_with(home.path(), &["port", "--target", "xpu", "-"], SCRIPT.as_bytes(), &[]);
    assert!(ran.out.contains("+++ b/xpu_lightning.py\n"), "{ran:?}");
}

#[test]
fn a_guide_of_a_site_adds_its_own() {
    let guide = |module: &str, example: &str| {
        format!(
            "+++\ntitle = \"Site\"\ntarget = \"hpu\"\ndescription = \"A page.\"\norder = 90\n+++\n## Load by ours {{#load}}\n\nWhy.\n\n\
             Holds for: all.\n\nSource: its README.\n\n```diff rule neutral\n- lib.load($X)\n+ site_loader.load($X)\n+ import site_loader\n```\n\n\
             ```python before\nimport lib\nx = lib.load(1)\n```\n```python after\nimport site_loader\nimport lib\nx = site_loader.load(1)\n```\n\n\
             ## The loader {{#loader}}\n\nThe site's own.\n\nHolds for: all.\n\nSource: its README.\n\n\
             ```python module {module}\n{example}\n```\n"
        )
    };
    let check = |module: &str, text: &str, code: i32, words: &str| {
        let home = folder(&[("g/site.md", &guide(module, text)), ("p/a.py", "import lib\nx = lib.load(1)\n")]);
        let ran = portolan(home.path(), &["recipes", "test", "--added", "g"]);
        assert!(ran.code == code && ran.err.contains(words), "{ran:?}");
        home
    };
    let home = check("site_loader", "def load(x):\n    return x", 0, "all hold");
    let ran = portolan(home.path(), &["port", "--target", "hpu", "--guides", "g", "p"]);
    assert!(ran.out.contains("+++ b/site_loader.py\n") && ran.out.contains("+def load(x):\n"), "{ran:?}");
    // Faults of a guide.
    check("site_loader", "def load(x:", 1, "is not valid Python");
    check("site_loader", "import torch\nnet = build().cuda()", 1, "a port changes this module");
    check("other_loader", "x = 1", 1, "`other_loader`: unused module");
    check("Site-Loader", "x = 1", 1, "is not a name of lowercase letters");
}
