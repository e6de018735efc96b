//! The settings of a port: the SDK version and the value of every option, set or by default.

use crate::definitions::{Definitions, Values};
use crate::ported::{Options, SourceFile};
use guide::OptionKind;
use sorting::SortedMap;
use training::TargetFacts;
use training::requirements::{Pin, pins};

/// SDK, options and target of one port.
pub(crate) struct Settings<'a> {
    pub(crate) sdk: String,
    pub(crate) target: &'a TargetFacts,
    /// The target's id.
    pub(crate) target_id: String,
    /// The named definitions of the target's guides.
    pub(crate) definitions: &'a Definitions,
    /// Every option's value.
    pub(crate) values: SortedMap<String, String>,
    /// Versions that the project pins.
    pub(crate) pins: Vec<Pin>,
    /// `import torch` loads what the target needs.
    pub(crate) autoload: bool,
}

impl<'a> Settings<'a> {
    /// `of` are the facts, SDK versions and definitions of the target's guides.
    pub(crate) fn new<'f>(
        of: (&'a TargetFacts, &[String], &'a Definitions),
        options: &Options,
        files: impl Iterator<Item = &'f SourceFile>,
    ) -> Self {
        let (target, sdks, definitions) = of;
        let sdk = options.sdk.clone().or_else(|| sdks.last().cloned()).unwrap_or_default();
        let mut values = SortedMap::new();
        values.extend(target.options.iter().map(|o| (o.name.clone(), o.default_for(&sdk).to_owned())));
        values.extend(options.options.clone());
        let autoload = target.autoload.as_ref().is_some_and(|r| r.admits(&sdk));
        let pins = pins(files.map(|f| (f.path.as_str(), f.text.as_str())));
        Self { sdk, target, target_id: options.target.clone(), definitions, values, pins, autoload }
    }

    /// Whether an option has a value.
    pub(crate) fn is(&self, option: &str, value: &str) -> bool {
        self.values.get(option).is_some_and(|v| v == value)
    }

    /// The value of an environment variable in the port's release, by `NAME.MEANING`.
    pub(crate) fn variable(&self, name: &str) -> Option<&'a str> {
        let (name, meaning) = name.split_once('.')?;
        self.target.variables.get(name)?.value_for(meaning, &self.sdk).map(|value| value.value.as_str())
    }

    /// Values for every block: `option.NAME`, as text and as whether it is on or, a number, not the default, and
    /// `variable.NAME.MEANING`.
    pub(crate) fn facts(&self) -> Values {
        let mut facts = Values::default();
        for (name, value) in &self.values {
            let declared = self.target.options.iter().find(|option| option.name == *name);
            let is_other = declared.is_some_and(|o| o.kind == OptionKind::Number && o.default_for(&self.sdk) != value);
            let name = format!("option.{name}");
            facts = facts.text(&name, value.as_str()).flag(&name, value == "on" || is_other);
        }
        for (name, variable) in &self.target.variables {
            for meaning in variable.value.iter().map(|value| &value.is) {
                let name = format!("{name}.{meaning}");
                if let Some(value) = self.variable(&name) {
                    facts = facts.text(&format!("variable.{name}"), value);
                }
            }
        }
        facts
    }

    /// A text of a field with the options' values in it; for a `bool`, `on` and `off` become Python's.
    pub(crate) fn filled(&self, template: &str, annotation: &str) -> String {
        let mut out = template.to_owned();
        for (name, value) in self.values.iter() {
            let value = match (annotation, value.as_str()) {
                ("bool", "on") => "True",
                ("bool", "off") => "False",
                (_, value) => value,
            };
            out = out.replace(&format!("{{{{option.{name}}}}}"), value);
        }
        out
    }

    /// A field's expression if the mode is read by `mode`: next to it, or the fallback if the project has no such field
    /// and no place for it.
    pub(crate) fn field(
        &self,
        name: &str,
        mode: Option<&str>,
        quote: char,
        in_project: &dyn Fn(&str) -> bool,
    ) -> Option<String> {
        let field = self.target.fields.iter().find(|f| f.name == name)?;
        match mode {
            Some(mode) if in_project(name) => {
                Some(mode.rsplit_once('.').map_or_else(|| name.to_owned(), |(owner, _)| format!("{owner}.{name}")))
            }
            _ => Some(python::strings::requote(&self.filled(&field.fallback, &field.annotation), quote)),
        }
    }
}

/// The target's fields that the project has, or gets because it has a place for them: determined once per round, since
/// it is queried often.
pub(crate) fn fields_in_project<'v, 't: 'v>(
    settings: &Settings<'_>,
    views: impl Iterator<Item = &'v training::FileView<'t>> + Clone,
    modes: Option<&training::modes::Modes>,
    may_add: bool,
) -> Vec<String> {
    let gets = may_add && modes.is_some_and(|m| views.clone().any(|v| m.field(v).is_some()));
    let has = |name: &str| views.clone().any(|v| v.assigns(name));
    let names = settings.target.fields.iter().map(|f| &f.name);
    names.filter(|name| gets || has(name)).cloned().collect()
}
