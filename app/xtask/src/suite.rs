//! `cargo xtask test`: every check as a named step, the quickest to fail first, in defined [surroundings].
//!
//! A step whose inputs are those with which it last passed is not repeated (see [`inputs`]), except with `--all` and in
//! continuous integration. Requirements that take minutes are installed while the first steps run.

mod inputs;
mod passed;
mod steps;
mod tested;
pub(crate) mod times;

pub(crate) use tested::say_tested;

use crate::setup::{self, LINTERS, Pending, Tools};
use crate::step::{seconds, step};
use crate::surroundings;
use anyhow::{Context, Result};
use inputs::Snapshot;
use std::time::Instant;
use steps::{Quick, STEPS, Step};

/// What a command line of `cargo xtask test` asks for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Request {
    /// The names of all steps.
    List,
    /// What a developer runs before each commit.
    Quick,
    /// Some steps, in the order of [`STEPS`].
    Run {
        names: Vec<&'static str>,
        /// Also steps that passed with the same inputs.
        all: bool,
    },
}

impl Request {
    /// Reads the words after `test`.
    ///
    /// # Errors
    /// A sentence about the word that is neither a step nor an option, or that does not go with another.
    pub(crate) fn parse(words: &[&str]) -> Result<Self, String> {
        let (mut chosen, mut all) = (Vec::new(), false);
        for word in words {
            match *word {
                "--all" => all = true,
                "--list" if words.len() == 1 => return Ok(Self::List),
                "--quick" if words.len() == 1 => return Ok(Self::Quick),
                "--list" | "--quick" | "--fresh" | "--keep" => {
                    return Err(format!("`{word}` can't be combined with other words"));
                }
                option if option.starts_with('-') => return Err(format!("unknown option: {option}")),
                name => match STEPS.iter().find(|step| step.name == name) {
                    Some(step) => chosen.extend(step.after.iter().copied().chain([step.name])),
                    None => return Err(format!("`{name}` is no step of the tests: {}", names().join(", "))),
                },
            }
        }
        let names = names().into_iter().filter(|name| chosen.is_empty() || chosen.contains(name)).collect();
        Ok(Self::Run { names, all })
    }
}

fn names() -> Vec<&'static str> {
    STEPS.iter().map(|step| step.name).collect()
}

/// Installs what all steps need.
pub(crate) fn set_up() -> Result<Tools> {
    setup::run_beside(STEPS.iter().flat_map(|step| step.needs), |_| {})
}

/// Does what is asked for.
pub(crate) fn run(request: &Request) -> Result<()> {
    match request {
        Request::List => {
            for Step { name, what, quick, .. } in STEPS {
                let by_quick = match quick {
                    Some(Quick { of: Some(part), .. }) => format!("; with --quick only of {part}"),
                    Some(Quick { of: None, .. }) => "; also with --quick".to_owned(),
                    None => String::new(),
                };
                println!("{name:<10}{what}{by_quick}");
            }
            Ok(())
        }
        Request::Quick => run_quick(),
        Request::Run { names, all } => {
            let steps: Vec<&Step> = STEPS.iter().filter(|step| names.contains(&step.name)).collect();
            run_steps(&steps, *all || std::env::var_os("CI").is_some())
        }
    }
}

/// What takes little time, before each commit: 8 seconds if nothing changed, 90 after a change of the engine.
fn run_quick() -> Result<()> {
    let start = Instant::now();
    std::thread::scope(|scope| setup::begin(scope, &[LINTERS]).map(drop))?;
    times::clear()?;
    let outcome = STEPS.iter().filter_map(|one| Some((one, one.quick.as_ref()?))).try_for_each(|(one, quick)| {
        let part = quick.of.map_or(String::new(), |part| format!(" (only {part})"));
        step(format!("{}: {}{part}", one.name, one.what), quick.run)
    });
    times::show_slowest(5);
    outcome?;
    println!("\nThe quick tests passed in {}.", seconds(start));
    Ok(())
}

/// A step that passed.
struct Passed {
    name: &'static str,
    seconds: f64,
    /// Whether it passed earlier, with the same inputs.
    reused: bool,
}

/// Runs steps up to the first that fails, and records a run of all of them.
fn run_steps(steps: &[&Step], all: bool) -> Result<()> {
    let start = Instant::now();
    let outcome: Result<Vec<Passed>> = std::thread::scope(|scope| {
        let mut pending = setup::begin(scope, steps.iter().flat_map(|step| step.needs))?;
        surroundings::clear_home()?;
        times::clear()?;
        let before = Snapshot::take()?;
        let mut passed = Vec::new();
        let outcome: Result<()> = steps.iter().try_for_each(|step| {
            passed.push(run_step(step, before.as_ref(), all, &mut pending)?);
            Ok(())
        });
        if let Some(before) = before.filter(|_| steps.len() == STEPS.len()) {
            let recorded = tested::record(&before, &passed, start, outcome.is_ok());
            outcome.is_ok().then_some(recorded).transpose()?;
        }
        if let (Err(error), true) = (&outcome, pending.is_busy()) {
            eprintln!("xtask: {error:#}; what is still being installed is kept for the next run");
        }
        outcome.map(|()| passed)
    });
    times::show_slowest(10);
    let passed = outcome?;
    println!("\n{}", verdict(&passed, &seconds(start)));
    Ok(())
}

