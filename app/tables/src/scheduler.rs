//! Who starts a script.

use serde::{Deserialize, Serialize};

/// Who starts the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheduler {
    /// The user, by hand.
    Bash,
    /// `sbatch`.
    Slurm,
    /// `qsub`.
    Pbs,
}

impl Scheduler {
    /// All of them.
    pub const ALL: [Scheduler; 3] = [Scheduler::Bash, Scheduler::Slurm, Scheduler::Pbs];

    /// Its word on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Scheduler::Bash => "bash",
            Scheduler::Slurm => "slurm",
            Scheduler::Pbs => "pbs",
        }
    }
}
