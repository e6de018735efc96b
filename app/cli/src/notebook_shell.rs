//! The lines of notebooks that a shell runs: what the check of scripts finds in them.

use codemod::{Diagnostic, Options, PortedFile, RecipeSet, Severity, SourceFile, Span, Style};
use launch::{Finding, Target, lint, split_words};
use python::notebook::{CellLines, CellPlace, Notebook};
use training::words::NOTEBOOK_MAGICS;

/// The mistakes in the shell lines of a notebook, with the number of the line among them. IPython replaces `$name` by the
/// value of a Python variable, so names that no shell sets are none.
fn findings(script: &str, target: Target) -> impl Iterator<Item = (usize, Finding)> {
    let found = lint(script, target).findings.into_iter().filter(|finding| finding.rule != "unset-variable");
    found.map(|finding| (finding.line.saturating_sub(1), finding))
}

/// The findings as lines for a terminal.
pub(crate) fn messages(path: &str, notebook: &Notebook, target: Target) -> Vec<String> {
    let lines = notebook.shell_lines();
    let found = findings(&lines.script, target);
    let line = |(line, Finding { rule, message, .. })| {
        let CellPlace { cell, line } = lines.places.get(line)?;
        Some(format!("{path}:cell {cell}:{line}: warning[{rule}] {message}"))
    };
    found.filter_map(line).collect()
}

/// Adds the findings in a notebook to the messages of its port, except in lines that have a message already, and what the port
/// of a list of packages says of those that are installed there.
pub(crate) fn report(original: &Notebook, file: &mut PortedFile, recipes: &RecipeSet, options: &Options) {
    let Some(target) = Target::named(&options.target) else { return };
    let lines = original.shell_lines();
    if lines.script.is_empty() {
        return;
    }
    let ported = file.notebook.as_ref().and_then(|json| Notebook::read(json, NOTEBOOK_MAGICS).ok());
    let places = ported.as_ref().unwrap_or(original).shell_lines().places;
    let (program, told) = (original.program(), file.diagnostics.clone());
    let [before, after] = [&program, &file.text].map(|program| CellSpans::of(program));
    let found =
        findings(&lines.script, target).map(|(line, found)| (line, format!("shell#{}", found.rule), found.message));
    let of_packages = whole_lines(&lines.script).flat_map(|(line, command)| {
        let said = packages(&installed(&command), recipes, options).into_iter();
        said.map(move |(recipe, message)| (line, recipe, message))
    });
    for (line, recipe, message) in found.chain(of_packages) {
        // A port keeps these lines, or has a message about one.
        let (Some(given), Some(kept)) = (lines.places.get(line), places.get(line)) else { continue };
        if told.iter().any(|other| other.original.cell == Some(*given)) {
            continue;
        }
        file.diagnostics.push(Diagnostic {
            original: before.span(*given),
            ported: after.span(*kept),
            severity: Severity::Warning,
            recipe,
            message,
            stops_step: false,
        });
    }
    sorting::by_key(&mut file.diagnostics, |found| (found.original.line, found.original.column));
}

/// The lines of a script, those that end with a backslash together with the next one, each with the number of its first.
fn whole_lines(script: &str) -> impl Iterator<Item = (usize, String)> {
    let mut lines = script.lines().enumerate();
    std::iter::from_fn(move || {
        let (number, first) = lines.next()?;
        let mut whole = first.to_owned();
        while whole.ends_with('\\') {
            whole.pop();
            whole += lines.next().map_or("", |(_, next)| next);
        }
        Some((number, whole))
    })
}

/// Options of pip and conda that take the next word as their value.
const WITH_VALUE: [&str; 24] = [
    "-b",
    "-c",
    "-e",
    "-f",
    "-i",
    "-n",
    "-p",
    "-r",
    "-t",
    "--requirement",
    "--constraint",
    "--editable",
    "--target",
    "--index-url",
    "--extra-index-url",
    "--find-links",
    "--trusted-host",
    "--prefix",
    "--root",
    "--cache-dir",
    "--python-version",
    "--platform",
    "--channel",
    "--name",
];

