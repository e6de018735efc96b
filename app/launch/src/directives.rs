//! What a scheduler reads out of a script's comments. Nothing in them can be quoted, so all of it was held to plain
//! letters before ([`plan`](crate::plan)).

use crate::plan::{Asked, Flag, Resources};
use crate::request::Scheduler;

const SLURM: &str = "https://slurm.schedmd.com/sbatch.html";
const PBS: &str = "https://github.com/openpbs/openpbs/blob/master/doc/man1/qsub.1B";

/// The directives, each with its reason: words as they stand behind `#SBATCH` or `#PBS`.
pub fn directives(asked: &Resources, scheduler: Scheduler) -> Vec<Flag> {
    match scheduler {
        Scheduler::Bash => Vec::new(),
        Scheduler::Slurm => slurm(asked),
        Scheduler::Pbs => pbs(asked),
    }
}

/// The mark in front of them, and where they are described.
pub fn mark(scheduler: Scheduler) -> Option<(&'static str, &'static str)> {
    match scheduler {
        Scheduler::Bash => None,
        Scheduler::Slurm => Some(("#SBATCH", SLURM)),
        Scheduler::Pbs => Some(("#PBS", PBS)),
    }
}

fn slurm(asked: &Resources) -> Vec<Flag> {
    let name = &asked.name;
    let mut all = vec![
        flag(format!("--job-name={name}"), "Its name in the queue."),
        flag(format!("--output={name}-%j.log"), "What it prints; %j is the job's number."),
        flag(format!("--nodes={}", asked.nodes), "Machines."),
    ];
    if let Some(tasks) = asked.tasks_per_node {
        all.push(flag(format!("--ntasks-per-node={tasks}"), "Processes that Slurm or an MPI may start on a machine."));
    }
    if let Some(cpus) = asked.cpus_per_task {
        all.push(flag(format!("--cpus-per-task={cpus}"), "Cores for each of them."));
    }
    all.extend(said(&asked.partition, "--partition=", "The queue it waits in."));
    all.extend(said(&asked.account, "--account=", "Who pays for it."));
    all.extend(said(&asked.time, "--time=", "After that it is stopped."));
    all.extend(said(&asked.devices, "", "The devices, by the site's word for them."));
    all
}

fn pbs(asked: &Resources) -> Vec<Flag> {
    let devices = asked.devices.as_ref().map(|asked| format!(":{}", asked.value)).unwrap_or_default();
    let processes = asked.tasks_per_node.map(|tasks| format!(":mpiprocs={tasks}")).unwrap_or_default();
    let mut all = vec![
        flag(format!("-N {}", asked.name), "Its name in the queue."),
        flag("-j oe".to_string(), "Errors go into the same file as the rest of what it prints."),
        flag(
            format!("-l select={}{devices}{processes}", asked.nodes),
            "Machines, and on each of them devices and processes that an MPI may start.",
        ),
    ];
    if asked.nodes > 1 {
        all.push(flag("-l place=scatter".to_string(), "Each part on a machine of its own."));
    }
    all.extend(said(&asked.partition, "-q ", "The queue it waits in."));
    all.extend(said(&asked.account, "-A ", "Who pays for it."));
    all.extend(said(&asked.time, "-l walltime=", "After that it is stopped."));
    all
}

fn flag(words: String, why: &str) -> Flag {
    Flag { words, why: why.to_string(), source: String::new() }
}

fn said(asked: &Option<Asked>, before: &str, why: &str) -> Option<Flag> {
    let asked = asked.as_ref()?;
    Some(Flag { words: format!("{before}{}", asked.value), why: why.to_string(), source: asked.source.clone() })
}
