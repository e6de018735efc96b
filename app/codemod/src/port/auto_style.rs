//! The style that a port takes by itself: by branches if the project's compute modes decide about the code that has to change;
//! one program for all devices if the program chooses its device and the target is one of PyTorch's; and otherwise in place.

use super::plan::{Guarded, Plan};
use super::round::round;
use super::state::State;
use crate::condition::is_chosen;
use crate::messages;
use crate::place::Remark;
use crate::ported::{Severity, Style};
use crate::reached::{asks_for_cuda, mentions, tests_for, tests_for_others};
use crate::recipe::CompiledRule;
use python::names::called_name;
use python::strings::plain_string;
use python::tree::{Id, kinds};
use std::rc::Rc;
use training::words::{ACCELERATOR_QUESTIONS, DEVICE_CHOOSERS};
use training::{FileView, ProjectFacts};

/// The style of a program without compute modes.
pub(super) fn without_modes(plan: &Plan<'_>, views: &[Option<Rc<FileView<'_>>>]) -> Style {
    let Some(device) = plan.device.as_ref().filter(|_| !asks_for_in_place(plan)) else { return Style::InPlace };
    // The result of a port in agnostic style is one program for all devices, too.
    let asks_both = |view: &FileView<'_>| {
        let mut calls = view.calls("is_available").iter().filter_map(|call| view.qualified(*call));
        view.index.text.contains(&device.available(view)) && calls.any(|name| name == "torch.cuda.is_available")
    };
    let is_chosen = views.iter().flatten().any(|view| chooses_device(view) || asks_both(view) || leaves_choice(view));
    // A port in place tests for the target alone, and so does one that a person made for it.
    let names = |kind: &str| views.iter().flatten().any(|view| tests_for(view, kind));
    let serves_several = || {
        views.iter().flatten().any(|view| tests_for_others(view, device.kind)) || names(device.kind) && names("cuda")
    };
    if is_chosen || serves_several() { Style::Agnostic } else { Style::InPlace }
}

/// Whether a file leaves the choice to a library that has the devices of all vendors: it asks one for the device, or lets an
/// object that moves the model choose.
fn leaves_choice(view: &FileView<'_>) -> bool {
    let index = &view.index;
    let is_one_of = |call: Id, names: &[&str]| {
        index.callee(call).is_some_and(|callee| names.iter().any(|name| view.names.stands_for(index, callee, name)))
    };
    let is_automatic = |given: &Id| {
        let call = index.parent(*given).and_then(|list| index.parent(list));
        index.keyword_name(*given) == Some("accelerator")
            && index.value(*given).is_some_and(|value| plain_string(index, value) == Some("auto"))
            && call.is_some_and(|call| is_one_of(call, DEVICE_CHOOSERS))
    };
    let last = |name: &'static &str| name.rsplit('.').next().unwrap_or(name);
    let mut asked = ACCELERATOR_QUESTIONS.iter().map(last).flat_map(|name| view.calls(name));
    asked.any(|call| is_one_of(*call, ACCELERATOR_QUESTIONS))
        || index.of_kind(kinds().keyword_argument).iter().any(is_automatic)
}

/// Whether the user chose an option that has recipes of its own, which only port in place.
fn asks_for_in_place(plan: &Plan<'_>) -> bool {
    let chosen = |(name, value): &(String, String)| plan.options.options.get(name) == Some(value);
    let is_of_option =
        |rule: &CompiledRule| rule.styles == [Style::InPlace] && rule.option.as_ref().is_some_and(chosen);
    plan.recipes.recipes().iter().any(|recipe| !recipe.rules.is_empty() && recipe.rules.iter().all(is_of_option))
}

/// Whether a file chooses its device: by a test for CUDA, as an option with a default, or by asking PyTorch.
fn chooses_device(view: &FileView<'_>) -> bool {
    let (k, index) = (kinds(), &view.index);
    let is_moved = |string: Id| {
        let given = index.parent(string).filter(|given| index.kind(*given) == k.argument_list);
        let by_name = index.ancestors(string).find_map(|around| index.keyword_name(around));
        by_name == Some("map_location")
            || given.and_then(|given| index.parent(given)).is_some_and(|call| called_name(index, call) == Some("to"))
    };
    let names_device = |string: Id| {
        let kind = plain_string(index, string).and_then(|text| text.split(':').next());
        matches!(kind, Some("cpu" | "cuda")) && !is_moved(string)
    };
    let tests = [k.if_statement, k.elif_clause, k.conditional_expression];
    let mut choices = tests.iter().flat_map(|kind| index.of_kind(*kind));
    let is_choice = |choice: &Id| {
        let test = index.condition(*choice).filter(|test| asks_for_cuda(view, *test) || mentions(view, *test, "cuda"));
        test.is_some_and(|test| {
            index.of_kind_in(k.string, *choice).iter().any(|s| !index.is_within(*s, test) && names_device(*s))
        })
    };
    let is_default = |given: &Id| {
        let call = || index.ancestors(*given).find(|around| index.kind(*around) == k.call);
        index.keyword_name(*given) == Some("default")
            && index.value(*given).is_some_and(|value| {
                let is_cuda = |string: Id| plain_string(index, string).is_some_and(|text| text.starts_with("cuda"));
                names_device(value) && is_cuda(value) || index.of_kind_in(k.string, value).iter().any(|s| is_cuda(*s))
            })
            && call().is_some_and(|call| called_name(index, call) == Some("add_argument"))
    };
    choices.any(is_choice)
        || index.of_kind(k.keyword_argument).iter().any(is_default)
        || view.calls("current_accelerator").iter().any(|call| is_chosen(view, *call))
}

/// Takes another style than branches if the program's modes are tested for less than half of the changes, and says so at
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
    plan.style = without_modes(plan, views);
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