/// The packages that a line installs with pip or conda, as a list of requirements.
fn installed(line: &str) -> String {
    let words = split_words(&line.replace(';', " ; ")).unwrap_or_default();
    let ends = |word: &&String| ["&&", "||", ";", "|", "#"].contains(&word.as_str());
    let mut packages = String::new();
    for command in words.split(|word| ends(&word)) {
        let name = |word: &String| word.rsplit('/').next().unwrap_or_default().to_owned();
        let installs = |word: &String| {
            let name = name(word);
            ["conda", "mamba"].contains(&name.as_str())
                || name
                    .strip_prefix("pip")
                    .is_some_and(|version| version.chars().all(|c| c.is_ascii_digit() || c == '.'))
        };
        // Another program may have it among its words.
        let leads = |word: &String| {
            word.contains('=') || name(word).starts_with("python") || ["sudo", "-m", "uv"].contains(&word.as_str())
        };
        let Some(at) = command.iter().position(|word| !leads(word)).filter(|at| installs(&command[*at])) else {
            continue;
        };
        let mut rest = command[at + 1..].iter().skip_while(|word| word.starts_with('-'));
        if rest.next().is_none_or(|word| word != "install") {
            continue;
        }
        while let Some(word) = rest.next().filter(|word| !word.starts_with('>') && !word.starts_with("2>")) {
            if WITH_VALUE.contains(&word.as_str()) {
                rest.next();
            } else if !word.starts_with('-') {
                // An address or a folder ends with the name.
                let word = if word.contains('/') { name(word) } else { word.clone() };
                packages += word.split('@').next().unwrap_or_default().trim_end_matches(".git");
                packages.push('\n');
            }
        }
    }
    packages
}

/// What a port says of packages, each with the recipe.
fn packages(requirements: &str, recipes: &RecipeSet, options: &Options) -> Vec<(String, String)> {
    if requirements.is_empty() {
        return Vec::new();
    }
    let list = SourceFile { path: "requirements.txt".to_owned(), text: requirements.to_owned() };
    let ported = codemod::port(&[list], recipes, &Options { style: Style::InPlace, ..options.clone() });
    ported.files.into_iter().flat_map(|file| file.diagnostics).map(|said| (said.recipe, said.message)).collect()
}

/// Where the lines of cells are in a program.
struct CellSpans {
    /// In order.
    lines: Vec<(CellPlace, Span)>,
}

impl CellSpans {
    fn of(program: &str) -> CellSpans {
        let cells = CellLines::of(program);
        let line = |(number, text): (usize, &str)| {
            let (place, line) = (cells.place(number + 1)?, number + 1);
            let end_column = text.chars().count() + 1;
            Some((place, Span { line, column: 1, end_line: line, end_column, cell: Some(place) }))
        };
        CellSpans { lines: program.lines().enumerate().filter_map(line).collect() }
    }

    /// A line of a cell, or the first of the cell: a shell's cell is one call there.
    fn span(&self, place: CellPlace) -> Span {
        let of_cell = self.lines.partition_point(|(other, _)| other.cell < place.cell);
        let in_cell = || self.lines[of_cell..].iter().take_while(|(other, _)| other.cell == place.cell);
        let found = in_cell().find(|(other, _)| *other == place).or_else(|| in_cell().next());
        let start = Span { line: 1, column: 1, end_line: 1, end_column: 1, cell: None };
        Span { cell: Some(place), ..found.map_or(start, |(_, span)| *span) }
    }
}

#[cfg(test)]
mod tests {
    use super::installed;

    #[test]
    fn packages_that_pip_installs() {
        let check = |line: &str, expected: &str| assert_eq!(installed(line), expected, "{line}");
        check("pip install -q torch==2.1 'numpy<2'", "torch==2.1\nnumpy<2\n");
        check("python -m pip install --upgrade a && pip3 install b; ls c", "a\nb\n");
        check("pip install -r requirements.txt --extra-index-url https://x/cu118 a", "a\n");
        check("pip --quiet install --find-links=x a", "a\n");
        check("pip list && apt install b", "");
        check("CUDA_HOME=/x pip3.10 install -r a.txt --requirement b.txt c > log", "c\n");
        check("pip install git+https://x.org/y/apex.git@v1 ./z", "apex\nz\n");
        check("conda install -y -c nvidia pytorch-cuda=12.1", "pytorch-cuda=12.1\n");
        check("echo pip install a", "");
        check("pip uninstall -y install", "");
    }
}
