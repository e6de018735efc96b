//! Twin runs: programs and their ports with the same weights and the same data, compared step by step.
//!
//! `tests/fixtures/twins/verdicts.toml` has the expected verdict for every fixture and script on every target; verdicts
//! are reviewed by reading. All runs of a test are started by one driver, `rehearsal/twins/many.py`, and forked from
//! one server.

use crate::server::Framework;
use crate::sound::{RECIPES, folder, here, read_tree, texts, to, told, write_tree};
use codemod::{Options, Ported, port};
use python::SourceFile;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::LazyLock;

/// Arguments of `rehearse.py` in addition to the two programs.
#[derive(Clone, Default)]
pub(crate) struct Start {
    /// The port's arguments.
    pub(crate) arguments: String,
    /// The original's.
    pub(crate) original: String,
    /// Arguments of earlier starts, in the same folder.
    pub(crate) first: Vec<String>,
    /// Further options of `rehearse.py`, such as `--instances`.
    pub(crate) options: Vec<String>,
    pub(crate) framework: Framework,
}

/// A twin run to start.
pub(crate) struct Twin {
    pub(crate) name: String,
    pub(crate) target: String,
    pub(crate) original: PathBuf,
    pub(crate) ported: PathBuf,
    pub(crate) start: Start,
}

/// The result of each, by name.
pub(crate) fn run_all(twins: &[Twin]) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for framework in [Framework::PyTorch, Framework::TensorFlow] {
        let twins: Vec<_> = twins.iter().filter(|twin| twin.start.framework == framework).collect();
        if !twins.is_empty() {
            found.extend(run_on(framework, &twins));
        }
    }
    found
}

