//! The page that ports, in the site's frame.

use crate::SiteError;
use crate::shell::{Frame, shell};

/// Puts the site's frame around `app/web/index.html` as Trunk built it: its scripts, styles and links stay as they are,
/// and what stands in its `<body>` goes into `<main>`.
pub fn wrap_port(built: &str) -> Result<String, SiteError> {
    let head = inside(built, "head").ok_or(SiteError::PortPage("has no <head>"))?;
    let body = inside(built, "body").ok_or(SiteError::PortPage("has no <body>"))?;
    let (tags, scripts): (Vec<String>, Vec<String>) = (tags(head), self::tags(body));
    let mut main = body.to_string();
    for script in &scripts {
        main = main.replacen(script, "", 1);
    }
    let mut head: String = tags.iter().map(|tag| format!("{tag}\n")).collect();
    head += &scripts.iter().map(|script| format!("{script}\n")).collect::<String>();
    if !head.contains("<script") {
        return Err(SiteError::PortPage("loads no script"));
    }
    Ok(shell(&Frame {
        path: "port/",
        title: "Port a script",
        description: "Paste a training script, pick a target, and read the port beside it. Runs in your browser.",
        head: &head,
        main: &format!("{}\n", main.trim()),
        ..Frame::default()
    }))
}

fn inside<'a>(html: &'a str, tag: &str) -> Option<&'a str> {
    let open = html.find(&format!("<{tag}"))?;
    let start = open + html[open..].find('>')? + 1;
    let end = start + html[start..].find(&format!("</{tag}>"))?;
    Some(&html[start..end])
}

/// The tags that load something: links, scripts and styles with what is in them. The frame has its own title and metas.
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
    use super::wrap_port;
    use crate::SiteError;

    #[test]
    fn what_loads_stays_and_the_frame_comes_around() {
        let built = "<!DOCTYPE html><html><head><meta charset=utf-8><title>x</title><!-- <link> -->\
                     <link rel=\"modulepreload\" href=\"./page-1.js\"><style>a{}</style></head>\
                     <body class=\"b\"><div id=\"port\">Loading</div><script type=\"module\" src=\"./start.js\"></script></body></html>";
        let page = wrap_port(built).expect("it is whole");
        assert!(
            page.contains("<style>a{}</style>\n<script type=\"module\" src=\"./start.js\"></script>\n</head>"),
            "{page}"
        );
        assert!(page.contains("\n<div id=\"port\">Loading</div>\n</main>"), "{page}");
        assert!(page.contains("<title>Port a script – Portolan</title>") && !page.contains("<title>x"), "{page}");
        assert!(page.contains("aria-current=\"page\">Port a script"), "{page}");
        assert_eq!(page.matches("start.js").count(), 1);
        assert_eq!(page.matches("<link").count(), 3, "the comment's is not one: {page}");
    }

    #[test]
    fn a_broken_page_is_told() {
        assert_eq!(wrap_port("<p>"), Err(SiteError::PortPage("has no <head>")));
        assert_eq!(wrap_port("<head></head><body></body>"), Err(SiteError::PortPage("loads no script")));
    }
}
