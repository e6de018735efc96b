//! Front matter: the TOML between two `+++` lines at the top of a page.
//!
//! [`Page`] is the form that authors write, [`FrontMatter`] the form for the engine. They differ where a page should be
//! convenient to write (`[option.lazy]`), where something is checked across keys, and where an error needs a line
//! number. A table without such needs is one type for both: it derives `Deserialize` with `deny_unknown_fields` and is
//! a field of the two.

use crate::error::Faults;
use crate::model::{
    Bridge, ConfigField, FrontMatter, LedgerTerms, Mode, OptionField, OptionKind, Switch, TorchDevice, Variable,
};
use crate::sdk::{compare, is_version};
use serde::Deserialize;
use serde::de::IgnoredAny;
use sorting::SortedMap;
use toml::Spanned;

const FENCE: &str = "+++";

/// Splits a page into its front matter and the byte offset at which the body begins.
///
/// # Errors
/// What is wrong with the fences.
pub fn split(text: &str) -> Result<(&str, usize), &'static str> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().unwrap_or("");
    match first.trim_end() {
        FENCE => {}
        "---" => {
            return Err("front matter is TOML between two `+++` lines, not `key: value` between two `---`: write \
                        `title = \"…\"`");
        }
        _ => return Err("a guide must begin with front matter: `+++`, then `title = \"…\"`, then `+++`"),
    }
    let mut end = first.len();
    for line in lines {
        if line.trim_end() == FENCE {
            return Ok((&text[first.len()..end], end + line.len()));
        }
        end += line.len();
    }
    Err("the front matter has no closing `+++` line")
}

/// Whether a Markdown file is meant to be a guide. Other programs also read front matter, so a target or a rule tells.
/// A guide may still have errors, also in these words.
#[must_use]
pub fn is_guide(text: &str) -> bool {
    let mut lines = text.strip_prefix('\u{feff}').unwrap_or(text).lines();
    let first = lines.next().unwrap_or_default().trim_end();
    let is_target = |line: &str| line.strip_prefix("target").is_some_and(|rest| rest.trim_start().starts_with('='));
    let mut in_front = first == FENCE;
    let tells = |line: &str| {
        in_front &= line.trim_end() != FENCE;
        line.starts_with("```diff rule") || (in_front && is_target(line))
    };
    (first == FENCE || first == "---") && lines.any(tells)
}

/// Parses the front matter, whose first line is line 2 of the file.
pub(crate) fn read(text: &str, faults: &mut Faults) -> FrontMatter {
    let line_of = |offset: usize| line_of(text, offset);
    match toml::from_str::<Page>(text) {
        Ok(page) => page.checked(line_of, faults),
        Err(error) => {
            faults.add(error.span().map_or(1, |span| line_of(span.start)), error.message());
            FrontMatter::default()
        }
    }
}

/// The line in the file of an offset in its front matter.
pub(crate) fn line_of(text: &str, offset: usize) -> usize {
    2 + text[..offset.min(text.len())].matches('\n').count()
}

/// The keys of a page. Options and fields are sorted by name; [`in_page_order`] restores the page's order.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    #[serde(default)]
    title: String,
    target: Option<Spanned<String>>,
    name: Option<String>,
    #[serde(default)]
    description: String,
    #[serde(default)]
    sdks: Vec<Spanned<String>>,
    #[serde(default)]
    order: u32,
    extends: Option<Spanned<String>>,
    mode: Option<Spanned<Mode>>,
    #[serde(default)]
    compute_modes: Vec<String>,
    #[serde(default)]
    modules: Vec<String>,
    bridge: Option<Bridge>,
    device: Option<TorchDevice>,
    switch: Option<Switch>,
    autoload: Option<Spanned<String>>,
    software: Option<String>,
    launcher: Option<String>,
    #[serde(default)]
    ledger: LedgerTerms,
    #[serde(default)]
    variable: SortedMap<String, Variable>,
    /// For [`crate::pages`].
    #[serde(rename = "facts")]
    _facts: Option<IgnoredAny>,
    /// How a training is launched on the target: the crate `launch` reads it from the same front matter.
    #[serde(rename = "launch")]
    _launch: Option<IgnoredAny>,
    #[serde(default)]
    option: SortedMap<Spanned<String>, OptionTable>,
    #[serde(default)]
    field: SortedMap<Spanned<String>, FieldTable>,
}

/// `[option.lazy]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OptionTable {
    label: Spanned<String>,
    values: Values,
    default: Spanned<String>,
    /// Defaults for specific SDK versions; the first that matches.
    #[serde(default)]
    default_for: Vec<DefaultFor>,
    launch: Option<String>,
}

