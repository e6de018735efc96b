//! Python errors in the original file, which the port did not cause.

use python::compiles::{Rule, refused};
use python::scopes::{Unbound, unbound};
use python::tree::Index;
use sorting::{SortedMap, SortedSet};

/// The errors in a file before.
#[derive(Default)]
pub(super) struct Before {
    rules: SortedMap<Rule, usize>,
    unbound: SortedSet<(String, bool)>,
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

    /// Whether a name had no value before, too.
    pub(super) fn has(&self, unbound: &Unbound<'_>) -> bool {
        let known = |early| self.unbound.contains(&(unbound.name.to_owned(), early));
        known(false) || (unbound.early && known(true))
    }

    /// The number of places that violated a rule.
    pub(super) fn count(&self, rule: Rule) -> usize {
        self.rules.get(&rule).copied().unwrap_or(0)
    }
}
