//! Values that only the user knows: fields of targets and of sites, and the allowed values.

use crate::when::When;
use serde::{Deserialize, Serialize};

/// A value that only the user knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Field {
    /// Its name in `{…}` and in `--set NAME=VALUE`.
    pub name: String,
    /// Its label.
    pub label: String,
    /// A line of help.
    pub help: String,
    /// Its type.
    pub kind: Kind,
    /// Whether a script requires it.
    pub required: bool,
    /// Its default; only a value that is documented in the source.
    pub default: Option<String>,
    /// When it is shown.
    pub when: When,
    /// The scripts that use it: `train`, `setup`, `collect`.
    pub scripts: Vec<String>,
    /// `program` if it describes the program, `project` if `--project` detects it.
    pub group: String,
}

/// The type of a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Any text.
    #[default]
    Text,
    /// A whole number from 1.
    Number,
    /// `on`, or empty.
    Switch,
    /// A file name, without a folder.
    Name,
    /// A network interface, or a network.
    Network,
    /// One of the target's groups of devices.
    Group,
    /// Devices of a machine, separated by commas, at least one for each process.
    Devices,
    /// A release of the vendor's software.
    Release,
    /// Words of a command, split like a shell; the first is an option.
    Words,
}

/// Fields that are separate options of the command; all others are values of `--set`.
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
