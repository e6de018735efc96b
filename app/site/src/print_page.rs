//! All guides on one page, for printing or saving as a PDF.

use crate::guide_page::Body;
use crate::shell::{Frame, shell};
use crate::theme;
use guide::Guide;
use guide::html::escape;
use std::collections::BTreeSet;

/// The page at `print/`. Anchors include the guide's name, and links between guides lead to places on this page.
pub(crate) fn write(bodies: &[Body<'_>]) -> String {
    let names: BTreeSet<&str> = bodies.iter().map(|body| &*body.guide.name).collect();
    let mut contents = String::new();
    let mut articles = String::new();
    for Body { guide, html } in bodies {
        let name = &guide.name;
        contents += &format!("<li><a href=\"#{name}\">{}</a><ol>\n", escape(&guide.front.title));
        for section in guide.sections.iter().filter(|section| section.level == 2) {
            contents += &format!("<li><a href=\"#{name}--{}\">{}</a></li>\n", section.id, escape(&section.title));
        }
        contents += "</ol></li>\n";
        articles += &format!(
            "<article class=\"prose\" aria-labelledby=\"{name}\">\n<h1 id=\"{name}\">{}</h1>\n<p class=\"lead\">{}</p>\n{}</article>\n",
            escape(&guide.front.title),
            escape(&guide.front.description),
            onto_one_page(guide, html, &names),
        );
    }
    let main = format!(
        "<div class=\"wrap band print-all\">\n<nav aria-label=\"Contents\"><h2>All guides</h2>\n<ol>\n{contents}</ol></nav>\n{articles}</div>\n"
    );
    shell(&Frame {
        path: "print/",
        title: "All guides",
        description: "All guides on one page, to print or to keep.",
        head: &format!(
            "<meta name=\"robots\" content=\"noindex\">\n<link rel=\"stylesheet\" href=\"../{}\">\n",
            theme::names().parts
        ),
        main: &main,
        ..Frame::default()
    })
}

/// A guide's HTML for this page. Quotes in text are escaped, so the start of an attribute is unambiguous.
fn onto_one_page(guide: &Guide, html: &str, names: &BTreeSet<&str>) -> String {
    let name = &guide.name;
    let html = html
        .replace(" aria-label=\"Table ", &format!(" aria-label=\"{}, table ", escape(&guide.front.title)))
        .replace(" id=\"", &format!(" id=\"{name}--"))
        .replace(" aria-labelledby=\"", &format!(" aria-labelledby=\"{name}--"))
        .replace(" aria-describedby=\"", &format!(" aria-describedby=\"{name}--"))
        .replace(" href=\"#", &format!(" href=\"#{name}--"))
        .replace("\"../../", "\"../");
    let mut out = String::with_capacity(html.len());
    let mut rest = html.as_str();
    while let Some((before, after)) = rest.split_once(" href=\"../") {
        out += before;
        let (name, place) = after.split_once('/').unwrap_or((after, ""));
        rest = match place.strip_prefix('#') {
            Some(anchor) if names.contains(name) => {
                out += &format!(" href=\"#{name}--");
                anchor
            }
            None if names.contains(name) && place.starts_with('"') => {
                out += &format!(" href=\"#{name}");
                place
            }
            _ => {
                out += " href=\"../";
                after
            }
        };
    }
    out + rest
}
