//! Where a program works with Keras: which names are models, which functions build or run one, and the statements from
//! the first layer to the last result, which have to be under a distribution strategy.

use crate::classes::Classes;
use crate::keras_steps::graph_functions;
use crate::view::FileView;
use crate::words::KERAS_LIBRARIES;
use crate::words::KERAS_METHODS;
use python::names::{called_name, canonical, dotted};
use python::tree::{Id, ROOT, kinds};
use sorting::SortedSet;

/// Facts about all files together.
#[derive(Debug, Default)]
pub struct Keras {
    /// Functions and classes, by name, that work with a model when they are called.
    working: SortedSet<String>,
    /// Classes with a method that does.
    holders: SortedSet<String>,
    /// Those that create a model.
    making: SortedSet<String>,
    pub(crate) classes: Classes,
    /// Functions and classes, by name, that run under a strategy's scope.
    scoped: SortedSet<String>,
    /// Some file of the project does the work at its top level.
    started: bool,
    /// Files that work with a model through what they import from others of the project.
    reaching: SortedSet<String>,
}

/// Consecutive statements of one block: the first and the last that work with a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// The first statement.
    pub first: Id,
    /// The last one.
    pub last: Id,
}

impl Keras {
    /// The initial facts: the project's classes.
    pub(crate) fn of_classes(classes: Classes) -> Self {
        Self { classes, ..Self::default() }
    }

    /// The facts from the files, given those known so far.
    pub(crate) fn collect(views: &[&FileView<'_>], known: &Self) -> Self {
        let mut keras = Self::of_classes(known.classes.clone());
        if !views.iter().any(|v| v.names.uses_framework("tensorflow")) {
            return keras;
        }
        // The PyTorch class often has the same name.
        let of_torch = |v: &FileView<'_>| v.names.uses_framework("torch") && !v.names.uses_framework("tensorflow");
        let views: Vec<&FileView<'_>> = views.iter().copied().filter(|v| !of_torch(v)).collect();
        // They run a model.
        keras.working.extend(views.iter().flat_map(|view| graph_functions(view)).map(|f| f.name.to_owned()));
        // Functions that call such a function are such functions, too.
        loop {
            let before = keras.working.len() + keras.making.len();
            for view in &views {
                let calls = view.index.of_kind(kinds().call).iter().copied();
                for call in calls {
                    if !keras.works(view, known, call) {
                        continue;
                    }
                    let Some(function) = view.function_of(call) else { continue };
                    let name = view.name_of(function);
                    keras.holders.extend(view.class_of(function).map(|class| view.name_of(class).to_owned()));
                    let constructs = matches!(name, "__init__" | "call" | "build" | "__call__");
                    let class = view.class_of(function).filter(|_| constructs).map(|c| view.name_of(c));
                    let name = class.unwrap_or(name).to_owned();
                    let function = view.index.callee(call);
                    let made = function.and_then(|f| qualified(view, f)).is_some_and(|q| builds(&q))
                        || called_name(&view.index, call).is_some_and(|n| keras.making.contains(n));
                    if made {
                        keras.making.insert(name.clone());
                    }
                    keras.working.insert(name);
                }
            }
            if keras.working.len() + keras.making.len() == before {
                break;
            }
        }
        loop {
            let before = keras.scoped.len();
            for view in &views {
                for &call in view.index.of_kind(kinds().call) {
                    if let Some(name) = called_name(&view.index, call)
                        && keras.working.contains(name)
                        && keras.in_scope(view, call)
                    {
                        keras.scoped.insert(name.to_owned());
                    }
                }
            }
            if keras.scoped.len() == before {
                break;
            }
        }
        let modules: SortedSet<&str> = views.iter().flat_map(|view| view.path.split('/')).collect();
        let is_own = |head: &str| modules.contains(head) || modules.contains(format!("{head}.py").as_str());
        let reaches = |view: &&&FileView<'_>| {
            view.index.of_kind(kinds().call).iter().any(|call| {
                let imported = view.qualified(*call).filter(|name| is_own(head_of(name)));
                let is_one = |name: &str| keras.working.contains(name) || keras.holders.contains(name);
                imported.is_some() && called_name(&view.index, *call).is_some_and(is_one)
            })
        };
        keras.reaching = views.iter().filter(reaches).map(|view| view.path.to_owned()).collect();
        keras.started = views.iter().any(|v| !keras.working_statements(v, known, ROOT).is_empty());
        keras
    }

