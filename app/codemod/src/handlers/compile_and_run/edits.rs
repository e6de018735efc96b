//! The changes of a file, all or none.

use super::super::Wish;
use super::messages::{ADOPTS, BIND, CLIP, FETCHES, HYPERPARAMETERS, MISSING, RUNTIME, UNLESS_COMPILING};
use super::optimizer::Optimizer;
use super::plan::{Plan, reads_here, shapes};
use crate::definitions::Values;
use crate::step_parts::{Part, StepParts, of_call, of_step};
use python::edit::{Change, dedent};
use python::lines::{above_comments, line_indent};
use python::names::as_operand;
use python::source::word_of_path;
use python::tree::{Id, ROOT};
use training::Obstacle;
use training::modes::Modes;
use training::program_start::command_line;
use training::roles::Role;
use training::step::{choice, first_code, host_uses, logged_norm};
use training::turn::data_above;

/// The changes of the file: a single fix for a plain script, one for each place where other devices keep their code, since
/// the target's test is put around them.
pub(super) fn wishes(plan: &Plan<'_, '_>) -> Result<Vec<Wish>, Vec<Obstacle>> {
    let step = &plan.turn.step;
    let index = &step.file.view.index;
    if !step.precision.tests.is_empty() {
        // A step that chooses between two precisions keeps the plain one; the rest follows in the next round.
        return Ok(step.precision.tests.iter().filter_map(|test| plain_precision(plan, *test)).collect());
    }
    let mut changes = vec![runtime(plan)];
    let made = plan.optimizers.iter().filter(|o| !o.class.is_empty());
    changes.extend(made.map(|o| Change::Expression { node: o.call, range: index.range(o.call), text: o.text.clone() }));
    for (statement, class) in &plan.missing {
        let text = plan.block(MISSING, &Values::default().text("optimizer", class.as_str()));
        changes.push(Change::Replace { first: *statement, last: *statement, text });
    }
    changes.extend(plan.bind());
    if let Some((at, around, limit)) = &plan.handed_in {
        let (at, around) = (*at, *around);
        let model = index.callee(plan.turn.forward).map_or("", |model| index.text_of(model));
        changes.push(Change::Insert { at, after: false, text: plan.adopts(model, step.optimizer, limit.as_deref()) });
        let fetch = |at: Id, after: bool| Change::Insert { at, after, text: format!("{}()", plan.name(FETCHES)) };
        changes.push(fetch(around, true));
        changes.extend(plan.turn.evaluated_within(around).into_iter().map(|at| fetch(at, false)));
    }
    for made in plan.optimizers.iter().filter(|o| o.class.is_empty()) {
        let text = plan.adopts(made.model, made.name, plan.limit.as_deref());
        changes.push(Change::Insert { at: made.statement, after: true, text });
    }
    let patched = (plan.input.patched)(step.file.view, plan);
    changes.extend(patched.map_err(|node| vec![Obstacle::mode_unreadable(node)])?);
    let mut imports = vec!["import sys".to_owned()];
    if plan.torch().is_none() {
        imports.push("import torch".to_owned());
    }
    if !plan.constants.is_empty() {
        imports.push("import functools".to_owned());
    }
    if !plan.other_modes() {
        let switch = plan.input.project.modes.as_ref().and_then(Modes::switch);
        let values = Values::default().flag("switched", switch.is_some());
        let values = values.text("switch", switch.map_or(String::new(), |switch| switch.name.clone()));
        let header = plan.block(UNLESS_COMPILING, &values);
        let data = plan.data().into_iter();
        changes.extend(data.map(|(first, last)| Change::Wrap { first, last, header: header.clone() }));
        if switch.is_none() {
            let at = plan.optimizers.first().map_or(step.whole, |o| o.statement);
            return Ok(vec![Wish { at: index.item(at).start, changes, imports }]);
        }
    } else {
        imports.truncate(1);
    }
    let wish = |change: Change| Wish::new(step.file.view, change.node().unwrap_or(step.whole), vec![change]);
    let mut wishes: Vec<Wish> = changes.into_iter().map(wish).collect();
    wishes[0].imports = imports;
    Ok(wishes)
}

