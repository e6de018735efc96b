//! The parts of a guide. Every part that can have an error has its line in the file.

use crate::sdk::Requirement;
use serde::{Deserialize, Serialize};
use sorting::SortedMap;

/// A whole guide page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guide {
    /// File stem, e.g. `hpu`; first half of every recipe id.
    pub name: String,
    /// Path for messages, e.g. `guides/hpu.md`.
    pub path: String,
    /// The part between the `+++` lines.
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
    /// The target's usual name; [`FrontMatter::target_name`] has the default.
    pub name: Option<String>,
    /// One sentence for lists and search engines.
    pub description: String,
    /// SDK versions that the page covers, oldest first; the last is the default.
    pub sdks: Vec<String>,
    /// Position in the navigation.
    pub order: u32,
    /// The target whose recipes are applied before this target's own.
    pub extends: Option<String>,
    /// Line of [`FrontMatter::extends`] in the file, from 1; 0 without one.
    pub extends_line: usize,
    /// Line of [`FrontMatter::target`].
    pub target_line: usize,
    /// Line of the first of [`FrontMatter::sdks`].
    pub sdks_line: usize,
    /// The target's member among a project's compute modes; by default the target's id in capitals.
    pub mode: Option<Mode>,
    /// Further names for compute modes in projects.
    pub compute_modes: Vec<String>,
    /// Modules that only the target's machine has.
    pub modules: Vec<String>,
    /// The module that `{{bridge}}` refers to, and the attribute under which a class stores it.
    pub bridge: Option<Bridge>,
    /// The device that programs for several devices choose; none if the target is not a device of PyTorch.
    pub device: Option<TorchDevice>,
    /// The name that is true where a program runs on the target, if that is no device of PyTorch's.
    pub switch: Option<Switch>,
    /// SDK versions, as a requirement, in which `import torch` loads what the target needs.
    pub autoload: Option<String>,
    /// The software that includes the vendor's builds of PyTorch and TensorFlow, as words that follow “comes with”.
    pub software: Option<String>,
    /// What starts a program on the target, if Jupyter can't: `poprun`.
    pub launcher: Option<String>,
    /// Target-specific terms that the ledger reads.
    pub ledger: LedgerTerms,
    /// Environment variables whose values depend on the release.
    pub variables: SortedMap<String, Variable>,
    /// Named options of the recipes.
    pub options: Vec<OptionField>,
    /// Fields that a port adds to the project's configuration.
    pub fields: Vec<ConfigField>,
}

impl FrontMatter {
    /// The usual name of the target of some guides: the first that one of them specifies, otherwise its id in capitals.
    #[must_use]
    pub fn target_name<'a>(target: &str, pages: impl IntoIterator<Item = &'a FrontMatter>) -> String {
        let own = pages.into_iter().filter(|front| front.target.as_deref() == Some(target));
        own.filter_map(|front| front.name.clone()).next().unwrap_or_else(|| target.to_ascii_uppercase())
    }
}

/// The target's requirements for a program that is launched on it: `[launch.program]`, and facts from the rest of the
/// front matter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProgramTerms {
    /// A module without which a program can't run there, or not in several processes.
    pub import: Option<String>,
    /// Names whose import provides a process's rank by MPI.
    pub mpi: Vec<String>,
    /// The setting of a ported project that has to agree with the launch.
    pub switch: Option<String>,
    /// The target's member among a project's compute modes.
    #[serde(skip)]
    pub member: String,
    /// Whether the program joins its processes itself.
    #[serde(skip)]
    pub joins: bool,
}

/// `[variable.NAME]`: the values of an environment variable of the target, by release.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variable {
    /// Its values.
    pub value: Vec<VariableValue>,
}

/// A value of an environment variable, and its releases.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VariableValue {
    /// Its meaning, such as `eager`.
    pub is: String,
    /// The releases, as a requirement; empty for all.
    #[serde(default)]
    pub sdk: String,
    /// The value.
    pub value: String,
    /// The reason, on one line.
    #[serde(default)]
    pub why: String,
    /// Its source.
    #[serde(default)]
    pub source: String,
}

