//! Where a program starts and reads its command line.

use crate::view::FileView;
use python::tree::{Id, ROOT, kinds};
use rustc_hash::{FxHashMap, FxHashSet};
use sorting::{SortedMap, SortedSet};
use std::cell::{OnceCell, RefCell};
use std::collections::VecDeque;
use std::ops::Deref;
use std::rc::Rc;

/// The statement before which a program has not parsed its command line: its own parsing, the start of its main block,
/// or the call of its main function. `trains` is a node created for the training: if it is created before that place is
/// reached, an earlier parsing call or the statement that creates it is returned instead.
pub fn command_line(view: &FileView<'_>, trains: Id) -> Option<Id> {
    let index = &view.index;
    let parses = || ["parse_args", "parse_known_args"].iter().flat_map(|n| view.calls(n)).copied();
    let at_top = parses().find(|c| view.function_of(*c).is_none()).filter(|c| *c < trains);
    let in_main = || main_block(view).and_then(|main| index.parts(index.if_statement(main)?.body()?).next());
    // `main()` as a statement, at the left margin.
    let own_call = || {
        let calls_own = |s: &Id| {
            let callee = index.parts(*s).next().and_then(|call| index.callee(call));
            callee.is_some_and(|g| index.kind(g) == kinds().identifier && view.defines(index.text_of(g)))
        };
        let mut statements = index.parts(ROOT).filter(|s| index.kind(*s) == kinds().expression_statement);
        statements.find(calls_own).filter(|_| view.function_of(trains).is_some())
    };
    let anywhere = || view.calls("parse_args").first().and_then(|c| view.statement_of(*c));
    let called = || run_at(view, trains, 4).filter(|_| view.function_of(trains).is_some());
    let start = at_top.and_then(|c| view.statement_of(c)).or_else(in_main).or_else(own_call).or_else(anywhere);
    let start = start.or_else(called)?;
    match (run_at(view, trains, 4), run_at(view, start, 4)) {
        (Some(made), Some(late)) if made < late => {
            let parsed = parses().filter_map(|c| run_at(view, c, 4)).min().filter(|parsed| *parsed < made);
            parsed.or(Some(made).filter(|_| view.function_of(trains).is_some()))
        }
        _ => Some(start),
    }
}

/// The first statement of the module that runs the code at a place, directly or through functions of the file.
fn run_at(view: &FileView<'_>, at: Id, depth: u8) -> Option<Id> {
    let index = &view.index;
    let Some(function) = view.function_of(at) else {
        return index.parts(ROOT).find(|s| index.is_within(at, *s));
    };
    let depth = depth.checked_sub(1)?;
    let class = view.class_of(function).filter(|_| view.name_of(function) == "__init__");
    let instances = class.map_or(&[] as &[Id], |class| view.calls(view.name_of(class)));
    let calls = instances.iter().copied().chain(view.callers(function));
    calls.filter_map(|call| run_at(view, call, depth)).min()
}

/// `if __name__ == "__main__":`
pub fn main_block(view: &FileView<'_>) -> Option<Id> {
    let index = &view.index;
    index.parts(ROOT).find(|s| {
        let condition = index.if_statement(*s).and_then(|i| i.condition());
        condition.is_some_and(|c| index.mentions(c, |name| name == "__name__"))
    })
}

/// A program that imports a file, directly or indirectly.
#[derive(Clone)]
pub struct Start {
    /// Its number.
    pub file: usize,
    /// Its path.
    pub path: String,
    /// The name by which the file is imported; none if it is the program itself.
    pub module: Option<String>,
}

impl Start {
    /// The program's main block, as it was read from its file.
    pub fn main(&self, view: &FileView<'_>) -> Option<Id> {
        main_block(view)
    }