/// The parts of the step, for the patches that define what becomes of them.
impl StepParts for Plan<'_, '_> {
    fn nodes(&self, part: Part) -> Vec<Id> {
        let (turn, step) = (&self.turn, &self.turn.step);
        let (file, in_one_run) = (step.file, self.in_one_run());
        let index = &file.view.index;
        match part {
            Part::Forward if turn.phase.is_none() => vec![turn.forward],
            Part::Either if turn.phase.is_some() => vec![turn.forward],
            Part::Forward | Part::Either => Vec::new(),
            Part::Evaluate if self.handed_in.is_some() => Vec::new(),
            Part::Evaluate => turn.others.clone(),
            Part::Update => vec![turn.update],
            Part::Given => turn.loss.iter().filter(|_| !in_one_run).map(|loss| loss.statement).collect(),
            Part::Scaled => {
                let scaled = index.receiver(step.backward).filter(|_| !in_one_run);
                let is_scaler = |call: &Id| index.receiver(*call).is_some_and(|o| file.role(o) == Some(Role::Scaler));
                scaled.filter(is_scaler).into_iter().collect()
            }
            Part::Clear => turn.clears().into_iter().collect(),
            Part::Clip => self.clipping.iter().copied().filter(|s| logged_norm(file, *s).is_none()).collect(),
            Part::Norm => self.clipping.iter().filter_map(|s| logged_norm(file, *s)).collect(),
            Part::Scaler if self.other_modes() => Vec::new(),
            Part::Scaler => turn.scaler_statements().into_iter().collect(),
            Part::Save => turn.weight_uses(self.optimizers.first().map(|o| o.call)).into_iter().collect(),
            Part::Optimizer if self.is_looked_up() => Vec::new(),
            Part::Optimizer => self.optimizers.iter().map(|o| o.statement).collect(),
            Part::Start => {
                let here = self.optimizers.first().filter(|o| reads_here(file, o.call));
                here.map(|o| self.start(o)).into_iter().collect()
            }
            Part::Loss | Part::Backward | Part::Schedule => of_step(file, step, part),
        }
    }

    fn fact(&self, node: Id, name: &str) -> Option<String> {
        let step = &self.turn.step;
        let view = step.file.view;
        let made = self.optimizers.iter().find(|o| o.statement == node);
        match (name, made) {
            ("step.optimizer", made) => Some(made.map_or(step.optimizer, |o| o.name).to_owned()),
            ("step.model", Some(made)) => Some(made.model.to_owned()),
            ("step.loss", _) => Some(as_operand(&view.index, step.loss)),
            ("step.phase", _) => self.turn.phase.map(str::to_owned),
            ("step.inputs", _) if node == self.turn.forward && !self.turn.constants.is_empty() => {
                let tensors = self.turn.tensors();
                Some(tensors.into_iter().map(|id| view.index.text_of(id)).collect::<Vec<_>>().join(", "))
            }
            ("step.inputs", _) if self.turn.others.contains(&node) && self.names_inputs(node) => {
                let arguments = view.index.text_of(view.index.arguments(node).list()?);
                Some(arguments.strip_prefix('(')?.strip_suffix(')')?.to_owned())
            }
            _ => of_call(view, node, name),
        }
    }

    fn gives_loss_first(&self) -> bool {
        self.in_one_run()
    }
}

