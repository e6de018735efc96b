//! The module made from a step's slice: its computation, inputs and outputs.

use super::TrainingStep;
use super::callers::given;
use super::calls::is_parameter;
use super::changing::changing;
use super::dataflow::{assigned, bound_in, leaves, reads, reads_name};
use super::extraction::{Extraction, Frame, plain_name};
use super::forward::is_model_call;
use super::numbers::number;
use super::obstacle::{self as why, Obstacle};
use super::origins::learns_before;
use super::slice::Slice;
use super::tensors::is_host_tensor;
use crate::roles::Role;
use crate::words::OUTPUT_FIELDS;
use python::PythonFile;
use python::edit::remarks_on;
use python::names::called_name;
use python::tree::{Id, kinds};
use sorting::SortedSet;

/// The module of a step.
pub struct Module {
    /// Its computation and inputs.
    pub extraction: Extraction,
    /// The program's name for the loss.
    pub loss: String,
    /// Whether a division by the number of accumulated batches was removed.
    pub divided: bool,
    /// Statements of the step that stay outside.
    pub stays: Vec<Id>,
    /// Names that are read later: by these statements, or in the next iteration.
    pub results: Vec<String>,
    /// Those that are passed in again in the next iteration, under the names that the step receives.
    pub carried: Vec<String>,
    /// Those that are used as a single number.
    pub scalars: Vec<String>,
    /// Whether the inputs are created outside the loop: the same samples in every iteration.
    pub is_fixed: bool,
}

impl Module {
    /// Makes a module of the slice, or returns all obstacles.
    pub fn of(step: &TrainingStep<'_, '_>, slice: &Slice<'_>) -> Result<Self, Vec<Obstacle>> {
        let file = step.file;
        let index = &file.view.index;
        let mut obstacles: Vec<Obstacle> = Vec::new();
        let loss = step.name_of_loss().unwrap_or("loss").to_owned();
        let (mut extraction, mut divided) = extracted(step, slice, &loss, &[], &mut obstacles);
        let is_left = obstacles.iter().any(|o| *o == why::no_batch_input(step.backward));
        let fixed = if is_left { fixed_inputs(step, slice) } else { Vec::new() };
        if !fixed.is_empty() {
            obstacles.clear();
            (extraction, divided) = extracted(step, slice, &loss, &fixed, &mut obstacles);
        }
        let is_outside = |s: &Id| step.is_alive(*s) && !slice.contains(step, *s) && *s != slice.from && *s != step.end;
        let stays: Vec<Id> = leaves(&file, step.whole).into_iter().filter(is_outside).collect();
        let results = results(step, slice, &loss, (&stays, &extraction), &mut obstacles);
        // `loss`, and `losses["total"]` of a dictionary.
        let owner = |id: Id| index.value(id).filter(|_| index.kind(id) == kinds().subscript).unwrap_or(id);
        let is_key =
            |id: Id| owner(id) == id || index.parts(id).last().is_some_and(|p| index.kind(p) == kinds().string);
        let calls = stays.iter().flat_map(|s| index.of_kind_in(kinds().call, *s));
        let items = calls.filter(|call| called_name(index, **call) == Some("item"));
        let numbers: Vec<Id> = items.filter_map(|c| file.index.receiver(*c)).filter(|id| is_key(*id)).collect();
        let terms = terms(step, slice);
        let mut scalars: Vec<String> = Vec::new();
        for name in &results {
            scalars.extend(terms.contains(name.as_str()).then(|| name.clone()));
            let own = numbers.iter().filter(|id| index.is_text(owner(**id), name)).map(|id| index.text_of(*id));
            for text in own {
                if !scalars.iter().any(|scalar| scalar == text) {
                    scalars.push(text.to_owned());
                }
            }
        }
        if obstacles.is_empty() {
            let is_carried = |name: &&String| is_carried(step, slice, name, &extraction);
            let carried: Vec<String> = results.iter().filter(is_carried).cloned().collect();
            if let Some(name) = carried.iter().find(|name| begins_with_none(step, name)) {
                return Err(vec![why::state_none_at_first(slice.from, name)]);
            }
            Ok(Self { extraction, loss, divided, stays, results, carried, scalars, is_fixed: !fixed.is_empty() })
        } else {
            Err(obstacles)
        }
    }
}

