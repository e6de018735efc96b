//! From a port to its launch script to a run: the script's own commands train.
//!
//! Each fixture is ported, the launch settings are detected in the port, and a script is written for each launcher of
//! the target: with one process and with several, without a scheduler, under Slurm and under PBS, on one machine and on
//! two. The script runs with recorders in place of the site's commands. The launcher has to start as many processes as
//! requested and to pass them their rendezvous address and ranks; Python's arguments are then run against the
//! stand-ins.

use crate::fixtures::{FIXTURES, Fixture, started_on};
use crate::machine::{Machine, Starts};
use crate::trials::trial;
use crate::verdicts::TARGETS;
use codemod::Ported;
use launch::Target;
use launch::form::{Fields, write};
use libtest_mimic::Trial;
use python::SourceFile;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;
use tests::sound::{Folder, RECIPES, texts};

const COMMANDS: [&str; 8] = ["mpirun", "mpiexec", "torchrun", "srun", "poprun", "python", "python3", "module"];

/// Records its arguments and the variables set by the script.
const RECORDER: &str =
    "#!/bin/bash\n{ printf '%s\\0' \"${0##*/}\" \"$@\"; printf '\\1'; env -0; printf '\\2'; } >> \"$RECORD\"\n";

/// A command run by a script: its arguments, and its environment.
type Ran = (Vec<String>, BTreeMap<String, String>);

/// Runs a script in a folder with recorders and returns the commands that it ran.
fn recorded(script: &str) -> Vec<Ran> {
    let home = Folder::new();
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
        .current_dir(&*home)
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
    let ran = text.split_terminator('\u{2}').map(|one| {
        let (words, env) = one.split_once('\u{1}').expect("both");
        let env = env.split_terminator('\0').filter_map(|pair| pair.split_once('='));
        let env = env.map(|(name, value)| (name.to_string(), value.to_string()));
        (words.split_terminator('\0').map(str::to_string).collect(), env.collect())
    });
    ran.collect()
}

/// The start of a fixture on a target: its port, its arguments, and the batch if the target receives it.
struct Start {
    fixture: &'static Fixture,
    target: Target,
    args: Vec<String>,
    batch: Option<String>,
    env: BTreeMap<String, String>,
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

fn starts(name: &str) -> Vec<Start> {
    let target = Target::named(name).expect("a target");
    let of_fixtures = started_on(name, false).map(|(fixture, manifest)| {
        let on = &manifest.on[name];
        let (args, batch) = given(&on.starts().pop().unwrap_or_default());
        Start { fixture, target, args, batch, env: on.env.clone() }
    });
    let mut found: Vec<Start> = of_fixtures.collect();
    if name == "hpu" || name == "xpu" {
        found.extend(SCRIPTS.map(|(script, args)| Start {
            fixture: &FIXTURES[script],
            target,
            args: args.iter().map(ToString::to_string).collect(),
            batch: None,
            env: BTreeMap::new(),
        }));
    }
    found
}

/// Scripts of `fixtures/scripts`, and the arguments with which each runs on devices that PyTorch itself supports.
const SCRIPTS: [(&str, &[&str]); 13] = [
    ("accelerator_style", &[]),
    ("compiled_lm", &[]),
    ("device_arguments", &[]),
    ("exported_notebook", &[]),
    ("fstring_devices", &[]),
    ("import_aliases", &[]),
    ("mode_chain", &["--mixed"]),
    ("open_mpi_ranks", &[]),
    ("plankton", &[]),
    ("spawn_ddp", &[]),
    ("spectra_trainer", &[]),
    ("sync_batch_norm_ddp", &[]),
    ("tabs_crlf_bom", &[]),
];

impl Start {
    fn ported(&self) -> &'static Ported {
        self.fixture.ported(&self.fixture.options(self.target.name()))
    }

    /// The fields of a launch: those detected in the port, and those that only a user knows.
    fn fields(&self) -> Fields {
        let files = self.ported().files.iter();
        let files: Vec<_> = files.map(|file| SourceFile { path: file.path.clone(), text: file.text.clone() }).collect();
        let facts = training::run_facts(&files, &RECIPES.target_facts(self.target.name()));
        let program = facts.programs.iter().find(|program| program.place.path == self.fixture.program);
        let read = program.map(|program| program.launch_fields(&self.target.program_terms())).unwrap_or_default();
        let mut fields: Fields = read.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
        fields.insert("target".into(), self.target.name().into());
        fields.insert("entry".into(), self.fixture.program.clone());
        let own = self.args.iter().map(|word| launch::Word::text(word).quoted()).collect::<Vec<_>>().join(" ");
        let args = fields.entry("args".into()).or_default();
        *args = format!("{args} {own}").trim().to_string();
        if let Some(batch) = &self.batch {
            fields.insert("batch".into(), batch.clone());
            fields.remove("batch-from");
        }
        for name in ["poplar", "popart", "cache"] {
            fields.insert(name.into(), "./kept".into());
        }
        fields
    }

