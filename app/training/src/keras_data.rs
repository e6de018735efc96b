//! The data of a Keras program: arrays by name, in batches of a size that is written in the call.

use crate::keras::{Keras, is_model};
use crate::view::FileView;
use crate::words::PIPELINE_METHODS;
use python::names::{called_name, canonical, dotted};
use python::tree::{Id, ROOT, kinds};
use sorting::SortedSet;

/// Keras's default batch size.
const DEFAULT_BATCH: &str = "32";

/// A call of `fit` or `evaluate` with arrays.
pub struct Run<'t> {
    /// The call.
    pub call: Id,
    /// The model as written in the call.
    pub model: &'t str,
    /// Whether it is `fit`.
    pub fits: bool,
    /// Names of the arrays it reads, the input first, with the size of their batches.
    pub data: Vec<(&'t str, &'t str)>,
    /// The arrays used for validation by `fit`.
    pub validation: Vec<(&'t str, &'t str)>,
}

/// The runs of a file whose arrays and batch sizes are simple enough for the arithmetic.
pub fn runs<'t>(view: &FileView<'t>, keras: &Keras) -> Vec<Run<'t>> {
    let index = &view.index;
    let mut out = Vec::new();
    for method in ["fit", "evaluate"] {
        for &call in view.calls(method) {
            let model = index.receiver(call);
            let Some(model) = model.filter(|m| is_model(view, keras, *m)) else { continue };
            let Some(batch) = batch_of(view, call, 2, "batch_size") else { continue };
            let x = argument(view, call, 0, "x");
            let y = argument(view, call, 1, "y");
            let explicit = argument(view, call, 2, "batch_size").is_some();
            // Without labels and a batch size it may be anything that yields batches itself; a split is applied after
            // any truncation.
            let splits = argument(view, call, usize::MAX, "validation_split").is_some();
            if splits || (y.is_none() && !explicit) || x.is_none_or(|x| is_pipeline(view, x)) {
                continue;
            }
            let weights = argument(view, call, usize::MAX, "sample_weight");
            let names = names_of(view, [x, y, weights]);
            let Some(data) = names else { continue };
            let validation = argument(view, call, usize::MAX, "validation_data")
                .filter(|v| [kinds().tuple, kinds().list].contains(&index.kind(*v)))
                .and_then(|v| names_of(view, [0, 1, 2].map(|n| index.parts(v).nth(n))));
            let small = argument(view, call, usize::MAX, "validation_batch_size").map_or(batch, |b| index.text_of(b));
            out.push(Run {
                call,
                model: index.text_of(model),
                fits: method == "fit",
                data: data.into_iter().map(|n| (n, batch)).collect(),
                validation: validation.unwrap_or_default().into_iter().map(|n| (n, small)).collect(),
            });
        }
    }
    sorting::by_key(&mut out, |r| r.call);
    out
}

/// The data of `fit` and `evaluate` that are neither truncated to whole batches nor a pipeline.
pub fn uncut(view: &FileView<'_>, keras: &Keras) -> Vec<Id> {
    let index = &view.index;
    let calls = ["fit", "evaluate"].iter().flat_map(|m| view.calls(m)).copied();
    calls
        .filter(|call| {
            let model = index.receiver(*call);
            model.is_some_and(|m| is_model(view, keras, m))
        })
        .filter_map(|call| argument(view, call, 0, "x").map(|x| (call, x)))
        .filter(|(call, x)| {
            let name = index.text_of(*x);
            let cut = index.kind(*x) == kinds().identifier && Home::of(view, *call, name).cut(view, name).is_some();
            !cut && !is_pipeline(view, *x)
        })
        .map(|(_, x)| x)
        .collect()
}

/// An argument by its position or its keyword.
pub fn argument(view: &FileView<'_>, call: Id, place: usize, keyword: &str) -> Option<Id> {
    view.index.arguments(call).get(place, keyword)
}

/// The batch size of a call, if it is a number or a name.
fn batch_of<'t>(view: &FileView<'t>, call: Id, place: usize, keyword: &str) -> Option<&'t str> {
    let index = &view.index;
    let Some(value) = argument(view, call, place, keyword) else { return Some(DEFAULT_BATCH) };
    let looked_up = index.kind(value) == kinds().subscript
        && index.parts(value).all(|p| dotted(index, p).is_some() || index.kind(p) == kinds().string);
    let plain = index.kind(value) == kinds().integer || dotted(index, value).is_some() || looked_up;
    plain.then(|| index.text_of(value))
}

fn names_of<'t>(view: &FileView<'t>, values: [Option<Id>; 3]) -> Option<Vec<&'t str>> {
    let mut out: Vec<&str> = Vec::new();
    for value in values.into_iter().flatten() {
        if view.index.kind(value) != kinds().identifier {
            return None;
        }
        let name = view.index.text_of(value);
        if !out.contains(&name) {
            out.push(name);
        }
    }
    Some(out)
}

