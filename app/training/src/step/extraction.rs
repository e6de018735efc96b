//! Statements as written in a module of their own: names from outside become attributes or parameters.

use super::calls::{arguments, qualified};
use super::changing::cut_by_hand;
use super::dataflow::{member_of_self, reads, reference};
use super::fixed::bound_first;
use super::obstacle::{self as why, Obstacle};
use super::tensors::{is_altered, is_host_tensor};
use crate::project::FileInProject;
use crate::roles::Role;
use crate::words::TENSORS_OF_DATA;
use python::edit::dedent;
use python::lines::line_indent;
use python::names::{called_name, dotted};
use python::tree::{Id, kinds};
use sorting::SortedSet;
use std::ops::Range;

/// The statements of a module's forward pass, with the names from outside.
#[derive(Default)]
pub struct Extraction {
    /// Statements, each with its line breaks.
    pub body: Vec<String>,
    /// Attribute and its expression.
    pub attributes: Vec<(String, String)>,
    /// Attributes that are host tensors.
    pub tensors: SortedSet<String>,
    /// Parameter and its expression, `**` included.
    pub parameters: Vec<(String, String)>,
    /// Name and expression of a Python number that changes from batch to batch.
    pub numbers: Vec<(String, String)>,
    /// A loss that the program stores as an attribute, and its name in the module.
    pub alias: Option<(String, String)>,
    /// The first line of a block without gradients, if there is one.
    no_grad: Option<String>,
}

/// The origin of a statement.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a, 't> {
    pub(crate) file: FileInProject<'a, 't>,
    /// The function that contains it, and its block that is repeated.
    pub(crate) function: Option<Id>,
    pub(crate) body: Id,
    /// The names that this block assigns.
    pub(crate) bound: &'a SortedSet<&'t str>,
    /// Names that statements above it assign in the module, and all names that any statement will assign.
    pub(crate) known: &'a SortedSet<String>,
    pub(crate) locals: &'a SortedSet<String>,
    /// Expressions of changing numbers.
    pub(crate) numbers: &'a [Id],
    /// Names of tensors that are created before the loop, and are passed in like a batch.
    pub(crate) inputs: &'a [&'t str],
}

impl Extraction {
    /// Adds a statement.
    pub(crate) fn take(&mut self, frame: &Frame<'_, '_>, statement: Id, obstacles: &mut Vec<Obstacle>) {
        let text = self.statement(frame, statement, obstacles);
        self.body.push(text);
    }

    /// A statement as written in the module, without gradients if it has none in the program.
    pub(crate) fn statement(&mut self, frame: &Frame<'_, '_>, statement: Id, obstacles: &mut Vec<Obstacle>) -> String {
        let text = self.text_of(frame, statement, obstacles);
        if !frame.file.records_no_gradients(statement) {
            return text;
        }
        let known = frame.file.names.spelling(&frame.file.view.index, statement, "torch.no_grad");
        let lines: String = text.lines().map(|line| format!("\n    {line}")).collect();
        format!("{}{lines}", self.no_grad.insert(format!("with {}():", known.as_deref().unwrap_or("torch.no_grad"))))
    }

    /// Makes one block of statements without gradients that follow each other.
    pub(crate) fn join_blocks(&mut self) {
        let Some(header) = self.no_grad.take() else { return };
        let mut body: Vec<String> = Vec::new();
        for text in self.body.drain(..) {
            match (body.last_mut().filter(|last| last.starts_with(&header)), text.strip_prefix(&header)) {
                (Some(last), Some(rest)) => last.push_str(rest),
                _ => body.push(text),
            }
        }
        self.body = body;
    }

    /// Turns the numbers into parameters: tensors with the number for each sample of the first parameter.
    pub(crate) fn take_numbers(&mut self, full: &str) -> bool {
        let sample = self.parameters.iter().find(|(name, _)| !name.starts_with('*')).map(|(_, given)| given.clone());
        let Some(sample) = sample else { return self.numbers.is_empty() };
        for (place, (name, number)) in self.numbers.iter().enumerate() {
            let given = format!("{full}((len({sample}),), float({number}))");
            let end = self.parameters.iter().position(|(n, _)| n.starts_with("**")).unwrap_or(self.parameters.len());
            self.parameters.insert(end, (name.clone(), given));
            self.body.insert(place, format!("{name} = {name}[0]"));
        }
        true
    }

    /// The module's name for a name of the program.
    pub fn local(&self, name: &str) -> String {
        match &self.alias {
            Some((from, to)) if from == name => to.clone(),
            _ => name.to_owned(),
        }
    }
}

