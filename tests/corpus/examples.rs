//! Examples of the guides as twin runs: the results of a `before` and of its port.
//!
//! An example is a fragment. `examples.py` prepends the objects that it uses and calls the functions that it defines;
//! the whole is ported with the example's options, and both are run. `tests/fixtures/twins/examples.toml` has the
//! result of each or why it does not run; `UPDATE=1` writes it, and the diff has to be reviewed.

use crate::server;
use crate::sound::{RECIPES, folder, here, write_tree};
use crate::twins::{Start, Twin, run_all, verdict, whole};
use codemod::{Example, Options, Ported, Style, embedded_guides, port};
use guide::ExampleKind;
use python::SourceFile;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::process::Stdio;

/// Guides with PyTorch examples.
const GUIDES: [&str; 5] = ["hpu", "ipu", "popdist", "rdu", "xpu"];

/// The examples with a change, by the id of their section and their number in it.
fn examples() -> BTreeMap<String, (String, Example)> {
    let mut found = BTreeMap::new();
    for guide in embedded_guides().iter().filter(|guide| GUIDES.contains(&&*guide.name)) {
        let target = guide.front.target.as_deref().expect("a guide of a target");
        for section in &guide.sections {
            let cases = section.cases();
            let changed = cases
                .iter()
                .enumerate()
                .filter(|(_, case)| case.input.kind == ExampleKind::Before && case.input.language == "python");
            for (number, case) in changed {
                let recipe = format!("{}#{}", guide.name, section.id);
                found.insert(format!("{recipe} {}", number + 1), (recipe, Example::of(target, case)));
            }
        }
    }
    found
}

/// The examples as programs, or why they can't be.
fn completed(examples: &BTreeMap<String, (String, Example)>) -> BTreeMap<String, Result<String, String>> {
    let mut completer = std::process::Command::new(server::python())
        .arg(here().join("corpus/examples.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = completer.stdin.take().unwrap();
    let lines: String = examples
        .iter()
        .map(|(name, (_, example))| format!("{}\n", json!({"name": name, "text": example.file.text})))
        .collect();
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()).unwrap());
    let output = completer.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success(), "examples.py failed");
    let lines = String::from_utf8(output.stdout).unwrap();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let told = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    told.map(|one| (text(&one["name"]).unwrap(), text(&one["program"]).ok_or_else(|| text(&one["why"]).unwrap())))
        .collect()
}

/// Why the port of a complete example can't be run, if so.
fn no_twin(recipe: &str, ported: &Ported) -> Option<&'static str> {
    let file = &ported.files[0];
    if file.diagnostics.iter().any(|one| one.stops_step) {
        return Some("the step is refused");
    }
    (!file.edits.iter().any(|edit| edit.recipe == recipe))
        .then_some("its recipe has nothing to do in the whole program")
}

/// How the port of an example is started: with its release, and, if the port requires it, with shapes and a batch size.
fn start(example: &Example, program: &str, ported: &str) -> Start {
    let Options { target, sdk, .. } = &example.options;
    let mut told = Vec::new();
    if let Some(sdk) = sdk.as_ref().filter(|_| target == "hpu") {
        told.extend(["--sdk".to_owned(), sdk.clone()]);
    }
    if target == "rdu" {
        let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>();
        let batch = program.split_once("batch_size=").map_or_else(|| "4".to_owned(), |(_, rest)| digits(rest));
        told.extend(["--batch-size".to_owned(), batch]);
        let asked = ported.lines().filter(|line| line.contains("required=True"));
        let names = asked.filter_map(|line| line.split_once("add_argument(\"")?.1.split('"').next());
        let shapes: Vec<_> = names.map(|name| format!("{name} {WIDTH}")).collect();
        told.push(format!("--port-args={}", shapes.join(" ")));
    }
    Start { options: told, ..Start::default() }
}

/// Features of a sample in the completed programs, if the example does not specify them.
const WIDTH: usize = 8;

