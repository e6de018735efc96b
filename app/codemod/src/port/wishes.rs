//! What the rules want to do in a file.

use super::overlap::own;
use super::plan::Plan;
use super::state::State;
use crate::change::{Change, Fix, Lift};
use crate::condition::{Situation, nodes_of_type};
use crate::facts::{FileView, ProjectFacts};
use crate::handlers::{Input, Note, Wish};
use crate::matching::{Match, Met, matches};
use crate::place::Remark;
use crate::ported::Applicability;
use crate::recipe::{Body, CompiledRule};
use crate::rewrite::{Context, Refusal, rewrite};
use crate::settings::fields_in_project;
use std::cell::RefCell;
use std::ops::Range;

/// What all rules want to do in one file.
pub(super) fn wishes(
    plan: &Plan<'_>,
    states: &[State<'_>],
    views: &[Option<FileView<'_>>],
    facts: &ProjectFacts,
    n: usize,
) -> Vec<Fix> {
    let mut fixes = Vec::new();
    let may_add = plan.recipes.recipes.iter().any(|r| {
        !plan.rejected(r) && r.rules.iter().any(|r| matches!(&r.body, Body::Handler(h) if h.name == "add-config-field"))
    });
    let fields = if plan.branch {
        fields_in_project(&plan.settings, views.iter().flatten(), facts.modes.as_ref(), may_add)
    } else {
        Vec::new()
    };
    for (rank, recipe) in plan.recipes.recipes.iter().enumerate() {
        if plan.rejected(recipe) {
            continue;
        }
        for rule in recipe.rules.iter().filter(|r| plan.takes(r) && !r.manual) {
            let fix = |at: usize, owned: Range<usize>, changes: Vec<Change>, imports: Vec<String>| Fix {
                rule: rule.line,
                owned,
                rank,
                recipe: recipe.id.clone(),
                applicability: if rule.is_unsafe { Applicability::Unsafe } else { Applicability::Safe },
                at,
                id: String::new(),
                lift: if rule.shared {
                    Lift::Shared
                } else if rule.branch == Some(true) {
                    Lift::AsWritten
                } else {
                    Lift::Guarded
                },
                changes,
                imports,
            };
            match &rule.body {
                Body::Handler(handler) => {
                    let of_framework = |f: &String| views[n].as_ref().is_some_and(|v| v.names.uses_framework(f));
                    if !rule.framework.as_ref().is_none_or(of_framework) {
                        continue;
                    }
                    let told = RefCell::default();
                    let input = Input {
                        notes: &told,
                        path: &states[n].source.path,
                        text: &states[n].text,
                        original: &states[n].source.text,
                        used: &plan.origins[n].used,
                        view: views[n].as_ref(),
                        project: facts,
                        files: &states.iter().map(|s| (s.source.path.as_str(), s.text.as_str())).collect::<Vec<_>>(),
                        settings: &plan.settings,
                        fields: &fields,
                    };
                    for Wish { at, changes, imports } in (handler.run)(&input) {
                        fixes.push(fix(at, at..at, changes, imports));
                    }
                    for Note { range, message, stops_step } in told.take() {
                        plan.fired(recipe, rule);
                        let remark = Remark { stops_step, ..Remark::warning(range, &recipe.id, message) };
                        plan.refused.borrow_mut().get_or_default(n).push(remark);
                    }
                }
                Body::Patch(patch) => {
                    let Some(view) = &views[n] else { continue };
                    let situation = Situation { view, project: facts, settings: &plan.settings, branch: plan.branch };
                    for found in matched(rule, &situation) {
                        let cx = Context { view, project: facts, settings: &plan.settings, fields: &fields };
                        match rewrite(&cx, patch, &found) {
                            Ok((changes, imports)) if !changes.is_empty() => {
                                let item = view.index.item(found.node);
                                let expression = matches!(found.met, Met::Expression);
                                let owned = if expression { own(view, found.node) } else { item.start..item.start };
                                fixes.push(fix(item.start, owned, changes, imports));
                            }
                            Ok(_) => {}
                            Err(Refusal::UnknownFact(fact)) => {
                                plan.refuse(facts, view, n, recipe, found.node, &fact);
                            }
                        }
                    }
                }
            }
        }
    }
    fixes
}

/// Where a patch rule matches, its conditions included.
pub(super) fn matched<'t>(rule: &CompiledRule, situation: &Situation<'_, 't>) -> Vec<Match<'t>> {
    let Body::Patch(patch) = &rule.body else { return Vec::new() };
    if !rule.framework.as_ref().is_none_or(|f| situation.view.names.uses_framework(f))
        || !patch.words().iter().all(|w| situation.view.has_word(w))
        || !rule.conditions.iter().all(|c| c.holds_for_file(situation))
    {
        return Vec::new();
    }
    let typed =
        |variable: &str| rule.conditions.iter().find_map(|c| c.typed(variable)).map(|t| nodes_of_type(situation, &t));
    let mut found = matches(situation.view, patch, &typed);
    found.retain(|m| rule.conditions.iter().all(|c| c.holds(situation, m)));
    found
}
