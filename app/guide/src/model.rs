//! The parts of a guide. Every part that can be at fault knows its line in the file.

use crate::sdk::Requirement;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A whole guide page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guide {
    /// File stem, e.g. `hpu`; first half of every recipe id.
    pub name: String,
    /// Path for messages, e.g. `guides/hpu.md`.
    pub path: String,
    /// What stands between the `+++` lines.
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
    /// What people call the target; [`FrontMatter::target_name`] has what they call it without.
    pub name: Option<String>,
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
    /// Further names under which projects list what they compute on.
    pub compute_modes: Vec<String>,
    /// Modules that only the target's machine has.
    pub modules: Vec<String>,
    /// The module that `{{bridge}}` stands for, and the attribute under which a class keeps it.
    pub bridge: Option<Bridge>,
    /// SDK versions, as a requirement, whose `import torch` loads what the target needs by itself.
    pub autoload: Option<String>,
    /// What brings the vendor's builds of PyTorch and TensorFlow, in words that follow “comes with”.
    pub software: Option<String>,
    /// What the ledger reads in the target's own words.
    pub ledger: LedgerTerms,
    /// Environment variables whose values depend on the release.
    pub variables: BTreeMap<String, Variable>,
    /// Named options of the recipes.
    pub options: Vec<OptionField>,
    /// Fields that a port adds to the project's configuration.
    pub fields: Vec<ConfigField>,
}

impl FrontMatter {
    /// What people call the target of some guides: the first name that one of them gives it, else its id in capitals.
    #[must_use]
    pub fn target_name<'a>(target: &str, pages: impl IntoIterator<Item = &'a FrontMatter>) -> String {
        let own = pages.into_iter().filter(|front| front.target.as_deref() == Some(target));
        own.filter_map(|front| front.name.clone()).next().unwrap_or_else(|| target.to_ascii_uppercase())
    }
}

/// What a target wants of a program that is launched on it: `[launch.program]`, and what follows from the rest of the
/// front matter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProgramTerms {
    /// A module without which a program can't run there, or not in several processes.
    pub import: Option<String>,
    /// Names whose import tells a process its rank by MPI.
    pub mpi: Vec<String>,
    /// The target's member among a project's compute modes.
    #[serde(skip)]
    pub member: String,
    /// Whether the program joins its processes itself.
    #[serde(skip)]
    pub joins: bool,
}

/// `[variable.NAME]`: what an environment variable of the target can be, by release.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variable {
    /// Its values.
    pub value: Vec<VariableValue>,
}

/// A value of an environment variable, and the releases for which it holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VariableValue {
    /// What it stands for, such as `eager`.
    pub is: String,
    /// The releases, as a requirement; empty for all.
    #[serde(default)]
    pub sdk: String,
    /// The value.
    pub value: String,
    /// One line of why.
    #[serde(default)]
    pub why: String,
    /// Where that is written.
    #[serde(default)]
    pub source: String,
}

impl Variable {
    /// The value that stands for something in a release; none where the release has no such thing.
    #[must_use]
    pub fn value_for(&self, is: &str, sdk: &str) -> Option<&VariableValue> {
        self.value.iter().find(|value| value.is == is && crate::sdk::sdk_admits(&value.sdk, sdk))
    }
}

/// `mode = { name = "IPU", number = 5 }`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mode {
    /// Name of the enum's member, in capitals.
    pub name: String,
    /// The number that it usually has.
    pub number: Option<i64>,
}

/// `bridge = { module = "a.b.c", name = "c" }`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bridge {
    /// Dotted name of the module.
    pub module: String,
    /// Its usual local name.
    pub name: String,
}

