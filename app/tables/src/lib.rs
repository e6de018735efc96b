//! The tables of launches: what a target needs, in the table `[launch]` of its guide's front matter ([`TargetTable`]), and
//! what a machine is like, in a site file ([`Site`]).
//!
//! [`read_targets`] and [`read_site`] read them from TOML and check them. A program has its own tables built in: the build
//! script of `launch` reads them, so a broken one fails the build, and packs them as plain data.
//!
//! What the texts and conditions mean when a script is planned is `launch`'s to know.

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
pub use lint::{Beside, CompiledWords, Lint, Shares, Starter, WrongBackend, WrongName, WrongVariable};
#[cfg(feature = "read")]
pub use read::{Fault, read_site, read_targets};
pub use scheduler::Scheduler;
pub use site::{Monitor, Site, SiteSetting, Status};
pub use target::{Outline, TargetTable};
pub use when::When;
