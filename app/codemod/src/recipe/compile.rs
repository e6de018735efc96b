//! Compiles guides to recipes.

use super::content::Content;
use super::{Body, CompiledRule, Recipe, RecipeInfo, RecipeSet, Target, embedded_guides, recipe_id, without_errors};
use crate::condition::{BUILT_ON_TORCH, Compiler, Condition, WITHOUT_TORCH};
use crate::configured::{NAMED, PACKAGES, VALUES};
use crate::definitions::{Definitions, Wanted};
use crate::error::RecipeError;
use crate::handlers;
use crate::messages::MESSAGES;
use crate::patch::Patch;
use crate::ported::Style;
use crate::residue::{LISTS, LISTS_OF_TARGETS};
use crate::step_parts::as_metavariables;
use crate::template::Template;
use guide::sdk::Requirement;
use guide::{Defined, FrontMatter, Guide, Rule, Section};
use sorting::SortedMap;
use std::sync::Arc;
use training::ledger::LEDGER_MESSAGES;
use training::step::OF_STEPS;

/// Compiles the recipes of guides; all errors are returned together.
pub(super) fn compile(guides: &[Guide]) -> Result<RecipeSet, Vec<RecipeError>> {
    let mut errors = Vec::new();
    let (mut set, own) = declare(guides, &mut errors);
    let wanted = Wanted::default();
    let compiled: SortedMap<String, Vec<Arc<Recipe>>> = set
        .targets
        .iter()
        .map(|(id, target)| (id.clone(), own_recipes(guides, target, &wanted, &mut errors)))
        .collect();
    for (id, owners) in lineages(&set.targets) {
        let Some(target) = set.targets.get_mut(&id) else { continue };
        let recipes: Vec<_> = owners.iter().flat_map(|owner| &compiled[owner]).cloned().collect();
        target.want(&recipes, &wanted);
        target.recipes = recipes.into();
    }
    for guide in guides {
        let target = guide.front.target.as_ref().and_then(|t| set.targets.get(t));
        errors.extend(target.into_iter().flat_map(|t| undeclared(guide, t)));
    }
    errors.extend(own.unasked(&set.targets, &wanted));
    if errors.is_empty() { Ok(set) } else { Err(errors) }
}

/// The targets of guides with their facts and definitions; their recipes are not compiled yet.
pub(super) fn declare(guides: &[Guide], errors: &mut Vec<RecipeError>) -> (RecipeSet, Own) {
    let mut targets: SortedMap<String, Target> = SortedMap::new();
    for guide in guides {
        errors.extend(front_matter(guide, &mut targets));
    }
    let extensions = extensions(guides, &targets, errors);
    let own = Own::of(guides, errors);
    for (name, target) in targets.iter_mut() {
        target.definitions = Arc::new(own.all_of(name, &extensions));
    }
    for (_, name, base) in &extensions {
        let Some(base) = targets.get(*base).cloned() else { continue };
        if let Some(target) = targets.get_mut(*name) {
            target.extend(base);
        }
    }
    let modes = compute_modes(guides);
    targets.values_mut().for_each(|target| target.facts.compute_modes.clone_from(&modes));
    let mut owners: Vec<&Target> = targets.values().collect();
    // Definitions that a target inherits belong to the one that it extends: names of later targets override them.
    sorting::by_key(&mut owners, |target| target.extends.is_none());
    let modules: Vec<(String, String)> =
        owners.iter().flat_map(|t| t.facts.modules.iter().map(|module| (module.clone(), t.name.clone()))).collect();
    for target in targets.values_mut() {
        let own = target.facts.modules.clone();
        target.facts.foreign_modules = modules.iter().filter(|(module, _)| !own.contains(module)).cloned().collect();
    }
    for (id, owners) in lineages(&targets) {
        let Some(target) = targets.get_mut(&id) else { continue };
        let sections = owners.iter().flat_map(|owner| sections(guides, owner));
        target.infos = sections.map(|(guide, section)| info(guide, section, target)).collect();
    }
    let shared = own.shared.clone();
    (RecipeSet { targets, shared, hash: Content::hash_of(guides) }, own)
}

