//! Which mode a piece of code belongs to: the tests around it, and early exits before it.

use super::{ModeKind, Modes, VENDOR, is_vendor};
use python::tree::{Id, Index, kinds};

/// The mode that runs some code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// No mode is tested, or the target's among others: the target runs it.
    Open,
    /// Only the source vendor's mode runs it: the clause and its `if`, or one conditional expression for both.
    Vendor {
        /// The clause that tests for it.
        clause: Id,
        /// The `if` that the clause belongs to.
        chain: Id,
    },
    /// Only the target runs it.
    Target,
    /// Modes are distinguished around it in a way that can't be followed: a `match`, a table by mode, an early exit.
    Unclear,
    /// The target never runs it.
    Foreign,
}

impl Modes {
    /// Whether a test is `mode != TARGET`, or `not USE_TARGET`.
    pub fn excludes_target(&self, index: &Index<'_>, test: Id) -> bool {
        if index.kind(test) == kinds().not_operator {
            return index.parts(test).next().is_some_and(|inner| self.is_switch(index, inner));
        }
        let parts: Vec<Id> = index.parts(test).collect();
        let [a, b] = parts.as_slice() else { return false };
        index.kind(test) == kinds().comparison_operator
            && index.text[index.item(*a).end..index.item(*b).start].trim() == "!="
            && self.expressions.contains_key(index.text_of(*a))
            && self.member(index, *b).is_some_and(|m| m == self.target)
    }

    /// The mode that runs a node.
    pub fn region(&self, index: &Index<'_>, id: Id) -> Region {
        let k = kinds();
        let mut vendor = None;
        let mut child = id;
        for ancestor in index.ancestors(id) {
            let kind = index.kind(ancestor);
            let tested = if kind == k.if_statement || kind == k.elif_clause {
                let in_body = index.consequence(ancestor).is_some_and(|c| index.is_within(id, c));
                in_body.then(|| index.condition(ancestor)).flatten().map(|t| (t, ancestor))
            } else if kind == k.conditional_expression {
                // `a if test else b`
                let parts: Vec<Id> = index.parts(ancestor).collect();
                match parts.as_slice() {
                    [a, test, _] if index.is_within(child, *a) => Some((*test, ancestor)),
                    [_, test, b] if index.is_within(child, *b) => {
                        if self.tests_only(index, *test, &self.target) {
                            return Region::Foreign;
                        }
                        None
                    }
                    _ => None,
                }
            } else {
                None
            };
            if let Some((test, clause)) = tested
                && let Some(members) = self.tested(index, test)
            {
                if !members.contains(&self.target) && members.iter().any(|m| !is_vendor(m)) {
                    return Region::Foreign;
                }
                if members.iter().all(|m| *m == self.target) {
                    return Region::Target;
                }
                if members.iter().all(|m| is_vendor(m)) {
                    let chain = if kind == k.elif_clause { index.parent(clause).unwrap_or(clause) } else { clause };
                    vendor = Some(Region::Vendor { clause, chain });
                }
            }
            if kind == k.if_statement
                && index.consequence(ancestor).is_some_and(|c| index.is_within(id, c))
                && index.condition(ancestor).is_some_and(|c| self.excludes_target(index, c))
            {
                return Region::Foreign;
            }
            if self.is_unclear(index, ancestor, child) {
                return Region::Unclear;
            }
            // An `elif` or `else` after the target's own branch is not the target's.
            if kind == k.if_statement
                && !index.consequence(ancestor).is_some_and(|c| index.is_within(id, c))
                && !index.condition(ancestor).is_some_and(|c| index.is_within(id, c))
            {
                let earlier = std::iter::once(ancestor)
                    .chain(
                        index
                            .children(ancestor)
                            .filter(|c| index.kind(*c) == k.elif_clause && index.item(*c).next <= id),
                    )
                    .filter_map(|c| index.condition(c));
                if earlier.into_iter().any(|t| self.tests_only(index, t, &self.target)) {
                    return Region::Foreign;
                }
            }
            child = ancestor;
        }
        vendor.unwrap_or(Region::Open)
    }

    /// Whether a node's place in its parent depends on the mode in a way that can't be followed.
    fn is_unclear(&self, index: &Index<'_>, parent: Id, child: Id) -> bool {
        let k = kinds();
        let kind = index.kind(parent);
        let names_vendor = |id: Id| self.member(index, id).is_some_and(|m| is_vendor(&m));
        if kind == k.pair {
            return index.children(parent).next().is_some_and(|key| key != child && names_vendor(key));
        }
        if kind == k.case_clause {
            let text = index.text_of(parent);
            let pattern = text.lines().next().unwrap_or(text);
            return matches!(&self.kind, ModeKind::Enum(class) if VENDOR.iter().any(|v| {
                pattern.contains(&format!("{class}.{}", v.to_ascii_uppercase())) || pattern.contains(&format!("{class}.{v}"))
            }));
        }
        if kind != k.block && kind != k.module {
            return false;
        }
        // `if mode != GPU: return` and `assert mode == GPU` before it.
        let key = (index.text.as_ptr() as usize, parent);
        let known = self.turns.borrow().get(&key).copied();
        let turn = known.unwrap_or_else(|| {
            let turn = index.parts(parent).find(|statement| self.turns_others_away(index, *statement));
            self.turns.borrow_mut().insert(key, turn);
            turn
        });
        turn.is_some_and(|turn| turn < child)
    }

    /// Whether a statement ends the block for every mode but the vendor's.
    fn turns_others_away(&self, index: &Index<'_>, statement: Id) -> bool {
        let k = kinds();
        if index.kind(statement) == k.assert_statement {
            return index.parts(statement).next().is_some_and(|t| self.mentions_vendor_alone(index, t));
        }
        let leaves = index.is_plain_if(statement)
            && index.consequence(statement).and_then(|c| index.parts(c).last()).is_some_and(|last| {
                [k.return_statement, k.raise_statement, k.continue_statement, k.break_statement]
                    .contains(&index.kind(last))
            });
        leaves && index.condition(statement).is_some_and(|t| self.denies_vendor(index, t))
    }

    /// `mode == GPU`.
    fn mentions_vendor_alone(&self, index: &Index<'_>, test: Id) -> bool {
        self.tested(index, test).is_some_and(|m| m.iter().all(|m| is_vendor(m)))
    }

    /// `mode != GPU`, `not mode == GPU`.
    fn denies_vendor(&self, index: &Index<'_>, test: Id) -> bool {
        let parts: Vec<Id> = index.parts(test).collect();
        match parts.as_slice() {
            [a, b] if index.kind(test) == kinds().comparison_operator => {
                index.text[index.item(*a).end..index.item(*b).start].trim() == "!="
                    && self.expressions.contains_key(index.text_of(*a))
                    && self.member(index, *b).is_some_and(|m| is_vendor(&m))
            }
            [inner] if index.text_of(test).starts_with("not") => self.mentions_vendor_alone(index, *inner),
            _ => false,
        }
    }
}
