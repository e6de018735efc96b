//! The style that a port takes by itself in a project with compute modes: by branches if the modes decide about the code
//! that has to change, and otherwise in place.

use super::plan::{Guarded, Plan};
use super::round::round;
use super::state::State;
use crate::messages;
use crate::place::Remark;
use crate::ported::{Severity, Style};
use python::tree::kinds;
use std::rc::Rc;
use training::{FileView, ProjectFacts};

/// Takes the style in place of branches if the program's modes are tested for less than half of the changes, and says so at
/// the first test. Changes that the user rejects count, so that a rejection does not change others.
pub(super) fn choose(
    plan: &mut Plan<'_>,
    states: &[State<'_>],
    views: &[Option<Rc<FileView<'_>>>],
    facts: &ProjectFacts<'_, '_>,
) {
    let Some(modes) = facts.modes.as_ref().filter(|_| plan.style == Style::Branch && !plan.own_mode) else { return };
    plan.chooses_style = true;
    round(plan, states, views, facts);
    plan.chooses_style = false;
    // What this round reported is of a port that may not be made.
    plan.trace.take();
    plan.lacking.take();
    plan.lost.take();
    let Guarded { changes, without_test } = plan.guarded.get();
    if changes > 0 && 2 * without_test <= changes {
        return;
    }
    plan.style = Style::InPlace;
    let first_test = views.iter().enumerate().find_map(|(n, view)| {
        let index = &view.as_ref()?.index;
        let mut comparisons = index.of_kind(kinds().comparison_operator).iter();
        Some((n, index.range(*comparisons.find(|test| modes.tested(index, **test).is_some())?)))
    });
    if let Some((n, range)) = first_test.filter(|_| changes > 0) {
        let said = messages::modes_decide_little(without_test.to_string(), changes.to_string());
        plan.lacking.borrow_mut().entry(n).or_default().push(Remark::of_engine(range, Severity::Info, said));
    }
}
