//! Ports of a project of several files: every file still compiles if it did before, a second port changes nothing, and
//! only edits change a file's bytes.

use super::port_program::{CPYTHON, RECIPES, look, options};
use super::{Mutator, Target, Ways, chosen};
use crate::fuzz::{projects, seeds};
use codemod::{Options, Ported, SourceFile, port};
use tests::cpython::{CPython, Said};
use tests::examine::{bytes_kept, comment_lost};
use tests::faults::{Fault, Kind};

pub(super) const TARGET: Target =
    Target { name: "port_project", check, seeds: seeds::projects, mutator: Mutator::Project, short: 60 };

fn check(input: &[u8], ways: Ways) {
    let parts = projects::split(&String::from_utf8_lossy(input)).into_iter();
    let files: Vec<SourceFile> = parts.map(|(path, text)| SourceFile { path, text }).collect();
    let all: Vec<Options> = RECIPES.targets().into_iter().flat_map(options).collect();
    CPYTHON.with_borrow_mut(|cpython| {
        let said: Vec<Said> = files.iter().map(|file| look(cpython, &file.text)).collect();
        for options in chosen(&all, input, ways) {
            if let Some((path, Fault { kind, class, detail })) = fault(&files, &said, &options, cpython) {
                panic!("{}: {class} [{options:?}] {path}: {detail}", kind.name());
            }
        }
    });
}

fn is_python(file: &SourceFile) -> bool {
    python::is_python(&file.path)
}

/// The first violated property of a port, with the file.
fn fault(files: &[SourceFile], said: &[Said], options: &Options, cpython: &mut CPython) -> Option<(String, Fault)> {
    let lost = |class: &str| Fault::new(Kind::LostBytes, class, class);
    let Ported { files: ported, .. } = port(files, &RECIPES, options);
    let paths = ported.iter().filter(|file| !file.is_new).map(|file| &file.path);
    if !paths.eq(files.iter().map(|file| &file.path)) {
        return Some((String::new(), lost("the files are others")));
    }
    for ((file, after), said) in files.iter().zip(&ported).zip(said) {
        let told = |fault| Some((file.path.clone(), fault));
        if let Some(fault) = bytes_kept(&file.text, after) {
            return told(fault);
        }
        // Other files are read, and some are changed: those that specify what is installed.
        if after.changed && !is_python(file) && !file.path.ends_with(".txt") {
            return told(lost("a file that a port has no business with"));
        }
        // If CPython rejects it, only the bytes are checked.
        if !after.changed || !is_python(file) || said.refused.is_some() {
            continue;
        }
        let now = cpython.look_at_port(&file.text, after);
        let now = now.unwrap_or_else(|fault| Said { refused: Some(fault), ..Said::default() });
        if let Some(why) = &now.refused {
            return told(Fault::new(Kind::DoesNotParse, "CPython", why.clone()));
        }
        if let Some(other) = now.other_tree {
            return told(Fault::new(Kind::OtherTree, "CPython", other));
        }
        if let Some(fault) = comment_lost(said, &now, after) {
            return told(fault);
        }
    }
    if files.iter().zip(said).any(|(file, said)| is_python(file) && said.refused.is_some()) {
        return None;
    }
    let texts = ported.iter().map(|file| SourceFile { path: file.path.clone(), text: file.text.clone() });
    let again = port(&texts.collect::<Vec<_>>(), &RECIPES, options);
    let differs = again.files.iter().zip(&ported).find(|(again, ported)| again.text != ported.text)?.0;
    let recipe = differs.edits.first().map_or("", |edit| edit.recipe.as_str());
    Some((differs.path.clone(), Fault::new(Kind::SecondPort, recipe, format!("{recipe} changes the port again"))))
}
