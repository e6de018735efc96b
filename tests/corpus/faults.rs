//! Faults injected into correct ports: the twin run has to detect every one.
//!
//! `tests/fixtures/twins/faults.toml` lists each with its place and the expected finding.

use crate::sound::{here, texts, write_tree};
use crate::twins::{Fixture, run_all, start_of, whole};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

struct Fault {
    what: String,
    finds: String,
    rule: Option<String>,
}

#[test]
fn every_fault_is_found() {
    let read = |file: &str| -> toml::Table {
        fs::read_to_string(here().join("fixtures/twins").join(file)).unwrap().parse().unwrap()
    };
    let (faults, stated, fixtures) = (read("faults.toml"), read("verdicts.toml"), Fixture::all());
    let (mut twins, mut wanted, mut missed) = (Vec::new(), BTreeMap::new(), Vec::new());
    let mut count = BTreeMap::<String, usize>::new();
    for fault in faults["fault"].as_array().unwrap() {
        let text = |name: &str| fault.get(name).map(|value| value.as_str().expect("text").to_owned());
        let (what, of, to) = (text("what").unwrap(), text("of").unwrap(), text("to").unwrap());
        let title = format!("{what}, in {of} on {to}");
        let case = &stated[&of][&to];
        let right = case.as_str().or_else(|| case.get("verdict")?.as_str()).unwrap();
        assert!(right.starts_with("equal"), "{title}: without the fault the verdict is `{right}`");
        let target = to.split('.').next().unwrap();
        let (mut start, asked) = start_of(&fixtures[&of], target, case);
        let more = fault.get("options").and_then(toml::Value::as_array).into_iter().flatten();
        start.options.extend(more.map(|option| option.as_str().unwrap().to_owned()));
        let ported = fixtures[&of].ported(target, &asked);
        let mut files: Vec<(String, String)> =
            texts(&ported).map(|(path, text)| (path.to_owned(), text.to_owned())).collect();
        for edit in fault["edits"].as_array().unwrap() {
            let [from, into] = [0, 1].map(|n| edit[n].as_str().expect("text"));
            let places: usize = files.iter().map(|(_, text)| text.matches(from).count()).sum();
            assert_eq!(places, 1, "{title}: {from:?} stands at {places} places of the port");
            for (_, text) in &mut files {
                *text = text.replace(from, into);
            }
        }
        let twin = fixtures[&of].twin(&title, target, &ported, start);
        let root = twin.ported.ancestors().nth(fixtures[&of].depth()).unwrap();
        write_tree(root, files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
        twins.push(twin);
        *count.entry(target.to_owned()).or_default() += 1;
        wanted.insert(title, Fault { what, finds: text("finds").unwrap(), rule: text("rule") });
    }
    let results = run_all(&twins);
    for (title, fault) in &wanted {
        let result = results.get(title).unwrap_or(&Value::Null);
        let first = result["first"]["told"].as_str().unwrap_or_default();
        let names_place = !fault.finds.starts_with("step ") || result["first"]["step"].is_u64();
        let rules = result["contracts"].as_array().into_iter().flatten();
        let rule = fault.rule.as_ref().is_none_or(|rule| rules.clone().any(|one| one["rule"] == rule.as_str()));
        if result["verdict"] != "differs" || !first.starts_with(&fault.finds) || !names_place || !rule {
            missed.push(format!("{title}: to be found is `{}`, found: {}", fault.finds, whole(result)));
        }
    }
    assert!(missed.is_empty(), "\n{}", missed.join("\n\n"));
    let kinds: std::collections::BTreeSet<_> = wanted.values().map(|fault| &fault.what).collect();
    assert!(kinds.len() >= 25 && count.len() == 5, "{} kinds of faults over {count:?}", kinds.len());
}
