//! `portolan api`.

use crate::schema::check_api;
use crate::{Ran, folder, portolan};
use serde_json::Value;

fn api(words: &[&str]) -> Ran {
    portolan(folder(&[]).path(), &[&["api"], words].concat())
}

fn json(words: &[&str]) -> Value {
    let ran = api(&[words, &["--format", "json"]].concat());
    let value = serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    check_api(&value);
    value
}

#[test]
fn every_target_is_a_line() {
    let ran = api(&["torch.cuda.empty_cache"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let mut lines = ran.out.lines();
    assert_eq!(lines.next(), Some("torch.cuda.empty_cache"), "{ran:?}");
    let ids: Vec<&str> = lines.filter_map(|line| line.split_whitespace().next()).collect();
    for target in ["hpu", "ipu", "popdist", "rdu", "xpu"] {
        assert!(ids.contains(&target), "{target}: {ran:?}");
    }
    assert!(ran.out.contains("torch.xpu.empty_cache  xpu#"), "{ran:?}");
}

#[test]
fn one_target_is_asked_for() {
    let answer = json(&["torch.cuda.empty_cache", "--target", "xpu"]);
    assert_eq!(answer["targets"].as_array().map(Vec::len), Some(1), "{answer}");
    let result = &answer["targets"][0]["results"][0];
    assert_eq!((&answer["targets"][0]["id"], &result["code"]), (&"xpu".into(), &true.into()), "{answer}");
    assert_eq!(result["result"], "torch.xpu.empty_cache", "{answer}");
}

#[test]
fn a_target_that_extends_another_has_its_recipes() {
    let answer = json(&["torch.cuda.empty_cache", "--target", "popdist"]);
    let results = answer["targets"][0]["results"].as_array().cloned().unwrap_or_default();
    assert!(
        results.iter().any(|result| result["recipe"].as_str().is_some_and(|id| id.starts_with("ipu#"))),
        "{answer}"
    );
}

#[test]
fn a_method_needs_no_dot_and_no_parentheses() {
    assert_eq!(json(&["cuda"]), json(&[".cuda()"]));
    assert_eq!(json(&["torch.cuda.empty_cache()"]), json(&["torch.cuda.empty_cache"]));
}

#[test]
fn an_unknown_name_is_told_with_similar_ones() {
    let ran = api(&["torch.cuda.empty_cahce"]);
    assert_eq!((ran.code, &*ran.out), (1, ""), "{ran:?}");
    let told = "portolan: no recipe names `torch.cuda.empty_cahce`: ";
    assert!(ran.err.starts_with(told) && ran.err.contains("similar names: torch.cuda.empty_cache"), "{ran:?}");
    let answer = json(&["torch.cuda.empty_cahce"]);
    assert_eq!(answer["targets"], Value::Array(Vec::new()), "{answer}");
    assert_eq!(answer["similar"][0], "torch.cuda.empty_cache", "{answer}");
    let ran = api(&["zzzzzzzzzz"]);
    assert!(ran.code == 1 && !ran.err.contains("similar"), "{ran:?}");
}

#[test]
fn an_unknown_target_is_wrong_usage() {
    let ran = api(&["torch.cuda.empty_cache", "--target", "hpux"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("no recipes for target `hpux`; available targets: "), "{ran:?}");
    assert_eq!(api(&[]).code, 2);
}
