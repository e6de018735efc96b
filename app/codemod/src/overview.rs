//! An outline of a port whose training step could not be ported: what was done anyway, and what remains.

use crate::{Diagnostic, Ported, RecipeSet, Severity};

/// The outline of a port without its training step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overview<'a> {
    /// The obstacle to porting the step: index of the file, and the message.
    pub stops: Vec<(usize, &'a Diagnostic)>,
    /// Titles of the recipes that changed something, in the order of the code.
    pub done: Vec<String>,
    /// Manual work, with the number of places, most places first. Without [`Overview::stops`].
    pub left: Vec<(String, usize)>,
}

/// The first place among these files where the training step is not ported: index of the file, and the message.
#[must_use]
pub fn unported<'a>(ported: &'a Ported, files: &[String]) -> Option<(usize, &'a Diagnostic)> {
    let among = ported.files.iter().enumerate().filter(|(_, file)| files.contains(&file.path));
    let mut stops = among.flat_map(|(n, file)| file.diagnostics.iter().map(move |said| (n, said)));
    stops.find(|(_, said)| said.stops_step)
}

/// Outlines a port if its training step, or one of several, could not be ported.
#[must_use]
pub fn overview<'a>(ported: &'a Ported, recipes: &RecipeSet) -> Option<Overview<'a>> {
    let all = || ported.files.iter().enumerate().flat_map(|(n, file)| file.diagnostics.iter().map(move |d| (n, d)));
    let stops: Vec<(usize, &Diagnostic)> = all().filter(|(_, diagnostic)| diagnostic.stops_step).collect();
    if stops.is_empty() {
        return None;
    }
    let title = |id: &str| recipes.title(&ported.target, id);
    let mut done: Vec<String> = Vec::new();
    for edit in ported.files.iter().flat_map(|file| &file.edits) {
        let title = title(&edit.recipe);
        if !done.contains(&title) {
            done.push(title);
        }
    }
    let mut left: Vec<(String, usize)> = Vec::new();
    for (_, diagnostic) in all().filter(|(_, d)| d.severity <= Severity::Warning && !d.stops_step) {
        let title = title(&diagnostic.recipe);
        match left.iter_mut().find(|(known, _)| *known == title) {
            Some((_, places)) => *places += 1,
            None => left.push((title, 1)),
        }
    }
    sorting::by_key(&mut left, |(_, places)| std::cmp::Reverse(*places));
    Some(Overview { stops, done, left })
}
