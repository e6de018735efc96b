//! Recipes: sections of guides, compiled.

use crate::condition::Condition;
use crate::handlers::{self, Handler};
use crate::patch::Patch;
use crate::sdk::Requirement;
use guide::Guide;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// The made-up target of the page that teaches recipes: checked like the others, offered to nobody.
const LESSON: &str = "tutorial";

/// All recipes of all targets.
#[derive(Clone)]
pub struct RecipeSet {
    pub(crate) targets: BTreeMap<String, Target>,
    hash: String,
}

/// The recipes of one target, in the order of its guides.
#[derive(Clone, Default)]
pub(crate) struct Target {
    pub(crate) title: String,
    pub(crate) sdks: Vec<String>,
    pub(crate) recipes: Vec<Recipe>,
    pub(crate) options: BTreeMap<String, BTreeSet<String>>,
}

#[derive(Clone)]
pub(crate) struct Recipe {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) reason: String,
    pub(crate) rules: Vec<CompiledRule>,
}

#[derive(Clone)]
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

#[derive(Clone)]
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
    /// Named options with the values that some rule asks for.
    pub options: BTreeMap<String, Vec<String>>,
}

impl RecipeSet {
    /// Compiles the recipes of guides; all faults are returned together.
    pub fn compile(guides: &[Guide]) -> Result<Self, Vec<RecipeError>> {
        let mut targets: BTreeMap<String, Target> = BTreeMap::new();
        let mut errors = Vec::new();
        let mut hasher = Sha256::new();
        let mut used: BTreeSet<&str> = BTreeSet::new();
        for guide in guides {
            let Some(name) = &guide.front.target else { continue };
            let target = targets.entry(name.clone()).or_default();
            target.title.clone_from(&guide.front.title);
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
                    rules: Vec::new(),
                };
                for rule in &section.rules {
                    hasher.update(format!("{}\0{rule:?}\0", recipe.id));
                    match compile_rule(rule) {
                        Ok(compiled) => {
                            if let Body::Handler(handler) = &compiled.body {
                                used.insert(handler.name);
                            }
                            if let Some((name, value)) = &compiled.option {
                                target.options.entry(name.clone()).or_default().insert(value.clone());
                            }
                            recipe.rules.push(compiled);
                        }
                        Err((line, message)) => {
                            errors.push(RecipeError { path: guide.path.clone(), line, message });
                        }
                    }
                }
                target.recipes.push(recipe);
            }
        }
        if let Some(target) = targets.get_mut("hpu") {
            target.options.entry("lazy".to_owned()).or_default().insert("on".to_owned());
        }
        if errors.is_empty() { Ok(Self { targets, hash: hex(&hasher.finalize()) }) } else { Err(errors) }
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
                options: target.options.iter().map(|(n, v)| (n.clone(), v.iter().cloned().collect())).collect(),
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
                    manual: r.rules.iter().all(|r| r.manual),
                    is_unsafe: r.rules.iter().all(|r| r.is_unsafe),
                })
            })
            .collect()
    }

    /// Handlers that no guide of the set names.
    #[must_use]
    pub fn unnamed_handlers(&self) -> Vec<&'static str> {
        let named: BTreeSet<&str> = self
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

/// The guides that are built in, with their examples.
#[must_use]
pub fn embedded_guides() -> Vec<Guide> {
    serde_json::from_str(include_str!(concat!(env!("OUT_DIR"), "/guides.json"))).unwrap_or_default()
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
