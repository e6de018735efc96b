//! How a project chooses its compute mode: an enum or a set of strings, the expression that is compared with it, and
//! which mode a piece of code belongs to.

use super::{FileView, ProjectFacts};
use crate::names::dotted;
use crate::order::{Map, Set};
use crate::pattern::plain_string;
use crate::tree::{Id, Index, fields, kinds};
use std::cell::RefCell;
use std::collections::HashMap;

/// How modes are named in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ModeKind {
    /// Members of a class of this name.
    Enum(String),
    /// String literals.
    Strings,
}

/// The compute modes of a project.
#[derive(Clone, Debug)]
pub(crate) struct Modes {
    pub(crate) kind: ModeKind,
    /// The target's member, spelled like the others: `HPU` or `hpu`.
    pub(crate) target: String,
    /// Expressions that are compared with a mode, with the classes (or "") that do so, by file.
    expressions: Map<String, Vec<Use>>,
    /// The enum is in none of the files.
    elsewhere: bool,
    /// By text and block: the statement behind which only the vendor's mode goes on. Asked for again and again.
    turns: RefCell<HashMap<(usize, Id), Option<Id>>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Use {
    path: String,
    class: String,
    count: usize,
}

/// What an expression is compared with.
#[derive(Default)]
struct Literals {
    members: Set<String>,
    /// Some test holds for the vendor's mode alone.
    singles_out: bool,
}

/// Whose code it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Region {
    /// No mode asked for, or the target's among others: the target runs it.
    Open,
    /// Only the source vendor's mode runs it: the clause and the `if` it belongs to.
    Vendor { clause: Id, chain: Id },
    /// Only the target runs it.
    Target,
    /// Modes are told apart around it in a way that is not followed: a conditional expression, a `match`, a table by
    /// mode, an early way out.
    Unclear,
    /// The target never runs it.
    Foreign,
}

const VENDOR: [&str; 3] = ["gpu", "cuda", "nvidia"];
const OTHERS: [&str; 13] =
    ["cpu", "xpu", "tpu", "mps", "rocm", "dpcpp", "sycl", "hpu", "ipu", "rdu", "npu", "gaudi", "graphcore"];

fn is_vendor(member: &str) -> bool {
    VENDOR.contains(&member.to_ascii_lowercase().as_str())
}

pub(crate) fn is_mode(member: &str) -> bool {
    is_vendor(member) || OTHERS.contains(&member.to_ascii_lowercase().as_str())
}

/// An enum class whose members are compute modes.
pub(crate) fn mode_enum(view: &FileView<'_>) -> Option<Id> {
    let (k, f) = (kinds(), fields());
    view.index.of_kind(k.class_definition).iter().copied().find(|class| {
        let is_enum = view.index.field(*class, f.superclasses).is_some_and(|s| {
            view.index.parts(s).any(|b| {
                let text = view.index.text_of(b);
                matches!(text.rsplit('.').next(), Some("Enum" | "IntEnum" | "StrEnum" | "Flag" | "IntFlag"))
            })
        });
        let members = enum_members(view, *class);
        is_enum
            && members.iter().any(|(name, _)| is_vendor(name))
            && members.iter().any(|(name, _)| is_mode(name) && !is_vendor(name))
    })
}

/// An enum that is compared with (`mode == ComputeMode.GPU`) but defined in a file that is not here: its name, and
/// whether its members are in capitals.
fn foreign_enum(views: &[&FileView<'_>]) -> Option<(String, bool)> {
    for view in views {
        for &comparison in view.index.of_kind(kinds().comparison_operator) {
            for side in view.index.parts(comparison) {
                let Some((owner, member)) = dotted(&view.index, side).and_then(|t| t.rsplit_once('.')) else {
                    continue;
                };
                let class = owner.rsplit('.').next().unwrap_or(owner);
                let imported = view.names.bindings.iter().any(|b| b.qualified.rsplit('.').next() == Some(class));
                if is_vendor(member) && imported && class.starts_with(|c: char| c.is_ascii_uppercase()) {
                    return Some((class.to_owned(), member.chars().all(|c| !c.is_lowercase())));
                }
            }
        }
    }
    None
}

/// Members of an enum class: name and assignment.
pub(crate) fn enum_members<'t>(view: &FileView<'t>, class: Id) -> Vec<(&'t str, Id)> {
    let (k, f) = (kinds(), fields());
    let Some(body) = view.index.field(class, f.body) else { return Vec::new() };
    view.index
        .children(body)
        .filter(|s| view.index.kind(*s) == k.expression_statement)
        .filter_map(|s| view.index.parts(s).next())
        .filter(|a| view.index.kind(*a) == k.assignment)
        .filter_map(|a| view.index.field(a, f.left).map(|l| (view.index.text_of(l), a)))
        .collect()
}

