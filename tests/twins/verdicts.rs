//! Every program on every target as a twin run.
//!
//! `tests/fixtures/twins/verdicts.toml` has the expected verdict for every fixture and script on every target; verdicts
//! are reviewed by reading.

use crate::fixtures::{FIXTURES, Fixture};
use crate::results::Run;
use crate::server::Framework;
use crate::trials::{trial, trials};
use crate::twin::{Files, Start, Twin, verdict, whole};
use codemod::{Options, Ported, Style};
use libtest_mimic::Trial;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::LazyLock;
use tests::sound::{RECIPES, here, texts, told};

/// The targets of twin runs.
pub(crate) const TARGETS: [&str; 5] = ["hpu", "ipu", "popdist", "rdu", "xpu"];

/// Those that are devices of PyTorch, so that one program can serve all.
const ONE_PROGRAM: [&str; 2] = ["hpu", "xpu"];

/// How a case's program is ported and started, and the verdict, which may be all that is stated.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Case {
    verdict: String,
    args: Option<String>,
    original: Option<String>,
    first: Option<Vec<String>>,
    rehearse: Vec<String>,
    on: Framework,
    sdk: Option<String>,
    #[serde(rename = "unsafe")]
    allow_unsafe: bool,
    options: BTreeMap<String, String>,
    /// The verdict in agnostic style, where it is another.
    agnostic: Option<String>,
    /// The verdict in place, where it is another.
    in_place: Option<String>,
}

/// A program on a target, as `verdicts.toml` states it.
pub(crate) struct Stated {
    pub(crate) fixture: &'static Fixture,
    pub(crate) target: &'static str,
    pub(crate) verdict: String,
    /// Verdicts in other styles than the one that the port takes by itself.
    in_style: Vec<(Style, String)>,
    options: Options,
    pub(crate) start: Start,
}

impl Stated {
    /// A case may be in addition to another for the same target: `popdist.two`.
    fn new(fixture: &'static Fixture, case: &str, stated: &toml::Value) -> Self {
        let target = case.split('.').next().unwrap();
        let target = TARGETS.into_iter().find(|known| *known == target).expect("a target of twin runs");
        let Case { verdict, args, original, first, rehearse, on, sdk, allow_unsafe, options, agnostic, in_place } =
            match stated.as_str() {
                Some(verdict) => Case { verdict: verdict.to_owned(), ..Case::default() },
                None => stated.clone().try_into().unwrap_or_else(|fault| panic!("{} on {case}: {fault}", fixture.name)),
            };
        let start = start(fixture, target);
        let start = Start {
            original: original.or_else(|| args.clone()).unwrap_or(start.original),
            arguments: args.unwrap_or(start.arguments),
            first: first.unwrap_or(start.first),
            options: rehearse,
            framework: on,
        };
        let mut of_port = Options { sdk, allow_unsafe, ..fixture.options(target) };
        of_port.options.extend(options);
        let has_styles = on == Framework::default() && verdict != "refused";
        let in_style = [(Style::InPlace, in_place), (Style::Agnostic, agnostic)];
        // By itself a port to the others is in place.
        let in_style =
            in_style.into_iter().filter(|(style, _)| *style == Style::Agnostic || ONE_PROGRAM.contains(&target));
        let in_style = in_style.map(|(style, other)| (style, other.unwrap_or_else(|| verdict.clone())));
        let in_style = in_style.filter(|(_, verdict)| has_styles && !verdict.starts_with("not run: ")).collect();
        Self { fixture, target, verdict, in_style, options: of_port, start }
    }

