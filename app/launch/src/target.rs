//! The targets: each guide with a `[launch]` table is one.

use crate::table::{Field, JoinedBy, LaunchTable};
use guide::Variable;
use serde::{Deserialize, Deserializer, de};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
}

pub(crate) use embedded::SITES;

/// A target: the accelerator, and how its processes are started.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target(usize);

/// What a guide's front matter says of a target.
#[derive(Deserialize)]
struct Front {
    target: String,
    mode: Option<guide::Mode>,
    /// The releases that the guide knows, the newest last.
    #[serde(default)]
    sdks: Vec<String>,
    /// What variables can be, by release.
    #[serde(default)]
    variable: BTreeMap<String, Variable>,
    launch: LaunchTable,
}

static KNOWN: LazyLock<Vec<Front>> = LazyLock::new(|| {
    // Each is read by a test, so a broken one is never part of a build that passed.
    embedded::GUIDES.iter().filter_map(|(_, text)| read(text).ok()).collect()
});

/// A guide's front matter. What its table of launches doesn't say is said by that of the target that it extends.
fn read(text: &str) -> Result<Front, toml::de::Error> {
    let mut own: toml::Table = toml::from_str(text)?;
    if let Some(base) = own.get("extends").and_then(toml::Value::as_str)
        && let Some((_, text)) = embedded::GUIDES.iter().find(|(name, _)| *name == base)
    {
        let mut table = launch_of(&mut toml::from_str(text)?);
        table.extend(launch_of(&mut own));
        own.insert("launch".to_string(), toml::Value::Table(table));
    }
    toml::Value::Table(own).try_into()
}

fn launch_of(front: &mut toml::Table) -> toml::Table {
    match front.remove("launch") {
        Some(toml::Value::Table(table)) => table,
        _ => toml::Table::new(),
    }
}

impl Target {
    /// All of them, in the order of the guides.
    pub fn all() -> impl Iterator<Item = Target> {
        (0..KNOWN.len()).map(Target)
    }

    /// The target of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Target> {
        KNOWN.iter().position(|known| known.target == name).map(Target)
    }

    /// Its word on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        &KNOWN[self.0].target
    }

    /// What it is called in a list.
    #[must_use]
    pub fn label(self) -> &'static str {
        &KNOWN[self.0].launch.label
    }

    /// What its table asks the user.
    #[must_use]
    pub fn fields(self) -> &'static [Field] {
        &KNOWN[self.0].launch.field
    }

    /// What can start its processes, as far as it can be chosen.
    pub fn launchers(self) -> impl Iterator<Item = &'static str> {
        KNOWN[self.0].launch.launcher.iter().filter(|entry| !entry.label.is_empty()).map(|entry| &*entry.name)
    }

    /// What a program has to have to be launched there.
    #[must_use]
    pub fn program_terms(self) -> guide::ProgramTerms {
        let Front { mode, launch, target, .. } = &KNOWN[self.0];
        guide::ProgramTerms {
            member: mode.as_ref().map_or(target, |mode| &mode.name).to_lowercase(),
            joins: launch.joined_by == JoinedBy::Program,
            ..launch.program.clone()
        }
    }

    /// Environment variables whose values depend on the release.
    pub(crate) fn variables(self) -> &'static BTreeMap<String, Variable> {
        &KNOWN[self.0].variable
    }

    pub(crate) fn table(self) -> &'static LaunchTable {
        &KNOWN[self.0].launch
    }

    /// The newest release that the guide knows.
    pub(crate) fn newest(self) -> &'static str {
        KNOWN[self.0].sdks.last().map_or("", String::as_str)
    }
}

impl Default for Target {
    /// The first.
    fn default() -> Target {
        Target(0)
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Target {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Target, D::Error> {
        let name = String::deserialize(deserializer)?;
        Target::named(&name).ok_or_else(|| {
            let known: Vec<&str> = Target::all().map(Target::name).collect();
            de::Error::custom(format!("`{}` is none of {}", name.escape_debug(), known.join(", ")))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_reads() {
        for (name, text) in embedded::GUIDES {
            read(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        assert_eq!(Target::all().count(), embedded::GUIDES.len());
    }
}
