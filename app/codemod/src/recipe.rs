//! Recipes: sections of guides, compiled.

mod content;

use crate::condition::Condition;
use crate::handlers::{self, Handler};
use crate::order::{Map, Set};
use crate::patch::Patch;
use crate::sdk::{Requirement, compare, is_version};
use crate::settings::{TargetFacts, default_of};
use content::Content;
use guide::{Citation, Guide, OptionField, OptionKind};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The made-up target of the page that teaches recipes: checked like the others, offered to nobody.
const LESSON: &str = "tutorial";

/// All recipes of all targets.
#[derive(Clone)]
pub struct RecipeSet {
    pub(crate) targets: Map<String, Target>,
    hash: String,
}

/// The recipes of one target, in the order of its guides.
#[derive(Clone, Default)]
pub(crate) struct Target {
    pub(crate) title: String,
    pub(crate) sdks: Vec<String>,
    /// Those of a target that extends another are the other's.
    pub(crate) recipes: Vec<Arc<Recipe>>,
    pub(crate) facts: TargetFacts,
}

pub(crate) struct Recipe {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) reason: String,
    pub(crate) holds_for: String,
    pub(crate) source: String,
    pub(crate) citations: Vec<Citation>,
    pub(crate) rules: Vec<CompiledRule>,
}

pub(crate) struct CompiledRule {
    pub(crate) line: usize,
    pub(crate) is_unsafe: bool,
    pub(crate) manual: bool,
    pub(crate) shared: bool,
    pub(crate) sdk: Requirement,
    pub(crate) branch: Option<bool>,
    pub(crate) option: Option<(String, String)>,
    /// `torch`, `tensorflow` or `lightning`: only for files that import it.
    pub(crate) framework: Option<String>,
    pub(crate) body: Body,
    pub(crate) conditions: Vec<Condition>,
}

pub(crate) enum Body {
    Patch(Box<Patch>),
    Handler(&'static Handler),
}

/// What is wrong with a recipe, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecipeError {
    /// The guide, `guides/hpu.md`.
    pub path: String,
    /// Line in the guide.
    pub line: usize,
    /// What is wrong and what to do.
    pub message: String,
}

impl std::fmt::Display for RecipeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

impl std::error::Error for RecipeError {}

/// A recipe as lists and the page show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecipeInfo {
    /// `hpu#model-to-device`.
    pub id: String,
    /// Target id.
    pub target: String,
    /// Heading of its section.
    pub title: String,
    /// First paragraph of its section.
    pub reason: String,
    /// SDK versions of the target that at least one of its rules is for.
    pub sdks: Vec<String>,
    /// What its section says it holds for, in words.
    pub holds_for: String,
    /// What its section is drawn from.
    pub source: String,
    /// The links in that.
    pub citations: Vec<Citation>,
    /// Whether it only reports.
    pub manual: bool,
    /// Whether all its edits are unsafe.
    #[serde(rename = "unsafe")]
    pub is_unsafe: bool,
}

/// A target as the page offers it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetInfo {
    /// `hpu`.
    pub id: String,
    /// Title of its guide.
    pub title: String,
    /// SDK versions, oldest first; the last is the default.
    pub sdks: Vec<String>,
    /// Named options, in the order of the guides.
    pub options: Vec<TargetOption>,
}

/// A choice of the user's that recipes ask for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetOption {
    /// `zero`, as in `--option zero=3`.
    pub name: String,
    /// What a form calls it.
    pub label: String,
    /// What it may be.
    pub kind: OptionKind,
    /// Its value for each of the target's SDK versions when nobody chose, in the order of [`TargetInfo::sdks`].
    pub defaults: Vec<String>,
}

impl TargetInfo {
    /// Whether the guides speak of an SDK version: it is one of theirs, a correction of one (`1.23.1` of `1.23`), or was
    /// published between two of them.
    #[must_use]
    pub fn knows(&self, sdk: &str) -> bool {
        let (Some(oldest), Some(newest)) = (self.sdks.first(), self.sdks.last()) else { return false };
        let corrects = sdk.strip_prefix(newest.as_str()).is_some_and(|rest| rest.starts_with('.'));
        is_version(sdk) && compare(sdk, oldest).is_ge() && (compare(sdk, newest).is_le() || corrects)
    }

