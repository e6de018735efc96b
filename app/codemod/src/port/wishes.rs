//! The edits that the rules propose for a file.

use super::matched::{matched, patch_step};
use super::overlap::own;
use super::plan::Plan;
use super::state::State;
use crate::condition::is_key_with_number;
use crate::definitions::{Said, Style as Layout};
use crate::fix::{BroughtBlock, Fix, Lift};
use crate::handlers::{Handler, Input, Kind, Note, Wish};
use crate::lift::is_target_import;
use crate::matching::Met;
use crate::messages;
use crate::patch::Patch;
use crate::place::Remark;
use crate::ported::{Applicability, Style};
use crate::recipe::{Body, CompiledRule, Recipe};
use crate::rewrite::{Context, Refusal, rewrite};
use crate::settings::fields_in_project;
use crate::step_parts::{StepParts, obstacles};
use python::Id;
use python::edit::Change;
use python::source::words;
use std::cell::{OnceCell, RefCell};
use std::ops::Range;
use std::rc::Rc;
use training::program_start::Texts;
use training::{FileView, ProjectFacts};

/// The edits that all rules propose for one file.
pub(super) fn wishes(
    plan: &Plan<'_>,
    states: &[State<'_>],
    views: &[Option<Rc<FileView<'_>>>],
    facts: &ProjectFacts<'_, '_>,
    texts: &Texts<'_>,
    fields: &[String],
    n: usize,
) -> Vec<Fix> {
    if let Some(view) = &views[n] {
        let told = step_obstacles(plan, view, facts);
        plan.refused.borrow_mut().entry(n).or_default().extend(told);
    }
    let view = views[n].as_deref();
    let mut file = File { plan, states, texts, views, n, view, facts, fields, stopped: None, fixes: Vec::new() };
    for (rank, recipe) in plan.recipes.recipes().iter().enumerate() {
        if plan.rejected(recipe) || plan.is_barred(n, &recipe.id) {
            continue;
        }
        for rule in recipe.rules.iter().filter(|r| plan.takes(r) && !r.manual) {
            let by = By { style: plan.style, rank, recipe, rule };
            match &rule.body {
                Body::Handler(handler) => file.ask_handler(by, handler),
                Body::Patch(patch) => file.try_patch(by, patch),
            }
        }
    }
    file.fixes
}

/// The target's configuration fields that the project has or gets.
pub(super) fn fields(plan: &Plan<'_>, views: &[Option<Rc<FileView<'_>>>], facts: &ProjectFacts<'_, '_>) -> Vec<String> {
    let adds = |r: &CompiledRule| matches!(&r.body, Body::Handler(h) if h.name == "add-config-field");
    let may_add = plan.recipes.recipes().iter().any(|r| !plan.rejected(r) && r.rules.iter().any(adds));
    let views = views.iter().flatten().map(Rc::as_ref).filter(|_| plan.style == Style::Branch);
    fields_in_project(&plan.settings, views, facts.modes.as_ref(), may_add)
}

/// The rule that proposes an edit.
#[derive(Clone, Copy)]
struct By<'p> {
    style: Style,
    rank: usize,
    recipe: &'p Recipe,
    rule: &'p CompiledRule,
}

impl By<'_> {
    fn fix(self, at: usize, owned: Range<usize>, changes: Vec<Change>, imports: Vec<String>) -> Fix {
        let Self { rank, recipe, rule, style } = self;
        Fix {
            rule: rule.line,
            owned,
            rank,
            recipe: recipe.id.clone(),
            applicability: if rule.is_unsafe { Applicability::Unsafe } else { Applicability::Safe },
            at,
            id: String::new(),
            atomic: false,
            lift: if rule.shared {
                Lift::Shared
            } else if rule.neutral && style == Style::Agnostic {
                Lift::Neutral
            } else if !rule.styles.is_empty() && !rule.styles.contains(&Style::InPlace) {
                Lift::AsWritten
            } else {
                Lift::Guarded
            },
            changes,
            imports,
            blocks: Vec::new(),
        }
    }
}