impl Modes {
    pub(super) fn collect(views: &[&FileView<'_>], target: &str) -> Option<Self> {
        let found = views.iter().find_map(|v| mode_enum(v).map(|c| (v, c)));
        let (kind, target) = if let Some((view, class)) = &found {
            let class = *class;
            let upper =
                enum_members(view, class).iter().any(|(n, _)| is_vendor(n) && n.chars().all(|c| !c.is_lowercase()));
            let target = if upper { target.to_ascii_uppercase() } else { target.to_ascii_lowercase() };
            (ModeKind::Enum(view.name_of(class).to_owned()), target)
        } else if let Some((class, upper)) = foreign_enum(views) {
            (ModeKind::Enum(class), if upper { target.to_ascii_uppercase() } else { target.to_ascii_lowercase() })
        } else {
            (ModeKind::Strings, target.to_ascii_lowercase())
        };
        let elsewhere = matches!(kind, ModeKind::Enum(_)) && found.is_none();
        let mut modes = Self { kind, target, expressions: Map::new(), elsewhere, turns: RefCell::default() };
        let mut literals: Map<String, Literals> = Map::new();
        for view in views {
            let k = kinds();
            for &comparison in view.index.of_kind(k.comparison_operator) {
                let Some((expression, members)) = modes.comparison(&view.index, comparison) else { continue };
                let class = view.class_of(comparison).map_or("", |c| view.name_of(c));
                let text = view.index.text_of(expression);
                let seen = literals.get_or_default(text.to_owned());
                seen.singles_out |= members.iter().all(|m| is_vendor(m));
                seen.members.extend(members.iter().map(|m| m.to_ascii_lowercase()));
                let uses = modes.expressions.get_or_default(text.to_owned());
                match uses.iter_mut().find(|u| u.path == view.path && u.class == class) {
                    Some(u) => u.count += 1,
                    None => uses.push(Use { path: view.path.to_owned(), class: class.to_owned(), count: 1 }),
                }
            }
        }
        if modes.kind == ModeKind::Strings {
            // `if args.accelerator == "gpu": … elif args.accelerator == "cpu":` is a chain of modes. A value that is compared
            // with "cuda" is a device of PyTorch's, and the chain is right again once the device has its new name; a test for
            // `in ("cpu", "gpu")` tells nothing apart.
            modes.expressions.retain(|text, _| {
                let seen = &literals[text];
                let names_vendor = seen.members.iter().any(|m| is_vendor(m) && m != "cuda");
                !text.ends_with(".type") && names_vendor && seen.singles_out && seen.members.len() >= 2
            });
            if modes.expressions.is_empty() {
                return None;
            }
        }
        Some(modes)
    }

    /// The compared expression and the mode members of a comparison.
    fn comparison(&self, index: &Index<'_>, comparison: Id) -> Option<(Id, Vec<String>)> {
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
    fn member(&self, index: &Index<'_>, id: Id) -> Option<String> {
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
                plain_string(index.text, index.item(id).node).filter(|m| is_mode(m)).map(str::to_owned)
            }
        }
    }

