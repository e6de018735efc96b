//! The licences of other people's packages as a text file: the list that the site shows as a page.

use anyhow::{Context, Result};
use serde_json::Value;

/// The text. `minisearch` is the licence of the script of the site's search.
pub(super) fn of(list: &str, minisearch: &str) -> Result<String> {
    let groups: Vec<Value> = serde_json::from_str(list).context("cannot read the list of licences")?;
    let mut text = "Packages by others that are compiled into Portolan's programs, with their licences. Where a package offers a \
                    choice, the licence whose text is shown applies. Rust's standard library is licensed under MIT or Apache-2.0.\n"
        .to_owned();
    for group in &groups {
        text += "\n----\n\n";
        for package in group["packages"].as_array().into_iter().flatten() {
            let [name, version, licence, authors, repository] = ["name", "version", "licence", "authors", "repository"]
                .map(|key| package[key].as_str().unwrap_or_default());
            let more = [authors, repository].into_iter().filter(|word| !word.is_empty());
            text +=
                &format!("{name} {version}: {licence}{}\n", more.map(|word| format!(", {word}")).collect::<String>());
        }
        match group["text"].as_str().unwrap_or_default() {
            "" => text += "\nThese packages come without a licence text; the licence is the one named.\n",
            licence => licence.lines().for_each(|paragraph| text += &format!("\n{paragraph}\n")),
        }
    }
    Ok(text + "\n----\n\nMiniSearch, the search of the site\n\n" + minisearch)
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_package_stands_above_its_licence() {
        let list = r#"[{"packages": [{"name": "a", "version": "1", "licence": "MIT", "authors": "", "repository": "https://a.org"}], "text": "One.\nTwo."}]"#;
        let text = super::of(list, "M\n").expect("it is a list");
        assert!(
            text.ends_with(
                "\n----\n\na 1: MIT, https://a.org\n\nOne.\n\nTwo.\n\n----\n\nMiniSearch, the search of the site\n\nM\n"
            ),
            "{text}"
        );
        assert!(super::of("{", "").is_err());
    }
}
