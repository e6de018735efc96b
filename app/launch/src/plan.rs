//! What a script does, before it is text.

use crate::word::Word;

/// An environment variable that the script sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Word,
    /// One line of why.
    pub why: String,
    /// Where that is written.
    pub source: String,
}

/// Something the script does, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Reads files of shell settings, unless the variable says that this was done before.
    Source {
        /// The files, in order.
        files: Vec<Word>,
        /// Set when the file was read before, e.g. at login.
        unless: Option<String>,
        /// One line of why.
        why: String,
        /// Where that is written.
        source: String,
    },
    /// Stops with the message when the variable is not set.
    Require {
        /// The variable.
        name: String,
        /// What the user should set it to.
        message: String,
    },
    /// Sets a variable for every later step.
    Set(Setting),
    /// Runs a command.
    Run {
        /// The program and its arguments.
        argv: Vec<Word>,
        /// One line of why.
        why: String,
        /// Where that is written.
        source: String,
    },
}

/// What the scheduler is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// The job's name: letters, digits, `.`, `_`, `-`.
    pub name: String,
    /// Machines.
    pub nodes: u32,
    /// Tasks of a node: Slurm's `--ntasks-per-node`, the `mpiprocs` of PBS.
    pub tasks_per_node: Option<u32>,
    /// Processor cores for a task.
    pub cpus_per_task: Option<u32>,
    /// Slurm's request for devices, such as `--gres=gpu:8` or `--ipus=4`.
    pub devices: Option<String>,
    /// Partition or queue.
    pub partition: Option<String>,
    /// Account or project.
    pub account: Option<String>,
    /// Wall time, `HH:MM:SS`.
    pub time: Option<String>,
}

/// A command that shows what the devices do, for a second terminal.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Monitor {
    /// The command line.
    pub command: String,
    /// What it shows.
    pub why: String,
}

/// A launch: made by [`plan`](crate::plan), written by [`render`](crate::render).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What the script does, in a sentence.
    pub title: String,
    /// What the scheduler is asked for.
    pub resources: Resources,
    /// What the script does.
    pub steps: Vec<Step>,
    /// The numbers and how they follow from one another.
    pub arithmetic: Vec<String>,
    /// Commands for a second terminal.
    pub monitors: Vec<Monitor>,
    /// What the user should know.
    pub notes: Vec<String>,
}