/// Names from which the loss is computed number by number: as it is one number, each of them is one, too.
fn terms<'t>(step: &TrainingStep<'_, 't>, slice: &Slice<'_>) -> SortedSet<&'t str> {
    let (index, k) = (&step.file.view.index, kinds());
    let mut found = SortedSet::new();
    let mut open = vec![step.loss];
    while let Some(id) = open.pop() {
        let parts: Vec<Id> = index.parts(id).collect();
        // A product of matrices is a sum.
        let is_sum = || matches!(*parts, [left, right] if index.between(left, right) == "@");
        if [k.binary_operator, k.parenthesized_expression, k.unary_operator].contains(&index.kind(id)) && !is_sum() {
            open.extend(parts);
        } else if index.kind(id) == k.identifier && found.insert(index.text_of(id)) {
            let assigns =
                |part: &Id| index.target(*part).is_some_and(|target| index.is_text(target, index.text_of(id)));
            let assignments = slice.statements.iter().flat_map(|s| index.parts(*s)).filter(assigns);
            open.extend(assignments.filter_map(|part| index.source(part)));
        }
    }
    found
}

/// The module's computation, and whether a division by the number of accumulated batches was removed.
fn extracted(
    step: &TrainingStep<'_, '_>,
    slice: &Slice<'_>,
    loss: &str,
    inputs: &[&str],
    obstacles: &mut Vec<Obstacle>,
) -> (Extraction, bool) {
    let file = step.file;
    let index = &file.view.index;
    let function = (index.kind(step.whole) == kinds().function_definition).then_some(step.whole);
    let accumulation = step.accumulation();
    let mut divided = false;
    let mut out = Extraction::default();
    if loss.contains('.') {
        out.alias = Some((loss.to_owned(), plain_name(loss)));
    }
    if let Some(function) = &slice.forward_function {
        let name = plain_name(&function.model);
        let output = &function.output;
        out.attributes.push((name.clone(), function.model.clone()));
        out.parameters.push((output.clone(), output.clone()));
        out.body.push(format!("{output} = self.{name}({output})"));
    }
    let mut known: SortedSet<String> = slice.forward_function.iter().map(|f| f.output.clone()).collect();
    let assigned_in = slice.statements.iter().flat_map(|s| assigned(&file, *s));
    let locals: SortedSet<String> = assigned_in.chain(["self"]).map(str::to_owned).collect();
    let before = obstacles.len();
    let mut changing = changing(step, &slice.statements);
    changing.retain(|id| !inputs.contains(&index.text_of(*id)));
    let numbers: Vec<Id> = changing.iter().filter_map(|id| number(step, *id)).collect();
    let bound = bound_in(&file, step.body);
    let none = SortedSet::new();
    let whole = Frame {
        file,
        function,
        body: step.body,
        bound: &bound,
        known: &none,
        locals: &locals,
        numbers: &numbers,
        inputs,
    };
    for &s in &slice.statements {
        if let Some(function) = slice.loss_function.as_ref().filter(|_| s == slice.from) {
            function.move_into(file, &mut known, &mut out, obstacles);
            continue;
        }
        let frame = Frame { known: &known, ..whole };
        let text = out.statement(&frame, s, obstacles);
        let undivided = accumulation.map(|a| a.undivided(&text, &out.attributes));
        let (text, cut) = undivided.unwrap_or((Some(text), false));
        divided |= cut;
        if let Some(text) = text {
            // The statement that replaces the slice keeps the comments of its last statement.
            let (above, behind) = if s == slice.at { (Vec::new(), "") } else { remarks_on(&file, s) };
            out.body.extend(above.into_iter().map(str::to_owned));
            out.body.push(text + behind);
        }
        known.extend(assigned(&file, s).into_iter().map(str::to_owned));
    }
    if step.name_of_loss().is_none() {
        let frame = Frame { known: &known, ..whole };
        let text = out.text_of(&frame, step.loss, obstacles);
        let undivided = accumulation.map(|a| a.undivided(&text, &out.attributes));
        let (text, cut) = undivided.unwrap_or((Some(text), false));
        divided |= cut;
        out.body.push(format!("loss = {}", text.unwrap_or_default()));
    }
    out.join_blocks();
    if let Some(a) = accumulation {
        a.forget_number(&mut out.attributes, &out.body);
    }
    if obstacles.len() > before {
        return (out, divided);
    }
    if !out.body.iter().any(|l| l.contains("self.")) || out.attributes.is_empty() {
        obstacles.push(why::model_not_found(step.backward));
    } else if out.parameters.is_empty() {
        obstacles.push(why::no_batch_input(step.backward));
    }
    if let Some(call) = learns_before(file, step.whole, slice.from, &out.parameters) {
        let text = index.text_of(call);
        let line = text.lines().next().unwrap_or(text);
        obstacles.push(why::input_learns(call, line));
    }
    let mut others = changing.into_iter().filter(|id| !numbers.iter().any(|n| index.is_within(*id, *n)));
    if let Some(id) = others.next() {
        obstacles.push(why::changing_value(id, index.text_of(id)));
    }
    let full = file.names.spelling(index, step.whole, "torch.full");
    if !out.take_numbers(full.as_deref().unwrap_or("torch.full")) {
        obstacles.push(why::no_batch_input(step.backward));
    }
    (out, divided)
}

