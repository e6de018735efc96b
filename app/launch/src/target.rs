//! The targets: each guide with a `[launch]` table is one.

use crate::embedded::{OUTLINES, TARGETS};
use guide::Variable;
use sorting::SortedMap;
use std::fmt;
use tables::{Field, LaunchTable};

/// A target: the accelerator, and how its processes are started.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target(usize);

impl Target {
    /// All of them, in the order of the guides.
    pub fn all() -> impl Iterator<Item = Target> {
        (0..OUTLINES.len()).map(Target)
    }

    /// The target of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Target> {
        OUTLINES.iter().position(|known| known.name == name).map(Target)
    }

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        &OUTLINES[self.0].name
    }

    /// Whether its table has a user field of that name.
    #[must_use]
    pub fn has_field(self, name: &str) -> bool {
        OUTLINES[self.0].fields.iter().any(|field| field == name)
    }

    /// Its requirements for programs.
    #[must_use]
    pub fn program_terms(self) -> guide::ProgramTerms {
        OUTLINES[self.0].program_terms()
    }

    /// Its label in a list.
    #[must_use]
    pub fn label(self) -> &'static str {
        &OUTLINES[self.0].label
    }

    /// Whether its programs receive the batch through an option of the target's own.
    pub(crate) fn has_own_batch(self) -> bool {
        OUTLINES[self.0].own_batch
    }

    /// The user fields in its table.
    #[must_use]
    pub fn fields(self) -> &'static [Field] {
        &self.table().field
    }

    /// The launchers for its processes that can be chosen.
    pub fn launchers(self) -> impl Iterator<Item = &'static str> {
        self.table().launcher.iter().filter(|entry| !entry.label.is_empty()).map(|entry| &*entry.name)
    }

    /// Environment variables whose values depend on the release.
    pub(crate) fn variables(self) -> &'static SortedMap<String, Variable> {
        &TARGETS[self.0].variables
    }

    pub(crate) fn table(self) -> &'static LaunchTable {
        &TARGETS[self.0].launch
    }

    /// The newest release in the guide.
    pub(crate) fn newest(self) -> &'static str {
        TARGETS[self.0].sdks.last().map_or("", String::as_str)
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
