//! JSON and SARIF, and the switches that change what is ported.

use crate::{TRAINER, folder, ported_trainer, portolan, schema};
use serde_json::Value;
use std::path::Path;

const MORE: &str = "\
import torch

net = torch.nn.DataParallel(torch.nn.Linear(4, 2)).cuda()
loader = torch.utils.data.DataLoader(data, batch_size=4, shuffle=True)
";

fn json(folder: &Path, words: &[&str]) -> (i32, Value) {
    let ran = portolan(folder, &[&["port", "--target", "hpu", "--format", "json"], words].concat());
    (ran.code, serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}")))
}

#[test]
fn the_json_is_what_the_schema_says() {
    let home = folder(&[
        ("trainer.py", TRAINER),
        ("größe.py", MORE),
        ("bad.py", "def f(:\n"),
        ("requirements.txt", "torch==2.1\n"),
    ]);
    for words in [&["."][..], &["--style", "branch", "--sdk", "1.8", "--unsafe", "."], &["trainer.py", "no.py"]] {
        let (_, report) = json(home.path(), words);
        schema::check(&report);
        let keys: Vec<&String> = report.as_object().unwrap().keys().collect();
        assert_eq!(keys.len(), 6, "{keys:?}");
    }
}

#[test]
fn the_edits_lead_to_the_ported_text() {
    let home = folder(&[("trainer.py", TRAINER)]);
    let (code, report) = json(home.path(), &["trainer.py"]);
    assert_eq!(code, 0);
    let mut text = TRAINER.to_string();
    for edit in report["files"][0]["edits"].as_array().unwrap().iter().rev() {
        let at = |key: &str| edit[key].as_u64().unwrap() as usize;
        text.replace_range(at("start")..at("end"), edit["text"].as_str().unwrap());
    }
    assert_eq!(text, ported_trainer());
}

#[test]
fn sarif_names_rule_place_and_level() {
    let home = folder(&[("my dir/more.py", MORE), ("my dir/bad.py", "def f(:\n")]);
    let ran =
        portolan(home.path(), &["port", "--target", "hpu", "--format", "sarif", "my dir/more.py", "my dir/bad.py"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let log: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(log["version"], "2.1.0");
    assert_eq!(log["runs"].as_array().unwrap().len(), 1);
    let run = &log["runs"][0];
    assert_eq!(run["tool"]["driver"]["name"], "portolan");
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let results = run["results"].as_array().unwrap();
    assert!(results.len() >= 2, "{log:#}");
    for result in results {
        let index = result["ruleIndex"].as_u64().unwrap() as usize;
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        let place = &result["locations"][0]["physicalLocation"];
        assert!(place["artifactLocation"]["uri"].as_str().unwrap().starts_with("my%20dir/"));
        assert!(place["region"]["startLine"].as_u64().unwrap() >= 1);
        assert!(place["region"]["endColumn"].as_u64().unwrap() >= 1);
    }
    assert!(results.iter().any(|result| result["level"] == "error" && result["ruleId"] == "engine#syntax"));
}

#[test]
fn messages_name_path_line_column_and_recipe() {
    let home = folder(&[("p/more.py", MORE)]);
    let ran = portolan(home.path(), &["port", "--target", "hpu", "p"]);
    assert_eq!(ran.code, 0, "a warning alone is no failure: {ran:?}");
    assert!(ran.err.lines().any(|line| line.starts_with("p/more.py:") && line.contains(": warning[hpu#")), "{ran:?}");
    let ran = portolan(home.path(), &["port", "--target", "hpu", "--check", "p"]);
    assert_eq!(ran.code, 1, "--check fails while a person is needed: {ran:?}");
    let home = folder(&[("p/trainer.py", TRAINER)]);
    let ran = portolan(home.path(), &["port", "--target", "hpu", "--check", "p"]);
    assert_eq!(ran.code, 0, "nothing is left to do: {ran:?}");
}

#[test]
fn switches_reach_the_engine() {
    let home = folder(&[("more.py", MORE)]);
    let recipes = |words: &[&str]| {
        let (_, report) = json(home.path(), &[words, &["more.py"]].concat());
        let edits = report["files"][0]["edits"].as_array().unwrap();
        let mut ids: Vec<String> = edits.iter().map(|edit| edit["recipe"].as_str().unwrap().to_string()).collect();
        ids.sort();
        ids.dedup();
        ids
    };
    let usual = recipes(&[]);
    assert!(usual.contains(&"hpu#model-to-device".to_string()), "{usual:?}");
    let without = recipes(&["--reject", "hpu#model-to-device"]);
    assert!(!without.contains(&"hpu#model-to-device".to_string()), "{without:?}");
    let with_unsafe = recipes(&["--unsafe"]);
    assert!(with_unsafe.len() > usual.len(), "{with_unsafe:?}");
    let (_, report) = json(home.path(), &["--sdk", "1.8", "--option", "lazy=on", "--style", "in-place", "more.py"]);
    assert_eq!((report["sdk"].as_str(), report["options"]["lazy"].as_str()), (Some("1.8"), Some("on")));
    assert_eq!(report["style"], "in-place");
}