/// Names of the samples, if a program creates them once and trains on all of them in every iteration: the only argument
/// of the model, and the other operand of a loss or a difference. Other tensors, such as class weights or the edges of
/// a graph, are part of the step.
fn fixed_inputs<'t>(step: &TrainingStep<'_, 't>, slice: &Slice<'_>) -> Vec<&'t str> {
    let (k, file) = (kinds(), step.file);
    let index = &file.view.index;
    if step.around.is_none() || step.accumulation().is_some() || file.project.has_compute_modes() {
        return Vec::new();
    }
    let name = |id: Id| {
        let whole = std::iter::successors(Some(id), |id| index.receiver(*id)).last().unwrap_or(id);
        let text = index.text_of(whole);
        let is_made = index.kind(whole) == k.identifier && !file.index.bindings(text).is_empty()
            || file.function_of(whole).is_some_and(|f| is_parameter(&file, f, text));
        (is_made && file.role(whole).is_none() && !file.kinds(whole).is_number()).then_some(text)
    };
    let within = |kind| slice.statements.iter().flat_map(move |s| index.of_kind_in(kind, *s).iter().copied());
    let (models, calls): (Vec<Id>, Vec<Id>) = within(k.call).partition(|call| is_model_call(file, *call));
    let [model] = models.as_slice() else { return Vec::new() };
    let given: Vec<Id> = index.arguments(*model).ids().collect();
    let [input, others @ ..] = given.as_slice() else { return Vec::new() };
    let Some(input) = name(*input).filter(|_| others.iter().all(|id| is_host_tensor(file, *id))) else {
        return Vec::new();
    };
    let losses = calls.into_iter().filter(|call| file.role(*call) == Some(Role::Loss));
    let compared =
        losses.flat_map(|call| [(0, "input"), (1, "target")].map(|(n, name)| index.arguments(call).get(n, name)));
    let subtracted =
        within(k.binary_operator).filter_map(|operation| match *index.parts(operation).collect::<Vec<_>>() {
            [left, right] if index.text[index.range(left).end..index.range(right).start].trim() == "-" => {
                Some([left, right])
            }
            _ => None,
        });
    let beside = compared.flatten().chain(subtracted.flatten()).filter_map(name);
    std::iter::once(input).chain(beside).collect()
}

/// Names of the slice that are read later.
fn results(
    step: &TrainingStep<'_, '_>,
    slice: &Slice<'_>,
    loss: &str,
    (stays, extraction): (&[Id], &Extraction),
    obstacles: &mut Vec<Obstacle>,
) -> Vec<String> {
    let k = kinds();
    let file = step.file;
    let index = &file.view.index;
    let mut results: Vec<String> = Vec::new();
    for name in slice.names(step) {
        let is_reader = |s: &Id| {
            *s > slice.from
                && reads_name(&file, *s, &name)
                && !is_assigned_anew(&file, (step.whole, step.end), *s, &name)
        };
        let readers: Vec<Id> = stays.iter().copied().filter(is_reader).collect();
        let in_header = |i: &Id| *i > step.end && index.text_of(*i) == name && !index.is_within_any(*i, stays);
        let in_headers = index.of_kind_in(k.identifier, step.whole).iter().any(in_header);
        let carried = is_carried(step, slice, &name, extraction);
        if name == loss || (readers.is_empty() && !in_headers && !carried) {
            continue;
        }
        if carried && step.accumulation().is_some() {
            obstacles.push(why::carried_state(slice.from, &name));
        }
        obstacles.extend(
            readers
                .iter()
                .copied()
                .find(|u| reads_as_object(&file, *u, &name))
                .map(|reader| why::output_object(reader, &name)),
        );
        let gives = |s: &&Id| assigned(&file, **s).contains(&name.as_str());
        let under_test = |s: Id| index.kind(s) == k.if_statement && index.otherwise(s).is_none();
        let mut given = slice.statements.iter().filter(gives).copied();
        if let Some(test) = given.next().filter(|s| under_test(*s) && given.all(under_test)) {
            obstacles.push(why::output_under_test(test, &name));
        }
        results.push(name);
    }
    results
}

