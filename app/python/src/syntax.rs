//! Typed views of syntax nodes: a call with its callee and arguments, an `if` with its condition and clauses.
//!
//! A view is a node's number with its index; it is `Copy` and free to create. Views are written by hand for the nodes
//! that the engine reads. Where any expression is possible, an [`Id`] is returned.

mod arguments;
mod assign;
mod block;
mod branch;
mod call;
mod definition;
mod repeat;
mod with;

pub use arguments::{Argument, Arguments};
pub use assign::Assign;
pub use block::{Block, block_of};
pub use branch::{Clause, If, Try};
pub use call::{Attribute, Call};
pub use definition::{Class, Function, Parameter};
pub use repeat::{For, While};
pub use with::{With, WithItem};

use crate::tree::{Id, Index, fields, kinds};

#[cfg(test)]
mod tests;

/// Defines a view of one kind of node.
macro_rules! view {
    ($(#[$doc:meta])* $name:ident, $kind:ident, $one:ident, $all:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name<'i, 't> {
            index: &'i $crate::tree::Index<'t>,
            id: $crate::tree::Id,
        }

        impl<'i, 't> $name<'i, 't> {
            /// The view of a node, if it is of this kind.
            pub fn cast(index: &'i $crate::tree::Index<'t>, id: $crate::tree::Id) -> Option<Self> {
                (index.kind(id) == $crate::tree::kinds().$kind).then_some(Self { index, id })
            }

            /// The node.
            pub fn id(self) -> $crate::tree::Id {
                self.id
            }

            #[allow(dead_code)]
            fn field(self, field: u16) -> Option<$crate::tree::Id> {
                self.index.field(self.id, field)
            }
        }

        impl<'t> $crate::tree::Index<'t> {
            #[doc = concat!("The node as [`", stringify!($name), "`](crate::syntax::", stringify!($name), "), if it is one.")]
            pub fn $one(&self, id: $crate::tree::Id) -> Option<$crate::syntax::$name<'_, 't>> {
                $name::cast(self, id)
            }

            #[doc = concat!("Every [`", stringify!($name), "`](crate::syntax::", stringify!($name), ") of the file, in the order of the text.")]
            pub fn $all(&self) -> impl Iterator<Item = $crate::syntax::$name<'_, 't>> + '_ {
                self.of_kind($crate::tree::kinds().$kind).iter().map(|id| $name { index: self, id: *id })
            }
        }
    };
}
pub(crate) use view;

impl<'t> Index<'t> {
    /// The text between two nodes: the operator of `a // b`.
    pub fn between(&self, left: Id, right: Id) -> &'t str {
        self.text[self.item(left).end..self.item(right).start].trim()
    }

    /// Whether a node mentions a name, by itself or as the function of a call.
    pub fn mentions(&self, within: Id, name: impl Fn(&str) -> bool) -> bool {
        self.of_kind_in(kinds().identifier, within).iter().any(|id| name(self.text_of(*id)))
    }

    /// Whether a node is everything between two brackets.
    pub fn is_bracketed(&self, id: Id) -> bool {
        let k = kinds();
        [
            k.argument_list,
            k.parenthesized_expression,
            k.list,
            k.tuple,
            k.dictionary,
            k.set,
            k.list_comprehension,
            k.dictionary_comprehension,
            k.set_comprehension,
            k.generator_expression,
        ]
        .contains(&self.kind(id))
    }

    /// The operator of an operation or a comparison of two operands: `+`, `and`, `not in`; nothing otherwise.
    pub fn operator(&self, id: Id) -> &'t str {
        let parts: Vec<Id> = self.parts(id).collect();
        let [left, right] = parts.as_slice() else { return "" };
        let between = self.text.get(self.range(*left).end..self.range(*right).start).unwrap_or_default();
        between.split('#').next().unwrap_or_default().trim_matches([' ', '\t', '\r', '\n', '\\'])
    }

    /// Whether this is the text of a node.
    pub fn is_text(&self, id: Id, text: &str) -> bool {
        self.text_of(id) == text
    }

    /// Whether something is assigned to a node, or it is deleted.
    pub fn is_stored(&self, id: Id) -> bool {
        let (k, f) = (kinds(), fields());
        let holds = [
            k.pattern_list,
            k.tuple_pattern,
            k.list_pattern,
            k.list_splat_pattern,
            k.list_splat,
            k.tuple,
            k.list,
            k.expression_list,
            k.parenthesized_expression,
        ];
        let mut whole = id;
        while let Some(around) = self.parent(whole).filter(|p| holds.contains(&self.kind(*p))) {
            whole = around;
        }
        let Some(holder) = self.parent(whole).map(|p| self.kind(p)) else { return false };
        let left = [k.assignment, k.augmented_assignment, k.for_statement, k.for_in_clause];
        [k.delete_statement, k.as_pattern_target].contains(&holder)
            || (left.contains(&holder) && self.item(whole).field == f.left)
    }
}
