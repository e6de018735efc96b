//! Functions whose loaders both training and evaluation read.

use crate::readers::{made_by, only_evaluation_reads};
use crate::view::FileView;
use python::strings::plain_string;
use python::tree::{Id, kinds};
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

    /// Whether the loader that a call creates is the result of such a function.
    pub fn makes(&self, view: &FileView<'_>, call: Id) -> bool {
        made_by(view, call).is_some() && self.calls(view, call).is_some()
    }

    /// Whether an expression in such a function is true in the calls for training, and only in those: a parameter, or
    /// a parameter compared with a string.
    pub fn is_true_for_training(&self, view: &FileView<'_>, id: Id) -> bool {
        let index = &view.index;
        let parts: Vec<Id> = index.parts(id).collect();
        let compares = index.kind(id) == kinds().comparison_operator && index.text_of(id).contains("==");
        let (name, wanted) = match parts.as_slice() {
            [name, value] if compares => (*name, plain_string(index, *value)),
            _ => (id, None),
        };
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
