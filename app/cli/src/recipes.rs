//! `portolan recipes`: runs the guides' examples, and lists recipes.

use crate::args::ListFormat;
use crate::guides::{self, compiled, report};
use crate::messages::count as count_of;
use crate::output::print;
use crate::said::say_line;
use anyhow::{Context, Result};
use codemod::{CheckFailure, RecipeInfo, RecipeSet, TargetOption, check_guide, check_samples};
use guide::{ExampleKind, Guide, Page};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Runs every example of the guides in a folder, alone or added to the built-in ones. Returns whether all pass. With `UPDATE` in the environment the `after`
/// fences that differ from the engine's output are rewritten first.
pub(crate) fn test(dir: &Path, added: bool) -> Result<bool> {
    let mut files = guides::read(dir)?;
    let Some((mut pages, mut unused)) = guides::pages(&files) else { return Ok(false) };
    let Some((mut guides, mut recipes)) = compiled(&pages, added) else { return Ok(false) };
    if std::env::var_os("UPDATE").is_some_and(|value| !value.is_empty() && value != "0")
        && update(&mut files, &pages, &guides, &recipes)?
    {
        let Some(filled) = guides::pages(&files) else { return Ok(false) };
        (pages, unused) = filled;
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
    report(&unused);
    let count = guides.iter().flat_map(|guide| &guide.sections).map(|section| section.cases().len()).sum::<usize>();
    let faults = failures.len() + unused.len();
    let verdict = if faults == 0 { "all hold".to_string() } else { count_of(faults, "fault") };
    let samples = guides.iter().flat_map(|guide| &guide.sections).map(|section| section.says.len()).sum::<usize>();
    let is_own = |recipe: &&RecipeInfo| {
        let guide = recipe.id.split_once('#').map_or("", |(guide, _)| guide);
        !added || guides.iter().any(|own| own.name == guide && own.front.target.as_ref() == Some(&recipe.target))
    };
    let recipes = recipes.recipes().iter().filter(is_own).count();
    let (recipes, examples) = (count_of(recipes, "recipe"), count_of(count, "example"));
    let samples = count_of(samples, "sample");
    say_line!("portolan: {recipes}, {examples}, {samples} of messages: {verdict}");
    Ok(faults == 0)
}

/// An `after` fence: its file, and the line of its info string.
type Fence = (String, usize);

/// Writes the engine's output into the fences. Returns whether a file changed. A fence that several guides include has one text
/// for all of them, with facts by their names; if there is none, it stays as it is.
fn update(files: &mut [(PathBuf, String)], pages: &[Page], guides: &[Guide], recipes: &RecipeSet) -> Result<bool> {
    let mut wanted: BTreeMap<Fence, Vec<(&Page, String)>> = BTreeMap::new();
    let mut stale: BTreeSet<Fence> = BTreeSet::new();
    for (page, guide) in pages.iter().zip(guides) {
        let fills = check_guide(guide, recipes).into_iter().filter_map(|failure| failure.fill);
        let fills: BTreeMap<usize, String> = fills.collect();
        let examples = guide.sections.iter().flat_map(|section| &section.examples);
        for example in examples.filter(|example| example.kind == ExampleKind::After) {
            let (path, line) = page.place(example.line - 1);
            let fence = (path.to_string(), line);
            if fills.contains_key(&example.line) {
                stale.insert(fence.clone());
            }
            let text = fills.get(&example.line).unwrap_or(&example.text).clone();
            wanted.entry(fence).or_default().push((page, text));
        }
    }
    let mut changed = false;
    for (path, text) in files.iter_mut() {
        let shown = path.display().to_string();
        let mut filled = 0;
        // From the last to the first: lines below a filled fence move.
        for fence in stale.iter().rev().filter(|(path, _)| *path == shown) {
            match common_text(&shown, &wanted[fence]) {
                Some(new) => {
                    *text = guide::fill_after(text, fence.1 + 1, &new);
                    filled += 1;
                }
                None => say_line!(
                    "{shown}:{}: this `after` is not the same for all targets, even with facts: write the example in their guides",
                    fence.1
                ),
            }
        }
        if filled > 0 {
            fs::write(&*path, &*text).with_context(|| format!("{} can't be written", path.display()))?;
            say_line!("{}: {filled} `after` fences written; review the diff", path.display());
            changed = true;
        }
    }
    Ok(changed)
}

/// The text of a fence in a file that becomes what each page wants.
fn common_text(file: &str, wanted: &[(&Page, String)]) -> Option<String> {
    if let [(page, text)] = wanted
        && page.path == file
    {
        return Some(text.clone());
    }
    let is_common = |form: &String| wanted.iter().all(|(page, text)| page.filled(form).as_ref() == Some(text));
    wanted.iter().flat_map(|(page, text)| page.shared_forms(text)).find(is_common)
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
