//! The steps of `cargo xtask test`.

use super::times;
use crate::corpus::{BOUNDED_PACKAGES, Part};
use crate::setup::{BROWSERS, LINTERS, Need, PROGRAMS, PYTORCH, SITE_TOOLS, WITH_TENSORFLOW};
use crate::step::{run, run_silently};
use crate::wasm_kernels::WASMTIME;
use crate::{browser_tests, corpus, dist, size, surroundings, wasm_kernels};
use anyhow::{Context, Result, bail};
use std::process::{Command, Stdio};

/// One step: a part of the tests that runs, passes and is skipped as a whole.
pub(crate) struct Step {
    /// The word of the command line.
    pub(crate) name: &'static str,
    /// Its heading.
    pub(crate) what: &'static str,
    /// What has to be installed.
    pub(crate) needs: &'static [Need],
    /// The steps whose results it uses.
    pub(crate) after: &'static [&'static str],
    /// The files of the checkout that its result depends on.
    pub(crate) reads: Reads,
    /// A command whose output its result depends on, too.
    pub(crate) asks: &'static [&'static str],
    /// A folder that it makes.
    pub(crate) makes: Option<&'static str>,
    /// What `--quick` runs.
    pub(crate) quick: Option<Quick>,
    /// The work. The argument tells whether results that are valid from earlier runs are computed again.
    pub(crate) run: fn(all: bool) -> Result<()>,
}

/// A step, or a part of it, that takes little time.
pub(crate) struct Quick {
    /// The part.
    pub(crate) of: Option<&'static str>,
    pub(crate) run: fn() -> Result<()>,
}

/// Files and folders of the checkout, as the beginnings of paths from its root, or with a `*` before it the end. The runner itself (`app/xtask`), `Cargo.lock` and `Cargo.toml` are
/// read by every step.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reads {
    /// These alone.
    Only(&'static [&'static str]),
    /// Everything but these. A step with a new kind of input is then repeated too often, never too rarely.
    AllBut(&'static [&'static str]),
}

/// Read by no program: text for people, and the settings of a server for continuous integration.
const PROSE: &str = "docs/";
const SERVER: &str = ".github/";

/// The tests in browsers; the folder has the build's npm packages, too.
const BROWSER_TESTS: &str = "*.test.mjs";

/// All steps, in the order in which they run.
pub(crate) const STEPS: &[Step] = &[
    Step {
        name: "format",
        what: "every Rust file is formatted",
        needs: &[LINTERS],
        after: &[],
        reads: Reads::AllBut(&[PROSE, SERVER, "guides/", "rehearsal/", "public/", BROWSER_TESTS, "tests/fixtures/"]),
        asks: &[],
        makes: None,
        quick: Some(Quick { of: None, run: || cargo("fmt --all --check") }),
        run: |_| cargo("fmt --all --check"),
    },
    Step {
        name: "lints",
        what: "clippy, natively and for wasm32",
        needs: &[LINTERS],
        after: &[],
        reads: Reads::AllBut(&[PROSE, SERVER, BROWSER_TESTS, "tests/frozen/"]),
        asks: &[],
        makes: None,
        quick: Some(Quick {
            of: Some(ENGINE),
            run: || cargo(&format!("clippy {} --all-targets -- -D warnings", packages())),
        }),
        run: |_| {
            cargo("clippy --workspace --all-targets -- -D warnings")?;
            cargo("clippy --package web --package forward --target wasm32-unknown-unknown -- -D warnings")
        },
    },
    Step {
        name: "engine",
        what: "tests of the crates, and the examples of the guides",
        needs: &[PROGRAMS, PYTORCH],
        after: &[],
        reads: Reads::AllBut(&[PROSE]),
        asks: &[],
        makes: None,
        quick: Some(Quick {
            of: Some(ENGINE),
            run: || cargo_test(&format!("test {} --lib --test it", packages()), true),
        }),
        run: |all| {
            cargo_test("test --workspace --lib --bins --test it", all)?;
            run_silently(surroundings::command("cargo")?.args(["test", "--quiet", "--workspace", "--doc"]))
        },
    },
    Step {
        name: "ports",
        what: "ports of every fixture, run beside their originals; rules of the house",
        needs: &[PROGRAMS, PYTORCH, WITH_TENSORFLOW],
        after: &[],
        reads: Reads::AllBut(&[SERVER]),
        asks: &[],
        makes: None,
        quick: None,
        run: |all| cargo_test("test --workspace --test whole --test twins", all),
    },
    Step {
        name: "corpus",
        what: "ports of files of published packages",
        needs: &[PROGRAMS, BOUNDED_PACKAGES],
        after: &[],
        reads: Reads::AllBut(&[PROSE, SERVER, BROWSER_TESTS, "tests/fixtures/", "tests/frozen/", "tests/fuzz/seeds/"]),
        asks: &[],
        makes: None,
        quick: None,
        run: |_| corpus::run_part(Part::Bounded, None),
    },
    Step {
        name: "kernels",
        what: "the forward pass under Wasmtime, without SIMD and with all of it",
        needs: &[WASMTIME],
        after: &[],
        reads: Reads::Only(&[
            "app/uresnet/",
            "app/cli/tests/",
            "tests/wasm/",
            "tests/fixtures/uresnet/",
            "tests/fuzz/seeds/",
        ]),
        asks: &[],
        makes: None,
        quick: None,
        run: |_| wasm_kernels::test(),
    },
    Step {
        name: "site",
        what: "the site, built into dist/",
        needs: &[SITE_TOOLS],
        after: &[],
        reads: Reads::AllBut(&[
            PROSE,
            SERVER,
            BROWSER_TESTS,
            "tests/corpus/",
            "tests/frozen/",
            "tests/fuzz/",
            "tests/sweep/",
        ]),
        asks: LAST_GUIDE,
        makes: Some("dist"),
        quick: None,
        run: |_| {
            dist::build_by(&|program| surroundings::command(program))?;
            size::run(size::Limit::Ceiling)
        },
    },
    Step {
        name: "browser",
        what: "the site in Chromium and Firefox",
        needs: &[PROGRAMS, BROWSERS, BOUNDED_PACKAGES],
        after: &["site"],
        reads: Reads::AllBut(&[SERVER, "tests/fuzz/", "tests/sweep/", "tests/twins/", "tests/whole/"]),
        asks: LAST_GUIDE,
        makes: None,
        quick: None,
        run: |_| browser_tests::run_all(&times::file()),
    },
];

