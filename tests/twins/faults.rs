//! Faults injected into correct ports: the twin run has to detect every one.
//!
//! `tests/fixtures/twins/faults.toml` lists each with its place and the expected finding.

use crate::results::Run;
use crate::trials::{trial, trials};
use crate::twin::{Files, whole};
use crate::verdicts::{STATED, TARGETS, read};
use libtest_mimic::Trial;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::sync::LazyLock;
use tests::sound::texts;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fault {
    what: String,
    /// The program.
    of: String,
    /// The case of `verdicts.toml`.
    to: String,
    /// Texts that each stand once in the port, and what comes in their place.
    edits: Vec<(String, String)>,
    /// Further options of `rehearse.py`.
    #[serde(default)]
    options: Vec<String>,
    /// The beginning of the first finding.
    finds: String,
    /// A rule of the vendor's that the run breaks as well.
    rule: Option<String>,
}

static FAULTS: LazyLock<Vec<Fault>> =
    LazyLock::new(|| read("faults.toml").remove("fault").unwrap().try_into().expect("a list of faults"));

impl Fault {
    fn check(&self) -> Result<(), String> {
        let stated = &STATED[&(&*self.of, &*self.to)];
        assert!(stated.verdict.starts_with("equal"), "without the fault the verdict is `{}`", stated.verdict);
        let mut start = stated.start.clone();
        start.options.extend(self.options.iter().cloned());
        let mut files: Files =
            texts(stated.ported_for_target_alone()).map(|(path, text)| (path.to_owned(), text.to_owned())).collect();
        for (from, into) in &self.edits {
            let places: usize = files.values().map(|text| text.matches(from).count()).sum();
            assert_eq!(places, 1, "{from:?} stands at {places} places of the port");
            files.values_mut().for_each(|text| *text = text.replace(from, into));
        }
        stated.twin(files, start).check(|result| {
            let first = result["first"]["told"].as_str().unwrap_or_default();
            let names_place = !self.finds.starts_with("step ") || result["first"]["step"].is_u64();
            let mut rules = result["contracts"].as_array().into_iter().flatten();
            let rule = self.rule.as_ref().is_none_or(|rule| rules.any(|one| one["rule"] == rule.as_str()));
            if result["verdict"] == "differs" && first.starts_with(&self.finds) && names_place && rule {
                return Ok(());
            }
            Err(format!("to be found is `{}`, found: {}", self.finds, whole(result)))
        })
    }
}

pub(crate) fn trials() -> Vec<Trial> {
    let named = FAULTS.iter().map(|fault| {
        let Fault { what, of, to, .. } = fault;
        trial(format!("faults::{of}::{to}::{}", what.replace(' ', "_")), || fault.check())
    });
    named.chain(trials!(of_many_kinds_on_every_target)).collect()
}

fn of_many_kinds_on_every_target() {
    let kinds: BTreeSet<_> = FAULTS.iter().map(|fault| &fault.what).collect();
    let targets: BTreeSet<_> = FAULTS.iter().map(|fault| fault.to.split('.').next().unwrap()).collect();
    assert!(kinds.len() >= 25, "{} kinds of faults", kinds.len());
    assert_eq!(targets, TARGETS.into());
}
