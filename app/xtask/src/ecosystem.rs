//! `cargo xtask ecosystem`: what a change of the engine or of a guide means for public training code.
//!
//! It ports the repositories of `tests/ecosystem/repositories.txt` with a base build of the command and with that of this
//! tree, and writes the differences in edits and messages as a Markdown table. Both are other programs here: this crate
//! knows their JSON reports alone.

mod base;
mod difference;
mod repositories;

use crate::step::step;
use crate::{setup, workspace};
use anyhow::{Context, Result, bail};
use difference::{Compared, Entry};
use repositories::Repository;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The words of the command line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Request {
    base: base::Base,
    /// All targets, if there are none.
    targets: Vec<String>,
    /// Parts of the repositories' names; all, if there are none.
    names: Vec<String>,
    /// A folder with checkouts, which are ported in place of the downloaded ones.
    from: Option<PathBuf>,
    /// The file for the table; none for standard output.
    out: Option<PathBuf>,
}

impl Request {
    /// The request, or a sentence about a word that is none.
    pub(crate) fn parse(words: &[&str]) -> Result<Self, String> {
        let mut request = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value")).map(|value| (*value).to_owned());
            match *word {
                "--base" => request.base = base::Base::Program(value()?.into()),
                "--base-rev" => request.base = base::Base::Revision(value()?),
                "--target" => request.targets.push(value()?),
                "--repos" => request.names.push(value()?),
                "--from" => request.from = Some(value()?.into()),
                "--out" => request.out = Some(value()?.into()),
                word => return Err(format!("unknown option: {word}")),
            }
        }
        Ok(request)
    }
}

/// Ports the repositories twice and writes the table. A repository that can't be fetched is skipped, and named.
pub(crate) fn run(request: &Request) -> Result<()> {
    let list = fs::read_to_string(workspace::root().join("tests/ecosystem/repositories.txt"))?;
    let wanted =
        |one: &Repository| request.names.is_empty() || request.names.iter().any(|name| one.name.contains(name));
    let repositories: Vec<Repository> = repositories::read(&list)?.into_iter().filter(wanted).collect();
    if repositories.is_empty() {
        bail!("no repository in tests/ecosystem/repositories.txt has {} in its name", request.names.join(" or "));
    }
    let (mut there, mut skipped) = (Vec::new(), Vec::new());
    step(format!("checkouts of {} repositories", repositories.len()), || {
        let cache = setup::cache()?.join("ecosystem");
        for repository in repositories {
            match repository.checkout(request.from.as_deref(), &cache) {
                Ok(folder) => there.push((repository, folder)),
                Err(why) => {
                    println!("    {} is skipped: {why}", repository.name);
                    skipped.push(format!("{}: {why}", repository.name));
                }
            }
        }
        Ok(())
    })?;
    if there.is_empty() {
        println!("\nNothing was compared: no repository is here, and none can be fetched.");
        return write(request.out.as_deref(), &difference::table(&[], &skipped));
    }
    let base = request.base.program()?;
    let own = base::build(&workspace::root(), &workspace::target())?;
    let targets = if request.targets.is_empty() { targets(&own)? } else { request.targets.clone() };
    let count = there.len() * targets.len();
    let mut compared = Vec::new();
    step(format!("{count} ports with each of the two builds"), || {
        for (repository, folder) in &there {
            for target in &targets {
                let [before, after] = [&base, &own].map(|program| port(program, target, folder));
                let one = Compared::new(&repository.name, target, before, after);
                println!("    {}/{count} {}, {target}: {}", compared.len() + 1, repository.name, one.in_short());
                compared.push(one);
            }
        }
        Ok(())
    })?;
    write(request.out.as_deref(), &difference::table(&compared, &skipped))?;
    // What differs is for a person to judge; a port that only this tree can't do is not.
    let broken = compared.iter().filter(|one| one.is_broken).count();
    if broken > 0 {
        bail!("{broken} of {count} ports fail with this tree alone");
    }
    Ok(())
}

/// The targets of a build.
fn targets(program: &Path) -> Result<Vec<String>> {
    let output = Command::new(program).args(["recipes", "list", "--format", "json"]).output();
    let output = output.with_context(|| format!("cannot start {}", program.display()))?;
    let list: Value = serde_json::from_slice(&output.stdout).context("`recipes list` did not print JSON")?;
    let mut ids = difference::values_of(&list["coverage"], "target");
    ids.sort();
    ids.dedup();
    Ok(ids)
}

/// The edits and messages of a port, or why there are none.
fn port(program: &Path, target: &str, folder: &Path) -> Result<Vec<Entry>, String> {
    let mut command = Command::new(program);
    command.args(["port", "--target", target, "--format", "json", "."]).current_dir(folder);
    let output = command.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    let Ok(report) = serde_json::from_slice::<Value>(&output.stdout) else {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{}: {}", output.status, said.lines().last().unwrap_or("it printed nothing")));
    };
    Ok(difference::entries(&report, |path| fs::read_to_string(folder.join(path)).ok()))
}

fn write(out: Option<&Path>, table: &str) -> Result<()> {
    match out {
        None => println!("\n{table}"),
        Some(file) => {
            fs::write(file, table).with_context(|| format!("cannot write {}", file.display()))?;
            println!("\n    the table is in {}", file.display());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_command_line() {
        let words =
            ["--base", "a/portolan", "--target", "t", "--target", "u", "--repos", "GPT", "--from", "f", "--out", "o"];
        let expected = Request {
            base: base::Base::Program("a/portolan".into()),
            targets: vec!["t".to_owned(), "u".to_owned()],
            names: vec!["GPT".to_owned()],
            from: Some("f".into()),
            out: Some("o".into()),
        };
        assert_eq!(Request::parse(&words), Ok(expected));
        assert_eq!(Request::parse(&["--base-rev"]), Err("--base-rev needs a value".to_owned()));
        assert_eq!(Request::parse(&["main"]), Err("unknown option: main".to_owned()));
    }
}