    /// Whether a file is written for the framework, or works with a model through other files of the project.
    pub fn is_used(&self, view: &FileView<'_>) -> bool {
        view.names.uses_framework("tensorflow") || self.reaching.contains(view.path)
    }

    /// Whether a node runs under a strategy's scope: in its block, or in a function that is called from there.
    pub fn in_scope(&self, view: &FileView<'_>, id: Id) -> bool {
        let index = &view.index;
        index.ancestors(id).any(|a| is_scope(view, a))
            || view.function_of(id).is_some_and(|f| {
                self.scoped.contains(view.name_of(f))
                    || view.class_of(f).is_some_and(|c| self.scoped.contains(view.name_of(c)))
            })
    }

    /// Whether a call builds or runs a model, itself or in a function of the project.
    fn works(&self, view: &FileView<'_>, keras: &Keras, call: Id) -> bool {
        let index = &view.index;
        let Some(function) = index.callee(call) else { return false };
        if let Some(name) = qualified(view, function)
            && builds(&name)
        {
            return true;
        }
        let Some(name) = called_name(index, call) else { return false };
        if KERAS_METHODS.contains(&name)
            && let Some(object) = index.owner(function)
            && is_model(view, keras, object)
        {
            return true;
        }
        let own = view.names.qualify(index, function).is_none_or(|q| !is_library(&q));
        own && self.working.contains(name)
    }

    /// Statements of a block (or of the module) that use a model.
    fn working_statements(&self, view: &FileView<'_>, keras: &Keras, block: Id) -> Vec<Id> {
        let k = kinds();
        let index = &view.index;
        let definition = |id: Id| [k.function_definition, k.class_definition, k.lambda].contains(&index.kind(id));
        index
            .parts(block)
            .filter(|s| !definition(*s) && index.definition(*s).is_none())
            .filter(|s| {
                index.of_kind_in(k.call, *s).iter().any(|call| {
                    let deferred = index.ancestors(*call).take_while(|a| *a != *s).any(definition);
                    !deferred && self.works(view, keras, *call)
                })
            })
            .collect()
    }

    /// The statements of a file that have to be under a strategy. If a script's function does all the work and is
    /// called once, its body is used.
    pub fn work(&self, view: &FileView<'_>) -> Option<Work> {
        let k = kinds();
        let index = &view.index;
        let mut block = ROOT;
        if self.working_statements(view, self, ROOT).is_empty() {
            // A module without a main block: its one function that creates a model and that nothing calls is the start.
            if self.started {
                return None;
            }
            let mut starts = index.of_kind(k.function_definition).iter().copied().filter(|d| {
                let name = view.name_of(*d);
                index.parent(*d) == Some(ROOT) && self.making.contains(name) && view.calls(name).is_empty()
            });
            block = starts.next().and_then(|d| index.body(d))?;
            if starts.next().is_some() {
                return None;
            }
        }
        for _ in 0..8 {
            let working = self.working_statements(view, self, block);
            let (&first, &last) = (working.first()?, working.last()?);
            if first == last && !is_scope(view, first) {
                let inner =
                    if index.is_plain_if(first) { index.consequence(first) } else { self.only_call(view, first) };
                if let Some(inner) = inner {
                    block = inner;
                    continue;
                }
            }
            return Some(Work { first, last });
        }
        None
    }

