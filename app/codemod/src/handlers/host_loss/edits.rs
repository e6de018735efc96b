//! The changes of one script, all of them or none.

use super::super::fetched::{handed, outermost_without};
use super::expression;
use super::plan::{Plan, is_statement, object};
use super::runtime::Program;
use crate::change::Change;
use crate::facts::FileView;
use crate::facts::roles::Role;
use crate::names::dotted;
use crate::order;
use crate::tree::{Id, ROOT, fields, kinds};

/// Where the fix belongs, its changes and the imports they need.
pub(super) fn of(plan: &Plan<'_, '_>) -> (usize, Vec<Change>, Vec<String>) {
    let (view, f) = (plan.view, fields());
    let index = &view.index;
    let mut changes = Vec::new();
    if let Some(first) = first_code(view) {
        let above = index.text[..index.item(first).start].replace('\r', "");
        let gap = "\n".repeat(3usize.saturating_sub(above.len() - above.trim_end_matches('\n').len()));
        changes.push(Change::Insert { at: first, after: false, text: format!("{gap}{}\n\n", program(plan).text()) });
    }
    // The optimizer, between handing the model over and compiling.
    let optimizer = &plan.optimizer;
    changes.push(expression(view, optimizer.call, optimizer.text(view)));
    let mut before = format!("rdu.take({})", optimizer.model);
    let (asking, data) = (command_line(plan.view, plan.optimizer.call), data_above(plan));
    if let Some(statement) = asking {
        changes.push(Change::Insert { at: statement, after: false, text: "rdu.read_command_line()".to_owned() });
    } else if data.is_empty() {
        before = format!("rdu.read_command_line()\n{before}");
    }
    for (n, (first, last)) in data.iter().enumerate() {
        if asking.is_none() && n == 0 {
            changes.push(Change::Insert { at: *first, after: false, text: "rdu.read_command_line()".to_owned() });
        }
        changes.push(Change::Wrap { first: *first, last: *last, header: "if not rdu.compiles():".to_owned() });
    }
    changes.push(Change::Insert { at: optimizer.statement, after: false, text: before });
    let start = format!("rdu.start({})", optimizer.name);
    changes.push(Change::Insert { at: optimizer.statement, after: true, text: start });
    changes.extend(step(plan));
    for statement in idle(plan) {
        changes.push(Change::Replace { first: statement, last: statement, text: String::new() });
    }
    // The host: validation and saving see the weights as they are.
    for call in &plan.evaluations {
        changes.extend(index.field(*call, f.function).map(|g| expression(view, g, "rdu.evaluate".to_owned())));
    }
    for statement in savings(plan) {
        changes.push(Change::Insert { at: statement, after: false, text: "rdu.fetch()".to_owned() });
    }
    let mut imports = vec!["import sys".to_owned()];
    if program(plan).torch().is_none() {
        imports.push("import torch".to_owned());
    }
    (index.item(optimizer.statement).start, changes, imports)
}

/// Forward pass, backward pass and update.
fn step(plan: &Plan<'_, '_>) -> Vec<Change> {
    let (view, f) = (plan.view, fields());
    let index = &view.index;
    let mut changes = Vec::new();
    let forward = if plan.in_one_run() { "rdu.step" } else { "rdu.forward" };
    changes.extend(index.field(plan.forward, f.function).map(|g| expression(view, g, forward.to_owned())));
    if plan.in_one_run() {
        let statements = [plan.backward, plan.update].into_iter().filter_map(|c| view.statement_of(c));
        changes.extend(statements.map(|s| Change::Replace { first: s, last: s, text: String::new() }));
        return changes;
    }
    if let Some(loss) = &plan.loss {
        changes.push(Change::Insert { at: loss.statement, after: true, text: format!("{0} = {0}.mean()", loss.name) });
    }
    changes.push(expression(view, plan.update, "rdu.update()".to_owned()));
    if let Some(scaled) = object(view, plan.backward).filter(|o| index.kind(*o) == kinds().call)
        && object(view, scaled).is_some_and(|o| plan.input.project.role(view, o) == Some(Role::Scaler))
        && let Some(loss) = index.field(scaled, f.arguments).and_then(|a| index.parts(a).next())
    {
        let text = index.text_of(loss);
        let plain = dotted(index, loss).is_some();
        changes.push(expression(view, scaled, if plain { text.to_owned() } else { format!("({text})") }));
    }
    changes
}

