//! From a port to its launch script to a run: what the script itself starts trains.
//!
//! Each fixture is ported, what a launch needs is read out of the port, and a script is written for each launcher of the
//! target, with one process and with two. The script runs with recorders in the place of the site's commands; the words
//! that it gives to Python are then run against the stand-ins.

use crate::machine::{Machine, run_in};
use crate::sound::{RECIPES, folder, here, read_tree, texts, to, write_tree};
use codemod::{Options, Ported, port};
use launch::Target;
use launch::form::{Fields, write};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

const COMMANDS: [&str; 8] = ["mpirun", "mpiexec", "torchrun", "srun", "poprun", "python", "python3", "scontrol"];

/// Writes down its words and what the script has set.
const RECORDER: &str =
    "#!/bin/bash\n{ printf '%s\\0' \"${0##*/}\" \"$@\"; printf '\\1'; env -0; printf '\\2'; } >> \"$RECORD\"\n";

/// A command that a script ran: its words, and the variables around it.
type Ran = (Vec<String>, Vec<(String, String)>);

/// Runs a script in a folder with recorders and gives what it ran.
fn recorded(script: &str) -> Vec<Ran> {
    let home = folder("launch");
    let bin = home.join("bin");
    fs::create_dir_all(&bin).unwrap();
    let recorder = home.join("recorder");
    fs::write(&recorder, RECORDER).unwrap();
    fs::set_permissions(&recorder, fs::Permissions::from_mode(0o755)).unwrap();
    for name in COMMANDS {
        symlink(&recorder, bin.join(name)).unwrap();
    }
    let record = home.join("record");
    let done = Command::new("bash")
        .args(["-c", script])
        .current_dir(&home)
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
        .env("RECORD", &record)
        .env("POPLAR_SDK_ENABLED", "/nowhere")
        .envs([("SLURM_JOB_ID", "7"), ("SLURM_JOB_NODELIST", "h0"), ("PBS_JOBID", "7"), ("HOME", "/nowhere")])
        .output()
        .unwrap();
    assert!(done.status.success(), "{script}\n{}", String::from_utf8_lossy(&done.stderr));
    let text = fs::read_to_string(&record).unwrap_or_default();
    let _ = fs::remove_dir_all(&home);
    let ran = text.split_terminator('\u{2}').map(|one| {
        let (words, env) = one.split_once('\u{1}').expect("both");
        let env = env.split_terminator('\0').filter_map(|pair| pair.split_once('='));
        let env = env.map(|(name, value)| (name.to_string(), value.to_string()));
        (words.split_terminator('\0').map(str::to_string).collect(), env.collect())
    });
    ran.collect()
}

/// What the fixtures of a target say of their start: the program, its arguments, and the batch where the target is told.
struct Start {
    name: String,
    files: Vec<python::SourceFile>,
    options: Options,
    program: String,
    args: Vec<String>,
    batch: Option<String>,
    env: Vec<(String, String)>,
}

fn words(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(|word| word.as_str().map(str::to_string)).collect()
}

/// Words that the launch writes itself are left out of what a fixture gives by hand; so is the division.
fn given(step: &[String]) -> (Vec<String>, Option<String>) {
    let (mut args, mut batch, mut at) = (Vec::new(), None, 0);
    while let Some(word) = step.get(at) {
        match word.as_str() {
            "compile" | "run" | "--" => at += 1,
            "-b" => {
                batch = step.get(at + 1).cloned();
                at += 2;
            }
            "--pef" | "--pef-name" | "--output-folder" => at += 2,
            _ => {
                args.push(word.clone());
                at += 1;
            }
        }
    }
    (args, batch)
}

