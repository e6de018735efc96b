//! Code that is run several times and makes loaders that both training and evaluation read: a function that is called for
//! each, or a comprehension or loop over the phases.

use crate::readers::{Use, made_by, mentions, only_evaluation_reads, use_of};
use crate::view::FileView;
use python::strings::plain_string;
use python::tree::{Id, ROOT, kinds};
use std::collections::BTreeMap;

/// The calls of such functions, by file and function.
#[derive(Debug, Default)]
pub struct SharedLoaders(BTreeMap<String, Vec<Call>>);

#[derive(Debug)]
struct Call {
    only_evaluates: bool,
    /// Parameters and what they receive, as it is written.
    given: Vec<(String, String)>,
}

impl SharedLoaders {
    pub(crate) fn collect(views: &[&FileView<'_>]) -> Self {
        let mut shared = BTreeMap::new();
        for view in views {
            for function in view.calls("DataLoader").iter().filter_map(|call| made_by(view, *call)) {
                let callers = views.iter().flat_map(|other| callers(view, function, other));
                let calls: Vec<Call> = callers.map(|(other, call)| read(view, function, other, call)).collect();
                if [true, false].iter().all(|only| calls.iter().any(|call| call.only_evaluates == *only)) {
                    shared.insert(key(view, function), calls);
                }
            }
        }
        Self(shared)
    }

    fn calls(&self, view: &FileView<'_>, id: Id) -> Option<&[Call]> {
        self.0.get(&key(view, view.function_of(id)?)).map(Vec::as_slice)
    }

    /// Whether the loader that a call creates is the result of such code.
    pub fn makes(&self, view: &FileView<'_>, call: Id) -> bool {
        made_by(view, call).is_some() && self.calls(view, call).is_some()
            || Collection::around(view, call).is_some_and(|loaders| loaders.is_of_both())
    }

    /// Whether an expression in such code is true for training, and only then: a parameter, or a name that is compared
    /// with a string.
    pub fn is_true_for_training(&self, view: &FileView<'_>, id: Id) -> bool {
        let index = &view.index;
        if index.kind(id) == kinds().parenthesized_expression {
            return index.parts(id).next().is_some_and(|inner| self.is_true_for_training(view, inner));
        }
        let parts: Vec<Id> = index.parts(id).collect();
        let compares = index.kind(id) == kinds().comparison_operator && index.text_of(id).contains("==");
        let (name, wanted) = match parts.as_slice() {
            [name, value] if compares => (*name, plain_string(index, *value)),
            _ => (id, None),
        };
        if let (Some(wanted), Some(loaders)) = (&wanted, Collection::around(view, id)) {
            return loaders.is_key(name) && loaders.trains(wanted);
        }
        let holds = |call: &Call| {
            let given = &call.given.iter().find(|(parameter, _)| parameter == index.text_of(name))?.1;
            match (wanted, given.as_str()) {
                (Some(wanted), given) => {
                    let given = given.strip_prefix(['"', '\''])?.strip_suffix(['"', '\''])?;
                    Some(given == wanted)
                }
                (None, "True") => Some(true),
                (None, "False") => Some(false),
                _ => None,
            }
        };
        self.calls(view, id).is_some_and(|calls| calls.iter().all(|call| holds(call) == Some(!call.only_evaluates)))
    }
}

/// Loaders that one comprehension or loop makes, by the names under which they are kept.
struct Collection<'v, 't> {
    view: &'v FileView<'t>,
    /// The comprehension, or the loop.
    made_in: Id,
    names: Vec<&'t str>,
}

impl<'v, 't> Collection<'v, 't> {
    /// That of the innermost comprehension or loop around a node, within its function.
    fn around(view: &'v FileView<'t>, id: Id) -> Option<Self> {
        let (k, index) = (kinds(), &view.index);
        let comprehensions = [k.dictionary_comprehension, k.list_comprehension, k.generator_expression];
        let repeats = |a: &Id| comprehensions.contains(&index.kind(*a)) || index.kind(*a) == k.for_statement;
        let made_in = index.ancestors(id).take_while(|a| index.kind(*a) != k.function_definition).find(repeats)?;
        let statement = view.statement_of(id)?;
        let assignment = index.parts(statement).find(|part| index.kind(*part) == k.assignment);
        let kept = assignment.and_then(|a| index.target(a));
        let names = if index.kind(made_in) == k.for_statement {
            // `loaders[phase] = DataLoader(…)`
            let kept = kept.filter(|kept| index.is_within(statement, made_in) && index.kind(*kept) == k.subscript)?;
            index.parts(kept).take(1).map(|object| index.text_of(object)).collect()
        } else {
            let kept = kept.filter(|kept| *kept < made_in);
            let each = |kept: Id| match index.kind(kept) {
                kind if kind == k.identifier || kind == k.attribute => vec![kept],
                _ => index.parts(kept).collect(),
            };
            kept.into_iter().flat_map(each).map(|name| index.text_of(name)).collect()
        };
        Some(Self { view, made_in, names })
    }