    /// The value of an option for an SDK version when nobody chose; `None` is the newest.
    #[must_use]
    pub fn default_of(&self, option: &TargetOption, sdk: Option<&str>) -> String {
        let at = sdk.and_then(|sdk| self.sdks.iter().position(|s| s == sdk)).unwrap_or(self.sdks.len().max(1) - 1);
        option.defaults.get(at).cloned().unwrap_or_default()
    }
}

impl RecipeSet {
    /// Compiles the recipes of guides; all faults are returned together.
    pub fn compile(guides: &[Guide]) -> Result<Self, Vec<RecipeError>> {
        let mut targets: Map<String, Target> = Map::new();
        let mut errors = Vec::new();
        let mut content = Content::default();
        let mut used: Set<&str> = Set::new();
        let mut extensions: Vec<(&Guide, &str, &str)> = Vec::new();
        for guide in guides {
            let Some(name) = &guide.front.target else { continue };
            let target = targets.get_or_default(name.clone());
            if target.title.is_empty() {
                target.title.clone_from(&guide.front.title);
            }
            if let Some(base) = &guide.front.extends {
                extensions.push((guide, name, base));
            }
            if let Err(message) = target.facts.add(name, &guide.front) {
                errors.push(RecipeError { path: guide.path.clone(), line: 2, message });
            }
            for sdk in &guide.front.sdks {
                if !target.sdks.contains(sdk) {
                    target.sdks.push(sdk.clone());
                }
            }
            for section in guide.sections.iter().filter(|s| !s.rules.is_empty()) {
                let mut recipe = Recipe {
                    id: format!("{}#{}", guide.name, section.id),
                    title: section.title.clone(),
                    reason: section.reason.clone(),
                    holds_for: section.holds_for.clone(),
                    source: section.source.clone(),
                    citations: section.citations.clone(),
                    rules: Vec::new(),
                };
                for rule in &section.rules {
                    content.rule(&recipe.id, rule);
                    match compile_rule(rule) {
                        Ok(compiled) => {
                            if let Body::Handler(handler) = &compiled.body {
                                used.insert(handler.name);
                            }
                            recipe.rules.push(compiled);
                        }
                        Err((line, message)) => {
                            errors.push(RecipeError { path: guide.path.clone(), line, message });
                        }
                    }
                }
                target.recipes.push(Arc::new(recipe));
            }
        }
        for (guide, name, base) in extensions {
            let fault = |message| RecipeError { path: guide.path.clone(), line: guide.front.extends_line, message };
            let Some(base) = targets.get(base).cloned() else {
                let known: Vec<&str> = targets.keys().map(|id| &**id).collect();
                errors.push(fault(format!(
                    "`extends: {base}` names no target of these guides; there are {}",
                    known.join(", ")
                )));
                continue;
            };
            if let Some(target) = targets.get_mut(name) {
                target.extend(base);
            }
        }
        for guide in guides {
            let target = guide.front.target.as_ref().and_then(|t| targets.get(t));
            errors.extend(target.into_iter().flat_map(|t| undeclared_options(guide, t)));
        }
        if errors.is_empty() { Ok(Self { targets, hash: content.hash() }) } else { Err(errors) }
    }

    /// The recipes that are built in.
    ///
    /// # Panics
    /// Never for a released build: the build and the tests compile the same guides.
    #[must_use]
    pub fn embedded() -> Self {
        match Self::compile(&embedded_guides()) {
            Ok(set) => set,
            Err(errors) => panic!("{}", errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")),
        }
    }

    /// SHA-256 of all rules, in hex.
    #[must_use]
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The targets that have recipes.
    #[must_use]
    pub fn targets(&self) -> Vec<TargetInfo> {
        self.targets
            .iter()
            .filter(|(id, _)| *id != LESSON)
            .map(|(id, target)| TargetInfo {
                id: id.clone(),
                title: target.title.clone(),
                sdks: target.sdks.clone(),
                options: target.facts.options.iter().map(|o| target.offer(o)).collect(),
            })
            .collect()
    }

    /// Every recipe, by target and in the order of the guides.
    #[must_use]
    pub fn recipes(&self) -> Vec<RecipeInfo> {
        self.targets
            .iter()
            .filter(|(id, _)| *id != LESSON)
            .flat_map(|(name, target)| {
                target.recipes.iter().map(|r| RecipeInfo {
                    id: r.id.clone(),
                    target: name.clone(),
                    title: r.title.clone(),
                    reason: r.reason.clone(),
                    sdks: target.sdks.iter().filter(|s| r.rules.iter().any(|r| r.sdk.admits(s))).cloned().collect(),
                    holds_for: r.holds_for.clone(),
                    source: r.source.clone(),
                    citations: r.citations.clone(),
                    manual: r.rules.iter().all(|r| r.manual),
                    is_unsafe: r.rules.iter().all(|r| r.is_unsafe),
                })
            })
            .collect()
    }

    /// Handlers that no guide of the set names.
    #[must_use]
    pub fn unnamed_handlers(&self) -> Vec<&'static str> {
        let named: Set<&str> = self
            .targets
            .values()
            .flat_map(|t| &t.recipes)
            .flat_map(|r| &r.rules)
            .filter_map(|r| match &r.body {
                Body::Handler(h) => Some(h.name),
                Body::Patch(_) => None,
            })
            .collect();
        handlers::all().iter().map(|h| h.name).filter(|n| !named.contains(n)).collect()
    }
}