/// The text about a twin run in the table.
fn told(twin: &Twin, result: &Value, explained: &toml::Table) -> String {
    let failed = result["failed"].as_str().unwrap_or_default();
    if let Some(how) = failed.strip_prefix(twin.original.to_str().unwrap()) {
        return format!("not run: the original{how}");
    }
    match (verdict(result), explained.get(&twin.name)) {
        (verdict, Some(why)) if verdict != "equal" => format!("explained: {}", why.as_str().expect("a reason is text")),
        (verdict, _) => verdict,
    }
}

/// Differences that a recipe announces, with the text that its users read.
fn explained() -> toml::Table {
    fs::read_to_string(here().join("fixtures/twins/examples_explained.toml")).unwrap().parse().unwrap()
}

#[test]
fn every_example_that_can_run() {
    let examples = examples();
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let mut twins = Vec::new();
    for (name, program) in completed(&examples) {
        let (recipe, example) = &examples[&name];
        let program = match program {
            _ if example.options.style == Style::Branch => Err("it is a part of a project with modes".to_owned()),
            program => program,
        };
        let text = match program {
            Ok(text) => text,
            Err(why) => {
                found.insert(name, format!("not run: {why}"));
                continue;
            }
        };
        let files = [SourceFile { path: example.file.path.clone(), text }];
        let ported = port(&files, &RECIPES, &example.options);
        if let Some(why) = no_twin(recipe, &ported) {
            found.insert(name, format!("not run: {why}"));
            continue;
        }
        let [original, after] = [folder("example"), folder("example")];
        write_tree(&original, [(&*files[0].path, &*files[0].text)]);
        write_tree(&after, [(&*ported.files[0].path, &*ported.files[0].text)]);
        twins.push(Twin {
            target: example.options.target.clone(),
            original: original.join(&files[0].path),
            ported: after.join(&files[0].path),
            start: start(example, &files[0].text, &ported.files[0].text),
            name,
        });
    }
    let (results, explained) = (run_all(&twins), explained());
    let mut faults = String::new();
    for twin in &twins {
        let Some(result) = results.get(&twin.name) else {
            writeln!(faults, "{}: the driver ended before it", twin.name).unwrap();
            continue;
        };
        let told = told(twin, result, &explained);
        if ["differs", "failed", "rules broken"].iter().any(|word| told.starts_with(word) || told.ends_with(word)) {
            writeln!(faults, "{}: {}\n    {}", twin.name, whole(result), twin.ported.display()).unwrap();
        }
        found.insert(twin.name.clone(), told);
    }
    compare(&found, &mut faults);
    assert!(faults.is_empty(), "\n{faults}");
}

/// The table as a file: how many run, then each.
fn table(found: &BTreeMap<String, String>) -> String {
    let run = found.values().filter(|told| !told.starts_with("not run: ")).count();
    let mut text = format!(
        "# What the examples of the guides compute beside their ports: {run} of {} run, and the others say why not.\n\
         # The number behind a section's id counts its examples. UPDATE=1 writes this file; read the difference.\n\n",
        found.len()
    );
    for (name, told) in found {
        writeln!(text, "{} = {}", json!(name), json!(told)).unwrap();
    }
    text
}

/// Compares the results with the table, or writes it.
fn compare(found: &BTreeMap<String, String>, faults: &mut String) {
    let path = here().join("fixtures/twins/examples.toml");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, table(found)).unwrap();
        return;
    }
    let stated: toml::Table = fs::read_to_string(&path).unwrap().parse().unwrap();
    for name in stated.keys().filter(|name| !found.contains_key(*name)) {
        writeln!(faults, "{name}: there is no such example").unwrap();
    }
    for (name, told) in found {
        let stated = stated.get(name).and_then(toml::Value::as_str).unwrap_or("nothing");
        if stated != told {
            writeln!(faults, "{name}: stated is `{stated}`, found `{told}`").unwrap();
        }
    }
}