    /// Where they are read, with the key if it is a string.
    fn reads(&self) -> impl Iterator<Item = (Option<&'t str>, Use)> {
        let (k, view) = (kinds(), self.view);
        let index = &view.index;
        let read = move |name: Id| {
            let parent = index.parent(name)?;
            let whole = if index.kind(parent) == k.subscript {
                parent
            } else {
                // `loaders.items()`
                index.parent(parent).filter(|call| index.callee(*call) == Some(parent)).unwrap_or(name)
            };
            let Some(key) = (whole == parent).then(|| index.parts(parent).nth(1)).flatten() else {
                return Some((None, use_of(view, whole, 3)));
            };
            let of = match (plain_string(index, key), use_of(view, whole, 3)) {
                // `for phase in …: for batch in loaders[phase]:`, with a test of the phase.
                (None, Use::Trains) if is_told_apart(view, key) => Use::Unknown,
                (_, of) => of,
            };
            Some((plain_string(index, key), of))
        };
        let scope = |name: &str| {
            let around =
                if name.starts_with("self.") { view.class_of(self.made_in) } else { view.function_of(self.made_in) };
            around.unwrap_or(ROOT)
        };
        let outside = |id: &Id| !index.is_within(*id, self.made_in);
        let named: Vec<Id> =
            self.names.iter().flat_map(|name| mentions(view, name, scope(name))).filter(outside).collect();
        named.into_iter().filter_map(read).filter(|(_, of)| *of != Use::Asks)
    }

    /// Whether some of them may be for training, and others not.
    fn is_of_both(&self) -> bool {
        let uses: Vec<Use> = self.reads().map(|(_, of)| of).collect();
        uses.is_empty()
            || uses.contains(&Use::Unknown)
            || [Use::Trains, Use::Evaluates].iter().all(|one| uses.contains(one))
    }

    /// Whether the comprehension or loop binds a name.
    fn is_key(&self, name: Id) -> bool {
        let (k, index) = (kinds(), &self.view.index);
        let clauses = index.of_kind_in(k.for_in_clause, self.made_in).iter().copied().chain([self.made_in]);
        let mut targets = clauses.filter_map(|clause| index.target(clause));
        targets.any(|target| {
            index
                .of_kind_in(k.identifier, target)
                .iter()
                .chain([&target])
                .any(|id| index.is_text(*id, index.text_of(name)))
        })
    }

    /// Whether the loader of a key is for training: by its readers, or else by the key.
    fn trains(&self, key: &str) -> bool {
        let of_key: Vec<Use> = self.reads().filter(|(read, _)| *read == Some(key)).map(|(_, of)| of).collect();
        if of_key.is_empty() { key.contains("train") } else { of_key.iter().all(|of| *of == Use::Trains) }
    }
}

/// Whether a name is compared with a string in its function.
fn is_told_apart(view: &FileView<'_>, name: Id) -> bool {
    let (k, index) = (kinds(), &view.index);
    let compares = |comparison: &Id| {
        let parts: Vec<Id> = index.parts(*comparison).collect();
        parts.iter().any(|part| index.is_text(*part, index.text_of(name)))
            && parts.iter().any(|part| index.kind(*part) == k.string)
    };
    index.of_kind_in(k.comparison_operator, view.function_of(name).unwrap_or(ROOT)).iter().any(compares)
}

fn key(view: &FileView<'_>, function: Id) -> String {
    format!("{} {}", view.path, view.name_of(function))
}

/// Calls of a function in its own file, or in one that imports it from there.
fn callers<'v, 't>(view: &FileView<'_>, function: Id, other: &'v FileView<'t>) -> Vec<(&'v FileView<'t>, Id)> {
    let name = view.name_of(function);
    let module = view.path.trim_end_matches(".py").rsplit('/').next().unwrap_or_default();
    let is_imported = |call: &Id| other.qualified(*call).is_some_and(|q| q.rsplit('.').nth(1) == Some(module));
    let calls: Vec<Id> = if other.path == view.path {
        other.callers(function).collect()
    } else {
        other.calls(name).iter().copied().filter(is_imported).collect()
    };
    calls.into_iter().map(|call| (other, call)).collect()
}

fn read(view: &FileView<'_>, function: Id, other: &FileView<'_>, call: Id) -> Call {
    let parameters = view.index.function(function).into_iter().flat_map(|f| f.parameters());
    let parameters = parameters.filter(|p| p.name != "self" && p.name != "cls");
    let given = parameters.enumerate().filter_map(|(place, parameter)| {
        let passed = other.index.arguments(call).get(place, parameter.name).map(|id| other.index.text_of(id));
        let value = passed.or_else(|| parameter.default.map(|id| view.index.text_of(id)))?;
        Some((parameter.name.to_owned(), value.to_owned()))
    });
    Call { only_evaluates: only_evaluation_reads(other, call), given: given.collect() }
}

#[cfg(test)]
mod tests {
    use crate::marked;