    /// The statement before which the program has not parsed its command line, as it was read from its file; below its last import at
    /// the top level, since the program may change the import path before.
    pub fn before_parsing(&self, view: &FileView<'_>) -> Option<Id> {
        let (index, k) = (&view.index, kinds());
        let main = main_block(view);
        let is_import = |s: &Id| [k.import_statement, k.import_from_statement].contains(&index.kind(*s));
        let last = index.parts(ROOT).filter(is_import).last();
        let parses = ["parse_args", "parse_known_args"].iter().flat_map(|name| view.calls(name));
        let at_top = parses.filter(|c| view.function_of(**c).is_none()).filter_map(|c| run_at(view, *c, 1)).min();
        let in_main = || index.parts(index.if_statement(main?)?.body()?).next();
        let below_imports = || index.parts(ROOT).find(|s| last.is_none_or(|last| *s > last));
        at_top.filter(|at| main.is_none_or(|main| *at < main)).or_else(in_main).or_else(below_imports)
    }
}

/// Whether a file without a main block does something when it is started: a call, a loop or a `with` at the left margin.
fn acts(text: &str) -> bool {
    let calls = |line: &str| {
        let word = line.find(|c: char| !(c.is_alphanumeric() || "_.".contains(c))).unwrap_or(line.len());
        word > 0 && line[word..].starts_with('(')
    };
    text.lines().any(|line| ["for ", "while ", "with "].iter().any(|word| line.starts_with(word)) || calls(line))
}

/// Path and text of every file of a project, with the programs that import a file.
pub struct Texts<'a> {
    files: Vec<(&'a str, &'a str)>,
    imports: OnceCell<Imports>,
    /// What is known of each file.
    known: Vec<KnownFile>,
    loaders: RefCell<SortedMap<String, Rc<Loaders>>>,
}

/// What programs ask of a file, as far as it was asked.
#[derive(Clone, Default)]
struct KnownFile {
    importers: OnceCell<Vec<(usize, String)>>,
    has_main: OnceCell<bool>,
    starts: OnceCell<Vec<Start>>,
}

/// Which files import which, by their texts.
struct Imports {
    /// The file of each path, the first if there are several.
    files: FxHashMap<String, usize>,
    /// The Python files that import a module, by its dotted name.
    importers: FxHashMap<String, Vec<usize>>,
}

/// The files with some text that a program imports or is, by the program's path.
type Loaders = FxHashMap<String, Vec<Rc<Loaded>>>;

/// A file that programs import.
pub struct Loaded {
    /// Its number.
    pub file: usize,
    /// The programs.
    pub starts: Vec<Start>,
}

impl<'a> Deref for Texts<'a> {
    type Target = [(&'a str, &'a str)];
    fn deref(&self) -> &Self::Target {
        &self.files
    }
}

impl<'a> Texts<'a> {
    /// The files of a project.
    pub fn new(files: Vec<(&'a str, &'a str)>) -> Self {
        let known = vec![KnownFile::default(); files.len()];
        Self { files, imports: OnceCell::new(), known, loaders: RefCell::default() }
    }

    /// Programs that import a file, nearest first.
    pub fn starts(&self, file: &str) -> &[Start] {
        let number = self.imports().files.get(file);
        number.map_or(&[], |number| self.known[*number].starts.get_or_init(|| self.starts_of(*number)))
    }

    fn starts_of(&self, file: usize) -> Vec<Start> {
        let mut out = Vec::new();
        let mut seen: FxHashSet<usize> = FxHashSet::default();
        let mut wanted: VecDeque<(usize, Option<&str>)> = VecDeque::from([(file, None)]);
        while let Some((at, module)) = wanted.pop_front() {
            if !seen.insert(at) {
                continue;
            }
            let (path, text) = self.files[at];
            let KnownFile { importers, has_main, .. } = &self.known[at];
            let importers = importers.get_or_init(|| self.importers(path).into_iter().collect());
            // A module in another file's own folder has that name only there.
            wanted.extend(importers.iter().map(|(other, name)| (*other, module.or(Some(name)))));
            let is_main = |line: &str| line.starts_with("if __name__") && line.contains("__main__");
            let has_main = *has_main.get_or_init(|| text.lines().any(is_main));
            if has_main || (module.is_some() && importers.is_empty() && acts(text)) {
                out.push(Start { file: at, path: path.to_owned(), module: module.map(str::to_owned) });
            }
        }
        out
    }