/// Compiles the recipes of a built-in target.
pub(super) fn embedded_recipes(target: &Target) -> Vec<Arc<Recipe>> {
    let mut errors = Vec::new();
    let own = own_recipes(embedded_guides(), target, &Wanted::default(), &mut errors);
    without_errors(&errors);
    let base = target.extends.as_ref().and_then(|base| RecipeSet::embedded().targets.get(base));
    base.into_iter().flat_map(Target::recipes).cloned().chain(own).collect()
}

/// Each target with the targets whose recipes apply to it: the one that it extends, and itself.
fn lineages(targets: &SortedMap<String, Target>) -> Vec<(String, Vec<String>)> {
    let base = |id: &&String| targets.get(*id)?.extends.as_ref().filter(|base| targets.contains_key(*base));
    let lineage = |id: &String| {
        // A guide may extend its own extension.
        let mut owners: Vec<String> = std::iter::successors(targets.get_key_value(id).map(|(id, _)| id), base)
            .take(targets.len())
            .cloned()
            .collect();
        owners.reverse();
        (id.clone(), owners)
    };
    targets.keys().map(lineage).collect()
}

/// The sections with recipes in a target's own guides.
fn sections<'g>(guides: &'g [Guide], target: &str) -> impl Iterator<Item = (&'g Guide, &'g Section)> {
    let own = guides.iter().filter(move |guide| guide.front.target.as_deref() == Some(target));
    own.flat_map(|guide| guide.sections.iter().filter(|s| s.is_recipe()).map(move |section| (guide, section)))
}

/// A section's recipe, for a target.
fn info(guide: &Guide, section: &Section, target: &Target) -> RecipeInfo {
    let requirements: Vec<Requirement> = section.rules.iter().filter_map(|rule| requirement(rule).ok()).collect();
    let is_covered =
        |sdk: &&String| section.adds_module() || requirements.iter().any(|requirement| requirement.admits(sdk));
    RecipeInfo {
        id: recipe_id(guide, section),
        target: target.id.clone(),
        title: section.title.clone(),
        reason: section.reason.clone(),
        sdks: target.sdks.iter().filter(is_covered).cloned().collect(),
        holds_for: section.holds_for.clone(),
        source: section.source.clone(),
        citations: section.citations.clone(),
        manual: section.rules.iter().all(only_reports) && !section.adds_module(),
        is_unsafe: section.rules.iter().all(|rule| rule.is_unsafe) && !section.adds_module(),
        stops_step: section.rules.iter().any(|rule| rule.stops_step),
    }
}

fn requirement(rule: &Rule) -> Result<Requirement, String> {
    Requirement::parse(rule.sdk.as_deref().unwrap_or(""))
}

/// Whether a rule changes nothing.
fn only_reports(rule: &Rule) -> bool {
    rule.manual || (rule.handler.is_none() && !rule.patch.lines().any(|line| line.starts_with(['+', '-'])))
}

/// Compiles the recipes in a target's own guides.
fn own_recipes(guides: &[Guide], target: &Target, wanted: &Wanted, errors: &mut Vec<RecipeError>) -> Vec<Arc<Recipe>> {
    sections(guides, &target.id)
        .map(|(guide, section)| Arc::new(recipe(guide, section, &target.definitions, wanted, errors)))
        .collect()
}

/// Names of compute modes: every target's own, and additional ones in a guide's list.
fn compute_modes(guides: &[Guide]) -> Vec<String> {
    // A single guide is tested with a project that may have the modes of all.
    let fronts = || guides.iter().chain(embedded_guides()).map(|guide| &guide.front);
    let own = fronts().filter_map(|front| Some(front.mode.as_ref().map_or(front.target.as_ref()?, |mode| &mode.name)));
    let mut names: Vec<String> =
        own.chain(fronts().flat_map(|front| &front.compute_modes)).map(|n| n.to_ascii_lowercase()).collect();
    sorting::plain(&mut names);
    names.dedup();
    names
}

