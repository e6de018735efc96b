//! The frame of every page: head, skip link, header, footer.

use crate::{policy, rose, theme};
use guide::html::escape;

/// The parts that differ from page to page.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frame<'a> {
    /// The page's address from the site's root, with `/` at its end: `guides/hpu/`; empty for the home page.
    pub path: &'a str,
    /// The site's root relative to the page; `None` derives it from [`Frame::path`].
    pub root: Option<&'a str>,
    /// Title, without the site's name.
    pub title: &'a str,
    /// One sentence for search engines.
    pub description: &'a str,
    /// More tags for `<head>`.
    pub head: &'a str,
    /// Whether header and footer have the full width, like the page's own content.
    pub wide: bool,
    /// The contents of `<main>`, as HTML.
    pub main: &'a str,
}

/// The site's navigation: address and name.
pub(crate) const PLACES: [(&str, &str); 7] = [
    ("port/", "Port a script"),
    ("launch/", "Launch it"),
    ("check/", "Check a port"),
    ("guides/", "Guides"),
    ("recipes/", "Recipes"),
    ("apis/", "API lookup"),
    ("glossary/", "Glossary"),
];

/// The links in the footer.
pub(crate) const MORE: [(&str, &str); 4] = [
    ("sources/", "Sources"),
    ("changelog/", "Changelog"),
    ("licences/", "Licences"),
    ("print/", "All guides on one page"),
];

/// A whole page.
pub fn shell(frame: &Frame<'_>) -> String {
    let up = up(frame.path);
    let root = frame.root.unwrap_or(&up);
    let names = theme::names();
    let title =
        if frame.path.is_empty() { escape(frame.title) } else { format!("{} – Portolan", escape(frame.title)) };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{policy}\
         <title>{title}</title>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"description\" content=\"{description}\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <link rel=\"stylesheet\" href=\"{root}{style}\">\n\
         <script data-search=\"{root}{search}\" data-search-style=\"{root}{search_style}\" data-painted=\"{root}{painted}\">{script}</script>\n\
         <link rel=\"icon\" type=\"image/svg+xml\" href=\"{icon}\">\n\
         <meta name=\"theme-color\" content=\"#fffdf8\" media=\"(prefers-color-scheme: light)\">\n\
         <meta name=\"theme-color\" content=\"#0f171c\" media=\"(prefers-color-scheme: dark)\">\n\
         {head}</head>\n<body{class}>\n\
         {masthead}\
         <main id=\"main\" tabindex=\"-1\">\n{main}</main>\n\
         {foot}</body>\n</html>\n",
        policy = policy::tag(),
        description = escape(frame.description),
        class = if frame.wide { " class=\"wide\"" } else { "" },
        style = names.style,
        script = theme::head_script(),
        icon = rose::icon(),
        search = names.search,
        search_style = names.search_style,
        painted = names.painted,
        head = frame.head,
        masthead = masthead(root, frame.path, &PLACES),
        main = frame.main,
        foot = foot(root, &MORE),
    )
}

/// The skip link and the header. `here` is the page's own address, `places` are addresses from the root and names.
pub(crate) fn masthead(root: &str, here: &str, places: &[(&str, &str)]) -> String {
    let mut nav = String::new();
    for (path, name) in places {
        let current = match here {
            here if here == *path => " aria-current=\"page\"",
            here if here.starts_with(path) => " aria-current=\"true\"",
            _ => "",
        };
        nav += &format!("<a href=\"{root}{path}\"{current}>{name}</a>");
    }
    format!(
        "<a class=\"skip\" href=\"#main\">Skip to content</a>\n\
         <header class=\"site-head\"><div class=\"wrap\">\
         <a class=\"brand\" href=\"{root}\">{rose}Portolan</a>\
         <nav class=\"site-nav\" aria-label=\"Site\">{nav}</nav>\
         <button class=\"search-open\" id=\"search-open\" type=\"button\" aria-haspopup=\"dialog\" \
         aria-keyshortcuts=\"Control+K\">Search<kbd aria-hidden=\"true\">Ctrl K</kbd></button></div></header>\n",
        rose = rose::inline(),
    )
}

/// The footer, with the links in `more`: addresses from the root and names.
pub(crate) fn foot(root: &str, more: &[(&str, &str)]) -> String {
    let more: String = more.iter().map(|(path, name)| format!("<a href=\"{root}{path}\">{name}</a>")).collect();
    format!(
        "<footer class=\"site-foot\"><div class=\"wrap\">\
         <p>Porting runs in your browser; your code is not uploaded.</p>\
         <p>Every diff on these pages was produced by the engine at build time.</p>\
         <nav class=\"foot-nav\" aria-label=\"More\">{more}</nav>\
         <button class=\"theme\" id=\"theme\" type=\"button\" hidden>Theme: auto</button>\
         <button class=\"theme\" id=\"palette\" type=\"button\" hidden>Differences: green and orange</button>\
         </div></footer>\n"
    )
}

/// The path from a page back to the root.
pub(crate) fn up(path: &str) -> String {
    match path.matches('/').count() {
        0 => "./".to_string(),
        depth => "../".repeat(depth),
    }
}

#[cfg(test)]
mod tests {
    use super::{Frame, shell, up};
    use crate::policy;

    #[test]
    fn roots() {
        assert_eq!(up(""), "./");
        assert_eq!(up("port/"), "../");
        assert_eq!(up("guides/hpu/"), "../../");
    }

    #[test]
    fn the_script_in_the_head_is_the_one_that_the_policy_allows() {
        let page = shell(&Frame { path: "guides/hpu/", ..Frame::default() });
        let (policy, rest) = page.split_once("<title>").expect("the policy goes first");
        let (_, script) = rest.split_once("<script").expect("a script");
        let (_, script) = script.split_once('>').expect("its attributes");
        let (script, rest) = script.split_once("</script>").expect("its end");
        assert!(policy.contains(&policy::hash(script)), "{policy}");
        assert!(!rest.contains("<script"), "{rest}");
    }

    #[test]
    fn a_page_knows_where_it_is() {
        let page = shell(&Frame { path: "guides/hpu/", title: "A & B", main: "<p>x</p>", ..Frame::default() });
        assert!(page.contains("<title>A &amp; B – Portolan</title>"), "{page}");
        assert!(page.contains("<a href=\"../../guides/\" aria-current=\"true\">Guides</a>"), "{page}");
        assert!(page.contains("<a href=\"../../port/\">"), "{page}");
        assert!(page.contains("href=\"../../portolan-"), "{page}");
        let page = shell(&Frame { path: "", root: Some("/sub/"), ..Frame::default() });
        assert!(page.contains("<a class=\"brand\" href=\"/sub/\">"), "{page}");
    }
}
