//! Which functions forward passes and training steps reach, by the calls in the files of a project.

use crate::view::FileView;
use python::names::called_name;
use python::tree::{Id, kinds};
use rustc_hash::{FxHashMap, FxHashSet};
use sorting::{SortedMap, SortedSet};

/// Functions by their names, methods with a leading dot: `nt_xent`, `.embed`.
#[derive(Debug, Default)]
pub struct Reach {
    forward: SortedSet<String>,
    step: SortedSet<String>,
}

impl Reach {
    pub(crate) fn collect(views: &[&FileView<'_>]) -> Self {
        // `caller called` as one string, so that a set of strings is enough.
        let mut calls = Vec::new();
        let (mut forward, mut step) = (Vec::new(), Vec::new());
        let modules = modules(views);
        let everywhere = of_one_class(views.iter().map(|view| instances(view)));
        for view in views {
            let own = instances(view);
            // A function may get the object from another file, under the same name.
            let parameters: SortedSet<&str> =
                view.index.functions().flat_map(|f| f.parameters().map(|p| p.name).collect::<Vec<_>>()).collect();
            let given = everywhere.iter().filter(|(name, _)| !own.contains_key(*name) && parameters.contains(*name));
            let mut instances = own.clone();
            instances.extend(given.map(|(name, called)| (*name, called.clone())));
            for call in view.index.calls().map(|call| call.id()) {
                let by_instance = || {
                    let callee = view.index.text_of(view.index.callee(call)?);
                    let method = || callee.rsplit_once('.').filter(|(owner, _)| instances.contains_key(owner));
                    // The module of a ported step keeps the program's `criterion` as `self.criterion`.
                    let own = || instances.get(callee.strip_prefix("self.")?);
                    instances
                        .get(callee)
                        .or_else(own)
                        .cloned()
                        .or_else(|| method().map(|(_, method)| format!(".{method}")))
                };
                let Some(called) = by_instance().or_else(|| called(view, call, &modules)) else { continue };
                for function in functions_around(view, call) {
                    if is_forward(view, function) {
                        forward.push(called.clone());
                    }
                    calls.push(format!("{} {called}", key(view, function)));
                }
                if view.index.is_within_any(call, view.turns()) {
                    step.push(called);
                }
            }
        }
        step.extend(forward.iter().cloned());
        let calls: SortedSet<String> = calls.into_iter().collect();
        Self { forward: closed(forward, &calls), step: closed(step, &calls) }
    }

    /// Whether a forward pass reaches a place: it is in a `forward`, or in a function that one calls.
    pub fn by_forward(&self, view: &FileView<'_>, id: Id) -> bool {
        functions_around(view, id).any(|f| is_forward(view, f) || self.forward.contains(&key(view, f)))
    }

    /// Whether the training loop reaches a place: it is in the loop, in a forward pass, or in a function that one of
    /// them calls.
    pub fn by_step(&self, view: &FileView<'_>, id: Id) -> bool {
        self.by_forward(view, id)
            || view.index.is_within_any(id, view.turns())
            || functions_around(view, id).any(|f| self.step.contains(&key(view, f)))
    }
}

/// What files of the project can be imported as, and the packages that they are in.
fn modules<'v>(views: &[&'v FileView<'_>]) -> SortedSet<&'v str> {
    views
        .iter()
        .flat_map(|view| view.path.split(['/', '\\']))
        .map(|part| part.strip_suffix(".py").unwrap_or(part))
        .collect()
}

fn functions_around<'v>(view: &'v FileView<'_>, id: Id) -> impl Iterator<Item = Id> + 'v {
    view.index.ancestors(id).filter(|a| view.index.kind(*a) == kinds().function_definition)
}

fn key(view: &FileView<'_>, function: Id) -> String {
    let name = view.name_of(function);
    match view.class_of(function) {
        // Many classes are called: the intended one is known from the name that it is assigned to.
        Some(class) if name == "__call__" => call_of(view.name_of(class)),
        Some(_) => format!(".{name}"),
        None => name.to_owned(),
    }
}

fn call_of(class: &str) -> String {
    format!("{class}.__call__")
}

/// Names to which a file assigns new objects of classes, with the meaning of a call of each: `criterion = TestLoss()`.
fn instances<'v>(view: &FileView<'v>) -> SortedMap<&'v str, String> {
    let index = &view.index;
    let made = index.assignments().filter_map(|a| Some((index.text_of(a.target()?), called_name(index, a.value()?)?)));
    made.filter(|(_, class)| class.starts_with(char::is_uppercase))
        .map(|(name, class)| (name, call_of(class)))
        .collect()
}

