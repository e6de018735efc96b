//! `load-bridge`, branch style: sets `PT_HPU_LAZY_MODE` and imports the Gaudi bridge under the project's test, as early
//! as the trainer knows its compute mode, so that no other Gaudi import comes before.

use super::{Input, Wish};
use crate::change::Change;
use crate::condition::{Type, imports, nodes_of_type};
use crate::facts::FileView;
use crate::lift::initialised;
use crate::sdk::compare;
use crate::tree::{Id, fields, kinds};

pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let (Some(view), Some(_)) = (input.view, &input.project.modes) else { return Vec::new() };
    if view.steps.training.is_empty() || imports(view, "habana_frameworks.torch.core") {
        return Vec::new();
    }
    let index = &view.index;
    let is_lazy = input.settings.is("lazy", "on");
    for &step in &view.steps.training {
        let Some(class) = view.class_of(step) else { continue };
        let Some((statement, guard)) = constructor_end(input, view, class) else { continue };
        let Some(lazy) = input.field(view, statement, "lazy_mode") else { continue };
        let (unit, q) = (&view.layout.indent, view.layout.quote);
        let eager = eager_value(&input.settings.sdk);
        // Without a switch of its own the program goes by the variable: then there is only a default to set.
        let value = match (lazy.contains("os.environ"), is_lazy) {
            (true, true) => format!("{q}1{q}"),
            (true, false) => format!("{q}{eager}{q}"),
            (false, _) => format!("{q}1{q} if {lazy} else {q}{eager}{q}"),
        };
        let text = format!(
            "if {guard}:\n{unit}os.environ.setdefault({q}PT_HPU_LAZY_MODE{q}, {value})\n{unit}import habana_frameworks.torch.core as htcore\n{unit}self.htcore = htcore"
        );
        return vec![Wish {
            at: index.item(statement).start,
            changes: vec![Change::Insert { at: statement, after: true, text }],
            imports: vec!["import os".to_owned()],
        }];
    }
    // No class keeps it: the module does, and other machines get past the import.
    let situation =
        crate::condition::Situation { view, project: input.project, settings: input.settings, branch: true };
    let first = nodes_of_type(&situation, &Type::FirstTorchImport).first().copied();
    let last = nodes_of_type(&situation, &Type::LastTorchImport).first().copied();
    let (Some(first), Some(last)) = (first, last) else { return Vec::new() };
    let (unit, q) = (&view.layout.indent, view.layout.quote);
    let value = if is_lazy { "1" } else { eager_value(&input.settings.sdk) };
    vec![Wish {
        at: index.item(first).start,
        changes: vec![
            Change::Insert {
                at: first,
                after: false,
                text: format!("os.environ.setdefault({q}PT_HPU_LAZY_MODE{q}, {q}{value}{q})"),
            },
            Change::Insert {
                at: last,
                after: true,
                text: format!(
                    "\ntry:\n{unit}import habana_frameworks.torch.core as htcore\nexcept ImportError:\n{unit}htcore = None"
                ),
            },
        ],
        imports: vec!["import os".to_owned()],
    }]
}

/// What `PT_HPU_LAZY_MODE` is for eager mode (guides/hpu.md#eras).
fn eager_value(sdk: &str) -> &'static str {
    if compare(sdk, "1.13").is_lt() { "2" } else { "0" }
}

/// The last statement of a class's constructor, where the compute mode can be read behind it.
fn constructor_end(input: &Input<'_, '_>, view: &FileView<'_>, class: Id) -> Option<(Id, String)> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let modes = input.project.modes.as_ref()?;
    let init = index
        .of_kind_in(k.function_definition, class)
        .iter()
        .copied()
        .find(|d| view.class_of(*d) == Some(class) && view.name_of(*d) == "__init__")?;
    let body = index.field(init, f.body)?;
    let statements: Vec<Id> = index.parts(body).collect();
    // The earliest place counts: behind the statement that hands `self` its arguments.
    statements.iter().copied().find_map(|s| {
        let guard = modes.guard_at(view, input.project, s)?;
        let attribute = guard.strip_prefix("self.").and_then(|g| g.split('.').next());
        let ready = attribute.is_none_or(|a| {
            let next = statements.iter().copied().find(|n| *n > s);
            match next {
                Some(next) => initialised(view, init, next, a),
                None => true,
            }
        });
        ready.then_some((s, guard))
    })
}
