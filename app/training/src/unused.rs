//! Functions and classes that nothing in a project uses: a program that starts in one of its files never reaches them.

use crate::program_start::main_block;
use crate::view::FileView;
use crate::words::LOOKUPS_BY_NAME;
use python::names::called_name;
use python::tree::{Id, ROOT, kinds};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Top-level definitions that no program of the project reaches, by path and name.
#[derive(Debug, Default)]
pub struct Unused(BTreeMap<String, BTreeSet<String>>);

impl Unused {
    /// The unused definition around a node, with its name.
    pub fn around<'t>(&self, view: &FileView<'t>, id: Id) -> Option<(Id, &'t str)> {
        let names = self.0.get(view.path)?;
        let definition =
            std::iter::once(id).chain(view.index.ancestors(id)).find(|a| view.index.parent(*a) == Some(ROOT))?;
        let name = view.name_of(definition);
        names.contains(name).then_some((definition, name))
    }

    /// Reads all files. Nothing is unused if no program starts, since users of a library may use all of it, or if names
    /// are looked up that are known only at run time.
    pub fn collect(views: &[&FileView<'_>], places: &BTreeSet<String>) -> Self {
        if !views.iter().any(|view| starts(view)) || views.iter().any(|view| looks_names_up(view, places)) {
            return Self::default();
        }
        let definitions: Vec<Vec<Id>> = views.iter().map(|view| definitions(view)).collect();
        // Words by the definition that contains them; those outside definitions are used when a file is loaded.
        let mut said: HashMap<Option<(usize, Id)>, Vec<&str>> = HashMap::new();
        for (file, view) in views.iter().enumerate() {
            let owner = |at: Id| {
                let after = definitions[file].partition_point(|d| *d <= at);
                let last = after.checked_sub(1).map(|n| definitions[file][n]);
                last.filter(|d| view.index.is_within(at, *d)).map(|d| (file, d))
            };
            for (word, ids) in view.words() {
                for &id in ids.iter().filter(|id| !only_imports(view, **id)) {
                    let own = owner(id);
                    if own.is_none_or(|(_, d)| view.name_of(d) != word) {
                        said.entry(own).or_default().push(word);
                    }
                }
            }
            for &string in view.index.of_kind(kinds().string).iter().filter(|s| !is_text_alone(view, **s)) {
                let words = view.index.text_of(string).split(|c: char| !(c.is_alphanumeric() || c == '_'));
                said.entry(owner(string)).or_default().extend(words.filter(|word| !word.is_empty()));
            }
        }
        let mut defined: HashMap<&str, Vec<(usize, Id)>> = HashMap::new();
        for (file, view) in views.iter().enumerate() {
            for &definition in &definitions[file] {
                defined.entry(view.name_of(definition)).or_default().push((file, definition));
            }
        }
        // Commands that are installed with a package name these in non-Python files.
        let mut words: Vec<&str> = vec!["main", "cli"];
        words.extend(said.remove(&None).unwrap_or_default());
        while let Some(word) = words.pop() {
            for place in defined.remove(word).unwrap_or_default() {
                words.extend(said.remove(&Some(place)).unwrap_or_default());
            }
        }
        let mut out = Self::default();
        for (name, places) in defined {
            for (file, _) in places {
                out.0.entry(views[file].path.to_owned()).or_default().insert(name.to_owned());
            }
        }
        out
    }
}

/// Whether it is clear where a file begins to run: it has a main block, or it has a loop or calls a function of its own
/// at the top level.
fn starts(view: &FileView<'_>) -> bool {
    let index = &view.index;
    let calls_own = |s: Id| {
        let callee = index.parts(s).next().and_then(|call| index.callee(call));
        index.kind(s) == kinds().expression_statement && callee.is_some_and(|c| view.defines(index.text_of(c)))
    };
    main_block(view).is_some() || index.parts(ROOT).any(|s| index.is_loop(s) || calls_own(s))
}

/// Functions and classes at the top level of a file. Decorated ones may be registered by their decorator.
fn definitions(view: &FileView<'_>) -> Vec<Id> {
    let k = kinds();
    view.index
        .parts(ROOT)
        .filter(|s| [k.function_definition, k.class_definition].contains(&view.index.kind(*s)))
        .collect()
}

/// Whether a name is in an import and is not renamed there: importing is not using.
fn only_imports(view: &FileView<'_>, id: Id) -> bool {
    let k = kinds();
    let mut around = view.index.ancestors(id).take(3).map(|a| view.index.kind(a));
    around
        .find(|kind| [k.aliased_import, k.import_from_statement, k.import_statement].contains(kind))
        .is_some_and(|kind| kind != k.aliased_import)
}

/// Whether a string is a statement by itself, as a docstring is.
fn is_text_alone(view: &FileView<'_>, string: Id) -> bool {
    view.index.parent(string).is_some_and(|p| view.index.kind(p) == kinds().expression_statement)
}

/// Whether a file looks up names that it does not contain: in a module of the project, among all definitions, or among
/// subclasses.
fn looks_names_up(view: &FileView<'_>, places: &BTreeSet<String>) -> bool {
    let index = &view.index;
    let of_project = |module: Id| {
        let name = view.names.qualify(index, module);
        name.is_some_and(|name| name.split('.').any(|part| places.contains(part)) || name.starts_with("sys.modules"))
    };
    let gets = |call: &Id| index.arguments(*call).positional().next().is_some_and(of_project);
    let evaluates = |call: &Id| index.receiver(*call).is_none() && called_name(index, *call) == Some("eval");
    LOOKUPS_BY_NAME.iter().any(|word| view.has_word(word))
        || view.calls("getattr").iter().any(gets)
        || view.calls("eval").iter().any(evaluates)
}
