//! Twin runs: a program and its port with the same weights and the same data, compared step by step.

use crate::results::Run;
use crate::server::{self, Framework};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tests::sound::Folder;

/// How a program and its port are started: arguments of `rehearse.py` in addition to the two programs.
#[derive(Clone, Default, Serialize)]
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

/// Files by their paths.
pub(crate) type Files = BTreeMap<String, String>;

/// A twin run. The programs see no other files.
#[derive(Serialize)]
pub(crate) struct Twin {
    pub(crate) target: String,
    /// The path of the file that is started, in both.
    pub(crate) program: String,
    pub(crate) original: Files,
    pub(crate) ported: Files,
    pub(crate) start: Start,
}

/// The number of optimizer updates that are compared.
const STEPS: usize = 8;

impl Run for Twin {
    fn framework(&self) -> Framework {
        self.start.framework
    }

    fn run(&self) -> Value {
        let root = Folder::with(self.files("original", &self.original).chain(self.files("ported", &self.ported)));
        let home = root.join("home");
        std::fs::create_dir(&home).unwrap();
        let at = |folder: &str| root.join(folder).join(&self.program).to_str().unwrap().to_owned();
        let Start { arguments, original, first, options, .. } = &self.start;
        let mut argv = vec!["--target".to_owned(), self.target.clone(), "--twin".to_owned(), at("original")];
        argv.extend([format!("--twin-steps={STEPS}"), format!("--twin-args={original}")]);
        argv.extend(first.iter().map(|first| format!("--first={first}")));
        argv.extend(options.iter().cloned());
        argv.push(at("ported"));
        argv.extend(arguments.split_whitespace().map(str::to_owned));
        let answer = server::compare(self.start.framework, &json!({"home": home, "argv": argv}));
        serde_json::from_str(&answer.replace(&format!("{}/", root.display()), "")).expect("the driver writes JSON")
    }
}

impl Twin {
    fn files<'a>(&self, folder: &str, files: &'a Files) -> impl Iterator<Item = (String, &'a str)> {
        files
            .iter()
            .map(move |(path, text)| (format!("{folder}/{path}"), text.as_str()))
            .collect::<Vec<_>>()
            .into_iter()
    }
}

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

/// A twin run in which every field has a value.
pub(crate) fn sample() -> Value {
    let files = |text: &str| ["train.py", "data/words.txt"].map(|path| (path.to_owned(), text.to_owned())).into();
    let twin = Twin {
        target: "ipu".into(),
        program: "train.py".into(),
        original: files("1"),
        ported: files("2"),
        start: Start {
            arguments: "run".into(),
            original: "--lr 1".into(),
            first: vec!["compile".into()],
            options: vec!["--instances=2".into(), "--sdk=1.19".into()],
            framework: Framework::TensorFlow,
        },
    };
    serde_json::to_value(twin).unwrap()
}
