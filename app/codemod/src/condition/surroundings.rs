//! The context of a match, and the other contents of its file.

use super::constant::{assigned, constant};
use super::{Situation, cuda_devices};
use crate::matching::Match;
use python::pattern::{Captures, NodePattern};
use python::strings::plain_string;
use python::syntax::Argument;
use python::tables::table_values;
use python::tree::{Id, fields, kinds};
use rustc_hash::FxHashMap;
use sorting::SortedSet;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::rc::Rc;
use training::modes::{Modes, Region};
use training::step::loop_around;
use training::turn::Turn;
use training::words::WORDS_BESIDE_RANKS_OF_MATRICES;
use training::{FileInProject, FileView};

/// Nodes that were searched for in a file: by the pattern and the texts of its captures.
pub(crate) type Searches = RefCell<FxHashMap<(usize, Vec<Option<String>>), Rc<[Id]>>>;

/// Whether some node of the file matches, with what is captured already.
pub(super) fn contains<'t>(s: &Situation<'_, 't>, pattern: &NodePattern, captures: &Captures<'t>) -> bool {
    !matching(s, pattern, captures).is_empty()
}

/// Whether a node on one side of a match, in the same function, matches a pattern with what is captured already.
pub(super) fn beyond<'t>(s: &Situation<'_, 't>, found: &Match<'t>, pattern: &NodePattern, side: Ordering) -> bool {
    let function = s.view.function_of(found.node);
    let all = matching(s, pattern, &found.env);
    let mut inside = function.map_or(&all[..], |function| s.view.index.within(&all, function)).iter();
    inside.any(|n| n.cmp(&found.node) == side && s.view.function_of(*n) == function)
}

/// Whether a node before a match, in the innermost loop around it or without one in its function, matches a pattern.
pub(super) fn earlier_in_loop<'t>(s: &Situation<'_, 't>, found: &Match<'t>, pattern: &NodePattern) -> bool {
    let around = loop_around(s.view, found.node);
    let is_here = |n: Id| n < found.node && s.view.function_of(n) == s.view.function_of(found.node);
    matching(s, pattern, &found.env)
        .iter()
        .any(|n| is_here(*n) && around.is_none_or(|around| s.view.index.is_within(*n, around)))
}

/// The nodes of the file that match with what is captured already, in the order of the text.
fn matching<'t>(s: &Situation<'_, 't>, pattern: &NodePattern, captures: &Captures<'t>) -> Rc<[Id]> {
    let (view, index) = (s.view, &s.view.index);
    let text =
        |name: &str| captures.range(name).or_else(|| captures.range_of_many(name)).map(|r| index.text[r].to_owned());
    let key = (std::ptr::from_ref(pattern) as usize, pattern.variables().map(text).collect());
    if let Some(known) = s.searches.borrow().get(&key) {
        return Rc::clone(known);
    }
    let mut nodes = possible(view, pattern, captures);
    nodes.retain(|n| pattern.matches(index, &view.names, *n, &mut captures.clone()));
    if s.project.modes.as_ref().is_some_and(|modes| modes.switch().is_some()) {
        // The other arm has the program for the devices that it had.
        let file = FileInProject { view, project: s.project };
        nodes.retain(|n| file.is_reached(*n));
    }
    let nodes: Rc<[Id]> = nodes.into();
    s.searches.borrow_mut().insert(key, Rc::clone(&nodes));
    nodes
}

/// The nodes that a pattern could match with what is captured already: those around the name that has to be in them and is
/// the rarest of the file.
fn possible(view: &FileView<'_>, pattern: &NodePattern, captures: &Captures<'_>) -> Vec<Id> {
    let index = &view.index;
    let Some(kind) = pattern.kind.filter(|_| pattern.words.iter().all(|w| view.has_word(w))) else { return Vec::new() };
    let captured = pattern.variables().filter_map(|variable| captures.node(index, variable));
    let captured = captured.flat_map(|node| index.of_kind_in(kinds().identifier, node));
    let captured = captured.map(|id| view.identifiers(index.text_of(*id)).to_vec());
    let places = |names: Vec<&str>| names.into_iter().flat_map(|name| view.identifiers(name)).copied().collect();
    let named = pattern.required_names(&view.names).into_iter().map(places);
    let Some(places) = captured.chain(named).min_by_key(Vec::len) else { return index.of_kind(kind).to_vec() };
    // Nodes around an earlier place are known, with all that are around them.
    let mut around = SortedSet::new();
    for place in places {
        let _ = std::iter::once(place).chain(index.ancestors(place)).find(|id| !around.insert(*id));
    }
    around.into_iter().filter(|id| index.kind(*id) == kind).collect()
}

