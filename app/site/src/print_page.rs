//! All guides on one page, to print or to keep as one PDF.

use crate::guide_page::Body;
use crate::shell::{Frame, shell};
use guide::Guide;
use guide::html::escape;

/// The page at `print/`. Anchors carry the guide's name, and links between guides lead to places of this page.
pub(crate) fn write(bodies: &[Body<'_>]) -> String {
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
            onto_one_page(guide, html, bodies),
        );
    }
    let main = format!(
        "<div class=\"wrap band print-all\">\n<nav aria-label=\"Contents\"><h2>All guides</h2>\n<ol>\n{contents}</ol></nav>\n{articles}</div>\n"
    );
    shell(&Frame {
        path: "print/",
        title: "All guides",
        description: "All guides on one page, to print or to keep.",
        head: "<meta name=\"robots\" content=\"noindex\">\n",
        main: &main,
        ..Frame::default()
    })
}

/// A guide's HTML for this page. Quotes in text are escaped, so an attribute's beginning stands for an attribute.
fn onto_one_page(guide: &Guide, html: &str, bodies: &[Body<'_>]) -> String {
    let name = &guide.name;
    let mut html = html
        .replace(" aria-label=\"Table ", &format!(" aria-label=\"{}, table ", escape(&guide.front.title)))
        .replace(" id=\"", &format!(" id=\"{name}--"))
        .replace(" href=\"#", &format!(" href=\"#{name}--"))
        .replace("\"../../", "\"../");
    for Body { guide, .. } in bodies {
        html = html
            .replace(&format!(" href=\"../{}/#", guide.name), &format!(" href=\"#{}--", guide.name))
            .replace(&format!(" href=\"../{}/\"", guide.name), &format!(" href=\"#{}\"", guide.name));
    }
    html
}
