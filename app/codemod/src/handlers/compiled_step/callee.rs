//! Model and loss in a function of their own, which the training step calls: what stands there moves into the module.

use super::moved::{Moved, moved_statement};
use super::plan::Plan;
use super::units::units;
use super::{Input, Refusal, is_reached};
use crate::change::Change;
use crate::facts::FileView;
use crate::names::{called_name, dotted};
use crate::order::Set;
use crate::tree::{Id, fields, kinds};

/// A function of this file that runs the model and gives a loss, and how the step calls it.
pub(super) struct Callee {
    function: Id,
    statements: Vec<Id>,
    returned: Vec<Id>,
    /// The caller's names for what is returned.
    pub(super) targets: Vec<String>,
    /// Parameter and what the caller gives for it.
    given: Vec<(String, String)>,
}

pub(super) fn callee(
    input: &Input<'_, '_>,
    view: &FileView<'_>,
    statement: Id,
    is_model: &dyn Fn(Id) -> bool,
) -> Option<Callee> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let assignment = index.of_kind_in(k.assignment, statement).first().copied()?;
    let call = index.field(assignment, f.right).filter(|r| index.kind(*r) == k.call)?;
    let name = called_name(index, call)?;
    let mut named = index.of_kind(k.function_definition).iter().copied().filter(|d| view.name_of(*d) == name);
    let function = named.next().filter(|_| named.next().is_none())?;
    let own = view.class_of(function);
    let receiver = index.field(call, f.function).and_then(|g| index.field(g, f.object)).map(|o| index.text_of(o));
    if receiver.is_some() != own.is_some() || receiver.is_some_and(|r| r != "self") {
        return None;
    }
    let body = index.field(function, f.body)?;
    let mut parts: Vec<Id> = index.parts(body).collect();
    let last = parts.pop().filter(|s| index.kind(*s) == k.return_statement)?;
    if index.of_kind_in(k.return_statement, function).len() != 1
        || !index.of_kind_in(k.call, function).iter().any(|c| is_model(*c) && is_reached(input, view, *c))
    {
        return None;
    }
    parts.retain(|s| !index.parts(*s).all(|e| index.kind(e) == k.string));
    let flat: Vec<Id> = parts
        .iter()
        .flat_map(|s| if index.kind(*s) == k.expression_statement { vec![*s] } else { super::slice::leaves(view, *s) })
        .collect();
    let statements = units(input, view, function, &flat);
    let assigns = |s: &Id| {
        index.kind(*s) != k.expression_statement
            || index.parts(*s).all(|e| [k.assignment, k.augmented_assignment].contains(&index.kind(e)))
    };
    // What is neither an assignment nor a fixed test does something else as well.
    if statements != parts || !statements.iter().all(assigns) {
        return None;
    }
    let value = index.parts(last).next()?;
    let spread = |id: Id| [k.expression_list, k.tuple, k.pattern_list, k.tuple_pattern].contains(&index.kind(id));
    let returned: Vec<Id> = if spread(value) { index.parts(value).collect() } else { vec![value] };
    let left = index.field(assignment, f.left)?;
    let targets: Vec<String> = if spread(left) { index.parts(left).collect() } else { vec![left] }
        .into_iter()
        .map(|t| index.text_of(t).to_owned())
        .collect();
    (targets.len() == returned.len()).then_some(())?;
    let given = given(view, function, call, own.is_some())?;
    Some(Callee { function, statements, returned, targets, given })
}

/// What each parameter is given; none where that can't be read.
fn given(view: &FileView<'_>, function: Id, call: Id, method: bool) -> Option<Vec<(String, String)>> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let mut names: Vec<(String, Option<String>)> = Vec::new();
    for p in index.parts(index.field(function, f.parameters)?).skip(usize::from(method)) {
        let kind = index.kind(p);
        let name = index.field(p, f.name).or_else(|| index.parts(p).next()).unwrap_or(p);
        let default = index.field(p, f.value).map(|v| index.text_of(v).to_owned());
        let plain = [k.identifier, k.typed_parameter, k.default_parameter, k.typed_default_parameter].contains(&kind);
        if !plain || index.kind(name) != k.identifier {
            return None;
        }
        names.push((index.text_of(name).to_owned(), default));
    }
    let mut out: Vec<(String, Option<String>)> = names;
    for (at, argument) in index.parts(index.field(call, f.arguments)?).enumerate() {
        let (slot, value) = if index.kind(argument) == k.keyword_argument {
            let name = index.field(argument, f.name).map(|n| index.text_of(n))?;
            (out.iter_mut().find(|(n, _)| n == name)?, index.field(argument, f.value)?)
        } else if index.text_of(argument).starts_with('*') {
            return None;
        } else {
            (out.get_mut(at)?, argument)
        };
        slot.1 = Some(index.text_of(value).to_owned());
    }
    out.into_iter().map(|(name, value)| value.map(|v| (name, v))).collect()
}

impl Callee {
    /// Moves the function's statements, and gives what they return the caller's names.
    pub(super) fn move_into(
        &self,
        input: &Input<'_, '_>,
        view: &FileView<'_>,
        known: &mut Set<String>,
        moved: &mut Moved,
    ) -> Result<(), Refusal> {
        let locals: Set<String> = self
            .statements
            .iter()
            .flat_map(|s| super::slice::assigned(view, *s))
            .chain(["self"])
            .map(str::to_owned)
            .collect();
        let mut inside: Set<String> = Set::new();
        let place = Some(self.function);
        for &s in &self.statements {
            let text = moved_statement(input, view, place, self.function, s, (&inside, &locals), moved)?;
            moved.body.push(text);
            inside.extend(super::slice::assigned(view, s).into_iter().map(str::to_owned));
        }
        for (value, target) in self.returned.iter().zip(&self.targets) {
            let text = moved_statement(input, view, place, self.function, *value, (&inside, &locals), moved)?;
            let target = moved.local(target);
            if text != target && target != "_" {
                moved.body.push(format!("{target} = {text}"));
            }
            known.insert(target);
        }
        for (_, expression) in moved.parameters.iter_mut().chain(&mut moved.attributes) {
            *expression = self.as_called(expression);
        }
        Ok(())
    }

    /// An expression of the function as its caller writes it.
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

    /// Its other callers run the model where they are, which is validation as a rule.
    pub(super) fn infer_elsewhere(
        &self,
        plan: &mut Plan<'_, '_>,
        step: Id,
        is_model: &dyn Fn(Id) -> bool,
        alive: &dyn Fn(Id) -> bool,
    ) {
        let view = plan.view;
        let index = &view.index;
        let elsewhere = view.calls(view.name_of(self.function)).iter().any(|c| !index.is_within(*c, step) && alive(*c));
        if !elsewhere {
            return;
        }
        for &call in index.of_kind_in(kinds().call, self.function) {
            let Some(model) =
                index.field(call, fields().function).filter(|g| is_model(call) && dotted(index, *g).is_some())
            else {
                continue;
            };
            let text = format!("ipu_inference({})", index.text_of(model));
            plan.edit(call, Change::Expression { node: call, range: index.range(model), text });
        }
    }
}