/// A file for which edits are collected.
struct File<'p> {
    plan: &'p Plan<'p>,
    states: &'p [State<'p>],
    texts: &'p Texts<'p>,
    views: &'p [Option<Rc<FileView<'p>>>],
    /// Its index.
    n: usize,
    view: Option<&'p FileView<'p>>,
    facts: &'p ProjectFacts<'p, 'p>,
    fields: &'p [String],
    /// Whether a rule prevents its training step from being ported; determined when a rule would port it.
    stopped: Option<bool>,
    fixes: Vec<Fix>,
}

impl File<'_> {
    fn is_stopped(&mut self) -> bool {
        let (plan, view, facts) = (self.plan, self.view, self.facts);
        *self.stopped.get_or_insert_with(|| view.is_some_and(|view| is_stopped(plan, view, facts)))
    }

    fn tell(&self, remark: Remark) {
        self.plan.refused.borrow_mut().entry(self.n).or_default().push(remark);
    }

    fn ask_handler(&mut self, by: By<'_>, handler: &Handler) {
        let (plan, facts, fields) = (self.plan, self.facts, self.fields);
        let (recipe, rule, state) = (by.recipe, by.rule, &self.states[self.n]);
        let of_framework = |f: &String| self.view.is_some_and(|v| facts.uses_framework(v, f));
        if !rule.framework.as_ref().is_none_or(of_framework) {
            return;
        }
        let (told, written, renamed) = (RefCell::default(), RefCell::default(), OnceCell::new());
        let patched = |view: &FileView<'_>, step: &dyn StepParts| patch_step(plan, recipe, facts, fields, view, step);
        let input = Input {
            notes: &told,
            path: &state.source.path,
            text: &state.text,
            original: &state.source.text,
            renamed: &renamed,
            used: &plan.origins[self.n].used,
            view: self.view,
            project: facts,
            files: self.texts,
            views: self.views,
            settings: &plan.settings,
            fields,
            written: &written,
            patched: &patched,
        };
        let wishes = (handler.run)(&input);
        plan.trace.borrow_mut().blocks.extend(written.take());
        let stopped = handler.ports_step && self.is_stopped();
        if !stopped {
            let wishes = wishes.into_iter();
            let fixes = wishes.map(|Wish { at, changes, imports }| by.fix(at, at..at, changes, imports));
            self.fixes.extend(fixes.map(|fix| Fix { atomic: handler.ports_step, ..fix }));
        }
        for Note { at, message, kind } in told.take() {
            let stops_step = kind == Kind::StopsStep;
            // Edits for a ported step do not apply to one that is unchanged.
            if stopped && !stops_step {
                continue;
            }
            plan.fired(recipe, rule);
            if kind == Kind::Lost {
                let at = state.rope.origin(at);
                plan.lost.borrow_mut().entry(self.n).or_default().push(Remark::warning(at..at, &recipe.id, message));
                continue;
            }
            self.tell(Remark { stops_step, ..Remark::warning(at..at, &recipe.id, message) });
        }
    }

    fn try_patch(&mut self, by: By<'_>, patch: &Patch) {
        let (plan, facts) = (self.plan, self.facts);
        let (recipe, rule) = (by.recipe, by.rule);
        let Some(view) = self.view.filter(|_| !(rule.of_step && recipe.ports_step())) else { return };
        if rule.of_step && self.is_stopped() {
            return;
        }
        let settings = &plan.settings;
        let situation = plan.situation(view, facts);
        let context = Context { view, project: facts, settings, fields: self.fields, step: None };
        let original = &self.states[self.n].source.text;
        let defined = patch.blocks.iter().flat_map(|block| settings.definitions.defined_by(block));
        let taken = defined.filter(|name| !view.defines(name)).find(|name| words(original, name).next().is_some());
        for found in matched(rule, &situation) {
            let item = view.index.item(found.node);
            // `{"cuda:%d" % rank: …}` names a device that a file was written on.
            if is_key_with_number(view, found.node) {
                continue;
            }
            if let Some(name) = taken {
                let said = messages::name_in_use(name);
                self.tell(Remark::warning(item.start..item.start, &recipe.id, said));
                continue;
            }
            match rewrite(&context, patch, &found) {
                Ok((changes, mut imports)) if !changes.is_empty() || patch.only_imports() => {
                    imports.retain(|line| !is_bound(view, facts, found.node, line));
                    let expression = matches!(found.met, Met::Expression);
                    let owned = if expression { own(view, found.node) } else { item.start..item.start };
                    let blocks = brought(plan, view, patch);
                    self.fixes.push(Fix { blocks, ..by.fix(item.start, owned, changes, imports) });
                }
                Ok(_) => {}
                Err(Refusal::UnnamedArguments) => {
                    self.tell(Remark::warning(item.start..item.start, &recipe.id, messages::unnamed_arguments()));
                }
                Err(Refusal::UnknownFact(fact)) if fact.starts_with("variable.") => {
                    let at = self.states[self.n].rope.origin(item.start);
                    plan.lacks_value(self.n, at, recipe, &fact);
                }
                Err(Refusal::UnknownFact(fact)) => plan.refuse(facts, view, self.n, recipe, found.node, &fact),
            }
        }
    }
}

