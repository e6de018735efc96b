//! The changes of a file, all of them or none.

use super::super::Wish;
use super::messages::{
    COMMAND_LINE, EVALUATE, FETCH, FORWARD, HAND_OVER, HYPERPARAMETERS, MEAN, MISSING, RUNTIME, START,
    UNLESS_COMPILING, UPDATE,
};
use super::optimizer::Optimizer;
use super::plan::Plan;
use crate::definitions::Values;
use python::edit::{Change, dedent};
use python::lines::line_indent;
use python::names::dotted;
use python::tree::{Id, ROOT, kinds};
use std::collections::BTreeSet;
use training::roles::Role;
use training::step::{host_uses, is_statement, outermost_without};
use training::turn::{command_line, data_above};

/// What becomes of the file: one fix of a plain script, and of a project with compute modes one for each place, since the target's
/// test is put around them.
pub(super) fn wishes(plan: &Plan<'_, '_>) -> Vec<Wish> {
    let step = &plan.turn.step;
    let index = &step.file.view.index;
    if !step.precision.tests.is_empty() {
        // A step that chooses between two precisions keeps the plain one; the rest is done when that stands alone.
        return step.precision.tests.iter().filter_map(|test| plain_precision(plan, *test)).collect();
    }
    let mut changes = vec![runtime(plan)];
    for optimizer in &plan.optimizers {
        changes.extend(around_optimizer(plan, optimizer));
    }
    for (statement, class) in &plan.missing {
        let text = plan.block(MISSING, &Values::default().text("optimizer", class.as_str()));
        changes.push(Change::Replace { first: *statement, last: *statement, text });
    }
    changes.extend(turn(plan));
    let fetches = savings(plan).into_iter();
    changes.extend(fetches.map(|at| Change::Insert { at, after: false, text: plan.block(FETCH, &Values::default()) }));
    let mut imports = vec!["import sys".to_owned()];
    if plan.torch().is_none() {
        imports.push("import torch".to_owned());
    }
    if !plan.other_modes() {
        let at = plan.optimizers.first().map_or(step.whole, |o| o.statement);
        return vec![Wish { at: index.item(at).start, changes, imports }];
    }
    let wish = |change: Change| {
        let at = change.node().unwrap_or(step.whole);
        Wish { at: index.item(at).start, changes: vec![change], imports: Vec::new() }
    };
    let mut wishes: Vec<Wish> = changes.into_iter().map(wish).collect();
    wishes[0].imports.push("import sys".to_owned());
    wishes
}

/// The branch without mixed precision in the place of the test. What is clipped in the other one is clipped all the same.
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
    let text = dedent(&text.replace("\r\n", "\n"), indent);
    Some(Wish::new(view, test, vec![Change::Replace { first: test, last: test, text }]))
}

/// Forward pass, backward pass and update, and the validation on the host.
fn turn(plan: &Plan<'_, '_>) -> Vec<Change> {
    let (turn, step) = (&plan.turn, &plan.turn.step);
    let (file, none) = (step.file, Values::default());
    let index = &file.view.index;
    let flags = Values::default().flag("one_run", plan.in_one_run()).flag("other_modes", plan.other_modes());
    let forward = plan.block(FORWARD, &flags);
    let mut changes = Vec::new();
    if plan.other_modes() {
        for call in turn.others.iter().copied().chain([turn.forward]).collect::<BTreeSet<Id>>() {
            let list = index.arguments(call).list().filter(|l| index.kind(*l) == kinds().argument_list);
            let Some((model, list)) = index.callee(call).zip(list) else { continue };
            let given = &index.text_of(list)[1..];
            let gap = if given.starts_with(['\n', '\r']) { "," } else { ", " };
            changes.push(plan.expression(call, format!("{forward}({}{gap}{given}", index.text_of(model))));
        }
    } else {
        changes.extend(index.callee(turn.forward).map(|g| plan.expression(g, forward)));
        let evaluate = plan.block(EVALUATE, &none);
        let others = turn.others.iter().filter_map(|call| index.callee(*call));
        changes.extend(others.map(|g| plan.expression(g, evaluate.clone())));
    }
    let mut gone = idle(plan);
    gone.extend(&plan.clipping);
    if plan.in_one_run() {
        gone.extend([step.backward, turn.update].into_iter().filter_map(|c| file.statement_of(c)));
    } else {
        if let Some(loss) = &turn.loss {
            let text = plan.block(MEAN, &Values::default().text("loss", loss.name));
            changes.push(Change::Insert { at: loss.statement, after: true, text });
        }
        changes.push(plan.expression(turn.update, plan.block(UPDATE, &none)));
        let scaled = index.receiver(step.backward).filter(|o| index.call(*o).is_some());
        if let Some(scaled) = scaled.filter(|s| index.receiver(*s).is_some_and(|o| file.role(o) == Some(Role::Scaler)))
        {
            let text = index.text_of(step.loss);
            let plain = dotted(index, step.loss).is_some();
            changes.push(plan.expression(scaled, if plain { text.to_owned() } else { format!("({text})") }));
        }
    }
    changes.extend(gone.into_iter().map(|s| Change::Replace { first: s, last: s, text: String::new() }));
    changes
}