    /// Where a file begins to create models: its first Keras statement, and in the methods of its classes the first
    /// statement of each that creates a model and that no other such method calls.
    pub fn beginnings(&self, view: &FileView<'_>) -> Vec<Id> {
        let k = kinds();
        let index = &view.index;
        if let Some(work) = self.work(view) {
            return vec![work.first];
        }
        let makes = |d: &Id| self.making.contains(view.name_of(*d)) && !is_model_class_around(view, self, *d);
        let methods: Vec<Id> = index
            .of_kind(k.function_definition)
            .iter()
            .copied()
            .filter(|d| view.class_of(*d).is_some() && view.function_of(*d).is_none())
            .filter(makes)
            .collect();
        let called_by_another = |d: Id| {
            view.calls(view.name_of(d))
                .iter()
                .any(|call| view.function_of(*call).is_some_and(|by| by != d && methods.contains(&by)))
        };
        // A method that calls the method of its base class leaves this to that one.
        let hands_over = |d: Id| view.calls(view.name_of(d)).iter().any(|call| view.function_of(*call) == Some(d));
        methods
            .iter()
            .copied()
            .filter(|d| !called_by_another(*d) && !hands_over(*d))
            .filter_map(|d| index.body(d))
            .filter_map(|body| {
                index.parts(body).find(|s| {
                    let docstring = index.kind(*s) == k.expression_statement
                        && index.parts(*s).next().is_some_and(|c| index.kind(c) == k.string);
                    !docstring
                })
            })
            .collect()
    }

    /// The body of the function that a statement only calls: `main()`, `sys.exit(main(args))`, `app.run(main)`; if
    /// nothing else calls it.
    fn only_call(&self, view: &FileView<'_>, statement: Id) -> Option<Id> {
        let k = kinds();
        let index = &view.index;
        if index.kind(statement) != k.expression_statement {
            return None;
        }
        let body_of = |name: &str| {
            let mut definitions = index.of_kind(k.function_definition).iter().copied().filter(|d| {
                view.name_of(*d) == name
                    && (index.parent(*d) == Some(ROOT)
                        || index
                            .parent(*d)
                            .is_some_and(|p| index.kind(p) == k.decorated_definition && index.parent(p) == Some(ROOT)))
            });
            let definition = definitions.next()?;
            let alone = definitions.next().is_none() && view.calls(name).len() <= 1;
            index.body(definition).filter(|_| alone)
        };
        index.of_kind_in(k.identifier, statement).iter().find_map(|id| {
            let name = index.text_of(*id);
            self.working.contains(name).then(|| body_of(name)).flatten()
        })
    }
}

/// Whether a statement is a `with` that enters a strategy's scope.
pub fn is_scope(view: &FileView<'_>, id: Id) -> bool {
    let k = kinds();
    let index = &view.index;
    if index.kind(id) != k.with_statement {
        return false;
    }
    let Some(body) = index.body(id) else { return false };
    let of_an_object = |call: Id| index.callee(call).is_some_and(|callee| index.kind(callee) == k.attribute);
    view.calls("scope").iter().any(|c| {
        index.is_within(*c, id) && !index.is_within(*c, body) && index.arguments(*c).is_empty() && of_an_object(*c)
    })
}

/// Whether a call of this name creates a model, or a part of one that has variables.
fn builds(qualified: &str) -> bool {
    let name = canonical(qualified);
    if name == "tensorflow.Variable" {
        return true;
    }
    let Some(name) = name.strip_prefix("tensorflow.keras.") else { return false };
    let last = name.rsplit('.').next().unwrap_or(name);
    let class = last.starts_with(|c: char| c.is_ascii_uppercase());
    let home = name.split('.').next().unwrap_or(name);
    makes_model(name) || last == "Input" || (class && matches!(home, "layers" | "optimizers" | "metrics"))
}

/// Whether a name below `tensorflow.keras.` returns a model.
fn makes_model(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    matches!(last, "Sequential" | "Model" | "load_model" | "clone_model" | "model_from_json")
        || (name.starts_with("applications.") && last.starts_with(|c: char| c.is_ascii_uppercase()))
}

