//! Which files of a project are programs, and which of them is likely to train.

use crate::view::FileView;
use python::modules::Modules;
use python::tree::{Id, ROOT, kinds};

/// A file that does something when Python runs it.
pub(crate) struct Started {
    /// Where it begins to run: `if __name__ == "__main__":`, or the first statement that acts.
    pub(crate) at: Id,
    /// The call of Hydra's decorator, if it has one.
    pub(crate) hydra: Option<Id>,
    /// Indices of the files that it consists of, itself first.
    pub(crate) files: Vec<usize>,
}

/// The programs of a project, those most likely to train first.
pub(crate) fn programs(views: &[&FileView<'_>]) -> Vec<Started> {
    let imports = Modules::of(views.iter().map(|view| &view.file).collect());
    let started = (0..views.len()).filter_map(|n| begins(views[n]).map(|(at, hydra)| (n, at, hydra)));
    let program = |(n, at, hydra): (usize, Id, Option<Id>)| {
        let files = imports.reached(n);
        let reached: Vec<&FileView<'_>> = files.iter().map(|n| views[*n]).collect();
        (unlikeliness(&reached, hydra.is_some()), Started { at, hydra, files })
    };
    let mut programs: Vec<(i32, Started)> = started.map(program).collect();
    sorting::by_key(&mut programs, |(unlikely, started)| (*unlikely, views[started.files[0]].path));
    programs.into_iter().map(|(_, started)| started).collect()
}

/// The files of all programs, as indices: those of the program that is most likely to train first, each with its own
/// file at the front.
#[must_use]
pub fn files_of_programs(views: &[&FileView<'_>]) -> Vec<usize> {
    starts_of(views).concat()
}

/// The files of each program, as indices, its own first.
#[must_use]
pub fn starts_of(views: &[&FileView<'_>]) -> Vec<Vec<usize>> {
    programs(views).into_iter().map(|program| program.files).collect()
}

/// Where a file begins to run, and the call of Hydra's decorator if it has one.
fn begins(view: &FileView<'_>) -> Option<(Id, Option<Id>)> {
    let k = kinds();
    let index = &view.index;
    let main = view.calls("main").iter().copied().find(|call| {
        let function = view.qualified(*call);
        function.is_some_and(|name| name == "hydra.main")
            && index.parent(*call).is_some_and(|parent| index.kind(parent) == k.decorator)
    });
    let guard = index.parts(ROOT).find(|statement| {
        index.kind(*statement) == k.if_statement
            && index.condition(*statement).is_some_and(|c| index.text_of(c).contains("__name__"))
    });
    if let Some(start) = guard.or(main) {
        return Some((start, main));
    }
    let name = view.path.rsplit('/').next().unwrap_or(view.path);
    if name == "__init__.py" || name == "setup.py" || name == "conftest.py" {
        return None;
    }
    // Without a main block the whole file runs; it is a program if it trains at that point.
    let acts = |statement: &Id| {
        let trains = ["backward", "fit", "train", "LightningCLI", "notebook_launcher"]
            .iter()
            .any(|word| !view.calls_in(word, *statement).is_empty());
        ![k.function_definition, k.class_definition, k.decorated_definition].contains(&index.kind(*statement)) && trains
    };
    // Code for a target that compiles has no `backward()` any more; its loop still calls something.
    let calls = |statement: &Id| !index.of_kind_in(k.call, *statement).is_empty();
    let loops = |statement: &Id| {
        [k.for_statement, k.while_statement].contains(&index.kind(*statement))
            && view.names.imports("torch")
            && calls(statement)
    };
    index.parts(ROOT).find(acts).or_else(|| index.parts(ROOT).find(loops)).map(|start| (start, None))
}

/// The sort key of programs, smallest first.
fn unlikeliness(reached: &[&FileView<'_>], is_hydra: bool) -> i32 {
    let view = reached[0];
    let path = view.path.to_ascii_lowercase();
    let name = path.rsplit('/').next().unwrap_or(&path);
    let trains = |view: &&FileView<'_>| ["backward", "fit"].iter().any(|word| !view.calls(word).is_empty());
    let mut score = i32::try_from(path.matches('/').count()).unwrap_or(9);
    if name.contains("train") || name.starts_with("main") {
        score -= 8;
    }
    if is_hydra {
        score -= 4;
    }
    if trains(&view) {
        score -= 4;
    } else if !reached.iter().any(trains) {
        score += 8;
    }
    let others =
        ["test", "eval", "predict", "infer", "valid", "export", "convert", "download", "plot", "analy", "prepro"];
    if others.iter().any(|word| name.contains(word)) || path.split('/').any(|part| part == "tests" || part == "test") {
        score += 16;
    }
    score
}

#[cfg(test)]
mod tests {
    use super::programs;
    use crate::marked;

    /// The programs of a project, each with its files, those that are most likely to train first.
    #[track_caller]
    fn check(program: &str, expected: &[&str]) {
        marked::check(program, expected, |at| {
            let paths = |files: Vec<usize>| files.into_iter().map(|n| at.views[n].path).collect::<Vec<_>>().join(" ");
            programs(&at.project_views()).into_iter().map(|started| paths(started.files)).collect::<Vec<_>>()
        });
    }

    const MAIN: &str = "if __name__ == '__main__':\n    run()\n";

    #[test]
    fn files_that_are_programs() {
        check(&format!("#- a.py\n{MAIN}#- b.py\ndef f():\n    pass\n"), &["a.py"]);
        check("#- a.py\nfor x in y:\n    net(x).backward()\n", &["a.py"]);
        check("#- a.py\nimport torch\nfor x in y:\n    f(x)\n", &["a.py"]);
        check("#- a.py\nfor x in y:\n    f(x)\n", &[]);
        check("#- __init__.py\nfor x in y:\n    net(x).backward()\n", &[]);
    }

    #[test]
    fn the_files_of_a_program() {
        let a = format!("#- src/a.py\nfrom . import b\nimport deep.c\n{MAIN}");
        check(
            &format!("{a}#- src/b.py\nx = 1\n#- src/deep/c.py\nx = 1\n#- d.py\nx = 1\n"),
            &["src/a.py src/b.py src/deep/c.py"],
        );
        // A single word may be a package.
        check(&format!("#- a.py\nimport yaml\n{MAIN}#- lib/yaml.py\nx = 1\n"), &["a.py"]);
        check(&format!("#- a.py\nimport lib.yaml\n{MAIN}#- src/lib/yaml.py\nx = 1\n"), &["a.py src/lib/yaml.py"]);
    }

    #[test]
    fn the_program_that_trains_first() {
        let step = "def fit():\n    net(x).backward()\n";
        check(&format!("#- a.py\n{MAIN}#- b.py\n{step}{MAIN}"), &["b.py", "a.py"]);
        check(&format!("#- eval.py\n{step}{MAIN}#- fit.py\n{step}{MAIN}"), &["fit.py", "eval.py"]);
        check(&format!("#- a/run.py\n{step}{MAIN}#- a/train_net.py\n{step}{MAIN}"), &["a/train_net.py", "a/run.py"]);
    }
}
