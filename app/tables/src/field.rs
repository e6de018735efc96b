//! What only the user knows: fields of targets and of sites, and the words that are taken.

use crate::when::When;
use serde::{Deserialize, Serialize};

/// Something that only the user knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Field {
    /// Its name in `{…}` and in `--set NAME=VALUE`.
    pub name: String,
    /// What it is.
    pub label: String,
    /// A line about it.
    pub help: String,
    /// What it takes.
    pub kind: Kind,
    /// Whether there is no script without it.
    pub required: bool,
    /// What it is when the user says nothing; only ever something that the source says.
    pub default: Option<String>,
    /// When it is asked for.
    pub when: When,
    /// The scripts that use it: `train`, `setup`, `collect`.
    pub scripts: Vec<String>,
    /// `program` where it says something about the program, `project` where `--project` reads it.
    pub group: String,
}

/// What a field takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Any text.
    #[default]
    Text,
    /// A whole number from 1.
    Number,
    /// `on`, or nothing.
    Switch,
    /// A name for a file, without a folder.
    Name,
    /// A network interface, or a network.
    Network,
    /// One of the target's groups of devices.
    Group,
    /// Devices of a machine with commas between them, one for each process at least.
    Devices,
    /// A release of the vendor's software.
    Release,
}

/// Fields that are options of the command of their own; all others are values of `--set`.
pub const OPTIONS: [&str; 35] = [
    "suits",
    "join-args",
    "joined-by",
    "devices-key",
    "nodes-key",
    "spawn-key",
    "divided",
    "ahead",
    "env",
    "directive",
    "load",
    "target",
    "site",
    "site-file",
    "scheduler",
    "script",
    "entry",
    "args",
    "nodes",
    "instances",
    "replicas",
    "devices-per-replica",
    "batch",
    "accumulation",
    "launcher",
    "port",
    "hosts",
    "distributed-key",
    "batch-key",
    "batch-from",
    "shared-batch",
    "needs",
    "accumulation-key",
    "accumulation-from",
    "alone",
];

/// Fields that every site and every target has; they are set with `--set` too.
pub const COMMON: [&str; 22] = [
    "account",
    "partition",
    "time",
    "venv",
    "results",
    "archive",
    "job",
    "select",
    "requirements",
    "qos",
    "mail",
    "array",
    "array-key",
    "after",
    "requeue",
    "exclusive",
    "memory",
    "cores",
    "checkpoints",
    "resume-key",
    "container",
    "image",
];

/// What one of them takes, in words.
#[must_use]
pub fn takes(common: &str) -> Option<&'static str> {
    Some(match common {
        "account" => "the project to charge",
        "partition" => "the partition or queue where the job waits",
        "time" => "the wall time as HH:MM:SS",
        "venv" => "the folder of a virtual environment",
        "results" => "the folder or file that the program writes its results to",
        "archive" => "a name for the archive",
        "job" => "the job's name",
        "select" => "what PBS calls the devices of a machine, such as ngpus=8, or none",
        "requirements" => "a file of packages",
        "qos" => "Slurm's quality of service",
        "mail" => "an address",
        "array" => "indices, such as 0-9",
        "array-key" => "the key or option that takes the index, such as --seed",
        "after" => "the number of the job that has to end well first",
        "requeue" => "on",
        "exclusive" => "on",
        "memory" => "the memory of a machine, such as 64G",
        "cores" => "the cores of a process",
        "checkpoints" => "a folder, or a pattern such as output/*.ckpt",
        "resume-key" => "the key or option that takes a checkpoint, such as --resume",
        "container" => "a way to run containers, such as docker",
        "image" => "the container's image",
        _ => return None,
    })
}
