//! What a step's result depends on: files of the checkout, the compiler, the programs that tests call, variables.
//!
//! Git does the hashing: an index of its own with every file of the checkout as it is now, ignored ones excluded. Its tree is the
//! one that a commit of everything would have.

use super::steps::{Reads, Step};
use crate::setup::{self, BROWSERS, Need, PYTORCH, WITH_TENSORFLOW};
use crate::step::{ask, on_path, shown};
use crate::surroundings;
use crate::workspace;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Read by every step.
const BY_ALL: [&str; 4] = [".cargo/", "Cargo.lock", "Cargo.toml", "app/xtask/"];

/// The hash of a step's inputs.
pub(crate) type Key = String;

/// The files of the checkout at one moment.
pub(crate) struct Snapshot {
    /// The hash of git's tree of all files.
    pub(crate) tree: String,
    /// By path, mode and hash of the content.
    files: BTreeMap<String, String>,
    /// Everything that is not a file of the checkout, line by line.
    machine: String,
}

impl Snapshot {
    /// The checkout as it is now; none if it is not a clone, whose files can't be told from what was built.
    pub(crate) fn take() -> Result<Option<Self>> {
        let index = workspace::target().join("tested.index");
        std::fs::create_dir_all(workspace::target()).context("cannot create target/")?;
        let files = files_of(&workspace::root(), &index)?;
        Ok(files.map(|(tree, files)| Self { tree, files, machine: machine().to_owned() }))
    }

    /// The hash of a step's inputs, once what it needs is installed.
    pub(crate) fn key(&self, step: &Step) -> Result<Key> {
        let asked = match step.asks {
            [program, words @ ..] => {
                let output = workspace::command(program).args(words).stdin(Stdio::null()).output();
                String::from_utf8_lossy(&output.with_context(|| format!("cannot start {program}"))?.stdout).into_owned()
            }
            [] => String::new(),
        };
        hash(&self.inputs(step, &format!("{}{}{asked}", frameworks(step.needs)?, browsers(step.needs))))
    }

    /// The inputs of a step, line by line.
    fn inputs(&self, step: &Step, more: &str) -> String {
        let read = self.files.iter().filter(|(path, _)| is_read(path, step.reads));
        let lines = read.map(|(path, content)| format!("{content} {path}\n"));
        format!("{}\n{}{more}{}", step.name, self.machine, lines.collect::<String>())
    }
}

/// The Pythons that a step needs, with their packages.
fn frameworks(needs: &[Need]) -> Result<String> {
    let pairs = [(PYTORCH, setup::NEWEST_PYTORCH), (WITH_TENSORFLOW, setup::TENSORFLOW)];
    let needed = pairs.iter().filter(|(need, _)| is_among(need, needs));
    needed.map(|(need, framework)| Ok(format!("{}: {}\n", need.name, framework.installed()?))).collect()
}

/// The browsers, if a step needs them.
fn browsers(needs: &[Need]) -> String {
    let found = if is_among(&BROWSERS, needs) { [setup::chromium(), setup::firefox()] } else { [None, None] };
    let told =
        |program: PathBuf| format!("{}: {}\n", program.display(), ask(&program, &["--version"]).unwrap_or_default());
    found.into_iter().flatten().map(told).collect()
}

fn is_among(need: &Need, needs: &[Need]) -> bool {
    needs.iter().any(|other| other.name == need.name)
}

/// Whether a step's result depends on a file.
fn is_read(path: &str, reads: Reads) -> bool {
    let is_in = |place: &&str| place.strip_prefix('*').map_or(path.starts_with(place), |end| path.ends_with(end));
    let among = |places: &[&str]| places.iter().any(is_in);
    among(&BY_ALL)
        || match reads {
            Reads::Only(places) => among(places),
            Reads::AllBut(places) => !among(places),
        }
}