/// Replaces the test by the branch without mixed precision. Clipping in the other branch is preserved.
fn plain_precision(plan: &Plan<'_, '_>, test: Id) -> Option<Wish> {
    let step = &plan.turn.step;
    let view = step.file.view;
    let index = &view.index;
    let (_, body) = step.precision.unwrapped.iter().find(|(whole, _)| *whole == test)?;
    let range = index.range(*body);
    let indent = line_indent(index.text, range.start);
    let mut text = index.text_of(*body).to_owned();
    if range.contains(&index.item(step.end).start) {
        let behind = index.item(step.end).end - range.start;
        let dropped = plan.clipping.iter().filter(|s| !step.is_alive(**s) && index.is_within(**s, test));
        let lines: String = dropped.map(|s| format!("\n{indent}{}", index.text_of(*s))).collect();
        text.insert_str(behind, &lines);
    }
    let text = dedent(&text, indent);
    Some(Wish::new(view, test, vec![Change::Replace { first: test, last: test, text }]))
}

/// The class for the compiled program: above a script's first statement that is no import, or above a project's trainer.
fn runtime(plan: &Plan<'_, '_>) -> Change {
    let file = plan.turn.step.file;
    let view = file.view;
    let index = &view.index;
    let text = plan.runtime();
    let gap = |start: usize| {
        let above = index.text[..start].replace('\r', "");
        "\n".repeat(3usize.saturating_sub(above.len() - above.trim_end_matches('\n').len()))
    };
    let code = first_code(view).unwrap_or(ROOT);
    if plan.input.project.modes.is_none() {
        return Change::Insert { at: code, after: false, text: format!("{}{text}\n\n", gap(index.item(code).start)) };
    }
    let trainer = index.parts(ROOT).find(|s| index.is_within(plan.turn.step.whole, *s)).unwrap_or(ROOT);
    let below = if plan.other_modes() { trainer } else { code };
    let at = above_comments(index.text, index.item(below).start);
    let text = format!("{}{text}\n\n\n", gap(at)).replace('\n', view.layout.newline);
    Change::Raw { range: at..at, text }
}

impl Plan<'_, '_> {
    fn block(&self, name: &str, values: &Values) -> String {
        self.input.block(self.turn.step.file.view, name, values).unwrap_or_default()
    }

    /// The only name in a list of the guides.
    fn name(&self, list: &str) -> &str {
        self.input.settings.definitions.names(list).first().map_or("", |n| n.name.as_str())
    }

    /// The call that takes over a model and an optimizer that PyTorch created.
    fn adopts(&self, model: &str, optimizer: &str, limit: Option<&str>) -> String {
        let limit = limit.map(|limit| self.block(CLIP, &Values::default().text("limit", limit)));
        let given = [Some(model.to_owned()), Some(optimizer.to_owned()), limit].into_iter().flatten();
        format!("{}({})", self.name(ADOPTS), given.collect::<Vec<_>>().join(", "))
    }

    /// Arguments that every step passes alike, told to the program before it takes the model.
    fn bind(&self) -> Option<Change> {
        let at = self
            .handed_in
            .as_ref()
            .map(|(at, ..)| *at)
            .or_else(|| self.optimizers.first().map(|o| self.place_of(o)))?;
        let given: Vec<String> = self.constants.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let text = self.block(BIND, &Values::default().text("arguments", given.join(", ")));
        (!given.is_empty()).then_some(Change::Insert { at, after: false, text })
    }

    /// Whether another call of the model keeps the names of its arguments.
    fn names_inputs(&self, call: Id) -> bool {
        !self.other_modes() && self.turn.is_named(call)
    }

    /// Statements that create loaders and data sets above the optimizer, in runs of first and last.
    fn data(&self) -> Vec<(Id, Id)> {
        self.optimizers.first().map_or_else(Vec::new, |o| data_above(self.turn.step.file, self.place_of(o)))
    }

    /// The statement before which a script has not parsed its command line, as far as can be seen.
    fn start(&self, made: &Optimizer<'_>) -> Id {
        let first_data = || self.data().first().map(|(first, _)| *first);
        command_line(self.turn.step.file.view, made.call).or_else(first_data).unwrap_or_else(|| self.place_of(made))
    }

