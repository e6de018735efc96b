//! Functions and classes that nothing in a project uses: a program that starts in one of its files never reaches them.

use crate::loading::{imported_words, leading_to, leading_to_training, module_name};
use crate::program_start::main_block;
use crate::view::FileView;
use crate::words::LOOKUPS_BY_NAME;
use python::names::called_name;
use python::tree::{Id, ROOT, kinds};
use rustc_hash::FxHashMap;
use sorting::{SortedMap, SortedSet};

/// Top-level definitions that no program of the project reaches, by path and name; in a module, those that no program
/// reaches that trains; and the files that none of these load and that train nothing themselves.
#[derive(Debug, Default)]
pub struct Unused {
    definitions: SortedMap<String, SortedSet<String>>,
    files: SortedSet<String>,
    shown: SortedSet<String>,
}

impl Unused {
    /// The unused definition around a node, with its name.
    pub fn around<'t>(&self, view: &FileView<'t>, id: Id) -> Option<(Id, &'t str)> {
        let names = self.definitions.get(view.path)?;
        let definition = statement_around(view, id)?;
        let name = view.name_of(definition);
        names.contains(name).then_some((definition, name))
    }

    /// The statement around a node of a file that no program loads that trains, and the name of the file.
    pub fn in_other_program<'v>(&self, view: &FileView<'v>, id: Id) -> Option<(Id, &'v str)> {
        let statement = statement_around(view, id).filter(|_| self.files.contains(view.path))?;
        Some((statement, view.path.rsplit('/').next().unwrap_or(view.path)))
    }

    /// The main block around a node of a file that trains nothing and that programs load that train: they do not run it.
    pub fn in_main_block(&self, view: &FileView<'_>, id: Id) -> Option<(Id, &'static str)> {
        let statement = statement_around(view, id).filter(|_| self.shown.contains(view.path))?;
        (main_block(view) == Some(statement)).then_some((statement, "__main__"))
    }

    /// Reads all files. Nothing is unused if no program starts, since users of a library may use all of it, or if names
    /// are looked up that are known only at run time.
    pub fn collect(views: &[&FileView<'_>], places: &SortedSet<String>) -> Self {
        if !views.iter().any(|view| starts(view)) || views.iter().any(|view| looks_names_up(view, places)) {
            return Self::default();
        }
        let definitions: Vec<Vec<Id>> = views.iter().map(|view| definitions(view)).collect();
        // Words by the definition that contains them; those outside definitions are used when a file is loaded.
        let mut said: FxHashMap<(usize, Id), Vec<&str>> = FxHashMap::default();
        let mut outside: Vec<(usize, &str)> = Vec::new();
        for (file, view) in views.iter().enumerate() {
            let owner = |at: Id| {
                let after = definitions[file].partition_point(|d| *d <= at);
                let last = after.checked_sub(1).map(|n| definitions[file][n]);
                last.filter(|d| view.index.is_within(at, *d)).map(|d| (file, d))
            };
            for (word, ids) in view.words() {
                for &id in ids.iter().filter(|id| !only_imports(view, **id)) {
                    let own = owner(id);
                    match own {
                        None => outside.push((file, word)),
                        Some((_, d)) if view.name_of(d) == word => {}
                        Some(own) => said.entry(own).or_default().push(word),
                    }
                }
            }
            for &string in view.index.of_kind(kinds().string).iter().filter(|s| !is_text_alone(view, **s)) {
                let words = view.index.text_of(string).split(|c: char| !(c.is_alphanumeric() || c == '_'));
                let words = words.filter(|word| !word.is_empty());
                match owner(string) {
                    None => outside.extend(words.map(|word| (file, word))),
                    Some(own) => said.entry(own).or_default().extend(words),
                }
            }
        }
        let mut defined: SortedMap<&str, Vec<(usize, Id)>> = SortedMap::new();
        for (file, view) in views.iter().enumerate() {
            for &definition in &definitions[file] {
                defined.entry(view.name_of(definition)).or_default().push((file, definition));
            }
        }
        // The definitions that nothing reaches from the files whose top level runs.
        let unreached = |runs: &dyn Fn(usize) -> bool| {
            // Commands that are installed with a package name these in non-Python files.
            let mut words: Vec<&str> = vec!["main", "cli"];
            words.extend(outside.iter().filter(|(file, _)| runs(*file)).map(|(_, word)| *word));
            let mut left = defined.clone();
            while let Some(word) = words.pop() {
                for place in left.remove(word).unwrap_or_default() {
                    words.extend(said.get(&place).into_iter().flatten());
                }
            }
            left
        };
        let training = loaded_in_training(views);
        let mut out = Self::default();
        let mut set_aside = |left: SortedMap<&str, Vec<(usize, Id)>>, is_meant: &dyn Fn(usize) -> bool| {
            for (name, places) in left {
                for (file, _) in places.into_iter().filter(|(file, _)| is_meant(*file)) {
                    out.definitions.entry(views[file].path.to_owned()).or_default().insert(name.to_owned());
                }
            }
        };
        set_aside(unreached(&|_| true), &|_| true);
        if !training.is_empty() {
            set_aside(unreached(&|file| training.contains(views[file].path)), &|file| !starts(views[file]));
            let leading = leading_to_training(views, &[]);
            let trains = ["minimize", "apply_gradients", "train", "fit_generator", "train_on_batch"];
            let is_other = |view: &&&FileView<'_>| {
                let acts = trains.iter().any(|name| !view.calls(name).is_empty());
                !training.contains(view.path) && !leading.contains(view.path) && !acts
            };
            out.files = views.iter().filter(is_other).map(|view| view.path.to_owned()).collect();
        }
        let trains = |view: &FileView<'_>| !view.steps.training.is_empty() || !view.calls("fit").is_empty();
        let leading = leading_to(views, trains);
        let roots = views.iter().copied().filter(|view| leading.contains(view.path)).collect();
        let loaded = loaded_by(views, roots);
        let only_shows = |view: &&&FileView<'_>| {
            main_block(view).is_some() && loaded.contains(view.path) && !leading.contains(view.path)
        };
        out.shown = views.iter().filter(only_shows).map(|view| view.path.to_owned()).collect();
        out
    }
}