    /// The files with a text that a program imports or is.
    pub fn loaded_by(&self, program: &str, with: &str) -> Vec<Rc<Loaded>> {
        let collect = || {
            let mut loaders = Loaders::default();
            for (file, (path, _)) in self.files.iter().enumerate().filter(|(_, (_, text))| text.contains(with)) {
                let loaded = Rc::new(Loaded { file, starts: self.starts(path).to_vec() });
                for start in &loaded.starts {
                    loaders.entry(start.path.clone()).or_default().push(Rc::clone(&loaded));
                }
            }
            Rc::new(loaders)
        };
        let known = Rc::clone(self.loaders.borrow_mut().entry(with.to_owned()).or_insert_with(collect));
        known.get(program).cloned().unwrap_or_default()
    }

    fn imports(&self) -> &Imports {
        self.imports.get_or_init(|| {
            let mut imports = Imports { files: FxHashMap::default(), importers: FxHashMap::default() };
            for (at, (path, text)) in self.files.iter().enumerate() {
                imports.files.entry((*path).to_owned()).or_insert(at);
                if path.ends_with(".py") {
                    for name in imported(text) {
                        imports.importers.entry(name).or_default().push(at);
                    }
                }
            }
            imports
        })
    }

    /// The files that import the module at a path, in order, with the name by which each does: the longest if there are several.
    fn importers(&self, path: &str) -> SortedMap<usize, String> {
        let mut found = SortedMap::new();
        let Some(module) = path.strip_suffix(".py") else { return found };
        let dotted = module.replace(['/', '\\'], ".");
        let names = std::iter::successors(Some(dotted.as_str()), |name| Some(name.split_once('.')?.1));
        for name in names {
            for importer in self.imports().importers.get(name).into_iter().flatten() {
                found.entry(*importer).or_insert_with(|| name.to_owned());
            }
        }
        found
    }
}

/// The dotted names that a text imports: `torch.nn` of `import torch.nn`, both `torch` and `torch.nn` of `from torch import nn`.
fn imported(text: &str) -> SortedSet<String> {
    let is_import = |line: &&str| ["from", "import"].iter().any(|word| line.starts_with(word));
    let mut names = SortedSet::new();
    for line in text.lines().map(str::trim).filter(is_import) {
        let words = line.split(|c: char| c.is_whitespace() || ",()".contains(c)).filter(|w| !w.is_empty());
        match words.collect::<Vec<&str>>().as_slice() {
            ["from", from, "import", rest @ ..] => {
                names.extend(rest.iter().map(|name| format!("{from}.{name}")));
                names.insert((*from).to_owned());
            }
            ["import", rest @ ..] => names.extend(rest.iter().map(|name| (*name).to_owned())),
            _ => {}
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::{command_line, main_block};
    use crate::marked;

    #[test]
    fn where_a_program_reads_its_command_line() {
        let check = |program: &str, expected: &str| {
            marked::check(program, expected, |at| at.lines(command_line(at.file().view, at.node())));
        };
        let made = "f(1)\n^^^^\n";
        check(&format!("args = parser.parse_args()\n{made}"), "args = parser.parse_args()");
        check(made, "");
        let inside = "def main():\n    f(1)\n    ^^^^\n";
        check(&format!("{inside}if __name__ == '__main__':\n    seed()\n    main()\n"), "seed()");
        check(&format!("{inside}main()\n"), "main()");
        check(inside, "");
    }

    #[test]
    fn the_main_block() {
        let check = |program: &str, expected: &str| {
            marked::check(program, expected, |at| at.lines(main_block(at.file().view)));
        };
        check("if __name__ == '__main__':\n    f()\n", "if __name__ == '__main__':");
        check("if name == '__main__':\n    f()\n", "");
    }
}
