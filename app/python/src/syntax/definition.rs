//! Functions and classes.

use super::{Arguments, view};
use crate::tree::{Id, Index, fields, kinds};

view!(
    /// `def name(parameters): …`.
    Function, function_definition, function, functions
);

view!(
    /// `class Name(bases): …`.
    Class, class_definition, class, classes
);

/// A parameter of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter<'t> {
    /// The whole of it, with annotation and default.
    pub id: Id,
    /// Its name; for `*args` and `**kwargs` with the stars.
    pub name: &'t str,
    /// Its default.
    pub default: Option<Id>,
}

impl<'t> Function<'_, 't> {
    /// Its name.
    pub fn name(self) -> &'t str {
        self.field(fields().name).map_or("", |name| self.index.text_of(name))
    }

    /// Its parameters, in order; `/` and a lone `*` are not included.
    pub fn parameters(self) -> impl Iterator<Item = Parameter<'t>> {
        let (k, f, index) = (kinds(), fields(), self.index);
        let list = self.field(f.parameters).into_iter().flat_map(move |list| index.parts(list));
        list.filter_map(move |id| {
            let kind = index.kind(id);
            let name = if [k.default_parameter, k.typed_default_parameter].contains(&kind) {
                index.field(id, f.name)?
            } else if kind == k.typed_parameter {
                index.children(id).next()?
            } else if kind == k.keyword_separator || kind == k.positional_separator {
                return None;
            } else {
                id
            };
            Some(Parameter { id, name: index.text_of(name), default: index.field(id, f.value) })
        })
    }

    /// The brackets with its parameters.
    pub fn parameter_list(self) -> Option<Id> {
        self.field(fields().parameters)
    }

    /// Its block.
    pub fn body(self) -> Option<Id> {
        self.field(fields().body)
    }

    /// Its decorators, `@` included.
    pub fn decorators(self) -> Vec<Id> {
        decorators(self.index, self.id)
    }
}

impl<'i, 't> Class<'i, 't> {
    /// Its name.
    pub fn name(self) -> &'t str {
        self.field(fields().name).map_or("", |name| self.index.text_of(name))
    }

    /// Its bases, and its keywords.
    pub fn bases(self) -> Arguments<'i, 't> {
        Arguments::of(self.index, self.field(fields().superclasses))
    }

    /// Its block.
    pub fn body(self) -> Option<Id> {
        self.field(fields().body)
    }

    /// Its decorators, `@` included.
    pub fn decorators(self) -> Vec<Id> {
        decorators(self.index, self.id)
    }
}

fn decorators(index: &Index<'_>, definition: Id) -> Vec<Id> {
    let k = kinds();
    let decorated = index.parent(definition).filter(|p| index.kind(*p) == k.decorated_definition);
    decorated.map_or_else(Vec::new, |d| index.children(d).filter(|c| index.kind(*c) == k.decorator).collect())
}

impl Index<'_> {
    /// The function or class that a statement defines, under its decorators or without any; none for other statements.
    pub fn definition(&self, statement: Id) -> Option<Id> {
        let k = kinds();
        let inner = if self.kind(statement) == k.decorated_definition {
            self.field(statement, fields().definition)?
        } else {
            statement
        };
        [k.function_definition, k.class_definition].contains(&self.kind(inner)).then_some(inner)
    }
}