/// `[ledger]`: what a ported program says in the target's words of how many samples an optimizer step sees, and in which type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LedgerTerms {
    /// The module whose import says that the step is compiled: it computes in the type of its weights, and accumulates and
    /// averages by itself.
    pub compiler: Option<String>,
    /// The target's own loader class, and the place of its batch size among the positional arguments, from 0.
    pub loader: Option<OwnLoader>,
    /// The call whose argument is the number of batches that are accumulated.
    pub accumulation: Option<String>,
    /// The call whose argument is the number of replicas.
    pub replicas: Option<String>,
    /// The call whose argument is the number of optimizer steps that one call of the model makes.
    pub device_iterations: Option<String>,
    /// The call whose argument says what becomes of accumulated gradients: a name that ends in `Sum` or `Mean`.
    pub reduction: Option<String>,
    /// The module that makes one training of several processes, and what the number of replicas is then called.
    pub processes: Option<Processes>,
    /// The type of `torch.autocast` on the target's device where none is given: `{ device = "hpu", dtype = "bfloat16" }`.
    pub autocast: Option<AutocastType>,
}

/// `loader = { class = "pkg.DataLoader", batch_size = 2 }`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnLoader {
    /// Its qualified name.
    pub class: String,
    /// The place of the batch size among its positional arguments, from 0.
    pub batch_size: usize,
}

/// `processes = { module = "pkg", text = "replicas of the launcher" }`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Processes {
    /// The module whose import says so.
    pub module: String,
    /// What the ledger shows as the number of replicas.
    pub text: String,
}

/// `autocast = { device = "hpu", dtype = "bfloat16" }`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AutocastType {
    /// The device as PyTorch names it.
    pub device: String,
    /// The type.
    pub dtype: String,
}

/// `[option.lazy]`: a choice that is the user's.
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
    /// The field of a launch that means the same, where that has another name.
    pub launch: Option<String>,
}

impl OptionField {
    /// The value that it has for an SDK version when nobody chose: the first default that fits, else `off`.
    #[must_use]
    pub fn default_for(&self, sdk: &str) -> &str {
        let fits = |requirement: &str| Requirement::parse(requirement).is_ok_and(|r| r.admits(sdk));
        self.defaults.iter().find(|(_, requirement)| fits(requirement)).map_or("off", |(value, _)| value)
    }
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
            Self::Number => f.write_str("an integer above 0"),
            Self::Text => f.write_str("a text without quotes"),
        }
    }
}

/// `[field.lazy_mode]`: a field that a port adds beside the project's compute mode.
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
    /// What the section defines, in order.
    pub definitions: Vec<Definition>,
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
    /// `stops=step`: a match inside a training step keeps the step from being ported, with the section as the reason.
    pub stops_step: bool,
    /// `diff rule step`: the patch is over the parts of the training step.
    pub of_step: bool,
    /// `says=NAME`: what is reported, in place of the section's title and reason.
    pub says: Option<String>,
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

/// One line of a `where` or a `conditions` fence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// Line in the file.
    pub line: usize,
    /// The line's text, trimmed.
    pub text: String,
    /// The lines that are indented below `any of:`.
    pub any_of: Vec<Condition>,
}

/// Something that a fence defines and that is asked for by its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    /// Its name, unique among those of its kind; of a signature the function's dotted name.
    pub name: String,
    /// Line of the fence; of a signature its own.
    pub line: usize,
    /// What it is.
    pub what: Defined,
}

/// What a fence defines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Defined {
    /// `names NAME`: a table of names.
    Names(Vec<ListedName>),
    /// `words NAME`: words by which a training program is read; they are built into the program that reads it.
    Words(Vec<String>),
    /// `message NAME`: a sentence for the user with `{{slots}}`, on one line.
    Message(String),
    /// `python block NAME`: Python with `{{slots}}`, `{{each}}` and `{{if}}`.
    Block(String),
    /// `conditions NAME`: conditions under a name.
    Conditions(Vec<Condition>),
    /// A line of `signatures`: the parameters that may be given by place, in order.
    Signature(Vec<String>),
}

/// A line of a `names` fence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedName {
    /// What stands in the list, `torch.optim.SGD`.
    pub name: String,
    /// What stands behind its `#`; empty without one.
    pub remark: String,
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
