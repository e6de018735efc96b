//! A loop over the micro-batches of one step, `for _ in range(n):`, followed by the optimizer's step.

use super::calls::{arguments, loop_around};
use super::count::literal;
use super::dataflow::{assigned, reads};
use super::obstacle::{self as why, Found};
use crate::counting::{Chunks, chunks};
use crate::project::FileInProject;
use crate::roles::Role;
use python::PythonFile;
use python::names::called_name;
use python::tree::{Id, kinds};

/// A batch that is split into equal parts, each with its own forward and backward pass.
#[derive(Clone)]
pub struct Cut {
    pub chunks: Chunks,
    /// The loader's number of samples.
    pub batch: Id,
}

/// How a loop splits the loader's batch; why that can't be followed; none for any other loop.
pub(crate) fn cut(file: &PythonFile<'_>, around: Id) -> Found<Option<Cut>> {
    let Some(chunks) = chunks(file, around) else { return Ok(None) };
    if is_left_early(file, around) {
        return Err(why::batch_cut(around));
    }
    match batch_of(file, around, &chunks) {
        Some(batch) => Ok(Some(Cut { chunks, batch })),
        None => Err(why::batch_cut(around)),
    }
}

/// The number of samples of the one loader that the tensors come from.
fn batch_of(file: &PythonFile<'_>, around: Id, chunks: &Chunks) -> Option<Id> {
    let k = kinds();
    let index = &file.index;
    let outer = index
        .ancestors(around)
        .take_while(|a| index.kind(*a) != k.function_definition)
        .find(|a| index.kind(*a) == k.for_statement)?;
    let bound = index.target(outer)?;
    let mut names: Vec<&str> = std::iter::once(bound)
        .chain(index.of_kind_in(k.identifier, bound).iter().copied())
        .map(|id| index.text_of(id))
        .collect();
    // `x = batch["x"].to(device)`
    for &assignment in index.of_kind_in(k.assignment, outer).iter().filter(|a| **a < around) {
        let reads_batch = index
            .source(assignment)
            .is_some_and(|r| reads(file, r).iter().any(|id| names.contains(&index.text_of(*id))));
        if reads_batch {
            names.extend(assigned(file, assignment));
        }
    }
    let of_batch = |tensor: &Id| reads(file, *tensor).first().is_some_and(|name| names.contains(&index.text_of(*name)));
    if !chunks.tensors.iter().all(of_batch) {
        return None;
    }
    let mut source = index.source(outer)?;
    // `enumerate(tqdm(loader))`
    while index.kind(source) == k.call {
        source = index.arguments(source).list().and_then(|a| index.parts(a).next())?;
    }
    let loaders = file.calls("DataLoader");
    let assigned = |call: &&Id| {
        let to = index.parent(**call).and_then(|a| index.target(a));
        to.is_some_and(|left| index.text_of(left) == index.text_of(source))
    };
    let mut named = loaders.iter().filter(assigned);
    let loader = match (named.next(), named.next(), loaders) {
        (Some(one), None, _) | (None, None, [one]) => *one,
        _ => return None,
    };
    let positional = || {
        let given = index.parts(index.arguments(loader).list()?).nth(1)?;
        (index.kind(given) != k.keyword_argument && !index.text_of(given).starts_with('*')).then_some(given)
    };
    file.index.arguments(loader).keyword("batch_size").or_else(positional)
}

impl Cut {
    /// The number of samples of one part, if it can be written.
    pub(crate) fn micro_batch(&self, file: &PythonFile<'_>, parts: &str) -> Found<String> {
        let k = kinds();
        let index = &file.index;
        let batch = index.text_of(self.batch);
        if divides(file, self.batch, parts) == Some(false) {
            return Err(why::batch_cut(self.batch));
        }
        match (batch.parse::<u32>(), parts.parse::<u32>()) {
            (Ok(batch), Ok(parts)) => Ok((batch / parts).to_string()),
            _ => {
                let plain =
                    [k.identifier, k.attribute, k.subscript, k.integer, k.call].contains(&index.kind(self.batch));
                Ok(if plain { format!("{batch} // {parts}") } else { format!("({batch}) // {parts}") })
            }
        }
    }
}

/// Whether a number of parts divides a number of samples, if both are known in the file.
pub fn divides(file: &PythonFile<'_>, batch: Id, parts: &str) -> Option<bool> {
    let samples = literal(file, file.index.text_of(batch), batch)?;
    let parts = literal(file, parts, batch)?;
    Some(parts > 0 && samples % parts == 0)
}

/// Whether a loop, or an iteration of it, ends early.
pub fn is_left_early(file: &PythonFile<'_>, around: Id) -> bool {
    let k = kinds();
    let index = &file.index;
    index.otherwise(around).is_some()
        || [k.break_statement, k.continue_statement]
            .iter()
            .flat_map(|kind| index.of_kind_in(*kind, around))
            .any(|id| loop_around(file, *id) == Some(around))
}