/// Adds the facts about its target in a guide.
fn front_matter(guide: &Guide, targets: &mut SortedMap<String, Target>) -> Option<RecipeError> {
    let name = guide.front.target.as_ref()?;
    let target = targets.entry(name.clone()).or_insert_with(|| Target { id: name.clone(), ..Target::default() });
    if target.title.is_empty() {
        target.title.clone_from(&guide.front.title);
    }
    if target.name.is_empty() || guide.front.name.is_some() {
        target.name = FrontMatter::target_name(name, [&guide.front]);
    }
    if guide.front.extends.is_some() {
        target.extends.clone_from(&guide.front.extends);
    }
    for sdk in &guide.front.sdks {
        if !target.sdks.contains(sdk) {
            target.sdks.push(sdk.clone());
        }
    }
    let fault = target.facts.add(name, &guide.front).err()?;
    Some(RecipeError { path: guide.path.clone(), line: 2, message: fault })
}

/// Guides whose target extends another, with the names of the two.
fn extensions<'g>(
    guides: &'g [Guide],
    targets: &SortedMap<String, Target>,
    errors: &mut Vec<RecipeError>,
) -> Vec<(&'g Guide, &'g str, &'g str)> {
    let said = |guide: &'g Guide| Some((guide, guide.front.target.as_deref()?, guide.front.extends.as_deref()?));
    let (known, unknown): (Vec<_>, Vec<_>) =
        guides.iter().filter_map(said).partition(|(.., base)| targets.get(*base).is_some());
    let names: Vec<&str> = targets.keys().map(|id| &**id).collect();
    errors.extend(unknown.into_iter().map(|(guide, _, base)| RecipeError {
        path: guide.path.clone(),
        line: guide.front.extends_line,
        message: format!("`extends = \"{base}\"`: unknown target; available targets: {}", names.join(", ")),
    }));
    known
}

/// The guides' definitions, before targets inherit from others.
pub(super) struct Own {
    targets: SortedMap<String, Definitions>,
    /// Of guides without a target.
    shared: Arc<Definitions>,
    /// The guides do not contain it themselves.
    shared_is_built_in: bool,
}

impl Own {
    fn of(guides: &[Guide], errors: &mut Vec<RecipeError>) -> Self {
        let mut targets: SortedMap<String, Definitions> = SortedMap::new();
        for guide in guides {
            if let Some(name) = &guide.front.target {
                errors.extend(targets.entry(name.clone()).or_default().add(guide));
            }
        }
        let is_shared = |guide: &&Guide| {
            guide.front.target.is_none() && guide.sections.iter().any(|section| !section.definitions.is_empty())
        };
        let mut shared = Definitions::default();
        let shared_is_built_in = !guides.iter().any(|guide| is_shared(&guide));
        if shared_is_built_in {
            for guide in embedded_guides().iter().filter(is_shared) {
                errors.extend(shared.add(guide));
            }
        } else {
            guides.iter().filter(is_shared).for_each(|guide| errors.extend(shared.add(guide)));
        }
        Self { targets, shared: Arc::new(shared), shared_is_built_in }
    }

    /// All definitions for a target: its own, those of the targets it extends, and the shared ones.
    fn all_of(&self, target: &str, extensions: &[(&Guide, &str, &str)]) -> Definitions {
        let mut all = Definitions::default();
        let mut next = Some(target);
        for _ in 0..=extensions.len() {
            let Some(name) = next else { break };
            if let Some(own) = self.targets.get(name) {
                all.extend(own);
            }
            next = extensions.iter().find(|(_, extending, _)| *extending == name).map(|(.., base)| *base);
        }
        all.extend(&self.shared);
        all
    }

