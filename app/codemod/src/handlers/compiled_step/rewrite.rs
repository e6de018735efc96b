//! The changes of one training step, determined completely before anything is changed.

use super::accumulated::{at_every_turn, lengths, unwrap};
use super::around::{clip, hand_over_rates, infer, release_for_loads, remove_updates, require_package};
use super::messages::{self as says, CLASS, DEFINITIONS, IMPORT, JOINS};
use super::obstacles::obstacles;
use super::phases::both_phases;
use super::plan::Plan;
use super::removals::joined;
use super::{Input, Wish};
use crate::condition::{Situation, Type, nodes_of_type};
use crate::definitions::Values;
use python::edit::{Change, statement_end, unindented};
use python::tree::{Id, ROOT};
use training::step::{
    Accumulation, Known, Module, Slice, arguments, class_names, end_of_imports, logs_a_share, weights_changed,
};
use training::{FileInProject, Obstacle, TrainingStep};

/// The changes of a file's steps, or all obstacles to any of them: remaining steps would train the weights independently.
pub(super) fn rewrite<'a, 't>(
    input: &'a Input<'a, 't>,
    file: FileInProject<'a, 't>,
    wholes: &'a [Id],
) -> Result<Vec<Wish>, Vec<Obstacle>> {
    let mut found = obstacles(input, file, wholes);
    let situation = Situation::of_file(file, input.settings);
    let torch = nodes_of_type(&situation, &Type::LastTorchImport).first().copied();
    let torch = torch.filter(|t| file.index.parent(*t) == Some(ROOT));
    // A program may import torch in its main block only; the definitions above it need torch, too.
    let below = torch.or_else(|| end_of_imports(file, *wholes.first()?));
    if below.is_none() {
        found.extend(wholes.first().map(|whole| says::no_torch_import().at(*whole)));
    }
    let read = wholes.iter().copied().zip(class_names(file, wholes)).map(|step| read(input, file, step, wholes));
    let (parts, more): (Vec<_>, Vec<_>) = read.partition(Result::is_ok);
    found.extend(more.into_iter().filter_map(Result::err).flatten());
    match below {
        Some(below) if found.is_empty() => {
            write(parts.into_iter().filter_map(Result::ok).collect(), below, torch.is_some())
        }
        _ => {
            let others = parts.into_iter().filter_map(Result::ok).filter(|_| wholes.len() > 1);
            found.extend(others.map(|(plan, _)| Obstacle::several_steps(plan.step.whole)));
            Err(found)
        }
    }
}

/// Reads one of the steps that are ported together.
fn read<'a, 't>(
    input: &'a Input<'a, 't>,
    file: FileInProject<'a, 't>,
    (whole, class): (Id, String),
    wholes: &'a [Id],
) -> Result<(Plan<'a, 't>, Unit<'t>), Vec<Obstacle>> {
    let step = TrainingStep::read(file, whole)?;
    let mut found = step.obstacles.clone();
    found.extend(step.accumulates.as_ref().err().cloned());
    if wholes.len() > 1 {
        found.extend(step.accumulation().map(|_| says::accumulates_alone().at(whole)));
        // Steps that alternate at every batch would be recompiled each time.
        found.extend(step.around.is_none().then(|| says::takes_turns().at(whole)));
        found.extend(file.project.has_compute_modes().then(|| Obstacle::several_steps(whole)));
    }
    let unit = step.slice().and_then(|slice| Ok((Module::of(&step, &slice)?, slice)));
    let mut plan = Plan::new(input, step, wholes);
    let limit = limit(&mut plan, &mut found);
    match unit {
        Ok((module, slice)) if found.is_empty() => Ok((plan, Unit { slice, module, limit, class })),
        unit => {
            found.extend(unit.err().into_iter().flatten());
            Err(found)
        }
    }
}

/// Writes the changes of steps that are ported together.
fn write(mut parts: Vec<(Plan<'_, '_>, Unit<'_>)>, below: Id, has_torch: bool) -> Result<Vec<Wish>, Vec<Obstacle>> {
    let mut moved: Vec<Id> = parts.iter().flat_map(|(_, unit)| unit.slice.statements.clone()).collect();
    sorting::plain(&mut moved);
    for (plan, unit) in &mut parts {
        plan.write(unit, &moved)?;
    }
    let infers = parts.iter().any(|(plan, _)| plan.infers);
    if let Some((plan, _)) = parts.iter_mut().find(|(plan, _)| plan.is_first) {
        release_for_loads(plan, infers);
    }
    let definitions = definitions(&parts, below, has_torch);
    let mut simpler = Vec::new();
    let mut edits = definitions;
    for (plan, _) in parts {
        plan.keeps_all()?;
        simpler.extend(plan.simpler);
        edits.extend(joined(plan.step.file.view, plan.edits));
    }
    Ok(if simpler.is_empty() { edits } else { simpler })
}

/// The compiled statements, and the arguments of their call.
struct Unit<'t> {
    slice: Slice<'t>,
    module: Module,
    /// The statement that sets the gradient limit of the optimizer.
    limit: Option<String>,
    /// The name of the module.
    class: String,
}

