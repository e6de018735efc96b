//! The versions stated by a recipe are those of its rules.

use codemod::RecipeSet;
use guide::sdk::sdk_admits;

/// The versions at the beginning of a sentence: `SDK 1.13 and later`, `SDK 1.5 to 1.14`, `SDK 1.12 and earlier`.
fn bounds(said: &str) -> Option<String> {
    let words: Vec<&str> = said.trim_end_matches('.').split([' ', ',', ';']).filter(|word| !word.is_empty()).collect();
    let at = words.iter().position(|word| *word == "SDK" || *word == "SambaFlow")?;
    match words.get(at + 1..at + 4)? {
        [from, "and", "later"] => Some(format!(">={from}")),
        [to, "and", "earlier"] => Some(format!("<={to}")),
        [from, "to", to] => Some(format!(">={from},<={}", to.trim_end_matches('.'))),
        _ => None,
    }
}

#[test]
fn versions_of_the_rules_are_those_of_the_text() {
    let recipes = RecipeSet::embedded();
    let mut faults = Vec::new();
    let mut read = 0;
    for recipe in recipes.recipes().iter().filter(|recipe| recipe.holds_for.contains("SDK ")) {
        let Some(bounds) = bounds(&recipe.holds_for).filter(|_| !recipe.holds_for.contains("every")) else { continue };
        read += 1;
        let beyond: Vec<&String> = recipe.sdks.iter().filter(|sdk| !sdk_admits(&bounds, sdk)).collect();
        if !beyond.is_empty() {
            faults.push(format!("{}: \"{}\", but its rules are also for {beyond:?}", recipe.id, recipe.holds_for));
        }
    }
    assert!(read > 20, "{read} recipes name versions");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