    /// The modes under which a test can hold: none when it says nothing about them.
    pub(crate) fn tested(&self, index: &Index<'_>, test: Id) -> Option<Vec<String>> {
        let k = kinds();
        let kind = index.kind(test);
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

    /// Whether a test is nothing but the test for one mode.
    fn tests_only(&self, index: &Index<'_>, test: Id, member: &str) -> bool {
        index.kind(test) == kinds().comparison_operator
            && self.tested(index, test).is_some_and(|m| m.len() == 1 && m[0] == member)
    }

    /// The enum's name, when the file that defines it was not given.
    pub(crate) fn defined_elsewhere(&self) -> Option<&str> {
        match &self.kind {
            ModeKind::Enum(class) if self.elsewhere => Some(class),
            _ => None,
        }
    }

    /// Where a file first names a member of the target.
    pub(crate) fn first_mention(&self, view: &FileView<'_>, class: &str) -> Option<std::ops::Range<usize>> {
        let ending = format!("{class}.{}", self.target);
        let index = &view.index;
        index
            .of_kind(kinds().attribute)
            .iter()
            .map(|a| index.range(*a))
            .find(|r| index.text[r.clone()].ends_with(&ending))
    }

    /// Code for the target's branch: a test for the vendor's mode in it asks for the target's.
    pub(crate) fn retargeted(&self, text: &str) -> String {
        let ModeKind::Enum(class) = &self.kind else { return text.to_owned() };
        let start = format!("{class}.");
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(&start) {
            let (before, tail) = rest.split_at(at + start.len());
            let end = tail.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(tail.len());
            out.push_str(before);
            out.push_str(if is_vendor(&tail[..end]) { &self.target } else { &tail[..end] });
            rest = &tail[end..];
        }
        out.push_str(rest);
        out
    }

    /// Last names of the compared expressions: `compute_mode`.
    pub(crate) fn field_names(&self) -> Vec<&str> {
        self.expressions.keys().map(|e| e.rsplit('.').next().unwrap_or(e)).collect()
    }

    /// Whether a test is `mode != TARGET`.
    pub(crate) fn excludes_target(&self, index: &Index<'_>, test: Id) -> bool {
        let parts: Vec<Id> = index.parts(test).collect();
        let [a, b] = parts.as_slice() else { return false };
        index.kind(test) == kinds().comparison_operator
            && index.text[index.item(*a).end..index.item(*b).start].trim() == "!="
            && self.expressions.contains_key(index.text_of(*a))
            && self.member(index, *b).is_some_and(|m| m == self.target)
    }

    /// A test with the vendor's mode replaced by the target's, when it asks for the vendor's mode alone.
    pub(crate) fn retarget(&self, index: &Index<'_>, test: Id) -> Option<String> {
        let members = self.tested(index, test)?;
        if !members.iter().all(|m| is_vendor(m)) {
            return None;
        }
        let k = kinds();
        let range = index.range(test);
        let mut out = String::new();
        let mut done = range.start;
        let candidates: Vec<Id> = match &self.kind {
            ModeKind::Enum(_) => index.of_kind_in(k.attribute, test).to_vec(),
            ModeKind::Strings => index.of_kind_in(k.string, test).to_vec(),
        };
        for id in candidates {
            let Some(member) = self.member(index, id).filter(|m| is_vendor(m)) else { continue };
            let item = index.item(id);
            if item.start < done {
                continue;
            }
            let at = item.start + index.text_of(id).rfind(&member)?;
            out.push_str(&index.text[done..at]);
            out.push_str(&self.target);
            done = at + member.len();
        }
        out.push_str(&index.text[done..range.end]);
        Some(out)
    }

    /// Whose code a node is.
    pub(crate) fn region(&self, index: &Index<'_>, id: Id) -> Region {
        let (k, f) = (kinds(), fields());
        let mut vendor = None;
        let mut child = id;
        for ancestor in index.ancestors(id) {
            let kind = index.kind(ancestor);
            let tested = if kind == k.if_statement || kind == k.elif_clause {
                let in_body = index.field(ancestor, f.consequence).is_some_and(|c| index.is_within(id, c));
                in_body.then(|| index.field(ancestor, f.condition)).flatten().map(|t| (t, ancestor))
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
                    if kind == k.conditional_expression {
                        return Region::Unclear;
                    }
                    let chain = if kind == k.elif_clause { index.parent(clause).unwrap_or(clause) } else { clause };
                    vendor = Some(Region::Vendor { clause, chain });
                }
            }
            if kind == k.if_statement
                && index.field(ancestor, f.consequence).is_some_and(|c| index.is_within(id, c))
                && index.field(ancestor, f.condition).is_some_and(|c| self.excludes_target(index, c))
            {
                return Region::Foreign;
            }
            if self.is_unclear(index, ancestor, child) {
                return Region::Unclear;
            }
            // An `elif` or `else` behind the target's own branch is not the target's.
            if kind == k.if_statement
                && !index.field(ancestor, f.consequence).is_some_and(|c| index.is_within(id, c))
                && !index.field(ancestor, f.condition).is_some_and(|c| index.is_within(id, c))
            {
                let earlier = std::iter::once(ancestor)
                    .chain(
                        index
                            .children(ancestor)
                            .filter(|c| index.kind(*c) == k.elif_clause && index.item(*c).next <= id),
                    )
                    .filter_map(|c| index.field(c, f.condition));
                if earlier.into_iter().any(|t| self.tests_only(index, t, &self.target)) {
                    return Region::Foreign;
                }
            }
            child = ancestor;
        }
        vendor.unwrap_or(Region::Open)
    }

