//! A model that is called in one function, with the loss computed in the caller.

use super::TrainingStep;
use super::calls::{arguments, is_parameter, spread};
use super::dataflow::reads;
use super::forward::is_model_call;
use super::obstacle::{self as why, Found};
use crate::project::FileInProject;
use python::PythonFile;
use python::names::called_name;
use python::tree::{Id, kinds};

/// A function of the file that calls the model and returns the output unchanged, and how the step calls it.
pub struct ForwardFunction {
    /// The caller's name for the output.
    pub output: String,
    /// Position of the output in the result.
    pub place: usize,
    /// The model as it is written there.
    pub model: String,
    /// Its name.
    pub name: String,
    /// Calls of the model there, each in a statement `name = model(input)`.
    pub calls: Vec<Id>,
}

/// Reads a statement of the step as a call of such a function.
pub(crate) fn forward_function(file: FileInProject<'_, '_>, statement: Id) -> Option<ForwardFunction> {
    let k = kinds();
    let index = &file.view.index;
    let assignment = index.of_kind_in(k.assignment, statement).first().copied()?;
    let call = index.source(assignment).filter(|r| index.kind(*r) == k.call)?;
    let name = called_name(index, call)?;
    let function = index.of_kind(k.function_definition).iter().copied().find(|d| file.name_of(*d) == name)?;
    let calls: Vec<Id> = index
        .of_kind_in(k.assignment, function)
        .iter()
        .filter_map(|a| index.source(*a))
        .filter(|r| index.kind(*r) == k.call && file.is_reached(*r))
        .filter(|r| {
            is_model_call(file, *r)
                || index.callee(*r).is_some_and(|g| {
                    // A network that callers may pass in.
                    index.kind(g) == k.identifier && is_parameter(&file, function, index.text_of(g))
                })
        })
        .collect();
    let own = calls.iter().copied().find(|c| is_model_call(file, *c))?;
    let model = index.text_of(index.callee(own)?).to_owned();
    // All assign the same name, which is returned unchanged.
    let local = index.parent(own).and_then(|a| index.target(a)).map(|l| index.text_of(l))?;
    let same = calls.iter().all(|c| {
        let one = matches!(arguments(&file, *c).as_slice(), [only] if index.kind(*only) != k.keyword_argument);
        one && index.parent(*c).and_then(|a| index.target(a)).is_some_and(|l| index.text_of(l) == local)
    });
    let returns: Vec<Id> = index.of_kind_in(k.return_statement, function).to_vec();
    let [only] = returns.as_slice() else { return None };
    let value = index.parts(*only).next()?;
    let values = spread(&file, value);
    let place = values.iter().position(|v| index.text_of(*v) == local)?;
    let untouched = reads(&file, function).iter().filter(|r| index.text_of(**r) == local).count() == 1;
    let left = index.target(assignment)?;
    let names: Vec<&str> = if index.kind(left) == k.pattern_list {
        index.parts(left).map(|p| index.text_of(p)).collect()
    } else {
        vec![index.text_of(left)]
    };
    (same && untouched && names.len() == values.len()).then(|| ForwardFunction {
        output: names[place].to_owned(),
        place,
        model,
        name: name.to_owned(),
        calls,
    })
}

/// A call of the function outside the step, which runs the model itself once the function returns its input.
pub struct OtherCaller<'t> {
    pub statement: Id,
    /// The caller's name for the output.
    pub output: &'t str,
    /// The model, as it is written there.
    pub model: String,
}

impl ForwardFunction {
    /// The callers other than the statement `own` of the step.
    pub fn other_callers<'t>(&self, step: &TrainingStep<'_, 't>, own: Id) -> Found<Vec<OtherCaller<'t>>> {
        let k = kinds();
        let file = step.file;
        let index = &file.view.index;
        let mut out = Vec::new();
        for &call in file.calls(&self.name) {
            let Some(statement) = file.statement_of(call) else { continue };
            if statement == own || !step.is_alive(statement) {
                continue;
            }
            let left = index.of_kind_in(k.assignment, statement).first().and_then(|a| index.target(*a));
            let name = left
                .and_then(|l| if index.kind(l) == k.pattern_list { index.parts(l).nth(self.place) } else { Some(l) });
            let Some(name) = name.filter(|n| index.kind(*n) == k.identifier) else {
                return Err(why::output_used_at_once(call));
            };
            let model = self.handed_in(&file, call).unwrap_or_else(|| self.model.clone());
            out.push(OtherCaller { statement, output: index.text_of(name), model });
        }
        Ok(out)
    }

    /// The network that a caller passes in, if the function has a parameter for one.
    fn handed_in(&self, file: &PythonFile<'_>, call: Id) -> Option<String> {
        let k = kinds();
        let index = &file.index;
        let function = self.calls.first().and_then(|c| file.function_of(*c))?;
        let taken = self
            .calls
            .iter()
            .filter_map(|c| index.callee(*c))
            .find(|g| index.kind(*g) == k.identifier && is_parameter(file, function, index.text_of(*g)))?;
        let name = index.text_of(taken);
        let given = file.index.arguments(call).keyword(name).or_else(|| {
            let method = index.callee(call).is_some_and(|g| index.kind(g) == k.attribute);
            let mut parameters = index.function(function)?.parameters().skip(usize::from(method));
            let place = parameters.position(|p| p.name.trim_start_matches('*') == name)?;
            arguments(file, call).get(place).copied().filter(|a| index.kind(*a) != k.keyword_argument)
        })?;
        Some(index.text_of(given).to_owned()).filter(|g| g != "None")
    }
}
