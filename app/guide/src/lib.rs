//! Porting guides: Markdown in, a typed [`Guide`] out, and its prose as HTML.
//!
//! A guide is a page for readers and a set of recipes for the engine. Headings and prose are plain Markdown; all
//! machine-readable words are in the front matter or in the info string of a fence:
//!
//! - a section (`##` or `###`) with a `diff rule` fence is a recipe, named `<file stem>#<anchor>`;
//! - a `where` fence directly below a rule contains its conditions, one per line;
//! - `names`, `message`, `python block`, `conditions` and `signatures` define what rules and the engine use by name;
//! - `python module` is a file that a port adds to a project that lacks it, if new code imports it;
//! - `python before` and the `python after` below it are an example of what all recipes of the page do together;
//!   `python unchanged` is code that they must not change;
//! - `says` contains lines of error messages that the section answers, and a paragraph `Remedy:` says what to do;
//! - all other fences are for readers.
//!
//! [`Guide::parse`] rejects unknown words and reports their lines, for all errors of a page at once: a misspelt word
//! must not silently disable a rule. The *meaning* of a patch or a condition is not known here: that is `codemod`'s.

#[cfg(test)]
#[macro_use]
extern crate pretty_assertions;

mod conditions;
mod definition;
mod error;
mod fence;
mod fill;
mod front;
pub mod html;
mod model;
mod packed;
mod pages;
mod parse;
mod samples;
pub mod sdk;

pub use error::GuideError;
pub use fill::fill_after;
pub use front::{is_guide, split as split_front_matter};
pub use model::{
    AutocastType, Bridge, Case, Citation, Condition, ConfigField, Defined, Definition, DeviceTest, Example,
    ExampleKind, FrontMatter, Guide, LedgerTerms, ListedName, Mode, OptionField, OptionKind, OwnLoader, Processes,
    Rule, Sample, Section, Switch, TorchDevice,
};
pub use model::{ProgramTerms, Variable, VariableValue};
pub use packed::{for_download, pack, unpack};
pub use pages::{Page, pages, place};
