//! A page of the site as a leaf of the single file: its ids become unique, and its links lead to other leaves.

use super::Files;
use crate::SiteError;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use guide::html::escape;

/// The leaf that explains what is omitted. Links to those pages point there.
pub(super) const ELSEWHERE: &str = "elsewhere/";
/// Address of the Port page. Its ids belong to its program and are unchanged; its own id is on the element around its
/// view.
const PORT: &str = "port/";
/// Address of the Launch page, whose ids also belong to its program.
const LAUNCH: &str = "launch/";

/// Address of the Check page, which is not in the file.
const CHECK: &str = "check/";
/// The mark of links to that page: the style sheet adds a note after them that the page is not in the file.
const LEFT_OUT: &str = "data-left-out";

/// A page, and its context.
#[derive(Clone, Copy)]
pub(super) struct Leaf<'a> {
    /// The page's address from the root: `guides/hpu/`, empty for the home page.
    pub(super) path: &'a str,
    /// Addresses of all pages that are leaves.
    pub(super) pages: &'a [&'a str],
    pub(super) files: &'a Files,
}

impl Leaf<'_> {
    /// The page's `<main>` as an element that has the page's address for its id.
    pub(super) fn of_page(&self, html: &str) -> Result<String, SiteError> {
        let part = |open: &str, close: &str| {
            let (_, rest) = html.split_once(open)?;
            rest.split_once(close).map(|(inside, _)| inside)
        };
        let lacks = |what: &str| SiteError::OneFile(format!("{}index.html has no {what}", self.path));
        let main = part("<main id=\"main\" tabindex=\"-1\">", "</main>").ok_or_else(|| lacks("<main>"))?;
        let title = part("<title>", "</title>").ok_or_else(|| lacks("<title>"))?;
        let wide = if html.contains("<body class=\"wide\">") { " data-wide" } else { "" };
        Ok(format!(
            "<section class=\"leaf\" id=\"{}\" data-title=\"{title}\"{wide}>{}</section>\n",
            own_id(self.path),
            self.rewritten(main)
        ))
    }

    /// Whether a page is in the file.
    pub(super) fn has(&self, path: &str) -> bool {
        self.pages.contains(&path)
    }

    /// HTML of this page with ids and links of the single file. Quotes in text are escaped, so every `name="` is an
    /// attribute.
    pub(super) fn rewritten(&self, html: &str) -> String {
        let mut out = String::with_capacity(html.len() + html.len() / 8);
        let mut rest = html;
        while let Some(at) = rest.find("=\"") {
            let (before, value) = rest.split_at(at);
            let value = &value[2..];
            let Some(end) = value.find('"') else { break };
            let name = before.rsplit([' ', '\n']).next().unwrap_or_default();
            out += before;
            out += "=\"";
            out += &match name {
                "id" | "for" | "headers" | "list" | "aria-labelledby" | "aria-describedby" | "aria-controls" => {
                    let ids = value[..end].split(' ').map(|id| self.id(id));
                    ids.collect::<Vec<String>>().join(" ")
                }
                "href" => self.link(&value[..end]),
                "src" => self.picture(&value[..end]),
                _ => value[..end].to_string(),
            };
            rest = &value[end..];
        }
        out += rest;
        // These links lead to a place in the file; downloads have links of their own.
        out.replace(&format!("\"#{ELSEWHERE}\" download"), &format!("\"#{ELSEWHERE}\""))
    }

    fn id(&self, id: &str) -> String {
        match self.path {
            PORT | LAUNCH | "" => id.to_string(),
            path => format!("{path}{id}"),
        }
    }

    fn link(&self, to: &str) -> String {
        if to.contains(':') {
            return to.to_string();
        }
        let (page, anchor) = to.split_once('#').unwrap_or((to, ""));
        let page = page.split('?').next().unwrap_or_default();
        let path = if page.is_empty() { self.path.to_string() } else { from_root(self.path, page) };
        if path == PORT && !page.is_empty() {
            return if anchor.is_empty() { "#port".to_string() } else { format!("#{anchor}") };
        }
        if path.starts_with(CHECK) {
            return format!("#{ELSEWHERE}\" {LEFT_OUT}=\"");
        }
        if !self.has(&path) {
            return format!("#{ELSEWHERE}");
        }
        if path == LAUNCH && anchor.contains('=') {
            return format!("#launch?{anchor}");
        }
        match anchor {
            "" => format!("#{}", own_id(&path)),
            _ => format!("#{}", Leaf { path: &path, ..*self }.id(anchor)),
        }
    }

    /// An image of the site as a data URL.
    fn picture(&self, to: &str) -> String {
        let path = from_root(self.path, to);
        let Some(bytes) = self.files.get(&path) else { return to.to_string() };
        let kind = match path.rsplit('.').next() {
            Some("svg") => "svg+xml",
            Some("jpg") => "jpeg",
            Some(ending) => ending,
            None => "png",
        };
        format!("data:image/{};base64,{}", escape(kind), STANDARD.encode(bytes))
    }
}

