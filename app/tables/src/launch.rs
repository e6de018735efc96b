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
    /// What the script does.
    pub title: String,
    /// The same under a condition; the first that holds wins.
    pub titles: Vec<Note>,
    /// The numbers and how they follow from one another; `{samples}` is the line about the samples of a step.
    pub numbers: Vec<String>,
    /// What one device is called.
    pub device: String,
    /// Devices of one machine where the site doesn't say.
    pub devices_per_node: Option<u32>,
    /// Processes that may share a device.
    pub per_device: Option<u32>,
    /// How many processes there are.
    pub processes: Counting,
    /// What a process is called.
    pub process: Option<String>,
    /// Whether only a power of two of devices can be had.
    pub power_of_two: bool,
    /// What a program has to have.
    pub program: guide::ProgramTerms,
    /// What is said to somebody who asks for several processes of a target that is one; empty when several are fine.
    pub only_one: String,
    /// What holds one copy of the model.
    pub copy: String,
    /// Whether the target's programs are told their batch by the target's own option.
    pub own_batch: bool,
    /// Who makes one training of several processes.
    pub joined_by: JoinedBy,
    /// Why the program must not join its processes itself.
    pub joined_why: Option<String>,
    /// Why a program that lacks what the target needs can't be started, or not several times.
    pub alone: String,
    /// The field at which that is said; `instances`, then only when there are several, when absent.
    pub alone_field: Option<String>,
    /// The switch for it in a form.
    pub alone_label: String,
    /// A line about it.
    pub alone_help: String,
    /// A line about the number of processes.
    pub processes_help: String,
    /// A line about the number of replicas.
    pub replicas_help: String,
    /// The devices of a machine that several users may share out.
    pub groups: Vec<String>,
    /// The port at which processes meet.
    pub port: Option<u32>,
    /// What commands take as `{site.NAME}` where the site has no word of its own.
    pub words: Words,
    /// What the user may or must say.
    pub field: Vec<Field>,
    /// What starts the processes.
    pub launcher: Vec<LauncherEntry>,
    /// What can't be written.
    pub refused: Vec<Refusal>,
    /// Variables, in order.
    pub set: Vec<SetEntry>,
    /// What the user has to know before anything is started.
    pub warning: Vec<Note>,
    /// What the user should know.
    pub note: Vec<Note>,
    /// The commands of a training, in order.
    pub command: Vec<CommandEntry>,
    /// How a command is run in a container: what stands in front of it, by the container's name.
    pub container: Vec<CommandEntry>,
    /// When the training needs no device.
    pub without_devices: Option<When>,
    /// The script that makes the virtual environment.
    pub setup: Setup,
    /// What is worth keeping of a run.
    pub collect: Vec<Collected>,
    /// Faults of other people's scripts.
    pub lint: Lint,
}

/// How many processes a training has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counting {
    /// One for each device; all devices of the machines when there are several machines.
    #[default]
    Devices,
    /// As many copies of the program as are asked for, one for each machine at least.
    Instances,
    /// Copies of the model, shared out to processes; each copy takes devices of its own.
    Replicas,
}

/// Who makes one training of several processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JoinedBy {
    /// The program, and it has to be told to.
    #[default]
    Program,
    /// What starts them; the program must not do it too.
    Launcher,
    /// The target's own options say it.
    Options,
}

/// A line under a condition.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// The line.
    pub text: String,
    /// When it is said.
    #[serde(default)]
    pub when: When,
}

/// Something that starts the processes of a training.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LauncherEntry {
    /// Its name on the command line.
    pub name: String,
    /// In a form; without one it can't be chosen.
    pub label: String,
    /// When it is taken without being chosen: any of these, and the first launcher that fits.
    pub usual: Option<Vec<When>>,
    /// Whether a single process, too, has to know where processes meet.
    pub meets_alone: bool,
    /// Whether a single process, too, joins.
    pub joins_alone: bool,
    /// From what the processes that it starts can learn their places: `environment` for torchrun's variables, `mpi`, …
    pub tells: Vec<String>,
    /// What a task of the scheduler is.
    pub tasks: Option<Tasks>,
    /// When it is.
    pub tasks_when: When,
    /// When it can't be used, and why.
    pub refused: Vec<Refusal>,
}

/// What a task of the scheduler is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tasks {
    /// A process of the training.
    Processes,
    /// A machine: one program that starts the machine's processes.
    Machines,
}

/// Something that can't be written.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Refusal {
    /// Where it is said; at the launcher's field when absent.
    pub field: String,
    /// When.
    pub when: When,
    /// What is said.
    pub why: String,
}

/// The script that makes the virtual environment.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Setup {
    /// What it does.
    pub title: String,
    /// Variables, in order.
    pub set: Vec<SetEntry>,
    /// Its commands, in order.
    pub command: Vec<CommandEntry>,
}

/// Something worth keeping of a run: a file, or what a command prints.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Collected {
    /// The file.
    pub take: Option<String>,
    /// The command, where there is no file.
    pub command: String,
    /// The file that the command's output goes to.
    pub into: String,
    /// When.
    pub when: When,
    /// One line of why.
    pub why: String,
    /// Where that is written.
    pub source: String,
}
