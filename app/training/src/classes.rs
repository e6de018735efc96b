//! The classes of a project and what they inherit from.

use python::PythonFile;
use sorting::SortedMap;

/// Classes of a project, each with the names of its bases.
#[derive(Clone, Debug, Default)]
pub struct Classes {
    bases: SortedMap<String, Vec<String>>,
}

impl Classes {
    /// Reads the class definitions of all files.
    pub fn collect<'v, 't: 'v>(files: impl Iterator<Item = &'v PythonFile<'t>>) -> Self {
        let mut classes = Self::default();
        for file in files {
            let index = &file.index;
            for class in index.classes() {
                let bases = class.bases().ids().filter(|base| index.keyword_name(*base).is_none());
                let named = bases.map(|b| file.names.qualify(index, b).unwrap_or_else(|| index.text_of(b).to_owned()));
                classes.bases.entry(class.name().to_owned()).or_default().extend(named);
            }
        }
        classes
    }

    /// Names of the classes that the project defines.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.bases.keys().map(String::as_str)
    }

    /// All bases of a class, as far as they are defined in the project.
    pub fn ancestors(&self, class: &str) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        let mut todo = vec![class.to_owned()];
        while let Some(name) = todo.pop() {
            let last = name.rsplit('.').next().unwrap_or(&name).to_owned();
            for base in self.bases.get(&last).into_iter().flatten() {
                if !out.contains(base) {
                    out.push(base.clone());
                    todo.push(base.clone());
                }
            }
        }
        out
    }

    /// Whether one class is the other or inherits from it, in either direction.
    pub fn related(&self, a: &str, b: &str) -> bool {
        let is_base = |base: &str, of: &str| self.ancestors(of).iter().any(|x| x.rsplit('.').next() == Some(base));
        a == b || is_base(a, b) || is_base(b, a)
    }
}

#[cfg(test)]
mod tests {
    use crate::marked;

    #[test]
    fn what_a_class_inherits_from() {
        let program = "
            #- base.py
            from torch import nn
            class Base(nn.Module, metaclass=M):
                pass
            #- net.py
            from base import Base
            class Net(Base):
                pass
            class Other:
                pass
        ";
        marked::check(program, "base.Base torch.nn.Module", |at| at.project.classes.ancestors("Net").join(" "));
        let related = |a: &str, b: &str, expected: bool| {
            marked::check(program, expected, |at| at.project.classes.related(a, b));
        };
        related("Net", "Base", true);
        related("Base", "Net", true);
        related("Net", "Net", true);
        related("Net", "Other", false);
    }

    #[test]
    fn a_class_that_inherits_from_itself() {
        marked::check("class A(B):\n    pass\nclass B(A):\n    pass\n", "B A", |at| {
            at.project.classes.ancestors("A").join(" ")
        });
    }
}