fn own_id(path: &str) -> &str {
    if path.is_empty() { "home/" } else { path }
}

/// A relative address on a page, from the root.
fn from_root(page: &str, to: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    let (folders, file) = to.rsplit_once('/').map_or(("", to), |(folders, file)| (folders, file));
    for part in folders.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "" | "." => {}
            part => parts.push(part),
        }
    }
    parts.push(file);
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::Leaf;
    use crate::one_file::Files;

    #[track_caller]
    fn check(path: &str, html: &str, expected: &str) {
        let files = Files::from([("a/b.png".to_string(), b"x".to_vec())]);
        let pages = ["", "guides/", "guides/hpu/", "guides/ipu/", "launch/", "port/"];
        assert_eq!(Leaf { path, pages: &pages, files: &files }.rewritten(html), expected);
    }

    #[test]
    fn links_lead_to_leaves() {
        check("guides/hpu/", "<a href=\"#x\">", "<a href=\"#guides/hpu/x\">");
        check("guides/hpu/", "<a href=\"../ipu/#x\">", "<a href=\"#guides/ipu/x\">");
        check("guides/hpu/", "<a href=\"../\">", "<a href=\"#guides/\">");
        check("guides/hpu/", "<a class=\"b\" href=\"../../\">", "<a class=\"b\" href=\"#home/\">");
        check("guides/hpu/", "<a href=\"../../port/#example=hpu/x/1\">", "<a href=\"#example=hpu/x/1\">");
        check("", "<a href=\"port/\">", "<a href=\"#port\">");
        check("", "<a href=\"./guides/\">", "<a href=\"#guides/\">");
        check("guides/", "<a href=\"../launch/\">", "<a href=\"#launch/\">");
        check("guides/", "<a href=\"../launch/#target=hpu\">", "<a href=\"#launch?target=hpu\">");
        check("guides/", "<a href=\"../check/#seed=1\">", "<a href=\"#elsewhere/\" data-left-out=\"\">");
        check("guides/hpu/", "<a href=\"../../kit.zip\" download>", "<a href=\"#elsewhere/\">");
        check("guides/", "<a href=\"https://x.org/#a\">", "<a href=\"https://x.org/#a\">");
    }

    #[test]
    fn ids_are_unique_but_the_programs_own() {
        check("guides/hpu/", "<h2 id=\"x\">", "<h2 id=\"guides/hpu/x\">");
        check("guides/hpu/", "<p aria-labelledby=\"x y\">", "<p aria-labelledby=\"guides/hpu/x guides/hpu/y\">");
        check("port/", "<div id=\"port\">", "<div id=\"port\">");
        check("launch/", "<label for=\"x\">", "<label for=\"x\">");
    }

    #[test]
    fn pictures_come_along() {
        check("guides/hpu/", "<img src=\"../../a/b.png\">", "<img src=\"data:image/png;base64,eA==\">");
    }
}