    /// Whether a node's place in its parent depends on the mode in a way that is not followed.
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
        let (k, f) = (kinds(), fields());
        if index.kind(statement) == k.assert_statement {
            return index.parts(statement).next().is_some_and(|t| self.mentions_vendor_alone(index, t));
        }
        let leaves = index.kind(statement) == k.if_statement
            && index.field(statement, f.alternative).is_none()
            && index.field(statement, f.consequence).and_then(|c| index.parts(c).last()).is_some_and(|last| {
                [k.return_statement, k.raise_statement, k.continue_statement, k.break_statement]
                    .contains(&index.kind(last))
            });
        leaves && index.field(statement, f.condition).is_some_and(|t| self.denies_vendor(index, t))
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

    /// Whether a chain already has a branch of its own for the target.
    pub(crate) fn has_target_branch(&self, index: &Index<'_>, chain: Id) -> bool {
        let (k, f) = (kinds(), fields());
        std::iter::once(chain)
            .chain(index.children(chain).filter(|c| index.kind(*c) == k.elif_clause))
            .filter_map(|c| index.field(c, f.condition))
            .any(|t| self.tested(index, t).is_some_and(|m| m.contains(&self.target)))
    }

    /// The mode expression that can be read at a node.
    pub(crate) fn expression_at(&self, view: &FileView<'_>, project: &ProjectFacts, id: Id) -> Option<String> {
        let function = view.function_of(id);
        let class = view.class_of(id).map(|c| view.name_of(c));
        let mut best: Option<(usize, &str)> = None;
        for (text, uses) in self.expressions.iter() {
            let head = text.split(['.', '[', '(']).next().unwrap_or(text);
            let reachable = if head == "self" {
                let method = function.is_some_and(|f| takes_self(view, f));
                method && class.is_some_and(|c| uses.iter().any(|u| project.related(&u.class, c)))
            } else {
                let bound = view
                    .index
                    .ancestors(id)
                    .filter(|a| view.index.kind(*a) == kinds().function_definition)
                    .enumerate()
                    // In the function itself the name is there from its assignment on; one around it has run by then.
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
    pub(crate) fn guard_at(&self, view: &FileView<'_>, project: &ProjectFacts, id: Id) -> Option<String> {
        let expression = self.expression_at(view, project, id)?;
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
            ModeKind::Strings => format!("{q}{}{q}", self.target, q = view.layout.quote),
        };
        Some(format!("{expression} == {member}"))
    }
}

fn plain_expression(index: &Index<'_>, id: Id) -> bool {
    let k = kinds();
    [k.identifier, k.attribute, k.subscript].contains(&index.kind(id))
}

fn takes_self(view: &FileView<'_>, function: Id) -> bool {
    view.index
        .field(function, fields().parameters)
        .and_then(|p| view.index.parts(p).next())
        .is_some_and(|p| view.index.text_of(p) == "self")
}
