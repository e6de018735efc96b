//! Launch scripts.
//!
//! A [`Request`] says what a user wants: a target, an entry point, how many devices. A [`Site`] says what a machine is
//! like, and is data: a TOML file in `sites/`, or one of the user's own. [`plan`] makes a [`Plan`] of the two, or says
//! at which field something is wrong; it never fills in a value that only the user can know. [`render`] writes the plan
//! as a shell script. Words are typed until then ([`Word`]), so quoting happens once, in one place, and nothing that
//! a user typed is ever read by the shell. [`lint`] goes the other way: it reads a script that somebody else wrote.
//!
//! [`form`] is the same as a form, field by field: the page shows it, and what is written into it becomes a [`Request`].
//!
//! [`Twin`] is the command for a run of original and port side by side on the CPU.
//!
//! Nothing here reads or writes a file, so the command and a page give the same bytes.

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
pub use lint::{Finding, Hunk, Linted, lint};
pub use plan::{Asked, Flag, Plan, Resources, Setting, Step};
pub use render::{explained, render};
pub use request::{Problem, Request, Script, joins_of};
pub use site::{read_site, site_named, sites};
pub use tables::{COMMON, Field, Kind, Monitor, OPTIONS, Scheduler, Site, Status, Texts, Words};
pub use target::Target;
pub use twin::Twin;
pub use word::{Part, Word, split_words};
