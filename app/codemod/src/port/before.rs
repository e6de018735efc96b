//! What Python would say against a file as it was given: none of a port's doing.

use python::compiles::{Rule, refused};
use python::scopes::{Unbound, unbound};
use python::tree::Index;
use std::collections::{BTreeMap, BTreeSet};

/// What was wrong with a file before.
#[derive(Default)]
pub(super) struct Before {
    rules: BTreeMap<Rule, usize>,
    unbound: BTreeSet<(String, bool)>,
}

impl Before {
    pub(super) fn read(index: &Index<'_>) -> Self {
        let mut before = Self::default();
        for fault in refused(index) {
            *before.rules.entry(fault.rule).or_default() += 1;
        }
        before.unbound = unbound(index).iter().map(|u| (u.name.to_owned(), u.early)).collect();
        before
    }

    /// Whether a name had no value before either.
    pub(super) fn has(&self, unbound: &Unbound<'_>) -> bool {
        let known = |early| self.unbound.contains(&(unbound.name.to_owned(), early));
        known(false) || (unbound.early && known(true))
    }

    /// How many places broke a rule.
    pub(super) fn count(&self, rule: Rule) -> usize {
        self.rules.get(&rule).copied().unwrap_or(0)
    }
}
