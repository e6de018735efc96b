//! A guide as a page: its prose, with the engine's results in place of its fences.

use crate::example_figure::Examples;
use crate::kit::{self, Kit};
use crate::search::{self, Entry};
use crate::shell::{Frame, shell};
use crate::{badge, definition, figure, links::Map};
use codemod::{RecipeSet, TargetInfo};
use guide::html::{Document, Fence, Link, escape};
use guide::{Defined, Definition, Guide, GuideError, Rule, Section};
use std::collections::BTreeMap;

/// A guide and the text it was parsed from.
pub(crate) struct Source<'a> {
    pub(crate) guide: Guide,
    pub(crate) text: &'a str,
}

/// The parts of a guide's page that are not in the guide.
#[derive(Default)]
pub(crate) struct Around<'a> {
    pub(crate) before: Option<&'a Guide>,
    pub(crate) after: Option<&'a Guide>,
    /// Day of the last change, `2026-11-21`.
    pub(crate) changed: Option<String>,
    /// Where the guide's text can be edited.
    pub(crate) edit: Option<&'a str>,
}

/// A guide and its prose as HTML.
pub(crate) struct Body<'a> {
    pub(crate) guide: &'a Guide,
    pub(crate) html: String,
}

/// A guide's page, and its parts for other pages.
pub(crate) struct Written {
    pub(crate) html: String,
    /// The prose alone.
    pub(crate) body: String,
    /// Links to other sites, each with the anchor of its section.
    pub(crate) sources: Vec<(String, Link)>,
    /// Its search entries.
    pub(crate) entries: Vec<Entry>,
    /// Broken links.
    pub(crate) faults: Vec<GuideError>,
}

/// The page of one guide.
pub(crate) fn write(
    source: &Source<'_>,
    around: &Around<'_>,
    map: &Map<'_>,
    recipes: &RecipeSet,
    targets: &[TargetInfo],
    kit: &Kit,
) -> Written {
    let guide = &source.guide;
    let mut document = Document::new(guide, source.text);
    let entries = search::of_guide(guide, &document);
    let sources = document.outward();
    let faults = document.resolve_links(|link| map.resolve(&guide.name, link));
    let fences = Fences::new(guide, &Examples::new(guide, recipes, targets));
    document.replace_fences(|fence| fences.html(fence));
    let sections: BTreeMap<&str, &Section> = guide.sections.iter().map(|section| (&*section.id, section)).collect();
    document.below_headings(|id| sections.get(id).map(|section| badge::of_section(section)).unwrap_or_default());

    let body = document.html();
    let main = format!(
        "<div class=\"wrap guide\">\n{contents}<article class=\"prose\">\n<nav class=\"crumbs\" aria-label=\"Breadcrumb\"><ol>\
         <li><a href=\"../../\">Portolan</a></li><li><a href=\"../\">Guides</a></li>\
         <li><span aria-current=\"page\">{title}</span></li></ol></nav>\n\
         <h1>{title}</h1>\n{lead}{facts}{offer}{body}{foot}</article>\n</div>\n",
        contents = contents(guide),
        title = escape(&guide.front.title),
        lead = lead(guide),
        facts = badge::list(&facts(guide)),
        offer = kit::offer(kit, &guide.name),
        foot = foot(guide, around),
    );
    let html = shell(&Frame {
        path: &format!("guides/{}/", guide.name),
        title: &guide.front.title,
        description: &guide.front.description,
        main: &main,
        ..Frame::default()
    });
    Written { html, body, sources, entries, faults }
}

/// The badges in a guide's card and header.
pub(crate) fn facts(guide: &Guide) -> Vec<(&'static str, String)> {
    let recipes = guide.sections.iter().filter(|section| section.is_recipe()).count();
    let mut facts = Vec::new();
    match recipes {
        0 => {}
        1 => facts.push(("", "1 recipe".to_string())),
        _ => facts.push(("", format!("{recipes} recipes"))),
    }
    if !guide.front.sdks.is_empty() {
        facts.push(("", format!("SDK {}", guide.front.sdks.join(", "))));
    }
    facts
}

/// The end of the page: further links, and how it was generated.
fn foot(guide: &Guide, around: &Around<'_>) -> String {
    let mut facts = Vec::new();
    if let Some(day) = &around.changed {
        facts.push(format!("Last changed <time datetime=\"{day}\">{day}</time>"));
    }
    if let Some(edit) = around.edit {
        let file = guide.path.rsplit(['/', '\\']).next().unwrap_or(&guide.path);
        facts.push(format!("<a href=\"{}guides/{}\">Edit this page</a>", escape(edit), escape(file)));
    }
    let mut html = match facts.is_empty() {
        true => String::new(),
        false => format!("<p class=\"page-facts\">{}</p>\n", facts.join(" · ")),
    };
    let link = |word: &str, rel: &str, guide: &Guide| {
        let title = escape(&guide.front.title);
        format!("<a rel=\"{rel}\" href=\"../{}/\"><small>{word}</small>{title}</a>", guide.name)
    };
    if around.before.is_some() || around.after.is_some() {
        html += &format!(
            "<nav class=\"neighbours\" aria-label=\"Guides before and after\">{}{}</nav>\n",
            around.before.map_or_else(|| "<span></span>".to_string(), |guide| link("Previous", "prev", guide)),
            around.after.map_or_else(String::new, |guide| link("Next", "next", guide)),
        );
    }
    html
}

