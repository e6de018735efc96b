//! Where a project with compute modes starts: SambaFlow's part of the command line is taken off before the program reads
//! its own, in the file that is started.

use super::{Input, RUNTIME, Wish};
use crate::change::Change;
use crate::facts::FileView;
use crate::order::Set;
use crate::tree::{Id, ROOT, fields, kinds};

/// The program that imports a trainer, by whichever way, and the trainer's name there.
pub(super) struct Start<'a> {
    path: &'a str,
    module: String,
}

/// Finds the program that runs the trainer in `view`.
pub(super) fn start<'a>(input: &Input<'a, '_>, view: &FileView<'_>) -> Option<Start<'a>> {
    starts(input, view.path).into_iter().next()
}

/// Programs that import a file, nearest first.
fn starts<'a>(input: &Input<'a, '_>, trainer: &str) -> Vec<Start<'a>> {
    let mut out = Vec::new();
    let mut seen: Set<&str> = Set::new();
    let own = input.files.iter().find(|(path, _)| *path == trainer);
    let mut wanted: Vec<(&str, String)> = own.map(|(path, _)| (*path, String::new())).into_iter().collect();
    while let Some((path, module)) = wanted.pop() {
        if !seen.insert(path) {
            continue;
        }
        let text = input.files.iter().find(|(p, _)| *p == path).map_or("", |(_, t)| *t);
        if has_main(text) && (path == trainer || !module.is_empty()) {
            out.push(Start { path, module: if path == trainer { String::new() } else { module.clone() } });
        }
        for (other, text) in input.files.iter().filter(|(p, _)| p.ends_with(".py")) {
            if let Some(name) = imported_as(path, text) {
                // What another file imports from its own folder has that name only there.
                let full = if path == trainer { name } else { module.clone() };
                wanted.insert(0, (other, full));
            }
        }
    }
    out
}

fn has_main(text: &str) -> bool {
    text.lines().any(|l| l.starts_with("if __name__") && l.contains("__main__"))
}

/// The name by which a file's text imports the module at a path, if it does.
fn imported_as(path: &str, text: &str) -> Option<String> {
    let stem = path.strip_suffix(".py")?;
    let dotted = stem.replace(['/', '\\'], ".");
    let mut name = dotted.as_str();
    loop {
        let (package, module) = name.rsplit_once('.').unwrap_or(("", name));
        let imports = text.lines().map(str::trim).any(|line| {
            let words: Vec<&str> =
                line.split(|c: char| c.is_whitespace() || ",()".contains(c)).filter(|w| !w.is_empty()).collect();
            match words.as_slice() {
                ["from", from, "import", rest @ ..] => *from == name || (*from == package && rest.contains(&module)),
                ["import", rest @ ..] => rest.contains(&name),
                _ => false,
            }
        });
        if imports {
            return Some(name.to_owned());
        }
        name = name.split_once('.')?.1;
    }
}

/// Reads the command line in a program whose trainer has been ported.
pub(super) fn wish(input: &Input<'_, '_>, view: &FileView<'_>) -> Option<Wish> {
    let class = format!("class {RUNTIME}:");
    let start = input
        .files
        .iter()
        .filter(|(_, text)| text.contains(&class))
        .find_map(|(path, _)| starts(input, path).into_iter().find(|s| s.path == view.path))?;
    let main = main_block(view)?;
    let index = &view.index;
    if index.text.matches("rdu.read_command_line()").count() > 0 {
        return None;
    }
    // Above the block, which stays as it is for every other mode, and above its comments.
    let mut at = index.item(main).start;
    let (unit, newline, q) = (&view.layout.indent, view.layout.newline, view.layout.quote);
    while let Some(line) = index.text[..at].lines().next_back().filter(|l| l.starts_with('#')) {
        at -= line.len() + newline.len();
    }
    let import = match start.module.as_str() {
        "" => String::new(),
        module => format!("{unit}from {module} import rdu{newline}{newline}"),
    };
    let text = format!(
        "if __name__ == {q}__main__{q} and sys.argv[1:2] in ([{q}compile{q}], [{q}run{q}]):{newline}{import}{unit}rdu.read_command_line(){newline}{newline}"
    );
    Some(Wish { at, changes: vec![Change::Raw { range: at..at, text }], imports: vec!["import sys".to_owned()] })
}

/// `if __name__ == "__main__":`
fn main_block(view: &FileView<'_>) -> Option<Id> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let tests_name = |s: Id| index.field(s, f.condition).is_some_and(|t| index.text_of(t).contains("__name__"));
    index.parts(ROOT).find(|s| index.kind(*s) == k.if_statement && tests_name(*s))
}
