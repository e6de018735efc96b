//! The directives that a scheduler reads from a script's comments. They can't be quoted, so their values were
//! restricted to plain characters before ([`plan`](crate::plan)).

use crate::plan::{Asked, Flag, Resources};
use tables::Scheduler;

const SLURM: &str = "https://slurm.schedmd.com/sbatch.html";
const PBS: &str = "https://github.com/openpbs/openpbs/blob/master/doc/man1/qsub.1B";

/// The directives, each with its reason: words as written after `#SBATCH` or `#PBS`.
pub fn directives(asked: &Resources, scheduler: Scheduler) -> Vec<Flag> {
    match scheduler {
        Scheduler::Bash => Vec::new(),
        Scheduler::Slurm => slurm(asked),
        Scheduler::Pbs => pbs(asked),
    }
}

/// Their prefix, and where they are described.
pub fn mark(scheduler: Scheduler) -> Option<(&'static str, &'static str)> {
    match scheduler {
        Scheduler::Bash => None,
        Scheduler::Slurm => Some(("#SBATCH", SLURM)),
        Scheduler::Pbs => Some(("#PBS", PBS)),
    }
}

fn slurm(asked: &Resources) -> Vec<Flag> {
    let name = &asked.name;
    let (log, number) = match asked.array {
        Some(_) => ("%A_%a", "%A is the array job's number, %a the index."),
        None => ("%j", "%j is the job's number."),
    };
    let mut all = vec![
        flag(format!("--job-name={name}"), "Job name in the queue."),
        flag(format!("--output={name}-{log}.log"), &format!("Log file; {number}")),
        flag(format!("--nodes={}", asked.nodes), "Machines."),
    ];
    if let Some(tasks) = asked.tasks_per_node {
        all.push(flag(format!("--ntasks-per-node={tasks}"), "Processes that Slurm or MPI may start per machine."));
    }
    if let Some(cpus) = asked.cpus_per_task {
        all.push(flag(format!("--cpus-per-task={cpus}"), "Cores per process."));
    }
    if asked.exclusive {
        all.push(flag("--exclusive".into(), "No other job on the machines: all devices are in use."));
    }
    if let Some(memory) = &asked.memory {
        let why = if memory == "0" { "All memory of the machines." } else { "Memory per machine." };
        all.push(flag(format!("--mem={memory}"), why));
    }
    all.extend(said(&asked.partition, "--partition=", "Partition."));
    all.extend(said(&asked.account, "--account=", "Project to charge."));
    all.extend(asked.qos.iter().map(|qos| flag(format!("--qos={qos}"), "Quality of service.")));
    all.extend(said(&asked.time, "--time=", "Time limit."));
    all.extend(said(&asked.devices, "", "Devices, by the site's name for them."));
    all.extend(asked.array.iter().map(|array| flag(format!("--array={array}"), "One job per index.")));
    if let Some(job) = &asked.after {
        all.push(flag(format!("--dependency=afterok:{job}"), "Starts after that job has succeeded."));
    }
    if asked.requeue {
        all.push(flag("--requeue".into(), "Allows requeueing."));
        all.push(flag("--open-mode=append".into(), "After a restart, appends to the log."));
        all.push(flag("--signal=B:USR1@120".into(), "Signals the script two minutes before the time limit."));
    }
    if let Some(mail) = &asked.mail {
        all.push(flag(format!("--mail-user={mail}"), "Mail address."));
        all.push(flag("--mail-type=END,FAIL".into(), "Mail when the job ends or fails."));
    }
    all.extend(asked.extra.iter().map(own));
    all
}

fn pbs(asked: &Resources) -> Vec<Flag> {
    let devices = asked.devices.as_ref().map(|asked| asked.value.as_str()).unwrap_or_default();
    let mut chunk = vec![asked.nodes.to_string()];
    chunk.extend(Some(devices.to_string()).filter(|devices| !devices.is_empty()));
    if let Some(cpus) = asked.cpus_per_task.filter(|_| !devices.contains("ncpus=")) {
        chunk.push(format!("ncpus={}", cpus.saturating_mul(asked.tasks_per_node.unwrap_or(1))));
    }
    // One is PBS's default.
    if let Some(tasks) = asked.tasks_per_node.filter(|tasks| *tasks > 1 && !devices.contains("mpiprocs=")) {
        chunk.push(format!("mpiprocs={tasks}"));
    }
    let mut all = vec![
        flag(format!("-N {}", asked.name), "Job name in the queue."),
        flag("-j oe".to_string(), "Writes stdout and stderr to one file."),
        flag(format!("-l select={}", chunk.join(":")), "Machines, with devices, cores and MPI processes per machine."),
    ];
    let place = match (asked.nodes > 1, asked.exclusive) {
        (true, true) => "scatter:excl",
        (true, false) => "scatter",
        (false, true) => "excl",
        (false, false) => "",
    };
    if !place.is_empty() {
        let why = if asked.exclusive { "No other job on the machines." } else { "Each chunk on a separate machine." };
        all.push(flag(format!("-l place={place}"), why));
    }
    all.extend(said(&asked.partition, "-q ", "Queue."));
    all.extend(said(&asked.account, "-A ", "Project to charge."));
    all.extend(said(&asked.time, "-l walltime=", "Time limit."));
    all.extend(asked.array.iter().map(|array| flag(format!("-J {array}"), "One job per index.")));
    if let Some(job) = &asked.after {
        all.push(flag(format!("-W depend=afterok:{job}"), "Starts after that job has succeeded."));
    }
    if asked.requeue || asked.array.is_some() {
        all.push(flag("-r y".into(), "Allows requeueing."));
    }
    if let Some(mail) = &asked.mail {
        all.push(flag(format!("-M {mail}"), "Mail address."));
        all.push(flag("-m ae".into(), "Mail when the job ends or is aborted."));
    }
    all.extend(asked.extra.iter().map(own));
    all
}

fn own(asked: &Asked) -> Flag {
    let why = if asked.source.is_empty() { "Set by you." } else { "Required by the site." };
    Flag { words: asked.value.clone(), why: why.to_string(), source: asked.source.clone() }
}

fn flag(words: String, why: &str) -> Flag {
    Flag { words, why: why.to_string(), source: String::new() }
}

fn said(asked: &Option<Asked>, before: &str, why: &str) -> Option<Flag> {
    let asked = asked.as_ref()?;
    Some(Flag { words: format!("{before}{}", asked.value), why: why.to_string(), source: asked.source.clone() })
}