impl Variable {
    /// The value with a meaning in a release; none if the release has no such value.
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

/// `device = { type = "hpu", … }`: the target as a device of PyTorch, beside others in one program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TorchDevice {
    /// PyTorch's `device.type`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Python that is true where there is such a device, by release; it raises nothing where there is none.
    pub available: Vec<DeviceTest>,
}

/// `[switch]`: the name that is true where a program runs on a target which compiles the training step, in one program
/// for all devices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    /// `USE_IPU`.
    pub name: String,
    /// Python that assigns it, at the top of each file that asks.
    pub definition: String,
    /// The imports that the definition needs.
    pub imports: Vec<String>,
}

/// A test for a device, and its releases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceTest {
    /// The releases, as a requirement; empty for all.
    #[serde(default)]
    pub sdk: String,
    /// A Python expression.
    pub test: String,
}

impl TorchDevice {
    /// The test for a release.
    #[must_use]
    pub fn available_in(&self, sdk: &str) -> Option<&str> {
        self.available.iter().find(|test| crate::sdk::sdk_admits(&test.sdk, sdk)).map(|test| test.test.as_str())
    }
}

/// `[ledger]`: the names by which a ported program shows how many samples an optimizer step sees, and its types.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LedgerTerms {
    /// The module whose import means that the step is compiled: it uses the type of its weights, and accumulates and
    /// averages itself.
    pub compiler: Option<String>,
    /// The target's own loader class, and the position of its batch size among the positional arguments, from 0.
    pub loader: Option<OwnLoader>,
    /// The call whose argument is the number of batches that are accumulated.
    pub accumulation: Option<String>,
    /// The call whose argument is the number of replicas.
    pub replicas: Option<String>,
    /// The call whose argument is the number of optimizer steps in one call of the model.
    pub device_iterations: Option<String>,
    /// The call whose argument determines how accumulated gradients are combined: a name that ends in `Sum` or `Mean`.
    pub reduction: Option<String>,
    /// The module that combines several processes into one training, and what the number of replicas is then called.
    pub processes: Option<Processes>,
    /// The default type of `torch.autocast` on the target's device: `{ device = "hpu", dtype = "bfloat16" }`.
    pub autocast: Option<AutocastType>,
}

/// `loader = { class = "pkg.DataLoader", batch_size = 2 }`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnLoader {
    /// Its qualified name.
    pub class: String,
    /// The position of the batch size among its positional arguments, from 0.
    pub batch_size: usize,
}

/// `processes = { module = "pkg", text = "replicas of the launcher", split = "processes of the launcher" }`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Processes {
    /// The module whose import means this.
    pub module: String,
    /// What the ledger shows as the number of replicas.
    pub text: String,
    /// The same for a batch of a loader other than the target's own, which the replicas of a process divide.
    #[serde(default)]
    pub split: Option<String>,
}

/// `autocast = { device = "hpu", dtype = "bfloat16" }`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AutocastType {
    /// PyTorch's name of the device.
    pub device: String,
    /// The type.
    pub dtype: String,
}

/// `[option.lazy]`: a choice for the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionField {
    /// Line in the file.
    pub line: usize,
    /// `lazy`.
    pub name: String,
    /// Its allowed values.
    pub kind: OptionKind,
    /// Values with the SDK versions (a requirement, empty for all) for which each is the default; the first that
    /// matches.
    pub defaults: Vec<(String, String)>,
    /// Its label in a form.
    pub label: String,
    /// The field of a launch with the same meaning, if its name is different.
    pub launch: Option<String>,
}

impl OptionField {
    /// The default for an SDK version: the first that matches, otherwise `off`.
    #[must_use]
    pub fn default_for(&self, sdk: &str) -> &str {
        let fits = |requirement: &str| Requirement::parse(requirement).is_ok_and(|r| r.admits(sdk));
        self.defaults.iter().find(|(_, requirement)| fits(requirement)).map_or("off", |(value, _)| value)
    }
}

/// The allowed values of an option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OptionKind {
    /// One of these.
    OneOf(Vec<String>),
    /// A whole number above 0.
    Number,
    /// `ask`, or the shapes of a step's inputs, such as `3x224x224,scalar`.
    Shapes,
}