/// Whether a name is carried from one iteration of the loop to the next, such as the state of a recurrent network: the
/// slice assigns it, and the next iteration reads it before assigning it again.
fn is_carried(step: &TrainingStep<'_, '_>, slice: &Slice<'_>, name: &str, extraction: &Extraction) -> bool {
    let file = step.file;
    // The loop itself assigns it in every iteration.
    let header = step.around.and_then(|loop_| file.index.target(loop_));
    let names = header.map(|target| file.index.of_kind_in(kinds().identifier, target));
    if names.is_some_and(|names| names.iter().any(|id| file.index.text_of(*id) == name)) {
        return false;
    }
    // So does the function that calls the model, whose input goes by the name of its output from now on.
    let by_function = slice.forward_function.as_ref().is_some_and(|function| function.output == name);
    if by_function && !reads_name(&file, slice.from, name) {
        return false;
    }
    let head = |expression: &str| expression.split(['.', '[', '(']).next() == Some(name);
    let goes_in = extraction.parameters.iter().any(|(_, given)| given == name || head(given));
    let mut above = step.statements.iter().copied().filter(|s| *s < slice.from && !slice.contains(step, *s));
    let first = above.find(|s| reads_name(&file, *s, name) || assigned(&file, *s).contains(&name));
    let read_first = first.map(|s| reads_name(&file, s, name));
    step.around.is_some() && read_first.unwrap_or(goes_in)
}

/// Whether a name is `None` until the first iteration assigns it, also by the default of a parameter that nothing replaces.
fn begins_with_none(step: &TrainingStep<'_, '_>, name: &str) -> bool {
    let (k, file) = (kinds(), step.file);
    let index = &file.view.index;
    let is_none = |value: Id| index.kind(value) == k.none;
    let value = |binding: &Id| index.assignment(*binding).and_then(|a| a.value_of(name));
    let bound = file.index.bindings(name);
    let defaults = |parameter: &str| {
        let mut parameters = index.function(step.whole).into_iter().flat_map(|f| f.parameters());
        let passed = given(&file, step.whole, parameter);
        parameters.any(|p| p.name == parameter && p.default.is_some_and(is_none))
            && (passed.is_empty() || !passed.iter().all(|value| index.kind(*value) == k.call))
    };
    let replaces = |binding: &Id| {
        let tests = |a: Id| index.condition(a).is_some_and(|c| index.text_of(c).ends_with(" is None"));
        let is_tested = index.ancestors(*binding).take_while(|a| *a != step.whole).any(tests);
        let is_above = *binding < step.body && index.is_within(*binding, step.whole);
        is_tested || is_above && value(binding).is_none_or(|v| index.kind(v) != k.identifier && !is_none(v))
    };
    let of_parameter =
        std::iter::once(name).chain(bound.iter().filter_map(value).map(|v| index.text_of(v))).any(defaults);
    bound.iter().filter_map(value).any(is_none) || of_parameter && !bound.iter().any(replaces)
}

/// Whether a statement reads a field of a name that objects of models have.
fn reads_as_object(file: &PythonFile<'_>, statement: Id, name: &str) -> bool {
    let index = &file.index;
    let asked = |r: Id| {
        let attribute = index.parent(r).and_then(|p| index.attribute(p));
        attribute.and_then(|a| a.name()).is_some_and(|name| OUTPUT_FIELDS.contains(&name))
    };
    reads(file, statement).into_iter().any(|r| index.text_of(r) == name && asked(r))
}

/// Whether a name is reassigned between the backward pass and a statement that reads it.
fn is_assigned_anew(file: &PythonFile<'_>, (step, end): (Id, Id), reader: Id, name: &str) -> bool {
    let k = kinds();
    let index = &file.index;
    leaves(file, step).into_iter().any(|s| {
        // The body of a `with` is always run.
        let mut at = s;
        while let Some(with) =
            index.parent(at).and_then(|b| index.parent(b)).filter(|w| index.kind(*w) == k.with_statement)
        {
            at = with;
        }
        let before = s > end && s < reader && assigned(file, s).contains(&name);
        before && index.parent(at).is_some_and(|block| index.is_within(reader, block)) && !reads_name(file, s, name)
    })
}
