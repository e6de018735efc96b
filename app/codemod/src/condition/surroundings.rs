//! What stands around a match, and what else its file holds.

use super::{Situation, cuda_devices};
use crate::facts::FileView;
use crate::facts::modes::Region;
use crate::matching::Match;
use crate::names::called_name;
use crate::pattern::{Env, NodePattern, plain_string};
use crate::tree::{Id, fields, kinds};

/// Whether some node of the file matches.
pub(super) fn contains(view: &FileView<'_>, pattern: &NodePattern) -> bool {
    let index = &view.index;
    pattern.words.iter().all(|w| view.has_word(w))
        && pattern.kind.is_some_and(|kind| {
            index.of_kind(kind).iter().any(|n| pattern.matches(index, &view.names, *n, &mut Env::new()))
        })
}

pub(super) fn assigns(view: &FileView<'_>, name: &str) -> bool {
    let f = fields();
    view.index
        .of_kind(kinds().assignment)
        .iter()
        .any(|a| view.index.field(*a, f.left).is_some_and(|l| view.index.text_of(l) == name))
}

/// Whether the file has a training step or chooses a device: then it needs the target's runtime.
pub(super) fn trains(s: &Situation<'_, '_>) -> bool {
    let view = s.view;
    !view.steps.training.is_empty()
        || !view.calls("cuda").is_empty()
        || !cuda_devices(view).is_empty()
        || (!s.settings.autoload && view.has_word("cuda") && uses_torch_cuda(view))
}

fn uses_torch_cuda(view: &FileView<'_>) -> bool {
    view.index
        .of_kind(kinds().attribute)
        .iter()
        .any(|a| view.names.qualify(&view.index, *a).is_some_and(|q| q == "torch.cuda" || q.starts_with("torch.cuda.")))
}

/// Whether a name that is assigned here is read nowhere in the file.
pub(super) fn unused(s: &Situation<'_, '_>, id: Id) -> bool {
    let (k, f) = (kinds(), fields());
    let index = &s.view.index;
    let modes = s.project.modes.as_ref().filter(|_| s.branch);
    let text = index.text_of(id);
    let same = |other: &Id| {
        index.text_of(*other) == text
            && !index
                .parent(*other)
                .is_some_and(|p| index.kind(p) == k.assignment && index.field(p, f.left) == Some(*other))
            && !index.parent(*other).is_some_and(|p| {
                let kind = index.kind(p);
                (kind == k.attribute && index.field(p, f.attribute) == Some(*other))
                    || (kind == k.keyword_argument && index.field(p, f.name) == Some(*other))
                    || kind == k.dotted_name
            })
            // What only other modes read is not read by the target.
            && !modes.is_some_and(|m| matches!(m.region(index, *other), Region::Foreign | Region::Vendor { .. }))
    };
    let kind = index.kind(id);
    let others = if kind == k.identifier { s.view.identifiers(text) } else { index.of_kind(kind) };
    !others.iter().any(|o| *o != id && same(o))
}

/// Whether the call at a node is given a keyword, or `keyword=value`; `**` is the keyword of a table of them. What a table
/// holds counts as far as the file writes it down.
pub(super) fn has_keyword(view: &FileView<'_>, node: Id, name: &str) -> bool {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    // A statement rule means the call that the statement makes.
    let call = if index.kind(node) == k.call { Some(node) } else { index.of_kind_in(k.call, node).first().copied() };
    let Some(arguments) = call.and_then(|c| index.field(c, f.arguments)) else { return false };
    let (name, wanted) = name.split_once('=').map_or((name, None), |(n, v)| (n, Some(v)));
    let holds = |value: Option<Id>| wanted.is_none_or(|w| value.is_some_and(|v| index.text_of(v) == w));
    index.parts(arguments).any(|argument| match index.text_of(argument).strip_prefix("**") {
        Some(_) if name == "**" => true,
        Some(table) => table_values(view, node, table.trim(), name).into_iter().any(|value| holds(Some(value))),
        None => {
            index.kind(argument) == k.keyword_argument
                && index.field(argument, f.name).is_some_and(|n| index.text_of(n) == name)
                && holds(index.field(argument, f.value))
        }
    })
}

