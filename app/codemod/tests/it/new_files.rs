//! Files that a port adds: modules of the guides that a program imports.

use crate::ports::{in_place, port_files, port_script};
use codemod::{Ported, RecipeSet, Severity, keep_existing};

const TRAINER: &str =
    "import lightning as L\n\n\ndef run(net):\n    L.Trainer(accelerator=\"gpu\", devices=1).fit(net)\n";
const MAIN: &str = "\n\nif __name__ == \"__main__\":\n    run(net)\n";

/// The paths of the files that are added to a project, in which `TRAINER` and `MAIN` stand for their texts.
#[track_caller]
fn check(files: &[(&str, &str)], expected: &[&str]) -> Ported {
    let texts: Vec<(&str, String)> =
        files.iter().map(|(path, text)| (*path, text.replace("TRAINER", TRAINER).replace("MAIN", MAIN))).collect();
    let files: Vec<(&str, &str)> = texts.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let ported = port_files(&files, &in_place("xpu"));
    let paths: Vec<&str> = ported.new_files().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, expected);
    // With them, a second port adds and says nothing.
    let once: Vec<(&str, &str)> = ported.files.iter().map(|file| (file.path.as_str(), file.text.as_str())).collect();
    let twice = port_files(&once, &in_place("xpu"));
    assert_eq!((twice.new_files().count(), twice.files.iter().any(|file| file.changed)), (0, false));
    assert!(twice.files.iter().all(|file| file.diagnostics.is_empty()), "{:?}", twice.files);
    ported
}

#[test]
fn a_module_is_added_where_the_program_finds_it() {
    check(&[("a.py", "TRAINERMAIN")], &["xpu_lightning.py"]);
    check(&[("src/a.py", "TRAINERMAIN")], &["src/xpu_lightning.py"]);
    check(&[("main.py", "from lib.a import runMAIN"), ("lib/a.py", "TRAINER")], &["xpu_lightning.py"]);
    check(
        &[("src/main.py", "from lib.a import runMAIN"), ("src/lib/a.py", "TRAINER"), ("src/lib/__init__.py", "")],
        &["src/xpu_lightning.py"],
    );
    // What is imported by the name of the package is started from the folder above it.
    check(
        &[
            ("net/train.py", "from net.model import net\nTRAINERMAIN"),
            ("net/model.py", "net = 1\n"),
            ("net/__init__.py", ""),
        ],
        &["xpu_lightning.py"],
    );
    check(
        &[
            ("p/net/train.py", "from .model import net\nTRAINERMAIN"),
            ("p/net/model.py", "net = 1\n"),
            ("p/net/__init__.py", ""),
        ],
        &["p/xpu_lightning.py"],
    );
    // Two programs in two folders.
    check(&[("a/a.py", "TRAINERMAIN"), ("b/b.py", "TRAINERMAIN")], &["a/xpu_lightning.py", "b/xpu_lightning.py"]);
    check(&[("lib/a.py", "TRAINER")], &["lib/xpu_lightning.py"]);
    // A script beside the package that it imports is found in its own folder, wherever the package is.
    let package = ("net/__init__.py", "net = 1\n");
    check(&[("examples/a.py", "from net import net\nTRAINERMAIN"), package], &["examples/xpu_lightning.py"]);
    check(&[("examples/a.py", "import net\nTRAINER"), package], &["examples/xpu_lightning.py"]);
}

#[test]
fn an_existing_module_stays_the_only_one() {
    let (own, other) = ("class XPUAccelerator:\n    pass\n\n\nclass SingleXPUStrategy:\n    pass\n", "x = 1\n");
    for path in ["xpu_lightning.py", "xpu_lightning/__init__.py"] {
        check(&[("a.py", "TRAINERMAIN"), (path, own)], &[]);
        let text = format!("{TRAINER}{MAIN}");
        let ported = port_files(&[("a.py", &text), (path, other)], &in_place("xpu"));
        let said =
            ported.files[0].diagnostics.iter().find(|said| said.recipe == "lightning-xpu#file").expect("a message");
        assert!(said.severity == Severity::Warning && said.message.contains(path), "{said:?}");
        assert_eq!(ported.new_files().count(), 0);
    }
    // Python does not look there.
    check(&[("a.py", "TRAINERMAIN"), ("old/xpu_lightning.py", own)], &["xpu_lightning.py"]);
}

#[test]
fn what_imports_no_module_gets_none() {
    check(&[("a.py", "import lightning as L\n")], &[]);
    let rejected = codemod::Options { rejected_recipes: vec!["lightning-xpu#file".to_owned()], ..in_place("xpu") };
    assert_eq!(port_files(&[("a.py", TRAINER)], &rejected).new_files().count(), 0);
    assert_eq!(port_files(&[("a.py", TRAINER)], &in_place("hpu")).new_files().count(), 0);
}

#[test]
fn a_module_uses_the_name_by_which_the_program_imports_a_library() {
    let of = |import: &str| port_script("xpu", &TRAINER.replace("import lightning as L", import)).files.remove(1).text;
    let text = of("import pytorch_lightning as L");
    assert!(text.contains("from pytorch_lightning.strategies import") && !text.contains("lightning.pytorch"), "{text}");
    let text = of("import lightning.pytorch as L");
    assert!(text.contains("from lightning.pytorch.strategies import") && !text.contains("pytorch_lightning"), "{text}");
}

#[test]
fn the_import_has_a_message_that_says_where_the_module_is() {
    let mut ported = port_script("xpu", TRAINER);
    let said = &ported.files[0].diagnostics[0];
    assert_eq!((said.severity, said.recipe.as_str()), (Severity::Info, "lightning-xpu#file"));
    assert!(said.message.contains("`xpu_lightning.py`"), "{said:?}");
    let mut left = ported.clone();
    keep_existing(&mut left, "xpu_lightning.py", false, RecipeSet::embedded());
    let said = &left.files[0].diagnostics[0];
    assert!(said.severity == Severity::Warning && said.message.contains("left as it is"), "{said:?}");
    keep_existing(&mut ported, "xpu_lightning.py", true, RecipeSet::embedded());
    assert!(ported.files.len() == 1 && ported.files[0].diagnostics.is_empty());
    assert!(!ported.certificate.files.contains_key("xpu_lightning.py"));
}