/// The statement of a file that a node is in.
fn statement_around(view: &FileView<'_>, id: Id) -> Option<Id> {
    std::iter::once(id).chain(view.index.ancestors(id)).find(|a| view.index.parent(*a) == Some(ROOT))
}

/// The files that programs load that train.
fn loaded_in_training<'v>(views: &[&'v FileView<'_>]) -> SortedSet<&'v str> {
    let leading = leading_to_training(views, &[]);
    let trains = |view: &FileView<'_>| !view.calls("fit").is_empty() || (starts(view) && leading.contains(view.path));
    loaded_by(views, views.iter().copied().filter(|view| trains(view)).collect())
}

/// Files and all that they load, by the names of the modules that they import.
fn loaded_by<'v, 't>(views: &[&'v FileView<'t>], mut new: Vec<&'v FileView<'t>>) -> SortedSet<&'v str> {
    let mut loaded: SortedSet<&str> = SortedSet::new();
    while !new.is_empty() {
        loaded.extend(new.iter().map(|view| view.path));
        let words: SortedSet<&str> = new.into_iter().flat_map(imported_words).collect();
        let is_new = |view: &&FileView<'_>| {
            !loaded.contains(view.path) && module_name(view.path).is_some_and(|name| words.contains(name))
        };
        new = views.iter().copied().filter(is_new).collect();
    }
    loaded
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
fn looks_names_up(view: &FileView<'_>, places: &SortedSet<String>) -> bool {
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

#[cfg(test)]
mod tests {
    use super::Unused;
    use crate::marked;

    /// The unused definition around the marked place.
    #[track_caller]
    fn check(program: &str, expected: &str) {
        marked::check(program, expected, |at| {
            let unused = Unused::collect(&at.project_views(), &at.project.places);
            unused.around(at.file().view, at.node()).map_or("", |(_, name)| name).to_owned()
        });
    }

    #[test]
    fn definitions_that_no_program_reaches() {
        let old = "def old():\n    f(1)\n    ^^^^\n";
        let run = "def run():\n    net(x).backward()\nif __name__ == '__main__':\n    run()\n";
        check(&format!("{old}{run}"), "old");
        check(&format!("{old}{run}    old()\n"), "");
        check(&format!("{old}def mid():\n    old()\n{run}"), "old");
        check(&format!("{old}{run}#- other.py\nfrom train import old\n"), "old");
        check(&format!("{old}{run}#- other.py\nfrom train import old\nif __name__ == '__main__':\n    old()\n"), "");
        check(&format!("@register\n{old}{run}"), "");
        check(&format!("{old}{run}    table['old']()\n"), "");
    }

    #[test]
    fn nothing_is_unused_where_names_are_looked_up_or_no_program_starts() {
        let old = "def old():\n    f(1)\n    ^^^^\n";
        check(&format!("{old}if __name__ == '__main__':\n    globals()[name]()\n"), "");
        check(&format!("{old}x = 1\n"), "");
    }

    #[test]
    fn a_file_that_no_program_loads_that_trains() {
        let program = |import: &str| {
            let fit = format!("{import}\ndef fit():\n    net(x).backward()\nif __name__ == '__main__':\n    fit()\n");
            format!("{fit}#- draw.py\nf(1)\n^^^^\nif __name__ == '__main__':\n    f(2)\n")
        };
        let check = |import: &str, expected: &str| {
            marked::check(&program(import), expected, |at| {
                let unused = Unused::collect(&at.project_views(), &at.project.places);
                unused.in_other_program(at.file().view, at.node()).map_or("", |(_, name)| name).to_owned()
            });
        };
        check("import os", "draw.py");
        check("import draw", "");
    }
}
