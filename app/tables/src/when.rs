//! Conditions of a table: words separated by spaces, all of which must be true. `!` before a word negates it, and `a|b`
//! is true if one of the two is.

use serde::{Deserialize, Deserializer, Serialize, de};

/// The words of a condition. The guide about launches lists the same.
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

/// A condition; one with an unknown word is rejected when it is read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct When(String);

impl When {
    /// Its words, each with whether it has to be true: `!` before one means that it must not be. A word may have
    /// alternatives separated by `|`.
    pub fn words(&self) -> impl Iterator<Item = (bool, &str)> {
        self.0.split_whitespace().map(|word| match word.strip_prefix('!') {
            Some(word) => (false, word),
            None => (true, word),
        })
    }

    fn checked(text: String) -> Result<When, String> {
        let is_known = |word: &str| PLAIN.contains(&word) || NAMED.iter().any(|name| word.starts_with(name));
        let when = When(text);
        let mut words = when.words().flat_map(|(_, word)| word.split('|'));
        let unknown = words.find(|word| !is_known(word)).map(str::to_string);
        drop(words);
        match unknown {
            Some(word) => {
                Err(format!("unknown condition `{word}`; expected {}, or {}…", PLAIN.join(", "), NAMED.join("…, ")))
            }
            None => Ok(when),
        }
    }
}

impl<'de> Deserialize<'de> for When {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<When, D::Error> {
        // Packed data was checked when it was packed.
        let is_written = deserializer.is_human_readable();
        let text = String::deserialize(deserializer)?;
        if is_written { When::checked(text).map_err(de::Error::custom) } else { Ok(When(text)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        let when = When::checked("slurm !has:output several-nodes".to_string()).expect("a condition");
        assert!(when.words().eq([(true, "slurm"), (false, "has:output"), (true, "several-nodes")]));
        assert!(When::checked("slurm !weekends".to_string()).is_err_and(|error| error.contains("`weekends`")));
        assert!(When::checked("slurm|pbs !has:a|has:b".to_string()).is_ok());
        assert!(When::checked("slurm|weekends".to_string()).is_err_and(|error| error.contains("`weekends`")));
    }
}
