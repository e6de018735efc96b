//! How a project selects its compute mode: an enum or a set of strings, the expression that is compared with it, and
//! which mode a piece of code belongs to.

mod constructor;
mod found;
mod members;
mod region;

pub use constructor::initialised;
pub use found::enum_members;
use found::mode_enum;
pub use members::free_value;
pub use region::Region;

use crate::classes::Classes;
use crate::view::FileView;
use guide::Switch;
use python::edit::{Splice, spliced};
use python::names::dotted;
use python::strings::plain_string;
use python::tree::{Id, Index, Tree, kinds};
use rustc_hash::FxHashMap;
use sorting::SortedMap;
use std::cell::RefCell;

/// How modes are named in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModeKind {
    /// Members of a class of this name.
    Enum(String),
    /// String literals.
    Strings,
    /// A name that is true where the program runs on the target.
    Switch(Switch),
}

/// The compute modes of a project.
#[derive(Clone, Debug)]
pub struct Modes {
    /// Members of an enum, or strings.
    pub kind: ModeKind,
    /// The target's member, spelled like the others: `HPU` or `hpu`.
    pub target: String,
    /// Names of compute modes that the guides list.
    listed: Vec<String>,
    /// Expressions that are compared with a mode, with the classes (or "") that do so, by file.
    expressions: SortedMap<String, Vec<Use>>,
    /// The enum is defined in none of the files.
    elsewhere: bool,
    /// By text and block: the statement after which only the vendor's mode continues. A cache, since it is queried
    /// repeatedly.
    turns: RefCell<FxHashMap<(usize, Id), Option<Id>>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Use {
    path: String,
    class: String,
    count: usize,
}

const VENDOR: [&str; 3] = ["gpu", "cuda", "nvidia"];
fn is_vendor(member: &str) -> bool {
    VENDOR.contains(&member.to_ascii_lowercase().as_str())
}

/// Whether a name denotes what to compute on: the vendor's own, or one of those that the guides list, in lower case.
pub fn is_mode(member: &str, listed: &[String]) -> bool {
    is_vendor(member) || listed.contains(&member.to_ascii_lowercase())
}

impl Modes {
    /// One program for all devices, in which a name tells the target from them.
    #[must_use]
    pub fn of_switch(switch: &Switch, target: &str) -> Self {
        Self {
            kind: ModeKind::Switch(switch.clone()),
            target: target.to_owned(),
            listed: Vec::new(),
            expressions: SortedMap::new(),
            elsewhere: false,
            turns: RefCell::default(),
        }
    }

    /// The name that is true where the program runs on the target.
    #[must_use]
    pub fn switch(&self) -> Option<&Switch> {
        match &self.kind {
            ModeKind::Switch(switch) => Some(switch),
            ModeKind::Enum(_) | ModeKind::Strings => None,
        }
    }

    /// Whether an expression is that name.
    pub(crate) fn is_switch(&self, index: &Index<'_>, id: Id) -> bool {
        self.switch().is_some_and(|switch| index.kind(id) == kinds().identifier && index.is_text(id, &switch.name))
    }

    /// The enum class of a file whose members are the modes.
    pub fn enum_in(&self, view: &FileView<'_>) -> Option<Id> {
        mode_enum(view, &self.listed)
    }

    /// The compared expression and the mode members of a comparison.
    pub(crate) fn comparison(&self, index: &Index<'_>, comparison: Id) -> Option<(Id, Vec<String>)> {
        let parts: Vec<Id> = index.parts(comparison).collect();
        let [a, b] = parts.as_slice() else { return None };
        let between = index.text[index.item(*a).end..index.item(*b).start].trim();
        if !matches!(between, "==" | "is" | "in") {
            return None;
        }
        let k = kinds();
        let list = [k.tuple, k.list, k.set].contains(&index.kind(*b));
        if between == "in" {
            if !list {
                return None;
            }
            let members: Option<Vec<String>> = index.parts(*b).map(|m| self.member(index, m)).collect();
            return members.filter(|m| !m.is_empty()).map(|m| (*a, m));
        }
        if let Some(member) = self.member(index, *b) {
            return plain_expression(index, *a).then(|| (*a, vec![member]));
        }
        self.member(index, *a).filter(|_| plain_expression(index, *b)).map(|member| (*b, vec![member]))
    }

