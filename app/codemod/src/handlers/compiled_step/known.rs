//! Where the number of accumulated batches is known before a loader has read the options.

use crate::facts::FileView;
use crate::names::dotted;
use crate::tree::{Id, ROOT, fields, kinds};

/// The place where the options are told.
#[derive(Clone, Copy)]
pub(super) enum Known {
    /// A literal: where the options are made.
    FromStart,
    After(Id),
    Before(Id),
}

/// The number as it is written at `count` in the step, and as it is written where the options can be told.
pub(super) fn number(view: &FileView<'_>, step: Id, count: &str, header: Id) -> Option<(String, Known)> {
    let value = default_of(view, step, count).unwrap_or(count);
    if value.chars().all(|c| c.is_ascii_digit()) {
        return Some((value.to_owned(), Known::FromStart));
    }
    match behind_assignment(view, value, step, header) {
        Some(statement) => Some((value.to_owned(), Known::After(statement))),
        None => before_loader(view, step, count),
    }
}

/// The number that a parameter of the step is by default, when every caller leaves it at that.
fn default_of<'t>(view: &FileView<'t>, step: Id, name: &str) -> Option<&'t str> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let (place, parameter) = parameter(view, step, name)?;
    let value = index.field(parameter, f.value)?;
    let left_out = |call: &Id| {
        let given: Vec<Id> = index.field(*call, f.arguments).map_or_else(Vec::new, |a| index.parts(a).collect());
        let by_name = given
            .iter()
            .any(|a| index.text_of(*a).starts_with(&format!("{name}=")) || index.text_of(*a).starts_with('*'));
        !by_name && given.iter().filter(|a| index.kind(**a) != k.keyword_argument).count() <= place
    };
    (index.kind(value) == k.integer && view.calls(view.name_of(step)).iter().all(left_out))
        .then(|| index.text_of(value))
}

/// The number that an expression is wherever it is read: a literal, or a name that the file gives one for good.
pub(super) fn literal(view: &FileView<'_>, expression: &str, at: Id) -> Option<u32> {
    let index = &view.index;
    if let Ok(number) = expression.parse() {
        return Some(number);
    }
    let rebound = index.ancestors(at).any(|a| {
        index.kind(a) == kinds().function_definition && view.binds(a, head_of(expression).unwrap_or(expression))
    });
    let only = only_assignment(view, expression, None).filter(|a| !rebound && view.function_of(*a).is_none())?;
    index.text_of(index.field(only, fields().right)?).parse().ok()
}

/// The one statement that assigns the number, before any loader is made.
fn behind_assignment(view: &FileView<'_>, count: &str, step: Id, header: Id) -> Option<Id> {
    let f = fields();
    let index = &view.index;
    let head = head_of(count)?;
    let loaders = view.calls("DataLoader");
    let only = only_assignment(view, head, None)?;
    index.field(only, f.right)?;
    let statement = view.statement_of(only)?;
    let scope = view.function_of(only);
    let early = loaders.iter().any(|l| view.function_of(*l) == scope && *l < only);
    let at_top = scope.is_none() && index.parent(statement) == Some(ROOT) && statement > header;
    // A loader that is made elsewhere may have frozen the options by then.
    let in_function = scope.is_some_and(|s| loaders.iter().all(|l| index.is_within(*l, s)));
    let before_step = !index.is_within(step, only) || only < step;
    (!early && before_step && (at_top || in_function)).then_some(statement)
}

/// In front of the first loader, when all are made in one place and the number can be read there.
fn before_loader(view: &FileView<'_>, step: Id, count: &str) -> Option<(String, Known)> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let loaders = view.calls("DataLoader");
    let first = *loaders.iter().min()?;
    let maker = view.function_of(first);
    // Options are told once: what is called again finds them frozen.
    let again = maker.is_some_and(|m| callers(view, m).len() > 1)
        || loaders.iter().any(|l| {
            view.function_of(*l) != maker
                || index
                    .ancestors(*l)
                    .take_while(|a| Some(*a) != maker)
                    .any(|a| [k.for_statement, k.while_statement].contains(&index.kind(a)))
        });
    if again {
        return None;
    }
    let block = maker.map_or(Some(ROOT), |m| index.field(m, f.body))?;
    let at = index.parts(block).find(|s| index.is_within(first, *s))?;
    let from = (index.kind(step) == k.function_definition).then_some(step);
    let text = Reader { view, maker, at }.readable(count, from, 3)?;
    Some((text, Known::Before(at)))
}

/// Where a number shall be read: a statement and the function around it.
struct Reader<'a, 't> {
    view: &'a FileView<'t>,
    maker: Option<Id>,
    at: Id,
}

