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
/// of a list of packages says of those that pip installs there.
pub(crate) fn report(original: &Notebook, file: &mut PortedFile, recipes: &RecipeSet, options: &Options) {
    let Some(target) = Target::named(&options.target) else { return };
    let lines = original.shell_lines();
    let ported = file.notebook.as_ref().and_then(|json| Notebook::read(json, NOTEBOOK_MAGICS).ok());
    let places = ported.as_ref().unwrap_or(original).shell_lines().places;
    let found =
        findings(&lines.script, target).map(|(line, found)| (line, format!("shell#{}", found.rule), found.message));
    let of_packages = lines.script.lines().enumerate().flat_map(|(line, command)| {
        packages(&installed(command), recipes, options)
            .into_iter()
            .map(move |(recipe, message)| (line, recipe, message))
    });
    for (line, recipe, message) in found.chain(of_packages) {
        // A port keeps these lines, or has a message about one.
        let (Some(before), Some(after)) = (lines.places.get(line), places.get(line)) else { continue };
        if file.diagnostics.iter().any(|other| other.original.cell == Some(*before)) {
            continue;
        }
        file.diagnostics.push(Diagnostic {
            original: span(&original.program(), *before),
            ported: span(&file.text, *after),
            severity: Severity::Warning,
            recipe,
            message,
            stops_step: false,
        });
    }
    sorting::by_key(&mut file.diagnostics, |found| (found.original.line, found.original.column));
}

/// The packages that `pip install` names in a line, as a list of requirements.
fn installed(line: &str) -> String {
    let words = split_words(&line.replace(';', " ; ")).unwrap_or_default();
    let ends = |word: &&String| ["&&", "||", ";", "|", "#"].contains(&word.as_str());
    let mut packages = String::new();
    for command in words.split(|word| ends(&word)) {
        let is_pip = |word: &String| matches!(word.rsplit('/').next(), Some("pip" | "pip3"));
        let Some(pip) = command.iter().position(is_pip) else { continue };
        let mut rest = command[pip + 1..].iter().skip_while(|word| *word != "install").skip(1);
        while let Some(word) = rest.next() {
            // Options whose value is the next word: files, addresses, folders.
            let has_value = ["-r", "-c", "-e", "-f", "-i", "-t"].contains(&word.as_str())
                || word.starts_with("--")
                    && !word.contains('=')
                    && (word.ends_with("-url") || word.ends_with("-links"));
            if has_value {
                rest.next();
            } else if !word.starts_with('-') {
                packages += word;
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

/// The line of a program that is this line of a cell, or the first of the cell: a shell's cell is one call there.
fn span(program: &str, place: CellPlace) -> Span {
    let cells = CellLines::of(program);
    let lines = || program.lines().enumerate().map(|(number, text)| (number + 1, text));
    let exact = lines().find(|(number, _)| cells.place(*number) == Some(place));
    let in_cell = || lines().find(|(number, _)| cells.place(*number).is_some_and(|other| other.cell == place.cell));
    let (line, text) = exact.or_else(in_cell).unwrap_or((1, ""));
    Span { line, column: 1, end_line: line, end_column: text.chars().count() + 1, cell: Some(place) }
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
    }
}
