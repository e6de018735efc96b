//! Porting guides: Markdown in, a typed [`Guide`] out, and its prose as HTML.
//!
//! A guide is a page people read and a set of recipes machines run. Headings and prose are plain Markdown; every machine
//! word stands in the front matter or in the info string of a fence:
//!
//! - a section (`##` or `###`) with a `diff rule` fence is a recipe, named `<file stem>#<anchor>`;
//! - a `where` fence right below a rule holds its conditions, one a line;
//! - `names`, `message`, `python block`, `conditions` and `signatures` define what rules and the engine ask for by name;
//! - `python before` and the `python after` below it are an example of what all recipes of the page do together;
//!   `python unchanged` is code that they must leave alone;
//! - every other fence is there to be looked at.
//!
//! [`Guide::parse`] refuses what it does not know and says so with the line, for all faults of a page at once: a misspelt
//! word must not turn a rule off in silence. What a patch or a condition *means* is not known here: that is `codemod`'s.

mod conditions;
mod definition;
mod error;
mod fence;
mod fill;
mod front;
pub mod html;
mod model;
mod packed;
mod parse;
pub mod sdk;

pub use error::GuideError;
pub use fill::fill_after;
pub use front::split as split_front_matter;
pub use model::{
    AutocastType, Bridge, Case, Citation, Condition, ConfigField, Defined, Definition, Example, ExampleKind,
    FrontMatter, Guide, LedgerTerms, ListedName, Mode, OptionField, OptionKind, OwnLoader, Processes, Rule, Section,
};
pub use model::{ProgramTerms, Variable, VariableValue};
pub use packed::{for_download, pack, unpack};