/// Whether an `if`, a `while` or an `assert` tests an expression: by itself, compared, negated, converted to a number,
/// or combined with others.
pub(super) fn is_tested(view: &FileView<'_>, id: Id) -> bool {
    let (index, k) = (&view.index, kinds());
    let joins =
        [k.not_operator, k.boolean_operator, k.comparison_operator, k.parenthesized_expression, k.argument_list];
    let converts =
        |call: Id| matches!(python::names::called_name(index, call), Some("bool" | "int" | "float" | "item"));
    let mut below = id;
    for at in index.ancestors(id) {
        let kind = index.kind(at);
        let is_part = joins.contains(&kind) || kind == k.attribute || (kind == k.call && converts(at));
        if !is_part {
            let tests = [k.if_statement, k.elif_clause, k.while_statement, k.conditional_expression].contains(&kind);
            return kind == k.assert_statement || (tests && index.condition(at) == Some(below));
        }
        below = at;
    }
    false
}

/// Whether an `if` without an `else` tests an expression and leads to nothing but what matches a pattern, and to calls
/// such as `print`.
pub(super) fn guards(view: &FileView<'_>, id: Id, pattern: &NodePattern) -> bool {
    let index = &view.index;
    let test = index.ancestors(id).find(|a| index.condition(*a).is_some_and(|test| index.is_within(id, test)));
    let Some((body, kind)) =
        test.filter(|test| index.is_plain_if(*test)).and_then(|test| index.consequence(test)).zip(pattern.kind)
    else {
        return false;
    };
    let matches = |part: &Id| pattern.matches(index, &view.names, *part, &mut Captures::new());
    let has_match = |statement: Id| index.of_kind_in(kind, statement).iter().any(matches);
    let is_call = |statement: Id| index.parts(statement).next().is_some_and(|part| index.kind(part) == kinds().call);
    index.parts(body).any(has_match) && index.parts(body).all(|statement| has_match(statement) || is_call(statement))
}

/// Whether an import may fail: its `except` imports or assigns something instead.
pub(crate) fn has_fallback(view: &FileView<'_>, id: Id) -> bool {
    let (index, k) = (&view.index, kinds());
    let imports = [k.import_statement, k.import_from_statement];
    let has_fallback = |id: Id| {
        let Some(tried) = index.ancestors(id).find(|a| index.kind(*a) == k.try_statement) else { return false };
        let mut handlers =
            index.children(tried).filter(|c| index.kind(*c) == k.except_clause && !index.is_within(id, *c));
        let mut binds = imports.into_iter().chain([k.assignment]);
        handlers.any(|handler| binds.any(|kind| !index.of_kind_in(kind, handler).is_empty()))
    };
    // A call has the fallback of what it calls.
    let called = index.callee(id).and_then(|callee| index.of_kind_in(k.identifier, callee).first().copied());
    let is_import = |import: &&Id| called.is_some_and(|c| index.mentions(**import, |name| index.is_text(c, name)));
    has_fallback(id)
        || imports.iter().any(|kind| index.of_kind(*kind).iter().filter(is_import).any(|import| has_fallback(*import)))
}

/// Whether one of these names, or a name with it as a word, is in a test that decides whether the code runs, in this function or where
/// all its callers are, or in the code itself.
pub(super) fn is_decided_by(view: &FileView<'_>, id: Id, names: &[String]) -> bool {
    if is_decided_here(view, id, names) {
        return true;
    }
    // Functions may call one another in a circle, so each is followed once.
    let (mut functions, mut next, mut is_decided) = (Vec::from_iter(view.function_of(id)), 0, false);
    while let Some(&function) = functions.get(next) {
        next += 1;
        let mut is_called = false;
        for call in view.callers(function).filter(|call| view.function_of(*call) != Some(function)) {
            is_called = true;
            if is_decided_here(view, call, names) {
                is_decided = true;
                continue;
            }
            let Some(caller) = view.function_of(call) else { return false };
            if !functions.contains(&caller) {
                functions.push(caller);
            }
        }
        if !is_called {
            return false;
        }
    }
    is_decided
}

/// The same within the function.
fn is_decided_here(view: &FileView<'_>, id: Id, names: &[String]) -> bool {
    let (index, k) = (&view.index, kinds());
    let of_matrix = |name: &str| name.split('_').any(|word| WORDS_BESIDE_RANKS_OF_MATRICES.contains(&word));
    let is_one =
        |name: &str| names.iter().any(|n| n == name || name.split('_').any(|word| word == n) && !of_matrix(name));
    let mentions = |part: Id| index.mentions(part, is_one);
    let tests = [k.if_statement, k.elif_clause, k.conditional_expression];
    let tested = |at: Id| tests.contains(&index.kind(at)) && view.index.condition(at).is_some_and(mentions);
    let leaves = |at: Id| {
        let ends = [k.return_statement, k.continue_statement];
        tested(at) && ends.iter().any(|kind| !index.of_kind_in(*kind, at).is_empty())
    };
    let mut inside = index.ancestors(id).take_while(|a| index.kind(*a) != k.function_definition);
    mentions(id)
        || inside.any(|at| {
            tested(at)
                || index.parent(at).is_some_and(|b| {
                    [k.block, k.module].contains(&index.kind(b)) && index.parts(b).take_while(|s| *s < at).any(leaves)
                })
        })
}

