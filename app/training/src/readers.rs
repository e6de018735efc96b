//! The readers of loaders: loops and functions that train, or evaluation only.

use crate::steps::names_validation;
use crate::view::FileView;
use crate::words::TRAINING_CALLS;
use python::PythonFile;
use python::names::called_name;
use python::origins::{Origins, Place, Seen};
use python::strings::plain_string;
use python::syntax::Argument;
use python::tree::{Id, kinds};
use rustc_hash::{FxHashMap, FxHashSet};
use sorting::{SortedMap, SortedSet};
use std::cell::RefCell;

/// What the code does that reads a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Use {
    Trains,
    /// It trains if the key of the value is this one: `if phase == "train":`.
    TrainsAs(String),
    Evaluates,
    /// Its readers can't be seen.
    Unknown,
}

/// What a project does with the results of its calls, such as loaders.
#[derive(Debug, Default)]
pub struct Readers {
    of: SortedMap<(String, Id), SortedSet<Read>>,
    /// Whether something trains with what one of its loaders gives.
    trains: bool,
    /// Whether a loop reads more values than are followed: any loader may be one of them.
    reads_any: bool,
}

/// The key under which a value is kept, if it is in a dictionary or an object, and what its reader does.
type Read = (Option<String>, Use);

impl Readers {
    pub(crate) fn collect<'v, 't>(views: &[&'v FileView<'t>], origins: &Origins<'v, 't>) -> Self {
        let mut readers = Self::default();
        if views.iter().any(|view| view.words().any(|(word, _)| makes_loader(word))) {
            let compiled = views.iter().map(|view| compiled_training(view)).collect();
            Reading { views, compiled, origins }.collect(&mut readers);
        }
        readers
    }

    /// Whether the value of a call is read by code that never trains; or by none, in a project that reads another to train.
    ///
    /// If its readers can't be seen, names decide: `val_loader`, `def test_dataloader`, `DataLoader(valid_set)`.
    pub fn only_evaluate(&self, view: &FileView<'_>, call: Id) -> bool {
        let uses: Vec<Use> = self.of(view, call).into_iter().map(|(_, use_)| use_).collect();
        let is_seen = uses.contains(&Use::Evaluates) && !uses.contains(&Use::Unknown);
        let is_left = || uses.is_empty() && self.trains && !self.reads_any && stays_in_sight(view, call);
        !uses.contains(&Use::Trains) && (is_seen || is_left() || is_named_for_evaluation(view, call))
    }

    /// Whether the value of a call is read by code that trains, and by no other.
    pub fn only_train(&self, view: &FileView<'_>, call: Id) -> bool {
        let uses = self.of(view, call);
        !uses.is_empty() && uses.iter().all(|(_, use_)| *use_ == Use::Trains)
    }

    /// What reads the value of a call, with the key under which it is kept.
    pub(crate) fn of(&self, view: &FileView<'_>, call: Id) -> Vec<(Option<&str>, Use)> {
        let uses = self.of.get(&(view.path.to_owned(), call)).into_iter().flatten();
        let use_ = |(key, use_): &'_ Read| match (use_, key) {
            (Use::TrainsAs(phase), Some(key)) if phase == key => Use::Trains,
            (Use::TrainsAs(_), Some(_)) => Use::Evaluates,
            (Use::TrainsAs(_), None) => Use::Unknown,
            (use_, _) => use_.clone(),
        };
        uses.map(|one| (one.0.as_deref(), use_(one))).collect()
    }
}

/// The search for all readers of a project.
struct Reading<'a, 'v, 't> {
    views: &'a [&'v FileView<'t>],
    /// The names in each file of the results of calls that train, such as a model that a vendor's function compiled with its
    /// optimizer.
    compiled: Vec<SortedSet<&'t str>>,
    origins: &'a Origins<'v, 't>,
}

