//! Code that is run several times and makes loaders that both training and evaluation read: a function that is called for
//! each, or a comprehension or loop over the phases.

use crate::readers::{Readers, Use, made_by};
use crate::view::FileView;
use python::names::dotted;
use python::strings::plain_string;
use python::tree::{Id, ROOT, kinds};
use sorting::SortedMap;

/// The calls of such functions, by file and function.
#[derive(Debug, Default)]
pub struct SharedLoaders(SortedMap<String, Vec<Call>>);

#[derive(Debug)]
struct Call {
    only_evaluates: bool,
    /// Parameters and what they receive, as it is written.
    given: Vec<(String, String)>,
}

impl SharedLoaders {
    pub(crate) fn collect(views: &[&FileView<'_>], readers: &Readers) -> Self {
        let mut shared = SortedMap::new();
        for view in views {
            for function in view.calls("DataLoader").iter().filter_map(|call| made_by(view, *call)) {
                let callers = views.iter().flat_map(|other| callers(view, function, other));
                let calls: Vec<Call> =
                    callers.map(|(other, call)| read(view, function, other, call, readers)).collect();
                if [true, false].iter().all(|only| calls.iter().any(|call| call.only_evaluates == *only)) {
                    shared.insert(key(view, function), calls);
                }
            }
        }
        Self(shared)
    }

    fn calls(&self, view: &FileView<'_>, id: Id) -> Option<&[Call]> {
        self.0.get(&key(view, view.function_of(id)?)).map(Vec::as_slice)
    }

    /// Whether the loader that a call creates is the result of such code.
    pub fn makes(&self, readers: &Readers, view: &FileView<'_>, call: Id) -> bool {
        made_by(view, call).is_some() && self.calls(view, call).is_some()
            || Collection::around(view, call)
                .is_some_and(|loaders| loaders.value == call && loaders.is_of_both(readers))
    }

    /// Whether an expression in such code is true for training, and only then: a parameter, or a name that is compared
    /// with a string.
    pub fn is_true_for_training(&self, readers: &Readers, view: &FileView<'_>, id: Id) -> bool {
        let index = &view.index;
        if index.kind(id) == kinds().parenthesized_expression {
            return index.parts(id).next().is_some_and(|inner| self.is_true_for_training(readers, view, inner));
        }
        let parts: Vec<Id> = index.parts(id).collect();
        let compares = index.kind(id) == kinds().comparison_operator && index.text_of(id).contains("==");
        let (name, wanted) = match parts.as_slice() {
            [name, value] if compares => (*name, plain_string(index, *value)),
            _ => (id, None),
        };
        if let (Some(wanted), Some(loaders)) = (&wanted, Collection::around(view, id)) {
            return loaders.keys.contains(&index.text_of(name)) && loaders.trains_alone(readers, wanted);
        }
        let holds = |call: &Call| {
            let given = &call.given.iter().find(|(parameter, _)| parameter == index.text_of(name))?.1;
            match (wanted, given.as_str()) {
                (Some(wanted), given) => {
                    let given = given.strip_prefix(['"', '\''])?.strip_suffix(['"', '\''])?;
                    Some(given == wanted)
                }
                (None, "True") => Some(true),
                (None, "False") => Some(false),
                _ => None,
            }
        };
        self.calls(view, id).is_some_and(|calls| calls.iter().all(|call| holds(call) == Some(!call.only_evaluates)))
    }
}

/// Loaders that one comprehension or loop makes.
struct Collection<'v, 't> {
    view: &'v FileView<'t>,
    /// The comprehension, or the loop's assignment.
    made_in: Id,
    /// The expression that makes one of them.
    value: Id,
    /// Names that the comprehension or the loop binds.
    keys: Vec<&'t str>,
}

impl<'v, 't> Collection<'v, 't> {
    /// That of the innermost comprehension or loop around a node, within its function.
    fn around(view: &'v FileView<'t>, id: Id) -> Option<Self> {
        let (k, index) = (kinds(), &view.index);
        let comprehensions = [k.dictionary_comprehension, k.list_comprehension, k.generator_expression];
        let repeats = |a: &Id| comprehensions.contains(&index.kind(*a)) || index.kind(*a) == k.for_statement;
        let around = index.ancestors(id).take_while(|a| index.kind(*a) != k.function_definition).find(repeats)?;
        let assignment = index.ancestors(id).find(|a| index.kind(*a) == k.assignment);
        let names_of = |target: Id| match dotted(index, target) {
            Some(name) => vec![name],
            None => index.of_kind_in(k.identifier, target).iter().map(|id| index.text_of(*id)).collect(),
        };
        let clauses = index.of_kind_in(k.for_in_clause, around).iter().copied().chain([around]);
        let keys: Vec<&str> = clauses.filter_map(|clause| index.target(clause)).flat_map(names_of).collect();
        let (made_in, value) = if index.kind(around) == k.for_statement {
            // `loaders[phase] = DataLoader(…)`
            let assignment = assignment.filter(|a| index.is_within(*a, around))?;
            let kept = index.target(assignment).filter(|kept| index.kind(*kept) == k.subscript)?;
            let [_, key] = index.parts(kept).collect::<Vec<_>>()[..] else { return None };
            let of_loop = keys.contains(&index.text_of(key));
            (assignment, index.source(assignment).filter(|_| of_loop)?)
        } else {
            let body = index.parts(around).next()?;
            (around, if index.kind(body) == k.pair { index.parts(body).nth(1)? } else { body })
        };
        index.is_within(id, value).then_some(Self { view, made_in, value, keys })
    }