/// A multiple of both sizes: the size itself if they are equal, the least common multiple of two numbers, or the
/// product.
pub fn common(a: &str, b: &str) -> String {
    match (a.parse::<u64>(), b.parse::<u64>()) {
        _ if a == b => a.to_owned(),
        (Ok(x), Ok(y)) if x > 0 && y > 0 => {
            let (mut g, mut r) = (x, y);
            while r > 0 {
                (g, r) = (r, g % r);
            }
            (x / g * y).to_string()
        }
        _ => format!("({a} * {b})"),
    }
}

/// The total number of samples in one batch of every replica, as an operand.
pub fn group(batch: &str, replicas: &str) -> String {
    if replicas == "1" { batch.to_owned() } else { format!("({batch} * {replicas})") }
}

/// The block in which a call's data are truncated, and where names are bound in it.
pub struct Home {
    /// Statements of the module, of a function's body or of a block in it.
    pub statements: Vec<Id>,
    /// The function; none for the module.
    pub function: Option<Id>,
}

impl Home {
    /// Where a name of a call is bound: in the innermost block around the call that assigns it, of the innermost
    /// function that binds it or of the module.
    pub fn of(view: &FileView<'_>, call: Id, name: &str) -> Self {
        let k = kinds();
        let index = &view.index;
        let function = index.ancestors(call).find(|a| index.kind(*a) == k.function_definition && view.binds(*a, name));
        let body = function.and_then(|d| index.body(d)).unwrap_or(ROOT);
        let inner =
            index.ancestors(call).take_while(|a| *a != body).filter(|a| index.kind(*a) == k.block).find(|block| {
                let before = index.parts(*block).take_while(|s| !index.is_within(call, *s));
                before.into_iter().any(|s| assigns(view, s, name) && !cuts(view, s, name))
            });
        // A function in between runs at a different time than the block around it.
        let inner = inner.filter(|b| view.function_of(*b) == function);
        Self { statements: index.parts(inner.unwrap_or(body)).collect(), function }
    }

    /// The statement of the block that contains a node.
    pub fn holding(&self, view: &FileView<'_>, id: Id) -> Option<Id> {
        self.statements.iter().copied().find(|s| view.index.is_within(id, *s))
    }

    /// The last statement of the block, before another one, that binds a name.
    ///
    /// # Errors
    /// Nothing binds it, and it is not a parameter. `Ok(None)` stands for a parameter, or a name of the module that a
    /// function reads.
    #[allow(clippy::result_unit_err)]
    pub fn bound(&self, view: &FileView<'_>, name: &str, before: Option<Id>) -> Result<Option<Id>, ()> {
        let head = name.split(['.', '[']).next().unwrap_or(name);
        let statement = self
            .statements
            .iter()
            .copied()
            .take_while(|s| before.is_none_or(|b| *s < b))
            .filter(|s| assigns(view, *s, head) && !cuts(view, *s, head))
            .last();
        if let Some(statement) = statement {
            return Ok(Some(statement));
        }
        match self.function {
            Some(function) if view.binds(function, head) => Ok(None),
            // The module's names are defined when the function runs; numbers and imported names always are.
            Some(_) => Ok(None),
            None if head.bytes().all(|b| b.is_ascii_digit()) => Ok(None),
            None if view.names.bindings.iter().any(|b| b.local == head && b.scope.is_none()) => Ok(None),
            None if before.is_some_and(|b| view.binds_at_top(head, view.index.item(b).start, false)) => Ok(None),
            None => Err(()),
        }
    }

    /// Where the function, or the module, already truncates an array to whole batches.
    pub fn cut(&self, view: &FileView<'_>, name: &str) -> Option<Id> {
        view.index
            .of_kind(kinds().assignment)
            .iter()
            .copied()
            .filter(|a| view.function_of(*a) == self.function)
            .filter_map(|a| view.statement_of(a))
            .find(|s| cuts(view, *s, name))
    }
}

/// Whether a statement is `x = x[:…]`, or `x, y = x[:…], y[:…]`.
fn cuts(view: &FileView<'_>, statement: Id, name: &str) -> bool {
    let index = &view.index;
    let value_of = |assign: &Id| {
        let own = view.statement_of(*assign) == Some(statement);
        index.assignment(*assign).filter(|_| own)?.value_of(name)
    };
    let values = index.of_kind_in(kinds().assignment, statement).iter().filter_map(value_of);
    values.into_iter().any(|value| index.text_of(value).starts_with(&format!("{name}[:")))
}

/// Whether a statement assigns a name, directly or in a nested statement.
fn assigns(view: &FileView<'_>, statement: Id, name: &str) -> bool {
    let k = kinds();
    let index = &view.index;
    let definition = |id: Id| [k.function_definition, k.class_definition].contains(&index.kind(id));
    if definition(statement) || index.kind(statement) == k.decorated_definition {
        return false;
    }
    index.of_kind_in(k.assignment, statement).iter().any(|a| {
        let nested = index.ancestors(*a).take_while(|p| *p != statement).any(definition);
        !nested
            && index.target(*a).is_some_and(|left| {
                index.text_of(left) == name
                    || index.of_kind_in(k.identifier, left).iter().any(|i| {
                        index.text_of(*i) == name
                            && index
                                .parent(*i)
                                .is_some_and(|p| [k.pattern_list, k.tuple_pattern].contains(&index.kind(p)))
                    })
            })
    })
}