fn run_on(framework: Framework, twins: &[&Twin]) -> BTreeMap<String, Value> {
    let mut driver = framework
        .command()
        .arg(here().join("../rehearsal/twins/many.py").canonicalize().unwrap())
        .arg(std::thread::available_parallelism().map_or(2, usize::from).to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = driver.stdin.take().unwrap();
    for twin in twins {
        let Start { arguments, original, first, options, .. } = &twin.start;
        let path = |path: &Path| path.to_str().unwrap().to_owned();
        let mut argv = vec!["--target".into(), twin.target.clone(), "--twin".into(), path(&twin.original)];
        argv.extend(["--twin-steps".into(), STEPS.to_string(), format!("--twin-args={original}")]);
        argv.extend(first.iter().map(|first| format!("--first={first}")));
        argv.extend(options.iter().cloned());
        argv.push(path(&twin.ported));
        argv.extend(arguments.split_whitespace().map(str::to_owned));
        writeln!(input, "{}", json!({"name": twin.name, "home": folder("home"), "argv": argv})).unwrap();
    }
    drop(input);
    let output = driver.wait_with_output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let found = lines.lines().map(|line| serde_json::from_str(line).expect("the driver writes JSON"));
    found.map(|line: Value| (line["name"].as_str().unwrap().to_owned(), line["result"].clone())).collect()
}

/// The number of optimizer updates that are compared.
const STEPS: usize = 8;

/// The verdict as it is stated: without the size of rounding differences, which depends on the machine.
pub(crate) fn verdict(result: &Value) -> String {
    let word = result["verdict"].as_str().unwrap();
    let reasons = result["reasons"].as_array().into_iter().flatten().map(|reason| {
        let reason = reason.as_str().unwrap();
        reason.split_once(" (").map_or(reason, |(plain, _)| plain).to_owned()
    });
    let reasons: Vec<_> = reasons.filter(|reason| reason != "rounding").collect();
    let broken =
        if result["contracts"].as_array().is_some_and(|rules| !rules.is_empty()) { ", rules broken" } else { "" };
    if reasons.is_empty() { format!("{word}{broken}") } else { format!("{word} up to {}{broken}", reasons.join(", ")) }
}

/// The whole result, for a message.
pub(crate) fn whole(result: &Value) -> String {
    let mut said =
        format!("{} {}", result["told"].as_str().unwrap_or_default(), result["failed"].as_str().unwrap_or_default());
    for finding in result["findings"].as_array().into_iter().flatten() {
        said += &format!("\n    {}", finding.as_str().unwrap_or_default());
    }
    if let Some(place) = result["first"]["place"].as_array() {
        said += &format!("\n    at {}:{}", place[0], place[1]);
    }
    for rule in result["contracts"].as_array().into_iter().flatten() {
        said += &format!("\n    {rule}");
    }
    said
}

/// A program of the fixtures: a script alone, or a folder.
pub(crate) struct Fixture {
    pub(crate) name: String,
    /// The folder of its files.
    root: PathBuf,
    files: Vec<SourceFile>,
    /// The file that is started.
    program: String,
    /// Its `fixture.json`, if it has one.
    manifest: Value,
}

impl Fixture {
    fn script(path: &Path) -> Self {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let program = path.file_name().unwrap().to_str().unwrap().to_owned();
        let files = vec![SourceFile { path: program.clone(), text: fs::read_to_string(path).unwrap() }];
        Self { name, root: path.parent().unwrap().into(), files, program, manifest: Value::Null }
    }

    fn folder(root: &Path, program: Option<&str>) -> Self {
        let manifest = fs::read_to_string(root.join("fixture.json"))
            .map_or(Value::Null, |text| serde_json::from_str(&text).unwrap());
        let program = program.or(manifest["program"].as_str()).unwrap().to_owned();
        let files = read_tree(root).into_iter().filter(|file| file.path != "fixture.json").collect();
        Self {
            name: root.file_name().unwrap().to_str().unwrap().to_owned(),
            root: root.into(),
            files,
            program,
            manifest,
        }
    }

    /// All programs, by name.
    pub(crate) fn all() -> BTreeMap<String, Self> {
        let at = |path: &str| here().join("fixtures").join(path);
        let entries = |path: &str| fs::read_dir(at(path)).unwrap().map(|entry| entry.unwrap().path());
        let mut found: Vec<Self> = Vec::new();
        for path in entries("scripts") {
            if path.file_name().unwrap().to_str().unwrap().matches('.').count() == 1 {
                found.push(Self::script(&path));
            }
        }
        for path in entries("twins/programs") {
            found.push(if path.is_dir() { Self::folder(&path, Some("main.py")) } else { Self::script(&path) });
        }
        found.extend(
            entries("targets").filter(|path| path.join("fixture.json").is_file()).map(|path| Self::folder(&path, None)),
        );
        found.push(Self::folder(&at("projects/cristae"), Some("bin/segment.py")));
        let home = Self::script(&here().join("../app/site/src/home/train.py"));
        found.push(Self { name: "home".into(), ..home });
        found.into_iter().map(|fixture| (fixture.name.clone(), fixture)).collect()
    }

    /// Its port, with the options in its manifest and its case.
    pub(crate) fn ported(&self, target: &str, case: &Case) -> Ported {
        let mut options = Options { sdk: case.sdk.clone(), allow_unsafe: case.allow_unsafe, ..to(target) };
        let given = self.manifest["on"][target]["options"].as_object().into_iter().flatten();
        options.options.extend(given.map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned())));
        options.options.extend(case.options.iter().map(|(name, value)| (name.clone(), value.clone())));
        port(&self.files, &RECIPES, &options)
    }

    /// How its manifest starts it on a target.
    fn start(&self, target: &str) -> Start {
        let how = &self.manifest["on"][target];
        let words = |value: &Value| {
            let words: Vec<_> = value.as_array().into_iter().flatten().map(|word| word.as_str().unwrap()).collect();
            words.join(" ")
        };
        let Some(steps) = how["steps"].as_array() else {
            let arguments = words(&how["args"]);
            return Start { original: arguments.clone(), arguments, ..Start::default() };
        };
        let mut steps: Vec<_> = steps.iter().map(words).collect();
        let arguments = steps.pop().unwrap();
        let original = arguments.split_once(" -- ").map_or(String::new(), |(_, own)| own.to_owned());
        Start { arguments, original, first: steps, ..Start::default() }
    }

    /// The number of folders between the program's root and its file, and itself.
    pub(crate) fn depth(&self) -> usize {
        self.program.split('/').count()
    }

    pub(crate) fn twin(&self, name: &str, target: &str, ported: &Ported, start: Start) -> Twin {
        let after = folder("twin");
        write_tree(&after, texts(ported));
        Twin {
            name: name.to_owned(),
            target: target.to_owned(),
            original: self.root.join(&self.program),
            ported: after.join(&self.program),
            start,
        }
    }
}