/// Whether the file has a training step or selects a device: then it needs the target's runtime.
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
    let k = kinds();
    let index = &s.view.index;
    let modes = s.project.modes.as_ref().filter(|_| s.branch);
    let text = index.text_of(id);
    let same = |other: &Id| {
        let assigned = |p: Id| index.kind(p) == k.assignment && index.target(p) == Some(*other);
        let imported = |p: Id| index.kind(p) == k.dotted_name;
        // Code that only other modes run is not run by the target.
        let elsewhere = |m: &Modes| matches!(m.region(index, *other), Region::Foreign | Region::Vendor { .. });
        index.text_of(*other) == text
            && !index.is_label(*other)
            && index.parent(*other).is_none_or(|p| !assigned(p) && !imported(p))
            && modes.is_none_or(|m| !elsewhere(m))
    };
    let kind = index.kind(id);
    let others = if kind == k.identifier { s.view.identifiers(text) } else { index.of_kind(kind) };
    !others.iter().any(|o| *o != id && same(o))
}

/// Whether of what a name has only attributes with these names are read, wherever the file has the name.
pub(super) fn only_read(view: &FileView<'_>, id: Id, parts: &[String]) -> bool {
    let (index, k) = (&view.index, kinds());
    let is_part =
        |of: Id| index.attribute(of).and_then(|a| a.name()).is_some_and(|name| parts.iter().any(|p| p == name));
    let is_read = |of: Id| index.parent(of).is_some_and(|parent| index.kind(parent) == k.attribute && is_part(parent));
    index.kind(id) == k.identifier
        && view
            .identifiers(index.text_of(id))
            .iter()
            .all(|of| index.is_stored(*of) || index.is_label(*of) || is_read(*of))
}

/// Whether a value is a key in a dictionary, or that of an entry that is assigned, or in which something is.
pub(super) fn is_key(view: &FileView<'_>, id: Id) -> bool {
    let (index, k) = (&view.index, kinds());
    let Some(parent) = index.parent(id) else { return false };
    let is_first = index.parts(parent).next() == Some(id);
    let kind = index.kind(parent);
    let is_entry = |of: &Id| index.kind(*of) == k.subscript;
    let holds = |of: Id| std::iter::successors(Some(of), |of| index.parent(*of).filter(is_entry)).last();
    kind == k.pair && is_first
        || kind == k.subscript && !is_first && holds(parent).is_some_and(|of| index.is_stored(of))
        || kind == k.argument_list
            && is_first
            && index.parent(parent).is_some_and(|call| python::names::called_name(index, call) == Some("setdefault"))
}

/// The call at a match, or of the function that matches; for a statement rule this is the call in the statement.
pub(super) fn call_of(view: &FileView<'_>, node: Id) -> Option<Id> {
    let (index, k) = (&view.index, kinds());
    let is_called = |call: &Id| index.kind(*call) == k.call && index.callee(*call) == Some(node);
    if index.kind(node) == k.call {
        return Some(node);
    }
    index.parent(node).filter(is_called).or_else(|| index.of_kind_in(k.call, node).first().copied())
}

/// Whether the call at a node has a keyword argument, or `keyword=value`; `**` is the keyword of an unpacked
/// dictionary. The contents of a dictionary count as far as the file defines it literally.
pub(super) fn has_keyword(s: &Situation<'_, '_>, node: Id, name: &str) -> bool {
    let k = kinds();
    let view = s.view;
    let index = &view.index;
    let Some(call) = call_of(view, node) else { return false };
    let (name, wanted) = name.split_once('=').map_or((name, None), |(n, v)| (n, Some(v)));
    let is =
        |value: Id, w: &str| index.text_of(value) == w || constant(view, value).is_some_and(|v| index.text_of(v) == w);
    let holds = |value: Option<Id>| wanted.is_none_or(|w| value.is_some_and(|v| is(v, w)));
    if given_by_place(s, call, name).is_some_and(|value| holds(Some(value))) {
        return true;
    }
    index.arguments(call).iter().any(|argument| match argument {
        // `**{"num_workers": 2}` can be read.
        Argument::UnpackedTable(table) if index.parts(table).all(|d| index.kind(d) == k.dictionary) => {
            let entries = index.parts(table).flat_map(|table| index.parts(table)).filter(|e| index.kind(*e) == k.pair);
            let mut named =
                entries.filter(|e| index.parts(*e).next().and_then(|key| plain_string(index, key)) == Some(name));
            named.any(|entry| holds(index.value(entry)))
        }
        Argument::UnpackedTable(_) if name == "**" => true,
        Argument::UnpackedTable(table) => {
            let table = index.text_of(table).trim_start_matches('*').trim();
            table_values(view, node, table, name).into_iter().any(|value| holds(Some(value)))
        }
        Argument::Keyword { name: given, value } => given == name && holds(Some(value)),
        Argument::Positional(_) | Argument::Unpacked(_) => false,
    })
}