    /// Whether some of them are for training and others are not: by their readers; by the expression that makes them; or
    /// by the phases, if they are written there.
    fn is_of_both(&self, readers: &Readers) -> bool {
        let uses: Vec<Use> = readers.of(self.view, self.value).into_iter().map(|(_, use_)| use_).collect();
        let has = |one: Use| uses.contains(&one);
        let index = &self.view.index;
        let apart = || self.keys.iter().any(|key| is_told_apart(self.view, key, Some(self.value)));
        let phases: Vec<&str> = index
            .of_kind_in(kinds().string, self.made_in)
            .iter()
            .filter(|id| !index.is_within(**id, self.value))
            .filter_map(|id| plain_string(index, *id))
            .collect();
        let named =
            || phases.iter().any(|phase| is_of_training(phase)) && !phases.iter().all(|phase| is_of_training(phase));
        has(Use::Trains) && has(Use::Evaluates)
            || (uses.is_empty() || has(Use::Trains) || has(Use::Unknown)) && (apart() || named())
            || has(Use::Unknown) && has(Use::Trains)
    }

    /// Whether the loader of a key is for training, and no other: by their readers, or by the key if these are unknown.
    fn trains_alone(&self, readers: &Readers, key: &str) -> bool {
        let uses = readers.of(self.view, self.value);
        let (own, others): (Vec<_>, Vec<_>) = uses.into_iter().partition(|(read, _)| *read == Some(key));
        let trains = |(_, of): &(Option<&str>, Use)| *of == Use::Trains;
        let is_of_key =
            own.iter().all(|(_, of)| *of != Use::Evaluates) && (is_of_training(key) || own.iter().any(trains));
        is_of_key && !others.iter().any(|one| one.0.is_some() && trains(one))
    }
}

/// Whether a phase is the training, by its name.
fn is_of_training(phase: &str) -> bool {
    phase.split(|c: char| !c.is_alphanumeric()).any(|word| matches!(word, "train" | "training"))
}

/// Whether a name is compared with a string within a node, or in the whole file.
fn is_told_apart(view: &FileView<'_>, name: &str, within: Option<Id>) -> bool {
    let (k, index) = (kinds(), &view.index);
    let compares = |comparison: &Id| {
        let parts: Vec<Id> = index.parts(*comparison).collect();
        parts.iter().any(|part| index.is_text(*part, name)) && parts.iter().any(|part| index.kind(*part) == k.string)
    };
    index.of_kind_in(k.comparison_operator, within.unwrap_or(ROOT)).iter().any(compares)
}

fn key(view: &FileView<'_>, function: Id) -> String {
    format!("{} {}", view.path, view.name_of(function))
}

/// Calls of a function in its own file, or in one that imports it from there.
fn callers<'v, 't>(view: &FileView<'_>, function: Id, other: &'v FileView<'t>) -> Vec<(&'v FileView<'t>, Id)> {
    let name = view.name_of(function);
    let module = view.path.trim_end_matches(".py").rsplit('/').next().unwrap_or_default();
    let is_imported = |call: &Id| other.qualified(*call).is_some_and(|q| q.rsplit('.').nth(1) == Some(module));
    let calls: Vec<Id> = if other.path == view.path {
        other.callers(function).collect()
    } else {
        other.calls(name).iter().copied().filter(is_imported).collect()
    };
    calls.into_iter().map(|call| (other, call)).collect()
}

fn read(view: &FileView<'_>, function: Id, other: &FileView<'_>, call: Id, readers: &Readers) -> Call {
    let parameters = view.index.function(function).into_iter().flat_map(|f| f.parameters());
    let parameters = parameters.filter(|p| p.name != "self" && p.name != "cls");
    let given = parameters.enumerate().filter_map(|(place, parameter)| {
        let passed = other.index.arguments(call).get(place, parameter.name).map(|id| other.index.text_of(id));
        let value = passed.or_else(|| parameter.default.map(|id| view.index.text_of(id)))?;
        Some((parameter.name.to_owned(), value.to_owned()))
    });
    Call { only_evaluates: readers.only_evaluate(other, call), given: given.collect() }
}

#[cfg(test)]
mod tests {
    use crate::marked;

