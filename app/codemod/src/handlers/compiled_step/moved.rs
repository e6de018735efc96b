//! Statements on their way into the compiled module: what they take from outside gets a name there.

use super::far::Far;
use super::slice::{assigned, member_of_self, reads, reference};
use super::units::bound_first;
use super::{Input, Refusal, refuse};
use crate::change::dedent;
use crate::facts::roles::Role;
use crate::facts::{FileView, line_indent};
use crate::names::dotted;
use crate::order::Set;
use crate::order::sort_by_key;
use crate::tree::{Id, fields, kinds};

/// What moves into the compiled module, with the names it takes from outside.
#[derive(Default)]
pub(super) struct Moved {
    pub(super) body: Vec<String>,
    /// Attribute and the expression it is given.
    pub(super) attributes: Vec<(String, String)>,
    /// Parameter and the expression it is given, `**` included.
    pub(super) parameters: Vec<(String, String)>,
    /// A loss that the program keeps as an attribute, and its name in the module.
    pub(super) alias: Option<(String, String)>,
}

impl Moved {
    /// A name of the program as it is called in the module.
    pub(super) fn local(&self, name: &str) -> String {
        match &self.alias {
            Some((from, to)) if from == name => to.clone(),
            _ => name.to_owned(),
        }
    }
}

/// Names that the moved statements assign, in order.
pub(super) fn moved_names(view: &FileView<'_>, slice: &[Id], far: Option<&Far>) -> Vec<String> {
    let mut out: Vec<String> = far.iter().map(|f| f.output.clone()).collect();
    for name in slice.iter().flat_map(|s| assigned(view, *s)) {
        if !out.iter().any(|o| o == name) {
            out.push(name.to_owned());
        }
    }
    out
}

/// `self._net` and `args.weight` as a name of their own: `net`, `weight`.
pub(super) fn plain_name(expression: &str) -> String {
    let words: Vec<&str> =
        expression.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|w| !w.is_empty()).collect();
    let last = words.iter().rev().find(|w| !matches!(**w, "to" | "cuda" | "device" | "self" | "non_blocking" | "True"));
    let name = last.map_or("value", |w| w.trim_start_matches('_'));
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) { "value".to_owned() } else { name.to_owned() }
}

/// A statement as it stands in the module: what comes from outside becomes an attribute or a parameter.
pub(super) fn moved_statement(
    input: &Input<'_, '_>,
    view: &FileView<'_>,
    function: Option<Id>,
    body: Id,
    statement: Id,
    (known, locals): (&Set<String>, &Set<String>),
    moved: &mut Moved,
) -> Result<String, Refusal> {
    let k = kinds();
    let index = &view.index;
    let mut edits: Vec<(std::ops::Range<usize>, String)> = Vec::new();
    let known: Set<String> = known.iter().cloned().chain(bound_first(view, statement)).collect();
    let known = &known;
    if let Some((from, to)) = &moved.alias {
        let places = std::iter::once(statement).chain(index.of_kind_in(k.attribute, statement).iter().copied());
        edits.extend(places.filter(|a| index.text_of(*a) == from).map(|a| (index.range(a), to.clone())));
    }
    // Nothing is moved to a device in there.
    for &call in index.of_kind_in(k.call, statement) {
        let Some(object) = index.field(call, fields().function).and_then(|g| index.field(g, fields().object)) else {
            continue;
        };
        if moves_to_device(input, view, call) {
            edits.push((index.item(object).end..index.item(call).end, String::new()));
        }
    }
    for id in reads(view, statement) {
        let name = index.text_of(id);
        if known.contains(name) || edits.iter().any(|(r, _)| r.contains(&index.item(id).start)) {
            continue;
        }
        let is_self = name == "self";
        let node = if is_self { member_of_self(view, id) } else { Some(id) };
        let Some(mut node) = node else {
            return refuse(
                id,
                "`self` as a whole can't move into what the IPU compiles. Hand over what is needed of it, then port again",
            );
        };
        // `self.net.encoder` and `state.model`: the longest name that is a model or a criterion.
        let mut whole = node;
        while let Some(parent) = index.parent(whole).filter(|p| dotted(index, *p).is_some()) {
            whole = parent;
        }
        let mut chain = vec![whole];
        while *chain.last().unwrap_or(&node) != node {
            let Some(inner) = index.field(chain[chain.len() - 1], fields().object) else { break };
            chain.push(inner);
        }
        let part = chain.iter().copied().find(|c| {
            matches!(input.project.role(view, *c), Some(Role::Model | Role::Criterion)) && dotted(index, *c).is_some()
        });
        let of_body = |n: &str| {
            index.of_kind_in(k.identifier, body).iter().any(|i| {
                index.text_of(*i) == n
                    && !reads(view, body).contains(i)
                    && index
                        .parent(*i)
                        .is_some_and(|p| index.kind(p) != k.attribute && index.kind(p) != k.keyword_argument)
            }) || index.kind(body) == k.for_statement
                && index
                    .field(body, fields().left)
                    .is_some_and(|l| index.of_kind_in(k.identifier, l).iter().any(|i| index.text_of(*i) == n))
        };
        let taken_by_function = function.is_some_and(|g| view.binds(g, name));
        let enclosing =
            index.ancestors(statement).filter(|a| index.kind(*a) == k.function_definition).any(|g| view.binds(g, name));
        if let Some(part) = part.filter(|_| {
            is_self
                || taken_by_function
                || enclosing
                || view.binds_at_top(name, 0, true) && !view.names.by_import(name) && !view.defines(name)
        }) {
            node = part;
            keep(&mut moved.attributes, &mut edits, view, node, true, known);
            continue;
        }
        if is_self {
            let method = index
                .parent(whole)
                .is_some_and(|p| index.kind(p) == k.call && index.field(p, fields().function) == Some(whole));
            if method {
                if !is_plain_method(input, view, whole) {
                    return refuse(
                        whole,
                        "a method of the trainer that takes part in the loss can't be followed. Make it a function of tensors or a module",
                    );
                }
                // Bound to the trainer, it is traced like any function.
                keep(&mut moved.attributes, &mut edits, view, whole, true, known);
                continue;
            }
            node = if of_body("self") { whole } else { reference(view, node) };
            keep(&mut moved.attributes, &mut edits, view, node, true, known);
            continue;
        }
        // A tensor is not called: what is called is a module or a function, the same at every step.
        let is_called =
            index.parent(id).is_some_and(|p| index.kind(p) == k.call && index.field(p, fields().function) == Some(id));
        let whole_function = index.kind(body) == k.function_definition && !is_called;
        let data = of_body(name) || (taken_by_function && whole_function);
        if data && input.project.role(view, id) != Some(Role::Device) {
            let splat = index.parent(id).is_some_and(|p| index.text_of(p) == format!("**{name}"));
            if splat {
                let entry = (format!("**{name}"), format!("**{name}"));
                if !moved.parameters.contains(&entry) {
                    moved.parameters.push(entry);
                }
                continue;
            }
            node = reference(view, id);
            keep(&mut moved.parameters, &mut edits, view, node, false, locals);
        } else if taken_by_function || enclosing {
            node = reference(view, id);
            keep(&mut moved.attributes, &mut edits, view, node, true, known);
        }
    }
    // What became a name as a whole has nothing left to change inside.
    let whole: Vec<_> = edits.iter().map(|(r, _)| r.clone()).collect();
    edits.retain(|(r, _)| !whole.iter().any(|w| w != r && w.start <= r.start && r.end <= w.end));
    sort_by_key(&mut edits, |(r, _)| r.start);
    edits.dedup();
    let range = index.range(statement);
    let mut out = String::new();
    let mut at = range.start;
    for (r, text) in edits {
        out.push_str(&index.text[at..r.start]);
        out.push_str(&text);
        at = r.end;
    }
    out.push_str(&index.text[at..range.end]);
    Ok(dedent(&out, line_indent(index.text, range.start)))
}

