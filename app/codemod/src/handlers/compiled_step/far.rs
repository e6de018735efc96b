//! A model that is called in one function, and whose loss is computed in the caller.

use super::plan::Plan;
use super::slice::reads;
use super::{Input, Refusal, is_reached, refuse};
use crate::change::Change;
use crate::facts::FileView;
use crate::names::called_name;
use crate::tree::{Id, fields, kinds};

/// The model's call in another function of the file, whose result that function hands on untouched.
pub(super) struct Far {
    /// The caller's name for the output.
    pub(super) output: String,
    /// Place of the output in what is returned.
    pub(super) place: usize,
    pub(super) model: String,
    pub(super) name: String,
    /// Calls of the model there, each in a statement `name = model(input)`.
    pub(super) calls: Vec<Id>,
}

pub(super) fn far_call(
    input: &Input<'_, '_>,
    view: &FileView<'_>,
    statement: Id,
    is_model: &dyn Fn(Id) -> bool,
) -> Option<Far> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let assignment = index.of_kind_in(k.assignment, statement).first().copied()?;
    let call = index.field(assignment, f.right).filter(|r| index.kind(*r) == k.call)?;
    let name = called_name(index, call)?;
    let function = index.of_kind(k.function_definition).iter().copied().find(|d| view.name_of(*d) == name)?;
    let calls: Vec<Id> = index
        .of_kind_in(k.assignment, function)
        .iter()
        .filter_map(|a| index.field(*a, f.right))
        .filter(|r| index.kind(*r) == k.call && is_reached(input, view, *r))
        .filter(|r| {
            is_model(*r)
                || index.field(*r, f.function).is_some_and(|g| {
                    // A network that callers may hand in.
                    index.kind(g) == k.identifier && is_parameter(view, function, index.text_of(g))
                })
        })
        .collect();
    let own = calls.iter().copied().find(|c| is_model(*c))?;
    let model = index.text_of(index.field(own, f.function)?).to_owned();
    // All give the same name, which is handed on untouched.
    let local = index.parent(own).and_then(|a| index.field(a, f.left)).map(|l| index.text_of(l))?;
    let same = calls.iter().all(|c| {
        let one = index.field(*c, f.arguments).is_some_and(|a| {
            let parts: Vec<Id> = index.parts(a).collect();
            parts.len() == 1 && index.kind(parts[0]) != k.keyword_argument
        });
        one && index.parent(*c).and_then(|a| index.field(a, f.left)).is_some_and(|l| index.text_of(l) == local)
    });
    let returns: Vec<Id> = index.of_kind_in(k.return_statement, function).to_vec();
    let [only] = returns.as_slice() else { return None };
    let value = index.parts(*only).next()?;
    let values: Vec<Id> = if [k.expression_list, k.tuple].contains(&index.kind(value)) {
        index.parts(value).collect()
    } else {
        vec![value]
    };
    let place = values.iter().position(|v| index.text_of(*v) == local)?;
    let untouched = reads(view, function).iter().filter(|r| index.text_of(**r) == local).count() == 1;
    let left = index.field(assignment, f.left)?;
    let names: Vec<&str> = if index.kind(left) == k.pattern_list {
        index.parts(left).map(|p| index.text_of(p)).collect()
    } else {
        vec![index.text_of(left)]
    };
    (same && untouched && names.len() == values.len()).then(|| Far {
        output: names[place].to_owned(),
        place,
        model,
        name: name.to_owned(),
        calls,
    })
}

pub(super) fn is_parameter(view: &FileView<'_>, function: Id, name: &str) -> bool {
    let index = &view.index;
    index.field(function, fields().parameters).is_some_and(|parameters| {
        index
            .parts(parameters)
            .any(|p| index.text_of(p) == name || index.children(p).next().is_some_and(|n| index.text_of(n) == name))
    })
}

/// The function hands back the model's input; every caller runs the model itself.
pub(super) fn hand_back_input(
    plan: &mut Plan<'_, '_>,
    far: &Far,
    own: Id,
    alive: &dyn Fn(Id) -> bool,
) -> Result<(), Refusal> {
    let (k, f) = (kinds(), fields());
    let view = plan.view;
    let index = &view.index;
    for &call in &far.calls {
        let Some(argument) = index.field(call, f.arguments).and_then(|a| index.parts(a).next()) else { continue };
        let text = index.text_of(argument).to_owned();
        plan.edit(call, Change::Expression { node: call, range: index.range(call), text });
    }
    for &call in view.calls(&far.name) {
        let Some(statement) = view.statement_of(call) else { continue };
        if statement == own || !alive(statement) {
            continue;
        }
        let left = index.of_kind_in(k.assignment, statement).first().and_then(|a| index.field(*a, f.left));
        let name =
            left.and_then(|l| if index.kind(l) == k.pattern_list { index.parts(l).nth(far.place) } else { Some(l) });
        let Some(name) = name.filter(|n| index.kind(*n) == k.identifier) else {
            return refuse(call, "this caller uses the model's output at once. Assign it to a name first");
        };
        let name = index.text_of(name);
        let model = handed_in(view, far, call).unwrap_or_else(|| far.model.clone());
        let text = format!("{name} = ipu_inference({model})({name})");
        plan.edit(statement, Change::Insert { at: statement, after: true, text });
    }
    Ok(())
}

/// The network that a caller hands in, where the function takes one.
fn handed_in(view: &FileView<'_>, far: &Far, call: Id) -> Option<String> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let function = far.calls.first().and_then(|c| view.function_of(*c))?;
    let taken = far
        .calls
        .iter()
        .filter_map(|c| index.field(*c, f.function))
        .find(|g| index.kind(*g) == k.identifier && is_parameter(view, function, index.text_of(*g)))?;
    let name = index.text_of(taken);
    let arguments: Vec<Id> = index.parts(index.field(call, f.arguments)?).collect();
    let by_name = arguments.iter().copied().find(|a| {
        index.kind(*a) == k.keyword_argument && index.field(*a, f.name).is_some_and(|n| index.text_of(n) == name)
    });
    let given = by_name.and_then(|a| index.field(a, f.value)).or_else(|| {
        let method = index.field(call, f.function).is_some_and(|g| index.kind(g) == k.attribute);
        let parameters = index.field(function, f.parameters)?;
        let place = index.parts(parameters).skip(usize::from(method)).position(|p| {
            index.text_of(p) == name || index.children(p).next().is_some_and(|n| index.text_of(n) == name)
        })?;
        arguments.get(place).copied().filter(|a| index.kind(*a) != k.keyword_argument)
    })?;
    Some(index.text_of(given).to_owned()).filter(|g| g != "None")
}
