//! A test for the source vendor's device whose code is the same for the target.

use super::Vendors;
use super::flags::Decided;
use super::joined::first_of;
use crate::fix::{Fix, Lift};
use crate::guards::Guards;
use crate::reached::mentions;
use python::edit::{Change, Splice, spliced, splices};
use python::names::called_name;
use python::strings::plain_string;
use python::tree::{Id, fields, kinds};
use training::project::has_part;
use training::{FileView, ProjectFacts};

/// The test of a clause as one for the target alone, with what the rules change in its other parts.
pub(super) fn for_target(view: &FileView<'_>, guards: &dyn Guards, clause: Id, fixes: &[Fix]) -> Option<String> {
    let index = &view.index;
    let test = index.condition(clause)?;
    let asked = guards.retarget(view, test)?;
    let parts: Vec<Id> = index.parts(test).filter(|_| index.kind(test) == kinds().boolean_operator).collect();
    let besides = |fix: &Fix| {
        let own =
            |node: Id| parts.iter().any(|part| index.is_within(node, *part) && guards.retarget(view, *part).is_none());
        fix.lift != Lift::Neutral && fix.changes.iter().filter_map(Change::node).all(own)
    };
    let edits: Vec<Splice> = fixes
        .iter()
        .filter(|fix| besides(fix))
        .flat_map(|fix| fix.changes.iter().flat_map(|c| splices(view, c)))
        .collect();
    if parts.iter().any(|part| guards.retarget(view, *part).is_none() && still_asks_cuda(view, *part, &edits)) {
        return None;
    }
    if edits.is_empty() {
        return Some(asked);
    }
    let of_parts =
        parts.iter().filter_map(|part| Some(Splice { range: index.range(*part), text: guards.retarget(view, *part)? }));
    Some(spliced(index.text, index.range(test), of_parts.chain(edits).collect()))
}

/// The test of a clause as one for either device, if no rule changes its code, which therefore suits both.
pub(super) fn for_either(
    view: &FileView<'_>,
    guards: &dyn Guards,
    clause: Id,
    fixes: &[Fix],
    vendors: &Vendors<'_>,
) -> Option<Fix> {
    let index = &view.index;
    let test = index.condition(clause)?;
    let code = index.consequence(clause).or_else(|| index.parts(clause).next())?;
    let is_choice = is_choice_of_device(view, clause, code);
    if (vendors.is_alone)(code)
        || needs_vendor(view, test, code, vendors) && !is_choice
        || sets_vendors_variable(view, clause)
    {
        return None;
    }
    let mut parts: Vec<Id> = index.parts(test).filter(|_| index.kind(test) == kinds().boolean_operator).collect();
    if parts.is_empty() {
        parts.push(test);
    }
    let asks = |part: &Id| guards.retarget(view, *part).is_some();
    let (asked, others): (Vec<Id>, Vec<Id>) = parts.into_iter().partition(asks);
    if asked.is_empty() {
        return None;
    }
    // `torch.cuda.is_available() and torch.cuda.is_bf16_supported()`: what is asked besides may differ.
    let is_other = |fix: &&Fix| {
        let within = |node: Id| others.iter().any(|part| index.is_within(node, *part));
        fix.changes.iter().filter_map(Change::node).all(within)
    };
    let besides: Vec<&Fix> = fixes.iter().filter(is_other).collect();
    // A type of numbers chosen for CUDA leaves the target the one that every other device has, unless it is asked for one, or is
    // the one that the target is made for, and the others have a wide one.
    let is_type = |code: Id| ["float16", "half", "bfloat16"].iter().any(|name| mentions(view, code, name));
    let is_narrow = ["float16", "half"].iter().any(|name| mentions(view, code, name));
    let takes_wide = !is_narrow && other_of(view, clause).is_some_and(|other| !is_type(other));
    if besides.is_empty() && is_type(code) && !takes_wide && !refuses_others(view, clause) {
        return None;
    }
    let needs_test = besides.iter().any(|fix| fix.lift == Lift::Guarded);
    let of_parts = asked.iter().filter_map(|part| {
        let text = if needs_test { guards.retarget(view, *part)? } else { guards.either(view, *part)? };
        Some(Splice { range: index.range(*part), text })
    });
    let edits: Vec<Splice> =
        besides.iter().flat_map(|fix| fix.changes.iter().flat_map(|change| splices(view, change))).collect();
    if others.iter().any(|part| still_asks_cuda(view, *part, &edits)) {
        return None;
    }
    let text = spliced(index.text, index.range(test), of_parts.chain(edits).collect());
    let text = if needs_test { format!("{} or {text}", index.text_of(test)) } else { text };
    let mut fix = first_of(fixes);
    fix.changes = vec![Change::Raw { range: index.range(test), text }];
    fix.imports = besides.iter().flat_map(|fix| fix.imports.iter()).cloned().collect();
    Some(fix)
}