/// `x.cuda()`, `x.cpu()` and `x.to(device)`.
fn moves_to_device(input: &Input<'_, '_>, view: &FileView<'_>, call: Id) -> bool {
    let f = fields();
    let index = &view.index;
    match crate::names::called_name(index, call) {
        Some("cuda" | "cpu") => true,
        Some("to") => index.field(call, f.arguments).and_then(|a| index.parts(a).next()).is_some_and(|a| {
            input.project.role(view, a) == Some(Role::Device) || index.text_of(a).rsplit('.').next() == Some("device")
        }),
        _ => false,
    }
}

/// Gives an expression a name of its own in the module.
pub(super) fn keep(
    list: &mut Vec<(String, String)>,
    edits: &mut Vec<(std::ops::Range<usize>, String)>,
    view: &FileView<'_>,
    node: Id,
    attribute: bool,
    locals: &Set<String>,
) {
    let text = view.index.text_of(node);
    let name = match list.iter().find(|(_, given)| given == text) {
        Some((name, _)) => name.clone(),
        None => {
            let plain = plain_name(text);
            // Names of the moved statements, and of `nn.Module` itself, are not free.
            let taken = |n: &str| {
                list.iter().any(|(other, _)| other == n)
                    || !attribute && n != text && locals.contains(n)
                    || attribute && matches!(n, "train" | "eval" | "training" | "type" | "half" | "float" | "forward")
            };
            let name = if taken(&plain) {
                (2..).map(|i| format!("{plain}{i}")).find(|n| !taken(n)).unwrap_or(plain)
            } else {
                plain
            };
            // What is called with `**` comes last.
            let place = list.iter().position(|(n, _)| n.starts_with("**")).unwrap_or(list.len());
            list.insert(place, (name.clone(), text.to_owned()));
            name
        }
    };
    edits.push((view.index.range(node), if attribute { format!("self.{name}") } else { name }));
}

/// Whether a method of this file only computes: it neither runs the model nor leaves the tensors.
fn is_plain_method(input: &Input<'_, '_>, view: &FileView<'_>, called: Id) -> bool {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let Some(name) = index.text_of(called).strip_prefix("self.") else { return false };
    let Some(class) = view.class_of(called) else { return false };
    let method = index.of_kind_in(k.function_definition, class).iter().copied().find(|d| view.name_of(*d) == name);
    method.is_some_and(|method| {
        index.of_kind_in(k.call, method).iter().all(|call| {
            let leaves = crate::names::called_name(index, *call)
                .is_some_and(|n| matches!(n, "item" | "numpy" | "tolist" | "backward" | "append" | "print"));
            let runs = index.field(*call, f.function).is_some_and(|g| {
                let last = index.text_of(g).rsplit('.').next().unwrap_or("").to_ascii_lowercase();
                input.project.role(view, g) == Some(Role::Model) && !last.contains("loss") && !last.contains("criteri")
            });
            !leaves && !runs
        })
    })
}