/// A case's options for the port: the vendor's release, unsafe edits and options.
#[derive(Default)]
pub(crate) struct Case {
    sdk: Option<String>,
    allow_unsafe: bool,
    options: BTreeMap<String, String>,
}

/// A case in `verdicts.toml`: only a verdict, or a table that includes the start.
pub(crate) fn start_of(fixture: &Fixture, target: &str, stated: &toml::Value) -> (Start, Case) {
    let mut start = fixture.start(target);
    let Some(table) = stated.as_table() else { return (start, Case::default()) };
    let text = |name: &str| table.get(name).map(|value| value.as_str().expect("text").to_owned());
    let list = |name: &str| {
        let items = table.get(name).and_then(toml::Value::as_array);
        items.map(|items| items.iter().map(|item| item.as_str().expect("text").to_owned()).collect::<Vec<_>>())
    };
    if let Some(arguments) = text("args") {
        start.original.clone_from(&arguments);
        start.arguments = arguments;
    }
    start.original = text("original").unwrap_or(start.original);
    start.first = list("first").unwrap_or(start.first);
    start.options = list("rehearse").unwrap_or_default();
    if text("on").as_deref() == Some("tensorflow") {
        start.framework = Framework::TensorFlow;
    }
    let options = table.get("options").and_then(toml::Value::as_table).into_iter().flatten();
    let options = options.map(|(name, value)| (name.clone(), value.as_str().expect("text").to_owned())).collect();
    let allow_unsafe = table.get("unsafe").is_some_and(|asked| asked.as_bool().expect("true or false"));
    (start, Case { sdk: text("sdk"), allow_unsafe, options })
}

/// The targets of twin runs, and the second form of one of them.
const TARGETS: [&str; 5] = ["hpu", "ipu", "popdist", "rdu", "xpu"];

/// A program on a target, as `verdicts.toml` states it.
struct Stated {
    /// `name on case`.
    title: String,
    target: &'static str,
    program: String,
    verdict: String,
    ported: Ported,
    start: Start,
}

impl Stated {
    /// Whether the port has a twin run.
    fn runs(&self) -> bool {
        self.verdict != "refused" && !self.verdict.starts_with("not run: ")
    }
}

fn verdicts() -> toml::Table {
    read("verdicts.toml")
}

fn read(file: &str) -> toml::Table {
    fs::read_to_string(here().join("fixtures/twins").join(file)).unwrap().parse().unwrap()
}

/// All statements about existing programs.
static STATED: LazyLock<Vec<Stated>> = LazyLock::new(|| {
    let (stated, fixtures) = (verdicts(), Fixture::all());
    let mut found = Vec::new();
    for (name, fixture) in &fixtures {
        for (case, stated) in stated.get(name).and_then(toml::Value::as_table).into_iter().flatten() {
            // A case may be in addition to another for the same target: `popdist.two`.
            let target = case.split('.').next().unwrap();
            let target = TARGETS.into_iter().find(|known| *known == target).expect("a target of twin runs");
            let verdict = stated.as_str().or_else(|| stated.get("verdict")?.as_str()).expect("a case has a verdict");
            let (start, asked) = start_of(fixture, target, stated);
            found.push(Stated {
                title: format!("{name} on {case}"),
                target,
                program: name.clone(),
                verdict: verdict.to_owned(),
                ported: fixture.ported(target, &asked),
                start,
            });
        }
    }
    found
});

