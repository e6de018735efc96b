//! The table `[launch]` of a guide's front matter.
//!
//! Its texts are templates, which are filled in when a script is planned.

use crate::command::{CommandEntry, SetEntry, Words};
use crate::field::Field;
use crate::lint::Lint;
use crate::when::When;
use serde::{Deserialize, Serialize};

/// The table `[launch]`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LaunchTable {
    /// The target in a list of targets.
    pub label: String,
    /// The purpose of the script.
    pub title: String,
    /// The same under a condition; the first that is true applies.
    pub titles: Vec<Note>,
    /// The numbers with their derivation; `{samples}` is the line about the samples of a step.
    pub numbers: Vec<String>,
    /// The name of a device.
    pub device: String,
    /// Devices of one machine, if the site doesn't specify it.
    pub devices_per_node: Option<u32>,
    /// The maximum number of processes on a device.
    pub per_device: Option<u32>,
    /// How the number of processes is determined.
    pub processes: Counting,
    /// The name of a process.
    pub process: Option<String>,
    /// Whether the number of devices must be a power of two.
    pub power_of_two: bool,
    /// Requirements for a program.
    pub program: guide::ProgramTerms,
    /// The message for a request of several processes if the target has only one; empty if several are allowed.
    pub only_one: String,
    /// The name of what contains one copy of the model.
    pub copy: String,
    /// Whether the target's programs receive their batch through the target's own option.
    pub own_batch: bool,
    /// What combines several processes into one training.
    pub joined_by: JoinedBy,
    /// Why the program must not join its processes itself.
    pub joined_why: Option<String>,
    /// Why a program without the target's requirement can't be started, or not several times.
    pub alone: String,
    /// The field at which that is reported; by default `instances`, and then only if there are several.
    pub alone_field: Option<String>,
    /// Its switch in a form.
    pub alone_label: String,
    /// A line of help for it.
    pub alone_help: String,
    /// A line about the number of processes.
    pub processes_help: String,
    /// A line about the number of replicas.
    pub replicas_help: String,
    /// The devices of a machine that several users may share.
    pub groups: Vec<String>,
    /// The rendezvous port.
    pub port: Option<u32>,
    /// Default values of `{site.NAME}` in commands.
    pub words: Words,
    /// Optional and required user input.
    pub field: Vec<Field>,
    /// The launchers.
    pub launcher: Vec<LauncherEntry>,
    /// Refused combinations.
    pub refused: Vec<Refusal>,
    /// Variables, in order.
    pub set: Vec<SetEntry>,
    /// Keys of the program's that follow from the fields, with their values.
    pub argument: Vec<SetEntry>,
    /// Warnings for the user before the start.
    pub warning: Vec<Note>,
    /// Notes for the user.
    pub note: Vec<Note>,
    /// The commands of a training, in order.
    pub command: Vec<CommandEntry>,
    /// The prefix of a command that runs in a container, by the container's name.
    pub container: Vec<CommandEntry>,
    /// The condition under which the training needs no device.
    pub without_devices: Option<When>,
    /// The script that creates the virtual environment.
    pub setup: Setup,
    /// The parts of a run that are worth keeping.
    pub collect: Vec<Collected>,
    /// Mistakes in other people's scripts.
    pub lint: Lint,
}

/// How the number of processes of a training is determined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counting {
    /// One for each device; all devices of the machines when there are several machines.
    #[default]
    Devices,
    /// The requested number of copies of the program, at least one for each machine.
    Instances,
    /// Copies of the model, distributed among processes; each copy has its own devices.
    Replicas,
}

/// What combines several processes into one training.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JoinedBy {
    /// The program, which has to be configured for it.
    #[default]
    Program,
    /// The launcher; the program must not do it too.
    Launcher,
    /// The target's own options.
    Options,
}

/// A line with a condition.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// The line.
    pub text: String,
    /// Its condition.
    #[serde(default)]
    pub when: When,
}

/// A launcher for the processes of a training.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LauncherEntry {
    /// Its name on the command line.
    pub name: String,
    /// Its label in a form; without one it can't be chosen.
    pub label: String,
    /// The conditions for being the default: any of these, and the first launcher that matches.
    pub usual: Option<Vec<When>>,
    /// Whether even a single process needs a rendezvous address.
    pub meets_alone: bool,
    /// Whether even a single process joins.
    pub joins_alone: bool,
    /// The rank sources that it provides to its processes: `environment` for torchrun's variables, `mpi`, …
    pub tells: Vec<String>,
    /// Further names of its options for numbers and machines, which only the script sets.
    pub counts: Vec<String>,
    /// The meaning of a scheduler task.
    pub tasks: Option<Tasks>,
    /// When it is available.
    pub tasks_when: When,
    /// When it can't be used, and why.
    pub refused: Vec<Refusal>,
}

/// The meaning of a scheduler task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tasks {
    /// A process of the training.
    Processes,
    /// A machine: one program that starts the machine's processes.
    Machines,
}

/// A refused combination.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Refusal {
    /// The field at which it is reported; by default the launcher's.
    pub field: String,
    /// Condition.
    pub when: When,
    /// The message.
    pub why: String,
}

/// The script that creates the virtual environment.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Setup {
    /// Its purpose.
    pub title: String,
    /// Variables, in order.
    pub set: Vec<SetEntry>,
    /// Its commands, in order.
    pub command: Vec<CommandEntry>,
}

/// A part of a run that is worth keeping: a file, or the output of a command.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Collected {
    /// The file.
    pub take: Option<String>,
    /// The command, if there is no file.
    pub command: String,
    /// The file for the command's output.
    pub into: String,
    /// Condition.
    pub when: When,
    /// The reason, on one line.
    pub why: String,
    /// Its source.
    pub source: String,
}
