//! Recipes: sections of guides, compiled.

mod added;
mod compile;
mod content;

use crate::condition::Condition;
use crate::definitions::Definitions;
use crate::error::RecipeError;
use crate::handlers::{self, Handler};
use crate::patch::Patch;
use crate::ported::Style;
use guide::sdk::{Requirement, compare, is_version};
use guide::{Citation, Guide, ListedName, OptionField, OptionKind, Section};
use serde::{Deserialize, Serialize};
use sorting::{SortedMap, SortedSet};
use std::sync::{Arc, LazyLock, OnceLock};
use training::TargetFacts;

/// The made-up target of the tutorial page: checked like the others, but not offered.
pub(crate) const LESSON: &str = "tutorial";

/// All recipes of all targets.
pub struct RecipeSet {
    pub(crate) targets: SortedMap<String, Target>,
    /// Definitions for all targets.
    pub(crate) shared: Arc<Definitions>,
    hash: String,
}

/// A target of guides.
#[derive(Clone, Default)]
pub(crate) struct Target {
    id: String,
    pub(crate) name: String,
    pub(crate) extends: Option<String>,
    pub(crate) title: String,
    pub(crate) sdks: Vec<String>,
    /// What [`Target::recipes`] are about.
    infos: Vec<RecipeInfo>,
    /// [`Target::recipes`], once they are compiled.
    recipes: OnceLock<Vec<Arc<Recipe>>>,
    pub(crate) facts: TargetFacts,
    /// With those of the target it extends, and those of all targets.
    pub(crate) definitions: Arc<Definitions>,
}

pub(crate) struct Recipe {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) reason: String,
    pub(crate) rules: Vec<CompiledRule>,
}

pub(crate) struct CompiledRule {
    pub(crate) line: usize,
    pub(crate) is_unsafe: bool,
    pub(crate) manual: bool,
    pub(crate) shared: bool,
    pub(crate) stops_step: bool,
    /// It refers to the parts of the training step.
    pub(crate) of_step: bool,
    /// The message that it reports.
    pub(crate) says: Option<String>,
    pub(crate) sdk: Requirement,
    /// The new code is right on every device.
    pub(crate) neutral: bool,
    /// Only in these styles; empty for all.
    pub(crate) styles: Vec<Style>,
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

/// A recipe for lists and the page.
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
    /// SDK versions of the target for which it has at least one rule.
    pub sdks: Vec<String>,
    /// The versions of its section, as text.
    pub holds_for: String,
    /// The source of its section.
    pub source: String,
    /// The links in the source.
    pub citations: Vec<Citation>,
    /// Whether it only reports.
    pub manual: bool,
    /// Whether all its edits are unsafe.
    #[serde(rename = "unsafe")]
    pub is_unsafe: bool,
    /// Whether one of its rules prevents a training step from being ported.
    pub stops_step: bool,
}

/// A target for the page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetInfo {
    /// `hpu`.
    pub id: String,
    /// Its usual name.
    pub name: String,
    /// Title of its guide.
    pub title: String,
    /// SDK versions, oldest first; the last is the default.
    pub sdks: Vec<String>,
    /// Named options, in the order of the guides.
    pub options: Vec<TargetOption>,
    /// Whether it is a device of PyTorch, so that one program can serve it and others ([`Style::Agnostic`]).
    pub is_device: bool,
}

/// A user's choice that recipes use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetOption {
    /// `zero`, as in `--option zero=3`.
    pub name: String,
    /// Its label in a form.
    pub label: String,
    /// Its allowed values.
    pub kind: OptionKind,
    /// Its default for each of the target's SDK versions, in the order of [`TargetInfo::sdks`].
    pub defaults: Vec<String>,
}

impl TargetInfo {
    /// Whether the guides cover an SDK version: it is one of theirs, a patch release of one (`1.23.1` of `1.23`), or
    /// was published between two of them.
    #[must_use]
    pub fn knows(&self, sdk: &str) -> bool {
        let (Some(oldest), Some(newest)) = (self.sdks.first(), self.sdks.last()) else { return false };
        let corrects = sdk.strip_prefix(newest.as_str()).is_some_and(|rest| rest.starts_with('.'));
        is_version(sdk) && compare(sdk, oldest).is_ge() && (compare(sdk, newest).is_le() || corrects)
    }

    /// The default of an option for an SDK version; `None` is the newest.
    #[must_use]
    pub fn default_of(&self, option: &TargetOption, sdk: Option<&str>) -> String {
        let at = sdk.and_then(|sdk| self.sdks.iter().position(|s| s == sdk)).unwrap_or(self.sdks.len().max(1) - 1);
        option.defaults.get(at).cloned().unwrap_or_default()
    }
}

impl RecipeSet {
    /// The facts in a target's guides; empty for a target without recipes.
    #[must_use]
    pub fn target_facts(&self, target: &str) -> TargetFacts {
        self.targets.get(target).map(|target| target.facts.clone()).unwrap_or_default()
    }

    /// The named definitions of a target's guides; for a target without guides the shared ones.
    pub(crate) fn definitions(&self, target: &str) -> &Definitions {
        self.targets.get(target).map_or(&self.shared, |target| &target.definitions)
    }

    /// Compiles the recipes of guides; all errors are returned together.
    ///
    /// The shared definitions (`guides/engine.md`) are those of the engine if none of these guides has them.
    pub fn compile(guides: &[Guide]) -> Result<Self, Vec<RecipeError>> {
        compile::compile(guides)
    }