/// Statements that have nothing to do on the target: clearing gradients, and a gradient scaler's bookkeeping.
fn idle(plan: &Plan<'_, '_>) -> BTreeSet<Id> {
    let (step, k) = (&plan.turn.step, kinds());
    let file = step.file;
    let index = &file.view.index;
    let of = |name: &'static str, roles: &'static [Role]| {
        let calls = file.calls(name).iter().copied().filter(move |c| is_statement(&file, *c) && step.is_alive(*c));
        let own =
            calls.filter(move |c| index.receiver(*c).and_then(|o| file.role(o)).is_some_and(|r| roles.contains(&r)));
        own.filter_map(move |c| file.statement_of(c))
    };
    let mut out: BTreeSet<Id> = of("zero_grad", &[Role::Optimizer, Role::Model]).collect();
    if plan.other_modes() {
        return out;
    }
    out.extend(of("update", &[Role::Scaler]).chain(of("unscale_", &[Role::Scaler])));
    // A scaler that nothing else uses any more.
    let made = file.calls("GradScaler").first().copied();
    let assignment = made.and_then(|m| index.assignment(index.parent(m)?));
    if let Some((assignment, name)) =
        assignment.and_then(|a| Some((a, a.target().filter(|t| dotted(index, *t).is_some())?)))
    {
        let parts = [plan.turn.update, step.backward, assignment.id()];
        let goes = |id: Id| out.iter().chain(&parts).any(|gone| index.is_within(id, *gone));
        let same = index.of_kind(index.kind(name)).iter().filter(|i| index.is_text(**i, index.text_of(name)));
        if k.identifier != 0 && same.into_iter().all(|i| goes(*i)) {
            out.extend(file.statement_of(assignment.id()));
        }
    }
    out
}

/// The optimizer, between handing the model over and compiling; above it, the command line and what compiling has no need of.
fn around_optimizer(plan: &Plan<'_, '_>, optimizer: &Optimizer<'_>) -> Vec<Change> {
    let file = plan.turn.step.file;
    let at = optimizer.statement;
    let insert = |at: Id, after: bool, text: String| Change::Insert { at, after, text };
    let mut changes = vec![plan.expression(optimizer.call, optimizer.text.clone())];
    let mut above = plan.block(HAND_OVER, &Values::default().text("model", optimizer.model));
    if !plan.other_modes() {
        let read = plan.block(COMMAND_LINE, &Values::default());
        let data = data_above(file, at);
        match command_line(file.view, optimizer.call).or(data.first().map(|(first, _)| *first)) {
            Some(place) => changes.push(insert(place, false, read)),
            None => above = format!("{read}\n{above}"),
        }
        let header = plan.block(UNLESS_COMPILING, &Values::default());
        changes.extend(data.into_iter().map(|(first, last)| Change::Wrap { first, last, header: header.clone() }));
    }
    changes.push(insert(at, false, above));
    changes.push(insert(at, true, plan.block(START, &Values::default().text("optimizer", optimizer.name))));
    changes
}

/// Statements that take the model's weights, or put others in their place on the host.
fn savings(plan: &Plan<'_, '_>) -> BTreeSet<Id> {
    let step = &plan.turn.step;
    let file = step.file;
    let index = &file.view.index;
    let is_model = |id: Id| dotted(index, id).is_some() && file.role(id) == Some(Role::Model);
    let states = file.calls("state_dict").iter().chain(file.calls("load_state_dict")).copied();
    let of_model = states.filter(|c| index.receiver(*c).is_some_and(is_model));
    let saves = file.calls("save").iter().copied().filter(|c| index.arguments(*c).ids().next().is_some_and(is_model));
    let made = plan.optimizers.first().map_or(step.whole, |o| o.call);
    let is_behind = |c: &Id| *c > made || file.function_of(*c) != file.function_of(made);
    let reached = of_model.chain(saves).filter(|c| if plan.other_modes() { file.is_reached(*c) } else { is_behind(c) });
    let mut out: BTreeSet<Id> = reached.filter_map(|c| file.statement_of(c)).collect();
    if !plan.other_modes() {
        out.extend(host_uses(file, step.whole).filter_map(|call| outermost_without(&file, call, step.whole)));
    }
    out
}

/// The class with what is compiled: above the first statement of a script that is no import, or above the trainer of a project.
fn runtime(plan: &Plan<'_, '_>) -> Change {
    let file = plan.turn.step.file;
    let view = file.view;
    let index = &view.index;
    let text = plan.runtime();
    let gap = |start: usize| {
        let above = index.text[..start].replace('\r', "");
        "\n".repeat(3usize.saturating_sub(above.len() - above.trim_end_matches('\n').len()))
    };
    if !plan.other_modes() {
        let at = first_code(plan).unwrap_or(ROOT);
        return Change::Insert { at, after: false, text: format!("{}{text}\n\n", gap(index.item(at).start)) };
    }
    let trainer = index.parts(ROOT).find(|s| index.is_within(plan.turn.step.whole, *s)).unwrap_or(ROOT);
    // Comments above the trainer stay with it.
    let mut at = index.item(trainer).start;
    while let Some(line) = index.text[..at].lines().next_back().filter(|l| l.starts_with('#')) {
        at -= line.len() + view.layout.newline.len();
    }
    let text = format!("{}{text}\n\n\n", gap(at)).replace('\n', view.layout.newline);
    Change::Raw { range: at..at, text }
}