impl OptionKind {
    /// The value for shapes that the program asks for when it starts.
    pub const ASK: &'static str = "ask";

    /// Whether the option allows a value.
    #[must_use]
    pub fn admits(&self, value: &str) -> bool {
        match self {
            Self::OneOf(values) => values.iter().any(|v| v == value),
            Self::Number => {
                value.len() < 10 && value.bytes().all(|b| b.is_ascii_digit()) && value.bytes().any(|b| b != b'0')
            }
            Self::Shapes => value == Self::ASK || value.split(',').all(is_shape),
        }
    }
}

impl std::fmt::Display for OptionKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::OneOf(values) => f.write_str(&values.join(" or ")),
            Self::Number => f.write_str("an integer above 0"),
            Self::Shapes => f.write_str("`ask`, or a shape for each input, such as 3x224x224,scalar"),
        }
    }
}

fn is_shape(shape: &str) -> bool {
    let is_size = |size: &str| OptionKind::Number.admits(size);
    shape == "scalar" || shape.split('x').all(is_size)
}

/// `[field.lazy_mode]`: a field that a port adds next to the project's compute mode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigField {
    /// `lazy_mode`.
    pub name: String,
    /// Its Python type, `bool`.
    pub annotation: String,
    /// Its default, a template of `{{option.NAME}}` and text; `on` and `off` become `True` and `False` for a `bool`.
    pub default: String,
    /// The expression to use if the project has no place for a field, also a template.
    pub fallback: String,
}

/// A link to another site in a section's source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citation {
    /// The text of the link, as it is in the source's text.
    pub text: String,
    /// Its address, `https://…`.
    pub url: String,
}

/// A heading with its contents up to the next heading of the same or a higher level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// Anchor: the `{#id}` of the heading, otherwise the slug of its text. Second half of the recipe id.
    pub id: String,
    /// Heading text.
    pub title: String,
    /// 2 or 3.
    pub level: u8,
    /// Line of the heading, from 1.
    pub line: usize,
    /// First paragraph as plain text: the reason shown next to a hunk.
    pub reason: String,
    /// The text after `Holds for:` in a paragraph that begins with it, as plain text; empty if there is none.
    pub holds_for: String,
    /// The text after `Source:` in a paragraph that begins with it, as plain text; empty if there is none.
    pub source: String,
    /// The links to other sites in that paragraph.
    pub citations: Vec<Citation>,
    /// The text after `Remedy:` in a paragraph that begins with it, as plain text: what to do about the messages of
    /// [`Section::says`]; empty if there is none.
    pub remedy: String,
    /// Lines of error messages that the section answers.
    pub says: Vec<Sample>,
    /// Lines of logs that no section answers, for the tests.
    pub says_nothing: Vec<Sample>,
    /// The section's rules; see [`Section::is_recipe`].
    pub rules: Vec<Rule>,
    /// What the section defines, in order.
    pub definitions: Vec<Definition>,
    /// The section's examples, in order.
    pub examples: Vec<Example>,
}

/// A line of a `says` fence: the part of an error message that is always the same, with [`Sample::VARIES`] for text that
/// varies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// Line in the file.
    pub line: usize,
    /// The line's text, trimmed.
    pub text: String,
}

impl Sample {
    /// Stands for any text, also none, within a line.
    pub const VARIES: char = '…';
    /// A sample has at least this many characters that don't vary: fewer occur in unrelated logs.
    pub const SHORTEST: usize = 12;
}

/// A `diff rule` fence and its `where` fence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// Line of the fence's first body line.
    pub line: usize,
    /// The fence's body. Empty for a handler.
    pub patch: String,
    /// `unsafe` is in the info string.
    pub is_unsafe: bool,
    /// `manual` is in the info string: report only.
    pub manual: bool,
    /// `shared` is in the info string: correct for every compute mode, so never put under a guard.
    pub shared: bool,
    /// `neutral` is in the info string: the new code is right on every device, so the agnostic style writes it as it is.
    pub neutral: bool,
    /// `sdk="…"`, a comma-separated list of comparisons, all of which must be true.
    pub sdk: Option<String>,
    /// `stops=step`: a match inside a training step prevents the step from being ported, with the section as the
    /// reason.
    pub stops_step: bool,
    /// `diff rule step`: the patch refers to the parts of the training step.
    pub of_step: bool,
    /// `says=NAME`: the message that is reported instead of the section's title and reason.
    pub says: Option<String>,
    /// `style=in-place,branch,agnostic`: only in these styles; empty for all. Without `in-place`, applied as written (not lifted).
    pub styles: Vec<String>,
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

