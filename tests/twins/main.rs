//! Ports every fixture and runs the result.
//!
//! A port is correct if the ported program does the same on its machine as the original on its own. So each test ports
//! a fixture, checks the properties of every port (it compiles, a second port changes nothing, bytes outside the edits
//! are unchanged, line endings, tabs and BOM are kept), compares the text with the golden file next to the fixture, and
//! runs original and port against the stand-ins of `rehearsal/`, whose recorded calls, or every step of the training,
//! must match.
//!
//! The tests are made from data, one for each fixture on each target, and their names are paths, of which a filter
//! selects some: `cargo test -p tests --test twins -- amp_and_scaler::ipu`. With `UPDATE=1` they rewrite the golden files;
//! review the diff before committing it. With `PORTOLAN_REUSE=1` a run whose inputs are those of a run that passed is
//! not repeated ([`results`]).

mod compiled;
mod examples;
mod faults;
mod fixtures;
mod launches;
mod machine;
mod project;
mod python_tests;
mod results;
mod scripts;
mod server;
mod story;
mod targets;
mod trials;
mod twin;
mod verdicts;

use libtest_mimic::{Arguments, Conclusion};
use std::collections::BTreeSet;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let trials = [
        trials::own(),
        results::trials(),
        python_tests::trials(),
        project::trials(),
        compiled::trials(),
        launches::trials(),
        verdicts::trials(),
        faults::trials(),
        examples::trials(),
        targets::trials(),
        scripts::trials(),
    ];
    let trials = trials.into_iter().flatten().collect::<Vec<_>>();
    let mut names = BTreeSet::new();
    let same = trials.iter().find(|trial| !names.insert(trial.name()));
    assert!(same.is_none(), "two tests have one name: {}", same.map_or("", |trial| trial.name()));
    let done = libtest_mimic::run(&arguments, trials);
    if let Some(filter) = arguments.filter.filter(|_| !arguments.list && names_none(&done)) {
        eprintln!(
            "No test has `{filter}` in its name; `-- --list` names all. A new program has tests once \
             tests/fixtures/twins/verdicts.toml states its verdicts. (Without `--test`, cargo passes a filter to all programs of tests.)"
        );
        // As a failed test: cargo adds no words of its own.
        return ExitCode::from(101);
    }
    examples::write_table();
    results::print_counts();
    done.exit_code()
}

/// Whether a filter selected no test.
fn names_none(done: &Conclusion) -> bool {
    done.num_passed + done.num_failed + done.num_ignored + done.num_measured == 0
}