/// The number of iterations that become one, or why they can't: each iteration reads a batch from the loader, and none
/// depends on its index.
pub(crate) fn turns(file: FileInProject<'_, '_>, around: Id, turns: Option<Id>) -> Found<Id> {
    let k = kinds();
    let index = &file.index;
    let Some(turns) = turns else {
        let loads = index.source(around).is_some_and(|r| {
            reads(&file, r).into_iter().any(|n| {
                let whole = index.parent(n).filter(|p| index.kind(*p) == k.attribute).unwrap_or(n);
                [n, whole].iter().any(|id| file.role(*id) == Some(Role::Loader))
            })
        });
        return Err(if loads { why::update_after_epoch(around) } else { why::batch_cut(around) });
    };
    let (Some(number), Some(body)) = (index.target(around), index.body(around)) else {
        return Err(why::batch_cut(around));
    };
    let of_loop = |id: &Id| index.is_within(*id, body);
    let reader = file.identifiers(index.text_of(number)).iter().copied().find(of_loop);
    let cuts = |id: Id| index.ancestors(id).take_while(|a| *a > body).any(|a| index.kind(a) == k.subscript);
    if let Some(reader) = reader {
        return Err(if cuts(reader) { why::batch_cut(reader) } else { why::micro_batch_numbered(reader) });
    }
    if is_left_early(&file, around) {
        return Err(why::batch_cut(around));
    }
    let fetches = file.calls("next").iter().any(of_loop) && !file.calls("DataLoader").is_empty();
    if fetches { Ok(turns) } else { Err(why::own_reader(around)) }
}

/// The number of iterations of a counted loop, if the optimizer's step follows it.
pub(crate) fn micro_batches(file: FileInProject<'_, '_>, step: Id, around: Id, optimizer: &str) -> Option<Id> {
    let k = kinds();
    let index = &file.index;
    let inside = file.calls("step").iter().any(|c| {
        index.is_within(*c, around)
            && file
                .index
                .receiver(*c)
                .is_some_and(|o| index.text_of(o) == optimizer || file.role(o) == Some(Role::Scaler))
    });
    let counted = index.source(around).filter(|r| {
        index.kind(around) == k.for_statement && index.kind(*r) == k.call && called_name(index, *r) == Some("range")
    })?;
    let &[turns] = arguments(&file, counted).as_slice() else { return None };
    (!inside && index.is_within(around, step)).then_some(turns)
}

#[cfg(test)]
mod tests {
    use super::{cut, divides, is_left_early, micro_batches};
    use crate::marked::{self, with_setup};

    #[test]
    fn a_counted_loop_of_micro_batches() {
        let check = |rest: &str, expected: &str| {
            marked::check(&with_setup(rest), expected, |at| {
                at.lines(micro_batches(at.file(), at.whole(), at.node(), "optimizer"))
            });
        };
        let loops = "for e in r:\n    for _ in range(4):\n    ^^^\n        net(next(it)).backward()\n";
        check(&format!("{loops}    optimizer.step()\n"), "4");
        check(&format!("{loops}        optimizer.step()\n"), "");
        check("for e in r:\n    for x in y:\n    ^^^\n        net(x).backward()\n    optimizer.step()\n", "");
    }

    #[test]
    fn a_batch_in_equal_parts() {
        let check = |header: &str, batch: &str, expected: &str| {
            let made = format!("parts = torch.utils.data.DataLoader(data, batch_size={batch})\n");
            let loops =
                format!("for x, y in parts:\n    {header}\n    ^^^\n        net(a).backward()\n    optimizer.step()\n");
            marked::check(&with_setup(&format!("{made}{loops}")), expected, |at| {
                let number =
                    |cut: &super::Cut| cut.chunks.numbers.first().map(|id| at.lines([*id])).unwrap_or_default();
                match cut(&at.file(), at.node()) {
                    Ok(None) => "none".to_owned(),
                    Ok(Some(cut)) => cut.micro_batch(&at.file(), &number(&cut)).unwrap_or_else(|o| o.name.to_owned()),
                    Err(obstacle) => obstacle.name.to_owned(),
                }
            });
        };
        check("for a, b in zip(x.chunk(4), y.chunk(4)):", "8", "2");
        check("for a in torch.chunk(x, 4):", "args.batch", "args.batch // 4");
        check("for a in x.chunk(3):", "8", "batch_cut");
        check("for a in z.chunk(4):", "8", "batch_cut");
        check("for a in x:", "8", "none");
        check("for a, b in zip(x.chunk(4), y.chunk(2)):", "8", "none");
    }

    #[test]
    fn a_number_that_divides_another() {
        let check = |program: &str, parts: &str, expected: Option<bool>| {
            marked::check(program, expected, |at| divides(&at.file(), at.node(), parts));
        };
        check("f(8)\n  ^\n", "4", Some(true));
        check("n = 8\nf(n)\n  ^\n", "3", Some(false));
        check("f(n)\n  ^\n", "4", None);
        check("f(8)\n  ^\n", "0", Some(false));
    }

    #[test]
    fn a_loop_that_ends_early() {
        let check = |body: &str, expected: bool| {
            let program = format!("for x in y:\n^^^\n    {body}\n");
            marked::check(&program, expected, |at| is_left_early(&at.file(), at.node()));
        };
        check("if x:\n        break", true);
        check("if x:\n        continue", true);
        check("while z:\n        break", false);
        check("f(x)\nelse:\n    g()", true);
    }
}