/// What the class is written from.
fn program<'a>(plan: &'a Plan<'_, '_>) -> Program<'a> {
    Program {
        view: plan.view,
        settings: plan.input.settings,
        inputs: &plan.inputs,
        kinds: vec![plan.optimizer.kind],
        anchor: plan.optimizer.call,
        beside_other_modes: false,
        in_one_run: plan.in_one_run(),
    }
}

/// The first statement of the module that is neither a text nor an import.
fn first_code(view: &FileView<'_>) -> Option<Id> {
    let k = kinds();
    let index = &view.index;
    index.parts(ROOT).find(|s| {
        let kind = index.kind(*s);
        let text = kind == k.expression_statement && index.parts(*s).all(|p| index.kind(p) == k.string);
        let import = [k.import_statement, k.import_from_statement, k.future_import_statement].contains(&kind);
        let tried = kind == k.try_statement
            && index.of_kind_in(k.import_statement, *s).len() + index.of_kind_in(k.import_from_statement, *s).len() > 0;
        !text && !import && !tried
    })
}

/// The statement before which the program's own command line has not been read: its own parsing, or the start of its
/// main block.
pub(super) fn command_line(view: &FileView<'_>, optimizer: Id) -> Option<Id> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let at_top = ["parse_args", "parse_known_args"]
        .iter()
        .flat_map(|n| view.calls(n))
        .copied()
        .find(|c| view.function_of(*c).is_none() && index.parent(*c).is_some());
    let in_main = || {
        index.parts(ROOT).filter(|s| index.kind(*s) == k.if_statement).find_map(|s| {
            let test = index.field(s, f.condition)?;
            let body = index.field(s, f.consequence)?;
            index.text_of(test).contains("__name__").then(|| index.parts(body).next()).flatten()
        })
    };
    // `main()` by itself, at the left margin.
    let own_call = || {
        let in_function = view.function_of(optimizer).is_some();
        index.parts(ROOT).filter(|s| in_function && index.kind(*s) == k.expression_statement).find(|s| {
            let call = index.parts(*s).next().filter(|c| index.kind(*c) == k.call);
            let function = call.and_then(|c| index.field(c, f.function));
            function.is_some_and(|g| index.kind(g) == k.identifier && view.defines(index.text_of(g)))
        })
    };
    let anywhere = || view.calls("parse_args").first().copied();
    at_top
        .filter(|c| *c < optimizer)
        .and_then(|c| view.statement_of(c))
        .or_else(in_main)
        .or_else(own_call)
        .or_else(|| anywhere().and_then(|c| view.statement_of(c)))
}

/// Statements that make loaders and data sets above the optimizer, in runs: compiling reads no data. What something else
/// needs before the program is compiled stays.
fn data_above(plan: &Plan<'_, '_>) -> Vec<(Id, Id)> {
    let (view, k, f) = (plan.view, kinds(), fields());
    let index = &view.index;
    let Some(block) = index.parent(plan.optimizer.statement) else { return Vec::new() };
    let above: Vec<Id> = index.parts(block).filter(|s| *s < plan.optimizer.statement).collect();
    let is_data = |s: Id| {
        let Some(assignment) = index.parts(s).next().filter(|a| index.kind(*a) == k.assignment) else { return false };
        let Some(left) = index.field(assignment, f.left) else { return false };
        let names: Vec<Id> = if dotted(index, left).is_some() { vec![left] } else { index.parts(left).collect() };
        !names.is_empty()
            && names.iter().all(|n| matches!(plan.input.project.role(view, *n), Some(Role::Loader | Role::Dataset)))
    };
    let mut data: Vec<Id> = above.iter().copied().filter(|s| is_data(*s)).collect();
    let words = |s: Id| index.of_kind_in(k.identifier, s).iter().map(|i| index.text_of(*i)).collect::<Vec<_>>();
    // A statement that is needed by one that stays, stays too.
    loop {
        let stays: Vec<&str> = above
            .iter()
            .chain(std::iter::once(&plan.optimizer.statement))
            .filter(|s| !data.contains(s))
            .flat_map(|s| words(*s))
            .collect();
        let needed = data.iter().position(|s| {
            let assignment = index.parts(*s).next();
            let left = assignment.and_then(|a| index.field(a, f.left));
            left.is_some_and(|l| {
                let names = index.of_kind_in(k.identifier, l).iter().map(|i| index.text_of(*i));
                names.filter(|n| *n != "self").any(|n| stays.contains(&n))
            })
        });
        match needed {
            Some(n) => {
                data.remove(n);
            }
            None => break,
        }
    }
    let mut runs: Vec<(Id, Id)> = Vec::new();
    let mut previous = None;
    for statement in above {
        if data.contains(&statement) {
            match runs.last_mut() {
                Some(run) if previous == Some(run.1) => run.1 = statement,
                _ => runs.push((statement, statement)),
            }
        }
        previous = Some(statement);
    }
    runs
}

