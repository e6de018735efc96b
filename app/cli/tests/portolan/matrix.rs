//! `portolan matrix`.

use crate::{folder, portolan};
use serde_json::Value;

#[test]
fn every_target_is_a_column() {
    let home = folder(&[("a.py", "import torch\n\nnet = build().cuda()\n"), ("b.py", "x = 1\n")]);
    let ran = portolan(home.path(), &["matrix", "."]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let row = ran.out.lines().find(|line| line.starts_with("a.py:3")).expect("the line is a row");
    assert!(row.contains("net = build().cuda()") && row.contains("done"), "{ran:?}");
    assert!(!ran.out.contains("b.py"), "{ran:?}");

    let json = portolan(home.path(), &["matrix", "--format", "json", "."]);
    let json: Value = serde_json::from_str(&json.out).expect("it is JSON");
    let targets = json["targets"].as_array().expect("there are targets");
    assert!(targets.iter().any(|target| target == "hpu"));
    for row in json["rows"].as_array().expect("there are rows") {
        assert_eq!(row["cells"].as_array().map(Vec::len), Some(targets.len()));
    }
}

#[test]
fn each_target_has_the_number_of_its_lines() {
    let home =
        folder(&[("a.py", "import torch\n\nnet = build().cuda()\nnet.share_memory(torch.cuda.utilization())\n")]);
    let json = portolan(home.path(), &["matrix", "--format", "json", "a.py"]);
    let json: Value = serde_json::from_str(&json.out).expect("it is JSON");
    let text = portolan(home.path(), &["matrix", "a.py"]).out;
    for (word, state) in [("lines done", "done"), ("lines to do", "needs-you"), ("lines not possible", "not-possible")]
    {
        let line = text.lines().find_map(|line| line.strip_prefix(word)).unwrap_or_else(|| panic!("{word}: {text}"));
        let shown: Vec<u64> = line.split_whitespace().map(|number| number.parse().expect("a number")).collect();
        let mut counted = Vec::new();
        for (column, total) in json["totals"].as_array().expect("there are totals").iter().enumerate() {
            assert_eq!(total["target"], json["targets"][column]);
            let rows = json["rows"].as_array().expect("there are rows");
            let own = rows.iter().filter(|row| row["cells"][column]["state"] == state).count() as u64;
            assert_eq!(total[state], own, "{json}");
            counted.push(own);
        }
        assert_eq!(shown, counted, "{text}");
    }
    let of = |target: &str| json["totals"].as_array()?.iter().find(|total| total["target"] == target).cloned();
    assert_eq!(of("hpu").map(|total| total["done"].clone()), Some(2.into()), "{json}");
    assert_eq!(of("ipu").map(|total| total["needs-you"].clone()), Some(2.into()), "{json}");
}

#[test]
fn nothing_to_say_and_nothing_to_read() {
    let home = folder(&[("a.py", "x = 1\n")]);
    let ran = portolan(home.path(), &["matrix", "a.py"]);
    assert_eq!((ran.code, ran.out.lines().count()), (0, 1), "{ran:?}");
    let ran = portolan(home.path(), &["matrix", "none.py"]);
    assert_ne!(ran.code, 0, "{ran:?}");
}
