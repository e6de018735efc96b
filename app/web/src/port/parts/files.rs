//! The project's files.

use super::{escape, only};
use crate::port::state::{State, count, needs_person};
use codemod::Severity;

/// The list; nothing for a single file.
pub fn list(state: &State) -> String {
    if state.files.len() < 2 {
        return String::new();
    }
    let entry = |(index, file): (usize, &crate::port::state::File)| {
        let outcome = state.outcome_of(index);
        let diagnostics = || outcome.iter().flat_map(|o| &o.diagnostics);
        let changes = outcome.map_or(0, |o| o.hunks);
        let needs = diagnostics().filter(|d| needs_person(d)).count();
        let failed = diagnostics().any(|d| d.severity == Severity::Error);
        let number = |n: usize, class: &str, what: &str| match n {
            0 => String::new(),
            n => format!("<span class=\"count{class}\">{n}<span class=\"visually-hidden\"> {what}</span></span>"),
        };
        let path = escape(&file.path);
        format!(
            "<li><button class=\"file\" id=\"file-{index}\" data-do=\"select\" data-to=\"{index}\"{}>\
             <span class=\"path\">{path}</span>{}{}{}</button>\
             <button class=\"close\" data-do=\"close\" data-to=\"{index}\" aria-label=\"Take {path} out\">×</button></li>",
            only(index == state.selected, " aria-current=\"true\""),
            only(
                failed,
                "<span class=\"count warn\">!<span class=\"visually-hidden\"> could not be ported</span></span>"
            ),
            number(changes, "", "changes"),
            number(needs, " warn", if needs == 1 { "needs you" } else { "need you" }),
        )
    };
    let entries: String = state.files.iter().enumerate().map(entry).collect();
    format!("<ul class=\"files scroll\" aria-label=\"{}\">{entries}</ul>", count(state.files.len(), "file"))
}

/// The way back to the project that was replaced.
pub fn former(state: &State) -> String {
    let button = "<button class=\"button quiet small\" data-do=\"bring-back\">Former project</button>";
    only(state.has_former(), button).to_owned()
}

/// The name of the file shown; recipes and the patch go by it.
pub fn name(state: &State) -> String {
    let Some(file) = state.file() else { return String::new() };
    format!(
        "<label class=\"name\"><span>File name</span><input type=\"text\" id=\"file-name\" data-set=\"name\" \
         spellcheck=\"false\" autocomplete=\"off\" value=\"{}\"></label>",
        escape(&file.path)
    )
}
