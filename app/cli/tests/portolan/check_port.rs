//! The script for the ported project, run with one on the twin run kit's machines: they compute with PyTorch, so the
//! outputs agree with ours within the precision.

use crate::{folder, portolan};
use std::fs;
use std::path::Path;
use std::process::Command;

const SMALL: &str = r#"{ "depth": 2, "n_initial_filters": 4, "bottleneck_deepest": 8, "connections": "sum" }"#;

/// A project with its own enums, a network that needs them, and names that could be mistaken for the network's.
const PROJECT: [(&str, &str); 6] = [
    ("small.json", SMALL),
    ("ported/src/config/__init__.py", ""),
    (
        "ported/src/config/network.py",
        "from enum import Enum\n\
         class Connection(Enum):\n    none = 0\n    sum = 1\n    concat = 2\n\
         class Norm(Enum):\n    none = 0\n    batch = 1\n    layer = 2\n\
         class UResNet:\n    name = 'uresnet'\n",
    ),
    ("ported/src/networks/a_first.py", "import torch\nclass SparseUResNet(torch.nn.Module):\n    pass\n"),
    ("ported/src/networks/uresnet3D.py", "import torch\nclass UResNet3D(torch.nn.Module):\n    pass\n"),
    (
        "ported/src/networks/uresnet2D.py",
        "import torch\n\
         from src.config.network import Connection, Norm\n\
         from plain import UResNet as Plain\n\
         class UResNet(Plain):\n\
         \x20   def __init__(self, params):\n\
         \x20       assert params.connections is Connection.sum and params.normalization is Norm.batch, params\n\
         \x20       fields = {name: getattr(value, 'name', value) for name, value in vars(params).items()}\n\
         \x20       super().__init__(fields)\n",
    ),
];

fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn bundle_and_project() -> tempfile::TempDir {
    let home = folder(&PROJECT);
    fs::copy(repository().join("app/uresnet/sample/network.py"), home.path().join("ported/plain.py")).unwrap();
    let words = ["forward", "--config", "small.json", "--size", "16x24", "--out", "b.safetensors", "--bundle"];
    let ran = portolan(home.path(), &[&words[..], &["--script", "check_port.py"]].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    home
}

/// A Python with PyTorch: `PORTOLAN_PYTHON` if it is set, otherwise the one created by `cargo xtask setup`.
pub(crate) fn python() -> Command {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(std::path::PathBuf::from);
    let made = || Some(set("HOME")?.join(".cache/portolan/python/newest/bin/python"));
    let python = set("PORTOLAN_PYTHON").or_else(made).expect("HOME or PORTOLAN_PYTHON is set");
    assert!(python.is_file(), "{} is not there: run `cargo xtask setup`, or set PORTOLAN_PYTHON", python.display());
    Command::new(python)
}

/// Runs the script with the stand-ins of a target; returns its output.
fn rehearse(home: &Path, target: &str, words: &[&str]) -> String {
    let kit = repository().join("rehearsal/rehearse.py");
    let mut python = python();
    python.arg("-B").arg(kit).args(["--target", target, "--", "check_port.py", "b.safetensors"]);
    let ran = python.args(["--project", "ported"]).args(words).current_dir(home).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(!said.contains("Traceback") && said.contains(", 0 broken"), "{target} {words:?}: {said}");
    said
}

#[test]
fn the_projects_network_runs_on_every_device() {
    let home = bundle_and_project();
    let home = home.path();
    for (target, words, stages) in [
        ("cpu", &["--device", "cpu", "--stages", "all"][..], 100..200),
        ("hpu", &["--device", "hpu", "--precision", "bf16", "--stages"], 20..50),
        ("ipu", &["--device", "ipu", "--precision", "fp16"], 0..1),
        ("rdu", &["--device", "rdu", "--precision", "bf16", "--pef", "out/check_port/check_port.pef"], 0..1),
    ] {
        if target == "rdu" {
            let said = rehearse(home, target, &words[..4]);
            assert!(said.contains("compiled; run it again with --pef"), "{said}");
        }
        fs::remove_file(home.join("candidate.safetensors")).ok();
        let said = rehearse(home, target, words);
        assert!(said.contains("src.networks.uresnet2D:UResNet on"), "{said}");
        let compare = ["--weights", "b.safetensors", "--input", "b.safetensors", "--compare", "candidate.safetensors"];
        let precision = words.iter().position(|word| *word == "--precision").map_or("fp32", |at| words[at + 1]);
        let told = ["forward", "--config", "small.json", "--format", "json", "--precision", precision];
        let ran = portolan(home, &[&told[..], &compare[..]].concat());
        let told: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        let distance = &told["comparison"]["distance"];
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{target}: {distance}");
        let compared = told["comparison"]["stages"].as_array().unwrap().len();
        assert!(stages.contains(&compared), "{target}: {compared} stages");
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let home = bundle_and_project();
    let home = home.path();
    fs::write(home.join("b.txt"), "no tensors").unwrap();
    let run = |words: &[&str]| {
        let mut python = python();
        let paths = ["base", "recorder"].map(|part| repository().join("rehearsal").join(part));
        python.env("PYTHONPATH", std::env::join_paths(paths).unwrap()).arg("-B").arg("check_port.py").args(words);
        let ran = python.current_dir(home).output().unwrap();
        assert!(!ran.status.success(), "{words:?}");
        String::from_utf8_lossy(&ran.stderr).into_owned()
    };
    let check = |words: &[&str], expected: &str| {
        let said = run(words);
        assert!(said.contains(expected), "{words:?}: {said}");
    };
    check(&["b.txt"], "b.txt is no safetensors file");
    check(&["b.safetensors", "--project", "out"], "no class with UResNet in its name");
    check(&["b.safetensors", "--device", "ipu", "--stages"], "a compiled network shows no stages");
    fs::write(home.join("other.json"), SMALL.replace("4", "6")).unwrap();
    let words = ["forward", "--config", "other.json", "--size", "16x24", "--out", "c.safetensors", "--bundle"];
    assert_eq!(portolan(home, &words).code, 0);
    let faults = "the network has shape (4, 1, 5, 5), the bundle (6, 1, 5, 5)";
    check(&["c.safetensors", "--project", "ported"], faults);
}
