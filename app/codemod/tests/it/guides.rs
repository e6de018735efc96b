//! The guides: their examples hold, each handler is named by one, and the versions in their
//! texts are those of their rules.

use codemod::{RecipeSet, check_guide, check_samples, embedded_guides};
use guide::sdk::sdk_admits;

#[test]
fn every_example_of_every_guide_holds() {
    let guides = embedded_guides();
    assert!(guides.iter().any(|g| g.front.target.is_some()), "no guide with a target is built in");
    let recipes = RecipeSet::embedded();
    let failures: Vec<String> = guides.iter().flat_map(|g| check_guide(g, recipes)).map(|f| f.to_string()).collect();
    assert!(failures.is_empty(), "{}\n{} failures", failures.join("\n"), failures.len());
}

#[test]
fn every_sample_of_a_message_leads_to_its_section() {
    let failures: Vec<String> = check_samples(embedded_guides()).iter().map(ToString::to_string).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_handler_is_named_by_a_guide() {
    assert_eq!(RecipeSet::embedded().unnamed_handlers(), Vec::<&str>::new());
}

#[test]
fn what_a_page_downloads_is_enough_to_port() {
    let whole = RecipeSet::embedded();
    let downloaded = match RecipeSet::compile(&guide::for_download(embedded_guides().to_vec())) {
        Ok(recipes) => recipes,
        Err(faults) => panic!("{}", faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")),
    };
    assert_eq!(downloaded.recipes(), whole.recipes());
    assert_eq!(downloaded.hash(), whole.hash());
}

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