/// Whether the file has the name that an import of the target's software would bind, from an import of its own that may
/// fail elsewhere.
fn is_bound(view: &FileView<'_>, facts: &ProjectFacts<'_, '_>, at: Id, line: &str) -> bool {
    let name = line.split_whitespace().last().and_then(|name| name.split('.').next()).unwrap_or(line);
    is_target_import(facts, line) && view.binds_at_top(name, view.index.item(at).start, view.function_of(at).is_some())
}

/// The obstacles to following the steps of a file, reported by the first recipe that would port them.
fn step_obstacles(plan: &Plan<'_>, view: &FileView<'_>, facts: &ProjectFacts<'_, '_>) -> Vec<Remark> {
    let situation = plan.situation(view, facts);
    let would = |rule: &CompiledRule| {
        rule.of_step && plan.takes(rule) && rule.conditions.iter().all(|c| c.holds_for_file(&situation))
    };
    // A verb reports its obstacles itself.
    let mut recipes = plan.recipes.recipes().iter().filter(|recipe| !plan.rejected(recipe) && !recipe.ports_step());
    let Some(recipe) = recipes.find(|recipe| recipe.rules.iter().any(would)) else { return Vec::new() };
    let told = obstacles(view, facts).into_iter().map(|obstacle| {
        let at = view.index.item(obstacle.at).start;
        Remark { stops_step: true, ..Remark::warning(at..at, &recipe.id, Said::from(obstacle)) }
    });
    told.collect()
}

/// Whether a rule with `stops=step` matches inside a training step of a file.
fn is_stopped(plan: &Plan<'_>, view: &FileView<'_>, facts: &ProjectFacts<'_, '_>) -> bool {
    let situation = plan.situation(view, facts);
    let recipes = plan.recipes.recipes().iter().filter(|recipe| !plan.rejected(recipe));
    let rules = recipes.flat_map(|recipe| &recipe.rules).filter(|rule| rule.stops_step && plan.takes(rule));
    rules.flat_map(|rule| matched(rule, &situation)).any(|found| view.steps.in_training(view, found.node))
}

/// The blocks that a patch adds, unless the file has them already.
fn brought(plan: &Plan<'_>, view: &FileView<'_>, patch: &Patch) -> Vec<BroughtBlock> {
    let definitions = plan.settings.definitions;
    let style = Layout { indent: &view.layout.indent, quote: view.layout.quote };
    let values = plan.settings.facts();
    let missing = patch.blocks.iter().filter(|name| !definitions.defined_by(name).iter().all(|n| view.defines(n)));
    missing
        .filter_map(|name| {
            Some(BroughtBlock { name: name.clone(), text: definitions.block(name, &values, style, &[])? })
        })
        .collect()
}
