//! Porting guides: Markdown in, a typed [`Guide`] out, and its prose as HTML.
//!
//! A guide is a page people read and a set of recipes machines run. Headings and prose are plain Markdown; every machine
//! word stands in the front matter or in the info string of a fence:
//!
//! - a section (`##` or `###`) with a `diff rule` fence is a recipe, named `<file stem>#<anchor>`;
//! - a `where` fence right below a rule holds its conditions, one a line;
//! - `python before` and the `python after` below it are an example of what all recipes of the page do together;
//!   `python unchanged` is code that they must leave alone;
//! - every other fence is there to be looked at.
//!
//! [`Guide::parse`] refuses what it does not know and says so with the line, for all faults of a page at once: a misspelt
//! word must not turn a rule off in silence. What a patch or a condition *means* is not known here: that is `codemod`'s.

mod error;
mod fence;
mod fill;
mod front;
mod front_target;
pub mod html;
mod model;
mod packed;
mod parse;

pub use error::GuideError;
pub use fill::fill_after;
pub use model::{
    Bridge, Case, Citation, Condition, ConfigField, Example, ExampleKind, FrontMatter, Guide, Mode, OptionField,
    OptionKind, Rule, Section,
};
pub use packed::{pack, unpack};
