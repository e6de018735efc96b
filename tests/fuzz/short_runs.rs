//! The seeds of every target, and a fixed number of mutations.

use crate::fuzz::random::Random;
use crate::fuzz::targets::{self, TARGETS, Target, Ways};
use crate::fuzz::{failure, mutate, seeds};
use tests::cpython::CPython;

/// Runs a target's committed seeds, and mutations of them.
fn short_run(name: &str) {
    let target = Target::named(name).unwrap_or_else(|| panic!("no target is called {name}"));
    let own = seeds::own(name);
    for (file, input) in &own {
        fails_nowhere(target, input, Ways::Every, file);
    }
    let all: Vec<Vec<u8>> = own.into_iter().chain((target.seeds)()).map(|(_, input)| input).collect();
    assert!(!all.is_empty(), "{name} has no seeds");
    let mut random = Random::new(targets::number_of(name.as_bytes()));
    for n in 0..target.short {
        let (input, other) = (&all[random.below(all.len())], &all[random.below(all.len())]);
        let input = target.mutate(input, other, &mut random);
        fails_nowhere(target, &input, Ways::One, &format!("input {n} of the short run"));
    }
}

fn fails_nowhere(target: &Target, input: &[u8], ways: Ways, what: &str) {
    let Some(said) = failure::of(target, input, ways) else { return };
    let small = failure::small(target, input, &said);
    let place = seeds::root().join("target/fuzz").join(target.name).join("failures");
    let file = place.join(format!("short-{:016x}", targets::number_of(&small)));
    let kept = std::fs::create_dir_all(&place).and_then(|()| std::fs::write(&file, &small));
    panic!("{what}: {said}\ncut down, it is in {} ({kept:?}):\n{}", file.display(), String::from_utf8_lossy(&small));
}

macro_rules! short_runs {
    ($($name:ident)*) => {
        $(#[test] fn $name() { short_run(stringify!($name)); })*

        #[test]
        fn every_target_has_its_short_run() {
            assert_eq!(TARGETS.iter().map(|target| target.name).collect::<Vec<_>>(), [$(stringify!($name)),*]);
        }
    };
}

short_runs!(
    checkpoint guide_page hdf5 highlight launch_form launch_script lifting notebook npy port_bytes port_program port_project safetensors
    semantic_patch share_link site_file zip
);

#[test]
fn most_changed_programs_are_programs() {
    let all = seeds::programs();
    let mut random = Random::new(1);
    let mut python = CPython::new("python3");
    let mut compiles = |text: &str| python.look(text, false).is_ok_and(|said| said.refused.is_none());
    let (mut tried, mut programs) = (0, 0);
    while tried < 200 {
        let (text, other) = (&all[random.below(all.len())].1, &all[random.below(all.len())].1);
        let (text, other) = (String::from_utf8_lossy(text), String::from_utf8_lossy(other));
        if compiles(&text) {
            tried += 1;
            programs += usize::from(compiles(&mutate::program(&text, &other, &mut random)));
        }
    }
    assert!(programs > 100, "{programs} of {tried}");
}
