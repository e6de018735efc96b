//! A file with the roles of its names in training.

use crate::roles::Roles;
use crate::steps::{Steps, other_backwards};
use python::PythonFile;
use python::names::Packages;
use python::packages::packages;
use python::syntax::Assign;
use python::tree::{Id, Tree};
use std::cell::OnceCell;
use std::ops::Deref;

/// One file in one round: its syntax and the facts that follow from it alone.
pub struct FileView<'t> {
    /// The parsed file.
    pub file: PythonFile<'t>,
    /// The roles of its names.
    pub roles: Roles,
    /// Where it trains and where it validates.
    pub steps: Steps,
    /// The calls that create its optimizers.
    pub(crate) optimizers: OnceCell<Vec<Id>>,
    differentiates: OnceCell<Option<Id>>,
    turns: OnceCell<Vec<Id>>,
    device_targets: OnceCell<Vec<Id>>,
}

impl<'t> Deref for FileView<'t> {
    type Target = PythonFile<'t>;
    fn deref(&self) -> &PythonFile<'t> {
        &self.file
    }
}

impl<'t> FileView<'t> {
    /// Reads a parsed text.
    pub fn read(path: &'t str, tree: &'t Tree) -> Self {
        Self::read_with(path, tree, &Packages::default())
    }

    /// Reads the parsed texts of a project's files.
    pub fn read_all(files: &[(&'t str, &'t Tree)]) -> Vec<Self> {
        let mut views: Vec<Self> = files.iter().map(|(path, tree)| Self::read(path, tree)).collect();
        let packages = packages(&views.iter().map(|view| &view.file).collect::<Vec<_>>());
        for ((view, (path, tree)), packages) in views.iter_mut().zip(files).zip(packages) {
            if !packages.is_empty() {
                *view = Self::read_with(path, tree, &packages);
            }
        }
        views
    }

    /// Reads a parsed text that imports these packages from other files.
    pub fn read_with(path: &'t str, tree: &'t Tree, packages: &Packages) -> Self {
        let mut file = PythonFile::read_with(path, tree, packages);
        let others = other_backwards(&file);
        file.forget_calls("backward", &others);
        Self {
            roles: Roles::collect(&file),
            steps: Steps::collect(&file),
            optimizers: OnceCell::new(),
            differentiates: OnceCell::new(),
            turns: OnceCell::new(),
            device_targets: OnceCell::new(),
            file,
        }
    }

    /// The code that is repeated while the file trains, in the order of the text.
    pub(crate) fn turns(&self) -> &[Id] {
        self.turns.get_or_init(|| self.steps.turns(&self.file))
    }

    /// The targets of assignments whose value is a device, by a test that is always the same: they are collected once.
    pub fn device_targets(&self, is_device: impl Fn(Id) -> bool) -> &[Id] {
        let target =
            |assignment: Assign<'_, '_>| assignment.value().filter(|value| is_device(*value)).and(assignment.target());
        self.device_targets.get_or_init(|| self.file.index.assignments().filter_map(target).collect())
    }

    /// Whether the file has signs of gradients that are part of the result: forces, penalties, second derivatives.
    pub fn differentiates(&self) -> Option<Id> {
        let tells = |word: &str| {
            matches!(word, "enable_grad" | "forces" | "hessian" | "jacobian" | "jacrev" | "vjp")
                || word.ends_with("_forces")
                || word.ends_with("_force")
                || word.contains("grad_state")
                || word.contains("gradient_penalty")
                || word.contains("gradwise")
        };
        // `backward(create_graph=second_order)` has it for an optimizer that needs it.
        let of_graph = self.identifiers("create_graph").iter().copied().filter(|id| {
            let given = self.index.parent(*id).filter(|_| self.index.is_label(*id));
            given.is_some_and(|given| self.index.value(given).is_some_and(|value| self.index.is_text(value, "True")))
        });
        let by_word = self.words().filter(|(word, _)| tells(word)).flat_map(|(_, ids)| ids.iter().copied());
        *self.differentiates.get_or_init(|| by_word.chain(of_graph).chain(self.gradients()).min())
    }

    /// The functions that compute gradients as a part of their result.
    pub(crate) fn differentiating(&self) -> impl Iterator<Item = &'t str> + '_ {
        self.gradients().filter_map(|call| Some(self.name_of(self.function_of(call)?)))
    }

    /// The calls of `autograd.grad`.
    fn gradients(&self) -> impl Iterator<Item = Id> + '_ {
        let of_autograd =
            |call: &Id| self.index.callee(*call).is_some_and(|callee| self.index.text_of(callee).contains("autograd"));
        self.calls("grad").iter().copied().filter(of_autograd)
    }
}

#[cfg(test)]
mod tests {
    use crate::marked;

    #[test]
    fn gradients_that_are_part_of_a_result() {
        let check = |program: &str, expected: &str| {
            marked::check(program, expected, |at| at.lines(at.file().view.differentiates()));
        };
        check("a = torch.autograd.grad(b, c)\n", "torch.autograd.grad(b, c)");
        check("a = predict_forces(x)\n", "predict_forces");
        check("loss.backward(create_graph=second)\n", "");
        check("loss.backward(create_graph=True)\n", "create_graph");
        check("a = np.grad(b)\nenforces = 2\n", "");
    }
}