    /// The statement that creates an optimizer, or chooses between it and others.
    fn place_of(&self, made: &Optimizer<'_>) -> Id {
        let missing = self.missing.iter().map(|(statement, _)| *statement);
        let calls: Vec<Id> = self.optimizers.iter().map(|o| o.call).chain(missing).collect();
        let chosen = || choice(self.turn.step.file.view, &calls).filter(|_| calls.len() > 1);
        chosen().unwrap_or(made.statement)
    }

    /// The name under which the file imports torch, if it imports the module itself.
    fn torch(&self) -> Option<String> {
        let view = self.turn.step.file.view;
        let at = self.optimizers.first().map_or(self.turn.step.whole, |o| o.call);
        let spelled = view.names.spelling(&view.index, at, "torch.zeros_like")?;
        spelled.strip_suffix(".zeros_like").map(str::to_owned)
    }

    fn runtime(&self) -> String {
        let file = self.turn.step.file;
        let shapes = shapes(self.input);
        let inputs = self.turn.inputs.iter().enumerate().map(|(n, input)| {
            let sizes = shapes.get(n);
            Values::default()
                .text("option", input.name.replace('_', "-"))
                .flag("shaped", sizes.is_some())
                .text("sizes", sizes.cloned().unwrap_or_default())
                .text("dtype", if input.is_integer { "int64" } else { "bfloat16" })
        });
        let q = file.view.layout.quote;
        let names: Vec<String> = self.turn.inputs.iter().map(|i| format!("{q}{}{q}", i.name)).collect();
        let adopts = self.handed_in.is_some() || self.is_looked_up();
        let directly = adopts || !self.other_modes() && host_uses(file, self.turn.step.whole).next().is_some();
        let values = Values::default()
            .flag("one_run", self.in_one_run())
            .flag("other_modes", self.other_modes())
            .flag("clips", !self.clipping.is_empty())
            .flag("drops", self.input.project.drops)
            .flag("called_directly", directly)
            .flag("adopts", adopts)
            .flag("binds", !self.constants.is_empty())
            .flag("named", self.turn.others.iter().any(|call| self.names_inputs(*call)))
            .text("names", names.join(", "))
            .text("torch", self.torch().unwrap_or_else(|| "torch".to_owned()))
            .text("program", word_of_path(file.view.path).unwrap_or_else(|| "train".to_owned()))
            .text("hyperparameters", self.hyperparameters())
            .list("input", inputs);
        self.block(RUNTIME, &values)
    }

    /// The hyperparameters of every update, as a Python tuple; the optimizer in use is recognised by a key of its own.
    fn hyperparameters(&self) -> String {
        let listed = self.input.settings.definitions.names(HYPERPARAMETERS);
        let q = self.turn.step.file.view.layout.quote;
        let tuple = |class: &str| {
            let own = format!("{class}.");
            let names = listed.iter().filter_map(|n| n.name.strip_prefix(&own)).map(|name| format!("{q}{name}{q}"));
            format!("({},)", names.collect::<Vec<_>>().join(", "))
        };
        let mut classes: Vec<&str> = self.optimizers.iter().map(|optimizer| optimizer.class.as_str()).collect();
        if classes.is_empty() || self.is_looked_up() {
            classes = listed.iter().filter_map(|n| n.name.split('.').next()).collect();
        }
        let mut tuples: Vec<String> = classes.into_iter().map(tuple).collect();
        sorting::by_key(&mut tuples, |t| std::cmp::Reverse(t.len()));
        tuples.dedup();
        match tuples.as_slice() {
            [longer, shorter, ..] => {
                let telling = longer.split(", ").find(|name| !shorter.contains(*name)).unwrap_or_default();
                format!("({longer} if {} in group else {shorter})", telling.trim_matches(['(', ',', ')']))
            }
            _ => tuples.concat(),
        }
    }
}