    /// Unused definitions, and those that the engine needs and that are missing.
    fn unasked(&self, targets: &SortedMap<String, Target>, wanted: &Wanted) -> Vec<RecipeError> {
        let mut errors = Vec::new();
        let messages = MESSAGES.iter().copied().chain(handlers::obstacle_messages(&[OF_STEPS, LEDGER_MESSAGES]));
        let lists = [LISTS.as_slice(), &[PACKAGES, VALUES, NAMED, BUILT_ON_TORCH, WITHOUT_TORCH]].concat();
        for message in self.shared.want(messages, &[], &lists, wanted) {
            errors.push(RecipeError { path: "guides/engine.md".to_owned(), line: 1, message });
        }
        for name in targets.keys() {
            if let Some(own) = self.targets.get(name) {
                LISTS_OF_TARGETS.iter().for_each(|list| _ = own.wanted_names(list, wanted));
            }
            errors.extend(self.targets.get(name).map(|own| own.unused(wanted)).unwrap_or_default());
        }
        if !self.shared_is_built_in {
            errors.extend(self.shared.unused(wanted));
        }
        errors
    }
}

fn recipe(
    guide: &Guide,
    section: &Section,
    definitions: &Definitions,
    wanted: &Wanted,
    errors: &mut Vec<RecipeError>,
) -> Recipe {
    let mut recipe = Recipe {
        id: recipe_id(guide, section),
        title: section.title.clone(),
        reason: section.reason.clone(),
        rules: Vec::new(),
    };
    let names_verb =
        |rule: &Rule| handlers::all().iter().any(|h| h.ports_step && rule.handler.as_deref() == Some(h.name));
    let has_verb = section.rules.iter().any(names_verb);
    for rule in &section.rules {
        match compile_rule(rule, has_verb, definitions, wanted) {
            Ok(compiled) => recipe.rules.push(compiled),
            Err(faults) => errors.extend(faults.into_iter().map(|(line, message)| RecipeError {
                path: guide.path.clone(),
                line,
                message,
            })),
        }
    }
    recipe
}

/// Errors with their lines.
type Faults = Vec<(usize, String)>;

fn compile_rule(
    rule: &Rule,
    has_verb: bool,
    definitions: &Definitions,
    wanted: &Wanted,
) -> Result<CompiledRule, Faults> {
    let fence = rule.line.saturating_sub(1);
    let fault = |message: String| vec![(fence, message)];
    let sdk = requirement(rule).map_err(fault)?;
    let at_line = |(line, message): (usize, String)| vec![(rule.line + line, message)];
    let (text, parts) = match rule.of_step {
        true => as_metavariables(&rule.patch).map_err(at_line)?,
        false => (rule.patch.clone(), Vec::new()),
    };
    if !has_verb && parts.iter().any(|(_, part)| part.is_of_verbs()) {
        let verbs: Vec<&str> = handlers::all().iter().filter(|h| h.ports_step).map(|h| h.name).collect();
        return Err(fault(format!(
            "this part requires code that ports the step, but the section has no rule with `rule={}`",
            verbs.join("` or `rule=")
        )));
    }
    if let Some(line) = text.lines().position(|line| !line.starts_with('+') && line.contains("{{step.")) {
        return Err(at_line((line, "parts of the step can only be used in a `diff rule step`".to_owned())));
    }
    let mut conditions =
        Compiler { definitions, wanted }.conditions(&rule.conditions).map_err(|condition| vec![condition])?;
    definitions.want_named(&rule.patch, wanted);
    let body = match &rule.handler {
        Some(name) => {
            let handler = handlers::all().iter().find(|h| h.name == name);
            let handler = handler.ok_or_else(|| fault(format!("unknown handler `{name}`")))?;
            let missing = definitions.want(handler.all_messages(), handler.blocks, handler.names, wanted);
            if !missing.is_empty() {
                return Err(missing.into_iter().map(|m| (fence, format!("handler `{name}`: {m}"))).collect());
            }
            Body::Handler(handler)
        }
        None => {
            conditions.extend(parts.into_iter().map(|(variable, part)| Condition::of_step(variable, part)));
            let mut patch = Patch::compile(&text).map_err(|e| vec![(rule.line + e.line, e.message)])?;
            patch.call_one_of(&|variable| conditions.iter().find_map(|c| c.names(variable)).map(<[String]>::to_vec));
            patch.take_by_place(&|function| definitions.signature(function));
            for variable in conditions.iter().flat_map(|condition| condition.variables()) {
                if !text.contains(&format!("${variable}")) {
                    return Err(fault(format!("a condition uses `${variable}`, which is not in the rule")));
                }
            }
            for block in &patch.blocks {
                definitions.wanted_block(block, wanted).map_err(fault)?;
            }
            Body::Patch(Box::new(patch))
        }
    };
    if let Some(message) = &rule.says {
        let lines = Template::parse(&rule.patch);
        definitions.wanted_message(message, &lines.variables().collect::<Vec<_>>(), wanted).map_err(fault)?;
    }
    Ok(CompiledRule {
        line: rule.line,
        is_unsafe: rule.is_unsafe,
        manual: only_reports(rule),
        shared: rule.shared,
        stops_step: rule.stops_step,
        of_step: rule.of_step,
        says: rule.says.clone(),
        sdk,
        neutral: rule.neutral,
        styles: rule.styles.iter().filter_map(|style| Style::named(style)).collect(),
        option: rule.option.as_deref().and_then(|o| o.split_once('=')).map(|(n, v)| (n.to_owned(), v.to_owned())),
        framework: rule.framework.clone(),
        body,
        conditions,
    })
}

