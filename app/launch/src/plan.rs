//! What a script does, before it is text.

use crate::word::Word;
use tables::{Monitor, Scheduler};

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

/// Words of a command, a flag and its value as a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// As they stand in the script.
    pub words: String,
    /// Half a line of why.
    pub why: String,
    /// Where that is written; empty when it follows from what the user said.
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
        /// Those of its words that need a reason.
        flags: Vec<Flag>,
        /// One line of why.
        why: String,
        /// Where that is written.
        source: String,
    },
    /// Copies files into a folder; one that is not there is named and passed over.
    Take {
        /// The files.
        file: Word,
        /// The folder.
        into: Word,
        /// One line of why.
        why: String,
        /// Where that is written; empty when it follows from what the user said.
        source: String,
    },
    /// Writes into a file what a command prints; a command that fails here says so and the script goes on.
    Keep {
        /// The program and its arguments.
        argv: Vec<Word>,
        /// The file.
        file: Word,
        /// One line of why.
        why: String,
        /// Where that is written; empty when it is common knowledge.
        source: String,
    },
}

/// A value of a directive, and who said it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The value.
    pub value: String,
    /// The site's source; empty when the user said it.
    pub source: String,
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
    /// Slurm's request for devices, such as `--gres=gpu:8`.
    pub devices: Option<Asked>,
    /// Partition or queue.
    pub partition: Option<Asked>,
    /// Account or project.
    pub account: Option<Asked>,
    /// Wall time, `HH:MM:SS`.
    pub time: Option<Asked>,
    /// Whether no other job may be on the machines.
    pub exclusive: bool,
    /// Memory of a machine, as Slurm writes it: `0` is all of it.
    pub memory: Option<String>,
    /// Who gets a mail when it ends or fails.
    pub mail: Option<String>,
    /// Slurm's quality of service.
    pub qos: Option<String>,
    /// Indices of a job array, such as `0-9`.
    pub array: Option<String>,
    /// The job that has to end well before.
    pub after: Option<String>,
    /// Whether the job may be started again.
    pub requeue: bool,
    /// Directives of the site's and of the user's own, as they are.
    pub extra: Vec<Asked>,
}

/// A launch: made by [`plan`](crate::plan), written by [`render`](crate::render).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What the script does, in a sentence.
    pub title: String,
    /// The line that starts or submits it.
    pub start: String,
    /// Who starts the script.
    pub scheduler: Scheduler,
    /// What the scheduler is asked for.
    pub resources: Resources,
    /// What the script does.
    pub steps: Vec<Step>,
    /// The numbers and how they follow from one another.
    pub arithmetic: Vec<String>,
    /// Commands for a second terminal.
    pub monitors: Vec<Monitor>,
    /// What the user has to know before it is started.
    pub warnings: Vec<String>,
    /// What the user should know.
    pub notes: Vec<String>,
}
