//! `portolan api`: what becomes of an API name on each target, as the site's page of API names has it.

use crate::args::{ApiArgs, ListFormat};
use crate::output::print;
use crate::port::unknown_target;
use crate::said::say_line;
use anyhow::Result;
use codemod::{ApiNames, ApiResult, RecipeSet, TargetInfo, api_names, embedded_guides};
use python::names::canonical;
use serde_json::{Value, json};
use sorting::SortedSet;
use std::fmt::Write;

/// The most names that are shown instead of an unknown one.
const MOST_SIMILAR: usize = 6;

/// Prints the name's results; returns whether it is known.
pub(crate) fn run(args: &ApiArgs) -> Result<bool> {
    let all = RecipeSet::embedded().targets();
    let ids: Vec<&str> = all.iter().map(|target| &*target.id).collect();
    let shown: Vec<&TargetInfo> = match &args.target {
        Some(id) => vec![all.iter().find(|target| target.id == *id).ok_or_else(|| unknown_target(id, &all))?],
        None => all.iter().collect(),
    };
    let names = api_names(embedded_guides(), &ids);
    let Some(name) = spelled(&args.name, &names) else {
        let similar = similar(&args.name, &names);
        match args.format {
            ListFormat::Json => print(&as_json(&args.name, Vec::new(), &similar))?,
            ListFormat::Text => say_line!("{}", unknown(&args.name, &similar)),
        }
        return Ok(false);
    };
    let none = SortedSet::new();
    let results = |target: &&TargetInfo| names[name].get(&*target.id).unwrap_or(&none);
    match args.format {
        ListFormat::Json => {
            let targets = shown.iter().map(|target| of_target(target, results(target))).collect();
            print(&as_json(name, targets, &[]))?;
        }
        ListFormat::Text => {
            print(&table(name, &shown.iter().map(|target| (*target, results(target))).collect::<Vec<_>>()))?;
        }
    }
    Ok(true)
}

/// The known name that is meant: `torch.f()` is `torch.f`, and `cuda` and `.cuda` are the method `.cuda()`.
fn spelled<'n>(given: &str, names: &'n ApiNames<'_>) -> Option<&'n str> {
    let plain = given.trim().split('(').next().unwrap_or_default();
    let method = format!(".{}()", plain.trim_start_matches('.'));
    // `lightning.Trainer` has one row with `lightning.pytorch.Trainer`.
    let known = canonical(plain);
    let is_meant = |name: &&String| **name == plain || **name == method;
    let found = names.keys().find(is_meant).or_else(|| names.keys().find(|name| canonical(name) == known));
    found.map(String::as_str)
}

/// Known names that are like an unknown one: those in it, if it is a module or a class, its last part elsewhere, and those that are
/// spelled almost alike.
fn similar<'n>(given: &str, names: &'n ApiNames<'_>) -> Vec<&'n str> {
    let given = given.trim().split('(').next().unwrap_or_default();
    let last = |name: &str| name.trim_end_matches("()").rsplit('.').next().unwrap_or_default().to_owned();
    let likeness = |name: &str| match name.strip_prefix(given) {
        Some(rest) if rest.starts_with('.') => 1.0,
        _ if last(name) == last(given) => 0.99,
        _ => strsim::normalized_damerau_levenshtein(name, given),
    };
    let mut found: Vec<(f64, &str)> = names.keys().map(|name| (likeness(name), name.as_str())).collect();
    found.retain(|(likeness, _)| *likeness >= 0.75);
    found.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    found.truncate(MOST_SIMILAR);
    found.into_iter().map(|(_, name)| name).collect()
}

fn unknown(name: &str, similar: &[&str]) -> String {
    let others = if similar.is_empty() { String::new() } else { format!("; similar names: {}", similar.join(", ")) };
    format!("portolan: no recipe names `{name}`: a port leaves it as it is, and reports what remains of CUDA{others}")
}

fn as_json(name: &str, targets: Vec<Value>, similar: &[&str]) -> String {
    format!("{:#}\n", json!({ "name": name, "targets": targets, "similar": similar }))
}

fn of_target(target: &TargetInfo, results: &SortedSet<ApiResult>) -> Value {
    let one = |result: &ApiResult| {
        let ApiResult { text, recipe, title, is_code } = result;
        json!({ "result": text, "code": is_code, "recipe": recipe, "title": title })
    };
    json!({ "id": target.id, "name": target.name, "results": results.iter().map(one).collect::<Vec<_>>() })
}

fn table(name: &str, targets: &[(&TargetInfo, &SortedSet<ApiResult>)]) -> String {
    let width = |of: &mut dyn Iterator<Item = &str>| of.map(|word| word.chars().count()).max().unwrap_or(0);
    let results = || targets.iter().flat_map(|(_, results)| *results);
    let first = width(&mut targets.iter().map(|(target, _)| &*target.id));
    let second = width(&mut results().map(|result| &*result.text));
    let third = width(&mut results().map(|result| &*result.recipe));
    let mut out = format!("{name}\n");
    for (target, results) in targets {
        if results.is_empty() {
            let _ = writeln!(out, "  {:first$}  no recipe names it: unchanged", target.id);
        }
        for (index, result) in results.iter().enumerate() {
            let id = if index == 0 { &*target.id } else { "" };
            let ApiResult { text, recipe, title, .. } = result;
            let _ = writeln!(out, "  {id:first$}  {text:second$}  {recipe:third$}  {title}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{similar, spelled};
    use codemod::ApiNames;

    fn names(known: &[&str]) -> ApiNames<'static> {
        known.iter().map(|name| ((*name).to_owned(), Default::default())).collect()
    }

    #[test]
    fn a_call_and_a_bare_method_are_the_name() {
        let names = names(&[".cuda()", "a.cuda.f", "a.cuda", "lightning.pytorch.Trainer"]);
        let check = |given: &str, expected: Option<&str>| assert_eq!(spelled(given, &names), expected, "{given}");
        check("a.cuda.f", Some("a.cuda.f"));
        check("a.cuda.f(x, y)", Some("a.cuda.f"));
        check(" a.cuda ", Some("a.cuda"));
        for method in ["cuda", ".cuda", "cuda()", ".cuda()"] {
            check(method, Some(".cuda()"));
        }
        check("pytorch_lightning.Trainer", Some("lightning.pytorch.Trainer"));
        check("b.cuda", None);
        check("", None);
    }

    #[test]
    fn names_that_are_like_an_unknown_one() {
        let names = names(&[".step()", "a.amp.autocast", "a.amp.scale", "a.cuda.empty_cache", "z"]);
        let check = |given: &str, expected: &[&str]| assert_eq!(similar(given, &names), expected, "{given}");
        check("a.amp", &["a.amp.autocast", "a.amp.scale"]);
        check("optimizer.step()", &[".step()"]);
        check("a.cuda.empty_cahce", &["a.cuda.empty_cache"]);
        check("quite.another", &[]);
    }
}
