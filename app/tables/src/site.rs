//! The description of a machine: data, one TOML file each.
//!
//! In a file's texts `{field}` is replaced by the user's value for that field, unchanged, and `$NAME` by an environment
//! variable at run time. A file with a key that is not described here is rejected.

use crate::command::{CommandEntry, SetEntry, Words};
use crate::field::Field;
use crate::scheduler::Scheduler;
use serde::{Deserialize, Serialize};

/// Whether the contents of the file can be expected to be valid today.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Documented by the site.
    Current,
    /// Was documented; the machine or its pages are gone.
    Archival,
    /// Contains no facts about the machine: the user fills them in.
    Template,
}

/// A variable that the site's own pages require.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SiteSetting {
    /// Its name.
    pub name: String,
    /// Its value; `{field}` and `$NAME` as anywhere.
    pub value: String,
    /// The reason, on one line.
    pub why: String,
    /// Whether only a launch on several machines needs it.
    #[serde(default)]
    pub several_nodes: bool,
}

/// One machine, for some targets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Site {
    /// Its own name.
    pub name: String,
    /// The name it shares with the other machines of its site: `--site alcf` selects the one that has the target.
    pub group: Option<String>,
    /// Its usual name.
    pub title: String,
    /// Whether it can be expected to be valid.
    pub status: Status,
    /// The source of the data.
    pub source: String,
    /// The date when its data was compared with the source, `YYYY-MM-DD`; required for built-in sites.
    pub checked: Option<String>,
    /// Its targets.
    pub targets: Vec<String>,
    /// How jobs are started there.
    pub schedulers: Vec<Scheduler>,
    /// Devices of one machine.
    pub devices_per_node: Option<u32>,
    /// Devices of the whole site that one job can have.
    pub devices: Option<u32>,
    /// Machines.
    pub nodes: Option<u32>,
    /// Processor cores of one machine, if tasks share them.
    pub cpus_per_node: Option<u32>,
    /// Memory of one machine in GiB, if jobs share machines.
    pub memory_per_node: Option<u32>,
    /// Environment modules that a job loads.
    #[serde(default)]
    pub load: Vec<String>,
    /// Slurm's partition.
    pub partition: Option<String>,
    /// Slurm's quality of service.
    pub qos: Option<String>,
    /// Slurm's option for devices, `{devices}` being their number: of one machine, or of all if the target distributes
    /// them itself.
    pub request: Option<String>,
    /// PBS's resource for the devices of one machine, such as `ngpus={devices}`.
    pub select: Option<String>,
    /// Additional directives for the scheduler.
    #[serde(default)]
    pub directives: Vec<String>,
    /// The prefix of every command on a device outside a job.
    #[serde(default)]
    pub prefix: Vec<String>,
    /// Files to source.
    #[serde(default)]
    pub enable: Vec<String>,
    /// A variable that shows that they were already sourced.
    pub enabled_by: Option<String>,
    /// Values of `{site.NAME}` in the target's commands, such as a program's path or the vendor's wheels.
    #[serde(default)]
    pub words: Words,
    /// Variables of the site.
    #[serde(default)]
    pub settings: Vec<SiteSetting>,
    /// Values that only the user knows.
    #[serde(default)]
    pub field: Vec<Field>,
    /// Variables under conditions, after the target's own.
    #[serde(default)]
    pub set: Vec<SetEntry>,
    /// Commands that replace the target's, by launcher.
    #[serde(default)]
    pub command: Vec<CommandEntry>,
    /// Commands that show what the devices do.
    #[serde(default)]
    pub monitors: Vec<Monitor>,
    /// Notes for the user.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// A command that shows what the devices do, for a second terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Monitor {
    /// The command line.
    pub command: String,
    /// Its output.
    pub why: String,
}
