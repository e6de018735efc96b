//! Positional and keyword arguments of a call.

use crate::tree::{Id, Index, fields, kinds};

/// The arguments of a call, or the bases and keywords of a class.
#[derive(Clone, Copy)]
pub struct Arguments<'i, 't> {
    index: &'i Index<'t>,
    list: Option<Id>,
}

/// An argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument<'t> {
    /// `x`.
    Positional(Id),
    /// `name=value`.
    Keyword {
        /// The parameter it names.
        name: &'t str,
        /// Its value.
        value: Id,
    },
    /// `*xs`.
    Unpacked(Id),
    /// `**table`.
    UnpackedTable(Id),
}

impl<'i, 't> Arguments<'i, 't> {
    pub(crate) fn of(index: &'i Index<'t>, list: Option<Id>) -> Self {
        Self { index, list }
    }

    /// The list with its brackets; for `f(x for x in xs)` the generator.
    pub fn list(self) -> Option<Id> {
        self.list
    }

    /// The node of each argument, in order, keyword arguments as a whole.
    pub fn ids(self) -> impl Iterator<Item = Id> + use<'i, 't> {
        let index = self.index;
        let is_list = |list: &Id| index.kind(*list) == kinds().argument_list;
        let generator = self.list.filter(|list| !is_list(list));
        self.list.filter(is_list).into_iter().flat_map(move |list| index.parts(list)).chain(generator)
    }

    /// Each argument, in order.
    pub fn iter(self) -> impl Iterator<Item = Argument<'t>> {
        let (k, f, index) = (kinds(), fields(), self.index);
        self.ids().filter_map(move |id| {
            let kind = index.kind(id);
            Some(if kind == k.keyword_argument {
                Argument::Keyword { name: index.text_of(index.field(id, f.name)?), value: index.field(id, f.value)? }
            } else if kind == k.list_splat {
                Argument::Unpacked(id)
            } else if kind == k.dictionary_splat {
                Argument::UnpackedTable(id)
            } else {
                Argument::Positional(id)
            })
        })
    }

    /// Arguments without a name, in order, up to the first `*xs`, after which positions are unknown.
    pub fn positional(self) -> impl Iterator<Item = Id> {
        self.iter().take_while(|a| !matches!(a, Argument::Unpacked(_))).filter_map(|a| match a {
            Argument::Positional(id) => Some(id),
            _ => None,
        })
    }

    /// The value of `name=…`.
    pub fn keyword(self, name: &str) -> Option<Id> {
        self.iter().find_map(|a| match a {
            Argument::Keyword { name: given, value } if given == name => Some(value),
            _ => None,
        })
    }

    /// The argument for a parameter: by its name, or by its position, from 0.
    pub fn get(self, place: usize, name: &str) -> Option<Id> {
        self.keyword(name).or_else(|| self.positional().nth(place))
    }

    /// How many there are.
    pub fn len(self) -> usize {
        self.ids().count()
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.ids().next().is_none()
    }
}
