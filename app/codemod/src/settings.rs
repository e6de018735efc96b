//! What is settled before a port begins: the SDK version and the value of every option, given or by default.

use crate::handlers::known_fields;
use crate::order::Map;
use crate::ported::Options;
use crate::recipe::Target;
use crate::sdk::Requirement;
use guide::{ConfigField, FrontMatter, OptionField};

/// What a guide's front matter says of its target.
#[derive(Clone, Debug, Default)]
pub(crate) struct TargetFacts {
    /// The member of a project's compute modes, in capitals.
    pub(crate) mode: String,
    /// The number that it usually has.
    pub(crate) number: Option<i64>,
    /// Heads of the modules that only the target's machine has.
    pub(crate) modules: Vec<String>,
    pub(crate) bridge: Option<guide::Bridge>,
    autoload: Option<Requirement>,
    /// What brings the vendor's builds of the frameworks.
    pub(crate) software: Option<String>,
    pub(crate) options: Vec<OptionField>,
    pub(crate) fields: Vec<ConfigField>,
}

impl TargetFacts {
    /// Adds what one more guide of the target says; where two say different things, the first counts.
    pub(crate) fn add(&mut self, target: &str, front: &FrontMatter) -> Result<(), String> {
        if let Some(mode) = &front.mode {
            self.mode.clone_from(&mode.name);
            self.number = mode.number;
        } else if self.mode.is_empty() {
            self.mode = target.to_ascii_uppercase();
        }
        for module in &front.modules {
            if !self.modules.contains(module) {
                self.modules.push(module.clone());
            }
        }
        self.bridge = self.bridge.take().or_else(|| front.bridge.clone());
        self.software = self.software.take().or_else(|| front.software.clone());
        if let Some(autoload) = &front.autoload {
            self.autoload = Some(Requirement::parse(autoload)?);
        }
        for option in &front.options {
            for (_, requirement) in &option.defaults {
                Requirement::parse(requirement)?;
            }
            self.options.retain(|o| o.name != option.name);
            self.options.push(option.clone());
        }
        for field in &front.fields {
            self.fields.retain(|f| f.name != field.name);
            self.fields.push(field.clone());
        }
        Ok(())
    }

    /// Takes over what another target says, where this one is silent.
    pub(crate) fn extend(&mut self, base: &Self) {
        self.modules.extend(base.modules.iter().filter(|m| !self.modules.contains(m)).cloned().collect::<Vec<_>>());
        self.bridge = self.bridge.take().or_else(|| base.bridge.clone());
        self.software = self.software.take().or_else(|| base.software.clone());
        self.autoload = self.autoload.take().or_else(|| base.autoload.clone());
        let own: Vec<OptionField> = std::mem::replace(&mut self.options, base.options.clone());
        for option in own {
            self.options.retain(|o| o.name != option.name);
            self.options.push(option);
        }
        let own: Vec<ConfigField> = std::mem::replace(&mut self.fields, base.fields.clone());
        for field in own {
            self.fields.retain(|f| f.name != field.name);
            self.fields.push(field);
        }
    }
}

/// The value that an option has for an SDK version when nobody chose.
pub(crate) fn default_of<'o>(option: &'o OptionField, sdk: &str) -> &'o str {
    let fits = |requirement: &str| Requirement::parse(requirement).is_ok_and(|r| r.admits(sdk));
    option.defaults.iter().find(|(_, requirement)| fits(requirement)).map_or("off", |(value, _)| value)
}

/// SDK, options and target of one port.
pub(crate) struct Settings<'a> {
    pub(crate) sdk: String,
    pub(crate) target: &'a TargetFacts,
    /// Every option's value.
    pub(crate) values: Map<String, String>,
    /// `import torch` loads what the target needs.
    pub(crate) autoload: bool,
}

impl<'a> Settings<'a> {
    pub(crate) fn new(target: &'a Target, options: &Options) -> Self {
        let sdk = options.sdk.clone().or_else(|| target.sdks.last().cloned()).unwrap_or_default();
        let mut values = Map::new();
        values.extend(target.facts.options.iter().map(|o| (o.name.clone(), default_of(o, &sdk).to_owned())));
        values.extend(options.options.clone());
        let autoload = target.facts.autoload.as_ref().is_some_and(|r| r.admits(&sdk));
        Self { sdk, target: &target.facts, values, autoload }
    }

    /// Whether an option has a value.
    pub(crate) fn is(&self, option: &str, value: &str) -> bool {
        self.values.get(option).is_some_and(|v| v == value)
    }

    /// A text of a field with the options' values in it; for a `bool`, `on` and `off` are Python's.
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

    /// A field's expression where the mode is read by `mode`: beside it, or the fallback where the project has no such
    /// field and no place for it.
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
            _ => Some(crate::rewrite::requote(&self.filled(&field.fallback, &field.annotation), quote)),
        }
    }
}

/// Which fields the project has or gets: asked often, so found out once a round.
pub(crate) fn fields_in_project<'v, 't: 'v>(
    settings: &Settings<'_>,
    views: impl Iterator<Item = &'v crate::facts::FileView<'t>> + Clone,
    modes: Option<&crate::facts::modes::Modes>,
    may_add: bool,
) -> Vec<String> {
    known_fields(&settings.target.fields, views, modes, may_add)
}