/// Whether a test without CUDA does without software of the vendor's, which other code of its clause uses: on the target it is
/// right as it is. `if amp is None or not torch.cuda.is_available():`
pub(super) fn turns_vendors_off(view: &FileView<'_>, node: Id, vendors: &Vendors<'_>, edits: &[Splice]) -> bool {
    let (k, index) = (kinds(), &view.index);
    let clause = index.ancestors(node).find(|around| index.condition(*around).is_some());
    let clause = clause.filter(|clause| index.condition(*clause).is_some_and(|test| index.is_within(node, test)));
    let Some((clause, test)) = clause.and_then(|clause| Some((clause, index.condition(clause)?))) else { return false };
    let is_denied = index.parent(node).is_some_and(|parent| index.kind(parent) == k.not_operator);
    // What the port changes beside the software, it ports; and an error there would stop the target.
    let is_ported = |edit: &Splice| {
        let around = index.innermost(&edit.range).and_then(|at| view.statement_of(at));
        let assigns = |statement: Id| index.parts(statement).any(|part| index.assignment(part).is_some());
        let is_inside = is_in(view, edit, clause) && !is_in(view, edit, test);
        is_inside && around.is_some_and(|statement| assigns(statement) && !(vendors.names)(statement))
    };
    let ends = |call: &&Id| called_name(index, **call).is_some_and(|name| ["exit", "_exit", "quit"].contains(&name));
    let is_over = !index.of_kind_in(k.raise_statement, clause).is_empty()
        || index.of_kind_in(k.call, clause).iter().any(|call| ends(&call));
    let does_without = other_of(view, clause).is_some_and(|other| (vendors.names)(other));
    is_denied && does_without && !is_over && !edits.iter().any(is_ported)
}

fn is_in(view: &FileView<'_>, edit: &Splice, node: Id) -> bool {
    view.index.range(node).contains(&edit.range.start)
}

/// Whether a test keeps from asking CUDA what its devices alone answer, in a part that these edits leave as it is:
/// `torch.cuda.is_available() and torch.cuda.nccl.version() >= (2, 10)`.
pub(super) fn guards_cuda(view: &FileView<'_>, node: Id, edits: &[Splice]) -> bool {
    let (k, index) = (kinds(), &view.index);
    let joins = |around: &Id| [k.boolean_operator, k.parenthesized_expression].contains(&index.kind(*around));
    let chains = index.ancestors(node).take_while(joins).filter(|around| index.operator(*around) == "and");
    let mut others = chains.flat_map(|around| index.parts(around)).filter(|part| !index.is_within(node, *part));
    others.any(|part| part > node && still_asks_cuda(view, part, edits))
}

/// The parts of the chain of `and` around a node.
fn joined(view: &FileView<'_>, node: Id) -> Vec<Id> {
    let (k, index) = (kinds(), &view.index);
    let joins = |around: &Id| [k.boolean_operator, k.parenthesized_expression].contains(&index.kind(*around));
    let is_and = |around: &Id| index.operator(*around) == "and";
    let around = index.ancestors(node).take_while(joins).skip_while(|around| !is_and(around));
    let mut chain: Vec<Id> = around.take_while(is_and).last().into_iter().collect();
    while let Some(at) = chain.iter().position(is_and) {
        let parts: Vec<Id> = index.parts(chain[at]).collect();
        chain.splice(at..=at, parts);
    }
    chain
}

/// Such a test beside one for the target, where its answer chooses the device or moves something: without that the target would
/// be the CPU.
pub(super) fn beside(
    view: &FileView<'_>,
    guards: &dyn Guards,
    project: &ProjectFacts<'_, '_>,
    node: Id,
    edits: &[Splice],
    mut fix: Fix,
) -> Option<Fix> {
    let (k, index) = (kinds(), &view.index);
    let parts = joined(view, node);
    let asks = |part: &Id| index.is_within(node, *part) || still_asks_cuda(view, *part, edits);
    let first = parts.iter().position(|part| index.is_within(node, *part))?;
    let last = parts.iter().rposition(asks).filter(|last| *last > first)?;
    // Other questions between them stand for the target too, and can't be asked twice.
    if !parts[first..=last].iter().all(asks) {
        return None;
    }
    let combines = [k.boolean_operator, k.parenthesized_expression, k.not_operator];
    let answer = index.ancestors(node).take_while(|around| combines.contains(&index.kind(*around))).last()?;
    Decided::by(view, project, answer).filter(|decided| decided.chooses_device(view))?;
    let [start, end] = [index.range(parts[first]).start, index.range(parts[last]).end];
    // What the device depends on can't ask it.
    let guard = guards.retarget(view, node)?;
    let is_all = parts.len() == last - first + 1;
    let (opening, closing) = if is_all { ("", "") } else { ("(", ")") };
    let mut changes = vec![Change::Raw { range: end..end, text: format!(" or {guard}{closing}") }];
    changes.extend((!is_all).then(|| Change::Raw { range: start..start, text: opening.to_owned() }));
    fix.changes = changes;
    Some(fix)
}

