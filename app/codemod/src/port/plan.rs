//! Decisions for a whole port, and notes collected during it.

use super::Trace;
use super::state::Origin;
use crate::condition::Situation;
use crate::definitions::Said;
use crate::guards::Guards;
use crate::guards::by_device::ByDevice;
use crate::messages;
use crate::place::Remark;
use crate::ported::{Options, Style};
use crate::recipe::{Body, CompiledRule, Recipe, Target};
use crate::rope::Provenance;
use crate::settings::Settings;
use guide::Switch;
use python::tree::Id;
use sorting::{SortedMap, SortedSet};
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use training::modes::Region;
use training::{FileInProject, FileView, ProjectFacts, Unused};

/// Messages by file.
pub(super) type Notes = SortedMap<usize, Vec<Remark>>;

/// Changes that need a test for the target.
#[derive(Clone, Copy, Default)]
pub(super) struct Guarded {
    /// All of them.
    pub(super) changes: usize,
    /// Those for which the program has no test.
    pub(super) without_test: usize,
}

/// Decisions for the whole port.
pub(super) struct Plan<'a> {
    pub(super) recipes: &'a Target,
    pub(super) options: &'a Options,
    pub(super) settings: Settings<'a>,
    /// In place, by branches, or one program for all devices.
    pub(super) style: Style,
    /// The project has branches for the target already, and no more were requested: code without one is unchanged.
    pub(super) own_mode: bool,
    /// The target as a device beside others, in the agnostic style.
    pub(super) device: Option<ByDevice<'a>>,
    /// Whether a file of the original project names a device; known from the first round on.
    pub(super) names_device: Option<bool>,
    /// Functions and classes of the original project that name a device.
    pub(super) naming_device: Option<Rc<SortedSet<String>>>,
    /// Code that none of the original project's programs reaches.
    pub(super) unused: Option<Rc<Unused>>,
    /// Whether the original project passes losses to a scaler.
    pub(super) hands_losses: Option<bool>,
    pub(super) wraps_models: Option<bool>,
    pub(super) replicates_models: Option<bool>,
    /// Whether the port moves models of a project that names no device.
    pub(super) moves_models: Option<bool>,
    /// The name by which agnostic style asks for a target that compiles the step; known from the first round on.
    pub(super) switch: Option<Option<Switch>>,
    pub(super) trace: &'a RefCell<Trace>,
    /// By file, from the first round on.
    pub(super) origins: Vec<Origin>,
    /// Matches of this round that could not be written, by file.
    pub(super) refused: RefCell<Notes>,
    /// Places that no round could write because a value is missing, by places of the original.
    pub(super) lacking: RefCell<Notes>,
    /// What edits cost at the places that they change, by places of the original.
    pub(super) lost: RefCell<Notes>,
    /// What stays as it is for other devices and does nothing on the target, by file, in the texts of this round.
    pub(super) stays: RefCell<SortedMap<usize, Vec<Range<usize>>>>,
    /// Changes of this round that need a test for the target.
    pub(super) guarded: Cell<Guarded>,
    /// The style is being chosen: nothing counts as rejected.
    pub(super) chooses_style: bool,
    /// Edits and recipes that are disabled for a file, by file: they would make it invalid.
    pub(super) barred: RefCell<SortedMap<usize, SortedSet<String>>>,
}

impl<'a> Plan<'a> {
    /// Whether the code for other devices stays.
    pub(super) fn keeps_others(&self) -> bool {
        self.style != Style::InPlace
    }

    /// The tests under which the target's code is put, if the code for others stays.
    pub(super) fn guards<'g>(&'g self, facts: &'g ProjectFacts<'_, '_>) -> Option<&'g dyn Guards> {
        match self.style {
            Style::Branch => facts.modes.as_ref().map(|modes| modes as &dyn Guards),
            Style::Agnostic => match &self.device {
                Some(device) => Some(device),
                None => facts.modes.as_ref().map(|modes| modes as &dyn Guards),
            },
            Style::Auto | Style::InPlace => None,
        }
    }

    /// Whether a rule takes part in this port.
    pub(super) fn takes(&self, rule: &CompiledRule) -> bool {
        rule.sdk.admits(&self.settings.sdk)
            && (rule.styles.is_empty() || rule.styles.contains(&self.style))
            && rule.option.as_ref().is_none_or(|(n, v)| self.settings.is(n, v))
    }

    /// A file of this round, outside of a verb.
    pub(super) fn situation<'s, 't>(
        &'s self,
        view: &'s FileView<'t>,
        project: &'s ProjectFacts<'s, 't>,
    ) -> Situation<'s, 't> {
        Situation {
            branch: self.keeps_others() && project.modes.is_some(),
            ..Situation::of_file(FileInProject { view, project }, &self.settings)
        }
    }

