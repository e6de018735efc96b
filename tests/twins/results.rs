//! Results of runs that still hold.
//!
//! A run's result, before any judgement, is kept in `target/twin-results` under a hash of everything that it depends
//! on: the programs with all files of their folders, how they are started, the kit, the Python with its packages. It is
//! kept if it was judged to be right. With `PORTOLAN_REUSE=1` a kept result is judged again in place of a new run.

use crate::server::{self, Framework};
use crate::trials::trials;
use libtest_mimic::Trial;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};
use std::time::Instant;
use tests::sound::{Folder, here};

/// What a run is: its fields are all that its result depends on, beside the kit and the Python.
pub(crate) trait Run: Serialize {
    fn framework(&self) -> Framework;

    /// Its result, in which no path is absolute.
    fn run(&self) -> Value;

    /// Judges the result of a new run or a kept one.
    fn check(&self, judge: impl FnOnce(&Value) -> Result<(), String>) -> Result<(), String> {
        let file = folder().join(key(&PYTHONS[self.framework() as usize], &KIT, self)).with_extension("json");
        if let Some(kept) = kept(&file) {
            judge(&kept.result)?;
            REUSED.fetch_add(1, Ordering::Relaxed);
            *SAVED.lock().unwrap() += kept.seconds;
            return Ok(());
        }
        let start = Instant::now();
        let result = self.run();
        let seconds = start.elapsed().as_secs_f64();
        RUN.fetch_add(1, Ordering::Relaxed);
        judge(&result)?;
        keep(&file, &Kept { seconds, result });
        Ok(())
    }
}

#[derive(Serialize, Deserialize)]
struct Kept {
    seconds: f64,
    result: Value,
}

static REUSED: AtomicUsize = AtomicUsize::new(0);
static RUN: AtomicUsize = AtomicUsize::new(0);
static SAVED: Mutex<f64> = Mutex::new(0.0);

/// Says how many results were reused, if there were any runs.
pub(crate) fn print_counts() {
    let [reused, run] = [&REUSED, &RUN].map(|count| count.load(Ordering::Relaxed));
    if reused + run > 0 {
        let saved = *SAVED.lock().unwrap();
        println!("{run} runs, and {reused} results of earlier runs that still hold, which took {saved:.0} s\n");
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

fn key(python: &str, kit: &BTreeMap<String, String>, run: &(impl Serialize + ?Sized)) -> String {
    hash(&serde_json::to_vec(&(std::env::consts::ARCH, python, kit, server::FIXED, run)).unwrap())
}

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
    LazyLock::new(|| Framework::PyTorch.imports() + &identity(&Framework::PyTorch.python())),
    LazyLock::new(|| Framework::TensorFlow.imports() + &identity(&Framework::TensorFlow.python())),
];

/// A Python's version and packages: what it says itself, and the list that they were installed from.
fn identity(python: &Path) -> String {
    const ASKED: &str = "import sys, importlib.metadata as m\n\
                         print(sys.version, sorted((d.metadata['Name'], d.version) for d in m.distributions()))";
    let output = Command::new(python).args(["-c", ASKED]).env_clear().envs(server::environment()).output().unwrap();
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
    let key_of = |run: &Value| key(&identity(&python.join("bin/python")), &hashes(&kit), run);
    says("3.11 numpy 2");
    let run = crate::twin::sample();
    let first = key_of(&run);
    assert_eq!(key_of(&run), first);
    let mut keys = vec![first];
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
    let file = folder().join(key(&PYTHONS[0], &KIT, &run)).with_extension("json");
    assert!(run.check(|_| Err("wrong".to_owned())).is_err() && !file.exists());
    assert!(run.check(|result| (*result == 7).then_some(()).ok_or_else(String::new)).is_ok() && file.exists());
    let kept: Kept = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(kept.result, 7);
    fs::remove_file(file).unwrap();
}
