//! Results of runs that still hold.
//!
//! A run's result, before any judgement, is kept in `target/twin-results` under a hash of everything that it depends
//! on: the programs with all files of their folders, how they are started, the sources that start them, the kit, the
//! Python with its packages, the processor. It is kept if it was judged to be right. With `PORTOLAN_REUSE=1` a kept result is judged again in place of a new run.

use crate::server::{Framework, environment};
use crate::trials::trials;
use libtest_mimic::Trial;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;
use tests::sound::{Folder, here};

/// What a run is: its fields are all that its result depends on, beside what is the same for all runs.
pub(crate) trait Run: Serialize {
    fn framework(&self) -> Framework;

    /// Its result, in which no path is absolute.
    fn run(&self) -> Value;

    /// Judges the result of a new run or a kept one.
    fn check(&self, judge: impl FnOnce(&Value) -> Result<(), String>) -> Result<(), String> {
        let file = folder().join(key(&SOURCES, &PYTHONS[self.framework() as usize], &KIT, self)).with_extension("json");
        if let Some(kept) = kept(&file) {
            judge(&kept.result)?;
            REUSED.fetch_add(1, Ordering::Relaxed);
            SAVED.fetch_add(kept.milliseconds, Ordering::Relaxed);
            return Ok(());
        }
        let start = Instant::now();
        let result = self.run();
        let milliseconds = start.elapsed().as_millis() as u64;
        RUN.fetch_add(1, Ordering::Relaxed);
        judge(&result)?;
        keep(&file, &Kept { milliseconds, result });
        Ok(())
    }
}

#[derive(Serialize, Deserialize)]
struct Kept {
    milliseconds: u64,
    result: Value,
}

static REUSED: AtomicUsize = AtomicUsize::new(0);
static RUN: AtomicUsize = AtomicUsize::new(0);
static SAVED: AtomicU64 = AtomicU64::new(0);

/// Says how many results were reused, if there were any runs.
pub(crate) fn print_counts() {
    let [reused, run] = [&REUSED, &RUN].map(|count| count.load(Ordering::Relaxed));
    if reused + run > 0 {
        let saved = SAVED.load(Ordering::Relaxed) / 1000;
        println!("{run} runs, and {reused} results of earlier runs that still hold, which took {saved} s\n");
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("twin-results")
}

fn kept(file: &Path) -> Option<Kept> {
    let is_asked = std::env::var_os("PORTOLAN_REUSE").is_some_and(|value| value == "1");
    serde_json::from_slice(&fs::read(file).ok().filter(|_| is_asked)?).ok()
}

/// Another test run may write the same file.
fn keep(file: &Path, kept: &Kept) {
    let new = file.with_extension(std::process::id().to_string());
    fs::create_dir_all(folder()).unwrap();
    fs::write(&new, serde_json::to_vec(kept).unwrap()).unwrap();
    fs::rename(new, file).unwrap();
}

/// The sources of these tests that define how a program is started, and in which environment.
const SOURCES: [&str; 3] = [include_str!("machine.rs"), include_str!("server.rs"), include_str!("twin.rs")];

fn key(sources: &[&str; 3], python: &str, kit: &BTreeMap<String, String>, run: &(impl Serialize + ?Sized)) -> String {
    hash(&serde_json::to_vec(&(&*PROCESSOR, sources, python, kit, run)).unwrap())
}

/// What the processor can do, by which PyTorch selects its kernels.
static PROCESSOR: LazyLock<String> = LazyLock::new(|| {
    let said = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let able = said.lines().find(|line| line.starts_with("flags") || line.starts_with("Features"));
    format!("{} {}", std::env::consts::ARCH, able.unwrap_or_default())
});

fn hash(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

/// The files of the kit that starts the programs, and their hashes.
static KIT: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| hashes(&here().join("../rehearsal")));

fn hashes(root: &Path) -> BTreeMap<String, String> {
    let (mut found, mut open) = (BTreeMap::new(), vec![root.to_path_buf()]);
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_none_or(|end| end != "pyc") {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            found.insert(name, hash(&fs::read(&path).unwrap()));
        }
    }
    found
}

static PYTHONS: [LazyLock<String>; 2] = [
    LazyLock::new(|| identity(&Framework::PyTorch.python())),
    LazyLock::new(|| identity(&Framework::TensorFlow.python())),
];