/// The clipping limit of gradients, if the optimizer has to be set next to the step.
fn limit(plan: &mut Plan<'_, '_>, found: &mut Vec<Obstacle>) -> Option<String> {
    let mut limit = None;
    for clipping in std::mem::take(&mut plan.step.clipping) {
        match clip(plan, &clipping) {
            Ok(set) => limit = set,
            Err(obstacle) => found.push(obstacle),
        }
    }
    limit
}

impl Plan<'_, '_> {
    /// Writes the changes of the step and of the places it handles; `moved` are all steps' statements that become modules,
    /// in the order of the text.
    fn write(&mut self, unit: &Unit<'_>, moved: &[Id]) -> Result<(), Vec<Obstacle>> {
        let view = self.step.file.view;
        let index = &view.index;
        if !self.step.precision.unwrapped.is_empty() {
            // Clipping in a removed branch is preserved.
            self.simpler = std::mem::take(&mut self.edits);
            self.simpler.extend(self.step.precision.unwrapped.iter().map(|&(at, body)| {
                let text = unindented(index.text, index.range(body));
                Wish::new(view, at, vec![Change::Replace { first: at, last: at, text }])
            }));
        }
        if self.step.file.project.has_compute_modes() {
            self.check_turns();
        }
        self.call(unit);
        self.adapt(unit).map_err(|obstacle| vec![obstacle])?;
        if self.step.file.project.has_compute_modes() {
            require_package(self);
        }
        let is_moved = |c: Id| index.is_within_any(c, moved);
        infer(self, &is_moved);
        Ok(())
    }

    /// A step is not ported if a part of it can't be written.
    fn keeps_all(&self) -> Result<(), Vec<Obstacle>> {
        let view = self.step.file.view;
        let lost = |change: &&Change| change.has_no_place(view) || change.swallows_comment(view);
        let mut changes = self.simpler.iter().chain(&self.edits).flat_map(|wish| &wish.changes);
        let lost = changes.find(lost).and_then(Change::node);
        lost.map_or(Ok(()), |at| Err(vec![says::no_place().at(at)]))
    }

    /// With other modes, a loop over micro-batches keeps its number, which the target reads from its options.
    fn check_turns(&mut self) {
        let file = self.step.file;
        if let (Some(around), Some(turns)) = (self.step.around, self.step.micro_batches()) {
            let text = self.block("one_micro_batch", &Values::default().text("turns", file.index.text_of(turns)));
            self.insert(around, false, &text);
        }
    }

    /// The call of the compiled step, which replaces the moved statements.
    fn call(&mut self, unit: &Unit<'_>) {
        let (step, slice) = (&self.step, &unit.slice);
        let Module { extraction, loss, results, carried, scalars, .. } = &unit.module;
        let is_state = |given: &str| carried.iter().any(|name| given == name || given.starts_with(&format!("{name}.")));
        let (states, batch): (Vec<&str>, Vec<&str>) =
            extraction.parameters.iter().map(|p| p.1.as_str()).partition(|given| is_state(given));
        let names: Vec<String> = extraction.attributes.iter().map(|a| a.1.clone()).collect();
        let class = (!self.is_alone()).then(|| unit.class.clone());
        let parts = class.into_iter().chain([step.optimizer.to_owned()]).chain(names).collect::<Vec<_>>().join(", ");
        let arguments = extraction.parameters.iter().map(|p| p.1.clone()).collect::<Vec<_>>().join(", ");
        let targets: String = results.iter().map(|r| format!("{r}, ")).collect();
        let undone = step.accumulation().filter(|a| logs_a_share(step, &unit.module, a));
        let share = undone.map_or(String::new(), |a| format!(" / {}", a.count));
        let (at, end) = (slice.at, step.end);
        // Requested in every iteration, because validation may have used the device in between.
        let values = Values::default()
            .text("set_limit", unit.limit.clone().unwrap_or_default())
            .text("parts", parts)
            .text("results", targets)
            .text("loss", loss)
            .text("arguments", arguments)
            .text("share", share)
            .text("batch", batch.first().copied().unwrap_or_default())
            .flag("fixed", unit.module.is_fixed)
            .list("state", states.iter().map(|name| Values::default().text("name", *name)))
            .list("number", scalars.iter().map(|name| Values::default().text("name", name)));
        let call = self.block("step_call", &values);
        let call = slice.phase.map_or(call.clone(), |test| both_phases(self, slice, test, &call));
        for &s in slice.statements.iter().filter(|s| **s != at && **s != end) {
            self.replace(s, "");
        }
        if slice.statements.is_empty() || (slice.forward_function.is_some() && at == slice.from) {
            self.insert(at, true, &call);
        } else {
            self.replace(at, &call);
        }
    }

