//! The examples of every guide pass, and every handler is named by a guide.

use codemod::{RecipeSet, check_guide, embedded_guides};

#[test]
fn every_example_of_every_guide_holds() {
    let guides = embedded_guides();
    assert!(guides.iter().any(|g| g.front.target.is_some()), "no guide with a target is built in");
    let recipes = RecipeSet::embedded();
    let failures: Vec<String> = guides.iter().flat_map(|g| check_guide(g, recipes)).map(|f| f.to_string()).collect();
    assert!(failures.is_empty(), "{}\n{} failures", failures.join("\n"), failures.len());
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
