//! The list of sources: every external page to which a guide refers, and where.

use crate::shell::{Frame, shell};
use guide::Guide;
use guide::html::{Link, escape};
use std::collections::{BTreeMap, BTreeSet};

/// A link of a guide to another site: guide, anchor of the section, link.
pub(crate) type Use<'a> = (&'a Guide, String, Link);

/// An external page: the texts of its links, and the sections that contain them, as HTML.
#[derive(Default)]
struct Cited<'a> {
    texts: BTreeSet<&'a str>,
    places: Vec<String>,
}

/// The page at `sources/`.
pub(crate) fn write(uses: &[Use<'_>]) -> String {
    let mut hosts: BTreeMap<&str, BTreeMap<&str, Cited>> = BTreeMap::new();
    for (guide, section, link) in uses {
        let Cited { texts, places } = hosts.entry(host(&link.to)).or_default().entry(&link.to).or_default();
        texts.insert(link.text.trim());
        let title = guide.sections.iter().find(|found| found.id == *section).map_or(&guide.front.title, |s| &s.title);
        let anchor = if section.is_empty() { String::new() } else { format!("#{section}") };
        let place = format!("<a href=\"../guides/{}/{anchor}\">{}</a>", guide.name, escape(title));
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let mut list = String::new();
    for (host, pages) in &hosts {
        list += &format!("<section>\n<h2 id=\"{0}\">{0}</h2>\n<ul class=\"recipes\">\n", escape(host));
        for (url, Cited { texts, places }) in pages {
            let named: Vec<&str> = texts.iter().copied().filter(|text| !text.starts_with("http")).collect();
            let name = if named.is_empty() { url } else { named[0] };
            list += &format!(
                "<li><a href=\"{url}\">{}</a><br><small>{}</small><p class=\"source\">Used in: {}</p></li>\n",
                escape(name),
                escape(url),
                places.join(", "),
                url = escape(url),
            );
        }
        list += "</ul>\n</section>\n";
    }
    let count: usize = hosts.values().map(BTreeMap::len).sum();
    let main = format!(
        "<div class=\"wrap band\">\n<div class=\"prose\">\n<h1>Sources</h1>\n<p class=\"lead\">All {count} pages that the guides \
         cite, by site, each with the sections that cite it.</p>\n{list}</div>\n</div>\n"
    );
    shell(&Frame {
        path: "sources/",
        title: "Sources",
        description: "Every page that the guides cite, and the sections that cite it.",
        main: &main,
        ..Frame::default()
    })
}

fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use super::{host, write};
    use guide::Guide;
    use guide::html::Document;

    #[test]
    fn a_source_stands_once_with_all_its_uses() {
        let text =
            "+++\ntitle = \"T\"\n+++\n## A\n[x](https://a.org/1) [x](https://a.org/1)\n## B\n[y](https://a.org/1)\n";
        let guide = Guide::parse("t.md", text).expect("it is right");
        let uses: Vec<_> =
            Document::new(&guide, text).outward().into_iter().map(|(section, link)| (&guide, section, link)).collect();
        let page = write(&uses);
        assert_eq!(page.matches("<a href=\"https://a.org/1\">").count(), 1, "{page}");
        let used = "Used in: <a href=\"../guides/t/#a\">A</a>, <a href=\"../guides/t/#b\">B</a></p>";
        assert!(page.contains(used) && page.contains("All 1 pages"), "{page}");
        assert_eq!(host("https://docs.x.org/a"), "docs.x.org");
    }
}