/// The names to which all files assign objects of one class.
fn of_one_class<'v>(files: impl Iterator<Item = SortedMap<&'v str, String>>) -> SortedMap<&'v str, String> {
    let mut found: FxHashMap<&str, Option<String>> = FxHashMap::default();
    for (name, called) in files.flatten() {
        let known = found.entry(name).or_insert_with(|| Some(called.clone()));
        if known.as_ref() != Some(&called) {
            *known = None;
        }
    }
    found.into_iter().filter_map(|(name, called)| Some((name, called?))).collect()
}

fn is_forward(view: &FileView<'_>, function: Id) -> bool {
    view.name_of(function) == "forward" && view.class_of(function).is_some()
}

/// The function that a call refers to, in whichever file it is: by its name, or as a method.
fn called(view: &FileView<'_>, call: Id, modules: &SortedSet<&str>) -> Option<String> {
    let index = &view.index;
    let callee = index.callee(call)?;
    if let Some(qualified) = view.names.qualify(index, callee) {
        let mut parts = qualified.rsplit('.');
        let last = parts.next()?;
        // `F.normalize` is torch's, even if the project has functions of that name.
        let own = parts.next().is_none_or(|module| modules.contains(module)).then(|| last.to_owned());
        return own.or_else(|| method_of(&qualified).filter(|_| !qualified.starts_with("torch")));
    }
    let name = index.text_of(callee);
    if index.kind(callee) == kinds().identifier {
        return Some(name.to_owned());
    }
    method_of(name)
}

/// A method of `self`, of one of its attributes, or of a class: `.frame` of `self.stepper.frame`.
fn method_of(callee: &str) -> Option<String> {
    let (owner, method) = callee.rsplit_once('.')?;
    let of_class = owner.rsplit('.').next().is_some_and(|last| last.starts_with(char::is_uppercase));
    (owner == "self" || owner.starts_with("self.") || of_class).then(|| format!(".{method}"))
}

/// Functions with all that they call, transitively.
fn closed(first: Vec<String>, calls: &SortedSet<String>) -> SortedSet<String> {
    let mut reached: FxHashSet<String> = FxHashSet::default();
    let mut new = first;
    while let Some(mut caller) = new.pop() {
        if reached.insert(caller.clone()) {
            caller.push(' ');
            let called = calls.range(caller.clone()..).map_while(|call| call.strip_prefix(&caller));
            new.extend(called.map(str::to_owned));
        }
    }
    reached.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use crate::marked;

    /// Whether a forward pass and whether the training loop reach the marked place.
    #[track_caller]
    fn check(program: &str, by_forward: bool, by_step: bool) {
        marked::check(program, [by_forward, by_step], |at| {
            let reach = &at.project.reach;
            [reach.by_forward(at.file().view, at.node()), reach.by_step(at.file().view, at.node())]
        });
    }

    const NET: &str = concat!(
        "class Net:\n",
        "    def forward(self, x):\n",
        "        return f(self.embed(x))\n",
        "    def embed(self, x):\n",
        "        return x\n",
    );

    #[test]
    fn what_a_forward_pass_calls() {
        check("class Net:\n    def forward(self, x):\n        return f(x)\n               ^^^^\n", true, true);
        check(&format!("def f(x):\n    return g(x)\n           ^^^^\n{NET}"), true, true);
        check(&format!("def f(x):\n    return g(x)\ndef g(x):\n    return h(x)\n           ^^^^\n{NET}"), true, true);
        check(&format!("def other(x):\n    return g(x)\n           ^^^^\n{NET}"), false, false);
    }

    #[test]
    fn what_the_training_loop_calls() {
        let step = "for x in y:\n    f(x)\n    loss.backward()\n";
        check(&format!("def f(x):\n    g(x)\n    ^^^^\n{step}"), false, true);
        check(&format!("{step}    g(x)\n    ^^^^\n"), false, true);
        check(&format!("{step}g(x)\n^^^^\n"), false, false);
        check("def training_step(self, x):\n    g(x)\n    ^^^^\n", false, true);
    }

    #[test]
    fn functions_of_other_files() {
        let part =
            |import: &str| format!("#- parts.py\ndef mix(x):\n    return h(x)\n           ^^^^\n#- net.py\n{import}\n");
        let net = "class Net:\n    def forward(self, x):\n        return parts.mix(x)\n";
        check(&format!("{}{net}", part("import parts")), true, true);
        check(&format!("{}{}", part("import torch as parts"), net), false, false);
    }

    #[test]
    fn an_object_that_is_called() {
        let class = "class Loss:\n    def __call__(self, x):\n        return h(x)\n               ^^^^\n";
        check(&format!("{class}fit = Loss()\nfor x in y:\n    fit(x).backward()\n"), false, true);
        check(&format!("{class}fit = Other()\nfor x in y:\n    fit(x).backward()\n"), false, false);
    }
}