    /// Whether the loaders that a line makes in a comprehension or loop are for both, and whether its comparison is true
    /// for training; `LINE` stands for it.
    #[track_caller]
    fn check_collection(program: &str, line: &str, makes: bool, is_true: bool) {
        let mark = |part: &str| format!("{}{}", " ".repeat(line.find(part).unwrap()), "^".repeat(part.len()));
        let from = line.find("DataLoader").unwrap();
        let closes = |(at, _): &(usize, &str)| {
            *at > from && line[from..=*at].matches('(').count() == line[from..=*at].matches(')').count()
        };
        let to = line.match_indices(')').find(closes).unwrap().0 + 1;
        let compared = line.find("(k ==").map_or(&line[from..to], |at| &line[at..to - 1]);
        let marked = format!("{line}\n{}\n{}", mark(&line[from..to]), mark(compared));
        marked::check(&program.replace("LINE", &marked), [makes, is_true], |at| {
            let (shared, readers, view) = (&at.project.shared_loaders, &at.project.readers, at.file().view);
            [shared.makes(readers, view, at.node()), shared.is_true_for_training(readers, view, at.last())]
        });
    }

    fn reads(key: &str, body: &str) -> String {
        format!("for x in ls[{key}]:\n    {body}\n")
    }

    fn fits(key: &str) -> String {
        reads(key, "net(x).backward()")
    }

    #[test]
    fn a_comprehension_makes_the_loaders_of_both() {
        let made = "ls = {k: DataLoader(s, shuffle=(k == 'train')) for k, s in sets}";
        let both = format!("LINE\n{}{}", fits("'train'"), reads("'val'", "net(x)"));
        check_collection(&both, made, true, true);
        check_collection(&both, &made.replace("'train'", "'val'"), true, false);
        check_collection("def f():\nLINE\n", &made.replace("ls =", "    return"), true, true);
        let pair = "LINE\nfor x in a:\n    net(x).backward()\nfor x in b:\n    net(x)\n";
        check_collection(pair, "a, b = (DataLoader(k, shuffle=(k == 'train')) for k in sets)", true, true);
        let unknown = both.replace("in ls['train']", "in bar").replace("LINE\n", "LINE\nbar = tqdm(ls['train'])\n");
        check_collection(&unknown, made, true, true);
        // Two of them train.
        let two = format!("LINE\n{}{}{}", fits("'train'"), fits("'more'"), reads("'val'", "net(x)"));
        check_collection(&two, made, true, false);
        let phases =
            "LINE\nfor p in r:\n    for x in ls[p]:\n        if p == 'train':\n            net(x).backward()\n";
        check_collection(phases, made, true, true);
        let passed =
            "LINE\ndef fit(ls):\n    for p in r:\n        for x in ls[p]:\n            net(x).backward()\nfit(ls)\n";
        check_collection(passed, "ls = {k: DataLoader(sets[k]) for k in ['train', 'val']}", true, false);
    }

    #[test]
    fn a_comprehension_makes_loaders_of_training_alone() {
        let made = "ls = {k: DataLoader(s) for k, s in sets}";
        check_collection(&format!("LINE\n{}", fits("'a'")), made, false, false);
        check_collection("LINE\nfor p in r:\n    for x in ls[p]:\n        net(x).backward()\n", made, false, false);
        let folds = "LINE\nfor l in ls.values():\n    for x in l:\n        net(x).backward()\n";
        check_collection(folds, made, false, false);
        check_collection("LINE\nrun(ls)\n", made, false, false);
        // The loader is what the comprehension reads, or what it gives to a function.
        check_collection("LINE\nsum(ls)\n", "ls = [step(x) for x in DataLoader(s)]", false, false);
        check_collection("LINE\nsum(ls)\n", "ls = [fit(DataLoader(s)) for s in sets]", false, false);
    }

    #[test]
    fn a_loop_makes_the_loaders_of_both() {
        let both = format!("{}{}", fits("'train'"), reads("'val'", "net(x)"));
        let looped = format!("ls = {{}}\nfor k in sets:\nLINE\n{both}");
        check_collection(&looped, "    ls[k] = DataLoader(sets[k], shuffle=(k == 'train'))", true, true);
        // A loop over folds, with keys of its own.
        let inner = both.replace('\n', "\n    ");
        let folds = format!("for fold in range(5):\n    ls = {{}}\nLINE\n    {}\n", inner.trim_end());
        check_collection(&folds, "    ls['train'] = DataLoader(a)", false, false);
    }

    const MADE: &str = concat!(
        "#- data.py\n",
        "def load(train):\n",
        "    return DataLoader(b, shuffle=train)\n",
        "           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n",
        "                                 ^^^^^\n",
    );

    /// Whether both training and evaluation read the marked loader, and whether the second mark is true for training.
    #[track_caller]
    fn check(rest: &str, makes: bool, is_true: bool) {
        let program = format!("{MADE}#- train.py\nfrom data import load\n{rest}");
        marked::check(&program, [makes, is_true], |at| {
            let (shared, readers, view) = (&at.project.shared_loaders, &at.project.readers, at.file().view);
            [shared.makes(readers, view, at.node()), shared.is_true_for_training(readers, view, at.last())]
        });
    }

    #[test]
    fn a_function_whose_loader_training_and_evaluation_read() {
        let fit = "for x in a:\n    net(x).backward()\n";
        let test = "for x in c:\n    net(x)\n";
        check(&format!("a = load(True)\nc = load(False)\n{fit}{test}"), true, true);
        check(&format!("a = load(False)\nc = load(True)\n{fit}{test}"), true, false);
        check(&format!("a = load(True)\n{fit}"), false, false);
    }
}