/// A Python's version and packages: what it says itself, and the list that they were installed from.
fn identity(python: &Path) -> String {
    const ASKED: &str = "import sys, importlib.metadata as m\n\
                         print(sys.version, sorted((d.metadata['Name'], d.version) for d in m.distributions()))";
    let output = Command::new(python).args(["-c", ASKED]).env_clear().envs(environment()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let list = python.ancestors().nth(2).map(|folder| folder.join("installed-requirements.txt"));
    String::from_utf8(output.stdout).unwrap() + &list.and_then(|list| fs::read_to_string(list).ok()).unwrap_or_default()
}

pub(crate) fn trials() -> Vec<Trial> {
    trials!(every_input_is_in_the_key a_result_is_kept_if_it_was_right)
}

/// Each value that a run depends on, changed alone, gives another key.
fn every_input_is_in_the_key() {
    let kit = Folder::with([("server.py", "a"), ("twins/run.py", "b")]);
    let python = Folder::with([("bin/python", ""), ("installed-requirements.txt", "torch==2\n")]);
    let says = |version: &str| {
        use std::os::unix::fs::PermissionsExt;
        let program = python.join("bin/python");
        fs::write(&program, format!("#!/bin/sh\necho '{version}'\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    };
    let key_with =
        |sources: [&str; 3], run: &Value| key(&sources, &identity(&python.join("bin/python")), &hashes(&kit), run);
    let key_of = |run: &Value| key_with(SOURCES, run);
    says("3.11 numpy 2");
    let run = crate::twin::sample();
    let first = key_of(&run);
    assert_eq!(key_of(&run), first);
    let mut keys = vec![first, key_with(["another", SOURCES[1], SOURCES[2]], &run)];
    // Every value inside the run: files of both programs, target, arguments, options, earlier starts, framework.
    let mut places = Vec::new();
    leaves(&run, String::new(), &mut places);
    assert!(places.len() >= 12, "{places:?}");
    for place in &places {
        let mut changed = run.clone();
        let value = changed.pointer_mut(place).unwrap();
        *value = format!("another {value}").into();
        keys.push(key_of(&changed));
    }
    fs::write(kit.join("twins/run.py"), "c").unwrap();
    keys.push(key_of(&run));
    fs::rename(kit.join("twins/run.py"), kit.join("twins/ran.py")).unwrap();
    keys.push(key_of(&run));
    fs::write(kit.join("new.py"), "").unwrap();
    keys.push(key_of(&run));
    says("3.12 numpy 2");
    keys.push(key_of(&run));
    says("3.12 numpy 3");
    keys.push(key_of(&run));
    fs::write(python.join("installed-requirements.txt"), "torch==3\n").unwrap();
    keys.push(key_of(&run));
    fs::remove_file(python.join("installed-requirements.txt")).unwrap();
    keys.push(key_of(&run));
    let mut different = keys.clone();
    different.sort();
    different.dedup();
    assert_eq!(different.len(), keys.len());
    // Compiled files are Python's own.
    fs::write(kit.join("twins/ran.cpython-311.pyc"), "").unwrap();
    assert_eq!(keys.last(), Some(&key_of(&run)));
}

/// The paths of all values that contain no others.
fn leaves(value: &Value, at: String, found: &mut Vec<String>) {
    let inside: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(name, one)| (name.replace('/', "~1"), one)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(n, one)| (n.to_string(), one)).collect(),
        _ => return found.push(at),
    };
    inside.into_iter().for_each(|(name, one)| leaves(one, format!("{at}/{name}"), found));
}

fn a_result_is_kept_if_it_was_right() {
    #[derive(Serialize)]
    struct Number(u32, u128);
    impl Run for Number {
        fn framework(&self) -> Framework {
            Framework::PyTorch
        }
        fn run(&self) -> Value {
            self.0.into()
        }
    }
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let run = Number(7, since.as_nanos());
    let file = folder().join(key(&SOURCES, &PYTHONS[0], &KIT, &run)).with_extension("json");
    assert!(run.check(|_| Err("wrong".to_owned())).is_err() && !file.exists());
    assert!(run.check(|result| (*result == 7).then_some(()).ok_or_else(String::new)).is_ok() && file.exists());
    let kept: Kept = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(kept.result, 7);
    fs::remove_file(file).unwrap();
}
