//! The parts of a guide. Every part that can be at fault knows its line in the file.

use serde::{Deserialize, Serialize};

/// A whole guide page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guide {
    /// File stem, e.g. `hpu`; first half of every recipe id.
    pub name: String,
    /// Path for messages, e.g. `guides/hpu.md`.
    pub path: String,
    /// What stands between the `---` lines.
    pub front: FrontMatter,
    /// Level-2 and level-3 sections in page order.
    pub sections: Vec<Section>,
}

/// Page-wide settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrontMatter {
    /// Page title.
    pub title: String,
    /// Target id; none for pages about Portolan itself.
    pub target: Option<String>,
    /// One sentence for lists and search engines.
    pub description: String,
    /// SDK versions the page knows, oldest first; the last is the default.
    pub sdks: Vec<String>,
    /// Place in the navigation.
    pub order: u32,
    /// The target whose recipes come before this target's own.
    pub extends: Option<String>,
    /// Line of [`FrontMatter::extends`] in the file, from 1; 0 without one.
    pub extends_line: usize,
    /// The target's member among a project's compute modes; the target's id in capitals when absent.
    pub mode: Option<Mode>,
    /// Modules that only the target's machine has.
    pub modules: Vec<String>,
    /// The module that `{{bridge}}` stands for, and the attribute under which a class keeps it.
    pub bridge: Option<Bridge>,
    /// SDK versions, as a requirement, whose `import torch` loads what the target needs by itself.
    pub autoload: Option<String>,
    /// What brings the vendor's builds of PyTorch and TensorFlow, in words that follow “comes with”.
    pub software: Option<String>,
    /// Named options of the recipes.
    pub options: Vec<OptionField>,
    /// Fields that a port adds to the project's configuration.
    pub fields: Vec<ConfigField>,
}

/// `mode: IPU = 5`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mode {
    /// Name of the enum's member, in capitals.
    pub name: String,
    /// The number that it usually has.
    pub number: Option<i64>,
}

/// `bridge: habana_frameworks.torch.core as htcore`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bridge {
    /// Dotted name of the module.
    pub module: String,
    /// Its usual local name.
    pub name: String,
}

/// `option lazy: on, off | on <1.20, off | lazy mode`: a choice that is the user's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionField {
    /// Line in the file.
    pub line: usize,
    /// `lazy`.
    pub name: String,
    /// What it may be.
    pub kind: OptionKind,
    /// Values with the SDK versions (a requirement, empty for all) for which each is the default; the first that fits.
    pub defaults: Vec<(String, String)>,
    /// What it is called in a form.
    pub label: String,
}

/// What an option may be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OptionKind {
    /// One of these.
    OneOf(Vec<String>),
    /// A whole number above 0.
    Number,
    /// Any text without quotes and line ends.
    Text,
}

impl OptionKind {
    /// Whether a value is one of the option's.
    #[must_use]
    pub fn admits(&self, value: &str) -> bool {
        match self {
            Self::OneOf(values) => values.iter().any(|v| v == value),
            Self::Number => {
                value.len() < 10 && value.bytes().all(|b| b.is_ascii_digit()) && value.bytes().any(|b| b != b'0')
            }
            Self::Text => !value.contains(['"', '\'', '\\', '\n', '\r']),
        }
    }
}

impl std::fmt::Display for OptionKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::OneOf(values) => f.write_str(&values.join(" or ")),
            Self::Number => f.write_str("a whole number above 0"),
            Self::Text => f.write_str("a text without quotes"),
        }
    }
}

/// `field lazy_mode: bool = {{option.lazy}} | …`: a field that a port adds beside the project's compute mode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigField {
    /// `lazy_mode`.
    pub name: String,
    /// Python's type of it, `bool`.
    pub annotation: String,
    /// Its default, a template of `{{option.NAME}}` and text; `on` and `off` become `True` and `False` for a `bool`.
    pub default: String,
    /// The expression that stands for it where the project has no place for a field, a template too.
    pub fallback: String,
}

/// A link to another site in what a section says of its source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citation {
    /// The words that are the link, as they stand in the source's text.
    pub text: String,
    /// Its address, `https://…`.
    pub url: String,
}