/// The tree of a checkout's files, and each file's mode and hash; none if the folder is no checkout.
fn files_of(root: &Path, index: &Path) -> Result<Option<(String, BTreeMap<String, String>)>> {
    let Some(own) = git_path(root, "index") else { return Ok(None) };
    // It begins with the checkout's own index, because a user's settings may ignore a file that git tracks.
    if own.is_file() {
        std::fs::copy(&own, index).with_context(|| format!("cannot write {}", index.display()))?;
    }
    // New files are hashed into a folder of their own, not into the checkout's history.
    let objects = index.with_extension("objects");
    std::fs::create_dir_all(&objects).with_context(|| format!("cannot create {}", objects.display()))?;
    let known = git_path(root, "objects").unwrap_or_default();
    let git = |words: &[&str]| -> Result<String> {
        let mut git = Command::new("git");
        git.arg("-C").arg(root).args(words).env("GIT_INDEX_FILE", index).stdin(Stdio::null());
        git.env("GIT_OBJECT_DIRECTORY", &objects).env("GIT_ALTERNATE_OBJECT_DIRECTORIES", &known);
        let output = git.output().context("cannot start git")?;
        if !output.status.success() {
            bail!("git {} failed: {}", words[0], String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    // What a user told git not to look at is an input, too.
    git(&["ls-files", "-z"]).and_then(|tracked| forget_flags(root, index, &tracked))?;
    git(&["add", "--all", "."])?;
    let (tree, list) = (git(&["write-tree"])?, git(&["ls-files", "--stage", "-z"])?);
    let mut files = BTreeMap::new();
    for entry in list.split_terminator('\0') {
        let (content, path) = entry.split_once('\t').context("git lists files in another form")?;
        files.insert(path.to_owned(), content.to_owned());
    }
    Ok(Some((tree.trim().to_owned(), files)))
}

/// Takes `assume-unchanged` and `skip-worktree` off files, by their paths.
fn forget_flags(root: &Path, index: &Path, paths: &str) -> Result<()> {
    for flag in ["--no-assume-unchanged", "--no-skip-worktree"] {
        let mut git = Command::new("git");
        git.arg("-C").arg(root).args(["update-index", flag, "-z", "--stdin"]).env("GIT_INDEX_FILE", index);
        answer(&mut git, paths)?;
    }
    Ok(())
}

/// A file of git's own for a checkout; none if the folder is no checkout.
fn git_path(root: &Path, name: &str) -> Option<PathBuf> {
    let said = ask("git", &["-C", &root.display().to_string(), "rev-parse", "--git-path", name])?;
    Some(root.join(said))
}

/// The compiler, the programs that steps call, and the variables that reach them.
fn machine() -> &'static str {
    static MACHINE: OnceLock<String> = OnceLock::new();
    MACHINE.get_or_init(|| {
        let mut lines = String::new();
        let mut line = |name: &str, said: &str| lines += &format!("{name}: {}\n", said.replace('\n', " "));
        for (program, question) in [
            ("rustc", "-vV"),
            ("cargo", "-V"),
            ("git", "--version"),
            ("node", "--version"),
            ("python3", "-VV"),
            ("shellcheck", "--version"),
            ("trunk", "--version"),
            ("wasm-bindgen", "--version"),
            ("uname", "-srm"),
        ] {
            line(program, &on_path(program).and_then(|file| ask(file, &[question])).unwrap_or_default());
        }
        if let Ok(clang) = setup::found().map(|tools| tools.clang) {
            line(&clang.display().to_string(), &ask(&clang, &["--version"]).unwrap_or_default());
        }
        let mut variables: Vec<(OsString, OsString)> = surroundings::kept(surroundings::BUILD);
        variables.sort();
        // What a terminal can show changes no result.
        for (name, value) in variables.iter().filter(|(name, _)| name != "TERM") {
            line(&name.to_string_lossy(), &value.to_string_lossy());
        }
        lines
    })
}

/// The hash of every file below a folder, with their paths; none if there is no such folder.
pub(super) fn hash_folder(folder: &Path) -> Result<Option<String>> {
    let (mut open, mut found) = (vec![folder.to_path_buf()], Vec::new());
    while let Some(next) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&next) else { return Ok(None) };
        for entry in entries {
            let path = entry.with_context(|| format!("cannot read {}", next.display()))?.path();
            if path.is_dir() { open.push(path) } else { found.push(path.display().to_string()) }
        }
    }
    found.sort();
    let paths = found.join("\n");
    let hashes = git_hash(&["--no-filters", "--stdin-paths"], &paths)?;
    Ok(Some(hash(&format!("{paths}\n{hashes}"))?))
}