impl Reading<'_, '_, '_> {
    fn collect(&self, readers: &mut Readers) {
        let k = kinds();
        // Calls that give back what they are given, as far as a loop reads their result.
        let passed_on = RefCell::new(SortedSet::new());
        let mut found: FxHashMap<Place, SortedSet<Read>> = FxHashMap::default();
        // Calls in values that code reads which can't be seen: all calls in these are noted, too.
        let mut searched: FxHashSet<Place> = FxHashSet::default();
        // By what is done with the values, and whether a loop does it.
        let mut seen: FxHashMap<(Use, bool), Seen<'_>> = FxHashMap::default();
        let read = &mut |place: Place, use_: &Use, is_loop: bool| {
            let through = |call: Place| {
                let file = self.origins.files()[call.file];
                let is_call = file.index.kind(call.id) == k.call;
                if !is_loop || !is_call || asks(called_name(&file.index, call.id)) {
                    return Vec::new();
                }
                passed_on.borrow_mut().insert(call);
                given(file, call.id).collect()
            };
            let seen = seen.entry((use_.clone(), is_loop)).or_default();
            let is_followed = self.origins.walk_unseen(place, &through, seen, &mut |value, is_origin| {
                let (file, id) = (self.origins.files()[value.place.file], value.place.id);
                if !value.is_whole() {
                    return;
                }
                // Code that can't be seen may read all that a tuple or a table holds.
                let searches = is_origin && *use_ == Use::Unknown;
                if searches && value.key().is_none() && searched.contains(&value.place) {
                    return;
                }
                let held = if searches { file.index.of_kind_in(k.call, id) } else { &[] };
                let itself = Some(&id).filter(|id| file.index.kind(**id) == k.call);
                for &call in held.iter().chain(itself) {
                    readers.trains |= *use_ == Use::Trains && called_name(&file.index, call).is_some_and(makes_loader);
                    let place = Place { id: call, ..value.place };
                    found.entry(place).or_default().insert((value.key().map(str::to_owned), use_.clone()));
                    searched.extend((searches && value.key().is_none()).then_some(place));
                }
            });
            readers.reads_any |= is_loop && !is_followed;
        };
        for (number, view) in self.views.iter().enumerate() {
            let index = &view.index;
            let place = |id: Id| Place { file: number, id };
            for loop_ in index.of_kind(k.for_statement).iter().chain(index.of_kind(k.for_in_clause)) {
                let Some(source) = index.source(*loop_) else { continue };
                // `sum(… for batch in loader)` is evaluated in the expression around it.
                let body = if index.kind(*loop_) == k.for_in_clause { index.parent(*loop_) } else { Some(*loop_) };
                read(place(source), &self.use_in(place(body.unwrap_or(*loop_))), true);
            }
            // `next(iter(loader))`: one batch, for the code in this block.
            for call in view.calls("next") {
                let block = index.ancestors(*call).find(|a| index.kind(*a) == k.block || index.kind(*a) == k.module);
                if let (Some(iterator), Some(block)) = (given(view, *call).next(), block) {
                    read(place(iterator), &self.use_in(place(block)), true);
                }
            }
            for given in index.of_kind(k.r#yield) {
                index.parts(*given).for_each(|value| read(place(value), &Use::Unknown, false));
            }
            for statement in index.of_kind(k.return_statement) {
                let function = view.function_of(*statement).map(place);
                if function.is_some_and(|function| self.origins.callers(function).is_empty()) {
                    index.parts(*statement).for_each(|value| read(place(value), &Use::Unknown, false));
                }
            }
        }
        // In a second pass it is known which calls give back what they are given.
        let passed_on_by_loops = passed_on.take();
        for (number, view) in self.views.iter().enumerate() {
            for call in view.index.calls().map(|call| Place { file: number, id: call.id() }) {
                let is_known = asks(called_name(&view.index, call.id)) || passed_on_by_loops.contains(&call);
                if !is_known && self.origins.definitions(call).is_empty() {
                    given(view, call.id).for_each(|id| read(Place { id, ..call }, &Use::Unknown, false));
                }
            }
        }
        let of_path = |(place, uses): (Place, _)| ((self.views[place.file].path.to_owned(), place.id), uses);
        readers.of = found.into_iter().map(of_path).collect();
    }

    /// What a loop or a block does with what it reads.
    fn use_in(&self, node: Place) -> Use {
        match self.training_call(node, &mut SortedSet::new()) {
            None => Use::Evaluates,
            Some(call) => self.phase_of(node, call).map_or(Use::Trains, Use::TrainsAs),
        }
    }

    /// A call in a node that trains, itself or in a function that it calls.
    fn training_call(&self, node: Place, seen: &mut SortedSet<Place>) -> Option<Id> {
        let view = self.views[node.file];
        let index = &view.index;
        // A loop may clear gradients in each of its phases.
        let rank = |call: &Id| match called_name(index, *call) {
            Some("backward") => Some(0),
            Some(name) if name.ends_with("training_step") => Some(0),
            Some("step") => Some(1),
            Some("zero_grad") => Some(2),
            _ => index.callee(*call).and_then(|callee| self.compiled[node.file].get(index.text_of(callee)).map(|_| 0)),
        };
        let calls = index.of_kind_in(kinds().call, node.id);
        let calls_what_trains = |call: &Id, seen: &mut SortedSet<Place>| {
            let definitions = self.origins.definitions(Place { id: *call, ..node });
            let new: Vec<Place> = definitions.iter().copied().filter(|d| seen.insert(*d)).collect();
            new.into_iter().any(|definition| self.training_call(definition, seen).is_some())
        };
        calls
            .iter()
            .copied()
            .filter_map(|call| Some((rank(&call)?, call)))
            .min()
            .map(|(_, call)| call)
            .or_else(|| calls.iter().copied().find(|call| calls_what_trains(call, seen)))
    }

    /// The string that a name is compared with in the test of the `if` that is around a call within a node.
    fn phase_of(&self, node: Place, call: Id) -> Option<String> {
        let (k, index) = (kinds(), &self.views[node.file].index);
        let mut tests = index.ancestors(call).take_while(|a| *a != node.id).filter_map(|a| {
            let around = index.consequence(a).filter(|block| index.is_within(call, *block));
            around.and_then(|_| index.condition(a)).filter(|test| index.kind(*test) == k.comparison_operator)
        });
        tests.find_map(|test| match index.parts(test).collect::<Vec<_>>()[..] {
            [left, right] if index.between(left, right) == "==" => {
                plain_string(index, right).or_else(|| plain_string(index, left)).map(str::to_owned)
            }
            _ => None,
        })
    }
}

