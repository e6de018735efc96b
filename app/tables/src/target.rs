//! A target, as described in its guide's front matter.

use crate::launch::{JoinedBy, LaunchTable};
use guide::{ProgramTerms, Variable};
use serde::{Deserialize, Serialize};
use sorting::SortedMap;

/// The data about a target that a launch needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TargetTable {
    /// Its name on the command line.
    pub name: String,
    /// The releases that the guide covers, the newest last.
    pub sdks: Vec<String>,
    /// Environment variables whose values depend on the release.
    pub variables: SortedMap<String, Variable>,
    /// The table `[launch]`.
    pub launch: LaunchTable,
    /// The target's member among a project's compute modes.
    pub member: String,
}

/// The data about a target that a port needs to pass its project to a launch: small, and separate from the rest, so
/// that a program which writes no scripts does not contain the tables.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outline {
    /// Its name on the command line.
    pub name: String,
    /// Its label in a list.
    pub label: String,
    /// Names of the user fields in its table.
    pub fields: Vec<String>,
    /// Its requirements for a program.
    pub program: ProgramTerms,
    /// The target's member among a project's compute modes.
    pub member: String,
    /// Whether the program joins its processes itself.
    pub joins: bool,
    /// Whether its programs receive the batch through an option of the target's own.
    pub own_batch: bool,
}

impl TargetTable {
    /// Its outline.
    #[must_use]
    pub fn outline(&self) -> Outline {
        Outline {
            name: self.name.clone(),
            label: self.launch.label.clone(),
            fields: self.launch.field.iter().map(|field| field.name.clone()).collect(),
            program: self.launch.program.clone(),
            member: self.member.clone(),
            joins: self.launch.joined_by == JoinedBy::Program,
            own_batch: self.launch.own_batch,
        }
    }
}

impl Outline {
    /// Requirements for a program that is launched there.
    #[must_use]
    pub fn program_terms(&self) -> ProgramTerms {
        ProgramTerms { member: self.member.clone(), joins: self.joins, ..self.program.clone() }
    }
}
