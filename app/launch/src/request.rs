//! What a user asks for.

use crate::target::Target;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use tables::Scheduler;

/// What the script is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Script {
    /// Makes the virtual environment, once.
    Setup,
    /// Trains.
    Train,
    /// Puts results, logs and the machine's versions into one archive.
    Collect,
}

impl Script {
    /// Its word.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Script::Setup => "setup",
            Script::Train => "train",
            Script::Collect => "collect",
        }
    }

    /// The name of its file, alone and among the others of the target: what a scheduler starts says so.
    pub(crate) fn file_name(self, target: &str, scheduler: Scheduler) -> String {
        let name = self.name();
        match (self, scheduler) {
            (Script::Train, Scheduler::Slurm | Scheduler::Pbs) => format!("{name}-{target}-{}.sh", scheduler.name()),
            _ => format!("{name}-{target}.sh"),
        }
    }
}

/// A launch as a user describes it. Numbers that are none follow from the others.
#[derive(Clone, Debug)]
pub struct Request {
    /// The accelerator.
    pub target: Target,
    /// Who starts the script.
    pub scheduler: Scheduler,
    /// What the script is for.
    pub script: Script,
    /// The program.
    pub entry: String,
    /// Its arguments, taken as they are.
    pub args: Vec<String>,
    /// Machines.
    pub nodes: u32,
    /// Processes, all machines together.
    pub instances: Option<u32>,
    /// Copies of the model, all processes together.
    pub replicas: Option<u32>,
    /// Devices that one copy of the model takes.
    pub devices_per_replica: u32,
    /// Samples of one micro-batch of one copy of the model; what the arguments say when none.
    pub batch: Option<u32>,
    /// Micro-batches that one step adds up; what the arguments say, else 1, when none.
    pub accumulation: Option<u32>,
    /// Who starts the processes, by the name that the target's table has for it; the target's usual one when none.
    pub launcher: Option<String>,
    /// Who could start them as the program was read; taken where the target's usual one does not tell them the same.
    pub suits: Option<String>,
    /// Port where the processes meet.
    pub port: Option<u16>,
    /// Names of the machines, where no scheduler knows them.
    pub hosts: Vec<String>,
    /// What tells the program that it joins its processes: a key such as `run.distributed`, a switch such as
    /// `--distributed`, or, with `=` at its end, an option with a value.
    pub distributed_key: Option<String>,
    /// What tells the program its batch: a key such as `run.minibatch_size`, or an option such as `--batch-size`.
    pub batch_key: Option<String>,
    /// Where `batch` was read, in words: then it is the program's own default, which an argument may change.
    pub batch_from: Option<String>,
    /// Where the program divides its batch by the number of processes, in words; none where each takes all of it.
    pub shared_batch: Option<String>,
    /// Where `accumulation` was read, in words, as for `batch_from`; then the program has it already.
    pub accumulation_from: Option<String>,
    /// What tells the program how many micro-batches a step adds up, as a key or an option.
    pub accumulation_key: Option<String>,
    /// Words of the command line without which the program's processes don't join, such as `--dist-url=env://`.
    pub join_args: Vec<String>,
    /// From what its processes learn their places (a name of `tells` in a target's table), each with words that it takes;
    /// `unread` where a look at the program found nothing, empty where nobody looked.
    pub joined_by: Vec<(String, Vec<String>)>,
    /// What tells the program its devices of a machine, as a key; or `=8 a.py:3` where that stands in the source.
    pub devices_key: Option<String>,
    /// The same for machines.
    pub nodes_key: Option<String>,
    /// What makes the program start processes itself.
    pub spawn_key: Option<String>,
    /// Whether the program divides its command line at `--`: what stands in front is the target's.
    pub divided: bool,
    /// The program's options that stand in front all the same.
    pub ahead: Vec<String>,
    /// Whether nothing in the program joins processes.
    pub alone: bool,
    /// Keys and options that the program does not start without.
    pub needs: Vec<String>,
    /// Environment variables of the user's own.
    pub env: Vec<(String, String)>,
    /// Directives of the user's own, without the scheduler's mark.
    pub directives: Vec<String>,
    /// Environment modules to load.
    pub load: Vec<String>,
    /// The name of the script's file; one of the target's name when none.
    pub file: Option<String>,
    /// Values of the target's and the site's fields; a switch is `on`.
    pub values: BTreeMap<String, String>,
}

/// `environment:--dist-url=env://,open-mpi` as names with their words.
#[must_use]
pub fn joins_of(text: &str) -> Vec<(String, Vec<String>)> {
    let own = text.split(',').map(str::trim).filter(|join| !join.is_empty());
    own.map(|join| {
        let (name, words) = join.split_once(':').unwrap_or((join, ""));
        (name.to_string(), words.split_whitespace().map(str::to_string).collect())
    })
    .collect()
}

impl Request {
    /// One process on one device, started by hand.
    pub fn new(target: Target, entry: &str) -> Request {
        Request {
            target,
            scheduler: Scheduler::Bash,
            script: Script::Train,
            entry: entry.to_string(),
            args: Vec::new(),
            nodes: 1,
            instances: None,
            replicas: None,
            devices_per_replica: 1,
            batch: None,
            accumulation: None,
            launcher: None,
            suits: None,
            port: None,
            hosts: Vec::new(),
            distributed_key: None,
            batch_key: None,
            batch_from: None,
            shared_batch: None,
            accumulation_from: None,
            accumulation_key: None,
            join_args: Vec::new(),
            joined_by: Vec::new(),
            devices_key: None,
            nodes_key: None,
            spawn_key: None,
            divided: false,
            ahead: Vec::new(),
            alone: false,
            needs: Vec::new(),
            env: Vec::new(),
            directives: Vec::new(),
            load: Vec::new(),
            file: None,
            values: BTreeMap::new(),
        }
    }
}

impl Request {
    /// A name for the script's file.
    #[must_use]
    pub fn file_name(&self) -> String {
        let own = || self.script.file_name(self.target.name(), self.scheduler);
        self.file.clone().unwrap_or_else(own)
    }
}

/// Something wrong with a request, at the field it belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// The field: a word of the command line without its dashes, or a site's field.
    pub field: String,
    /// What is wrong and what would be right.
    pub message: String,
}

impl Problem {
    pub(crate) fn new(field: &str, message: impl Into<String>) -> Problem {
        Problem { field: field.to_string(), message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What is said of the field goes on its sentence.
        let goes_on = ["is ", "are ", "must "].iter().any(|verb| self.message.starts_with(verb));
        write!(f, "{}{} {}", self.field, if goes_on { "" } else { ":" }, self.message)
    }
}
