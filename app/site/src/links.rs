//! The targets of guides' links, and whether they exist.

use guide::Guide;
use guide::html::Link;
use std::collections::{BTreeMap, BTreeSet};

/// The possible targets of links in guides.
pub(crate) struct Map<'a> {
    /// Anchors by guide.
    guides: BTreeMap<&'a str, BTreeSet<&'a str>>,
    assets: &'a BTreeSet<String>,
}

/// Pages that are not guides, as written in guides.
const PLACES: [&str; 10] = [
    "/",
    "/port/",
    "/launch/",
    "/guides/",
    "/recipes/",
    "/apis/",
    "/glossary/",
    "/sources/",
    "/changelog/",
    "/licences/",
];

impl<'a> Map<'a> {
    pub(crate) fn new(guides: impl Iterator<Item = &'a Guide>, assets: &'a BTreeSet<String>) -> Map<'a> {
        let anchors = |guide: &'a Guide| guide.sections.iter().map(|section| section.id.as_str()).collect();
        Map { guides: guides.map(|guide| (guide.name.as_str(), anchors(guide))).collect(), assets }
    }

    /// The address of a link of the guide `from`, relative to its page.
    pub(crate) fn resolve(&self, from: &str, link: &Link) -> Result<String, String> {
        let to = link.to.as_str();
        if link.text.trim().is_empty() {
            return Err(match link.is_image {
                true => format!("say what the image shows: ![…]({to})"),
                false => format!("this link has no text: [text]({to})"),
            });
        }
        if ["https://", "http://", "mailto:"].iter().any(|scheme| to.starts_with(scheme)) {
            return match link.is_image {
                true => Err("images must be under public/; none are loaded from other sites".to_string()),
                false => Ok(to.to_string()),
            };
        }
        if let Some(asset) = to.strip_prefix("../public/") {
            return match self.assets.contains(asset) {
                true => Ok(format!("../../{asset}")),
                false => Err(format!("there is no file public/{asset}: add it, or correct the path")),
            };
        }
        if link.is_image {
            return Err(format!("images must be under ../public/, not at `{to}`"));
        }
        if PLACES.contains(&to) {
            return Ok(format!("../..{to}"));
        }
        let (page, anchor) = to.split_once('#').map_or((to, None), |(page, anchor)| (page, Some(anchor)));
        let name = match page.strip_prefix("./").unwrap_or(page) {
            "" => from,
            file => file.strip_suffix(".md").ok_or_else(|| {
                format!("`{to}` is not a valid target: link to another guide (name.md#anchor), #anchor, or https://…")
            })?,
        };
        let anchors = self.guides.get(name).ok_or_else(|| format!("there is no guide {name}.md{}", self.all()))?;
        match anchor {
            Some(anchor) if !anchors.contains(anchor) => {
                Err(format!("{name}.md has no section #{anchor}{}", near(anchor, anchors)))
            }
            Some(anchor) if page.is_empty() => Ok(format!("#{anchor}")),
            Some(anchor) => Ok(format!("../{name}/#{anchor}")),
            None => Ok(format!("../{name}/")),
        }
    }

    /// The candidates, if the list is short.
    fn all(&self) -> String {
        let names: Vec<String> = self.guides.keys().map(|name| format!("{name}.md")).collect();
        if names.len() > 20 { String::new() } else { format!("; there are {}", names.join(", ")) }
    }
}

/// A suggestion for the intended anchor: the one with the most words in common.
fn near(wanted: &str, anchors: &BTreeSet<&str>) -> String {
    let shared = |anchor: &str| wanted.split('-').filter(|word| anchor.split('-').any(|other| other == *word)).count();
    match anchors.iter().map(|anchor| (shared(anchor), *anchor)).max_by_key(|(count, _)| *count) {
        Some((count, anchor)) if count > 0 => format!("; is #{anchor} meant?"),
        _ => format!("; a heading gets that anchor by ## Title {{#{wanted}}}"),
    }
}

#[cfg(test)]
mod tests {
    use super::Map;
    use guide::Guide;
    use guide::html::Link;
    use std::collections::BTreeSet;

    #[track_caller]
    fn check(to: &str, expected: Result<&str, &str>) {
        check_link(Link { to: to.to_string(), text: "x".to_string(), is_image: false, line: 1 }, expected);
    }

    #[track_caller]
    fn check_link(link: Link, expected: Result<&str, &str>) {
        let guides = [("hpu.md", "## Move the model\n\n## B\n"), ("ipu.md", "## C\n")]
            .map(|(path, body)| Guide::parse(path, &format!("+++\ntitle = \"T\"\n+++\n{body}")).expect("right"));
        let assets = BTreeSet::from(["a/b.svg".to_string()]);
        let map = Map::new(guides.iter(), &assets);
        let expected = expected.map(str::to_string).map_err(str::to_string);
        assert_eq!(map.resolve("hpu", &link), expected);
    }

    #[test]
    fn links_lead_somewhere() {
        check("https://x.org/a", Ok("https://x.org/a"));
        check("#b", Ok("#b"));
        check("hpu.md#b", Ok("../hpu/#b"));
        check("./ipu.md", Ok("../ipu/"));
        check("../public/a/b.svg", Ok("../../a/b.svg"));
        check("/port/", Ok("../../port/"));
    }

    #[test]
    fn or_are_told() {
        check("#c", Err("hpu.md has no section #c; a heading gets that anchor by ## Title {#c}"));
        check("#move-a-model", Err("hpu.md has no section #move-a-model; is #move-the-model meant?"));
        check("ipu.md#b", Err("ipu.md has no section #b; a heading gets that anchor by ## Title {#b}"));
        check("rdu.md", Err("there is no guide rdu.md; there are hpu.md, ipu.md"));
        check("../public/c.svg", Err("there is no file public/c.svg: add it, or correct the path"));
        check(
            "trainer.py",
            Err("`trainer.py` is not a valid target: link to another guide (name.md#anchor), #anchor, or https://…"),
        );
    }

    #[test]
    fn images_are_ours_and_say_what_they_show() {
        let image = |to: &str, text: &str| Link { to: to.to_string(), text: text.to_string(), is_image: true, line: 1 };
        check_link(image("../public/a/b.svg", "a"), Ok("../../a/b.svg"));
        check_link(image("../public/a/b.svg", " "), Err("say what the image shows: ![…](../public/a/b.svg)"));
        check_link(
            image("https://x/y.png", "a"),
            Err("images must be under public/; none are loaded from other sites"),
        );
        check_link(image("b.svg", "a"), Err("images must be under ../public/, not at `b.svg`"));
    }
}