/// Whether an expression is a `tf.data` pipeline: created by `tf.data` or `tensorflow_datasets`, a chain of a
/// pipeline's own methods, or what a function of the file returns.
pub fn is_pipeline(view: &FileView<'_>, id: Id) -> bool {
    let k = kinds();
    let index = &view.index;
    // A name that is assigned many times, each time from itself, leads from each assignment to every other: none is
    // visited twice.
    let (mut open, mut seen) = (vec![id], SortedSet::new());
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        if index.kind(id) == k.call {
            let Some(function) = index.callee(id) else { continue };
            if let Some(name) = view.names.qualify(index, function) {
                if name.starts_with("tensorflow.data.")
                    || name == "tensorflow_datasets.load"
                    || canonical(&name) == "tensorflow.keras.utils.image_dataset_from_directory"
                    || canonical(&name) == "tensorflow.keras.preprocessing.image_dataset_from_directory"
                {
                    return true;
                }
                continue;
            }
            let called = called_name(index, id);
            let functions = index.functions().filter(|f| Some(f.name()) == called);
            let returned = functions.flat_map(|f| index.of_kind_in(k.return_statement, f.id()));
            open.extend(returned.flat_map(|value| index.parts(*value)));
            let chained = called.is_some_and(|n| PIPELINE_METHODS.contains(&n));
            open.extend(index.owner(function).filter(|_| chained));
            let name = index.text_of(function).trim_start_matches("self.");
            let called = index.functions().filter(|f| f.name() == name).map(|f| f.id());
            let returns = called.flat_map(|f| index.of_kind_in(k.return_statement, f).iter().copied());
            open.extend(returns.flat_map(|r| index.parts(r)));
            continue;
        }
        if [k.expression_list, k.tuple].contains(&index.kind(id)) {
            open.extend(index.parts(id));
            continue;
        }
        let Some(name) = dotted(index, id) else { continue };
        open.extend(index.of_kind(k.assignment).iter().filter_map(|a| {
            let (left, right) = index.sides(*a)?;
            let binds = index.text_of(left) == name
                || (index.kind(left) == k.pattern_list && index.parts(left).any(|p| index.text_of(p) == name));
            (binds && !index.is_within(id, right)).then_some(right)
        }));
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marked;

    const MADE: &str = "import tensorflow as tf\nfrom tensorflow import keras\na = keras.Sequential([])\n";

    #[test]
    fn runs_with_arrays_in_batches() {
        let check = |call: &str, expected: &str| {
            marked::check(&format!("{MADE}{call}\n"), expected, |at| {
                let runs = runs(at.file().view, &at.project.keras);
                let data = runs.iter().flat_map(|run| run.data.iter().chain(&run.validation));
                data.map(|(name, batch)| format!("{name} {batch}")).collect::<Vec<_>>().join("; ")
            });
        };
        check("a.fit(x, y)", "x 32; y 32");
        check(
            "a.fit(x, y, args.batch, validation_data=(u, v))",
            "x args.batch; y args.batch; u args.batch; v args.batch",
        );
        check("a.evaluate(x, y, batch_size=8)", "x 8; y 8");
        check("a.fit(x)", "");
        check("a.fit(x[1:], y)", "");
        check("a.fit(x, y, batch_size=2 * n)", "");
        check("a.fit(x, y, validation_split=0.1)", "");
        check("b.fit(x, y)", "");
    }

    #[test]
    fn data_that_are_not_cut() {
        let check = |rest: &str, expected: &str| {
            marked::check(&format!("{MADE}{rest}\n"), expected, |at| {
                at.lines(uncut(at.file().view, &at.project.keras))
            });
        };
        check("a.fit(x, y)", "x");
        check("x = x[:64]\na.fit(x, y)", "");
        check("a.fit(tf.data.Dataset.range(3))", "");
    }

    #[test]
    fn what_is_a_pipeline() {
        let check = |rest: &str, expected: bool| {
            marked::check(&format!("{MADE}{rest}\n"), expected, |at| is_pipeline(at.file().view, at.node()));
        };
        check("d = tf.data.Dataset.range(3)\nf(d)\n  ^", true);
        check("d = tf.data.Dataset.range(3)\nd = d.batch(2)\nf(d)\n  ^", true);
        check("def load():\n    return tf.data.Dataset.range(3)\nf(load())\n  ^^^^^^", true);
        check("d = tf.zeros(3)\nf(d)\n  ^", false);
        check("f(d.batch(2))\n  ^^^^^^^^^^", false);
    }

    #[test]
    fn sizes_that_two_batches_divide() {
        let check = |a: &str, b: &str, expected: &str| assert_eq!(common(a, b), expected, "{a} {b}");
        check("64", "64", "64");
        check("64", "48", "192");
        check("batch", "batch", "batch");
        check("batch", "32", "(batch * 32)");
    }
}
