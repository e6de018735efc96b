//! Blocks of statements.

use super::view;
use crate::tree::{Id, Index, ROOT, fields, kinds};

view!(
    /// The indented statements of a compound statement.
    Block, block, block, blocks
);

impl Block<'_, '_> {
    /// Its statements, in order.
    pub fn statements(self) -> impl Iterator<Item = Id> {
        self.index.parts(self.id)
    }
}

/// The block of a compound statement that runs first: the body of a definition, a loop or a `with`, the consequence of an `if`.
/// For the module, the module itself.
pub fn block_of(index: &Index<'_>, statement: Id) -> Option<Id> {
    if statement == ROOT {
        return Some(ROOT);
    }
    let field = if index.kind(statement) == kinds().if_statement { fields().consequence } else { fields().body };
    index.field(statement, field)
}

/// Parts of statements by their role, for use where the kind of the statement is already known or does not matter.
impl Index<'_> {
    /// The test of an `if`, an `elif`, a `while` or a conditional expression.
    pub fn condition(&self, id: Id) -> Option<Id> {
        if self.kind(id) == kinds().conditional_expression {
            return self.parts(id).nth(1);
        }
        self.field(id, fields().condition)
    }

    /// The tests of an `if` and its `elif`s, or of a conditional expression and those behind its `else`, in order.
    pub fn tests_of_chain(&self, chain: Id) -> Vec<Id> {
        let k = kinds();
        if self.kind(chain) == k.conditional_expression {
            let next = |choice: &Id| self.parts(*choice).nth(2).filter(|id| self.kind(*id) == k.conditional_expression);
            let choices = std::iter::successors(Some(chain), next);
            return choices.filter_map(|choice| self.condition(choice)).collect();
        }
        let clauses = self.children(chain).filter(|id| self.kind(*id) == k.elif_clause);
        std::iter::once(chain).chain(clauses).filter_map(|clause| self.condition(clause)).collect()
    }

    /// The block of an `if` or an `elif`.
    pub fn consequence(&self, clause: Id) -> Option<Id> {
        self.field(clause, fields().consequence)
    }

    /// The first `elif` or the `else` of an `if`; the `else` of a loop.
    pub fn otherwise(&self, statement: Id) -> Option<Id> {
        self.field(statement, fields().alternative)
    }

    /// The block of a definition, a loop, a `with`, a `try`, or an `else`.
    pub fn body(&self, statement: Id) -> Option<Id> {
        self.field(statement, fields().body)
    }

    /// The target of an assignment, plain or augmented, or of a loop.
    pub fn target(&self, statement: Id) -> Option<Id> {
        self.field(statement, fields().left)
    }

    /// The targets of an assignment or a loop that unpacks, also in parentheses: `a`, `b` and `c` of `(a, b), c = …`.
    pub fn unpacked(&self, target: Id) -> Vec<Id> {
        if self.is_unpacking(target) {
            self.parts(target).flat_map(|part| self.unpacked(part)).collect()
        } else {
            vec![target]
        }
    }

    /// Whether a target is a list of targets.
    pub(crate) fn is_unpacking(&self, target: Id) -> bool {
        [kinds().pattern_list, kinds().tuple_pattern].contains(&self.kind(target))
    }

    /// The value that is assigned to the target, or iterated over.
    pub fn source(&self, statement: Id) -> Option<Id> {
        self.field(statement, fields().right)
    }

    /// The object before the dot of an attribute.
    pub fn owner(&self, attribute: Id) -> Option<Id> {
        self.field(attribute, fields().object)
    }

    /// The value of a keyword argument, or of a subscript.
    pub fn value(&self, node: Id) -> Option<Id> {
        self.field(node, fields().value)
    }
}
