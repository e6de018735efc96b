//! Variables and commands of a table.

use crate::when::When;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// An environment variable: set to a value, or asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SetEntry {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Option<String>,
    /// What its value stands for; the value, its reason and its source are the release's, of `[variable.NAME]`.
    pub is: Option<String>,
    /// What the user is asked for where nothing has set the variable before.
    pub ask: Option<String>,
    /// When.
    pub when: When,
    /// One line of why.
    pub why: String,
    /// Where that is written.
    pub source: String,
    /// Whether the script alone uses it.
    pub inner: bool,
}

/// A command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CommandEntry {
    /// The launcher that it belongs to; all when empty.
    pub by: String,
    /// When.
    pub when: When,
    /// One line of why.
    pub why: String,
    /// Where that is written; `{site}` where the site says.
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
    /// The words; one text is split at blanks.
    pub words: Texts,
    /// The reason; none where the words need none and stand under a condition alone.
    #[serde(default)]
    pub why: String,
    /// When they stand there.
    #[serde(default)]
    pub when: When,
    /// Where that is written; the command's own source when absent.
    #[serde(default)]
    pub source: String,
    /// What stands in the explanation in place of the words.
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

/// Texts that commands take by name.
pub type Words = BTreeMap<String, Texts>;

// TOML tells the forms of a value apart by its type; packed data, which doesn't say its types, by a number in front.

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
