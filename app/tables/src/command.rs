//! Variables and commands of a table.

use crate::when::When;
use serde::{Deserialize, Deserializer, Serialize};
use sorting::SortedMap;

/// An environment variable: set to a value, or provided by the user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SetEntry {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Option<String>,
    /// The meaning of its value; the value, its reason and its source depend on the release, from `[variable.NAME]`.
    pub is: Option<String>,
    /// The request to the user if the variable is not set.
    pub ask: Option<String>,
    /// Condition.
    pub when: When,
    /// The reason, on one line.
    pub why: String,
    /// Its source.
    pub source: String,
    /// Whether only the script itself uses it.
    pub inner: bool,
}

/// A command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CommandEntry {
    /// Its launcher; all if empty.
    pub by: String,
    /// Condition.
    pub when: When,
    /// The reason, on one line.
    pub why: String,
    /// Its source; `{site}` for the site's.
    pub source: String,
    /// Its words, in order.
    pub words: Vec<Phrase>,
}

/// Words of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Phrase {
    /// Words that need no reason.
    Bare(String),
    /// Words with their reason.
    Reasoned(Reasoned),
}

/// Words with their reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reasoned {
    /// The words; a single text is split at spaces.
    pub words: Texts,
    /// The reason; none if the words need none and only have a condition.
    #[serde(default)]
    pub why: String,
    /// The condition for including them.
    #[serde(default)]
    pub when: When,
    /// Its source; by default the command's own.
    #[serde(default)]
    pub source: String,
    /// The text in the explanation that replaces the words.
    #[serde(default)]
    pub shown: String,
}

/// One text, or several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Texts {
    /// One.
    One(String),
    /// Several.
    Several(Vec<String>),
}

impl Texts {
    /// All of them.
    #[must_use]
    pub fn all(&self) -> &[String] {
        match self {
            Texts::One(text) => std::slice::from_ref(text),
            Texts::Several(texts) => texts,
        }
    }
}

/// Texts that commands use by name.
pub type Words = SortedMap<String, Texts>;

// TOML distinguishes the forms of a value by type; packed data, which does not contain types, by a leading number.

impl<'de> Deserialize<'de> for Phrase {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Phrase, D::Error> {
        #[derive(Deserialize)]
        #[serde(remote = "Phrase", untagged)]
        enum Written {
            Bare(String),
            Reasoned(Reasoned),
        }
        #[derive(Deserialize)]
        #[serde(remote = "Phrase")]
        enum Packed {
            Bare(String),
            Reasoned(Reasoned),
        }
        if deserializer.is_human_readable() {
            Written::deserialize(deserializer)
        } else {
            Packed::deserialize(deserializer)
        }
    }
}

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Texts, D::Error> {
        #[derive(Deserialize)]
        #[serde(remote = "Texts", untagged)]
        enum Written {
            One(String),
            Several(Vec<String>),
        }
        #[derive(Deserialize)]
        #[serde(remote = "Texts")]
        enum Packed {
            One(String),
            Several(Vec<String>),
        }
        if deserializer.is_human_readable() {
            Written::deserialize(deserializer)
        } else {
            Packed::deserialize(deserializer)
        }
    }
}