/// Whether an argument of the call at a match, or the value of the name that is passed, matches a pattern with what is captured already.
pub(super) fn has_argument<'t>(s: &Situation<'_, 't>, found: &Match<'t>, name: &str, pattern: &NodePattern) -> bool {
    let view = s.view;
    let index = &view.index;
    let node = found.node;
    let Some(call) = call_of(view, node) else { return false };
    let given = given_by_place(s, call, name).or_else(|| index.arguments(call).keyword(name));
    let matches = |value: Id| pattern.matches(index, &view.names, value, &mut found.env.clone());
    given.is_some_and(|value| matches(value) || assigned(view, value).is_some_and(matches))
}

/// The argument of a call in the position of a parameter of this name, as far as a guide defines the function's
/// signature.
pub(super) fn given_by_place(s: &Situation<'_, '_>, call: Id, name: &str) -> Option<Id> {
    let index = &s.view.index;
    let function = index.callee(call)?;
    let place = s.settings.definitions.signatures().find_map(|(qualified, parameters)| {
        let place = parameters.iter().position(|parameter| parameter == name)?;
        s.view.names.stands_for(index, function, qualified).then_some(place)
    })?;
    index.arguments(call).positional().nth(place)
}

pub(crate) fn inside_with(view: &FileView<'_>, node: Id, pattern: &NodePattern) -> bool {
    let k = kinds();
    let index = &view.index;
    index.ancestors(node).filter(|a| index.kind(*a) == k.with_statement).any(|with| {
        let body = index.body(with);
        index.of_kind_in(k.with_item, with).iter().any(|item| {
            body.is_none_or(|b| !index.is_within(*item, b))
                && index.children(*item).any(|value| pattern.matches(index, &view.names, value, &mut Captures::new()))
        })
    })
}

/// Whether the innermost loop around a node goes through what matches a pattern.
pub(super) fn inside_for(view: &FileView<'_>, node: Id, pattern: &NodePattern) -> bool {
    let index = &view.index;
    let around = index.ancestors(node).find(|a| index.is_loop(*a)).and_then(|around| index.source(around));
    around.is_some_and(|source| pattern.matches(index, &view.names, source, &mut Captures::new()))
}

/// Whether a number is the first argument of a call, and that of another call of the function in the class is another.
pub(super) fn differs(view: &FileView<'_>, call: Id, number: Id) -> bool {
    let index = &view.index;
    let value = |call: Id| {
        let first = index.arguments(call).ids().next()?;
        index.text_of(index.field(first, fields().value).unwrap_or(first)).parse::<f64>().ok()
    };
    let own = index.text_of(number).parse::<f64>().ok();
    let (name, class) = (python::names::called_name(index, call), view.class_of(call));
    let calls = name.into_iter().flat_map(|name| view.calls(name)).filter(|other| view.class_of(**other) == class);
    own.is_some() && own == value(call) && calls.into_iter().any(|other| value(*other).is_some_and(|v| Some(v) != own))
}

/// Whether one of the next statements, or the body of an `if` among them, matches.
pub(super) fn followed_by(view: &FileView<'_>, found: &Match<'_>, pattern: &NodePattern) -> bool {
    let k = kinds();
    let index = &view.index;
    let Some(mut statement) = view.statement_of(found.node) else { return false };
    loop {
        let Some(block) = index.parent(statement) else { return false };
        let next = index.parts_from(statement).filter(|s| *s > statement).take(3);
        for sibling in next {
            let inner = index.of_kind_in(pattern.kind.unwrap_or(k.call), sibling);
            if inner.iter().any(|n| pattern.matches(index, &view.names, *n, &mut Captures::new())) {
                return true;
            }
        }
        // After the end of an `if` or a `with` the search continues with the statements after it.
        let at_end = index.parts_from(statement).nth(1).is_none();
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

/// Whether the model of a training step returns its loss first.
pub(super) fn gives_loss_first(s: &Situation<'_, '_>) -> bool {
    let file = FileInProject { view: s.view, project: s.project };
    s.view.steps.training.iter().any(|whole| Turn::read(file, *whole).is_ok_and(|turn| turn.gives_loss_first()))
}