/// Whether a name belongs to a package that is unrelated to the project's own functions.
fn is_library(qualified: &str) -> bool {
    KERAS_LIBRARIES.contains(&head_of(qualified))
}

/// The package in a qualified name.
fn head_of(qualified: &str) -> &str {
    qualified.trim_start_matches('.').split('.').next().unwrap_or_default()
}

/// Whether an expression is a Keras model, judging by what is assigned to it or how it is used.
pub fn is_model(view: &FileView<'_>, keras: &Keras, id: Id) -> bool {
    let k = kinds();
    let index = &view.index;
    if !keras.is_used(view) {
        return false;
    }
    if index.kind(id) == k.call {
        return gives_model(view, keras, id);
    }
    let Some(name) = dotted(index, id) else { return false };
    if view.names.qualify(index, id).is_some() {
        return false;
    }
    if name == "self" {
        return view.class_of(id).is_some_and(|c| is_model_class(keras, view.name_of(c)));
    }
    let mut elsewhere = false;
    for right in index.assignments_to(name).filter_map(|a| a.value()) {
        if index.kind(right) == k.call {
            if gives_model(view, keras, right) {
                return true;
            }
            elsewhere |= view.qualified(right).is_some_and(|q| !canonical(&q).starts_with("tensorflow"));
        }
    }
    // A model that was created elsewhere is recognised by arguments that only Keras has.
    !elsewhere && is_used_as_model(view, name)
}

/// The meaning of a function's name: by an import, or by a star import of the Keras module that defines what it builds.
fn qualified(view: &FileView<'_>, function: Id) -> Option<String> {
    let (names, name) = (&view.names, view.index.text_of(function));
    let of_stars = || {
        let modules = names.wildcards.iter().filter(|module| names.is_free(name) && is_library(module));
        modules.map(|module| format!("{module}.{name}")).find(|name| builds(name))
    };
    names.qualify(&view.index, function).or_else(of_stars)
}

fn gives_model(view: &FileView<'_>, keras: &Keras, call: Id) -> bool {
    let index = &view.index;
    let Some(function) = index.callee(call) else { return false };
    if let Some(name) = qualified(view, function)
        && let Some(name) = canonical(&name).strip_prefix("tensorflow.keras.")
    {
        return makes_model(name);
    }
    called_name(index, call).is_some_and(|n| is_model_class(keras, n) || keras.making.contains(n))
}

fn is_model_class(keras: &Keras, class: &str) -> bool {
    keras.classes.ancestors(class).iter().any(|a| {
        let name = canonical(a);
        name.strip_prefix("tensorflow.keras.").is_some_and(|n| matches!(n, "Model" | "Sequential"))
    })
}

/// Whether a method belongs to a class that is a model or a layer itself.
fn is_model_class_around(view: &FileView<'_>, keras: &Keras, method: Id) -> bool {
    view.class_of(method).is_some_and(|c| {
        keras.classes.ancestors(view.name_of(c)).iter().any(|a| {
            canonical(a).strip_prefix("tensorflow.keras.").is_some_and(|n| n.ends_with("Model") || n.ends_with("Layer"))
        })
    })
}

fn is_used_as_model(view: &FileView<'_>, name: &str) -> bool {
    let index = &view.index;
    const TELLING: [(&str, &[&str]); 4] = [
        ("compile", &["loss", "optimizer"]),
        ("fit", &["epochs", "validation_data", "steps_per_epoch", "callbacks"]),
        ("evaluate", &["verbose", "batch_size", "steps", "return_dict"]),
        ("predict", &["verbose", "batch_size", "steps"]),
    ];
    TELLING.iter().any(|(method, keywords)| {
        view.calls(method).iter().any(|call| {
            let on_it = index.receiver(*call).is_some_and(|o| index.text_of(o) == name);
            on_it && keywords.iter().any(|keyword| index.arguments(*call).keyword(keyword).is_some())
        })
    })
}

#[cfg(test)]
mod tests;
