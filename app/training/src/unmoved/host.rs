//! What is on the host, or no tensor at all.

use super::is_call_of;
use crate::project::FileInProject;
use crate::step::qualified;
use crate::words::CALLS_WITHOUT_TENSOR;
use python::strings::plain_string;
use python::tree::{Id, kinds};

/// Whether an expression is not a tensor: a number, a string, None, a comparison of such.
pub(super) fn is_plain(file: FileInProject<'_, '_>, node: Id) -> bool {
    let (index, k) = (&file.view.index, kinds());
    let kind = index.kind(node);
    if [k.integer, k.float, k.none, k.string, k.r#true, k.r#false].contains(&kind) {
        return true;
    }
    let of_shape = |id: Id| index.value(id).and_then(|value| index.attribute(value)?.name()) == Some("shape");
    let measures = |call: Id| is_call_of(file, call, &["size"]) && index.arguments(call).positional().next().is_some();
    // `x.float()` and `x.int()` are tensors of different types.
    let converts = |call: Id| {
        let of_tensor = index.receiver(call).is_some() && is_call_of(file, call, &["float", "int", "bool"]);
        is_call_of(file, call, CALLS_WITHOUT_TENSOR) && !of_tensor
    };
    (kind == k.subscript && of_shape(node))
        || (kind == k.call && (converts(node) || measures(node)))
        || file.kinds(node).is_number()
}

/// Whether an expression gives something on the host, whatever it is computed from.
pub(super) fn leaves_device(file: FileInProject<'_, '_>, node: Id) -> bool {
    let index = &file.view.index;
    let is_cpu = |to: Id| plain_string(index, to) == Some("cpu");
    let of_host = |to: Id| is_cpu(to) || index.call(to).is_some_and(|made| made.arguments().positional().any(is_cpu));
    let to_host = || is_call_of(file, node, &["to"]) && index.arguments(node).ids().any(of_host);
    let of_numpy = || qualified(file.view, node).is_some_and(|name| name.starts_with("numpy."));
    let describes = |name| matches!(name, "size" | "shape" | "numel" | "dim" | "ndim" | "device" | "dtype");
    is_call_of(file, node, &["item", "tolist", "numpy", "cpu"])
        || is_plain(file, node)
        || index.attribute(node).and_then(|attribute| attribute.name()).is_some_and(describes)
        || index.kind(node) == kinds().call && (to_host() || of_numpy())
}