impl Target {
    /// Takes the recipes of another target in front of its own.
    fn extend(&mut self, base: Self) {
        self.facts.extend(&base.facts);
        if self.sdks.is_empty() {
            self.sdks = base.sdks;
        }
        let own = std::mem::replace(&mut self.recipes, base.recipes);
        self.recipes.extend(own);
    }

    fn offer(&self, option: &OptionField) -> TargetOption {
        TargetOption {
            name: option.name.clone(),
            label: option.label.clone(),
            kind: option.kind.clone(),
            defaults: self.sdks.iter().map(|sdk| default_of(option, sdk).to_owned()).collect(),
        }
    }
}

/// Rules that ask for an option, or for a value of one, that no guide of the target declares.
fn undeclared_options(guide: &Guide, target: &Target) -> Vec<RecipeError> {
    let rules = guide.sections.iter().flat_map(|s| &s.rules);
    rules
        .filter_map(|rule| {
            let (name, value) = rule.option.as_deref()?.split_once('=')?;
            let declared = target.facts.options.iter().find(|o| o.name == name);
            let message = match declared {
                None => {
                    format!("option `{name}` is not declared: add `option {name}: VALUES | DEFAULT | LABEL` on top")
                }
                Some(option) if !option.kind.admits(value) => format!("`{value}` is no value of option `{name}`"),
                Some(_) => return None,
            };
            Some(RecipeError { path: guide.path.clone(), line: rule.line.saturating_sub(1), message })
        })
        .collect()
}

/// The guides that are built in, with their examples.
#[must_use]
pub fn embedded_guides() -> Vec<Guide> {
    let packed = include_bytes!(concat!(env!("OUT_DIR"), "/guides.bin"));
    let (guides, texts) = postcard::from_bytes::<(Vec<Guide>, &str)>(packed).unwrap_or_default();
    guide::unpack(guides, texts)
}

fn compile_rule(rule: &guide::Rule) -> Result<CompiledRule, (usize, String)> {
    let fence = rule.line.saturating_sub(1);
    let sdk = Requirement::parse(rule.sdk.as_deref().unwrap_or("")).map_err(|m| (fence, m))?;
    let mut conditions = Vec::new();
    for condition in &rule.conditions {
        conditions.push(Condition::parse(&condition.text).map_err(|m| (condition.line, m))?);
    }
    let body = match &rule.handler {
        Some(name) => match handlers::all().iter().find(|h| h.name == name) {
            Some(handler) => Body::Handler(handler),
            None => return Err((fence, format!("there is no handler `{name}` in the engine"))),
        },
        None => {
            let patch = Patch::compile(&rule.patch).map_err(|e| (rule.line + e.line, e.message))?;
            for condition in &conditions {
                if let Some(variable) = condition.variable()
                    && !rule.patch.contains(&format!("${variable}"))
                {
                    return Err((fence, format!("a condition speaks of `${variable}`, which the rule does not have")));
                }
            }
            Body::Patch(Box::new(patch))
        }
    };
    let report_only = matches!(&body, Body::Patch(p) if p.report_only);
    Ok(CompiledRule {
        line: rule.line,
        is_unsafe: rule.is_unsafe,
        manual: rule.manual || report_only,
        shared: rule.shared,
        sdk,
        branch: rule.style.as_deref().map(|s| s == "branch"),
        option: rule.option.as_deref().and_then(|o| o.split_once('=')).map(|(n, v)| (n.to_owned(), v.to_owned())),
        framework: rule.framework.clone(),
        body,
        conditions,
    })
}

/// Lower-case hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut out, b| {
        let _ = write!(out, "{b:02x}");
        out
    })
}