/// Whether a part of a test asks CUDA after these edits, which fails on the target or is never true there.
fn still_asks_cuda(view: &FileView<'_>, part: Id, edits: &[Splice]) -> bool {
    let index = &view.index;
    let of_cuda = |id: &Id| {
        let name = view.names.qualify(index, *id);
        name.is_some_and(|name| name.starts_with("torch.cuda.") || name == "torch.version.cuda")
    };
    let is_edited = || edits.iter().any(|edit| index.range(part).contains(&edit.range.start));
    index.of_kind_in(kinds().attribute, part).iter().chain([&part]).any(of_cuda) && !is_edited()
}

/// Whether the code of a test needs something that the vendor's machine alone may have: it names it, imports something or,
/// if the test asks a tensor, calls a function that is neither PyTorch's nor a method.
fn needs_vendor(view: &FileView<'_>, test: Id, code: Id, vendors: &Vendors<'_>) -> bool {
    let (k, index) = (kinds(), &view.index);
    let imports = [k.import_statement, k.import_from_statement];
    let asks_tensor =
        index.of_kind_in(k.attribute, test).iter().chain([&test]).any(|id| index.text_of(*id).ends_with(".is_cuda"));
    let is_function = |call: &Id| {
        let callee = index.callee(*call)?;
        let name = view.names.qualify(index, callee);
        Some(name.map_or(index.kind(callee) == k.identifier, |name| !name.starts_with("torch.")))
    };
    let calls = index.of_kind_in(k.call, code).iter().chain(Some(&code).filter(|code| index.kind(**code) == k.call));
    // `map_location=None` reads a file onto the device that it was written on.
    index.kind(code) == k.none
        || names_cuda(view, code, vendors)
        || imports.iter().any(|kind| !index.of_kind_in(*kind, code).is_empty())
        || asks_tensor && calls.filter_map(is_function).any(|is_function| is_function)
}

/// Whether code says "cuda" in a string or a name, other than that of a function of the project that is ported.
fn names_cuda(view: &FileView<'_>, code: Id, vendors: &Vendors<'_>) -> bool {
    let (k, index) = (kinds(), &view.index);
    let kinds = [k.identifier, k.string];
    let mut inside = kinds.iter().flat_map(|kind| index.of_kind_in(*kind, code)).chain([&code]).copied();
    inside.any(|id| {
        let text = index.text_of(id);
        kinds.contains(&index.kind(id)) && has_part(text, "cuda") && !(vendors.is_ported)(text)
    })
}

/// Whether a chain of tests ends in an error for all devices that it does not name.
fn refuses_others(view: &FileView<'_>, clause: Id) -> bool {
    let (k, index) = (kinds(), &view.index);
    let chain = index.parent(clause).filter(|_| index.kind(clause) == k.elif_clause).unwrap_or(clause);
    let other = index.children(chain).find(|other| index.kind(*other) == k.else_clause);
    let last = other.and_then(|other| index.body(other)).and_then(|body| index.parts(body).last());
    last.is_some_and(|last| index.kind(last) == k.raise_statement)
}

/// What runs, or is chosen, where the test of a clause is false.
fn other_of(view: &FileView<'_>, clause: Id) -> Option<Id> {
    let index = &view.index;
    let is_expression = index.kind(clause) == kinds().conditional_expression;
    index.otherwise(clause).or_else(|| index.parts(clause).nth(2).filter(|_| is_expression))
}

/// Whether a choice is the value of a variable that is named after the vendor's software: `environ["XLA_CUDA"] = "1" if test else "0"`.
fn sets_vendors_variable(view: &FileView<'_>, choice: Id) -> bool {
    let (k, index) = (kinds(), &view.index);
    let is_variable = |key: Id| {
        plain_string(index, key).is_some_and(|name| {
            let is_name = name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
            is_name && has_part(name, "cuda")
        })
    };
    let Some(parent) = index.parent(choice).filter(|_| index.kind(choice) == k.conditional_expression) else {
        return false;
    };
    let key = if index.kind(parent) == k.argument_list {
        index.parts(parent).take_while(|part| *part != choice).last()
    } else {
        index.target(parent).and_then(|target| index.field(target, fields().subscript))
    };
    key.is_some_and(is_variable)
}

/// `name if torch.cuda.is_available() else "cpu"`, also as a statement: what the name holds is chosen elsewhere.
fn is_choice_of_device(view: &FileView<'_>, clause: Id, code: Id) -> bool {
    let (k, index) = (kinds(), &view.index);
    let other = other_of(view, clause);
    let names = |at: Id, device: &str| {
        let mut strings =
            index.of_kind_in(k.string, at).iter().chain(Some(&at).filter(|at| index.kind(**at) == k.string));
        strings.any(|id| {
            index.text_of(*id).trim_start_matches(char::is_alphabetic).trim_matches(['"', '\'']).starts_with(device)
        })
    };
    index.kind(code) != k.none && !names(code, "cuda") && other.is_some_and(|other| names(other, "cpu"))
}
