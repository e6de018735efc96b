//! Porting guides: Markdown in, a typed [`Guide`] out.

mod model;

pub use model::{Condition, Example, ExampleKind, FrontMatter, Guide, Rule, Section};
