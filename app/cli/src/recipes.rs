//! `portolan recipes`: runs the guides' examples, and lists recipes.

use crate::args::ListFormat;
use crate::guides::{self, compiled, report};
use crate::messages::count as count_of;
use crate::output::print;
use crate::said::say_line;
use anyhow::{Context, Result};
use codemod::{CheckFailure, RecipeInfo, RecipeSet, TargetOption, check_guide, check_samples};
use guide::{Guide, Page};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Runs every example of the guides in a folder, alone or added to the built-in ones. Returns whether all pass. With `UPDATE` in the environment the `after`
/// fences that differ from the engine's output are rewritten first.
pub(crate) fn test(dir: &Path, added: bool) -> Result<bool> {
    let mut files = guides::read(dir)?;
    let Some(mut pages) = guides::pages(&files) else { return Ok(false) };
    let Some((mut guides, mut recipes)) = compiled(&pages, added) else { return Ok(false) };
    if std::env::var_os("UPDATE").is_some_and(|value| !value.is_empty() && value != "0")
        && update(&mut files, &pages, &guides, &recipes)?
    {
        let Some(filled) = guides::pages(&files) else { return Ok(false) };
        pages = filled;
        match compiled(&pages, added) {
            Some(again) => (guides, recipes) = again,
            None => return Ok(false),
        }
    }
    let mut failures: Vec<CheckFailure> = guides.iter().flat_map(|guide| check_guide(guide, &recipes)).collect();
    failures.extend(check_samples(&guides));
    for failure in &mut failures {
        let (path, line) = guide::place(&pages, &failure.path, failure.line);
        (failure.path, failure.line) = (path.to_string(), line);
    }
    report(&failures);
    let count = guides.iter().flat_map(|guide| &guide.sections).map(|section| section.cases().len()).sum::<usize>();
    let verdict = if failures.is_empty() { "all hold".to_string() } else { count_of(failures.len(), "fault") };
    let samples = guides.iter().flat_map(|guide| &guide.sections).map(|section| section.says.len()).sum::<usize>();
    let is_own = |recipe: &&RecipeInfo| {
        let guide = recipe.id.split_once('#').map_or("", |(guide, _)| guide);
        !added || guides.iter().any(|own| own.name == guide && own.front.target.as_ref() == Some(&recipe.target))
    };
    let recipes = recipes.recipes().iter().filter(is_own).count();
    let (recipes, examples) = (count_of(recipes, "recipe"), count_of(count, "example"));
    let samples = count_of(samples, "sample");
    say_line!("portolan: {recipes}, {examples}, {samples} of messages: {verdict}");
    Ok(failures.is_empty())
}

/// Writes the engine's output into the fences. Returns whether a file changed. A fence that several targets share gets the
/// output of the first of them, with its facts by their names.
fn update(files: &mut [(PathBuf, String)], pages: &[Page], guides: &[Guide], recipes: &RecipeSet) -> Result<bool> {
    let mut fills: BTreeMap<(String, usize), String> = BTreeMap::new();
    for (page, guide) in pages.iter().zip(guides) {
        for (line, new) in check_guide(guide, recipes).into_iter().filter_map(|failure| failure.fill) {
            let (path, at) = page.place(line);
            let new = if path == page.path { new } else { page.shared_form(&new) };
            fills.entry((path.to_string(), at)).or_insert(new);
        }
    }
    let mut changed = false;
    for (path, text) in files.iter_mut() {
        let shown = path.display().to_string();
        let fills: Vec<(usize, &String)> =
            fills.iter().filter(|((path, _), _)| *path == shown).map(|((_, line), new)| (*line, new)).collect();
        // From the last to the first: lines below a filled fence move.
        for (line, new) in fills.iter().rev() {
            *text = guide::fill_after(text, *line, new);
        }
        if !fills.is_empty() {
            fs::write(&*path, &*text).with_context(|| format!("{} can't be written", path.display()))?;
            say_line!("{}: {} `after` fences written; review the diff", path.display(), fills.len());
            changed = true;
        }
    }
    Ok(changed)
}

/// Prints the recipes of this build.
pub(crate) fn list(format: ListFormat) -> Result<bool> {
    let set = RecipeSet::embedded();
    let mut out = String::new();
    match format {
        ListFormat::Json => {
            let recipes = set.recipes();
            let coverage: Vec<Value> = set.targets().iter().map(|target| coverage(&target.id, &recipes)).collect();
            let list = json!({ "targets": set.targets(), "coverage": coverage, "recipes": recipes });
            let _ = writeln!(out, "{list:#}");
        }
        ListFormat::Text => {
            let recipes = set.recipes();
            let width = recipes.iter().map(|recipe| recipe.id.len()).max().unwrap_or(0);
            for target in set.targets() {
                let _ = writeln!(out, "{}: {}; SDK {}", target.id, target.title, target.sdks.join(", "));
                let of = coverage(&target.id, &recipes);
                let _ = writeln!(
                    out,
                    "  {} recipes: {} change code, {} opt-in (--unsafe), {} manual",
                    of["recipes"], of["applied"], of["unsafe"], of["reported"]
                );
                for option in &target.options {
                    let default = target.default_of(option, None);
                    let TargetOption { name, kind, label, .. } = option;
                    let _ = writeln!(out, "  --option {name}=…  {label}: {kind}; default {default}");
                }
                for recipe in recipes.iter().filter(|recipe| recipe.target == target.id) {
                    let kind = match (recipe.manual, recipe.is_unsafe) {
                        (true, _) => "  (manual)",
                        (_, true) => "  (unsafe)",
                        _ => "",
                    };
                    let _ = writeln!(out, "  {:width$}  {}{kind}", recipe.id, recipe.title);
                }
            }
        }
    }
    print(&out)?;
    Ok(true)
}

/// The number of a target's recipes that change code, change it on request, and only report.
fn coverage(target: &str, recipes: &[RecipeInfo]) -> Value {
    let of: Vec<&RecipeInfo> = recipes.iter().filter(|recipe| recipe.target == target).collect();
    let reported = of.iter().filter(|recipe| recipe.manual).count();
    let on_request = of.iter().filter(|recipe| recipe.is_unsafe && !recipe.manual).count();
    json!({
        "target": target,
        "recipes": of.len(),
        "applied": of.len() - reported - on_request,
        "unsafe": on_request,
        "reported": reported,
    })
}
