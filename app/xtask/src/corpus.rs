//! `cargo xtask corpus`: runs the engine on third-party Python code.
//!
//! The example `sweep` of the package `tests` ports and checks; this module downloads the files, and builds and starts
//! the program.

mod packages;

use crate::setup::{self, Cost, Need};
use crate::step::{run, step};
use crate::{surroundings, workspace};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// How much of the corpus is ported.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Every package of `packages.txt` and `bounded.txt`; the result is the page `docs/robustness.md`.
    Whole,
    /// Those of `bounded.txt`, with the program as built by the tests: a check of `cargo xtask test`.
    Bounded,
}

impl Part {
    /// The lists of packages, in `tests/corpus`.
    fn lists(self) -> &'static [&'static str] {
        match self {
            Self::Whole => &["bounded.txt", "packages.txt"],
            Self::Bounded => &["bounded.txt"],
        }
    }

    /// The profile of the program. An optimised build takes minutes, and the tests have already built the other.
    fn profile(self) -> Profile {
        match self {
            Self::Whole => Profile::Release,
            Self::Bounded => Profile::Dev,
        }
    }
}

/// How `sweep` is built.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Profile {
    Release,
    Dev,
}

/// The packages of the bounded part.
pub(crate) const BOUNDED_PACKAGES: Need =
    Need { name: "published packages", cost: Cost::Download, ensure: || ensure(Part::Bounded).map(drop) };

/// Downloads the packages of a part.
pub(crate) fn ensure(part: Part) -> Result<Vec<PathBuf>> {
    let folder = folder()?;
    let python = setup::python_with_pip(&folder)?;
    let mut folders = Vec::new();
    for list in part.lists() {
        folders.extend(packages::ensure(&workspace::root().join("tests/corpus").join(list), &folder, &python)?);
    }
    Ok(folders)
}

/// Ports every file of the part.
pub(crate) fn run_part(part: Part, minutes: Option<f64>) -> Result<()> {
    let folders = ensure(part)?;
    let folder = folder()?;
    let list = folder.join("files.tsv");
    let mut files = Vec::new();
    if part == Part::Whole {
        // First: a run that ends early has them, too.
        files = packages::cpython_tests(&setup::python_with_pip(&folder)?)?;
        if files.is_empty() {
            println!("\nCPython's own tests are left out: this Python was installed without them.");
        }
    }
    files.extend(packages::python_files(&folder, &folders)?);
    write_list(&list, &files)?;
    let mut sweep = sweep(part.profile(), "corpus")?;
    sweep.arg("--list").arg(list);
    sweep.arg("--out").arg(folder.join(if part == Part::Whole { "faults" } else { "faults-bounded" }));
    if let Some(minutes) = minutes {
        sweep.arg("--minutes").arg(minutes.to_string());
    }
    if part == Part::Whole {
        let command = match minutes {
            Some(minutes) => format!("cargo xtask corpus --minutes {minutes}"),
            None => "cargo xtask corpus".to_owned(),
        };
        sweep.arg("--command").arg(command).arg("--table").arg("docs/robustness.md");
    }
    step(format!("ports of {} files", files.len()), || run(&mut sweep))
}

/// What of a folder is ported together.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Together {
    /// Each Python file by itself.
    File,
    /// All that a port of a project reads, for each folder in the folder.
    Project,
}

/// Ports what is below a folder, such as checkouts of projects that no list names, and checks the ports.
pub(crate) fn run_folder(below: &Path, together: Together) -> Result<()> {
    let projects = packages::projects(below)?;
    let files = match together {
        Together::File => packages::python_files(below, &projects)?,
        Together::Project => packages::all_files(below, &projects)?,
    };
    if files.is_empty() {
        bail!("{} has no Python files", below.display());
    }
    let folder = folder()?;
    let list = folder.join("files-of-folder.tsv");
    write_list(&list, &files)?;
    let mut sweep = sweep(Profile::Release, "corpus")?;
    sweep.arg("--list").arg(list).arg("--out").arg(folder.join("faults-of-folder"));
    if together == Together::Project {
        sweep.args(["--projects", "--limit", "600"]);
        return step(format!("ports of {} projects", projects.len()), || run(&mut sweep));
    }
    step(format!("ports of {} files", files.len()), || run(&mut sweep))
}

/// The list of files that the program reads.
fn write_list(list: &Path, files: &[(String, PathBuf)]) -> Result<()> {
    let lines: String = files.iter().map(|(shown, file)| format!("{shown}\t{}\n", file.display())).collect();
    std::fs::write(list, lines).with_context(|| format!("cannot write {}", list.display()))
}

/// The Python files of packages.
pub(crate) fn python_files(folders: &[PathBuf]) -> Result<Vec<PathBuf>> {
    Ok(packages::python_files(&folder()?, folders)?.into_iter().map(|(_, file)| file).collect())
}

/// Paths of packages, lists and results.
fn folder() -> Result<PathBuf> {
    let folder = setup::cache()?.join("corpus");
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(folder)
}

/// The program, built, with the Python to query.
fn sweep(profile: Profile, verb: &str) -> Result<Command> {
    let mut cargo = surroundings::command("cargo")?;
    // Built like the tests of all packages: with fewer packages some would have fewer features and be recompiled.
    cargo.args(["build", "--quiet", "--workspace", "--example", "sweep"]);
    if profile == Profile::Release {
        // Panics have to be caught, and whole-program optimisation costs more time than it saves.
        cargo.arg("--release").envs([
            ("CARGO_PROFILE_RELEASE_LTO", "off"),
            ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16"),
            ("CARGO_PROFILE_RELEASE_PANIC", "unwind"),
        ]);
    }
    step("build the corpus program", || run(&mut cargo))?;
    let name = format!("sweep{}", std::env::consts::EXE_SUFFIX);
    let built =
        workspace::target().join(if profile == Profile::Release { "release" } else { "debug" }).join("examples");
    let mut command = surroundings::command(built.join(name))?;
    command.arg(verb).arg("--python").arg(setup::python_with_pip(&folder()?)?);
    Ok(command)
}

/// The folder of a package's files, as named in the report.
fn shown(folder: &Path, file: &Path) -> String {
    file.strip_prefix(folder).unwrap_or(file).display().to_string().replace('\\', "/")
}
