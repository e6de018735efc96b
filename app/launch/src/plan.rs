//! The steps of a script, before it is text.

use crate::word::Word;
use tables::{Monitor, Scheduler};

/// An environment variable that the script sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Word,
    /// The reason, on one line.
    pub why: String,
    /// Its source.
    pub source: String,
}

/// Words of a command, a flag and its value as a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// As written in the script.
    pub words: String,
    /// The reason, as half a line.
    pub why: String,
    /// Its source; empty if it follows from the user's input.
    pub source: String,
}

/// A step of the script, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Sources files of shell settings, unless the variable shows that they were already sourced.
    Source {
        /// The files, in order.
        files: Vec<Word>,
        /// Set if the file was already sourced, e.g. at login.
        unless: Option<String>,
        /// The reason, on one line.
        why: String,
        /// Its source.
        source: String,
    },
    /// Stops with the message if the variable is not set.
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
        /// The words that need a reason.
        flags: Vec<Flag>,
        /// The reason, on one line.
        why: String,
        /// Its source.
        source: String,
    },
    /// Copies files into a folder; a missing one is reported and skipped.
    Take {
        /// The files.
        file: Word,
        /// The folder.
        into: Word,
        /// The reason, on one line.
        why: String,
        /// Its source; empty if it follows from the user's input.
        source: String,
    },
    /// Writes the output of a command into a file; if the command fails, that is reported and the script continues.
    Keep {
        /// The program and its arguments.
        argv: Vec<Word>,
        /// The file.
        file: Word,
        /// The reason, on one line.
        why: String,
        /// Its source; empty if it is common knowledge.
        source: String,
    },
}

/// A value of a directive, and its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The value.
    pub value: String,
    /// The site's source; empty if the value is the user's.
    pub source: String,
}

/// The request to the scheduler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// The job's name: letters, digits, `.`, `_`, `-`.
    pub name: String,
    /// Machines.
    pub nodes: u32,
    /// Tasks per node: Slurm's `--ntasks-per-node`, the `mpiprocs` of PBS.
    pub tasks_per_node: Option<u32>,
    /// Processor cores per task.
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
    /// The recipient of a mail when it ends or fails.
    pub mail: Option<String>,
    /// Slurm's quality of service.
    pub qos: Option<String>,
    /// Indices of a job array, such as `0-9`.
    pub array: Option<String>,
    /// The job that has to succeed before it.
    pub after: Option<String>,
    /// Whether the job may be requeued.
    pub requeue: bool,
    /// Directives of the site and of the user, unchanged.
    pub extra: Vec<Asked>,
}

/// A launch: made by [`plan`](crate::plan), written by [`render`](crate::render).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The purpose of the script, in a sentence.
    pub title: String,
    /// The line that starts or submits it.
    pub start: String,
    /// The scheduler, if any, that starts the script.
    pub scheduler: Scheduler,
    /// The request to the scheduler.
    pub resources: Resources,
    /// The steps of the script.
    pub steps: Vec<Step>,
    /// The numbers, with their derivation.
    pub arithmetic: Vec<String>,
    /// Commands for a second terminal.
    pub monitors: Vec<Monitor>,
    /// Warnings for the user before it is started.
    pub warnings: Vec<String>,
    /// Notes for the user.
    pub notes: Vec<String>,
}