/// `self._net` and `args.weight` as a single name: `net`, `weight`.
pub(crate) fn plain_name(expression: &str) -> String {
    let words: Vec<&str> =
        expression.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|w| !w.is_empty()).collect();
    let last = words.iter().rev().find(|w| !matches!(**w, "to" | "cuda" | "device" | "self" | "non_blocking" | "True"));
    let name = last.map_or("value", |w| w.trim_start_matches('_'));
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) { "value".to_owned() } else { name.to_owned() }
}

impl Extraction {
    /// A statement, or an expression, as written in the module.
    pub(crate) fn text_of(&mut self, frame: &Frame<'_, '_>, statement: Id, obstacles: &mut Vec<Obstacle>) -> String {
        let k = kinds();
        let file = frame.file;
        let index = &file.view.index;
        let known: SortedSet<String> = frame.known.iter().cloned().chain(bound_first(&file, statement)).collect();
        let mut edits: Vec<(Range<usize>, String)> = Vec::new();
        if let Some((from, to)) = &self.alias {
            let places = std::iter::once(statement).chain(index.of_kind_in(k.attribute, statement).iter().copied());
            edits.extend(places.filter(|a| index.text_of(*a) == from).map(|a| (index.range(a), to.clone())));
        }
        // Nothing is moved to a device in the module.
        for &call in index.of_kind_in(k.call, statement).iter().filter(|c| moves_to_device(file, **c)) {
            let object = file.index.receiver(call);
            edits.extend(object.map(|o| (index.item(o).end..index.item(call).end, String::new())));
        }
        for id in reads(&file, statement) {
            let name = index.text_of(id);
            if known.contains(name) || edits.iter().any(|(r, _)| r.contains(&index.item(id).start)) {
                continue;
            }
            if let Some(&number) = frame.numbers.iter().find(|n| index.is_within(id, **n)) {
                let is_taken = |n: &str| frame.locals.contains(n) || self.parameters.iter().any(|(name, _)| name == n);
                let name = name_in(&mut self.numbers, index.text_of(number), &is_taken);
                edits.push((index.range(number), name));
                continue;
            }
            match frame.source(id) {
                Ok(Source::Unchanged) => {}
                Ok(Source::Attribute(node)) => {
                    let name = name_in(&mut self.attributes, index.text_of(node), &is_module_name);
                    edits.push((index.range(node), format!("self.{name}")));
                }
                Ok(Source::Method(node, parts)) => {
                    for part in std::iter::once(node).chain(parts) {
                        let name = name_in(&mut self.attributes, index.text_of(part), &is_module_name);
                        if part == node {
                            edits.push((index.range(node), format!("self.{name}")));
                        }
                    }
                }
                Ok(Source::Tensor(node)) => {
                    let name = name_in(&mut self.attributes, index.text_of(node), &is_module_name);
                    edits.push((index.range(node), format!("self.{name}")));
                    self.tensors.insert(name);
                }
                Ok(Source::Parameter(node)) => {
                    let text = index.text_of(node);
                    let is_taken = |n: &str| {
                        n != text && frame.locals.contains(n) || self.numbers.iter().any(|(name, _)| name == n)
                    };
                    let whole = made_tensor(file, node);
                    // A part of all samples gets a name derived from theirs.
                    let part = if cut_by_hand(file, frame.body, id) == Some(node) { name } else { text };
                    let made = (index.text_of(whole), part);
                    edits.push((index.range(whole), name_after(&mut self.parameters, made, &is_taken)));
                }
                Ok(Source::Unpacked) => {
                    let entry = (format!("**{name}"), format!("**{name}"));
                    if !self.parameters.contains(&entry) {
                        self.parameters.push(entry);
                    }
                }
                Err(obstacle) => obstacles.push(obstacle),
            }
        }
        // An expression that was replaced by a name as a whole has nothing to change inside.
        let whole: Vec<_> = edits.iter().map(|(r, _)| r.clone()).collect();
        edits.retain(|(r, _)| !whole.iter().any(|w| w != r && w.start <= r.start && r.end <= w.end));
        sorting::by_key(&mut edits, |(r, _)| r.start);
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
        dedent(&out, line_indent(index.text, range.start))
    }
}

/// What a name that is read in a moved statement becomes in the module.
enum Source {
    /// The same everywhere: an import, or a function of the file.
    Unchanged,
    /// The same at every step.
    Attribute(Id),
    /// The same at every step: a method of the program's own object, with the attributes of that object that it calls.
    Method(Id, Vec<Id>),
    /// The same at every step: a host tensor.
    Tensor(Id),
    /// Another value with every batch.
    Parameter(Id),
    /// Another value with every batch, passed as `**name`.
    Unpacked,
}

