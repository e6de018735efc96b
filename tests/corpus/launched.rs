//! From a port to its launch script to a run: the script's own commands train.
//!
//! Each fixture is ported, the launch settings are detected in the port, and a script is written for each launcher of
//! the target: with one process and with several, without a scheduler, under Slurm and under PBS, on one machine and on
//! two. The script runs with recorders in place of the site's commands. The launcher has to start as many processes as
//! requested and to pass them their rendezvous address and ranks; Python's arguments are then run against the
//! stand-ins.

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

const COMMANDS: [&str; 8] = ["mpirun", "mpiexec", "torchrun", "srun", "poprun", "python", "python3", "module"];

/// Records its arguments and the variables set by the script.
const RECORDER: &str =
    "#!/bin/bash\n{ printf '%s\\0' \"${0##*/}\" \"$@\"; printf '\\1'; env -0; printf '\\2'; } >> \"$RECORD\"\n";

/// A command run by a script: its arguments, and its environment.
type Ran = (Vec<String>, Vec<(String, String)>);

/// Runs a script in a folder with recorders and returns the commands that it ran.
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
    // Slurm's command and PBS's file with the names of the job's machines.
    fs::write(bin.join("scontrol"), "#!/bin/bash\nprintf 'h0\\nh1\\n'\n").unwrap();
    fs::set_permissions(bin.join("scontrol"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(home.join("nodes"), "h0\nh0\nh1\nh1\n").unwrap();
    let record = home.join("record");
    let done = Command::new("bash")
        .args(["-c", script])
        .current_dir(&home)
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
        .env("RECORD", &record)
        .env("POPLAR_SDK_ENABLED", "/nowhere")
        .envs([("SLURM_JOB_ID", "7"), ("SLURM_JOB_NODELIST", "h[0-1]"), ("PBS_JOBID", "7.s"), ("HOME", "/nowhere")])
        .envs([("PBS_NODEFILE", "nodes"), ("MPI_ROOT", "/nowhere"), ("NODE_RANK", "0"), ("HOSTNAME", "h0")])
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

/// The start of a target's fixtures: the program, its arguments, and the batch if the target receives it.
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

/// Arguments that the launch writes itself are removed from a fixture's; so is the separator.
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
    if target == "hpu" || target == "xpu" {
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

/// Scripts of `fixtures/scripts`, and the arguments with which each runs on devices that PyTorch itself supports.
const SCRIPTS: [(&str, &[&str]); 13] = [
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
    ("tide_mpi", &[]),
    ("wafer_aliases", &[]),
];

/// The fields of a launch for a port: those detected in it, and those that only a user knows.
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

/// Variables with the rendezvous address and the number of processes; the stand-ins are one process, whatever starts
/// it.
const OF_THE_LAUNCHER: [&str; 7] =
    ["MASTER_ADDR", "MASTER_PORT", "PATH", "PYTHONPATH", "WORLD_SIZE", "JOB_HOSTS", "SRUN_CPUS_PER_TASK"];

/// The program's command in the script, as arguments, with the variables that it sets; and everything before them.
fn started(script: &str, program: &str) -> (Vec<Ran>, Vec<Ran>) {
    let exported: BTreeSet<String> = script
        .lines()
        .filter_map(|line| line.strip_prefix("export "))
        .map(|rest| rest.split('=').next().unwrap_or(rest).to_string())
        .collect();
    let (mut found, mut before) = (Vec::new(), Vec::new());
    // A program that the site names with its folder is recorded too.
    let script = script.replace(" /opt/mpich-3.4.3/bin/", " ");
    for (words, env) in recorded(&script) {
        let Some(at) = words.iter().position(|word| word == program) else { continue };
        let env: Vec<(String, String)> = env.into_iter().filter(|(name, _)| exported.contains(name.as_str())).collect();
        before.push((words[..at].to_vec(), env.clone()));
        let own = env.into_iter().filter(|(name, _)| !OF_THE_LAUNCHER.contains(&&**name)).collect();
        found.push((words[at + 1..].to_vec(), own));
    }
    (found, before)
}

/// The number of processes that a command starts, according to the launcher's documentation; none if the program starts
/// them itself.
fn processes(words: &[String], script: &str) -> Option<u32> {
    let value = |flags: &[&str]| {
        words.iter().enumerate().find_map(|(at, word)| match word.split_once('=') {
            Some((flag, value)) if flags.contains(&flag) => value.parse().ok(),
            _ if flags.contains(&&**word) => words.get(at + 1)?.parse::<u32>().ok(),
            _ => None,
        })
    };
    let directive = |name: &str| script.lines().find_map(|line| line.strip_prefix(name)?.parse::<u32>().ok());
    if words.iter().any(|word| word == "torchrun") {
        return Some(value(&["--nproc_per_node"])? * value(&["--nnodes"]).unwrap_or(1));
    }
    match &*words[0] {
        "mpirun" | "mpiexec" => value(&["-n", "-np"]),
        "poprun" => value(&["--num-instances"]),
        "srun" => Some(directive("#SBATCH --nodes=")? * directive("#SBATCH --ntasks-per-node=")?),
        _ => value(&["--world_size"]),
    }
}

/// What a start lacks for its processes to be one training.
fn lacking(way: &Way, script: &str, (words, env): &Ran) -> Option<String> {
    let set = |name: &str| env.iter().find(|(own, _)| own == name).map(|(_, value)| &**value);
    let wanted: u32 = way.instances.parse().expect("a number");
    let several = way.nodes == "2";
    if let Some(started) = processes(words, script).filter(|started| *started != wanted) {
        return Some(format!("starts {started} processes, not {wanted}: {words:?}"));
    }
    let meets = if several { "h0" } else { "localhost" };
    if set("MASTER_ADDR").is_some_and(|host| !host.starts_with(meets)) {
        return Some(format!("meet at {:?}, not on {meets}", set("MASTER_ADDR")));
    }
    let by_mpirun_of_pbs = words[0] == "mpirun" && way.scheduler == "pbs" && several;
    if by_mpirun_of_pbs && !words.windows(2).any(|pair| pair == ["-H", "h0:2,h1:2"]) {
        return Some(format!("mpirun is not told the job's machines: {words:?}"));
    }
    // A shell before Python copies the launcher's variables to the names that PyTorch reads.
    let at = words.iter().position(|word| word == "bash")?;
    let told = [("SLURM_PROCID", "3"), ("SLURM_LOCALID", "1"), ("SLURM_NTASKS", "4"), ("PMI_RANK", "3")];
    let told = told.into_iter().chain([("MPI_LOCALRANKID", "1"), ("PMIX_RANK", "3"), ("PALS_LOCAL_RANKID", "1")]);
    let shell =
        Command::new("/bin/bash").args(&words[at + 1..at + 4]).arg("/usr/bin/env").env_clear().envs(told).output();
    let says = String::from_utf8_lossy(&shell.expect("bash runs").stdout).into_owned();
    let has = |line: &str| says.lines().any(|own| own == line);
    (!has("RANK=3") || !has("LOCAL_RANK=1")).then(|| format!("ranks are not handed on: {says}"))
}

/// One way to start a program.
#[derive(Clone, Copy, Debug)]
struct Way {
    site: &'static str,
    scheduler: &'static str,
    nodes: &'static str,
    instances: &'static str,
}

const fn way(scheduler: &'static str, nodes: &'static str, instances: &'static str) -> Way {
    Way { site: "", scheduler, nodes, instances }
}

const WAYS: [Way; 7] = [
    way("", "1", "1"),
    way("", "1", "2"),
    way("slurm", "1", "2"),
    way("slurm", "2", "4"),
    way("pbs", "1", "2"),
    way("pbs", "2", "4"),
    Way { site: "alcf-aurora", scheduler: "pbs", nodes: "2", instances: "4" },
];

fn trains(target: &str, name: &str) -> bool {
    match target {
        "ipu" | "popdist" => name == "poptorch.train" || name == "keras.fit",
        "rdu" => name == "samba.session.run",
        _ => name == "forward" || name == "keras.fit",
    }
}

/// Runs the commands of a script, one after the other in one folder.
fn run_started(start: &Start, root: &Path, target: &str, commands: &[Ran]) -> Result<(), String> {
    let cwd = folder("launched");
    let mut calls = Vec::new();
    for (args, env) in commands {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let mut env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (&**name, &**value)).collect();
        env.extend(start.env.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        calls.extend(run_in(&cwd, root, &start.program, &args, Machine::of(target), &env)?);
    }
    let _ = fs::remove_dir_all(&cwd);
    match calls.iter().any(|(name, _)| trains(target, name)) {
        true => Ok(()),
        false => Err(format!("ran, and trained nothing: {commands:?}")),
    }
}

fn every_launch(name: &str, ways: &[(&str, &str)]) {
    let target = Target::named(name).expect("a target");
    let (mut faults, mut scripts, mut runs) = (String::new(), 0, 0);
    let mut written_ways: BTreeSet<(&str, &str)> = BTreeSet::new();
    for start in starts(name) {
        let ported = port(&start.files, &RECIPES, &start.options);
        let root = folder("launched-port");
        write_tree(&root, texts(&ported));
        let fields = fields(&start, &ported, target);
        let mut seen: BTreeSet<Vec<Ran>> = BTreeSet::new();
        let launchers: Vec<&str> = std::iter::once("").chain(target.launchers()).collect();
        for (launcher, way) in launchers.iter().flat_map(|launcher| WAYS.map(|way| (*launcher, way))) {
            let mut fields = fields.clone();
            if !launcher.is_empty() {
                fields.insert("launcher".into(), launcher.into());
            }
            let scheduler = match (launcher, way.scheduler) {
                ("srun" | "mpiexec", "") => "slurm",
                (_, scheduler) => scheduler,
            };
            for (name, value) in [
                ("site", way.site),
                ("scheduler", scheduler),
                ("nodes", way.nodes),
                ("instances", way.instances),
                ("hosts", if way.nodes == "2" { "h0,h1" } else { "" }),
                ("gaudi_spawn", "gaudi_spawn.py"),
                ("hostfile", "hosts"),
                ("select", "ngpus=2"),
                ("gres", "gpu:2"),
                ("cores", "4"),
                ("filesystems", "home"),
                ("account", "a"),
                ("time", "01:00:00"),
            ] {
                if !value.is_empty() {
                    fields.insert(name.into(), value.into());
                }
            }
            // A combination that can't be written is refused with a reason; one process with the default launcher
            // always can.
            let written = match write(&fields, &launch::read_site) {
                Ok(written) => written,
                Err(problems) if launcher.is_empty() && way.instances == "1" => {
                    faults += &format!("{} to {name}: no script: {problems:?}\n", start.name);
                    continue;
                }
                Err(_) => continue,
            };
            scripts += 1;
            written_ways.insert((scheduler, way.nodes));
            let (commands, before) = started(&written.script, &start.program);
            let says = format!("{} to {name} by `{launcher}`, {way:?}", start.name);
            if commands.is_empty() {
                faults += &format!("{says}: starts nothing\n{}\n", written.script);
                continue;
            }
            // The compile command is started once, whatever starts the training.
            if let Some(fault) = before.last().and_then(|ran| lacking(&way, &written.script, ran)) {
                faults += &format!("{says}: {fault}\n");
            }
            if seen.insert(commands.clone()) {
                runs += 1;
                if let Err(fault) = run_started(&start, &root, name, &commands) {
                    faults += &format!("{says}: {fault}\n\n");
                }
            }
        }
        let _ = fs::remove_dir_all(&root);
    }
    println!("{name}: {scripts} scripts, {runs} different starts");
    assert!(faults.is_empty(), "\n{faults}");
    assert!(scripts > 0, "no fixture is for {name}");
    // A combination that is refused for every fixture is skipped above, so the required ones are listed.
    for wanted in ways {
        assert!(written_ways.contains(wanted), "{name}: no script for {wanted:?}");
    }
}

#[test]
fn scripts_for_hpu_train() {
    every_launch("hpu", &[("slurm", "1"), ("slurm", "2"), ("pbs", "1"), ("pbs", "2")]);
}

#[test]
fn scripts_for_rdu_train() {
    every_launch("rdu", &[("slurm", "1"), ("slurm", "2")]);
}

#[test]
fn scripts_for_ipu_train() {
    every_launch("ipu", &[]);
}

#[test]
fn scripts_for_popdist_train() {
    every_launch("popdist", &[]);
}

#[test]
fn scripts_for_xpu_train() {
    every_launch("xpu", &[("slurm", "1"), ("slurm", "2"), ("pbs", "1"), ("pbs", "2")]);
}