fn lead(guide: &Guide) -> String {
    match guide.front.description.as_str() {
        "" => String::new(),
        text => format!("<p class=\"lead\">{}</p>\n", escape(text)),
    }
}

/// The list of sections: next to the text if there is space, otherwise folded above it.
fn contents(guide: &Guide) -> String {
    if guide.sections.is_empty() {
        return String::new();
    }
    let mut html = String::from(
        "<nav class=\"contents\" aria-label=\"On this page\"><details><summary>On this page<span></span></summary>\n<ol>\n",
    );
    let mut inner = false;
    for (index, section) in guide.sections.iter().enumerate() {
        // A level-3 section before any level-2 one is in the outer list.
        let deep = section.level == 3 && index > 0;
        match (inner, deep) {
            (false, true) => html += "<ol>\n",
            (true, false) => html += "</ol>\n",
            _ => {}
        }
        inner = deep;
        html += &format!("<li><a href=\"#{}\">{}</a>", section.id, escape(&section.title));
    }
    // In HTML, end tags of items are optional.
    html += if inner { "</ol>\n" } else { "" };
    html + "</ol></details></nav>\n"
}

/// The replacement of each fence, by the line of its first body line.
struct Fences<'a> {
    /// A section's rules, which are shown together in place of the first.
    rules: BTreeMap<usize, &'a [Rule]>,
    /// The figure of the example that ends with this fence: an `after` or an `unchanged`.
    cases: BTreeMap<usize, String>,
    /// The definitions in a fence.
    definitions: BTreeMap<usize, Vec<&'a Definition>>,
}

impl<'a> Fences<'a> {
    fn new(guide: &'a Guide, examples: &Examples<'_>) -> Fences<'a> {
        let mut fences = Fences { rules: BTreeMap::new(), cases: BTreeMap::new(), definitions: BTreeMap::new() };
        for section in &guide.sections {
            fences.rules.extend(section.rules.first().map(|rule| (rule.line, &*section.rules)));
            for definition in &section.definitions {
                // Signatures have their own lines; the fence's is that of the first.
                let line = match definition.what {
                    Defined::Signature(_) => definition.line,
                    _ => definition.line + 1,
                };
                let above = fences.definitions.last_entry().filter(|entry| {
                    matches!(definition.what, Defined::Signature(_)) && entry.key() + entry.get().len() == line
                });
                match above {
                    Some(mut entry) => entry.get_mut().push(definition),
                    None => drop(fences.definitions.insert(line, vec![definition])),
                }
            }
            fences.cases.extend(examples.of_section(section));
        }
        fences
    }

    fn html(&self, fence: &Fence) -> String {
        if let Some(rules) = self.rules.get(&fence.line) {
            return rules_html(rules);
        }
        if let Some(figure) = self.cases.get(&fence.line) {
            return figure.clone();
        }
        if let Some(definitions) = self.definitions.get(&fence.line) {
            return definition::html(definitions);
        }
        match (fence.language.as_str(), fence.words.as_str()) {
            // The first rule shows them all with their conditions, the `after` below shows the pair.
            ("where", _) => String::new(),
            ("diff", words) if words.split_whitespace().next() == Some("rule") => String::new(),
            (_, words) if words.split_whitespace().next() == Some("before") => String::new(),
            ("diff", _) => figure::patch(&fence.body),
            (language, _) => figure::code(language, &fence.body),
        }
    }
}

fn rules_html(rules: &[Rule]) -> String {
    let (summary, body) = match rules {
        [rule] => ("The rule".to_string(), rule_html(rule)),
        _ => {
            let item = |rule: &Rule| {
                let words: Vec<String> = badge::of_rule(rule).into_iter().map(|(_, text)| escape(&text)).collect();
                format!("<li>{}\n{}", words.join("; "), rule_html(rule))
            };
            (
                format!("The {} rules", rules.len()),
                format!("<ol>\n{}</ol>\n", rules.iter().map(item).collect::<String>()),
            )
        }
    };
    format!("<details class=\"rule\"><summary>{summary}</summary>\n{body}</details>\n")
}

fn rule_html(rule: &Rule) -> String {
    let mut html = match &rule.handler {
        Some(handler) => format!("<p>A function of the engine: <code>{}</code>.</p>\n", escape(handler)),
        None => figure::patch(&rule.patch),
    };
    if !rule.conditions.is_empty() {
        html += &format!("<p>Only where</p>\n{}", definition::conditions(&rule.conditions));
    }
    html
}
