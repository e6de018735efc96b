//! Guides in a folder, and those of a site's own that are added to the built-in ones.

use crate::said::say_line;
use crate::usage::usage;
use anyhow::{Context, Result};
use codemod::{RecipeError, RecipeSet, embedded_guides};
use guide::Guide;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

/// The recipes of a port: the built-in ones, with those of a folder if there is one.
pub(crate) fn recipes(folder: Option<&Path>) -> Result<&'static RecipeSet> {
    let Some(folder) = folder else { return Ok(RecipeSet::embedded()) };
    match compiled(&read(folder)?, true) {
        // Needed until the end, like the built-in ones.
        Some((_, recipes)) => Ok(Box::leak(Box::new(recipes))),
        None => Err(usage(format!("--guides {}: its recipes can't be used, as said above", folder.display())).into()),
    }
}

/// Parses and compiles pages, alone or added to the built-in guides; errors are printed.
pub(crate) fn compiled(pages: &[(PathBuf, String)], added: bool) -> Option<(Vec<Guide>, RecipeSet)> {
    let mut guides = Vec::new();
    let mut sound = true;
    for (path, text) in pages {
        match Guide::parse(&path.display().to_string(), text) {
            Ok(guide) => guides.push((guide, text)),
            Err(errors) => {
                report(&errors);
                sound = false;
            }
        }
    }
    if added {
        let faults: Vec<RecipeError> = guides.iter().filter_map(|(guide, text)| unfit(guide, text)).collect();
        report(&faults);
        sound &= faults.is_empty();
    }
    let guides: Vec<Guide> = guides.into_iter().map(|(guide, _)| guide).collect();
    let built_in = if added { embedded_guides() } else { &[] };
    match RecipeSet::compile(&[built_in, &guides[..]].concat()) {
        Ok(recipes) if sound => Some((guides, recipes)),
        Ok(_) => None,
        Err(errors) => {
            report(&errors);
            None
        }
    }
}

/// Why a guide can't be added to the built-in ones.
fn unfit(guide: &Guide, text: &str) -> Option<RecipeError> {
    let known: Vec<String> = RecipeSet::embedded().targets().into_iter().map(|target| target.id).collect();
    let front = &guide.front;
    let is_known = front.target.as_ref().is_some_and(|target| known.contains(target));
    let at_key = |key: &str| {
        let is_key = |line: &str| line.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with('='));
        text.lines().position(is_key).map_or(1, |line| line + 1)
    };
    let (line, message) = match &front.target {
        _ if embedded_guides().iter().any(|built_in| built_in.name == guide.name) => {
            (1, format!("the built-in guides have a page `{}`; give this file another name", guide.name))
        }
        None => (1, format!("no `target = \"…\"` says to which target these recipes are added: {}", known.join(", "))),
        Some(target) if !is_known && front.extends.is_none() => {
            let message = "unknown target; name one of these, or the one that this target `extends`";
            (at_key("target"), format!("`target = \"{target}\"`: {message}: {}", known.join(", ")))
        }
        Some(target) if is_known && !front.sdks.is_empty() => {
            (at_key("sdks"), format!("the versions of `{target}` are those of its built-in guide; remove `sdks`"))
        }
        _ => return None,
    };
    Some(RecipeError { path: guide.path.clone(), line, message })
}

pub(crate) fn report(faults: &[impl Display]) {
    for fault in faults {
        say_line!("{fault}");
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