/// `["on", "off"]`, `"number"` or `"shapes"`.
#[derive(Deserialize)]
#[serde(untagged, expecting = "`values` must be a list of strings, \"number\" or \"shapes\"")]
enum Values {
    OneOf(Vec<String>),
    Any(AnyValue),
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum AnyValue {
    Number,
    Shapes,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DefaultFor {
    sdk: Spanned<String>,
    value: Spanned<String>,
}

/// `[field.lazy_mode]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FieldTable {
    r#type: String,
    default: String,
    fallback: String,
}

impl Page {
    fn checked(self, line_of: impl Fn(usize) -> usize, faults: &mut Faults) -> FrontMatter {
        if self.title.is_empty() {
            faults.add(1, "the front matter has no title: add a line `title = \"…\"`");
        }
        if self.target.is_none()
            && (self.name.is_some() || self.extends.is_some() || !self.option.is_empty() || !self.field.is_empty())
        {
            faults.add(1, "`name`, `extends`, `option` and `field` require a `target`");
        }
        for name in self.target.iter().chain(&self.extends).filter(|name| !is_word(name.get_ref())) {
            let message = format!("target `{}` is not a name of lowercase letters and digits", name.get_ref());
            faults.add(line_of(name.span().start), message);
        }
        for sdk in self.sdks.iter().filter(|sdk| !is_version(sdk.get_ref())) {
            faults.add(line_of(sdk.span().start), format!("`{}` in sdks is not a version such as 1.20", sdk.get_ref()));
        }
        if let Some(pair) = self.sdks.windows(2).find(|pair| compare(pair[0].get_ref(), pair[1].get_ref()).is_ge()) {
            let message = "sdks must be sorted from oldest to newest; the last is the default";
            faults.add(line_of(pair[1].span().start), message);
        }
        if let Some(mode) = self.mode.as_ref().filter(|mode| !is_constant(&mode.get_ref().name)) {
            let message = format!("mode `{}` is not a name in capitals, such as `GPU`", mode.get_ref().name);
            faults.add(line_of(mode.span().start), message);
        }
        if let Some((range, fault)) = self.autoload.as_ref().and_then(|r| Some((r, requirement_fault(r.get_ref())?))) {
            faults.add(line_of(range.span().start), fault);
        }
        let options = in_page_order(self.option).map(|(name, table)| table.checked(name, &line_of, faults)).collect();
        let fields = in_page_order(self.field).map(|(name, table)| table.named(name.into_inner())).collect();
        FrontMatter {
            title: self.title,
            target_line: self.target.as_ref().map_or(0, |name| line_of(name.span().start)),
            sdks_line: self.sdks.first().map_or(0, |sdk| line_of(sdk.span().start)),
            target: self.target.map(Spanned::into_inner),
            name: self.name,
            description: self.description,
            sdks: self.sdks.into_iter().map(Spanned::into_inner).collect(),
            order: self.order,
            extends_line: self.extends.as_ref().map_or(0, |name| line_of(name.span().start)),
            variables: self.variable,
            extends: self.extends.map(Spanned::into_inner),
            mode: self.mode.map(Spanned::into_inner),
            compute_modes: self.compute_modes,
            modules: self.modules,
            bridge: self.bridge,
            device: self.device,
            switch: self.switch,
            autoload: self.autoload.map(Spanned::into_inner),
            software: self.software,
            launcher: self.launcher,
            ledger: self.ledger,
            options,
            fields,
        }
    }
}

impl OptionTable {
    fn checked(self, name: Spanned<String>, line_of: impl Fn(usize) -> usize, faults: &mut Faults) -> OptionField {
        let line = line_of(name.span().start);
        let name = name.into_inner();
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_') {
            faults.add(line, format!("option `{name}` is not a name of lowercase letters, digits and `_`"));
        }
        if self.label.get_ref().is_empty() {
            faults.add(line_of(self.label.span().start), format!("option `{name}` has no label for the form"));
        }
        let kind = match self.values {
            Values::OneOf(values) => OptionKind::OneOf(values),
            Values::Any(AnyValue::Number) => OptionKind::Number,
            Values::Any(AnyValue::Shapes) => OptionKind::Shapes,
        };
        let mut defaults = Vec::new();
        for DefaultFor { sdk, value } in self.default_for {
            if let Some(message) = requirement_fault(sdk.get_ref()) {
                faults.add(line_of(sdk.span().start), message);
            }
            defaults.push((value, sdk.into_inner()));
        }
        defaults.push((self.default, String::new()));
        for (value, _) in defaults.iter().filter(|(value, _)| !kind.admits(value.get_ref())) {
            let message = format!("the default `{}` is not a value of option `{name}`", value.get_ref());
            faults.add(line_of(value.span().start), message);
        }
        let defaults = defaults.into_iter().map(|(value, sdk)| (value.into_inner(), sdk)).collect();
        OptionField { line, name, kind, defaults, label: self.label.into_inner(), launch: self.launch }
    }
}

impl FieldTable {
    fn named(self, name: String) -> ConfigField {
        ConfigField { name, annotation: self.r#type, default: self.default, fallback: self.fallback }
    }
}

fn in_page_order<T>(tables: SortedMap<Spanned<String>, T>) -> impl Iterator<Item = (Spanned<String>, T)> {
    let mut tables: Vec<_> = tables.into_iter().collect();
    sorting::by_key(&mut tables, |(name, _)| name.span().start);
    tables.into_iter()
}

/// The error in a list of comparisons such as `>=1.19,<1.20`.
pub(crate) fn requirement_fault(range: &str) -> Option<String> {
    range.split(',').map(str::trim).find_map(|comparison| {
        let version = comparison.trim_start_matches(['<', '>', '=']);
        let operator = &comparison[..comparison.len() - version.len()];
        let is_comparison = ["<", "<=", "==", ">=", ">"].contains(&operator) && is_version(version.trim());
        (!is_comparison).then(|| format!("`{comparison}` in sdk is not a comparison such as >=1.20 or <1.20"))
    })
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
}

fn is_constant(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

#[cfg(test)]
mod tests;