fn starts(target: &str) -> Vec<Start> {
    let mut found = Vec::new();
    for parent in ["fixtures", "fixtures/targets"] {
        let mut folders: Vec<PathBuf> =
            fs::read_dir(here().join(parent)).unwrap().map(|entry| entry.unwrap().path()).collect();
        folders.sort();
        for path in folders.into_iter().filter(|path| path.join("fixture.json").is_file()) {
            let manifest: Value =
                serde_json::from_str(&fs::read_to_string(path.join("fixture.json")).unwrap()).unwrap();
            let how = &manifest["on"][target];
            if how.is_null() || !manifest["person"].get(target).is_none_or(Value::is_null) {
                continue;
            }
            let mut options = to(target);
            let pairs = |value: &Value| -> Vec<(String, String)> {
                let pairs = value.as_object().into_iter().flatten();
                pairs.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_string()))).collect()
            };
            options.options.extend(pairs(&how["options"]));
            let last = how["steps"].as_array().and_then(|steps| steps.last()).map(words);
            let (args, batch) = given(&last.unwrap_or_else(|| words(&how["args"])));
            found.push(Start {
                name: path.file_name().unwrap().display().to_string(),
                files: read_tree(&path).into_iter().filter(|file| file.path != "fixture.json").collect(),
                options,
                program: manifest["program"].as_str().unwrap().to_string(),
                args,
                batch,
                env: pairs(&how["env"]),
            });
        }
    }
    if target == "hpu" {
        for (name, args) in SCRIPTS {
            let path = format!("{name}.py");
            let text = fs::read_to_string(here().join("fixtures/scripts").join(&path)).unwrap();
            found.push(Start {
                name: name.to_string(),
                files: vec![python::SourceFile { path: path.clone(), text }],
                options: to(target),
                program: path,
                args: args.iter().map(ToString::to_string).collect(),
                batch: None,
                env: Vec::new(),
            });
        }
    }
    found
}

/// Scripts of `fixtures/scripts`, and the arguments with which each runs on Gaudi.
const SCRIPTS: [(&str, &[&str]); 12] = [
    ("accelerator_style", &[]),
    ("cell_ddp", &[]),
    ("compiled_lm", &[]),
    ("fstring_devices", &[]),
    ("mode_chain", &["--mixed"]),
    ("plankton", &[]),
    ("retina_notebook", &[]),
    ("seismic_args", &[]),
    ("spawn_ddp", &[]),
    ("spectra_trainer", &[]),
    ("tabs_crlf_bom", &[]),
    ("wafer_aliases", &[]),
];

/// The fields of a launch for a port: what is read out of it, and what only a user knows.
fn fields(start: &Start, ported: &Ported, target: Target) -> Fields {
    let files: Vec<python::SourceFile> = ported
        .files
        .iter()
        .map(|file| python::SourceFile { path: file.path.clone(), text: file.text.clone() })
        .collect();
    let facts = training::run_facts(&files, &RECIPES.target_facts(target.name()));
    let program = facts.programs.iter().find(|program| program.place.path == start.program);
    let read = program.map(|program| program.launch_fields(&target.program_terms())).unwrap_or_default();
    let mut fields: Fields = read.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
    fields.insert("target".into(), target.name().into());
    fields.insert("entry".into(), start.program.clone());
    let own = start.args.iter().map(|word| launch::Word::text(word).quoted()).collect::<Vec<_>>().join(" ");
    let args = fields.entry("args".into()).or_default();
    *args = format!("{args} {own}").trim().to_string();
    if let Some(batch) = &start.batch {
        fields.insert("batch".into(), batch.clone());
        fields.remove("batch-from");
    }
    for name in ["poplar", "popart", "cache"] {
        fields.insert(name.into(), "./kept".into());
    }
    fields
}

/// What the script starts, as words of the program, with the variables that it sets.
fn started(script: &str, program: &str) -> Vec<Ran> {
    let exported: BTreeSet<String> = script
        .lines()
        .filter_map(|line| line.strip_prefix("export "))
        .map(|rest| rest.split('=').next().unwrap_or(rest).to_string())
        .collect();
    let mut found = Vec::new();
    // A program that the site names with its folder is recorded too.
    let script = script.replace(" /opt/mpich-3.4.3/bin/", " ");
    for (words, env) in recorded(&script) {
        let Some(at) = words.iter().position(|word| word == program) else { continue };
        let env = env.into_iter().filter(|(name, _)| exported.contains(name.as_str())).collect();
        found.push((words[at + 1..].to_vec(), env));
    }
    found
}