/// The hash of a text.
fn hash(text: &str) -> Result<String> {
    git_hash(&["--stdin"], text)
}

fn git_hash(words: &[&str], input: &str) -> Result<String> {
    let mut git = Command::new("git");
    answer(git.arg("hash-object").args(words), input)
}

/// What git prints for an input.
fn answer(git: &mut Command, input: &str) -> Result<String> {
    let mut child = git.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("cannot start git")?;
    let mut pipe = child.stdin.take().context("no pipe")?;
    let output = std::thread::scope(|scope| {
        // Git may answer before it has read everything.
        scope.spawn(move || pipe.write_all(input.as_bytes()));
        child.wait_with_output()
    });
    let output = output.context("cannot read git's answer")?;
    if !output.status.success() {
        bail!("{} failed", shown(git));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::steps::STEPS;
    use super::*;

    fn snapshot(files: &[(&str, &str)], machine: &str) -> Snapshot {
        let files = files.iter().map(|(path, content)| ((*path).to_owned(), (*content).to_owned())).collect();
        Snapshot { tree: String::new(), files, machine: machine.to_owned() }
    }

    /// The steps that run again after a change of one file.
    fn repeated_after(path: &str) -> Vec<&'static str> {
        let [before, after] = ["100644 aaaa 0", "100644 bbbb 0"].map(|content| snapshot(&[(path, content)], ""));
        let changed = STEPS.iter().filter(|step| before.key(step).unwrap() != after.key(step).unwrap());
        changed.map(|step| step.name).collect()
    }

    fn check(path: &str, skipped: &[&str]) {
        let all: Vec<&str> = STEPS.iter().map(|step| step.name).filter(|name| !skipped.contains(name)).collect();
        assert_eq!(repeated_after(path), all, "{path}");
    }

    #[test]
    fn every_kind_of_input_runs_the_steps_that_read_it() {
        for path in
            ["Cargo.lock", "Cargo.toml", "app/uresnet/Cargo.toml", ".cargo/config.toml", "app/xtask/src/main.rs"]
        {
            check(path, &[]);
        }
        check("app/codemod/src/port.rs", &["kernels"]);
        check("app/uresnet/src/plan.rs", &[]);
        check("guides/hpu.md", &["format", "kernels"]);
        check("rehearsal/rehearse.py", &["format", "kernels"]);
        check("public/icons/a.svg", &["format", "kernels"]);
        check("tests/fixtures/twins/verdicts.toml", &["format", "corpus", "kernels"]);
        // The sample of the page; wasm-opt.
        check("tests/fixtures/scripts/spectra_trainer.py", &["format", "corpus", "kernels"]);
        check("tests/browser/package-lock.json", &["kernels"]);
        check("tests/browser/port.test.mjs", &["format", "lints", "corpus", "kernels", "site"]);
        check("tests/wasm/run.py", &[]);
        check("tests/corpus/bounded.txt", &["kernels", "site"]);
        check("tests/fixtures/uresnet/a21.json", &["format", "corpus"]);
        // A kind of input that did not exist when this was written.
        check("somewhere/new.txt", &["kernels"]);
    }

    #[test]
    fn a_file_that_appears_or_moves_is_a_change() {
        let one = ("app/python/src/tree.rs", "100644 aaaa 0");
        let keys = [
            snapshot(&[one], ""),
            snapshot(&[one, ("app/python/src/more.rs", "100644 aaaa 0")], ""),
            snapshot(&[("app/python/src/oak.rs", "100644 aaaa 0")], ""),
            snapshot(&[("app/python/src/tree.rs", "100755 aaaa 0")], ""),
            snapshot(&[one], "rustc: 1.96"),
        ]
        .map(|snapshot| snapshot.key(&STEPS[1]).unwrap());
        let distinct: std::collections::BTreeSet<_> = keys.iter().collect();
        assert_eq!(distinct.len(), keys.len());
    }

    #[test]
    fn two_steps_have_different_keys() {
        let all = snapshot(&[("Cargo.lock", "100644 aaaa 0")], "");
        assert_ne!(all.key(&STEPS[0]).unwrap(), all.key(&STEPS[1]).unwrap());
    }

    #[test]
    fn the_machine_is_told_by_compiler_programs_and_packages() {
        let told = format!("{}{}", machine(), frameworks(&[PYTORCH]).unwrap());
        for word in ["rustc: rustc ", "LLVM version", "node: v", "('torch', '"] {
            assert!(told.contains(word), "{word} is missing in\n{told}");
        }
        assert_eq!(frameworks(&[setup::LINTERS]).unwrap() + &browsers(&[setup::LINTERS]), "");
    }

    /// A checkout of one file.
    fn checkout(name: &str) -> std::path::PathBuf {
        let root = std::env::temp_dir().join(format!("portolan-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&root).unwrap();
        assert!(ask("git", &["-C", root.to_str().unwrap(), "init", "--quiet"]).is_some());
        std::fs::write(root.join(".gitignore"), "built\n").unwrap();
        std::fs::write(root.join("a.txt"), "one").unwrap();
        root
    }

    #[test]
    fn files_are_told_apart_by_content_and_ignored_ones_are_none() {
        let root = checkout("inputs");
        let look = || files_of(&root, &root.join(".git/tested.index")).unwrap().expect("a checkout");
        let (tree, files) = look();
        assert_eq!(files.keys().collect::<Vec<_>>(), [".gitignore", "a.txt"]);
        std::fs::write(root.join("built"), "anything").unwrap();
        assert_eq!(look().0, tree);
        std::fs::write(root.join("a.txt"), "two").unwrap();
        let (changed, now) = look();
        assert_ne!(changed, tree);
        assert_ne!(now["a.txt"], files["a.txt"]);
        // A file that git tracks counts, whatever a user's settings ignore.
        assert!(ask("git", &["-C", root.to_str().unwrap(), "add", "a.txt"]).is_some());
        std::fs::write(root.join(".git/info/exclude"), "a.txt\n").unwrap();
        std::fs::write(root.join("a.txt"), "three").unwrap();
        let now = look().1["a.txt"].clone();
        assert_ne!(now, files["a.txt"]);
        // So does one that git was told not to look at.
        assert!(ask("git", &["-C", root.to_str().unwrap(), "update-index", "--skip-worktree", "a.txt"]).is_some());
        std::fs::write(root.join("a.txt"), "four").unwrap();
        assert_ne!(look().1["a.txt"], now);
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_folder_without_history_has_no_state() {
        let root = std::env::temp_dir().join(format!("portolan-plain-{}", std::process::id()));
        std::fs::create_dir_all(&root).unwrap();
        assert!(files_of(&root, &root.join("index")).unwrap().is_none());
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_made_folder_is_told_by_names_and_contents() {
        let root = checkout("made");
        let look = || hash_folder(&root.join("made")).unwrap();
        assert_eq!(look(), None);
        std::fs::create_dir(root.join("made")).unwrap();
        std::fs::write(root.join("made/a"), "1").unwrap();
        let first = look();
        std::fs::write(root.join("made/a"), "2").unwrap();
        assert_ne!(look(), first);
        std::fs::write(root.join("made/a"), "1").unwrap();
        assert_eq!(look(), first);
        std::fs::rename(root.join("made/a"), root.join("made/b")).unwrap();
        assert_ne!(look(), first);
        std::fs::remove_dir_all(root).unwrap();
    }
}
