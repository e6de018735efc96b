//! What is decided for a whole port, and what is noted on the way.

use super::Trace;
use super::state::Origin;
use crate::facts::modes::Region;
use crate::facts::{FileView, ProjectFacts};
use crate::order::Map;
use crate::place::Remark;
use crate::ported::Options;
use crate::recipe::{CompiledRule, Recipe, Target};
use crate::settings::Settings;
use crate::tree::Id;
use std::cell::RefCell;

/// Remarks by file.
pub(super) type Notes = Map<usize, Vec<Remark>>;

/// What is decided for the whole port.
pub(super) struct Plan<'a> {
    pub(super) recipes: &'a Target,
    pub(super) options: &'a Options,
    pub(super) settings: Settings<'a>,
    pub(super) branch: bool,
    pub(super) trace: &'a RefCell<Trace>,
    /// By file, from the first round on.
    pub(super) origins: Vec<Origin>,
    /// Matches of this round that could not be written, by file.
    pub(super) refused: RefCell<Notes>,
}

impl Plan<'_> {
    /// Whether a rule takes part in this port.
    pub(super) fn takes(&self, rule: &CompiledRule) -> bool {
        rule.sdk.admits(&self.settings.sdk)
            && rule.branch.is_none_or(|b| b == self.branch)
            && rule.option.as_ref().is_none_or(|(n, v)| self.settings.is(n, v))
    }

    pub(super) fn fired(&self, recipe: &Recipe, rule: &CompiledRule) {
        self.trace.borrow_mut().fired.insert((recipe.id.clone(), rule.line));
    }

    pub(super) fn refuse(
        &self,
        facts: &ProjectFacts,
        view: &FileView<'_>,
        file: usize,
        recipe: &Recipe,
        node: Id,
        fact: &str,
    ) {
        let index = &view.index;
        let elsewhere = facts
            .modes
            .as_ref()
            .filter(|_| self.branch)
            .is_some_and(|m| matches!(m.region(index, node), Region::Foreign | Region::Vendor { .. }));
        if elsewhere {
            return;
        }
        let what = match fact {
            "bridge" => "the target's library is not loaded where this code can reach it",
            _ => "the compute mode can't be read at this place",
        };
        let start = index.item(node).start;
        let message = format!("not ported: {what}. {}", recipe.reason);
        self.refused.borrow_mut().get_or_default(file).push(Remark::warning(start..start, &recipe.id, message));
    }

    pub(super) fn rejected(&self, recipe: &Recipe) -> bool {
        self.options.rejected_recipes.contains(&recipe.id)
    }
}
