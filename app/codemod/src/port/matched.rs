//! Where rules match, and the results of the patches in a verb's section for the step that it ports.

use super::plan::Plan;
use crate::condition::{Situation, nodes_of_type};
use crate::matching::{Match, matches};
use crate::patch::Shape;
use crate::recipe::{Body, CompiledRule, Recipe};
use crate::rewrite::{Context, rewrite};
use crate::step_parts::StepParts;
use python::Id;
use python::edit::Change;
use training::{FileView, ProjectFacts};

/// Where a patch rule matches, its conditions included.
pub(super) fn matched<'t>(rule: &CompiledRule, situation: &Situation<'_, 't>) -> Vec<Match<'t>> {
    let Body::Patch(patch) = &rule.body else { return Vec::new() };
    if !rule.framework.as_ref().is_none_or(|f| situation.project.uses_framework(situation.view, f))
        || !patch.words().iter().all(|w| situation.view.has_word(w))
        || !rule.conditions.iter().all(|c| c.holds_for_file(situation))
    {
        return Vec::new();
    }
    let typed = |variable: &str| {
        let types = rule.conditions.iter().map(|c| c.types(variable)).find(|types| !types.is_empty())?;
        let mut nodes: Vec<Id> = types.iter().flat_map(|t| nodes_of_type(situation, t)).collect();
        if rule.of_step {
            // A part that is a whole statement counts as one where statements are matched, and only there.
            let is_statement = |id: &Id| situation.view.statement_of(*id) == Some(*id);
            let statements = matches!(patch.shape, Shape::Statements(_));
            nodes.retain(|id| is_statement(id) == statements);
        }
        sorting::plain(&mut nodes);
        nodes.dedup();
        Some(nodes)
    };
    let mut found = matches(situation.view, patch, &typed);
    found.retain(|m| rule.conditions.iter().all(|c| c.holds(situation, m)));
    found
}

/// The results of the patches over the step in a verb's section for the parts that it found; the place of a match that
/// can't be written.
pub(super) fn patch_step(
    plan: &Plan<'_>,
    recipe: &Recipe,
    facts: &ProjectFacts<'_, '_>,
    fields: &[String],
    view: &FileView<'_>,
    step: &dyn StepParts,
) -> Result<Vec<Change>, Id> {
    let (settings, step) = (&plan.settings, Some(step));
    let situation = Situation { step, ..plan.situation(view, facts) };
    let cx = Context { view, project: facts, settings, fields, step };
    let mut changes = Vec::new();
    for rule in recipe.rules.iter().filter(|rule| rule.of_step && plan.takes(rule)) {
        let Body::Patch(patch) = &rule.body else { continue };
        for found in matched(rule, &situation) {
            changes.extend(rewrite(&cx, patch, &found).map_err(|_| found.node)?.0);
            plan.fired(recipe, rule);
        }
    }
    Ok(changes)
}
