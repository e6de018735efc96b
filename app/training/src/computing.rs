//! Functions of a project that only compute: what calls them may be compiled together with them.

use crate::view::FileView;
use python::names::called_name;
use python::tree::{Id, kinds};
use sorting::{SortedMap, SortedSet};

/// Methods that convert a tensor for the host, update weights or change what a model does.
const OTHER_METHODS: [&str; 9] =
    ["item", "numpy", "tolist", "backward", "step", "zero_grad", "train", "eval", "requires_grad_"];

/// The functions at the top of files whose calls give the same graph at every call, by name: they assign and return, call
/// neither NumPy nor a clock, and all functions of the project that they call are like that.
pub(crate) fn computing(views: &[&FileView<'_>]) -> SortedSet<String> {
    let mut found: SortedMap<&str, (bool, SortedSet<&str>)> = SortedMap::new();
    for view in views {
        for function in view.index.functions() {
            if view.function_of(function.id()).is_some() || view.class_of(function.id()).is_some() {
                continue;
            }
            let (computes, calls) = read(view, function.id());
            // A name that two files define stands for both.
            let known = found.entry(function.name()).or_insert((true, SortedSet::new()));
            known.0 &= computes;
            known.1.extend(calls);
        }
    }
    loop {
        let others = |calls: &SortedSet<&str>| calls.iter().any(|name| found.get(name).is_some_and(|other| !other.0));
        let spoiled: Vec<&str> =
            found.iter().filter(|(_, (computes, calls))| *computes && others(calls)).map(|(name, _)| *name).collect();
        if spoiled.is_empty() {
            break;
        }
        spoiled.into_iter().for_each(|name| {
            found.entry(name).and_modify(|known| known.0 = false);
        });
    }
    found.into_iter().filter(|(_, (computes, _))| *computes).map(|(name, _)| name.to_owned()).collect()
}

/// Whether a function only computes, as far as its own statements show, and the functions that it calls.
fn read<'t>(view: &FileView<'t>, function: Id) -> (bool, SortedSet<&'t str>) {
    let k = kinds();
    let index = &view.index;
    let is_decorated = index.parent(function).is_some_and(|p| index.kind(p) == k.decorated_definition);
    let others = [
        k.with_statement,
        k.try_statement,
        k.while_statement,
        k.r#yield,
        k.r#await,
        k.global_statement,
        k.nonlocal_statement,
        k.raise_statement,
        k.class_definition,
    ];
    let has_others = others.iter().any(|kind| !index.of_kind_in(*kind, function).is_empty());
    let calls = index.of_kind_in(k.call, function);
    let is_of_host = |call: Id| {
        let of_module = view.qualified(call).is_some_and(|name| {
            ["numpy", "random", "time"]
                .iter()
                .any(|module| name.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
        });
        let is_method = index.receiver(call).is_some();
        of_module || is_method && called_name(index, call).is_some_and(|name| OTHER_METHODS.contains(&name))
    };
    // What it keeps from call to call.
    let own: Vec<&str> = index.function(function).into_iter().flat_map(|f| f.parameters()).map(|p| p.name).collect();
    let is_lasting = |id: Id| index.kind(id) == k.attribute || own.contains(&index.text_of(id));
    let grows = |call: Id| {
        let adds =
            matches!(called_name(index, call), Some("append" | "extend" | "insert" | "update" | "add" | "setdefault"));
        adds && index.receiver(call).is_some_and(|list| is_lasting(list) || !view.binds(function, index.text_of(list)))
    };
    let keeps = |assignment: Id| {
        let target = index.target(assignment);
        target.is_some_and(|target| {
            let names = index.unpacked(target);
            let is_entry = |id: Id| {
                let owner = index.value(id).filter(|_| index.kind(id) == k.subscript);
                owner.is_some_and(|owner| is_lasting(owner) || !view.binds(function, index.text_of(owner)))
            };
            names.into_iter().any(|id| index.kind(id) == k.attribute || is_entry(id))
        })
    };
    let assignments = [k.assignment, k.augmented_assignment].map(|kind| index.of_kind_in(kind, function)).concat();
    let is_stateful = calls.iter().any(|call| grows(*call)) || assignments.into_iter().any(keeps);
    let computes = !is_decorated && !has_others && !is_stateful && !calls.iter().any(|call| is_of_host(*call));
    (computes, calls.iter().filter_map(|call| called_name(index, *call)).collect())
}

#[cfg(test)]
mod tests {
    use super::computing;
    use crate::marked;

    /// Whether a function only computes.
    #[track_caller]
    fn check(body: &str, expected: bool) {
        let program = format!("import numpy as np\nimport time\ndef f(x, kept):\n    {body}\n    return x\n");
        marked::check(&program, expected, |at| computing(&at.project_views()).contains("f"));
    }

    #[test]
    fn a_function_that_gives_the_same_graph_at_every_call() {
        check("x = net(x) + 1", true);
        check("parts = []\n    parts.append(x)", true);
        check("if x is None:\n        x = 2", true);
    }

    #[test]
    fn a_function_that_does_more() {
        check("x = np.exp(x)", false);
        check("print(time.time())", false);
        check("n = x.item()", false);
        check("kept.append(x)", false);
        check("kept[0] = x", false);
        check("table[0] = x", false);
        check("x.y = 2", false);
        check("with a:\n        x = 2", false);
        check("global table", false);
    }

    #[test]
    fn a_function_is_like_those_that_it_calls() {
        let check = |program: &str, expected: &[&str]| {
            marked::check(program, expected, |at| computing(&at.project_views()).into_iter().collect::<Vec<_>>());
        };
        check("#- a.py\ndef f(x):\n    return g(x)\n#- b.py\ndef g(x):\n    return x + 1\n", &["f", "g"]);
        check("#- a.py\ndef f(x):\n    return g(x)\n#- b.py\ndef g(x):\n    return x.item()\n", &[]);
        check("@cached\ndef f(x):\n    return x\nclass A:\n    def g(self):\n        return 1\n", &[]);
    }
}