    /// Statements that the compiled step performs are removed, and values that it needs are passed on.
    fn adapt(&mut self, unit: &Unit<'_>) -> Result<(), Obstacle> {
        let file = self.step.file;
        let index = &file.view.index;
        let is_branch = file.project.has_compute_modes();
        // With other modes the whole test is rewritten; otherwise it becomes true and is removed in the next round.
        let accumulation = self.step.accumulation().cloned();
        let test = accumulation.as_ref().filter(|_| is_branch).and_then(|a| a.tests.first().copied());
        let dropped = self.step.precision.dropped.clone();
        // They go with the updates that are gone.
        let of_rest = accumulation.as_ref().map(|a| a.rest_schedules.clone()).unwrap_or_default();
        let alive = |id: Id| {
            file.is_reached(id)
                && !dropped.iter().any(|d| index.is_within(id, *d))
                && !test.is_some_and(|t| index.is_within(id, t))
                && !of_rest.contains(&id)
        };
        remove_updates(self, &alive);
        for statement in of_rest.iter().filter_map(|call| file.statement_of(*call)) {
            self.replace(statement, "");
        }
        if let Some(function) = &unit.slice.forward_function {
            for &call in &function.calls {
                let Some(argument) = arguments(&file, call).first().copied() else { continue };
                let text = index.text_of(argument).to_owned();
                self.edit(call, Change::Expression { node: call, range: index.range(call), text });
            }
            for caller in function.other_callers(&self.step, unit.slice.from)? {
                let text = format!("{0} = {1}({0})", caller.output, self.inferring(&caller.model));
                self.insert(caller.statement, true, &text);
            }
        }
        if let Some(function) = &unit.slice.loss_function {
            for call in function.model_calls_for_others(&self.step) {
                self.infer(call);
            }
        }
        hand_over_rates(self, unit.slice.from, unit.slice.phase.is_none().then_some(unit.slice.at), &alive);
        for at in weights_changed(&self.step) {
            if at < unit.slice.at {
                return Err(Obstacle::weights_changed_first(at));
            }
            let text = self.block("weights_changed", &Values::default());
            self.insert(at, true, &text);
        }
        if let Some(a) = &accumulation {
            match test {
                Some(test) => unwrap(self, test),
                None => at_every_turn(self, a),
            }
            lengths(self, a);
            for &at in &a.rest_updates {
                self.input.note_loss(file.view, at, says::rest_of_epoch(&a.count));
            }
            for (at, loader) in &a.left_early {
                self.input.note_loss(file.view, *at, says::left_early(loader.as_str(), a.count.as_str()));
            }
            let text = self.accumulation(a, unit);
            match a.known {
                _ if a.joined.is_some() => {}
                Known::FromStart => {}
                Known::After(at) => self.insert(at, true, &text),
                Known::Before(at) => self.insert(at, false, &text),
            }
            if let Some(joined) = &a.joined {
                let name = self.input.settings.definitions.names(JOINS).first().map_or("", |n| n.name.as_str());
                let joins = format!("{} = {name}({}, {})", joined.name, joined.loader, a.value);
                let is_counted = |read: Id| {
                    let tests = a.tests.iter().filter_map(|test| index.condition(*test));
                    tests.chain(a.named.map(|named| named.0)).any(|part| index.is_within(read, part))
                };
                for &read in joined.reads.iter().filter(|read| !is_counted(**read)) {
                    let range = index.range(read);
                    self.edit(read, Change::Expression { node: read, range, text: joined.name.clone() });
                }
                let set = (!matches!(a.known, Known::FromStart)).then_some(text);
                self.insert(joined.at, joined.after, &set.into_iter().chain([joins]).collect::<Vec<_>>().join("\n"));
            }
        }
        Ok(())
    }

