//! What a user asks for.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;

/// The accelerator, and with PopDist how its processes are started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// Intel Gaudi.
    Hpu,
    /// SambaNova.
    Rdu,
    /// Graphcore, one process.
    Ipu,
    /// Graphcore, many processes.
    Popdist,
}

impl Target {
    /// All of them.
    pub const ALL: [Target; 4] = [Target::Hpu, Target::Rdu, Target::Ipu, Target::Popdist];

    /// Its word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Target::Hpu => "hpu",
            Target::Rdu => "rdu",
            Target::Ipu => "ipu",
            Target::Popdist => "popdist",
        }
    }
}

/// Who starts the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheduler {
    /// The user, by hand.
    Bash,
    /// `sbatch`.
    Slurm,
    /// `qsub`.
    Pbs,
}

impl Scheduler {
    /// All of them.
    pub const ALL: [Scheduler; 3] = [Scheduler::Bash, Scheduler::Slurm, Scheduler::Pbs];

    /// Its word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Scheduler::Bash => "bash",
            Scheduler::Slurm => "slurm",
            Scheduler::Pbs => "pbs",
        }
    }
}

/// Who starts the processes of one training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launcher {
    /// Open MPI on Gaudi, MPICH on SambaNova.
    Mpirun,
    /// PyTorch's own.
    Torchrun,
    /// The scheduler's `srun`.
    Srun,
    /// Lightning's trainer, which starts the processes of one machine itself.
    Lightning,
    /// DeepSpeed, through Optimum Habana's `gaudi_spawn.py`.
    Deepspeed,
}

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

/// How Gaudi runs PyTorch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Eagerly, and through `torch.compile`.
    Eager,
    /// Lazily, the older way.
    Lazy,
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
    /// Whether the program is TensorFlow's.
    pub tensorflow: bool,
    /// The program.
    pub entry: String,
    /// Its arguments, taken as they are.
    pub args: Vec<String>,
    /// Machines.
    pub nodes: u32,
    /// Processes, all machines together.
    pub instances: Option<u32>,
    /// Copies of the model, all processes together (IPU, PopDist).
    pub replicas: Option<u32>,
    /// IPUs that one copy of the model takes.
    pub ipus_per_replica: u32,
    /// Samples of one micro-batch of one copy of the model; what the arguments say when none.
    pub batch: Option<u32>,
    /// Micro-batches that one step adds up; what the arguments say, else 1, when none.
    pub accumulation: Option<u32>,
    /// Who starts the processes; the target's usual one when none.
    pub launcher: Option<Launcher>,
    /// Gaudi's mode.
    pub mode: Mode,
    /// Whether an earlier script compiled the program (RDU).
    pub compiled: bool,
    /// Whether the vendor's profiler is on.
    pub profile: bool,
    /// Gaudi's modules when several users share a machine.
    pub modules: Vec<u32>,
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
    /// Whether nothing in the program joins processes.
    pub alone: bool,
    /// Keys and options that the program does not start without.
    pub needs: Vec<String>,
    /// Values of the site's fields.
    pub values: BTreeMap<String, String>,
}

impl Request {
    /// One process on one device, started by hand.
    pub fn new(target: Target, entry: &str) -> Request {
        Request {
            target,
            scheduler: Scheduler::Bash,
            script: Script::Train,
            tensorflow: false,
            entry: entry.to_string(),
            args: Vec::new(),
            nodes: 1,
            instances: None,
            replicas: None,
            ipus_per_replica: 1,
            batch: None,
            accumulation: None,
            launcher: None,
            mode: Mode::Eager,
            compiled: false,
            profile: false,
            modules: Vec::new(),
            port: None,
            hosts: Vec::new(),
            distributed_key: None,
            batch_key: None,
            batch_from: None,
            shared_batch: None,
            accumulation_from: None,
            accumulation_key: None,
            alone: false,
            needs: Vec::new(),
            values: BTreeMap::new(),
        }
    }
}

/// Something wrong with a request, at the field it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
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
        write!(f, "{}: {}", self.field, self.message)
    }
}
