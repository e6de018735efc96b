//! The long run of one target: libFuzzer keeps inputs that reach new code and mutates those. `cargo xtask fuzz` builds
//! and starts it.
//!
//! A failure does not end the run: the first input of each kind is kept in the folder's `failures`. If it is started
//! again with `PORTOLAN_FUZZ_SHRINK`, the program minimizes them instead.

#![no_main]
#![allow(unsafe_code, reason = "libFuzzer calls functions by their names, which its macros export")]

#[path = "fuzz.rs"]
mod fuzz;

use fuzz::random::Random;
use fuzz::targets::{self, Mutator, TARGETS, Target, Ways};
use fuzz::{failure, seeds};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex};

/// The target, and the folder for its findings.
struct Run {
    target: &'static Target,
    folder: PathBuf,
    seeds: Vec<Vec<u8>>,
}

static RUN: LazyLock<Run> = LazyLock::new(|| {
    let name = std::env::var("PORTOLAN_FUZZ").unwrap_or_default();
    if name == "list" {
        TARGETS.iter().for_each(|target| println!("{}", target.name));
        std::process::exit(0);
    }
    let Some(target) = Target::named(&name) else {
        eprintln!("PORTOLAN_FUZZ names no target: {name}");
        std::process::exit(2);
    };
    let folder = PathBuf::from(std::env::var_os("PORTOLAN_FUZZ_FOLDER").unwrap_or_default());
    let all = seeds::own(target.name).into_iter().chain((target.seeds)());
    Run { target, folder, seeds: all.map(|(_, input)| input).collect() }
});

/// Kinds of failure that are kept.
const MOST: usize = 12;

/// Kinds of failure that were seen.
static SEEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

fn begin() {
    let failures = RUN.folder.join("failures");
    if std::env::var_os("PORTOLAN_FUZZ_SHRINK").is_some() {
        shrink_all(RUN.target, &failures);
        std::process::exit(0);
    }
    for (n, input) in RUN.seeds.iter().enumerate() {
        let _ = fs::write(RUN.folder.join("seeds").join(n.to_string()), input);
    }
}

fn shrink_all(target: &Target, folder: &Path) {
    for file in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let Ok(input) = fs::read(&file) else { continue };
        match failure::of(target, &input, Ways::Every) {
            None => println!("{}: fails no more, or not each time", file.display()),
            Some(said) => {
                let small = failure::small(target, &input, &said);
                println!("\n{said}\n{}", file.display());
                String::from_utf8_lossy(&small).lines().take(30).for_each(|line| println!("    | {line}"));
                let _ = fs::write(&file, small);
            }
        }
    }
}

fuzz_target!(init: begin(), |input: &[u8]| {
    if let Some(said) = failure::of(RUN.target, input, Ways::One) {
        let class = failure::class(&said);
        let number = targets::number_of(class.as_bytes());
        if SEEN.lock().is_ok_and(|mut seen| seen.len() < MOST && seen.insert(class)) {
            eprintln!("FAILURE {}", said.replace('\n', " "));
            let _ = fs::write(RUN.folder.join("failures").join(format!("{number:016x}")), input);
        }
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    let mut random = Random::new(u64::from(seed));
    let own = match RUN.target.mutator {
        Mutator::Program | Mutator::Project => !random.one_in(16),
        Mutator::Bytes => random.one_in(4),
    };
    if !own {
        return fuzzer_mutate(data, size, most);
    }
    let other = random.pick(&RUN.seeds).cloned().unwrap_or_default();
    let changed = RUN.target.mutate(&data[..size], &other, &mut random);
    match data.get_mut(..changed.len()).filter(|_| changed.len() <= most) {
        Some(place) => {
            place.copy_from_slice(&changed);
            changed.len()
        }
        None => size,
    }
});