impl Frame<'_, '_> {
    /// What a name becomes, with the expression around it that is moved with it.
    fn source(&self, id: Id) -> Result<Source, Obstacle> {
        let k = kinds();
        let file = self.file;
        let index = &file.view.index;
        let name = index.text_of(id);
        let is_self = name == "self";
        let node = if is_self { member_of_self(&file, id) } else { Some(id) };
        let node = node.ok_or_else(|| why::self_as_whole(id))?;
        if let Some(cut) = cut_by_hand(file, self.body, node) {
            return Ok(Source::Parameter(cut));
        }
        let (whole, part) = self.chain(node);
        let is_called =
            |id: Id| index.parent(id).is_some_and(|p| index.kind(p) == k.call && index.callee(p) == Some(id));
        let taken_by_function = self.function.is_some_and(|g| file.binds(g, name));
        let enclosing =
            index.ancestors(id).filter(|a| index.kind(*a) == k.function_definition).any(|g| file.binds(g, name));
        // A function inside the training function is defined only there.
        let nested = || {
            let around = index.ancestors(id).filter(|a| index.kind(*a) == k.function_definition);
            let defined =
                |g: Id| index.of_kind_in(k.function_definition, g).iter().any(|d| *d != g && file.name_of(*d) == name);
            around.into_iter().any(defined)
        };
        // An imported name of which the weights are read is a model that another file creates.
        let reads_weights = |call: &Id| index.receiver(*call).is_some_and(|model| index.is_text(model, name));
        let is_model = || file.calls("parameters").iter().any(reads_weights);
        let is_import = || file.names.by_import(name) && !file.names.is_rebound(name);
        let at_top =
            || (file.binds_at_top(name, 0, true) && !is_import() || is_import() && is_model()) && !file.defines(name);
        let is_method = is_self && is_called(whole) && !methods_named(file, index.text_of(whole)).is_empty();
        if let Some(part) =
            part.filter(|_| !is_method).filter(|_| is_self || taken_by_function || enclosing || at_top())
        {
            return Ok(Source::Attribute(part));
        }
        if is_self {
            if is_called(whole) {
                return match method_parts(file, whole) {
                    Some(parts) => Ok(Source::Method(whole, parts)),
                    None => Err(why::method_not_followed(whole)),
                };
            }
            let kept = self.kept_tensor(node)?;
            if is_host_tensor(file, node) {
                return Ok(kept);
            }
            return Ok(Source::Attribute(if self.bound.contains("self") { whole } else { reference(&file, node) }));
        }
        // Tensors are not called: a called name is a module or a function, the same at every step.
        let in_function = index.kind(self.body) == k.function_definition && !is_called(id);
        let is_data = self.inputs.contains(&name) || self.bound.contains(name) || (taken_by_function && in_function);
        if !is_data && !is_called(id) && is_host_tensor(file, id) {
            return self.kept_tensor(id);
        }
        Ok(if is_data && file.role(id) != Some(Role::Device) {
            let unpacked = index.parent(id).is_some_and(|p| index.text_of(p) == format!("**{name}"));
            if unpacked { Source::Unpacked } else { Source::Parameter(reference(&file, id)) }
        } else if taken_by_function || enclosing || nested() {
            Source::Attribute(reference(&file, id))
        } else {
            Source::Unchanged
        })
    }

    /// A tensor that is created outside of the loop, unless it changes there.
    fn kept_tensor(&self, node: Id) -> Result<Source, Obstacle> {
        let name = self.file.view.index.text_of(node);
        let changes = is_altered(self.file, self.body, name);
        if changes { Err(why::changing_value(node, name)) } else { Ok(Source::Tensor(node)) }
    }

    /// The longest dotted name that starts at a node, and the longest part of it that is a model or a criterion:
    /// `self.net` of `self.net.encoder.weight`.
    fn chain(&self, node: Id) -> (Id, Option<Id>) {
        let index = &self.file.view.index;
        let mut whole = node;
        while let Some(parent) = index.parent(whole).filter(|p| dotted(index, *p).is_some()) {
            whole = parent;
        }
        let mut chain = vec![whole];
        while *chain.last().unwrap_or(&node) != node {
            let Some(inner) = index.owner(chain[chain.len() - 1]) else { break };
            chain.push(inner);
        }
        let is_part =
            |c: &Id| matches!(self.file.role(*c), Some(Role::Model | Role::Criterion)) && dotted(index, *c).is_some();
        (whole, chain.into_iter().find(is_part))
    }
}