/// Pages show when a guide was last changed.
const LAST_GUIDE: &[&str] = &["git", "log", "-1", "--format=%H", "--", "guides"];

/// The packages of the engine, which most commits change; each uses those before it.
const ENGINE: &str = "guide, python, training, codemod";

/// Cargo's arguments that select them.
fn packages() -> String {
    ENGINE.split(", ").map(|name| format!(" -p {name}")).collect()
}

fn cargo(line: &str) -> Result<()> {
    run(surroundings::command("cargo")?.args(line.split_whitespace()))
}

/// Tests by cargo, whose times are kept. All programs of tests run, whichever fails: cargo starts those of `codemod` first, and they
/// fail, too, if `training` is at fault.
fn cargo_test(line: &str, all: bool) -> Result<()> {
    let mut cargo: Command = surroundings::command("cargo")?;
    cargo.args(line.split_whitespace()).arg("--no-fail-fast").args(times::runner()?).env(times::FILE, times::file());
    cargo.env(REUSE, if all { "0" } else { "1" }).env("RUST_BACKTRACE", "0").stdin(Stdio::null());
    if !cargo.status().context("cannot start cargo")?.success() {
        bail!("tests failed, or do not compile; a line above, `to repeat: …`, runs a failed one alone");
    }
    Ok(())
}

/// 1 allows tests to take results of earlier runs that are still valid.
const REUSE: &str = "PORTOLAN_REUSE";

#[cfg(test)]
mod tests {
    use super::STEPS;
    use crate::step::ask;
    use crate::workspace;
    use serde_json::Value;

    /// Continuous integration runs all steps, each in one job.
    #[test]
    fn every_step_belongs_to_a_job() {
        let jobs = std::fs::read_to_string(workspace::root().join(".github/workflows/ci.yml")).expect("the jobs");
        let lines = jobs.lines().filter_map(|line| line.split_once(", steps: "));
        let mut found: Vec<&str> = lines.flat_map(|(_, steps)| steps.trim_end_matches(" }").split(' ')).collect();
        let mut all: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
        found.sort_unstable();
        all.sort_unstable();
        assert_eq!(found, all);
    }

    /// A tag can be moved to other code, a commit can't.
    #[test]
    fn every_action_is_pinned_by_its_commit() {
        let folder = workspace::root().join(".github/workflows");
        let mut actions = 0;
        let workflows = std::fs::read_dir(folder).expect("the workflows").map(|entry| entry.expect("a file").path());
        for file in workflows.chain([workspace::root().join("action.yml")]) {
            let text = std::fs::read_to_string(&file).expect("a workflow");
            for line in text.lines().filter(|line| line.trim_start().trim_start_matches("- ").starts_with("uses: ")) {
                let action = line.split_once("uses: ").map_or("", |(_, action)| action);
                let commit = action.split_once('@').map_or("", |(_, rest)| rest.split(' ').next().unwrap_or_default());
                let is_pinned = commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
                assert!(is_pinned || action.starts_with("./"), "{}: {line}", file.display());
                actions += 1;
            }
        }
        assert!(actions > 10, "{actions}");
    }

    /// Steps select integration tests by the name of their program.
    #[test]
    fn every_program_of_tests_belongs_to_a_step() {
        let manifest = workspace::root().join("Cargo.toml").display().to_string();
        let words = ["metadata", "--no-deps", "--format-version", "1", "--manifest-path", &manifest];
        let metadata: Value = serde_json::from_str(&ask("cargo", &words).expect("cargo runs")).expect("JSON");
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let mut programs = 0;
        for target in list(&metadata["packages"]).iter().flat_map(|package| list(&package["targets"])) {
            let (name, kind) = (target["name"].as_str().expect("a name"), &target["kind"][0]);
            let is_run = match kind.as_str() {
                Some("test") => ["it", "whole", "twins"].contains(&name),
                // Without tests of their own.
                Some("example" | "bench") => target["test"] == false,
                _ => true,
            };
            assert!(is_run, "no step runs {target}");
            programs += usize::from(kind == "test");
        }
        assert!(programs > 5, "{programs} programs of tests");
    }
}