/// Values under a key of a table as it may stand at a node: `table = {"key": …}`, `table = dict(key=…)`, `table["key"] = …`,
/// `table.update(key=…)` above it, in its function or outside of all.
pub(crate) fn table_values(view: &FileView<'_>, at: Id, table: &str, key: &str) -> Vec<Id> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let is_key = |id: Id| plain_string(index.text, index.item(id).node) == Some(key);
    let here = view.function_of(at);
    let counts = |id: Id| {
        let there = view.function_of(id);
        // `self.options` is the same table in every method.
        table.contains('.') || (there == here && id < at) || (there.is_none() && here.is_some())
    };
    let mut values = Vec::new();
    let mut written: Vec<Id> = Vec::new();
    for assignment in index.of_kind(k.assignment).iter().filter(|id| counts(**id)) {
        let (Some(left), Some(right)) = (index.field(*assignment, f.left), index.field(*assignment, f.right)) else {
            continue;
        };
        if index.text_of(left) == table {
            written.push(right);
        } else if index.kind(left) == k.subscript
            && index.field(left, f.value).is_some_and(|v| index.text_of(v) == table)
            && index.field(left, f.subscript).is_some_and(is_key)
        {
            values.push(right);
        }
    }
    let updates = view.calls("update").iter().filter(|call| counts(**call)).filter(|call| {
        let function = index.field(**call, f.function);
        function.and_then(|g| index.field(g, f.object)).is_some_and(|o| index.text_of(o) == table)
    });
    written.extend(updates);
    for source in written {
        let arguments = index
            .field(source, f.arguments)
            .filter(|_| index.kind(source) == k.call && matches!(called_name(index, source), Some("dict" | "update")));
        let arguments: Vec<Id> = arguments.map(|list| index.parts(list).collect()).unwrap_or_default();
        let named = arguments.iter().copied().filter(|a| index.kind(*a) == k.keyword_argument);
        values.extend(
            named
                .filter(|a| index.field(*a, f.name).is_some_and(|n| index.text_of(n) == key))
                .filter_map(|a| index.field(a, f.value)),
        );
        let tables = arguments.iter().copied().chain([source]).filter(|id| index.kind(*id) == k.dictionary);
        let pairs = tables.flat_map(|d| index.parts(d).collect::<Vec<_>>()).filter(|p| index.kind(*p) == k.pair);
        values.extend(
            pairs.filter(|p| index.field(*p, f.key).is_some_and(is_key)).filter_map(|p| index.field(p, f.value)),
        );
    }
    values
}

pub(crate) fn inside_with(view: &FileView<'_>, node: Id, pattern: &NodePattern) -> bool {
    let k = kinds();
    let index = &view.index;
    index.ancestors(node).filter(|a| index.kind(*a) == k.with_statement).any(|with| {
        let body = index.field(with, fields().body);
        index.of_kind_in(k.with_item, with).iter().any(|item| {
            body.is_none_or(|b| !index.is_within(*item, b))
                && index.children(*item).any(|value| pattern.matches(index, &view.names, value, &mut Env::new()))
        })
    })
}

/// Whether one of the next statements, or the body of an `if` among them, matches.
pub(super) fn followed_by(view: &FileView<'_>, found: &Match<'_>, pattern: &NodePattern) -> bool {
    let k = kinds();
    let index = &view.index;
    let Some(mut statement) = view.statement_of(found.node) else { return false };
    loop {
        let Some(block) = index.parent(statement) else { return false };
        let next = index.parts(block).filter(|s| *s > statement).take(3);
        for sibling in next {
            let inner = index.of_kind_in(pattern.kind.unwrap_or(k.call), sibling);
            if inner.iter().any(|n| pattern.matches(index, &view.names, *n, &mut Env::new())) {
                return true;
            }
        }
        // The end of an `if` or a `with` goes on behind it.
        let at_end = index.parts(block).last() == Some(statement);
        let Some(owner) = index.parent(block).filter(|_| at_end) else { return false };
        let owner = if [k.else_clause, k.elif_clause].contains(&index.kind(owner)) {
            index.parent(owner).unwrap_or(owner)
        } else {
            owner
        };
        if ![k.if_statement, k.with_statement].contains(&index.kind(owner)) {
            return false;
        }
        statement = owner;
    }
}
