//! The page of licences: the third-party components of the site and of the command, and their terms.

use crate::shell::{Frame, shell};
use guide::html::escape;
use serde::Deserialize;

/// Written and checked against the lock file by `tests/whole/licences.rs`.
const LIST: &str = include_str!("texts/licences.json");

/// Packages with the same licence text.
#[derive(Deserialize)]
struct Group {
    /// One paragraph per line; empty if the packages contain no text.
    text: String,
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    licence: String,
    repository: String,
    authors: String,
}

/// The page at `licences/`; an error explains why the list can't be read.
pub(crate) fn write() -> Result<String, String> {
    let groups: Vec<Group> = serde_json::from_str(LIST).map_err(|error| error.to_string())?;
    let count: usize = groups.iter().map(|group| group.packages.len()).sum();
    let groups: String = groups.iter().map(Group::html).collect();
    let main = format!(
        "<div class=\"wrap band\">\n<article class=\"prose\">\n<h1>Licences</h1>\n<p class=\"lead\">Portolan is licensed under MIT or \
         Apache-2.0, at your option. {count} packages by others are compiled into the programs of this site and the command; each is listed with its licence. Where a \
         package offers a choice, this site uses the licence whose text is shown.</p>\n\
         <p>Search uses <a href=\"https://github.com/lucaong/minisearch\">MiniSearch</a>, licensed under MIT; \
         the text is in the site’s file <code>minisearch-LICENSE.txt</code>. Rust’s standard library is licensed under MIT or Apache-2.0.</p>\n\
         {groups}</article>\n</div>\n"
    );
    Ok(shell(&Frame {
        path: "licences/",
        title: "Licences",
        description: "The packages that are compiled into this site’s programs and the command, and their licences.",
        main: &main,
        ..Frame::default()
    }))
}

impl Group {
    fn html(&self) -> String {
        let packages: String = self.packages.iter().map(Package::html).collect();
        let paragraphs = self.text.lines().map(|line| format!("<p>{}</p>\n", escape(line)));
        let text = match self.text.as_str() {
            "" => "<p>These packages come without a licence text; the licence is the one named.</p>\n".to_owned(),
            _ => format!("<details>\n<summary>Licence text</summary>\n{}</details>\n", paragraphs.collect::<String>()),
        };
        format!("<section>\n<ul>\n{packages}</ul>\n{text}</section>\n")
    }
}

impl Package {
    fn html(&self) -> String {
        let name = format!("{} {}", escape(&self.name), escape(&self.version));
        let name = match self.repository.starts_with("https://") {
            true => format!("<a href=\"{}\">{name}</a>", escape(&self.repository)),
            false => name,
        };
        let authors = if self.authors.is_empty() { String::new() } else { format!(", {}", escape(&self.authors)) };
        format!("<li>{name}: {}{authors}</li>\n", escape(&self.licence))
    }
}

#[cfg(test)]
mod tests {
    use super::{Group, Package, write};

    #[test]
    fn every_package_stands_with_its_licence() {
        let page = write().expect("the list is right");
        assert!(page.contains("leptos 0.") && page.contains("tree-sitter-python 0."), "{page}");
        assert!(page.matches("<li>").count() > 100);
        assert!(page.contains("Permission is hereby granted, free of charge"));
    }

    #[test]
    fn what_others_wrote_is_text() {
        let word = || "<img src=x>\"".to_owned();
        let package = Package { name: word(), version: word(), licence: word(), repository: word(), authors: word() };
        let html = Group { text: word(), packages: vec![package] }.html();
        assert!(!html.contains("<img"), "{html}");
    }
}