/// Whether a class is that of a loader, by its name.
fn makes_loader(class: &str) -> bool {
    class.ends_with("Loader")
}

/// The values that a call is given.
fn given<'i>(file: &'i PythonFile<'_>, call: Id) -> impl Iterator<Item = Id> + 'i {
    file.index.arguments(call).iter().filter_map(|argument| match argument {
        Argument::Positional(id) | Argument::Keyword { value: id, .. } => Some(id),
        Argument::Unpacked(_) | Argument::UnpackedTable(_) => None,
    })
}

/// Calls that only mention a loader: its length, a log line.
fn asks(name: Option<&str>) -> bool {
    matches!(name, Some("len" | "print" | "info" | "debug" | "warning" | "range" | "next" | "iter" | "isinstance"))
}

fn compiled_training<'t>(view: &FileView<'t>) -> SortedSet<&'t str> {
    let calls = TRAINING_CALLS.iter().flat_map(|word| view.calls(word));
    calls.filter_map(|call| Some(view.index.text_of(target(view, *call)?))).collect()
}

/// The function whose result is the value that a call makes, by itself or under a name.
pub(crate) fn made_by(view: &FileView<'_>, call: Id) -> Option<Id> {
    let index = &view.index;
    let is_result = |id: Id| index.parent(id).is_some_and(|p| index.kind(p) == kinds().return_statement);
    let function = view.function_of(call)?;
    let name = target(view, call).map(|t| index.text_of(t));
    let is_returned = |name: &str| index.within(view.identifiers(name), function).iter().any(|id| is_result(*id));
    (is_result(call) || name.is_some_and(is_returned)).then_some(function)
}

/// Whether a call's value goes to plain names only, where all that read it are seen: it is in an assignment to them, or a result.
fn stays_in_sight(view: &FileView<'_>, call: Id) -> bool {
    let (k, index) = (kinds(), &view.index);
    let Some(statement) = view.statement_of(call) else { return false };
    let assignment = index.parts(statement).next().and_then(|inner| index.assignment(inner));
    let is_name = |target: Id| index.kind(target) == k.identifier;
    assignment.is_some_and(|assignment| assignment.targets().into_iter().all(is_name))
        || index.kind(statement) == k.return_statement && view.function_of(call).is_some()
}