    pub(crate) fn ported(&self) -> &'static Ported {
        self.fixture.ported(&self.options)
    }

    /// The port in place, if it would be one program for all devices by itself.
    pub(crate) fn ported_for_target_alone(&self) -> &'static Ported {
        let ported = self.ported();
        if ported.style != Style::Agnostic {
            return ported;
        }
        self.fixture.ported(&Options { style: Style::InPlace, ..self.options.clone() })
    }

    /// Whether the port has a twin run.
    fn runs(&self) -> bool {
        self.verdict != "refused" && !self.verdict.starts_with("not run: ")
    }

    /// A twin run of the original and these files.
    pub(crate) fn twin(&self, ported: Files, start: Start) -> Twin {
        Twin {
            target: self.target.to_owned(),
            program: self.fixture.program.clone(),
            original: self.fixture.files.iter().map(|file| (file.path.clone(), file.text.clone())).collect(),
            ported,
            start,
        }
    }

    /// The port in another style; one program for all devices also computes on CUDA and on the CPU what the original does.
    fn check_in_style(&self, style: Style, wanted: &str) -> Result<(), String> {
        // Its arguments name the mode that only a branch has.
        if self.ported().style == Style::Branch {
            return Ok(());
        }
        let ported = self.fixture.ported(&Options { style, ..self.options.clone() });
        let files: Files = texts(ported).map(|(path, text)| (path.to_owned(), text.to_owned())).collect();
        let machines: &[Option<&str>] =
            if style == Style::Agnostic { &[None, Some("cuda"), Some("cpu")] } else { &[None] };
        for machine in machines {
            let mut start = self.start.clone();
            if let Some(machine) = machine {
                start.options.extend(["--on".to_owned(), (*machine).to_owned()]);
                start.arguments.clone_from(&start.original);
                start.first.clear();
            }
            self.twin(files.clone(), start).check(|result| {
                let needs_cuda = result["failed"].as_str().is_some_and(|failed| failed.starts_with("original/"));
                let (found, wanted) = (verdict(result), if machine.is_some() { "equal" } else { wanted });
                if found == wanted || needs_cuda && *machine == Some("cpu") {
                    return Ok(());
                }
                let machine = machine.unwrap_or("the target");
                Err(format!("on {machine} `{wanted}` is stated, found `{found}`: {}", whole(result)))
            })?;
        }
        Ok(())
    }

    fn check(&self) -> Result<(), String> {
        let (wanted, ported) = (&self.verdict, self.ported());
        let report: String = ported.files.iter().map(|file| told(&file.diagnostics)).collect();
        if let Some(why) = wanted.strip_prefix("not run: ") {
            let is_silent = why.starts_with("a person") && report.is_empty();
            return if is_silent { Err("nothing is said of what a person has to do".into()) } else { Ok(()) };
        }
        let refused = ported.files.iter().any(|file| file.diagnostics.iter().any(|one| one.stops_step));
        if (wanted == "refused") != refused {
            let found = if refused { "refuses the step" } else { "does not refuse the step" };
            return Err(format!("stated is `{wanted}`, and the port {found}:\n{report}"));
        }
        if refused {
            return Ok(());
        }
        let files = texts(ported).map(|(path, text)| (path.to_owned(), text.to_owned())).collect();
        self.twin(files, self.start.clone()).check(|result| {
            let found = verdict(result);
            if found == *wanted && !found.starts_with("differs") {
                return Ok(());
            }
            Err(format!("stated is `{wanted}`, found `{found}`: {}\nThe port said:\n{report}", whole(result)))
        })
    }
}

/// How a fixture's manifest starts it on a target.
fn start(fixture: &Fixture, target: &str) -> Start {
    let Some(on) = fixture.on(target) else { return Start::default() };
    let mut starts: Vec<String> = on.starts().iter().map(|words| words.join(" ")).collect();
    let arguments = starts.pop().unwrap_or_default();
    // Behind `--` is what the program itself is told.
    let own = arguments.split_once(" -- ").map_or("", |(_, own)| own);
    let original = if on.steps.is_empty() { arguments.clone() } else { own.to_owned() };
    Start { arguments, original, first: starts, ..Start::default() }
}

pub(crate) fn read(file: &str) -> toml::Table {
    fs::read_to_string(here().join("fixtures/twins").join(file)).unwrap().parse().unwrap()
}

static VERDICTS: LazyLock<toml::Table> = LazyLock::new(|| read("verdicts.toml"));

/// All statements about existing programs, by program and case.
pub(crate) static STATED: LazyLock<BTreeMap<(&str, &str), Stated>> = LazyLock::new(|| {
    let mut found = BTreeMap::new();
    for (name, cases) in &*VERDICTS {
        let Some(fixture) = FIXTURES.get(name) else { continue };
        for (case, stated) in cases.as_table().expect("a table of cases") {
            found.insert((name.as_str(), case.as_str()), Stated::new(fixture, case, stated));
        }
    }
    found
});

pub(crate) fn trials() -> Vec<Trial> {
    let named = STATED.iter().map(|((name, case), one)| trial(format!("verdicts::{name}::{case}"), || one.check()));
    let in_style = STATED.iter().flat_map(|((name, case), one)| {
        one.in_style.iter().map(move |(style, verdict)| {
            let style_name = style.name().expect("a style");
            trial(format!("verdicts::{name}::{case} {style_name}"), || one.check_in_style(*style, verdict))
        })
    });
    let of_all = trials!(every_program_has_a_verdict_on_each_target recipes_that_no_program_exercises);
    named.chain(in_style).chain(of_all).collect()
}

fn every_program_has_a_verdict_on_each_target() {
    let gone: Vec<_> = VERDICTS.keys().filter(|name| !FIXTURES.contains_key(*name)).collect();
    assert!(gone.is_empty(), "there are no such programs: {gone:?}");
    let of_targets = |name| TARGETS.into_iter().map(move |target| (name, target));
    let all = FIXTURES.keys().flat_map(|name| of_targets(name.as_str()));
    let without = all.filter(|one| !STATED.contains_key(one));
    let lines: String = without.map(|(name, target)| format!("[{name}]\n{target} = \"equal\"\n")).collect();
    assert!(lines.is_empty(), "tests/fixtures/twins/verdicts.toml lacks these lines, with the true verdicts:\n{lines}");
}

/// Why a recipe is in `unexercised.toml` although twin runs involve it.
const BY_EXAMPLE: &str = "an example of its section is run";

fn recipes_that_no_program_exercises() {
    let mut exercised = BTreeSet::new();
    for one in STATED.values().filter(|one| one.runs()) {
        let in_style =
            |(style, _): &(Style, String)| one.fixture.ported(&Options { style: *style, ..one.options.clone() });
        let ports = one.in_style.iter().map(in_style).chain([one.ported()]);
        exercised.extend(ports.flat_map(|port| &port.files).flat_map(|file| &file.edits).map(|edit| &*edit.recipe));
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
