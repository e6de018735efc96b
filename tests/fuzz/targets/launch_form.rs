//! The form for a launch script, one `name=value` per line: a script that bash parses, or problems at fields.

use super::{Mutator, Target, Ways, shell};
use crate::fuzz::seeds::Seed;
use launch::form::{Fields, command, form, write};
use launch::read_site;

pub(super) const TARGET: Target = Target { name: "launch_form", check, seeds, mutator: Mutator::Bytes, short: 100 };

const WORDS: &[&str] = &["train.py", "4", "2", "on", "a b", "$HOME", "it's", "--x=1", "host0,host1", "00:30:00"];

/// Every field of every form, each with a value.
fn seeds() -> Vec<Seed> {
    let mut seeds = Vec::new();
    for target in launch::Target::all() {
        for (n, scheduler) in ["bash", "slurm", "pbs"].into_iter().enumerate() {
            let mut fields =
                Fields::from([("target".into(), target.name().into()), ("scheduler".into(), scheduler.into())]);
            let names: Vec<String> =
                form(&fields, &read_site).into_iter().flat_map(|group| group.fields).map(|field| field.name).collect();
            for (at, name) in names.into_iter().enumerate() {
                fields.entry(name).or_insert_with(|| WORDS[(at + n) % WORDS.len()].into());
            }
            let plain = format!("target={}\nscheduler={scheduler}\nentry=train.py\ninstances=2\n", target.name());
            let full: String = fields.iter().map(|(name, value)| format!("{name}={value}\n")).collect();
            seeds.push((format!("{}-{scheduler}.txt", target.name()), plain.into_bytes()));
            seeds.push((format!("{}-{scheduler}-full.txt", target.name()), full.into_bytes()));
        }
    }
    seeds
}

fn check(input: &[u8], _: Ways) {
    let text = String::from_utf8_lossy(input).replace('\0', " ");
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    let fields: Fields = pairs.map(|(name, value)| (name.into(), value.replace("\\n", "\n"))).collect();
    let _ = form(&fields, &read_site);
    let line = command(&fields, &read_site);
    assert!(shell::reads(&line), "bash does not read the command: {line}");
    match write(&fields, &read_site) {
        Ok(written) => assert!(shell::reads(&written.script), "bash does not read it:\n{}", written.script),
        Err(problems) => {
            assert!(!problems.is_empty(), "a refusal without a reason");
            assert!(
                problems.iter().all(|problem| !problem.field.is_empty() && !problem.message.is_empty()),
                "{problems:?}"
            );
        }
    }
}
