//! `portolan matrix`.

use crate::{folder, portolan, schema};
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

/// A project in which lines and places differ: two edits in one line, one of several lines, two messages about a line.
const SEVERAL: &str = "import torch\n\nnet, more = build().cuda(), build().cuda()\n\n\nnet = torch.nn.parallel.DistributedDataParallel(\n    \
    net.cuda(),\n    device_ids=[0],\n)\nnet.share_memory(torch.cuda.utilization())\nold = torch.jit.script(net)\n";

#[test]
fn places_are_counted_as_a_port_counts_them() {
    let home = folder(&[("a.py", SEVERAL), ("bad.py", "net.cuda(\n"), ("latin.py", "x = 1\n")]);
    std::fs::write(home.path().join("latin.py"), b"# \xe9\n").unwrap();
    let ran = portolan(home.path(), &["matrix", "--format", "json", "."]);
    let json: Value = serde_json::from_str(&ran.out).expect("it is JSON");
    schema::check_matrix(&json);
    let text = portolan(home.path(), &["matrix", "."]).out;
    let csv = portolan(home.path(), &["matrix", "--format", "csv", "."]).out;
    let (head, mut rows) = csv.split_once('\n').unwrap();
    assert_eq!(head, "target,recipe,title,done,to_do,not_possible");
    for (column, total) in json["totals"].as_array().expect("there are totals").iter().enumerate() {
        let target = total["target"].as_str().unwrap();
        assert_eq!(json["targets"][column], target);
        let port = |format: &str| portolan(home.path(), &["port", "--target", target, "--format", format, "."]);
        let report: Value = serde_json::from_str(&port("json").out).unwrap();
        schema::check(&report);
        assert_eq!(report["totals"], *total, "{target}");
        let own = port("csv");
        let own_rows = own.out.split_once('\n').unwrap().1;
        rows = rows.strip_prefix(own_rows).unwrap_or_else(|| panic!("{target}: {rows} begins with {own_rows}"));
        let table =
            own.err.find(&format!("places, {target} ")).map(|at| &own.err[at..]).expect("the port ends with it");
        let table = &table[..table.find("\nall ").expect("and it with the sum")];
        assert!(text.contains(table), "{target}: {text} has {table}");
        for (word, state) in
            [("places done", "done"), ("places to do", "needs-you"), ("places not possible", "not-possible")]
        {
            let line =
                text.lines().find_map(|line| line.strip_prefix(word)).unwrap_or_else(|| panic!("{word}: {text}"));
            let shown: Vec<u64> = line.split_whitespace().map(|number| number.parse().expect("a number")).collect();
            assert_eq!(total[state], shown[column], "{target}: {text}");
        }
    }
    assert_eq!(rows, "", "each target of the table is ported");
    let of = |target: &str| json["totals"].as_array()?.iter().find(|total| total["target"] == target).cloned();
    let hpu = of("hpu").unwrap();
    let numbers = ["done", "needs-you", "not-possible"].map(|name| hpu[name].as_u64().unwrap());
    assert_eq!(numbers, [3, 1, 2], "{hpu:#}");
}

#[test]
fn nothing_to_say_and_nothing_to_read() {
    let home = folder(&[("a.py", "x = 1\n")]);
    let ran = portolan(home.path(), &["matrix", "a.py"]);
    assert_eq!((ran.code, ran.out.lines().count()), (0, 1), "{ran:?}");
    let ran = portolan(home.path(), &["matrix", "none.py"]);
    assert_ne!(ran.code, 0, "{ran:?}");
}