/// The first statement of the module that is neither a text nor an import.
fn first_code(plan: &Plan<'_, '_>) -> Option<Id> {
    let k = kinds();
    let index = &plan.turn.step.file.view.index;
    index.parts(ROOT).find(|s| {
        let kind = index.kind(*s);
        let text = kind == k.expression_statement && index.parts(*s).all(|p| index.kind(p) == k.string);
        let import = [k.import_statement, k.import_from_statement, k.future_import_statement].contains(&kind);
        let imports =
            || [k.import_statement, k.import_from_statement].iter().any(|i| !index.of_kind_in(*i, *s).is_empty());
        let in_try = kind == k.try_statement && imports();
        !(text || import || in_try)
    })
}

impl Plan<'_, '_> {
    fn block(&self, name: &str, values: &Values) -> String {
        self.input.block(self.turn.step.file.view, name, values).unwrap_or_default()
    }

    fn expression(&self, node: Id, text: String) -> Change {
        Change::Expression { node, range: self.turn.step.file.view.index.range(node), text }
    }

    /// The name under which the file knows torch, if it has one for the module itself.
    fn torch(&self) -> Option<String> {
        let view = self.turn.step.file.view;
        let at = self.optimizers.first().map_or(self.turn.step.whole, |o| o.call);
        let spelled = view.names.spelling(&view.index, at, "torch.zeros_like")?;
        spelled.strip_suffix(".zeros_like").map(str::to_owned)
    }

    fn runtime(&self) -> String {
        let file = self.turn.step.file;
        let shapes = self.shapes();
        let inputs = self.turn.inputs.iter().enumerate().map(|(n, input)| {
            let sizes = shapes.get(n).and_then(Option::as_deref);
            Values::default()
                .text("option", input.name.replace('_', "-"))
                .flag("shaped", sizes.is_some())
                .text("sizes", sizes.unwrap_or_default())
                .text("dtype", if input.is_integer { "int64" } else { "bfloat16" })
        });
        let q = file.view.layout.quote;
        let names: Vec<String> = self.turn.inputs.iter().map(|i| format!("{q}{}{q}", i.name)).collect();
        let directly = !self.other_modes() && host_uses(file, self.turn.step.whole).next().is_some();
        let values = Values::default()
            .flag("one_run", self.in_one_run())
            .flag("other_modes", self.other_modes())
            .flag("clips", !self.clipping.is_empty())
            .flag("drops", self.input.project.drops)
            .flag("called_directly", directly)
            .text("names", names.join(", "))
            .text("torch", self.torch().unwrap_or_else(|| "torch".to_owned()))
            .text("program", program(file.view.path))
            .text("hyperparameters", self.hyperparameters())
            .list("input", inputs);
        self.block(RUNTIME, &values)
    }

    /// What every update is given, as a Python tuple; of several optimizers the one in use has what the others lack.
    fn hyperparameters(&self) -> String {
        let listed = self.input.settings.definitions.names(HYPERPARAMETERS);
        let q = self.turn.step.file.view.layout.quote;
        let tuple = |optimizer: &Optimizer<'_>| {
            let own = format!("{}.", optimizer.class);
            let names = listed.iter().filter_map(|n| n.name.strip_prefix(&own)).map(|name| format!("{q}{name}{q}"));
            format!("({},)", names.collect::<Vec<_>>().join(", "))
        };
        let mut tuples: Vec<String> = self.optimizers.iter().map(tuple).collect();
        tuples.sort_by_key(|t| std::cmp::Reverse(t.len()));
        tuples.dedup();
        match tuples.as_slice() {
            [longer, shorter, ..] => {
                let telling = longer.split(", ").find(|name| !shorter.contains(*name)).unwrap_or_default();
                format!("({longer} if {} in group else {shorter})", telling.trim_matches(['(', ',', ')']))
            }
            [one] => one.clone(),
            [] => String::new(),
        }
    }

    /// Shapes that the user gave (`--option input_shape=3x224x224,scalar`), as the elements of a tuple.
    fn shapes(&self) -> Vec<Option<String>> {
        let given = self.input.settings.values.get("input_shape").map_or("", String::as_str);
        let sizes = |shape: &str| {
            let sizes: Vec<&str> = shape.split('x').map(str::trim).collect();
            let plain = sizes.iter().all(|s| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit()));
            plain.then(|| format!("{},", sizes.join(", ")))
        };
        given.split(',').map(|s| if s.trim() == "scalar" { Some(String::new()) } else { sizes(s) }).collect()
    }
}

/// The name of the compiled program: the file's.
fn program(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    let stem = file.strip_suffix(".py").unwrap_or(file);
    let name: String = stem.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    if name.is_empty() { "train".to_owned() } else { name }
}
