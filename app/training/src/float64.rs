//! NumPy arrays that are certainly float64.

use crate::step::value_once;
use crate::view::FileView;
use crate::words::NUMPY_FLOAT64;
use python::names::called_name;
use python::tree::{Id, kinds};

/// Whether an expression is an array of NumPy's default type: it is made without another type, and computed only with
/// numbers and arrays like it.
pub fn is_float64(view: &FileView<'_>, id: Id) -> bool {
    follow(view, id, 5)
}

fn follow(view: &FileView<'_>, id: Id, steps: u8) -> bool {
    let (k, index) = (kinds(), &view.index);
    let Some(steps) = steps.checked_sub(1) else { return false };
    let kind = index.kind(id);
    let is = |id: Id| follow(view, id, steps);
    if kind == k.call {
        let name = view.qualified(id).unwrap_or_default();
        let arguments: Vec<Id> = index.arguments(id).ids().collect();
        // With a type, it may be another one.
        let types = ["float", "int", "bool", "complex", "type"];
        let is_plain = |id: &Id| types.iter().all(|word| !index.text_of(*id).contains(word));
        let makes = name.strip_prefix("numpy.").is_some_and(|name| NUMPY_FLOAT64.contains(&name));
        let same = matches!(called_name(index, id), Some("reshape" | "copy" | "transpose"));
        return makes && !arguments.is_empty() && arguments.iter().all(is_plain)
            || same && index.receiver(id).is_some_and(is);
    }
    if [k.parenthesized_expression, k.unary_operator, k.binary_operator].contains(&kind) {
        let parts: Vec<Id> = index.parts(id).collect();
        let is_number = |id: &Id| [k.integer, k.float].contains(&index.kind(*id));
        return parts.iter().any(|part| is(*part)) && parts.iter().all(|part| is_number(part) || is(*part));
    }
    let value = value_once(view, id);
    value != id && is(value)
}

#[cfg(test)]
mod tests {
    use super::is_float64;
    use crate::marked;

    /// Whether the marked expression is an array of float64.
    #[track_caller]
    fn check(body: &str, expected: bool) {
        let program = format!("import numpy as np\n{body}");
        marked::check(&program, expected, |at| is_float64(at.file().view, at.node()));
    }

    #[test]
    fn numpy_makes_float64_by_default() {
        check("f(np.zeros((3, 4)))\n  ^^^^^^^^^^^^^^^^\n", true);
        check("table = np.zeros((3, 4))\nf(table)\n  ^^^^^\n", true);
        check("f(2 * np.ones(3) + 1)\n  ^^^^^^^^^^^^^^^^^^\n", true);
        check("f(np.ones(4).reshape(2, 2))\n  ^^^^^^^^^^^^^^^^^^^^^^^^\n", true);
    }

    #[test]
    fn another_type_or_what_is_not_known() {
        check("f(np.zeros(3, dtype=np.float32))\n  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n", false);
        check("f(np.zeros(3).astype('float32'))\n  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n", false);
        check("f(np.ones(3) * x)\n  ^^^^^^^^^^^^^^\n", false);
        check("import torch\nf(torch.zeros(3))\n  ^^^^^^^^^^^^^^\n", false);
    }

    #[test]
    #[ignore = "a name is followed only if the file assigns it once"]
    fn a_name_that_is_assigned_twice() {
        check("def f():\n    table = np.zeros(3)\n    g(table)\n      ^^^^^\ndef h(n):\n    table = n + 1\n", true);
        check("table = np.zeros(3)\ntable = table * 2.0\nf(table)\n  ^^^^^\n", true);
        check("if a:\n    table = np.zeros(3)\nelse:\n    table = np.ones(3)\nf(table)\n  ^^^^^\n", true);
    }

    #[test]
    #[ignore = "neither calls nor arguments are followed"]
    fn an_array_of_another_function() {
        check("def make():\n    return np.zeros(3)\nf(make())\n  ^^^^^^\n", true);
        check("def f(table):\n    g(table)\n      ^^^^^\nf(np.zeros(3))\n", true);
    }
}
