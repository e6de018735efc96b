//! Whether a condition of a table is true for a launch.

use super::Draft;
use tables::{Scheduler, When};

impl Draft<'_> {
    /// Whether all parts of a condition are true; an empty one is.
    pub(crate) fn holds(&self, when: &When) -> bool {
        when.words().all(|(wanted, word)| word.split('|').any(|one| self.holds_word(one)) == wanted)
    }

    fn holds_word(&self, word: &str) -> bool {
        let (request, counts) = (self.request, &self.counts);
        if let Some((kind, rest)) = word.split_once(':') {
            return match kind {
                "has" => self.value(rest).is_some() || (rest == "batch" && request.batch.is_some()),
                "by" => self.launcher == rest,
                "site" => self.word_of_site(rest).is_some(),
                "sdk" => guide::sdk::sdk_admits(rest, self.value("sdk").unwrap_or(request.target.newest())),
                _ => false,
            };
        }
        match word {
            "one-node" => request.nodes == 1,
            "several-nodes" => request.nodes > 1,
            "one-process" => counts.processes == 1,
            "several-processes" => counts.processes > 1,
            "several-replicas" => counts.replicas > 1,
            "shared-devices" => counts.local > counts.devices_per_node,
            "whole-nodes" => counts.local >= counts.devices_per_node,
            "bash" => request.scheduler == Scheduler::Bash,
            "slurm" => request.scheduler == Scheduler::Slurm,
            "pbs" => request.scheduler == Scheduler::Pbs,
            "meets" => counts.meets,
            "joins" => counts.joins,
            "cpus" => self.cpus.is_some(),
            _ => false,
        }
    }
}
