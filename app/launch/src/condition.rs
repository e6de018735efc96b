//! Conditions of a table: words with blanks between them, all of which must hold; `!` turns one round.

use crate::draft::Draft;
use crate::request::Scheduler;
use serde::Deserialize;

/// What a condition can say. `guides/writing-a-guide`'s page of launches lists the same.
const PLAIN: [&str; 13] = [
    "one-node",
    "several-nodes",
    "one-process",
    "several-processes",
    "several-replicas",
    "shared-devices",
    "whole-nodes",
    "bash",
    "slurm",
    "pbs",
    "meets",
    "joins",
    "cpus",
];
const NAMED: [&str; 4] = ["has:", "by:", "site:", "sdk:"];

/// A condition; one with a word that is not known here is refused when it is read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct When(String);

impl TryFrom<String> for When {
    type Error = String;

    fn try_from(text: String) -> Result<When, String> {
        let unknown = text.split_whitespace().find(|word| {
            let word = word.strip_prefix('!').unwrap_or(word);
            !PLAIN.contains(&word) && !NAMED.iter().any(|name| word.starts_with(name))
        });
        match unknown {
            Some(word) => {
                Err(format!("`{word}` is no condition; there are {}, and {}…", PLAIN.join(", "), NAMED.join("…, ")))
            }
            None => Ok(When(text)),
        }
    }
}

impl Draft<'_> {
    /// Whether all of a condition holds; an empty one does.
    pub(crate) fn holds(&self, when: &When) -> bool {
        when.0.split_whitespace().all(|word| match word.strip_prefix('!') {
            Some(word) => !self.holds_word(word),
            None => self.holds_word(word),
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        assert!(When::try_from("slurm !has:output several-nodes".to_string()).is_ok());
        assert!(When::try_from("slurm weekends".to_string()).is_err_and(|error| error.contains("`weekends`")));
    }
}
