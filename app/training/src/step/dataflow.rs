//! The statements of a training step, the names that they assign and read, and which of them lead from the model to the
//! loss.

use python::PythonFile;
use python::names::dotted;
use python::tree::{Id, kinds};
use sorting::SortedSet;

/// The statements inside a node that contain no others, in the order of the text; nested definitions are skipped.
pub fn leaves(file: &PythonFile<'_>, within: Id) -> Vec<Id> {
    let k = kinds();
    let index = &file.index;
    let compound = |id: Id| {
        [
            k.if_statement,
            k.for_statement,
            k.while_statement,
            k.with_statement,
            k.try_statement,
            k.function_definition,
            k.class_definition,
            k.decorated_definition,
        ]
        .contains(&index.kind(id))
    };
    let mut out = Vec::new();
    for &block in index.of_kind_in(k.block, within) {
        let nested = index
            .ancestors(block)
            .take_while(|a| *a != within)
            .any(|a| [k.function_definition, k.class_definition, k.lambda].contains(&index.kind(a)));
        if !nested {
            out.extend(index.parts(block).filter(|s| !compound(*s)));
        }
    }
    sorting::plain(&mut out);
    out
}

/// Plain and dotted names that a statement assigns.
pub fn assigned<'t>(file: &PythonFile<'t>, statement: Id) -> Vec<&'t str> {
    let k = kinds();
    let index = &file.index;
    let mut out = Vec::new();
    for kind in [k.assignment, k.augmented_assignment] {
        for &assignment in index.of_kind_in(kind, statement) {
            let Some(left) = index.target(assignment) else { continue };
            let name = |id: Id| [k.identifier, k.attribute].contains(&index.kind(id)) && dotted(index, id).is_some();
            out.extend(index.unpacked(left).into_iter().filter(|p| name(*p)).map(|p| index.text_of(p)));
        }
    }
    out
}

/// The name that a statement changes in place: `x[x > 1] = 1`, `x.data = y`, `x.clamp_(0, 1)`.
pub(crate) fn altered<'t>(file: &PythonFile<'t>, statement: Id) -> Option<&'t str> {
    let k = kinds();
    let index = &file.index;
    let change = index.parts(statement).next()?;
    let within = if index.kind(change) == k.call {
        let method = index.callee(change)?;
        index.attribute(method)?.name().filter(|name| name.ends_with('_'))?;
        index.owner(method)?
    } else {
        let left = index.target(change)?;
        let data = || index.attribute(left).filter(|attribute| attribute.name() == Some("data"))?.owner();
        index.value(left).filter(|_| index.kind(left) == k.subscript).or_else(data)?
    };
    dotted(index, within).map(|_| index.text_of(within))
}

/// Identifiers that a node reads: not names of attributes or keywords, nor targets of assignments.
pub fn reads(file: &PythonFile<'_>, within: Id) -> Vec<Id> {
    let identifiers = file.index.of_kind_in(kinds().identifier, within).iter().copied();
    identifiers.filter(|id| is_read(file, within, *id)).collect()
}

/// Whether an identifier inside a node is one that the node [`reads`].
fn is_read(file: &PythonFile<'_>, within: Id, id: Id) -> bool {
    let (k, index) = (kinds(), &file.index);
    let Some(parent) = index.parent(id) else { return true };
    let kind = index.kind(parent);
    let binds = |clause: Id| {
        index.kind(clause) == k.for_in_clause
            && index.target(clause).is_some_and(|target| {
                index.of_kind_in(k.identifier, target).iter().any(|i| index.text_of(*i) == index.text_of(id))
            })
    };
    let comprehensions =
        [k.list_comprehension, k.set_comprehension, k.dictionary_comprehension, k.generator_expression];
    let around = || index.ancestors(id).take_while(|a| *a > within);
    let bound_inside = || around().any(|a| comprehensions.contains(&index.kind(a)) && index.children(a).any(binds));
    let target = [k.assignment, k.for_in_clause].contains(&kind) && index.target(parent) == Some(id)
        || [k.pattern_list, k.tuple_pattern].contains(&kind);
    !(target || index.is_label(id) || bound_inside())
}

/// The names that a block assigns, or the header of the loop that it is.
pub(crate) fn bound_in<'t>(file: &PythonFile<'t>, body: Id) -> SortedSet<&'t str> {
    let (k, index) = (kinds(), &file.index);
    let is_target = |id: &Id| {
        !is_read(file, body, *id)
            && index.parent(*id).is_some_and(|p| index.kind(p) != k.attribute && index.kind(p) != k.keyword_argument)
    };
    let header = (index.kind(body) == k.for_statement).then(|| index.target(body)).flatten();
    let in_header = header.map_or(&[][..], |header| index.of_kind_in(k.identifier, header)).iter();
    let targets = index.of_kind_in(k.identifier, body).iter().filter(|id| is_target(id)).chain(in_header);
    targets.map(|id| index.text_of(*id)).collect()
}

/// Whether a node reads a name.
pub fn reads_name(file: &PythonFile<'_>, within: Id, name: &str) -> bool {
    file.index.within(file.identifiers(name), within).iter().any(|id| is_read(file, within, *id))
}

