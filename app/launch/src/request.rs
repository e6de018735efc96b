//! A user's request.

use crate::target::Target;
use serde::{Deserialize, Serialize};
use sorting::SortedMap;
use std::fmt;
use tables::Scheduler;

/// The purpose of the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Script {
    /// Creates the virtual environment, once.
    Setup,
    /// Trains.
    Train,
    /// Collects results, logs and the machine's versions in one archive.
    Collect,
}

impl Script {
    /// Its name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Script::Setup => "setup",
            Script::Train => "train",
            Script::Collect => "collect",
        }
    }

    /// The name of its file, alone and among the others of the target, with the scheduler if there is one.
    pub(crate) fn file_name(self, target: &str, scheduler: Scheduler) -> String {
        let name = self.name();
        match (self, scheduler) {
            (Script::Train, Scheduler::Slurm | Scheduler::Pbs) => format!("{name}-{target}-{}.sh", scheduler.name()),
            _ => format!("{name}-{target}.sh"),
        }
    }
}

/// A launch as described by a user. Missing numbers follow from the others.
#[derive(Clone, Debug)]
pub struct Request {
    /// The accelerator.
    pub target: Target,
    /// The scheduler, if any, that starts the script.
    pub scheduler: Scheduler,
    /// The purpose of the script.
    pub script: Script,
    /// The program.
    pub entry: String,
    /// Its arguments, passed unchanged.
    pub args: Vec<String>,
    /// Machines.
    pub nodes: u32,
    /// Processes on all machines together.
    pub instances: Option<u32>,
    /// Copies of the model, all processes together.
    pub replicas: Option<u32>,
    /// Devices for one copy of the model.
    pub devices_per_replica: u32,
    /// Samples of one micro-batch of one copy of the model; by default the value in the arguments.
    pub batch: Option<u32>,
    /// Micro-batches per step; by default the value in the arguments, otherwise 1.
    pub accumulation: Option<u32>,
    /// The launcher that starts the processes, by its name in the target's table; the target's default if none.
    pub launcher: Option<String>,
    /// The launcher that suits the program, according to its analysis; used if the target's default does not provide
    /// the same ranks.
    pub suits: Option<String>,
    /// Rendezvous port of the processes.
    pub port: Option<u16>,
    /// Names of the machines, if no scheduler provides them.
    pub hosts: Vec<String>,
    /// How the program is configured to join its processes: a key such as `run.distributed`, a switch such as
    /// `--distributed`, or, with `=` at its end, an option with a value.
    pub distributed_key: Option<String>,
    /// How the program's batch is set: a key such as `run.minibatch_size`, or an option such as `--batch-size`.
    pub batch_key: Option<String>,
    /// Where `batch` was found, as text: it is then the program's own default, which an argument may change.
    pub batch_from: Option<String>,
    /// Where the program divides its batch by the number of processes, or the batch that replicas share, as text; none if each uses all of it.
    pub shared_batch: Option<String>,
    /// Where `accumulation` was found, as text, as for `batch_from`; the program then has the value already.
    pub accumulation_from: Option<String>,
    /// How the number of micro-batches per step is set, as a key or an option.
    pub accumulation_key: Option<String>,
    /// Command-line arguments without which the program's processes don't join, such as `--dist-url=env://`.
    pub join_args: Vec<String>,
    /// The sources from which its processes read their ranks (names of `tells` in a target's table), each with
    /// arguments that it requires; `unread` if the analysis of the program found nothing, empty if there was no
    /// analysis.
    pub joined_by: Vec<(String, Vec<String>)>,
    /// How the program's devices per machine are set, as a key; or `=8 a.py:3` if the number is in the source.
    pub devices_key: Option<String>,
    /// The same for machines.
    pub nodes_key: Option<String>,
    /// The option that makes the program start processes itself.
    pub spawn_key: Option<String>,
    /// Whether the program splits its command line at `--`: the part before it is the target's.
    pub divided: bool,
    /// The program's own options that nevertheless come before it.
    pub ahead: Vec<String>,
    /// Whether the program has no code that joins processes.
    pub alone: bool,
    /// Keys and options that the program requires.
    pub needs: Vec<String>,
    /// The user's own environment variables.
    pub env: Vec<(String, String)>,
    /// The user's own directives, without the scheduler's prefix.
    pub directives: Vec<String>,
    /// Environment modules to load.
    pub load: Vec<String>,
    /// The name of the script's file; by default derived from the target.
    pub file: Option<String>,
    /// Values of the target's and the site's fields; a switch is `on`.
    pub values: SortedMap<String, String>,
}

/// `environment:--dist-url=env://,open-mpi` as names with their arguments.
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
    /// One process on one device, started without a scheduler.
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
            values: SortedMap::new(),
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

/// A problem with a request, at its field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// The field: a command-line option without its dashes, or a site's field.
    pub field: String,
    /// What is wrong and what would be correct.
    pub message: String,
}

impl Problem {
    pub(crate) fn new(field: &str, message: impl Into<String>) -> Problem {
        Problem { field: field.to_string(), message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A message about the field continues its sentence.
        let goes_on = ["is ", "are ", "must "].iter().any(|verb| self.message.starts_with(verb));
        write!(f, "{}{} {}", self.field, if goes_on { "" } else { ":" }, self.message)
    }
}