    /// The built-in recipes. Those of a target are compiled on first use: a port needs only its own.
    ///
    /// # Panics
    /// Never for a released build: a test compiles the same guides.
    #[must_use]
    pub fn embedded() -> &'static Self {
        static EMBEDDED: LazyLock<RecipeSet> = LazyLock::new(|| {
            let mut errors = Vec::new();
            let (set, _) = compile::declare(embedded_guides(), &mut errors);
            without_errors(&errors);
            set
        });
        &EMBEDDED
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
                name: target.name.clone(),
                title: target.title.clone(),
                sdks: target.sdks.clone(),
                options: target.facts.options.iter().map(|o| target.offer(o)).collect(),
                is_device: target.facts.device.is_some() || target.facts.switch.is_some(),
            })
            .collect()
    }

    /// The target whose recipes are applied before a target's own.
    #[must_use]
    pub fn extends(&self, target: &str) -> Option<&str> {
        self.targets.get(target)?.extends.as_deref()
    }

    /// Whether a recipe has no rules: it is a file that ports add.
    pub(crate) fn is_file(&self, target: &str, id: &str) -> bool {
        let recipes = self.targets.get(target).map_or(&[][..], Target::recipes);
        recipes.iter().any(|recipe| recipe.id == id && recipe.rules.is_empty())
    }

    /// Whether recipes of a target rewrite its training step.
    pub(crate) fn ports_steps(&self, target: &str) -> bool {
        self.targets.get(target).is_some_and(|target| target.recipes().iter().any(|recipe| recipe.ports_step()))
    }

    /// Every recipe, by target and in the order of the guides.
    #[must_use]
    pub fn recipes(&self) -> Vec<RecipeInfo> {
        self.targets.keys().filter(|id| *id != LESSON).flat_map(|id| self.recipes_for(id)).cloned().collect()
    }

    /// The recipes of a target, in the order of the guides.
    #[must_use]
    pub fn recipes_for(&self, target: &str) -> &[RecipeInfo] {
        self.targets.get(target).map_or(&[], |target| &target.infos)
    }

    /// The heading of a recipe's section, or of the engine's own messages of that name.
    #[must_use]
    pub fn title(&self, target: &str, id: &str) -> String {
        match self.recipes_for(target).iter().find(|recipe| recipe.id == id) {
            Some(recipe) => recipe.title.clone(),
            None => self.definitions(target).title(id).unwrap_or(id).to_owned(),
        }
    }

    /// A list of names that a target's guides define (a `names` fence), empty if there is none.
    #[must_use]
    pub fn names(&self, target: &str, list: &str) -> &[ListedName] {
        self.targets.get(target).map_or(&[], |target| target.definitions.names(list))
    }

    /// Handlers that no guide of the set names.
    #[must_use]
    pub fn unnamed_handlers(&self) -> Vec<&'static str> {
        let named: SortedSet<&str> = self
            .targets
            .values()
            .flat_map(|t| t.recipes())
            .flat_map(|r| &r.rules)
            .filter_map(|r| match &r.body {
                Body::Handler(h) => Some(h.name),
                Body::Patch(_) => None,
            })
            .collect();
        handlers::all().iter().map(|h| h.name).filter(|n| !named.contains(n)).collect()
    }
}

impl Recipe {
    /// Whether a verb of it ports the training step; patches over the step in its section belong to the verb.
    pub(crate) fn ports_step(&self) -> bool {
        self.rules.iter().any(|rule| matches!(&rule.body, Body::Handler(handler) if handler.ports_step))
    }
}

impl Target {
    /// One that no guide is about.
    pub(crate) fn without_recipes(shared: &Arc<Definitions>) -> Self {
        Self { definitions: shared.clone(), ..Self::default() }
    }

    /// Its recipes, in the order of its guides; after those of the target that it extends.
    pub(crate) fn recipes(&self) -> &[Arc<Recipe>] {
        // Other sets than the built-in one are compiled whole.
        self.recipes.get_or_init(|| compile::embedded_recipes(self))
    }

    fn offer(&self, option: &OptionField) -> TargetOption {
        TargetOption {
            name: option.name.clone(),
            label: option.label.clone(),
            kind: option.kind.clone(),
            defaults: self.sdks.iter().map(|sdk| option.default_for(sdk).to_owned()).collect(),
        }
    }
}

/// The built-in guides; their examples are not part of a download.
///
/// # Panics
/// Never: the build script writes the bytes with the same types, or fails.
#[must_use]
pub fn embedded_guides() -> &'static [Guide] {
    static GUIDES: LazyLock<Vec<Guide>> = LazyLock::new(unpacked_guides);
    &GUIDES
}

fn unpacked_guides() -> Vec<Guide> {
    let packed = include_bytes!(concat!(env!("OUT_DIR"), "/guides.bin"));
    let (guides, texts) = postcard::from_bytes::<(Vec<Guide>, &str)>(packed).expect("the build script wrote them");
    guide::unpack(guides, texts)
}

/// The built-in guides have no errors.
fn without_errors(errors: &[RecipeError]) {
    assert!(errors.is_empty(), "{}", errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
}

/// `hpu#model-to-device`.
pub(crate) fn recipe_id(guide: &Guide, section: &Section) -> String {
    format!("{}#{}", guide.name, section.id)
}