fn trains(target: &str, name: &str) -> bool {
    match target {
        "ipu" | "popdist" => name == "poptorch.train" || name == "keras.fit",
        "rdu" => name == "samba.session.run",
        _ => name == "forward" || name == "keras.fit",
    }
}

/// Runs what a script starts, one command behind the other in one folder.
fn run_started(start: &Start, root: &Path, target: &str, commands: &[Ran]) -> Result<(), String> {
    let cwd = folder("launched");
    let mut calls = Vec::new();
    for (args, env) in commands {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        // The stand-ins are one process, whoever starts them.
        let own = |name: &&(String, String)| !matches!(&*name.0, "MASTER_ADDR" | "MASTER_PORT" | "PATH" | "PYTHONPATH");
        let mut env: Vec<(&str, &str)> = env.iter().filter(own).map(|(name, value)| (&**name, &**value)).collect();
        env.extend(start.env.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        calls.extend(run_in(&cwd, root, &start.program, &args, Machine::of(target), &env)?);
    }
    let _ = fs::remove_dir_all(&cwd);
    match calls.iter().any(|(name, _)| trains(target, name)) {
        true => Ok(()),
        false => Err(format!("ran, and trained nothing: {commands:?}")),
    }
}

fn every_launch(name: &str) {
    let target = Target::named(name).expect("a target");
    let (mut faults, mut scripts, mut runs) = (String::new(), 0, 0);
    for start in starts(name) {
        let ported = port(&start.files, &RECIPES, &start.options);
        let root = folder("launched-port");
        write_tree(&root, texts(&ported));
        let fields = fields(&start, &ported, target);
        let mut seen: BTreeSet<Vec<Ran>> = BTreeSet::new();
        let launchers = std::iter::once("").chain(target.launchers());
        for (launcher, instances) in launchers.flat_map(|launcher| [(launcher, "1"), (launcher, "2")]) {
            let mut fields = fields.clone();
            if !launcher.is_empty() {
                fields.insert("launcher".into(), launcher.into());
            }
            fields.insert("instances".into(), instances.into());
            fields.insert("gaudi_spawn".into(), "gaudi_spawn.py".into());
            if launcher == "srun" || launcher == "mpiexec" {
                fields.insert("scheduler".into(), "slurm".into());
            }
            // What can't be written is refused with a reason; one process by the usual launcher always can.
            let written = match write(&fields) {
                Ok(written) => written,
                Err(problems) if launcher.is_empty() && instances == "1" => {
                    faults += &format!("{} to {name}: no script: {problems:?}\n", start.name);
                    continue;
                }
                Err(_) => continue,
            };
            scripts += 1;
            let commands = started(&written.script, &start.program);
            if commands.is_empty() {
                faults += &format!("{} to {name} by {launcher}: starts nothing\n{}\n", start.name, written.script);
            } else if seen.insert(commands.clone()) {
                runs += 1;
                if let Err(fault) = run_started(&start, &root, name, &commands) {
                    faults += &format!("{} to {name} by `{launcher}`, {instances}: {fault}\n\n", start.name);
                }
            }
        }
        let _ = fs::remove_dir_all(&root);
    }
    println!("{name}: {scripts} scripts, {runs} different starts");
    assert!(faults.is_empty(), "\n{faults}");
    assert!(scripts > 0, "no fixture is for {name}");
}

#[test]
fn scripts_for_hpu_train() {
    every_launch("hpu");
}

#[test]
fn scripts_for_rdu_train() {
    every_launch("rdu");
}

#[test]
fn scripts_for_ipu_train() {
    every_launch("ipu");
}

#[test]
fn scripts_for_popdist_train() {
    every_launch("popdist");
}
