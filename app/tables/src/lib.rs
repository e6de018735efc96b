//! The tables of launches: a target's requirements, in the table `[launch]` of its guide's front matter
//! ([`TargetTable`]), and the description of a machine, in a site file ([`Site`]).
//!
//! [`read_targets`] and [`read_site`] parse and check them. A program has its own tables built in: the build script of
//! `launch` reads them, so an invalid one fails the build, and packs them as plain data.
//!
//! `launch` defines the meaning of texts and conditions when a script is planned.

mod command;
mod field;
mod launch;
mod lint;
#[cfg(feature = "read")]
mod read;
mod scheduler;
mod site;
mod target;
mod when;

pub use command::{CommandEntry, Phrase, Reasoned, SetEntry, Texts, Words};
pub use field::{COMMON, Field, Kind, OPTIONS};
pub use launch::{Collected, Counting, JoinedBy, LaunchTable, LauncherEntry, Note, Refusal, Setup, Tasks};
pub use lint::{
    Beside, CompiledWords, Foreign, Lint, Shares, Starter, WrongBackend, WrongLauncher, WrongName, WrongVariable,
};
#[cfg(feature = "read")]
pub use read::{Fault, read_site, read_targets};
pub use scheduler::Scheduler;
pub use site::{Monitor, Site, SiteSetting, Status};
pub use target::{Outline, TargetTable};
pub use when::When;