/// A heading with what follows it up to the next heading of the same or a higher level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// Anchor: the `{#id}` of the heading, else the slug of its text. Second half of the recipe id.
    pub id: String,
    /// Heading text.
    pub title: String,
    /// 2 or 3.
    pub level: u8,
    /// Line of the heading, from 1.
    pub line: usize,
    /// First paragraph as plain text: the reason shown beside a hunk.
    pub reason: String,
    /// What a paragraph that begins with `Holds for:` says behind it, as plain text; empty without one.
    pub holds_for: String,
    /// What a paragraph that begins with `Source:` says behind it, as plain text; empty without one.
    pub source: String,
    /// The links to other sites in that paragraph.
    pub citations: Vec<Citation>,
    /// The section's rules. A section with rules is a recipe.
    pub rules: Vec<Rule>,
    /// The section's examples, in order.
    pub examples: Vec<Example>,
}

/// A `diff rule` fence and the `where` fence beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// Line of the fence's first body line.
    pub line: usize,
    /// The fence's body. Empty for a handler.
    pub patch: String,
    /// `unsafe` stands in the info string.
    pub is_unsafe: bool,
    /// `manual` stands in the info string: report only.
    pub manual: bool,
    /// `shared` stands in the info string: right for every compute mode, so never put under a guard.
    pub shared: bool,
    /// `sdk="…"`, a comma-separated list of comparisons, all of which must hold.
    pub sdk: Option<String>,
    /// `style=in-place|branch`: only in that style, and taken as written (not lifted).
    pub style: Option<String>,
    /// `framework=torch|tensorflow|lightning`.
    pub framework: Option<String>,
    /// `option=NAME=VALUE`: only when the named option has that value.
    pub option: Option<String>,
    /// `rule=NAME`: the Rust handler of that name.
    pub handler: Option<String>,
    /// Conditions of the `where` fence that follows the rule.
    pub conditions: Vec<Condition>,
}

/// One line of a `where` fence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// Line in the file.
    pub line: usize,
    /// The line's text, trimmed.
    pub text: String,
}

/// What an example shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExampleKind {
    /// Input of a pair.
    Before,
    /// Expected output of the `before` above it.
    After,
    /// Must stay as it is.
    Unchanged,
}

/// A code fence that the tests run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// Which part it plays.
    pub kind: ExampleKind,
    /// Fence language: `python`, `text`, …
    pub language: String,
    /// Body.
    pub text: String,
    /// Line of the fence's first body line.
    pub line: usize,
    /// `unsafe` stands in the info string of a `before` or `unchanged`: ported with unsafe edits.
    #[serde(default)]
    pub is_unsafe: bool,
    /// `style=…` of the fence; in-place when absent.
    pub style: Option<String>,
    /// `sdk=…` of the fence; the newest when absent.
    pub sdk: Option<String>,
    /// `file=…`: the path the example is ported under; `example.py` when absent.
    pub file: Option<String>,
    /// `option=NAME=VALUE` of the fence.
    pub option: Option<String>,
}

/// One run of the engine that a section shows: an input, and what should become of it.
///
/// The words of a pair may stand on either of its fences, and one `before` may have several `after`s (for several SDKs or
/// styles), so this is the form to run and to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case<'a> {
    /// The `before` or `unchanged` fence.
    pub input: &'a Example,
    /// The `after` fence; none for `unchanged`.
    pub after: Option<&'a Example>,
    /// Ported with unsafe edits.
    pub is_unsafe: bool,
    /// Style; in-place when absent.
    pub style: Option<&'a str>,
    /// SDK; the newest when absent.
    pub sdk: Option<&'a str>,
    /// Path to port under; `example.py` when absent.
    pub file: Option<&'a str>,
    /// `NAME=VALUE`.
    pub option: Option<&'a str>,
}

impl Section {
    /// The section's examples as runs of the engine, in page order.
    pub fn cases(&self) -> Vec<Case<'_>> {
        let mut cases = Vec::new();
        let mut before = None;
        for example in &self.examples {
            let (input, after) = match example.kind {
                ExampleKind::Before => {
                    before = Some(example);
                    continue;
                }
                ExampleKind::Unchanged => (example, None),
                ExampleKind::After => match before {
                    Some(before) => (before, Some(example)),
                    None => continue,
                },
            };
            let result = after.unwrap_or(input);
            cases.push(Case {
                input,
                after,
                is_unsafe: input.is_unsafe,
                style: result.style.as_deref().or(input.style.as_deref()),
                sdk: result.sdk.as_deref().or(input.sdk.as_deref()),
                file: result.file.as_deref().or(input.file.as_deref()),
                option: result.option.as_deref().or(input.option.as_deref()),
            });
        }
        cases
    }
}

impl Case<'_> {
    /// What the engine should return: the `after`'s body, or the input's own.
    pub fn expected(&self) -> &str {
        &self.after.unwrap_or(self.input).text
    }
}