/// Statements that have nothing to do on an RDU: clearing gradients, and the bookkeeping of a gradient scaler.
fn idle(plan: &Plan<'_, '_>) -> Vec<Id> {
    let view = plan.view;
    let of = |name: &'static str, roles: &'static [Role]| {
        view.calls(name).iter().copied().filter(move |c| {
            is_statement(view, *c)
                && object(view, *c)
                    .and_then(|o| plan.input.project.role(view, o))
                    .is_some_and(|role| roles.contains(&role))
        })
    };
    let mut out: Vec<Id> = of("zero_grad", &[Role::Optimizer, Role::Model])
        .chain(of("update", &[Role::Scaler]))
        .chain(of("unscale_", &[Role::Scaler]))
        .filter_map(|c| view.statement_of(c))
        .collect();
    out.extend(idle_scaler(plan, &out));
    order::sort(&mut out);
    out
}

/// The statement that makes a scaler which nothing else uses any more.
fn idle_scaler(plan: &Plan<'_, '_>, removed: &[Id]) -> Option<Id> {
    let (view, k, f) = (plan.view, kinds(), fields());
    let index = &view.index;
    let made = view.calls("GradScaler").first().copied()?;
    let assignment = index.parent(made).filter(|p| index.kind(*p) == k.assignment)?;
    let left = index.field(assignment, f.left).filter(|l| dotted(index, *l).is_some())?;
    let name = index.text_of(left);
    let goes = |id: Id| {
        removed.iter().any(|s| index.is_within(id, *s))
            || index.is_within(id, plan.update)
            || index.is_within(id, plan.backward)
            || index.is_within(id, assignment)
    };
    let used = index.of_kind(index.kind(left)).iter().any(|i| index.text_of(*i) == name && !goes(*i));
    (!used).then(|| view.statement_of(made)).flatten()
}

/// Statements that take the model's weights, or put others in their place on the host.
fn savings(plan: &Plan<'_, '_>) -> Vec<Id> {
    let (view, f) = (plan.view, fields());
    let index = &view.index;
    let is_model = |id: Id| dotted(index, id).is_some() && plan.input.project.role(view, id) == Some(Role::Model);
    let named = view.calls("state_dict").iter().chain(view.calls("load_state_dict")).copied();
    let dictionaries = named.filter(|c| object(view, *c).is_some_and(is_model));
    let saves = view.calls("save").iter().copied().filter(|c| {
        let first = index.field(*c, f.arguments).and_then(|a| index.parts(a).next());
        first.is_some_and(is_model)
    });
    let mut out: Vec<Id> = dictionaries
        .chain(saves)
        .filter(|c| *c > plan.optimizer.call || view.function_of(*c) != view.function_of(plan.optimizer.call))
        .filter_map(|c| view.statement_of(c))
        .collect();
    let step = plan.view.steps.training[0];
    out.extend(handed(plan.input, view, step).filter_map(|call| outermost_without(view, call, step)));
    order::sort(&mut out);
    out.dedup();
    out
}
