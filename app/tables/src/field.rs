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
