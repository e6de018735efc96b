//! Pages with only text: the glossary and the changelog.

use crate::SiteError;
use crate::links::Map;
use crate::search::Entry;
use crate::shell::{Frame, shell};
use guide::Guide;
use guide::html::{Document, escape};

/// Folder of the page and its text, with front matter like a guide's.
const PAGES: [(&str, &str); 2] =
    [("glossary/", include_str!("texts/glossary.md")), ("changelog/", include_str!("texts/changelog.md"))];

/// A page's folder and its HTML.
pub(crate) type Written = (&'static str, String);

/// The pages, and their search entries.
pub(crate) fn write(map: &Map<'_>) -> Result<(Vec<Written>, Vec<Entry>), Vec<SiteError>> {
    let (mut pages, mut entries, mut faults) = (Vec::new(), Vec::new(), Vec::new());
    for (folder, text) in PAGES {
        let path = format!("app/site/src/texts/{}.md", folder.trim_end_matches('/'));
        let guide = match Guide::parse(&path, text) {
            Ok(guide) => guide,
            Err(found) => {
                faults.extend(found.into_iter().map(SiteError::Guide));
                continue;
            }
        };
        let mut document = Document::new(&guide, text);
        // These pages are one folder higher than guides.
        let found = document.resolve_links(|link| map.resolve(&guide.name, link).map(|to| raise(&to)));
        faults.extend(found.into_iter().map(SiteError::Guide));
        for (id, blocks) in document.passages() {
            let section = guide.sections.iter().find(|section| section.id == id);
            entries.push(Entry {
                group: "Pages",
                to: if id.is_empty() { folder.to_string() } else { format!("{folder}#{id}") },
                title: section.map_or(&guide.front.title, |section| &section.title).clone(),
                place: section.map_or("Page", |_| &guide.front.title).to_string(),
                text: if id.is_empty() { guide.front.description.clone() } else { blocks.join("\n") },
                says: Vec::new(),
            });
        }
        let main = format!(
            "<div class=\"wrap band\">\n<article class=\"prose text-page\">\n<h1>{}</h1>\n<p class=\"lead\">{}</p>\n{}</article>\n</div>\n",
            escape(&guide.front.title),
            escape(&guide.front.description),
            document.html(),
        );
        let html = shell(&Frame {
            path: folder,
            title: &guide.front.title,
            description: &guide.front.description,
            main: &main,
            ..Frame::default()
        });
        pages.push((folder, html));
    }
    if faults.is_empty() { Ok((pages, entries)) } else { Err(faults) }
}

/// An address relative to a guide's page, converted to one relative to a folder above.
fn raise(to: &str) -> String {
    match (to.strip_prefix("../../"), to.strip_prefix("../")) {
        (Some(rest), _) => format!("../{rest}"),
        (None, Some(rest)) => format!("../guides/{rest}"),
        _ => to.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::raise;

    #[test]
    fn links_of_a_higher_page() {
        assert_eq!(raise("../../port/"), "../port/");
        assert_eq!(raise("../hpu/#a"), "../guides/hpu/#a");
        assert_eq!(raise("#a"), "#a");
        assert_eq!(raise("https://x.org/"), "https://x.org/");
    }
}
