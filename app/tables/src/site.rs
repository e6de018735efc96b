//! What a machine is like: data, one TOML file each.
//!
//! In a file's texts `{field}` stands for what the user gives for that field, taken as it is, and `$NAME` for an
//! environment variable when the script runs. A file with a key that is not described here is refused.

use crate::command::{CommandEntry, SetEntry, Words};
use crate::field::Field;
use crate::scheduler::Scheduler;
use serde::{Deserialize, Serialize};

/// Whether what the file says can be expected to hold today.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Documented by the site.
    Current,
    /// Was documented; the machine or its pages are gone.
    Archival,
    /// Knows nothing of the machine: the user fills it in.
    Template,
}

/// A variable that the site's own pages ask for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SiteSetting {
    /// Its name.
    pub name: String,
    /// Its value; `{field}` and `$NAME` as anywhere.
    pub value: String,
    /// One line of why.
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
    /// The name it shares with the other machines of its site: `--site alcf` takes the one that has the target.
    pub group: Option<String>,
    /// As people know it.
    pub title: String,
    /// Whether it can be expected to hold.
    pub status: Status,
    /// Where the facts are written.
    pub source: String,
    /// The day on which they were compared with the source, `YYYY-MM-DD`; each site of the build has one.
    pub checked: Option<String>,
    /// What it has.
    pub targets: Vec<String>,
    /// How jobs are started there.
    pub schedulers: Vec<Scheduler>,
    /// Devices of one machine.
    pub devices_per_node: Option<u32>,
    /// Devices of the whole site that one job can have.
    pub devices: Option<u32>,
    /// Machines.
    pub nodes: Option<u32>,
    /// Processor cores of one machine, where tasks share them out.
    pub cpus_per_node: Option<u32>,
    /// Memory of one machine in GiB, where jobs share machines.
    pub memory_per_node: Option<u32>,
    /// Environment modules that a job loads.
    #[serde(default)]
    pub load: Vec<String>,
    /// Slurm's partition.
    pub partition: Option<String>,
    /// Slurm's quality of service.
    pub qos: Option<String>,
    /// Slurm's word for devices, `{devices}` being their number: of one machine, or of all where the target shares them out.
    pub request: Option<String>,
    /// PBS's word for the devices of one machine, such as `ngpus={devices}`.
    pub select: Option<String>,
    /// More that the scheduler is to be told, in the words of its directives.
    #[serde(default)]
    pub directives: Vec<String>,
    /// What every command on a device starts with when a user starts the script by hand.
    #[serde(default)]
    pub prefix: Vec<String>,
    /// Files to source.
    #[serde(default)]
    pub enable: Vec<String>,
    /// A variable that says they were sourced before.
    pub enabled_by: Option<String>,
    /// Texts that the target's commands take as `{site.NAME}`, such as a program's path or the vendor's wheels.
    #[serde(default)]
    pub words: Words,
    /// Variables of the site.
    #[serde(default)]
    pub settings: Vec<SiteSetting>,
    /// What only the user knows.
    #[serde(default)]
    pub field: Vec<Field>,
    /// Variables under conditions, behind the target's own.
    #[serde(default)]
    pub set: Vec<SetEntry>,
    /// Commands that take the place of the target's, by launcher.
    #[serde(default)]
    pub command: Vec<CommandEntry>,
    /// Commands that show what the devices do.
    #[serde(default)]
    pub monitors: Vec<Monitor>,
    /// What a user should know.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// A command that shows what the devices do, for a second terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Monitor {
    /// The command line.
    pub command: String,
    /// What it shows.
    pub why: String,
}