    /// Whether the loaders that a line makes in a comprehension or loop are for both, and whether its comparison is true
    /// for training; `LINE` stands for it.
    #[track_caller]
    fn check_collection(program: &str, line: &str, makes: bool, is_true: bool) {
        let mark = |part: &str| format!("{}{}", " ".repeat(line.find(part).unwrap()), "^".repeat(part.len()));
        let (from, to) = (line.find("DataLoader").unwrap(), line.rfind("))").unwrap() + 2);
        let compared = &line[line.find("(k ==").unwrap()..to - 1];
        let marked = format!("{line}\n{}\n{}", mark(&line[from..to]), mark(compared));
        marked::check(&program.replace("LINE", &marked), [makes, is_true], |at| {
            let (shared, view) = (&at.project.shared_loaders, at.file().view);
            [shared.makes(view, at.node()), shared.is_true_for_training(view, at.last())]
        });
    }

    #[test]
    fn a_comprehension_or_loop_makes_the_loaders_of_both() {
        let made = "ls = {k: DataLoader(s, shuffle=(k == 'train')) for k, s in sets}";
        let reads = |key: &str, body: &str| format!("for x in ls[{key}]:\n    {body}\n");
        let fits = |key: &str| reads(key, "net(x).backward()");
        let both = format!("LINE\n{}{}", fits("'train'"), reads("'val'", "net(x)"));
        check_collection(&both, made, true, true);
        check_collection(&format!("LINE\n{}", fits("'a'")), made, false, true);
        check_collection(&both, &made.replace("'train'", "'val'"), true, false);
        let phases = |body: &str| format!("LINE\nfor p in r:\n    for x in ls[p]:\n        {body}\n");
        check_collection(&phases("if p == 'train':\n            net(x).backward()"), made, true, true);
        check_collection(&phases("net(x).backward()"), made, false, true);
        check_collection("def f():\nLINE\n", &made.replace("ls =", "    return"), true, true);
        let folds = "LINE\nfor l in ls.values():\n    for x in l:\n        net(x).backward()\n";
        check_collection(folds, made, false, true);
        let looped = format!("ls = {{}}\nfor k in sets:\n{both}");
        check_collection(&looped, "    ls[k] = DataLoader(sets[k], shuffle=(k == 'train'))", true, true);
        let pair = "LINE\nfor x in a:\n    net(x).backward()\nfor x in b:\n    net(x)\n";
        check_collection(pair, "a, b = (DataLoader(k, shuffle=(k == 'train')) for k in sets)", true, true);
    }

    const MADE: &str = concat!(
        "#- data.py\n",
        "def load(train):\n",
        "    return DataLoader(b, shuffle=train)\n",
        "           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n",
        "                                 ^^^^^\n",
    );

    /// Whether both training and evaluation read the marked loader, and whether the second mark is true for training.
    #[track_caller]
    fn check(rest: &str, makes: bool, is_true: bool) {
        let program = format!("{MADE}#- train.py\nfrom data import load\n{rest}");
        marked::check(&program, [makes, is_true], |at| {
            let (shared, view) = (&at.project.shared_loaders, at.file().view);
            [shared.makes(view, at.node()), shared.is_true_for_training(view, at.last())]
        });
    }

    #[test]
    fn a_function_whose_loader_training_and_evaluation_read() {
        let fit = "for x in a:\n    net(x).backward()\n";
        let test = "for x in c:\n    net(x)\n";
        check(&format!("a = load(True)\nc = load(False)\n{fit}{test}"), true, true);
        check(&format!("a = load(False)\nc = load(True)\n{fit}{test}"), true, false);
        check(&format!("a = load(True)\n{fit}"), false, false);
    }
}
