//! JSON and SARIF, and the options that change what is ported.

use crate::{TRAINER, folder, ported_trainer, portolan, read, schema};
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
        assert_eq!(keys.len(), 10, "{keys:?}");
    }
}

#[test]
fn every_edit_has_its_source_and_its_versions() {
    let home = folder(&[("trainer.py", TRAINER)]);
    let (_, report) = json(home.path(), &["trainer.py"]);
    let file = &report["files"][0];
    let named = ["edits", "diagnostics"].map(|list| file[list].as_array().unwrap().clone()).concat();
    assert!(!named.is_empty());
    for entry in named {
        let id = entry["recipe"].as_str().unwrap();
        let known = report["recipes"].get(id).is_some() || id.starts_with("engine#");
        assert!(known, "{id}: {:#}", report["recipes"]);
    }
}

#[test]
fn the_ledger_says_what_a_step_sees() {
    let text = "import torch\nfrom torch.utils.data import DataLoader\n\nnet = torch.nn.Linear(4, 2)\n\
        criterion = torch.nn.CrossEntropyLoss()\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n\
        loader = DataLoader(data, batch_size=32, shuffle=True)\n\n\ndef train():\n    for image, label in loader:\n        \
        opt.zero_grad()\n        loss = criterion(net(image), label)\n        loss.backward()\n        opt.step()\n";
    let home = folder(&[("a.py", text)]);
    let ran = portolan(home.path(), &["port", "--target", "popdist", "--format", "json", "a.py"]);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    schema::check(&report);
    let entries = report["ledgers"][0]["entries"].as_array().unwrap();
    let entry = |name: &str| entries.iter().find(|entry| entry["quantity"] == name).unwrap_or_else(|| panic!("{name}"));
    assert_eq!(entry("micro-batch")["before"]["text"], "32");
    assert_eq!(
        (&entry("micro-batch")["before"]["path"], &entry("micro-batch")["before"]["line"]),
        (&"a.py".into(), &7.into())
    );
    assert_eq!(entry("samples-per-step")["after"]["text"], "32 × replicas of poprun");
    assert_eq!(entry("device-iterations")["after"]["text"], "1");
    assert_eq!(entry("loss-reduction")["after"]["text"], "mean over a batch, mean over replicas");
    let flags = report["ledgers"][0]["flags"].as_array().unwrap();
    assert!(flags.iter().any(|flag| flag.as_str().unwrap().contains("samples instead of 32")), "{flags:?}");
    assert!(ran.err.contains("samples per optimizer step"), "{ran:?}");
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
fn places_are_those_of_the_file_on_the_disk() {
    // The port inserts lines before the place with manual work.
    let old =
        "import torch\n\nnet = torch.nn.Linear(4, 2).cuda()\n\n\ndef save(net):\n    é = 1; torch.jit.script(net)\n";
    let home = folder(&[("p/more.py", old)]);
    let place = |line: usize, column: usize| format!("p/more.py:{line}:{column}: warning[hpu#");
    let said = |words: &[&str]| {
        let ran = portolan(home.path(), &[&["port", "--target", "hpu", "--style", "in-place"], words, &["p"]].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        ran
    };
    let ran = said(&[]);
    assert!(ran.err.contains(&place(7, 12)), "the original's line and column: {ran:?}");
    let ran = said(&["--out", "q"]);
    assert!(ran.err.contains(&place(7, 12)), "the path is the original's: {ran:?}");
    let line = read(home.path(), "q/more.py").lines().position(|line| line.contains("jit.script")).unwrap() + 1;
    assert!(line > 7, "the port has lines in front of it");

    let report: Value = serde_json::from_str(&said(&["--format", "json"]).out).unwrap();
    schema::check(&report);
    let diagnostics = report["files"][0]["diagnostics"].as_array().unwrap();
    let found = diagnostics.iter().find(|d| d["line"] == 7).unwrap_or_else(|| panic!("{report:#}"));
    assert_eq!((&found["column"], &found["ported"]["line"]), (&12.into(), &line.into()));

    let log: Value = serde_json::from_str(&said(&["--format", "sarif"]).out).unwrap();
    let region = |result: &Value| result["locations"][0]["physicalLocation"]["region"].clone();
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert!(results.iter().any(|result| region(result)["startLine"] == 7), "{log:#}");

    let ran = said(&["--write"]);
    assert!(ran.err.contains(&place(line, 12)), "the ported text is on the disk now: {ran:?}");
}

#[cfg(unix)]
#[test]
fn places_of_a_file_that_is_not_written_are_those_of_the_original() {
    use std::os::unix::fs::PermissionsExt;
    let old = "import torch\n\nnet = torch.nn.Linear(4, 2).cuda()\ntorch.jit.script(net)\n";
    /// The rule and the line of each message about a file of a report.
    type Places<'p> = &'p dyn Fn(&Value, &str) -> Vec<(String, u64)>;
    let check = |format: &str, place: Places<'_>| {
        let home = folder(&[("p/a.py", old), ("p/locked.py", old)]);
        std::fs::set_permissions(home.path().join("p/locked.py"), std::fs::Permissions::from_mode(0o444)).unwrap();
        let words = ["port", "--target", "hpu", "--style", "in-place", "--write", "--format", format, "p"];
        let ran = portolan(home.path(), &words);
        assert_eq!(ran.code, 1, "{ran:?}");
        let report: Value = serde_json::from_str(&ran.out).unwrap();
        let new = read(home.path(), "p/a.py").lines().position(|line| line.contains("jit.script")).unwrap() as u64 + 1;
        assert!(new > 4 && read(home.path(), "p/locked.py") == old, "{ran:?}");
        let (written, locked) = (place(&report, "a.py"), place(&report, "locked.py"));
        assert!(
            written.iter().any(|(_, line)| *line == new) && written.iter().all(|(id, _)| id != "engine#not-written")
        );
        assert!(locked.contains(&("engine#not-written".to_owned(), 1)), "{report:#}");
        assert!(locked.iter().any(|(_, line)| *line == 4) && locked.iter().all(|(_, line)| *line <= 4), "{report:#}");
        report
    };
    check("sarif", &|log, path| {
        let results = log["runs"][0]["results"].as_array().unwrap().iter();
        let at = |result: &Value| result["locations"][0]["physicalLocation"].clone();
        let of_file = results.filter(|result| at(result)["artifactLocation"]["uri"] == format!("p/{path}"));
        let id = |result: &Value| result["ruleId"].as_str().unwrap().to_owned();
        of_file.map(|result| (id(result), at(result)["region"]["startLine"].as_u64().unwrap())).collect()
    });
    // JSON has both places.
    let report = check("json", &|report, path| {
        let file = report["files"].as_array().unwrap().iter().find(|file| file["path"] == path).unwrap();
        let line = if path == "a.py" { |d: &Value| d["ported"]["line"].clone() } else { |d: &Value| d["line"].clone() };
        let found = file["diagnostics"].as_array().unwrap().iter();
        found.map(|d| (d["recipe"].as_str().unwrap().to_owned(), line(d).as_u64().unwrap())).collect()
    });
    schema::check(&report);
}

#[test]
fn code_in_strings_is_said_to_be_unread() {
    let step = "for x, y in loader:\\n    opt.zero_grad()\\n    crit(net(x.cuda()), y).backward()\\n    opt.step()\\n";
    let head = "import torch\n\nnet = torch.nn.Linear(4, 2)\ncrit = torch.nn.CrossEntropyLoss()\n\
        opt = torch.optim.SGD(net.parameters(), lr=0.1)\n\
        loader = torch.utils.data.DataLoader(data, batch_size=32, shuffle=True)\n\n\n";
    let cells = format!(
        "{head}get_ipython().run_line_magic('matplotlib', 'inline')\nget_ipython().run_cell_magic('html', '', '<b>x</b>\\n')\n\
         get_ipython().run_cell_magic('time', '', '{step}')\nget_ipython().run_line_magic('timeit', 'net(x.cuda())')\n\
         get_ipython().run_cell_magic('writefile', 'more.py', 'x.cuda()\\n')\n"
    );
    let home = folder(&[("notebook.py", &cells)]);
    for target in ["hpu", "ipu", "popdist", "rdu"] {
        let ran = portolan(home.path(), &["port", "--target", target, "--format", "json", "notebook.py"]);
        let unread: Vec<&str> = ran.err.lines().filter(|line| line.contains("[engine#unread]")).collect();
        assert!(unread.len() == 3, "{target}: {ran:?}");
        assert!(unread[0].starts_with("notebook.py:11:42: warning") && unread[0].contains("`%%time`"), "{unread:?}");
        assert!(unread[1].starts_with("notebook.py:12:40: warning") && unread[1].contains("`%timeit`"), "{unread:?}");
        assert!(unread[2].contains("port the file it writes"), "{unread:?}");
        let report: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(report["ledgers"], serde_json::json!([]), "{target}: no step was read, so none is reckoned");
        assert!(!ran.err.contains("before and after"), "{ran:?}");
    }
}

#[test]
fn a_port_without_its_step_begins_with_an_overview() {
    let text = "import torch\n\nnet = torch.nn.Linear(4, 2).cuda()\nopt = torch.optim.RMSprop(net.parameters(), lr=0.1)\n\
        loader = torch.utils.data.DataLoader(data, batch_size=32)\n\n\ndef train():\n    for x, y in loader:\n        \
        opt.zero_grad()\n        loss = torch.nn.functional.mse_loss(net(x), y)\n        loss.backward()\n        \
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)\n        opt.step()\n";
    let home = folder(&[("train.py", text), ("plain.py", TRAINER)]);
    for (target, ported) in [("ipu", "ported        nothing\n"), ("rdu", "ported        ")] {
        let ran = portolan(home.path(), &["port", "--target", target, "train.py"]);
        let first = format!("portolan: the training step is not ported to {target}\n");
        assert!(ran.err.starts_with(&first), "{ran:?}");
        assert!(ran.err.contains("\n  stopped at    train.py:") && ran.err.contains(ported), "{ran:?}");
        assert!(ran.err.contains("\n  left for you  "), "{ran:?}");
    }
    for (target, file) in [("hpu", "train.py"), ("ipu", "plain.py")] {
        let ran = portolan(home.path(), &["port", "--target", target, file]);
        assert!(!ran.err.contains("training step is not ported"), "{ran:?}");
    }
}

#[test]
fn changes_are_counted_as_the_page_counts_them() {
    let home = folder(&[("trainer.py", TRAINER)]);
    let ran = portolan(home.path(), &["port", "--target", "hpu", "trainer.py"]);
    let mut runs = 0;
    let mut changed = false;
    for line in ran.out.lines().skip_while(|line| !line.starts_with("@@")) {
        let now = line.starts_with(['+', '-']);
        runs += usize::from(now && !changed);
        changed = now;
    }
    let edits = json(home.path(), &["trainer.py"]).1["files"][0]["edits"].as_array().unwrap().len();
    assert_ne!(runs, edits, "an example in which the two differ");
    assert!(ran.err.contains(&format!("portolan: {runs} changes in 1 of 1 file")), "{ran:?}");
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
