//! Examples of the guides as twin runs: the results of a `before` and of its port.
//!
//! An example is a fragment. `examples.py` prepends the objects that it uses and calls the functions that it defines;
//! the whole is ported with the example's options, and both are run. `tests/fixtures/twins/examples.toml` has the
//! result of each or why it does not run; `UPDATE=1` writes it, and the diff has to be reviewed.

use crate::results::Run;
use crate::server::{self, Framework};
use crate::trials::{trial, trials};
use crate::twin::{Start, Twin, verdict, whole};
use crate::verdicts::read;
use codemod::{Example, Options, Ported, SourceFile, Style, embedded_guides};
use guide::ExampleKind;
use libtest_mimic::Trial;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::{LazyLock, Mutex};
use tests::sound::{here, ported};

/// Guides with PyTorch examples.
const GUIDES: [&str; 5] = ["hpu", "ipu", "popdist", "rdu", "xpu"];

/// An example with a change.
struct Changed {
    recipe: String,
    example: Example,
}

/// All of them, by the id of their section and their number in it.
static EXAMPLES: LazyLock<BTreeMap<String, Changed>> = LazyLock::new(|| {
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
                let name = format!("{recipe} {}", number + 1);
                found.insert(name, Changed { recipe, example: Example::of(target, case) });
            }
        }
    }
    found
});

/// The examples as programs, or why they can't be.
static PROGRAMS: LazyLock<BTreeMap<String, Result<String, String>>> = LazyLock::new(|| {
    let mut completer = Command::new(Framework::PyTorch.python())
        .arg(here().join("twins/examples.py"))
        .env_clear()
        .envs(server::environment())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = completer.stdin.take().unwrap();
    let asked = EXAMPLES.iter().map(|(name, one)| json!({"name": name, "text": one.example.file.text}));
    let lines: String = asked.map(|line| format!("{line}\n")).collect();
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()).unwrap());
    let output = completer.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success(), "examples.py failed");
    let lines = String::from_utf8(output.stdout).unwrap();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let told = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    told.map(|one| (text(&one["name"]).unwrap(), text(&one["program"]).ok_or_else(|| text(&one["why"]).unwrap())))
        .collect()
});

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
fn told(name: &str, twin: &Twin, result: &Value) -> String {
    let failed = result["failed"].as_str().unwrap_or_default();
    if let Some(how) = failed.strip_prefix(&format!("original/{}", twin.program)) {
        return format!("not run: the original{how}");
    }
    match (verdict(result), EXPLAINED.get(name)) {
        (verdict, Some(why)) if verdict != "equal" => format!("explained: {}", why.as_str().expect("a reason is text")),
        (verdict, _) => verdict,
    }
}

/// Differences that a recipe announces, with the text that its users read.
static EXPLAINED: LazyLock<toml::Table> = LazyLock::new(|| read("examples_explained.toml"));

/// The stated results.
static STATED: LazyLock<toml::Table> = LazyLock::new(|| read("examples.toml"));

/// The results found under `UPDATE=1`.
static FOUND: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());

fn is_update() -> bool {
    std::env::var_os("UPDATE").is_some()
}

/// Compares a result with the table, or keeps it for the new one.
fn compare(name: &str, told: String) -> Result<(), String> {
    let stated = STATED.get(name).and_then(toml::Value::as_str).unwrap_or("nothing");
    if is_update() {
        FOUND.lock().unwrap().insert(name.to_owned(), told);
    } else if stated != told {
        return Err(format!("stated is `{stated}`, found `{told}`"));
    }
    Ok(())
}

fn check(name: &str, Changed { recipe, example }: &Changed) -> Result<(), String> {
    let text = match &PROGRAMS[name] {
        _ if example.options.style == Style::Branch => {
            return compare(name, "not run: it is a part of a project with modes".to_owned());
        }
        Ok(text) => text,
        Err(why) => return compare(name, format!("not run: {why}")),
    };
    let path = &example.file.path;
    let ported = ported(&[SourceFile { path: path.clone(), text: text.clone() }], &example.options);
    if let Some(why) = no_twin(recipe, ported) {
        return compare(name, format!("not run: {why}"));
    }
    let after = &ported.files[0].text;
    let twin = Twin {
        target: example.options.target.clone(),
        program: path.clone(),
        original: [(path.clone(), text.clone())].into(),
        ported: [(path.clone(), after.clone())].into(),
        start: start(example, text, after),
    };
    twin.check(|result| {
        let told = told(name, &twin, result);
        if ["differs", "failed", "rules broken"].iter().any(|word| told.starts_with(word) || told.ends_with(word)) {
            return Err(format!("{}\n{after}", whole(result)));
        }
        compare(name, told)
    })
}

pub(crate) fn trials() -> Vec<Trial> {
    let named =
        EXAMPLES.iter().map(|(name, one)| trial(format!("examples::{}", name.replace(' ', "::")), || check(name, one)));
    named.chain(trials!(every_stated_one_exists)).collect()
}

fn every_stated_one_exists() {
    let gone: Vec<_> = STATED.keys().filter(|name| !EXAMPLES.contains_key(*name)).collect();
    assert!(gone.is_empty() || is_update(), "there are no such examples: {gone:?}");
}

/// Under `UPDATE=1`, writes the table: how many run, then each. An example that was not tested now keeps its line.
pub(crate) fn write_table() {
    let found = FOUND.lock().unwrap();
    if found.is_empty() {
        return;
    }
    let stated = |name: &String| STATED.get(name).and_then(toml::Value::as_str);
    let lines =
        EXAMPLES.keys().filter_map(|name| Some((name, found.get(name).map_or(stated(name), |told| Some(told))?)));
    let lines: Vec<_> = lines.collect();
    let run = lines.iter().filter(|(_, told)| !told.starts_with("not run: ")).count();
    let mut text = format!(
        "# What the examples of the guides compute beside their ports: {run} of {} run, and the others say why not.\n\
         # The number behind a section's id counts its examples. UPDATE=1 writes this file; read the difference.\n\n",
        lines.len()
    );
    for (name, told) in lines {
        writeln!(text, "{} = {}", json!(name), json!(told)).unwrap();
    }
    fs::write(here().join("fixtures/twins/examples.toml"), text).unwrap();
}