/// The statements among `leaves` that `name` depends on, in reverse order: those that assign what is needed.
pub(crate) fn backward_slice(file: &PythonFile<'_>, leaves: &[Id], wanted: &[&str]) -> Vec<Id> {
    let mut needed: SortedSet<String> = wanted.iter().map(|w| (*w).to_owned()).collect();
    let mut out = Vec::new();
    for &leaf in leaves.iter().rev() {
        let names = assigned(file, leaf);
        if names.iter().chain(&altered(file, leaf)).any(|n| needed.contains(*n)) {
            let augments = !file.index.of_kind_in(kinds().augmented_assignment, leaf).is_empty();
            // A test or a loop may leave a name unchanged.
            let plain = file.index.kind(leaf) == kinds().expression_statement;
            if plain && !augments {
                for name in &names {
                    needed.remove(*name);
                }
            }
            needed.extend(reads(file, leaf).into_iter().map(|id| file.index.text_of(id).to_owned()));
            out.push(leaf);
        }
    }
    out.reverse();
    out
}

/// The longest expression from a name on that only looks something up: `batch["image"]`, `self.args.weight`, with a
/// `.to(…)` after it.
pub(crate) fn reference(file: &PythonFile<'_>, name: Id) -> Id {
    let k = kinds();
    let index = &file.index;
    let mut at = name;
    while let Some(parent) = index.parent(at) {
        let kind = index.kind(parent);
        let named = |attribute: Id, names: &[&str]| {
            index.attribute(attribute).and_then(|a| a.name()).is_some_and(|name| names.contains(&name))
        };
        // Properties of a tensor are read from the part of it that the step receives.
        if kind == k.attribute && named(parent, &["shape", "dtype", "device", "ndim"]) {
            break;
        }
        let next = if kind == k.attribute && index.owner(parent) == Some(at) {
            let call = index.parent(parent).filter(|c| index.kind(*c) == k.call && index.callee(*c) == Some(parent));
            match call {
                Some(call) if named(parent, &["to", "cuda", "cpu"]) => call,
                Some(_) => break,
                None => parent,
            }
        } else if kind == k.subscript && index.value(parent) == Some(at) {
            let constant = index.parts(parent).skip(1).all(|p| index.kind(p) == k.string || index.kind(p) == k.integer);
            if !constant {
                break;
            }
            parent
        } else {
            break;
        };
        at = next;
    }
    at
}

/// `self.net` of `self.net.encoder`: the first part of a dotted name of `self`.
pub(crate) fn member_of_self(file: &PythonFile<'_>, name: Id) -> Option<Id> {
    let k = kinds();
    let parent = file.index.parent(name).filter(|p| file.index.kind(*p) == k.attribute)?;
    dotted(&file.index, parent).map(|_| parent)
}

#[cfg(test)]
mod tests {
    use super::{altered, assigned, backward_slice, leaves, reads, reference};
    use crate::marked;
    use python::tree::ROOT;

    #[test]
    fn statements_that_contain_no_others() {
        let program = concat!(
            "def f():\n",
            "^^^\n",
            "    a = 1\n",
            "    for x in y:\n",
            "        b = 2\n",
            "    def g():\n",
            "        c = 3\n",
            "    with d:\n",
            "        e()\n",
        );
        marked::check(program, "a = 1\nb = 2\ne()", |at| at.lines(leaves(&at.file(), at.node())));
    }

    #[test]
    fn names_that_a_statement_assigns_changes_and_reads() {
        let check = |statement: &str, expected: [&str; 3]| {
            marked::check(&format!("{statement}\n"), expected.map(str::to_owned), |at| {
                let (file, index) = (at.file(), &at.file().view.index);
                let only = index.parts(ROOT).next().expect("a statement");
                let words = |ids: Vec<_>| ids.into_iter().map(|id| index.text_of(id)).collect::<Vec<_>>().join(" ");
                let changed = altered(&file, only).unwrap_or_default().to_owned();
                [assigned(&file, only).join(" "), changed, words(reads(&file, only))]
            });
        };
        check("a, (b, self.c) = d(e=f)", ["a b self.c", "", "self d f"]);
        check("a[b] = c", ["", "a", "a b c"]);
        check("a.clamp_(0, b)", ["", "a", "a b"]);
        check("a += b", ["a", "", "a b"]);
        check("a = [b for b in c]", ["a", "", "c"]);
        check("a.clamp(0)", ["", "", "a"]);
    }

    #[test]
    fn the_statements_that_a_name_depends_on() {
        let check = |body: &str, expected: &str| {
            let program = format!("for x in y:\n^^^\n{body}\n");
            marked::check(&program, expected, |at| {
                at.lines(backward_slice(&at.file(), &leaves(&at.file(), at.node()), &["a"]))
            });
        };
        check("    b = x\n    c = 1\n    a = b", "b = x\na = b");
        // A later assignment replaces an earlier one, unless it reads it or may not be made.
        check("    a = x\n    a = 1", "a = 1");
        check("    a = x\n    a += 1", "a = x\na += 1");
        check("    a = x\n    a[0] = 1", "a = x\na[0] = 1");
    }

    #[test]
    fn the_whole_of_what_looks_something_up() {
        let check = |program: &str, expected: &str| {
            marked::check(program, expected, |at| at.lines([reference(&at.file(), at.node())]));
        };
        check("f(batch['x'].to(d))\n  ^^^^^\n", "batch['x'].to(d)");
        check("f(self.args.rate)\n  ^^^^\n", "self.args.rate");
        check("f(x.shape[0])\n  ^\n", "x");
        check("f(x[i])\n  ^\n", "x");
        check("f(x.mean())\n  ^\n", "x");
    }
}
