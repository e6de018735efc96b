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
fn nothing_to_say_and_nothing_to_read() {
    let home = folder(&[("a.py", "x = 1\n")]);
    let ran = portolan(home.path(), &["matrix", "a.py"]);
    assert_eq!((ran.code, ran.out.lines().count()), (0, 1), "{ran:?}");
    let ran = portolan(home.path(), &["matrix", "none.py"]);
    assert_ne!(ran.code, 0, "{ran:?}");
}