    /// The mode that an expression names.
    pub(crate) fn member(&self, index: &Index<'_>, id: Id) -> Option<String> {
        match &self.kind {
            ModeKind::Enum(class) => {
                let text = dotted(index, id)?;
                let (owner, member) = text.rsplit_once('.')?;
                (owner.rsplit('.').next() == Some(class)).then(|| member.to_owned())
            }
            ModeKind::Strings => {
                if index.kind(id) != kinds().string {
                    return None;
                }
                plain_string(index, id).filter(|m| is_mode(m, &self.listed)).map(str::to_owned)
            }
            ModeKind::Switch(_) => None,
        }
    }

    /// The modes under which a test can be true: none if it does not depend on them.
    pub fn tested(&self, index: &Index<'_>, test: Id) -> Option<Vec<String>> {
        let k = kinds();
        let kind = index.kind(test);
        if self.is_switch(index, test) {
            return Some(vec![self.target.clone()]);
        }
        if kind == k.comparison_operator {
            let (expression, members) = self.comparison(index, test)?;
            return self.expressions.contains_key(index.text_of(expression)).then_some(members);
        }
        if kind == k.parenthesized_expression {
            return index.parts(test).next().and_then(|c| self.tested(index, c));
        }
        if kind == k.boolean_operator {
            let parts: Vec<Id> = index.parts(test).collect();
            let [a, b] = parts.as_slice() else { return None };
            let operator = index.text[index.item(*a).end..index.item(*b).start].trim();
            let (ta, tb) = (self.tested(index, *a), self.tested(index, *b));
            return if operator == "and" {
                ta.or(tb)
            } else {
                let (mut ta, tb) = (ta?, tb?);
                ta.extend(tb);
                Some(ta)
            };
        }
        None
    }

    /// Whether a test only tests for one mode.
    pub(crate) fn tests_only(&self, index: &Index<'_>, test: Id, member: &str) -> bool {
        (index.kind(test) == kinds().comparison_operator || self.is_switch(index, test))
            && self.tested(index, test).is_some_and(|m| m.len() == 1 && m[0] == member)
    }

    /// The enum's name, if the file that defines it is missing.
    pub fn defined_elsewhere(&self) -> Option<&str> {
        match &self.kind {
            ModeKind::Enum(class) if self.elsewhere => Some(class),
            _ => None,
        }
    }

    /// Where a file first names a member of the target.
    pub fn first_mention(&self, view: &FileView<'_>, class: &str) -> Option<std::ops::Range<usize>> {
        let ending = format!("{class}.{}", self.target);
        let index = &view.index;
        index
            .of_kind(kinds().attribute)
            .iter()
            .map(|a| index.range(*a))
            .find(|r| index.text[r.clone()].ends_with(&ending))
    }

    /// Code for the target's branch: the vendor's mode becomes the target's, as a member of the enum or as a string that
    /// the mode is compared with.
    pub fn retargeted(&self, text: &str) -> String {
        let k = kinds();
        let tree = Tree::parse(text);
        let index = tree.index();
        let named: Vec<Id> = match &self.kind {
            ModeKind::Enum(_) => index.of_kind(k.attribute).to_vec(),
            ModeKind::Strings => {
                let tests = index.of_kind(k.comparison_operator).iter().filter(|t| self.tested(&index, **t).is_some());
                tests.flat_map(|test| index.of_kind_in(k.string, *test)).copied().collect()
            }
            ModeKind::Switch(_) => return text.to_owned(),
        };
        let edits = named.into_iter().filter_map(|name| {
            let member = self.member(&index, name).filter(|member| is_vendor(member))?;
            let start = index.item(name).start + index.text_of(name).rfind(&member)?;
            Some(Splice { range: start..start + member.len(), text: self.target.clone() })
        });
        spliced(text, 0..text.len(), edits.collect())
    }

    /// The last part of the compared expressions' names: `compute_mode`.
    pub fn field_names(&self) -> Vec<&str> {
        self.expressions.keys().map(|e| e.rsplit('.').next().unwrap_or(e)).collect()
    }

    /// The field of a class that contains the compute mode, `compute_mode: ComputeMode = …`, as its assignment. A
    /// command-line option does not count: it is read after torch is loaded.
    pub fn field(&self, view: &FileView<'_>) -> Option<Id> {
        let ModeKind::Enum(class) = &self.kind else { return None };
        let index = &view.index;
        let names = self.field_names();
        let field = index.assignments().find(|a| {
            let is_mode = a.annotation().is_some_and(|t| index.text_of(t).rsplit('.').next() == Some(class));
            let is_read = names.is_empty() || names.iter().any(|name| a.assigns(name));
            let in_class = view.function_of(a.id()).is_none() && view.class_of(a.id()).is_some();
            is_mode && is_read && in_class
        });
        field.map(|a| a.id())
    }

