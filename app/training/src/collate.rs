//! The functions that make batches of samples: those that the files of a project pass as `collate_fn`.

use crate::view::FileView;
use python::tree::{Id, kinds};
use sorting::SortedSet;

/// The names of such functions, of classes of such objects, and of what they call.
#[derive(Debug, Default)]
pub struct Collate(SortedSet<String>);

/// The argument of a loader.
const ARGUMENT: &str = "collate_fn";

impl Collate {
    pub(crate) fn collect(views: &[&FileView<'_>]) -> Self {
        let mut names = SortedSet::new();
        for view in views {
            let index = &view.index;
            let arguments = view.identifiers(ARGUMENT).iter().filter_map(|id| index.parent(*id));
            let passed = arguments.filter(|a| index.keyword_name(*a) == Some(ARGUMENT)).filter_map(|a| index.value(a));
            let mentioned = passed.flat_map(|value| index.of_kind_in(kinds().identifier, value));
            names.extend(mentioned.map(|id| index.text_of(*id).to_owned()));
        }
        // A name that is assigned such an object: `collate = Padding(tokenizer)`.
        for view in views {
            let index = &view.index;
            for assignment in index.assignments() {
                let target = assignment.target().map(|target| index.text_of(target)).unwrap_or_default();
                let last = target.rsplit('.').next().unwrap_or(target);
                let made = assignment.value().and_then(|value| index.call(value)?.name());
                if let Some(class) = made.filter(|name| name.starts_with(char::is_uppercase) && names.contains(last)) {
                    names.insert(class.to_owned());
                }
            }
        }
        if names.is_empty() {
            return Self::default();
        }
        let helpers = views.iter().flat_map(|view| {
            let inside = view.index.calls().filter(|call| called_by(view, &names, call.id()));
            let of_file = inside.filter(|call| call.receiver().is_none()).filter_map(|call| call.name());
            of_file.map(str::to_owned).collect::<Vec<_>>()
        });
        let helpers: Vec<String> = helpers.collect();
        names.extend(helpers);
        Self(names)
    }

    /// Whether a place is in a function that makes a batch of samples, or in an expression that is passed for one.
    pub fn contains(&self, view: &FileView<'_>, id: Id) -> bool {
        let index = &view.index;
        let is_passed = index.ancestors(id).any(|a| index.keyword_name(a) == Some(ARGUMENT));
        is_passed || called_by(view, &self.0, id)
    }
}

/// Whether a function around a place has one of these names, or is the `__call__` of a class that has.
fn called_by(view: &FileView<'_>, names: &SortedSet<String>, id: Id) -> bool {
    let index = &view.index;
    let mut functions = index.ancestors(id).filter(|a| index.kind(*a) == kinds().function_definition);
    functions.any(|function| match view.name_of(function) {
        "__call__" => view.class_of(function).is_some_and(|class| names.contains(view.name_of(class))),
        name => names.contains(name),
    })
}

#[cfg(test)]
mod tests {
    use crate::marked;

    #[test]
    fn code_that_makes_a_batch_of_samples() {
        let check = |program: &str, expected: bool| {
            marked::check(program, expected, |at| at.project.collate.contains(at.file().view, at.node()));
        };
        let join = "#- data.py\ndef join(samples):\n    return f(2)\n           ^^^^\n#- train.py\n";
        check(&format!("{join}DataLoader(d, collate_fn=join)\n"), true);
        check(&format!("{join}DataLoader(d, worker_fn=join)\n"), false);
        check(&format!("{join}def all(s):\n    return join(s)\nDataLoader(d, collate_fn=all)\n"), true);
        check("DataLoader(d, collate_fn=lambda s: f(2))\n                                   ^^^^\n", true);
        let class = "class Join:\n    def __call__(self, s):\n        return f(2)\n               ^^^^\n    ";
        check(&format!("{class}pass\njoin = Join()\nDataLoader(d, collate_fn=join)\n"), true);
        check(&format!("{class}pass\njoin = Join()\nDataLoader(d)\n"), false);
    }
}
