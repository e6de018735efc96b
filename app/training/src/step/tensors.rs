//! Tensors that a step reads and that are not part of a batch: class weights, the table of a noise schedule.

use super::bindings::bindings;
use super::callers::given;
use super::calls::{is_parameter, qualified};
use super::dataflow::altered;
use crate::project::FileInProject;
use crate::words::{CALLS_WITHOUT_TENSOR, TENSOR_FIELDS, TORCH_WITHOUT_TENSOR};
use python::names::called_name;
use python::tree::{Id, kinds};

/// How many assignments and calls are followed back from a tensor.
const STEPS: u8 = 5;

/// Whether a name, or a member of `self`, is a host tensor that is not trained, wherever its value is assigned.
pub(crate) fn is_host_tensor(file: FileInProject<'_, '_>, id: Id) -> bool {
    let index = &file.view.index;
    let learns = |call: &Id| index.receiver(*call).is_some_and(|of| index.is_text(of, index.text_of(id)));
    file.role(id).is_none() && is_tensor(file, id, STEPS) && !file.calls("requires_grad_").iter().any(learns)
}

/// Whether the loop iteration, or an enclosing loop, changes the value of a name in place: `labels.fill_(1)`.
pub(crate) fn is_altered(file: FileInProject<'_, '_>, turn: Id, name: &str) -> bool {
    let index = &file.view.index;
    let is_repeated = |s: Id| index.ancestors(s).any(|a| a == turn || index.is_loop(a) && index.is_within(turn, a));
    let mut statements = index.of_kind(kinds().expression_statement).iter().copied();
    statements.any(|s| altered(&file, s) == Some(name) && is_repeated(s))
}

/// Whether an expression is a tensor that records no gradients, wherever its value is assigned.
fn is_tensor(file: FileInProject<'_, '_>, id: Id, steps: u8) -> bool {
    let (k, index) = (kinds(), &file.view.index);
    let Some(steps) = steps.checked_sub(1) else { return false };
    let follows = |id: Id| is_tensor(file, id, steps);
    let kind = index.kind(id);
    if [k.binary_operator, k.unary_operator, k.parenthesized_expression].contains(&kind) {
        return index.parts(id).any(follows);
    }
    if kind == k.subscript {
        return index.value(id).is_some_and(follows);
    }
    if kind == k.call {
        if let Some(name) = qualified(&file, id).filter(|name| name.starts_with("torch.")) {
            return makes_tensor(&name) && index.arguments(id).keyword("requires_grad").is_none();
        }
        // `x.float()` is a tensor of a different type.
        let converts = |name| matches!(name, "float" | "int" | "bool");
        let leaves = |name| CALLS_WITHOUT_TENSOR.contains(&name) && !converts(name);
        return !called_name(index, id).is_some_and(leaves) && index.receiver(id).is_some_and(follows);
    }
    if ![k.identifier, k.attribute].contains(&kind) {
        return false;
    }
    let name = index.text_of(id);
    let owner = index.ancestors(id).find(|a| index.kind(*a) == k.function_definition && file.binds(*a, name));
    let is_own = |b: &Id| kind == k.attribute || file.function_of(*b) == owner;
    let bound: Vec<Id> = bindings(&file, name).into_iter().filter(|b| is_own(b) && !index.is_within(id, *b)).collect();
    // `weights = weights.cuda()` keeps its meaning.
    let value = |b: Id| index.assignment(b).and_then(|a| a.value_of(name));
    if let Some(function) = owner.filter(|f| bound.is_empty() && is_parameter(&file, *f, name)) {
        let values = given(&file, function, name);
        return !values.is_empty() && values.into_iter().all(follows);
    }
    !bound.is_empty() && bound.into_iter().all(|b| value(b).is_some_and(follows))
}

/// Where a field that tensors lack is read from a name: it is an object.
pub(crate) fn field_of_object(file: FileInProject<'_, '_>, within: Id, name: &str) -> Option<Id> {
    let index = &file.view.index;
    let asks = |id: &Id| {
        let field = index.parent(*id).filter(|p| index.owner(*p) == Some(*id))?;
        let is_called = index.parent(field).is_some_and(|call| index.callee(call) == Some(field));
        let lacks = index.attribute(field)?.name().is_some_and(|name| !TENSOR_FIELDS.contains(&name));
        (lacks && !is_called && index.is_within(*id, within)).then_some(field)
    };
    file.view.identifiers(name).iter().find_map(asks)
}

/// Whether a function of PyTorch returns a tensor, judging by its name.
fn makes_tensor(name: &str) -> bool {
    let name = name.strip_prefix("torch.").unwrap_or(name);
    let name = ["nn.functional.", "linalg.", "special."].iter().find_map(|m| name.strip_prefix(m)).unwrap_or(name);
    let is_class = name.starts_with(char::is_uppercase) && !name.ends_with("Tensor");
    !name.contains('.') && !is_class && !TORCH_WITHOUT_TENSOR.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::{field_of_object, is_altered, is_host_tensor};
    use crate::marked;

    /// Whether the marked name is a host tensor that is not trained.
    #[track_caller]
    fn check(body: &str, expected: bool) {
        let program = format!("import torch\n{body}");
        marked::check(&program, expected, |at| is_host_tensor(at.file(), at.node()));
    }

    #[test]
    fn what_torch_makes_is_a_host_tensor() {
        check("a = torch.ones(4)\nf(a)\n  ^\n", true);
        check("a = 2 * torch.ones(4)[1:]\nf(a)\n  ^\n", true);
        check("a = torch.ones(4)\na = a.cuda()\nf(a)\n  ^\n", true);
        check(
            "class A:\n    def __init__(self):\n        self.a = torch.ones(4)\n        f(self.a)\n          ^^^^^^\n",
            true,
        );
        check("a = torch.ones(4).tolist()\nf(a)\n  ^\n", false);
        check("a = torch.Generator()\nf(a)\n  ^\n", false);
        check("a = [1, 2]\nf(a)\n  ^\n", false);
    }

    #[test]
    fn what_is_trained_is_none() {
        check("a = torch.ones(4, requires_grad=True)\nf(a)\n  ^\n", false);
        check("a = torch.ones(4)\na.requires_grad_()\nf(a)\n  ^\n", false);
    }

    #[test]
    fn every_value_is_one() {
        check("a = torch.ones(4)\na = read()\nf(a)\n  ^\n", false);
        check("def g(a):\n    f(a)\n      ^\ng(torch.ones(4))\n", true);
        check("def g(a):\n    f(a)\n      ^\ng(torch.ones(4))\ng(3)\n", false);
        // The name of another function is another one.
        check("a = torch.ones(4)\nf(a)\n  ^\ndef report(path):\n    a = open(path).read()\n    return a\n", true);
    }

    #[test]
    fn a_tensor_that_the_loop_changes() {
        let check = |change: &str, expected: bool| {
            let program = format!("for x in y:\n^^^\n    f(labels)\n    {change}\n");
            marked::check(&program, expected, |at| is_altered(at.file(), at.node(), "labels"));
        };
        check("labels.fill_(1)", true);
        check("labels[0] = 1", true);
        check("labels.data = others", true);
        check("labels.grad = others", false);
        check("labels.fill(1)", false);
        check("others[0] = 1", false);
    }

    #[test]
    fn a_field_that_tensors_lack() {
        let check = |read: &str, expected: bool| {
            let program = format!("for x in y:\n^^^\n    f({read})\n");
            marked::check(&program, expected, |at| field_of_object(at.file(), at.node(), "x").is_some());
        };
        check("x.edge_index", true);
        check("x.shape", false);
        check("x.encode()", false);
    }
}