#[test]
fn every_program_on_every_target() {
    let (stated, fixtures) = (verdicts(), Fixture::all());
    let mut faults: Vec<String> = Vec::new();
    let mut wanted: BTreeMap<String, String> = BTreeMap::new();
    let mut said: BTreeMap<String, String> = BTreeMap::new();
    let mut twins = Vec::new();
    for name in stated.keys().filter(|name| !fixtures.contains_key(*name)) {
        faults.push(format!("{name}: there is no such program"));
    }
    for name in fixtures.keys() {
        let of_program = stated.get(name).and_then(toml::Value::as_table);
        for target in TARGETS {
            if !of_program.is_some_and(|cases| cases.contains_key(target)) {
                faults.push(format!("{name} on {target}: no verdict is stated"));
            }
        }
    }
    for one in &*STATED {
        let Stated { title, target, verdict, ported, .. } = one;
        let report: String = ported.files.iter().map(|file| told(&file.diagnostics)).collect();
        let refused = ported.files.iter().any(|file| file.diagnostics.iter().any(|one| one.stops_step));
        if (verdict == "refused") != refused && !verdict.starts_with("not run: ") {
            let found = if refused { "refuses the step" } else { "does not refuse the step" };
            faults.push(format!("{title}: stated is `{verdict}`, and the port {found}:\n{report}"));
        }
        if let Some(why) = verdict.strip_prefix("not run: ")
            && why.starts_with("a person")
            && report.is_empty()
        {
            faults.push(format!("{title}: nothing is said of what a person has to do"));
        }
        if one.runs() {
            twins.push(fixtures[&one.program].twin(title, target, ported, one.start.clone()));
            said.insert(title.clone(), report);
            wanted.insert(title.clone(), verdict.clone());
        }
    }
    let results = run_all(&twins);
    for (title, wanted) in wanted {
        let Some(result) = results.get(&title) else {
            faults.push(format!("{title}: the driver ended before it"));
            continue;
        };
        let found = verdict(result);
        if found != wanted || found.starts_with("differs") {
            faults.push(format!(
                "{title}: stated is `{wanted}`, found `{found}`: {}\nThe port said:\n{}",
                whole(result),
                said[&title]
            ));
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n\n"));
}

/// Why a recipe is in `unexercised.toml` although twin runs involve it.
const BY_EXAMPLE: &str = "an example of its section is run";

#[test]
fn recipes_that_no_program_exercises() {
    let mut exercised = BTreeSet::new();
    for one in STATED.iter().filter(|one| one.runs()) {
        exercised.extend(one.ported.files.iter().flat_map(|file| &file.edits).map(|edit| &*edit.recipe));
    }
    let examples = read("examples.toml");
    let by_example = |id: &str| {
        let mut of_section =
            examples.iter().filter(|(name, _)| name.rsplit_once(' ').is_some_and(|(own, _)| own == id));
        of_section.any(|(_, outcome)| !outcome.as_str().unwrap().starts_with("not run: "))
    };
    let listed = read("unexercised.toml");
    let recipes = RECIPES.recipes();
    let changing: BTreeSet<&str> = recipes.iter().filter(|one| !one.manual).map(|one| &*one.id).collect();
    let mut faults = Vec::new();
    for id in &changing {
        match (exercised.contains(id), listed.get(*id).map(|why| why.as_str().expect("a reason"))) {
            (false, None) => {
                faults.push(format!("{id}: no program of the twin runs has an edit of it, and no reason is given"))
            }
            (true, Some(_)) => faults.push(format!("{id}: a program of the twin runs has an edit of it")),
            (false, Some(why)) if (why == BY_EXAMPLE) != by_example(id) => {
                faults.push(format!("{id}: `{why}`, and its examples say otherwise"));
            }
            _ => {}
        }
    }
    faults.extend(listed.keys().filter(|id| !changing.contains(&***id)).map(|id| format!("{id}: changes no code")));
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}
