//! What starts a script.

use serde::{Deserialize, Serialize};

/// What starts the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheduler {
    /// The user, without a scheduler.
    Bash,
    /// `sbatch`.
    Slurm,
    /// `qsub`.
    Pbs,
}

impl Scheduler {
    /// All of them.
    pub const ALL: [Scheduler; 3] = [Scheduler::Bash, Scheduler::Slurm, Scheduler::Pbs];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Scheduler::Bash => "bash",
            Scheduler::Slurm => "slurm",
            Scheduler::Pbs => "pbs",
        }
    }
}