/// What a call's value is assigned to, alone or at its position in a list; or the key or the keyword under which it is kept.
fn target(view: &FileView<'_>, call: Id) -> Option<Id> {
    let (k, f) = (kinds(), python::tree::fields());
    let index = &view.index;
    let parent = index.parent(call)?;
    if index.kind(parent) == k.assignment {
        return index.target(parent);
    }
    if index.kind(parent) == k.pair {
        return index.field(parent, f.key);
    }
    if index.kind(parent) == k.keyword_argument {
        return index.field(parent, f.name);
    }
    let assignment = index.parent(parent).filter(|p| index.kind(*p) == k.assignment)?;
    let (left, right) = (index.target(assignment)?, index.source(assignment)?);
    let place = (right == parent).then(|| index.parts(right).position(|p| p == call)).flatten()?;
    (index.parts(left).count() == index.parts(right).count()).then(|| index.parts(left).nth(place)).flatten()
}

/// Whether names show that a loader is for evaluation: its own, its data set's, that of its function or its file.
fn is_named_for_evaluation(view: &FileView<'_>, call: Id) -> bool {
    let index = &view.index;
    let function = view.function_of(call).map(|f| view.name_of(f));
    let file = view.path.rsplit('/').next().and_then(|name| name.strip_suffix(".py"));
    let data = index.arguments(call).ids().find(|a| index.keyword_name(*a).is_none_or(|name| name == "dataset"));
    let names = [target(view, call).map(|t| index.text_of(t)), data.map(|d| index.text_of(d)), function, file];
    names.into_iter().flatten().map(str::to_ascii_lowercase).find_map(|name| {
        // `pretrain_val_loader` is for validation during another training.
        let name = name.replace("pretrain", "");
        let words = || name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let is_of = |word: &str| {
            let word = ["loader", "dataloader", "set", "dataset", "data", "dl"]
                .iter()
                .find_map(|end| word.strip_suffix(end))
                .map_or(word, |rest| rest.strip_suffix("data").unwrap_or(rest));
            word == "dev" || names_validation(word)
        };
        // The first name that is conclusive.
        if name.contains("train") { Some(name.contains("train=false")) } else { words().any(is_of).then_some(true) }
    }) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::made_by;
    use crate::marked;

    /// Whether only code that evaluates reads the marked loader.
    #[track_caller]
    fn check(program: &str, expected: bool) {
        marked::check(program, expected, |at| at.project.readers.only_evaluate(at.file().view, at.node()));
    }

    #[test]
    fn a_loader_by_its_readers() {
        let made = "a = DataLoader(b)\n    ^^^^^^^^^^^^^\n";
        check(&format!("{made}for x in a:\n    net(x)\n"), true);
        check(&format!("{made}for x in a:\n    net(x).backward()\n"), false);
        check(&format!("{made}for x in tqdm(a):\n    fit(x)\ndef fit(x):\n    net(x).backward()\n"), false);
        check(&format!("{made}bar = tqdm(a)\nfor x in bar:\n    net(x)\n"), true);
        check(&format!("{made}def fit(data):\n    for x in data:\n        net(x).backward()\nfit(a)\n"), false);
        check(&format!("{made}print(len(a))\n"), false);
        check(&format!("{made}run = poptorch.trainingModel(net)\nfor x in a:\n    run(x)\n"), false);
        check(&format!("{made}run = poptorch.inferenceModel(net)\nfor x in a:\n    run(x)\n"), true);
        check(&format!("{made}run(a)\n"), false);
        check(made, false);
        check(&format!("{made}for x in zip(torch.rand(3)):\n    net(x).backward()\n"), false);
        check(&format!("{made}c = DataLoader(d)\nfor x in c:\n    net(x).backward()\n"), true);
    }

    #[test]
    fn loaders_of_a_collection() {
        let made = "a = {'x': DataLoader(b), 'y': DataLoader(c)}\n";
        let first = format!("{made}          ^^^^^^^^^^^^^\n");
        let second = format!("{made}                              ^^^^^^^^^^^^^\n");
        let reads = "for x in a['x']:\n    net(x).backward()\nfor x in a['y']:\n    net(x)\n";
        check(&format!("{first}{reads}"), false);
        check(&format!("{second}{reads}"), true);
        let phases = "for p in a:\n    for x in a[p]:\n        if p == 'x':\n            net(x).backward()\n";
        check(&format!("{first}{phases}"), false);
        check(&format!("{second}{phases}"), true);
        // Gradients are cleared in both phases.
        let clears = phases.replace("        if p", "        opt.zero_grad()\n        if p");
        check(&format!("{first}{clears}"), false);
        check(&format!("{second}{clears}"), true);
    }

    #[test]
    fn readers_in_another_file() {
        let made = "#- data.py\ndef load():\n    a, c = DataLoader(b), DataLoader(d)\n";
        let first = format!("{made}           ^^^^^^^^^^^^^\n    return a, c\n");
        let second = format!("{made}                          ^^^^^^^^^^^^^\n    return a, c\n");
        let engine = "#- engine.py\ndef fit(a):\n    for x in a:\n        net(x).backward()\n";
        let train = "#- train.py\nfrom data import load\nfrom engine import fit\na, c = load()\nfit(a)\nfor x in c:\n    net(x)\n";
        check(&format!("{first}{engine}{train}"), false);
        check(&format!("{second}{engine}{train}"), true);
    }

    /// More values than are followed, of which the loader may be one.
    #[test]
    fn a_loader_among_hundreds_of_values() {
        let trained = "for x in DataLoader(d):\n    net(x).backward()\n";
        let made = "def make():\n    return DataLoader(b)\n           ^^^^^^^^^^^^^\n";
        let reads = "class Base:\n    def fit(self):\n        for x in self.a:\n            net(x).backward()\n";
        let class = |n: usize| format!("class C{n}(Base):\n    def f(self):\n        self.a = g{n}()\n");
        let last = "class Last(Base):\n    def f(self):\n        self.a = make()\n";
        for count in [3, 420] {
            let family: String = (0..count).map(class).collect();
            check(&format!("{trained}{made}{reads}{family}{last}"), false);
        }
        // An earlier loop that could not be followed to its end does not answer for a later one.
        let chosen = (0..160).map(|n| format!("f{n}(), ")).collect::<String>();
        let others = (0..80).map(|n| format!("n{n}, ")).collect::<String>();
        let assigned = (0..80).map(|n| format!("n{n} = g{n}(t), h{n}(t), i{n}(t)\n")).collect::<String>();
        let chosen = format!("a = make() if t else [{chosen}][t]\n{assigned}");
        let earlier = format!("for a_ in [a, {others}]:\n    for x in a_:\n        net(x).backward()\n");
        let reads = "for x in a:\n    net(x).backward()\n";
        check(&format!("{trained}{made}{chosen}{earlier}{reads}"), false);
        check(&format!("{trained}{made}{chosen}{reads}"), false);
    }

    #[test]
    fn a_loader_by_its_name() {
        check("val_loader = DataLoader(b)\n             ^^^^^^^^^^^^^\nrun(val_loader)\n", true);
        check(
            "val_loader = DataLoader(b)\n             ^^^^^^^^^^^^^\nfor x in val_loader:\n    net(x).backward()\n",
            false,
        );
        check("def test_dataloader():\n    return DataLoader(b)\n           ^^^^^^^^^^^^^\n", true);
        check("run(DataLoader(valid_set))\n    ^^^^^^^^^^^^^^^^^^^^^\n", true);
        check("run(DataLoader(train_set))\n    ^^^^^^^^^^^^^^^^^^^^^\n", false);
    }

    #[test]
    fn the_function_that_makes_a_loader() {
        let check = |program: &str, expected: &str| {
            marked::check(program, expected, |at| at.lines(made_by(at.file().view, at.node())));
        };
        check("def f():\n    return DataLoader(b)\n           ^^^^^^^^^^^^^\n", "def f():");
        check("def f():\n    a = DataLoader(b)\n        ^^^^^^^^^^^^^\n    return a\n", "def f():");
        check("def f():\n    a = DataLoader(b)\n        ^^^^^^^^^^^^^\n    return 3\n", "");
    }
}