/// Something that a fence defines and that is used by its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    /// Its name, unique among those of its kind; for a signature the function's dotted name.
    pub name: String,
    /// Line of the fence; for a signature its own.
    pub line: usize,
    /// Its kind and contents.
    pub what: Defined,
}

/// What a fence defines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Defined {
    /// `names NAME`: a list of names.
    Names(Vec<ListedName>),
    /// `words NAME`: words by which a training program is analysed; they are built into the program that analyses it.
    Words(Vec<String>),
    /// `message NAME`: a sentence for the user with `{{slots}}`, on one line.
    Message(String),
    /// `python block NAME`: Python with `{{slots}}`, `{{each}}` and `{{if}}`.
    Block(String),
    /// `python module NAME`: a module that new code imports; a port of a project without it has it as a new file.
    Module(String),
    /// `conditions NAME`: named conditions.
    Conditions(Vec<Condition>),
    /// A line of `signatures`: the parameters that may be passed by position, in order.
    Signature(Vec<String>),
}

/// A line of a `names` fence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedName {
    /// The entry, `torch.optim.SGD`.
    pub name: String,
    /// The comment after its `#`; empty if there is none.
    pub remark: String,
}

/// The kind of an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExampleKind {
    /// Input of a pair.
    Before,
    /// Expected output of the `before` above it.
    After,
    /// Must not change.
    Unchanged,
}

/// A code fence that the tests run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// Its part of the example.
    pub kind: ExampleKind,
    /// Fence language: `python`, `text`, …
    pub language: String,
    /// Body.
    pub text: String,
    /// Line of the fence's first body line.
    pub line: usize,
    /// `unsafe` is in the info string of a `before` or `unchanged`: ported with unsafe edits.
    #[serde(default)]
    pub is_unsafe: bool,
    /// `style=…` of the fence; in-place by default.
    pub style: Option<String>,
    /// `sdk=…` of the fence; the newest by default.
    pub sdk: Option<String>,
    /// `file=…`: the path under which the example is ported; `example.py` by default.
    pub file: Option<String>,
    /// `option=NAME=VALUE` of the fence; several are separated by spaces.
    pub option: Option<String>,
}

/// One run of the engine that a section shows: an input and the expected result.
///
/// The words of a pair may be on either of its fences, and one `before` may have several `after`s (for several SDKs or
/// styles), so this is the form for running and printing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case<'a> {
    /// The `before` or `unchanged` fence.
    pub input: &'a Example,
    /// The `after` fence; none for `unchanged`.
    pub after: Option<&'a Example>,
    /// Ported with unsafe edits.
    pub is_unsafe: bool,
    /// Style; in-place by default.
    pub style: Option<&'a str>,
    /// SDK; the newest by default.
    pub sdk: Option<&'a str>,
    /// Path to port under; `example.py` by default.
    pub file: Option<&'a str>,
    /// `NAME=VALUE`.
    pub option: Option<&'a str>,
}

impl Section {
    /// Whether it changes programs or reports something about them: it has rules, or a module that ports add.
    #[must_use]
    pub fn is_recipe(&self) -> bool {
        !self.rules.is_empty() || self.adds_module()
    }

    /// Whether it has a module that ports add.
    #[must_use]
    pub fn adds_module(&self) -> bool {
        self.definitions.iter().any(|definition| matches!(definition.what, Defined::Module(_)))
    }

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
    /// The result that the engine should return: the `after`'s body, or the input's own.
    pub fn expected(&self) -> &str {
        &self.after.unwrap_or(self.input).text
    }
}