    pub(super) fn fired(&self, recipe: &Recipe, rule: &CompiledRule) {
        self.trace.borrow_mut().fired.insert((recipe.id.clone(), rule.line));
    }

    pub(super) fn refuse(
        &self,
        facts: &ProjectFacts<'_, '_>,
        view: &FileView<'_>,
        file: usize,
        recipe: &Recipe,
        node: Id,
        fact: &str,
    ) {
        let index = &view.index;
        let elsewhere = self
            .guards(facts)
            .is_some_and(|guards| matches!(guards.region(view, node), Region::Foreign | Region::Vendor { .. }));
        if elsewhere {
            return;
        }
        let message = match fact {
            "bridge" => messages::bridge_out_of_reach(&recipe.reason),
            _ => messages::mode_out_of_reach(&recipe.reason),
        };
        let start = index.item(node).start;
        self.refused.borrow_mut().entry(file).or_default().push(Remark::warning(start..start, &recipe.id, message));
    }

    /// That a rule writes a value which the release does not have; `at` is its place in the original. Other rules may
    /// change the text so that this one matches no more, and it has to be reported anyway.
    pub(super) fn lacks_value(&self, file: usize, at: usize, recipe: &Recipe, fact: &str) {
        let name = fact.strip_prefix("variable.").unwrap_or(fact);
        let (variable, meaning) = name.split_once('.').unwrap_or((name, ""));
        let message = messages::no_value_in_release(variable, meaning, &self.settings.sdk, &recipe.reason);
        self.left_out(file, Remark::warning(at..at, &recipe.id, message));
    }

    /// What no later round can report, by its place in the original.
    pub(super) fn left_out(&self, file: usize, remark: Remark) {
        let mut lacking = self.lacking.borrow_mut();
        let known = lacking.entry(file).or_default();
        let is_same = |other: &Remark| {
            (&other.range, &other.recipe, &other.message) == (&remark.range, &remark.recipe, &remark.message)
        };
        if !known.iter().any(is_same) {
            known.push(remark);
        }
    }

    /// Disables an edit for a file and reports its place. For a training step, all edits are disabled together.
    pub(super) fn bar(&self, file: usize, by: &Provenance, why: Said) {
        let of_step = |recipe: &&Arc<Recipe>| {
            recipe.rules.iter().any(|r| r.of_step || matches!(&r.body, Body::Handler(h) if h.ports_step))
        };
        let recipes = self.recipes.recipes();
        let mut barred = self.barred.borrow_mut();
        let names = barred.entry(file).or_default();
        let stops_step = recipes.iter().filter(of_step).any(|recipe| recipe.id == by.recipe);
        if stops_step {
            names.extend(recipes.iter().filter(of_step).map(|recipe| recipe.id.clone()));
        } else {
            names.insert(by.id.clone());
        }
        let at = by.id.rsplit('@').next().and_then(|at| at.parse().ok()).unwrap_or(0);
        let remark = Remark { stops_step, ..Remark::warning(at..at, &by.recipe, why) };
        self.lacking.borrow_mut().entry(file).or_default().push(remark);
    }

    /// Whether an edit or a recipe is disabled for a file.
    pub(super) fn is_barred(&self, file: usize, name: &str) -> bool {
        self.barred.borrow().get(&file).is_some_and(|names| names.contains(name))
    }

    /// Whether a place of an original file is left as it is, without a message.
    pub(super) fn is_settled(&self, file: usize, at: usize) -> bool {
        self.origins.get(file).is_some_and(|origin| {
            let settled = origin.settled.iter().filter(|_| !self.keeps_others());
            settled.chain(&origin.guarded).chain(&origin.older).any(|range| range.contains(&at))
        })
    }

    /// Whether only releases of PyTorch without the newer names run a place of an original file.
    pub(super) fn is_for_older(&self, file: usize, at: usize) -> bool {
        self.origins.get(file).is_some_and(|origin| origin.older.iter().any(|range| range.contains(&at)))
    }

    /// Whether a place of an original file is left as it is.
    pub(super) fn is_kept(&self, file: usize, at: usize) -> bool {
        self.origins.get(file).is_some_and(|origin| {
            let kept = origin.settled.iter().chain(&origin.kept).filter(|_| !self.keeps_others());
            let chosen = origin.choices.iter().filter(|_| self.style == Style::Agnostic);
            kept.chain(chosen).chain(&origin.guards).chain(&origin.guarded).any(|range| range.contains(&at))
        })
    }

    pub(super) fn rejected(&self, recipe: &Recipe) -> bool {
        !self.chooses_style && self.options.rejected_recipes.contains(&recipe.id)
    }
}
