//! A target: what its guide's front matter says of it.

use crate::launch::{JoinedBy, LaunchTable};
use guide::{ProgramTerms, Variable};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a launch needs of a target.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TargetTable {
    /// Its word on the command line.
    pub name: String,
    /// The releases that the guide knows, the newest last.
    pub sdks: Vec<String>,
    /// Environment variables whose values depend on the release.
    pub variables: BTreeMap<String, Variable>,
    /// The table `[launch]`.
    pub launch: LaunchTable,
    /// The target's member among a project's compute modes.
    pub member: String,
}

/// What a port needs of a target to hand its project on to a launch: small, and apart from the rest, so that a program
/// which writes no scripts doesn't have the tables.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outline {
    /// Its word on the command line.
    pub name: String,
    /// What it is called in a list.
    pub label: String,
    /// Names of the fields that its table asks for.
    pub fields: Vec<String>,
    /// What it wants of a program.
    pub program: ProgramTerms,
    /// The target's member among a project's compute modes.
    pub member: String,
    /// Whether the program joins its processes itself.
    pub joins: bool,
    /// Whether its programs are told the batch by an option of the target's own.
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
    /// What a program has to have to be launched there.
    #[must_use]
    pub fn program_terms(&self) -> ProgramTerms {
        ProgramTerms { member: self.member.clone(), joins: self.joins, ..self.program.clone() }
    }
}