    /// A test with the vendor's mode replaced by the target's, if it tests for the vendor's mode alone.
    pub fn retarget(&self, index: &Index<'_>, test: Id) -> Option<String> {
        let members = self.tested(index, test)?;
        if !members.iter().all(|m| is_vendor(m)) {
            return None;
        }
        Some(self.retargeted(index.text_of(test)))
    }

    /// The first test for the target's own mode in a file: the condition of an `if` or an `elif`.
    pub fn own_branch(&self, view: &FileView<'_>) -> Option<Id> {
        let (k, index) = (kinds(), &view.index);
        let branches = index.of_kind(k.if_statement).iter().chain(index.of_kind(k.elif_clause));
        let tests = branches.filter_map(|branch| index.condition(*branch));
        tests.filter(|test| self.tested(index, *test).is_some_and(|members| members.contains(&self.target))).min()
    }

    /// Whether a chain already has a branch of its own for the target.
    pub fn has_target_branch(&self, index: &Index<'_>, chain: Id) -> bool {
        let mut tests = index.tests_of_chain(chain).into_iter();
        tests.any(|test| self.tested(index, test).is_some_and(|members| members.contains(&self.target)))
    }

    /// The mode expression that can be read at a node.
    pub fn expression_at(&self, view: &FileView<'_>, classes: &Classes, id: Id) -> Option<String> {
        let function = view.function_of(id);
        let class = view.class_of(id).map(|c| view.name_of(c));
        let mut best: Option<(usize, &str)> = None;
        for (text, uses) in self.expressions.iter() {
            let head = text.split(['.', '[', '(']).next().unwrap_or(text);
            let reachable = if head == "self" {
                let method = function.is_some_and(|f| takes_self(view, f));
                method && class.is_some_and(|c| uses.iter().any(|u| classes.related(&u.class, c)))
            } else {
                let bound = view
                    .index
                    .ancestors(id)
                    .filter(|a| view.index.kind(*a) == kinds().function_definition)
                    .enumerate()
                    // In the function itself the name is defined from its assignment on; an enclosing function has
                    // already run by then.
                    .any(|(around, f)| if around == 0 { view.binds_before(f, head, id) } else { view.binds(f, head) });
                bound || view.binds_at_top(head, view.index.item(id).start, function.is_some())
            };
            if !reachable {
                continue;
            }
            let near: usize = uses.iter().filter(|u| u.path == view.path).map(|u| u.count).sum();
            let weight = near * 1000 + uses.iter().map(|u| u.count).sum::<usize>();
            if best.is_none_or(|(w, _)| weight > w) {
                best = Some((weight, text));
            }
        }
        best.map(|(_, text)| text.to_owned())
    }

    /// The test for the target at a node: `self.args.run.compute_mode == ComputeMode.HPU`.
    pub fn guard_at(&self, view: &FileView<'_>, classes: &Classes, id: Id) -> Option<String> {
        if let Some(switch) = self.switch() {
            return Some(switch.name.clone());
        }
        let expression = self.expression_at(view, classes, id)?;
        let member = match &self.kind {
            ModeKind::Enum(class) => {
                let local = view
                    .names
                    .bindings
                    .iter()
                    .find(|b| b.qualified.rsplit('.').next() == Some(class))
                    .map(|b| b.local.clone())
                    .or_else(|| view.defines(class).then(|| class.clone()))?;
                format!("{local}.{}", self.target)
            }
            ModeKind::Strings | ModeKind::Switch(_) => format!("{q}{}{q}", self.target, q = view.layout.quote),
        };
        Some(format!("{expression} == {member}"))
    }
}

fn plain_expression(index: &Index<'_>, id: Id) -> bool {
    let k = kinds();
    [k.identifier, k.attribute, k.subscript].contains(&index.kind(id))
}

fn takes_self(view: &FileView<'_>, function: Id) -> bool {
    let first = view.index.function(function).and_then(|function| function.parameters().next());
    first.is_some_and(|parameter| parameter.name == "self")
}

#[cfg(test)]
mod tests;
