//! Code that records no gradients, here or wherever it is called.

use crate::gradients::{GradientMode, gradient_mode};
use crate::project::FileInProject;
use python::PythonFile;
use python::origins::Place;
use python::tree::{Id, kinds};
use sorting::SortedSet;

impl FileInProject<'_, '_> {
    /// Whether nothing is recorded for the backward pass where a node runs, here or in all that call its function.
    pub(crate) fn records_no_gradients(&self, id: Id) -> bool {
        let origins = &self.project.origins;
        let Some(file) = origins.number(&self.view.file) else { return false };
        let (mut todo, mut seen) = (vec![Place { file, id }], Vec::new());
        while let Some(place) = todo.pop() {
            let file = origins.files()[place.file];
            match gradient_mode(file, place.id) {
                Some(GradientMode::Off) => continue,
                Some(_) => return false,
                None => {}
            }
            let Some(function) = file.function_of(place.id).map(|id| Place { id, ..place }) else { return false };
            let callers = origins.callers(function);
            let name = file.name_of(function.id);
            let passed_on = || self.project.passed_on.get_or_init(|| passed_on(origins.files()));
            if callers.is_empty() || passed_on().contains(name) {
                return false;
            }
            if !seen.contains(&function) {
                seen.push(function);
                todo.extend(callers.iter());
            }
        }
        true
    }
}

/// The names that are values somewhere: not all calls of functions with such a name are seen.
fn passed_on(files: &[&PythonFile<'_>]) -> SortedSet<String> {
    let k = kinds();
    let holds = [k.assignment, k.argument_list, k.keyword_argument, k.pair, k.list, k.tuple, k.return_statement];
    let mut names = SortedSet::new();
    for (file, id) in files.iter().flat_map(|file| file.index.of_kind(k.identifier).iter().map(move |id| (file, *id))) {
        let index = &file.index;
        let whole = index.parent(id).filter(|parent| index.kind(*parent) == k.attribute).unwrap_or(id);
        let is_value =
            !index.is_label(id) && index.parent(whole).is_some_and(|holder| holds.contains(&index.kind(holder)));
        if is_value && !names.contains(index.text_of(id)) {
            names.insert(index.text_of(id).to_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use crate::marked;

    #[test]
    fn what_callers_say() {
        let check = |program: &str, expected: bool| {
            marked::check(&format!("import torch\n{program}"), expected, |at| {
                at.file().records_no_gradients(at.node())
            });
        };
        let function = "def f(x):\n    return net(x)\n           ^^^^^^\n";
        check(&format!("{function}with torch.no_grad():\n    f(x)\n"), true);
        check(&format!("{function}with torch.no_grad():\n    f(x)\nf(y)\n"), false);
        check(&format!("{function}def g(x):\n    return f(x)\nwith torch.no_grad():\n    g(x)\n"), true);
        check(function, false);
        check(&format!("{function}with torch.no_grad():\n    f(x)\nrun(f)\n"), false);
    }
}
