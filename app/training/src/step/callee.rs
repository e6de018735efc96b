//! Model and loss in a separate function, which the training step calls.

use super::TrainingStep;
use super::calls::{arguments, spread};
use super::dataflow::{assigned, bound_in, leaves};
use super::extraction::{Extraction, Frame};
use super::fixed::units;
use super::forward::is_model_call;
use super::obstacle::Obstacle;
use crate::project::FileInProject;
use python::PythonFile;
use python::names::called_name;
use python::syntax::Parameter;
use python::tree::{Id, kinds};
use sorting::SortedSet;

/// A function of the file that runs the model and returns a loss, and how the step calls it.
pub struct LossFunction {
    function: Id,
    statements: Vec<Id>,
    returned: Vec<Id>,
    /// The caller's names for the results.
    pub(crate) targets: Vec<String>,
    /// Parameters and the caller's arguments.
    given: Vec<(String, String)>,
}

/// Reads a statement of the step as a call of such a function.
pub(crate) fn loss_function(file: FileInProject<'_, '_>, statement: Id) -> Option<LossFunction> {
    let k = kinds();
    let index = &file.view.index;
    let assignment = index.of_kind_in(k.assignment, statement).first().copied()?;
    let call = index.source(assignment).filter(|r| index.kind(*r) == k.call)?;
    let name = called_name(index, call)?;
    let mut named = index.of_kind(k.function_definition).iter().copied().filter(|d| file.name_of(*d) == name);
    let function = named.next().filter(|_| named.next().is_none())?;
    let own = file.class_of(function);
    let owner = file.index.receiver(call).map(|o| index.text_of(o));
    if owner.is_some() != own.is_some() || owner.is_some_and(|o| o != "self") {
        return None;
    }
    let body = index.body(function)?;
    let mut parts: Vec<Id> = index.parts(body).collect();
    let last = parts.pop().filter(|s| index.kind(*s) == k.return_statement)?;
    if index.of_kind_in(k.return_statement, function).len() != 1
        || !index.of_kind_in(k.call, function).iter().any(|c| is_model_call(file, *c) && file.is_reached(*c))
    {
        return None;
    }
    parts.retain(|s| !index.parts(*s).all(|e| index.kind(e) == k.string));
    let flat: Vec<Id> = parts
        .iter()
        .flat_map(|s| if index.kind(*s) == k.expression_statement { vec![*s] } else { leaves(&file, *s) })
        .collect();
    let statements = units(file, "", function, &flat);
    let assigns = |s: &Id| {
        index.kind(*s) != k.expression_statement
            || index.parts(*s).all(|e| [k.assignment, k.augmented_assignment].contains(&index.kind(e)))
    };
    // A statement that is neither an assignment nor a fixed test has other effects as well.
    if statements != parts || !statements.iter().all(assigns) {
        return None;
    }
    let value = index.parts(last).next()?;
    let returned = spread(&file, value);
    let left = index.target(assignment)?;
    let targets: Vec<String> = spread(&file, left).into_iter().map(|t| index.text_of(t).to_owned()).collect();
    (targets.len() == returned.len()).then_some(())?;
    let given = given(&file, function, call, own.is_some())?;
    Some(LossFunction { function, statements, returned, targets, given })
}

/// The argument of each parameter; none if that can't be determined.
fn given(file: &PythonFile<'_>, function: Id, call: Id, method: bool) -> Option<Vec<(String, String)>> {
    let index = &file.index;
    let definition = index.function(function)?;
    // A lone `*` or `/` changes the meaning of positions and names.
    let listed = definition.parameter_list().map_or(0, |list| index.parts(list).count());
    let parameters: Vec<Parameter<'_>> = definition.parameters().collect();
    if parameters.len() != listed || parameters.iter().any(|p| p.name.starts_with('*')) {
        return None;
    }
    let default = |p: &Parameter<'_>| p.default.map(|value| index.text_of(value).to_owned());
    let named = parameters.iter().skip(usize::from(method)).map(|p| (p.name.to_owned(), default(p)));
    let mut out: Vec<(String, Option<String>)> = named.collect();
    for (at, argument) in arguments(file, call).into_iter().enumerate() {
        let (slot, value) = if let Some(name) = index.keyword_name(argument) {
            (out.iter_mut().find(|(n, _)| n == name)?, index.value(argument)?)
        } else if index.text_of(argument).starts_with('*') {
            return None;
        } else {
            (out.get_mut(at)?, argument)
        };
        slot.1 = Some(index.text_of(value).to_owned());
    }
    out.into_iter().map(|(name, value)| value.map(|v| (name, v))).collect()
}

impl LossFunction {
    /// Moves the function's statements, and renames its results to the caller's names.
    pub(crate) fn move_into(
        &self,
        file: FileInProject<'_, '_>,
        known: &mut SortedSet<String>,
        moved: &mut Extraction,
        obstacles: &mut Vec<Obstacle>,
    ) {
        let locals: SortedSet<String> =
            self.statements.iter().flat_map(|s| assigned(&file, *s)).chain(["self"]).map(str::to_owned).collect();
        let mut inside: SortedSet<String> = SortedSet::new();
        let function = self.function;
        let bound = bound_in(&file, function);
        let none = SortedSet::new();
        let whole = Frame {
            file,
            function: Some(function),
            body: function,
            bound: &bound,
            known: &none,
            locals: &locals,
            numbers: &[],
            inputs: &[],
        };
        for &s in &self.statements {
            moved.take(&Frame { known: &inside, ..whole }, s, obstacles);
            inside.extend(assigned(&file, s).into_iter().map(str::to_owned));
        }
        for (value, target) in self.returned.iter().zip(&self.targets) {
            let text = moved.text_of(&Frame { known: &inside, ..whole }, *value, obstacles);
            let target = moved.local(target);
            if text != target && target != "_" {
                moved.body.push(format!("{target} = {text}"));
            }
            known.insert(target);
        }
        for (_, expression) in moved.parameters.iter_mut().chain(&mut moved.attributes) {
            *expression = self.as_called(expression);
        }
    }

    /// An expression of the function as its caller would write it.
    fn as_called(&self, expression: &str) -> String {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let mut out = String::new();
        let mut rest = expression;
        while let Some(first) = rest.chars().next() {
            let length =
                if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
            let (word, tail) = rest.split_at(length);
            match self.given.iter().find(|(name, _)| name == word && !out.ends_with('.')) {
                Some((_, value)) => {
                    let simple = value.chars().all(|c| is_word(c) || matches!(c, '.' | '[' | ']' | '"' | '\''));
                    out.push_str(&if simple || tail.is_empty() { value.clone() } else { format!("({value})") });
                }
                None => out.push_str(word),
            }
            rest = tail;
        }
        out
    }

    /// Calls of the model in it, if it has callers besides the step: those usually validate.
    pub fn model_calls_for_others(&self, step: &TrainingStep<'_, '_>) -> Vec<Id> {
        let file = step.file;
        let index = &file.view.index;
        let name = file.name_of(self.function);
        let elsewhere = file.calls(name).iter().any(|c| !index.is_within(*c, step.whole) && step.is_alive(*c));
        let calls = index.of_kind_in(kinds().call, self.function).iter().copied();
        calls.filter(|c| elsewhere && is_model_call(file, *c)).collect()
    }
}
