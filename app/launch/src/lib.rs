//! Launch scripts.
//!
//! A [`Request`] describes what a user wants: a target, an entry point, the number of devices. A [`Site`] describes a
//! machine as data: a TOML file in `sites/`, or the user's own. [`plan`] makes a [`Plan`] of the two, or reports which
//! field has a problem; it never guesses a value that only the user can know. [`render`] writes the plan as a shell
//! script. Words are typed until then ([`Word`]), so quoting happens once, in one place, and user input is never
//! interpreted by the shell. [`lint`] is the reverse: it checks a script that somebody else wrote.
//!
//! [`form`] is the same as a form, field by field: the page shows it, and its values become a [`Request`].
//!
//! [`Twin`] is the command for a run of original and port side by side on the CPU.
//!
//! Nothing here reads or writes a file, so the command and a page produce the same bytes.

#[cfg(test)]
#[macro_use]
extern crate pretty_assertions;

mod directives;
mod draft;
mod embedded;
pub mod form;
mod given;
mod lint;
mod plan;
mod render;
mod request;
mod site;
mod target;
mod twin;
mod word;

pub use directives::{directives, mark};
pub use draft::{plan, said};
pub use lint::{Finding, Hunk, Linted, Started, lint, nearest, refused, started_programs};
pub use plan::{Asked, Flag, Plan, Resources, Setting, Step};
pub use render::{explained, render};
pub use request::{Problem, Request, Script, joins_of};
pub use site::{read_site, site_named, sites};
pub use tables::{COMMON, Field, Kind, Monitor, OPTIONS, Scheduler, Site, Status, Texts, Words};
pub use target::Target;
pub use twin::Twin;
pub use word::{Part, Word, split_words};
