//! Guides in a folder, and those of a site's own that are added to the built-in ones.

use crate::said::say_line;
use crate::usage::usage;
use anyhow::{Context, Result};
use codemod::RecipeSet;
use guide::{Guide, GuideError, Page};
use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

/// The recipes of a port: the built-in ones, with those of a folder if there is one.
pub(crate) fn recipes(folder: Option<&Path>) -> Result<&'static RecipeSet> {
    let Some(folder) = folder else { return Ok(RecipeSet::embedded()) };
    match pages(&read(folder)?).and_then(|(pages, _)| compiled(&pages, true)) {
        // Needed until the end, like the built-in ones.
        Some((_, recipes)) => Ok(Box::leak(Box::new(recipes))),
        None => Err(usage(format!("--guides {}: its recipes can't be used, as said above", folder.display())).into()),
    }
}

/// The guides among files, with the text that they include, and what of it is not used; errors are printed.
pub(crate) fn pages(files: &[(PathBuf, String)]) -> Option<(Vec<Page>, Vec<GuideError>)> {
    let shown: Vec<String> = files.iter().map(|(path, _)| path.display().to_string()).collect();
    let read = guide::pages(shown.iter().zip(files).map(|(path, (_, text))| (&**path, &**text)));
    read.map_err(|faults| report(&faults)).ok()
}

/// Parses and compiles pages, alone or added to the built-in guides; errors are printed.
pub(crate) fn compiled(pages: &[Page], added: bool) -> Option<(Vec<Guide>, RecipeSet)> {
    let mut guides = Vec::new();
    for page in pages {
        match page.parse() {
            Ok(guide) => guides.push(guide),
            Err(errors) => report(&errors),
        }
    }
    let sound = guides.len() == pages.len();
    let compiled = match added {
        true => RecipeSet::with_added(guides.clone()).map(|(recipes, _)| recipes),
        false => RecipeSet::compile(&guides),
    };
    match compiled {
        Ok(recipes) if sound => Some((guides, recipes)),
        Ok(_) => None,
        Err(mut errors) => {
            for error in &mut errors {
                let (path, line) = guide::place(pages, &error.path, error.line);
                (error.path, error.line) = (path.to_string(), line);
            }
            report(&errors);
            None
        }
    }
}

/// Prints errors, each once: one in shared text is one of several guides.
pub(crate) fn report(faults: &[impl Display]) {
    let mut said = BTreeSet::new();
    for fault in faults.iter().map(ToString::to_string) {
        if !said.contains(&fault) {
            say_line!("{fault}");
            said.insert(fault);
        }
    }
}

/// The Markdown files of a folder, sorted by name.
pub(crate) fn read(dir: &Path) -> Result<Vec<(PathBuf, String)>> {
    let entries = fs::read_dir(dir).map_err(|error| {
        usage(format!("{}: {error}; run this in a checkout, or name the folder of guides", dir.display()))
    })?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.sort();
    if paths.is_empty() {
        return Err(usage(format!("{}: no guides (*.md) in this folder", dir.display())).into());
    }
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).with_context(|| format!("{} can't be read", path.display()))?;
        Ok((path, text))
    };
    paths.into_iter().map(read).collect()
}