    /// The module of the step.
    fn class(&self, unit: &Unit<'_>) -> String {
        let view = self.step.file.view;
        let Module { extraction, loss, results, .. } = &unit.module;
        let base = view.names.spelling(&view.index, self.step.whole, "torch.nn.Module");
        let is_tensor = |name: &String| extraction.tensors.contains(name);
        let attribute =
            |(name, _): &(String, String)| Values::default().text("name", name).flag("tensor", is_tensor(name));
        let joined = |list: &[(String, String)]| list.iter().map(|a| a.0.as_str()).collect::<Vec<_>>().join(", ");
        let values = Values::default()
            .text("class", &unit.class)
            .text("module", base.unwrap_or_else(|| "torch.nn.Module".to_owned()))
            .text("attributes", joined(&extraction.attributes))
            .list("attribute", extraction.attributes.iter().map(attribute))
            .text("parameters", joined(&extraction.parameters))
            .text("body", extraction.body.join("\n"))
            .text("results", results.iter().map(|r| format!("{r}, ")).collect::<String>())
            .text("loss", extraction.local(loss));
        self.block(CLASS, &values)
    }
}

/// The definitions that the steps need, after the imports, of which `below` is one.
fn definitions(parts: &[(Plan<'_, '_>, Unit<'_>)], below: Id, has_torch: bool) -> Vec<Wish> {
    let Some((first, unit)) = parts.iter().find(|(plan, _)| plan.is_first) else { return Vec::new() };
    let (file, view) = (first.step.file, first.step.file.view);
    let is_branch = file.project.modes.is_some();
    let accumulation = first.step.accumulation().filter(|a| matches!(a.known, Known::FromStart));
    let spelled = view.names.spelling(&view.index, first.step.whole, "torch.cat");
    let torch_name = spelled.and_then(|name| name.strip_suffix(".cat").map(str::to_owned));
    let torch_name = torch_name.unwrap_or_else(|| "torch".to_owned());
    let values = Values::default()
        .flag("other_modes", is_branch)
        .flag("may_lack", file.project.has_compute_modes())
        .flag("several", parts.len() > 1)
        .flag("infers", parts.iter().any(|(plan, _)| plan.infers))
        .flag("releases", parts.iter().any(|(plan, _)| plan.infers || plan.releases))
        .flag("freezes", parts.iter().any(|(plan, unit)| plan.step.trains_a_part(&unit.slice)))
        .flag("tells_rates", parts.iter().any(|(plan, _)| plan.tells_rates))
        .flag("joins", parts.iter().any(|(plan, _)| plan.step.accumulation().is_some_and(|a| a.joined.is_some())))
        .text("torch", torch_name)
        .flag("carries", parts.iter().any(|(_, unit)| !unit.module.carried.is_empty()))
        .text("accumulation", accumulation.map_or(String::new(), |a| first.accumulation(a, unit)))
        .text("class", &unit.class)
        .text("classes", parts.iter().map(|(plan, unit)| plan.class(unit)).collect::<Vec<_>>().join("\n\n\n"));
    let line_after = |at: Id, text: String| {
        let end = statement_end(view, at);
        let change = Change::Raw { range: end..end, text: format!("\n{text}").replace('\n', view.layout.newline) };
        Wish { at: view.index.item(at).start, changes: vec![change], imports: Vec::new() }
    };
    let header = end_of_imports(file, first.step.whole).map_or(below, |end| end.max(below));
    let text = format!("\n\n{}", first.block(DEFINITIONS, &values));
    let has_switch = file.project.modes.as_ref().is_some_and(|modes| modes.switch().is_some());
    let import = Values::default().flag("other_modes", is_branch).flag("switched", has_switch);
    let import = first.block(IMPORT, &import).trim_end().to_owned();
    let import = if has_torch { import } else { format!("import torch\n{import}") };
    vec![line_after(below, import), line_after(header, text)]
}

impl Plan<'_, '_> {
    /// The settings of the options.
    fn accumulation(&self, accumulation: &Accumulation, unit: &Unit<'_>) -> String {
        // In a function that is called again, until the options are used.
        let is_late = accumulation.joined.is_some() && !matches!(accumulation.known, Known::FromStart);
        let values = Values::default()
            .text("count", &accumulation.value)
            .flag("sums", !unit.module.divided)
            .flag("once", is_late);
        self.block("step_accumulation", &values)
    }
}