    /// Its script for each launcher and way. A combination that can't be written is refused with a reason; one process
    /// with the default launcher always can.
    fn scripts(&self) -> Result<Vec<Script>, String> {
        let fields = self.fields();
        let launchers = std::iter::once("").chain(self.target.launchers());
        let mut found = Vec::new();
        for (launcher, way) in launchers.flat_map(|launcher| WAYS.map(|way| (launcher, way))) {
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
            match write(&fields, &launch::read_site) {
                Ok(written) => found.push(Script { launcher, scheduler, way, text: written.script }),
                Err(problems) if launcher.is_empty() && way.instances == "1" => {
                    return Err(format!("no script: {problems:?}"));
                }
                Err(_) => {}
            }
        }
        Ok(found)
    }

    /// Every script starts what it has to, and different starts train. All faults are reported, not only the first.
    fn check(&self) -> Result<(), String> {
        let files = texts(self.ported()).map(|(path, text)| (path.to_owned(), text.to_owned())).collect();
        let program = self.fixture.program.clone();
        let mut starts = Starts { machine: Machine::of(self.target.name()), program, files, commands: Vec::new() };
        let mut faults = String::new();
        let mut seen: BTreeSet<Vec<Ran>> = BTreeSet::new();
        for Script { launcher, way, text, .. } in self.scripts()? {
            let (commands, before) = started(&text, &self.fixture.program);
            let says = format!("by `{launcher}`, {way:?}");
            if commands.is_empty() {
                faults += &format!("{says}: starts nothing\n{text}\n");
                continue;
            }
            // The compile command is started once, whatever starts the training.
            if let Some(fault) = before.last().and_then(|ran| lacking(&way, &text, ran)) {
                faults += &format!("{says}: {fault}\n");
            }
            if seen.insert(commands.clone()) {
                starts.commands = commands;
                starts.commands.iter_mut().for_each(|(_, env)| env.extend(self.env.clone()));
                if let Err(fault) = starts.train() {
                    faults += &format!("{says}: {fault}: {:?}\n\n", starts.commands);
                }
            }
        }
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }
}

/// A script that was written.
struct Script {
    launcher: &'static str,
    scheduler: &'static str,
    way: Way,
    text: String,
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
        let env: BTreeMap<_, _> = env.into_iter().filter(|(name, _)| exported.contains(name.as_str())).collect();
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
    let set = |name: &str| env.get(name).map(|value| &**value);
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

/// Schedulers and numbers of machines for which a target has scripts. A combination that is refused for every fixture
/// would otherwise go unnoticed.
const WRITTEN: [(&str, &[(&str, &str)]); 3] = [
    ("hpu", &[("slurm", "1"), ("slurm", "2"), ("pbs", "1"), ("pbs", "2")]),
    ("rdu", &[("slurm", "1"), ("slurm", "2")]),
    ("xpu", &[("slurm", "1"), ("slurm", "2"), ("pbs", "1"), ("pbs", "2")]),
];

fn check_written(target: &str) -> Result<(), String> {
    let scripts: Vec<Script> = starts(target).iter().flat_map(|start| start.scripts().unwrap_or_default()).collect();
    assert!(!scripts.is_empty(), "no fixture is for {target}");
    let wanted = WRITTEN.iter().filter(|(own, _)| *own == target).flat_map(|(_, ways)| *ways);
    for (scheduler, nodes) in wanted {
        let is_written = scripts.iter().any(|one| one.scheduler == *scheduler && one.way.nodes == *nodes);
        assert!(is_written, "no script for {scheduler:?} on {nodes}");
    }
    Ok(())
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for target in TARGETS {
        trials.extend(
            starts(target)
                .into_iter()
                .map(|start| trial(format!("launches::{}::{target}", start.fixture.name), move || start.check())),
        );
        trials.push(trial(format!("launches::of_every_scheduler::{target}"), move || check_written(target)));
    }
    trials
}
