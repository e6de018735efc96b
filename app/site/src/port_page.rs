//! The Port page, in the site's frame.

use crate::SiteError;
use crate::shell::{Frame, shell};
use crate::theme;
use guide::html::escape;
use launch::Target;
use std::fmt::Write as _;

/// The page and its separate files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortPage {
    /// `port/index.html`.
    pub html: String,
    /// Inline scripts of the page: names from the site's root, and contents.
    pub scripts: Vec<(String, String)>,
}

/// Adds the site's frame to `app/web/index.html` as built by Trunk. Trunk needs `public_url = "../"`, because the page
/// is moved into `port/` and its files stay in the root.
///
/// Tags that load something are moved into `<head>`, and the rest of `<body>` into `<main>`; the module of the program
/// is loaded by the program, because fetching it before the first paint delays that. An inline script becomes a
/// separate file, so that the policy of every page allows the same scripts.
pub fn wrap_port(built: &str) -> Result<PortPage, SiteError> {
    let mut head = inside(built, "head").ok_or(SiteError::PortPage("has no <head>"))?.to_string();
    let mut main = inside(built, "body").ok_or(SiteError::PortPage("has no <body>"))?.to_string();
    let from_body = tags(&main);
    for tag in &from_body {
        main = main.replacen(tag, "", 1);
    }
    let mut scripts = Vec::new();
    let wanted = tags(&head).into_iter().chain(from_body).filter(|tag| !tag.contains("rel=\"preload\""));
    let tags: Vec<String> = wanted.map(|tag| put_aside(tag, &mut scripts)).collect();
    head = tags.iter().map(|tag| format!("{tag}\n")).collect();
    if !head.contains("<script") {
        return Err(SiteError::PortPage("loads no script"));
    }
    // First, because it waits for the page's own program to start.
    head = format!("<script defer src=\"../{}\"></script>\n{head}", theme::names().keep);
    let html = shell(&Frame {
        path: "port/",
        title: "Port a script",
        description: "Paste a training script, pick a target, and read the port beside it. Runs in your browser.",
        head: &head,
        wide: true,
        main: &format!("{}\n", main.trim().replacen(NO_TARGETS, &format!("{NO_TARGETS}{}", targets()), 1)),
        ..Frame::default()
    });
    Ok(PortPage { html, scripts })
}

/// The start of the list of targets, which can be used before the page's program has been loaded.
const NO_TARGETS: &str = "<select class=\"target\" autocomplete=\"off\">";

/// The targets as options of a list.
fn targets() -> String {
    Target::all().fold(String::new(), |mut options, target| {
        let _ = write!(options, "<option value=\"{}\">{}</option>", target.name(), escape(target.label()));
        options
    })
}

/// The event that a program waits for; `portolan.js` decides when it occurs.
const PAINTED: &str = "await window.portolanPainted;\n";

/// Converts an inline script into a loaded one.
fn put_aside(tag: String, scripts: &mut Vec<(String, String)>) -> String {
    let Some((open, rest)) =
        tag.split_once('>').filter(|(open, _)| open.starts_with("<script") && !open.contains(" src="))
    else {
        return tag;
    };
    let text = format!("{PAINTED}{}", rest.strip_suffix("</script>").unwrap_or(rest).trim());
    let name = theme::name("start", "js", &text);
    let tag = format!("{open} src=\"{name}\"></script>");
    scripts.push((format!("port/{name}"), format!("{text}\n")));
    tag
}

fn inside<'a>(html: &'a str, tag: &str) -> Option<&'a str> {
    let open = html.find(&format!("<{tag}"))?;
    let start = open + html[open..].find('>')? + 1;
    let end = start + html[start..].find(&format!("</{tag}>"))?;
    Some(&html[start..end])
}

/// The tags that load something: links, scripts and styles with their contents. The frame has its own title and metas.
fn tags(html: &str) -> Vec<String> {
    let mut tags = Vec::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        rest = &rest[at..];
        let end = match () {
            () if rest.starts_with("<!--") => rest.find("-->").map(|end| end + 3),
            () if rest.starts_with("<script") => rest.find("</script>").map(|end| end + 9),
            () if rest.starts_with("<style") => rest.find("</style>").map(|end| end + 8),
            () => rest.find('>').map(|end| end + 1),
        };
        let Some(end) = end else { break };
        if ["<link", "<script", "<style"].iter().any(|tag| rest.starts_with(tag)) {
            tags.push(rest[..end].to_string());
        }
        rest = &rest[end..];
    }
    tags
}

#[cfg(test)]
mod tests {
    use super::{PAINTED, PortPage, wrap_port};
    use crate::SiteError;

    #[test]
    fn what_loads_stays_and_the_frame_comes_around() {
        let built = "<!DOCTYPE html><html><head><meta charset=utf-8><title>x</title><!-- <link> -->\
                     <script type=\"module\">\nimport init from '../page-1.js';\n</script>\
                     <link rel=\"modulepreload\" href=\"../page-1.js\"><link rel=\"preload\" href=\"../page-1_bg.wasm\" as=\"fetch\">\
                     <style>a{}</style></head>\
                     <body class=\"b\"><div id=\"port\">Loading</div><script src=\"../s.js\"></script></body></html>";
        let PortPage { html, scripts } = wrap_port(built).expect("it is whole");
        let [(name, text)] = &scripts[..] else { panic!("{scripts:?}") };
        assert_eq!(text, &format!("{PAINTED}import init from '../page-1.js';\n"));
        let file = name.strip_prefix("port/").expect("beside the page");
        let head = format!(
            "<script type=\"module\" src=\"{file}\"></script>\n<link rel=\"modulepreload\" href=\"../page-1.js\">\n\
             <style>a{{}}</style>\n<script src=\"../s.js\"></script>\n</head>"
        );
        assert!(html.contains(&head), "{html}");
        assert!(html.contains("\n<div id=\"port\">Loading</div>\n</main>"), "{html}");
        assert!(html.contains("<title>Port a script – Portolan</title>") && !html.contains("<title>x"), "{html}");
        assert!(html.contains("aria-current=\"page\">Port a script"), "{html}");
    }

    #[test]
    fn a_broken_page_is_told() {
        assert_eq!(wrap_port("<p>"), Err(SiteError::PortPage("has no <head>")));
        assert_eq!(wrap_port("<head></head><body></body>"), Err(SiteError::PortPage("loads no script")));
    }
}
