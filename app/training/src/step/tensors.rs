//! Tensors that a step reads and that are not part of a batch: class weights, the table of a noise schedule.

use super::dataflow::altered;
use crate::project::FileInProject;
use crate::words::TENSOR_FIELDS;
use python::tree::{Id, kinds};

/// Whether a name, or a member of `self`, is a host tensor that is not trained, wherever its value is assigned.
pub(crate) fn is_host_tensor(file: FileInProject<'_, '_>, id: Id) -> bool {
    let index = &file.view.index;
    let learns = |call: &Id| index.receiver(*call).is_some_and(|of| index.is_text(of, index.text_of(id)));
    file.role(id).is_none() && file.kinds(id).is_host_tensor() && !file.calls("requires_grad_").iter().any(learns)
}

/// Whether the loop iteration, or an enclosing loop, changes the value of a name in place: `labels.fill_(1)`.
pub(crate) fn is_altered(file: FileInProject<'_, '_>, turn: Id, name: &str) -> bool {
    let index = &file.view.index;
    let is_repeated = |s: Id| index.ancestors(s).any(|a| a == turn || index.is_loop(a) && index.is_within(turn, a));
    let mut statements = index.of_kind(kinds().expression_statement).iter().copied();
    statements.any(|s| altered(&file, s) == Some(name) && is_repeated(s))
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