impl Target {
    /// Adds the facts of another target.
    fn extend(&mut self, base: Self) {
        self.facts.extend(&base.facts);
        if self.sdks.is_empty() {
            self.sdks = base.sdks;
        }
    }

    /// Marks its definitions that recipes use: it may define anew what those use that it inherits.
    fn want(&self, recipes: &[Arc<Recipe>], wanted: &Wanted) {
        for rule in recipes.iter().flat_map(|recipe| &recipe.rules) {
            if let Body::Handler(handler) = &rule.body {
                self.definitions.want(handler.all_messages(), handler.blocks, handler.names, wanted);
            }
            if let Some(message) = rule.says.as_deref() {
                self.definitions.want_message(message, wanted);
            }
        }
    }
}

/// Rules and blocks that use an option, a value of one, or a variable that no guide of the target declares.
fn undeclared(guide: &Guide, target: &Target) -> Vec<RecipeError> {
    let rules = || guide.sections.iter().flat_map(|s| &s.rules);
    let blocks = guide.sections.iter().flat_map(|s| &s.definitions).filter_map(|definition| match &definition.what {
        Defined::Block(text) => Some((definition.line, text)),
        _ => None,
    });
    let texts = rules().map(|rule| (rule.line.saturating_sub(1), &rule.patch)).chain(blocks);
    let variables = texts.flat_map(|(line, text)| {
        let asked = text.split("{{variable.").skip(1).filter_map(|rest| rest.split("}}").next());
        asked.filter(|name| !has_variable(target, name)).map(move |name| RecipeError {
            path: guide.path.clone(),
            line,
            message: format!(
                "`variable.{name}` is not declared: add it to the front matter, as `[[variable.NAME.value]]`"
            ),
        })
    });
    let options = rules().filter_map(|rule| {
        let (name, value) = rule.option.as_deref()?.split_once('=')?;
        let declared = target.facts.options.iter().find(|o| o.name == name);
        let message = match declared {
            None => {
                format!("option `{name}` is not declared: add a table `[option.{name}]` to the front matter")
            }
            Some(option) if !option.kind.admits(value) => format!("`{value}` is not a value of option `{name}`"),
            Some(_) => return None,
        };
        Some(RecipeError { path: guide.path.clone(), line: rule.line.saturating_sub(1), message })
    });
    options.chain(variables).collect()
}

/// Whether an environment variable has a value with that meaning in some release.
fn has_variable(target: &Target, name: &str) -> bool {
    let found = name.split_once('.').and_then(|(name, meaning)| Some((target.facts.variables.get(name)?, meaning)));
    found.is_some_and(|(variable, meaning)| variable.value.iter().any(|value| value.is == meaning))
}
