//! A function that calls models, and which of its values are on the device.

use super::host::leaves_device;
use super::{is_call_of, statement};
use crate::project::FileInProject;
use crate::roles::Role;
use crate::step::{assigned, in_model, leaves, model_calls, of_package, qualified, reads};
use crate::words::MODULE_METHODS;
use python::tree::{Id, ROOT, kinds};
use sorting::SortedSet;

/// A function that calls models, or the code outside of functions.
pub(super) struct Scope<'a, 't> {
    pub(super) file: FileInProject<'a, 't>,
    pub(super) function: Option<Id>,
    /// Its statements that contain no others.
    pub(super) statements: Vec<Id>,
    /// Calls of models.
    pub(super) forwards: Vec<Id>,
    /// Names of models' results, and of values computed from them.
    pub(super) computed: SortedSet<&'t str>,
    /// Those of them that some statement gives a value on the host.
    pub(super) on_host: SortedSet<&'t str>,
}

/// Calls of models, and of methods of theirs whose result is kept: `latent = net.encode(image)`.
pub(super) fn forwards<'v>(file: FileInProject<'v, '_>) -> impl Iterator<Item = Id> + 'v {
    let (index, k) = (&file.view.index, kinds());
    let is_method = move |call: &Id| {
        let of_model = index.receiver(*call).is_some_and(|receiver| file.role(receiver) == Some(Role::Model));
        let is_kept = || statement(file, *call).is_some_and(|s| index.parts(s).next() != Some(*call));
        of_model
            && !of_package(file, *call)
            && !is_call_of(file, *call, MODULE_METHODS)
            && is_kept()
            && !in_model(file, *call)
    };
    let calls = index.of_kind(k.call).iter().copied();
    model_calls(file).chain(calls.filter(move |call| is_method(call) || traces(file, *call)))
}

/// Whether a call runs its first argument, a model, on the following tensors to write its graph.
pub(super) fn traces(file: FileInProject<'_, '_>, call: Id) -> bool {
    let is_tracer = || {
        is_call_of(file, call, &["add_graph"])
            || qualified(file.view, call).is_some_and(|q| q == "torch.jit.trace" || q == "torch.export.export")
    };
    is_call_of(file, call, &["trace", "export", "add_graph"]) && is_tracer() && is_given_model(file, call)
}

/// Whether a call's first argument is a model.
fn is_given_model(file: FileInProject<'_, '_>, call: Id) -> bool {
    let model = file.view.index.arguments(call).get(0, "model");
    model.is_some_and(|model| file.role(model) == Some(Role::Model)) && !in_model(file, call)
}

/// Names in the inputs that the ONNX exporter receives with a model; the model is a copy on the CPU.
pub(super) fn exported<'v>(file: FileInProject<'v, '_>) -> impl Iterator<Item = Id> + 'v {
    let index = &file.view.index;
    let is_export = move |call: &Id| qualified(file.view, *call).is_some_and(|q| q == "torch.onnx.export");
    let calls = file.view.calls("export").iter().copied().filter(is_export);
    let examples =
        calls.filter(move |call| is_given_model(file, *call)).filter_map(|c| index.arguments(c).get(1, "args"));
    examples.flat_map(move |example| reads(file.view, example))
}

impl<'a, 't> Scope<'a, 't> {
    pub(super) fn read(file: FileInProject<'a, 't>, function: Option<Id>) -> Self {
        let (index, k) = (&file.view.index, kinds());
        let forwards: Vec<Id> = forwards(file).filter(|call| file.function_of(*call) == function).collect();
        let mut statements = leaves(file.view, function.unwrap_or(ROOT));
        if function.is_none() {
            statements.extend(index.parts(ROOT).filter(|s| index.kind(*s) == k.expression_statement));
            statements.retain(|s| file.function_of(*s).is_none());
            sorting::plain(&mut statements);
        }
        let mut scope =
            Self { file, function, statements, forwards, computed: SortedSet::new(), on_host: SortedSet::new() };
        // A name that is read above the line that computes it, in the next iteration of a loop.
        for _ in 0..2 {
            for n in 0..scope.statements.len() {
                let statement = scope.statements[n];
                if scope.is_on_device(statement) {
                    let names = assigned(file.view, statement);
                    if !names.is_empty() && !scope.stays(statement) {
                        scope.on_host.extend(names.iter().copied());
                    }
                    scope.computed.extend(names);
                }
            }
        }
        scope
    }

    /// Whether an expression or a statement reads a model's result, or calls one, without bringing it to the host.
    pub(super) fn stays(&self, node: Id) -> bool {
        let (file, index) = (self.file, &self.file.view.index);
        let of_device = |id: &Id| {
            let name = index.text_of(*id);
            self.computed.contains(name) && !self.on_host.contains(name)
        };
        let read = reads(file.view, node).into_iter().filter(of_device);
        let calls = self.forwards.iter().copied().filter(|call| index.is_within(*call, node));
        read.chain(calls).any(|id| {
            let is_inside = |around: &Id| *around == node || index.is_within(*around, node);
            !index.ancestors(id).take_while(is_inside).any(|around| leaves_device(file, around))
        })
    }

    /// Whether a statement calls a model or reads a result of one.
    pub(super) fn is_on_device(&self, statement: Id) -> bool {
        let index = &self.file.view.index;
        self.forwards.iter().any(|call| index.is_within(*call, statement))
            || reads(self.file.view, statement).iter().any(|id| self.computed.contains(index.text_of(*id)))
    }
}