/// `x.cuda()`, `x.cpu()` and `x.to(device)`.
fn moves_to_device(file: FileInProject<'_, '_>, call: Id) -> bool {
    let index = &file.view.index;
    match called_name(index, call) {
        Some("cuda" | "cpu") => true,
        Some("to") => arguments(&file, call).first().is_some_and(|a| {
            file.role(*a) == Some(Role::Device) || index.text_of(*a).rsplit('.').next() == Some("device")
        }),
        _ => false,
    }
}

/// Names of `nn.Module` itself, which an attribute can't use.
fn is_module_name(name: &str) -> bool {
    matches!(name, "train" | "eval" | "training" | "type" | "half" | "float" | "forward")
}

/// A call that makes a tensor of data that may be a list, judging by imports alone: `torch.tensor(states)` for
/// `states`. It stays outside, since only tensors can be passed to a compiled program.
fn made_tensor(file: FileInProject<'_, '_>, data: Id) -> Id {
    let index = &file.view.index;
    let makes = |at: &Id| {
        let call = index.parent(*at).and_then(|list| index.parent(list))?;
        let is_first = index.arguments(call).positional().next() == Some(*at);
        let is_plain = |id: &Id| index.is_within(*id, data) || file.names.by_import(index.text_of(*id));
        let made = is_first && qualified(&file, call).is_some_and(|name| TENSORS_OF_DATA.contains(&name.as_str()));
        (made && reads(&file, call).iter().all(is_plain)).then_some(call)
    };
    std::iter::successors(Some(data), makes).last().unwrap_or(data)
}

/// The module's name for an expression; a new one if it has none yet.
fn name_in(list: &mut Vec<(String, String)>, text: &str, is_taken: &dyn Fn(&str) -> bool) -> String {
    name_after(list, (text, text), is_taken)
}

/// The same, with a new name derived from a part of the expression.
fn name_after(list: &mut Vec<(String, String)>, (text, part): (&str, &str), is_taken: &dyn Fn(&str) -> bool) -> String {
    if let Some((name, _)) = list.iter().find(|(_, given)| given == text) {
        return name.clone();
    }
    let plain = plain_name(part);
    let free = |n: &str| !list.iter().any(|(other, _)| other == n) && !is_taken(n);
    let numbered = (2..).map(|i| format!("{plain}{i}"));
    let name = std::iter::once(plain.clone()).chain(numbered).find(|n| free(n)).unwrap_or(plain.clone());
    // `**` arguments come last.
    let place = list.iter().position(|(n, _)| n.starts_with("**")).unwrap_or(list.len());
    list.insert(place, (name.clone(), text.to_owned()));
    name
}

/// The methods of the file that `self.name` may refer to: a class of the file may inherit them from another.
fn methods_named(file: FileInProject<'_, '_>, called: &str) -> Vec<Id> {
    let definitions = file.view.index.of_kind(kinds().function_definition).iter().copied();
    let Some(name) = called.strip_prefix("self.") else { return Vec::new() };
    definitions.filter(|d| file.name_of(*d) == name && file.class_of(*d).is_some()).collect()
}

/// The attributes of its object, such as the model, that a method calls. Bound to its object, a method is traced like
/// any function, and the modules that train in it have to be part of the compiled one. None if the method uses
/// something other than tensors.
fn method_parts(file: FileInProject<'_, '_>, called: Id) -> Option<Vec<Id>> {
    let (k, index) = (kinds(), &file.view.index);
    let mut methods = methods_named(file, index.text_of(called));
    let mut parts = Vec::new();
    let mut read = 0;
    while let Some(&method) = methods.get(read) {
        read += 1;
        for &call in index.of_kind_in(k.call, method) {
            let leaves = ["item", "numpy", "tolist", "backward", "append", "print"];
            if called_name(index, call).is_some_and(|name| leaves.contains(&name)) {
                return None;
            }
            // Also `self.model` of `self.model.encode(x)`.
            let dotted_callee = index.callee(call).filter(|callee| dotted(index, *callee).is_some());
            let is_member = |id: &Id| index.owner(*id).is_some_and(|owner| index.is_text(owner, "self"));
            let Some(callee) = std::iter::successors(dotted_callee, |id| index.owner(*id)).find(is_member) else {
                continue;
            };
            let others = methods_named(file, index.text_of(callee));
            match others.is_empty() {
                true => parts.push(callee),
                false => {
                    methods.extend(others.into_iter().filter(|other| !methods.contains(other)).collect::<Vec<_>>())
                }
            }
        }
    }
    (read > 0).then_some(parts)
}