/// The last line of a run that passed.
fn verdict(passed: &[Passed], time: &str) -> String {
    let some = match passed {
        [only] => format!("The step {}", only.name),
        _ if passed.len() == STEPS.len() => "All steps".to_owned(),
        _ => format!("{} steps", passed.len()),
    };
    let reused = match passed.iter().filter(|step| step.reused).count() {
        0 => String::new(),
        count => format!("; {count} of {} not repeated", passed.len()),
    };
    format!("{some} passed in {time}{reused}.")
}

/// Runs a step, unless its last result is still valid.
fn run_step(one: &Step, before: Option<&Snapshot>, all: bool, pending: &mut Pending<'_>) -> Result<Passed> {
    let heading = format!("{}: {}", one.name, one.what);
    pending.wait(one.needs)?;
    let key = before.map(|snapshot| snapshot.key(one)).transpose()?;
    let reuse = key.as_ref().filter(|_| !all);
    if let Some(seconds) = reuse.and_then(|key| passed::find(one, key)) {
        println!(
            "\n==> {heading}\n    not repeated: nothing that it reads has changed since it passed in {seconds:.1} s"
        );
        return Ok(Passed { name: one.name, seconds, reused: true });
    }
    passed::forget(one)?;
    let start = Instant::now();
    step(heading, || (one.run)(all))?;
    let seconds = start.elapsed().as_secs_f64();
    // A file that was edited meanwhile may have been read before or after.
    let now = Snapshot::take()?.map(|snapshot| snapshot.key(one)).transpose()?;
    if let Some(key) = key.filter(|key| now.as_ref() == Some(key)) {
        passed::keep(one, &key, seconds).with_context(|| format!("cannot record that {} passed", one.name))?;
    }
    Ok(Passed { name: one.name, seconds, reused: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(words: &[&str], expected: Result<(&[&str], bool), &str>) {
        match (Request::parse(words), expected) {
            (Ok(Request::Run { names, all }), Ok(expected)) => assert_eq!((&*names, all), expected),
            (Err(fault), Err(expected)) => assert!(fault.contains(expected), "{fault}"),
            (found, expected) => panic!("{found:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn steps_are_chosen_by_name_and_run_in_their_order() {
        check(&["engine", "format"], Ok((&["format", "engine"], false)));
        check(&["--all", "lints"], Ok((&["lints"], true)));
        check(&[], Ok((&names(), false)));
        check(&["--all"], Ok((&names(), true)));
        check(&["--quick", "ports"], Err("`--quick` can't be combined with other words"));
        check(&["speling"], Err("`speling` is no step of the tests: format, "));
        check(&["--list", "engine"], Err("`--list` can't be combined with other words"));
        check(&["engine", "--fresh"], Err("`--fresh` can't be combined with other words"));
        check(&["--nosuchflag"], Err("unknown option: --nosuchflag"));
        assert_eq!(Request::parse(&["--list"]), Ok(Request::List));
        assert_eq!(Request::parse(&["--quick"]), Ok(Request::Quick));
    }

    #[test]
    fn the_last_line_says_what_was_not_repeated() {
        let check = |reused: &[bool], expected: &str| {
            let passed = reused.iter().map(|reused| Passed { name: "lints", seconds: 1.0, reused: *reused });
            assert_eq!(verdict(&passed.collect::<Vec<_>>(), "2.0 s"), expected);
        };
        check(&[false], "The step lints passed in 2.0 s.");
        check(&[false, false], "2 steps passed in 2.0 s.");
        check(&[true, false], "2 steps passed in 2.0 s; 1 of 2 not repeated.");
        let all = STEPS.len();
        check(&vec![true; all], &format!("All steps passed in 2.0 s; {all} of {all} not repeated."));
    }

    #[test]
    fn a_step_brings_those_that_it_needs() {
        check(&["browser"], Ok((&["site", "browser"], false)));
    }

    #[test]
    fn a_step_comes_after_those_that_it_needs() {
        for (at, step) in STEPS.iter().enumerate() {
            let earlier = &STEPS[..at];
            assert!(step.after.iter().all(|name| earlier.iter().any(|step| step.name == *name)), "{}", step.name);
        }
    }
}