impl Reader<'_, '_> {
    /// An expression of the function `from`, as it can be written at the reader's place with the same value.
    fn readable(&self, expression: &str, from: Option<Id>, depth: u8) -> Option<String> {
        let view = self.view;
        let index = &view.index;
        if depth == 0 {
            return None;
        }
        if expression.chars().all(|c| c.is_ascii_digit()) {
            return Some(expression.to_owned());
        }
        let head = head_of(expression)?;
        let tail = &expression[head.len()..];
        let start = index.item(self.at).start;
        if head.starts_with("self.") {
            let (class, here) = (view.class_of(from?)?, view.class_of(self.maker?)?);
            let only = only_assignment(view, head, Some(class)).filter(|_| class == here)?;
            let by = view.function_of(only);
            if by != self.maker {
                return by.is_some_and(|b| view.name_of(b) == "__init__").then(|| expression.to_owned());
            }
            if only < self.at {
                return Some(expression.to_owned());
            }
            let right = index.field(only, fields().right).filter(|r| is_plain(view, *r))?;
            return self.readable(&format!("{}{tail}", index.text_of(right)), by, depth - 1);
        }
        let at_top = |name: &str| view.binds_at_top(name, start, self.maker.is_some());
        let Some(function) = from else { return at_top(head).then(|| expression.to_owned()) };
        let assigned = only_assignment(view, head, Some(function));
        let taken = parameter(view, function, head);
        match (taken, assigned) {
            (None, None) => (!view.binds(function, head) && at_top(head)).then(|| expression.to_owned()),
            _ if from == self.maker => {
                let early = assigned.is_none_or(|a| {
                    view.statement_of(a).is_some_and(|s| s < self.at && index.parent(s) == index.parent(self.at))
                });
                (taken.is_some() != assigned.is_some() && early).then(|| expression.to_owned())
            }
            (Some((place, parameter)), None) => {
                let [call] = *callers(view, function).as_slice() else { return None };
                let given = argument(view, call, head, place)
                    .or_else(|| index.field(parameter, fields().value))
                    .filter(|g| is_plain(view, *g))?;
                self.readable(&format!("{}{tail}", index.text_of(given)), view.function_of(call), depth - 1)
            }
            _ => None,
        }
    }
}

/// `self.settings` of `self.settings.count`, `args` of `args.count`.
fn head_of(expression: &str) -> Option<&str> {
    let first = expression.split('.').next()?;
    match first {
        "self" => {
            let rest = expression.strip_prefix("self.")?;
            Some(&expression[.."self.".len() + rest.find('.').unwrap_or(rest.len())])
        }
        _ => Some(first),
    }
}

/// The only assignment to a name, in the whole file or within a node.
fn only_assignment(view: &FileView<'_>, name: &str, within: Option<Id>) -> Option<Id> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let mut all = index
        .of_kind(k.assignment)
        .iter()
        .chain(index.of_kind(k.augmented_assignment))
        .copied()
        .filter(|a| within.is_none_or(|w| index.is_within(*a, w)))
        .filter(|a| index.field(*a, f.left).is_some_and(|l| index.text_of(l) == name));
    all.next().filter(|a| all.next().is_none() && index.kind(*a) == k.assignment)
}

/// A parameter's place among what callers give, `self` left out, and its node.
fn parameter(view: &FileView<'_>, function: Id, name: &str) -> Option<(usize, Id)> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let list =
        (index.kind(function) == k.function_definition).then(|| index.field(function, f.parameters)).flatten()?;
    let named = |p: Id| if index.kind(p) == k.identifier { Some(p) } else { index.parts(p).next() };
    index
        .parts(list)
        .filter(|p| !matches!(index.text_of(*p), "self" | "cls"))
        .enumerate()
        .find(|(_, p)| named(*p).is_some_and(|n| index.text_of(n) == name))
}

/// Calls of a function by its name, or of a method by any object: `model.train()` is no call of a function `train`.
fn callers(view: &FileView<'_>, function: Id) -> Vec<Id> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let is_method = index
        .ancestors(function)
        .find(|a| [k.class_definition, k.function_definition].contains(&index.kind(*a)))
        .is_some_and(|a| index.kind(a) == k.class_definition);
    let of_kind = |c: &Id| index.field(*c, f.function).is_some_and(|g| (index.kind(g) == k.attribute) == is_method);
    view.calls(view.name_of(function)).iter().copied().filter(of_kind).collect()
}

/// What a call gives to a parameter.
fn argument(view: &FileView<'_>, call: Id, name: &str, place: usize) -> Option<Id> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let given: Vec<Id> = index.parts(index.field(call, f.arguments)?).collect();
    let by_name = given.iter().copied().find(|a| {
        index.kind(*a) == k.keyword_argument && index.field(*a, f.name).is_some_and(|n| index.text_of(n) == name)
    });
    if let Some(named) = by_name {
        return index.field(named, f.value);
    }
    given.get(place).copied().filter(|a| index.kind(*a) != k.keyword_argument)
}

/// A number, a name or names with dots.
fn is_plain(view: &FileView<'_>, id: Id) -> bool {
    view.index.kind(id) == kinds().integer || dotted(&view.index, id).is_some()
}
