//! The programs of `tests/fixtures`: a script alone, or a folder.
//!
//! A folder in `fixtures/targets` has a `fixture.json`, which defines how the program is started:
//!
//! ```json
//! {
//!     "program": "train.py",
//!     "home": ["--epochs", "2"],
//!     "on": {"ipu": {"args": ["--accelerator", "ipu"]}, "rdu": {"steps": [["compile"], ["run", "--pef=…"]]}},
//!     "person": {"popdist": "why a person has to finish this port"}
//! }
//! ```
//!
//! `home` are arguments with which original and port do the same on a machine without a vendor's software; without it
//! the program has only the target's mode. `on` contains the targets, with arguments, several consecutive starts in one
//! folder (`steps`), an environment (`env`) and options of the port (`options`). For a target under `person` the port
//! must report manual work, and is not run.

use codemod::{Options, Ported, SourceFile};
use serde::Deserialize;
use sorting::SortedMap;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use tests::sound::{here, ported, read_tree, to};

/// A `fixture.json`.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    pub(crate) program: String,
    pub(crate) home: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) on: BTreeMap<String, On>,
    #[serde(default)]
    pub(crate) person: BTreeMap<String, String>,
}

/// How a program is ported to a target and started there.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct On {
    args: Vec<String>,
    pub(crate) steps: Vec<Vec<String>>,
    pub(crate) env: BTreeMap<String, String>,
    options: SortedMap<String, String>,
}

impl On {
    /// The arguments of each start.
    pub(crate) fn starts(&self) -> Vec<Vec<String>> {
        if self.steps.is_empty() { vec![self.args.clone()] } else { self.steps.clone() }
    }
}

/// A program of the fixtures.
pub(crate) struct Fixture {
    pub(crate) name: String,
    /// Its script or folder.
    pub(crate) path: PathBuf,
    pub(crate) files: Vec<SourceFile>,
    /// The file that is started.
    pub(crate) program: String,
    pub(crate) manifest: Option<Manifest>,
}

/// All programs, by name.
pub(crate) static FIXTURES: LazyLock<BTreeMap<String, Fixture>> = LazyLock::new(|| {
    let at = |path: &str| here().join("fixtures").join(path);
    let entries = |path: &str| fs::read_dir(at(path)).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<Fixture> = scripts().into_values().collect();
    for path in entries("twins/programs") {
        found.push(if path.is_dir() { Fixture::folder(&path, Some("main.py")) } else { Fixture::script(&path) });
    }
    let folders = entries("targets").filter(|path| path.join("fixture.json").is_file());
    found.extend(folders.map(|path| Fixture::folder(&path, None)));
    found.push(Fixture::folder(&at("projects/cristae"), Some("bin/segment.py")));
    let home = Fixture::script(&here().join("../app/site/src/home/train.py"));
    found.push(Fixture { name: "home".into(), ..home });
    found.into_iter().map(|fixture| (fixture.name.clone(), fixture)).collect()
});

/// The programs of `fixtures/scripts`; golden files have two endings.
pub(crate) fn scripts() -> BTreeMap<String, Fixture> {
    let entries = fs::read_dir(here().join("fixtures/scripts")).unwrap().map(|entry| entry.unwrap().path());
    let own = entries.filter(|path| path.file_name().unwrap().to_str().unwrap().matches('.').count() == 1);
    own.map(|path| Fixture::script(&path)).map(|fixture| (fixture.name.clone(), fixture)).collect()
}

/// The programs with a manifest that names a target under `on`, or under `person` too.
pub(crate) fn started_on(
    target: &str,
    or_by_a_person: bool,
) -> impl Iterator<Item = (&'static Fixture, &'static Manifest)> {
    let all = FIXTURES.values().filter_map(|fixture| Some((fixture, fixture.manifest.as_ref()?)));
    all.filter(move |(_, manifest)| {
        let is_by_a_person = manifest.person.contains_key(target);
        if is_by_a_person { or_by_a_person } else { manifest.on.contains_key(target) }
    })
}

impl Fixture {
    fn script(path: &Path) -> Self {
        let program = path.file_name().unwrap().to_str().unwrap().to_owned();
        Self {
            name: path.file_stem().unwrap().to_str().unwrap().to_owned(),
            path: path.into(),
            files: vec![SourceFile { path: program.clone(), text: fs::read_to_string(path).unwrap() }],
            program,
            manifest: None,
        }
    }

    fn folder(path: &Path, program: Option<&str>) -> Self {
        let manifest = fs::read_to_string(path.join("fixture.json"));
        let manifest: Option<Manifest> = manifest.ok().map(|text| {
            serde_json::from_str(&text).unwrap_or_else(|fault| panic!("{}/fixture.json: {fault}", path.display()))
        });
        let program = program.or(manifest.as_ref().map(|manifest| &*manifest.program)).unwrap().to_owned();
        Self {
            name: path.file_name().unwrap().to_str().unwrap().to_owned(),
            path: path.into(),
            files: read_tree(path).into_iter().filter(|file| file.path != "fixture.json").collect(),
            program,
            manifest,
        }
    }

    /// How its manifest starts it on a target.
    pub(crate) fn on(&self, target: &str) -> Option<&On> {
        self.manifest.as_ref()?.on.get(target)
    }

    /// The options of its port, with those in its manifest.
    pub(crate) fn options(&self, target: &str) -> Options {
        let given = self.on(target).map(|on| on.options.clone()).unwrap_or_default();
        Options { options: given, ..to(target) }
    }

    pub(crate) fn ported(&self, options: &Options) -> &'static Ported {
        ported(&self.files, options)
    }
}
