//! Styles and scripts. Their names carry a hash of what is in them, so that a new release is never mixed with an old
//! one out of a cache.

use sha2::{Digest, Sha256};
use std::sync::LazyLock;

const FILES: [(&str, &str, &str); 12] = [
    ("portolan", "css", include_str!("../theme/portolan.css")),
    ("filter", "js", include_str!("../theme/filter.js")),
    ("launch", "css", include_str!("../theme/launch.css")),
    ("launch-start", "js", include_str!("../theme/launch-start.js")),
    ("check", "css", include_str!("../theme/check.css")),
    ("check-start", "js", include_str!("../theme/check-start.js")),
    ("search", "js", include_str!("../theme/search.js")),
    (
        "painted",
        "js",
        concat!(
            include_str!("../theme/elements.js"),
            "\n",
            include_str!("../theme/controls.js"),
            "\n",
            include_str!("../theme/tabs.js"),
            "\n",
            include_str!("../theme/offline.js")
        ),
    ),
    ("tabs", "js", include_str!("../theme/tabs.js")),
    // No module: its names would be everybody's.
    (
        "keep",
        "js",
        concat!("(() => {\n", include_str!("../theme/elements.js"), "\n", include_str!("../theme/keep.js"), "})();\n"),
    ),
    ("search", "css", include_str!("../theme/search.css")),
    ("parts", "css", include_str!("../theme/parts.css")),
];

/// Files whose names say their version already: what others wrote, with its licence.
const VENDORED: [(&str, &str); 2] =
    [VENDORED_SEARCH, ("minisearch-LICENSE.txt", include_str!("../vendor/minisearch-LICENSE.txt"))];

/// The engine of the search, whole in one module.
pub(crate) const VENDORED_SEARCH: (&str, &str) = ("minisearch-7.2.0.js", include_str!("../vendor/minisearch-7.2.0.js"));

/// Names of the theme's files, relative to the site's root.
pub(crate) struct Names {
    pub(crate) style: String,
    /// Only on pages with a list to narrow; see `filter.rs`.
    pub(crate) filter: String,
    /// Of the page that writes launch scripts.
    pub(crate) launch_style: String,
    /// Loads that page's program.
    pub(crate) launch_start: String,
    /// Of the page that checks a port.
    pub(crate) check_style: String,
    /// Loads that page's program.
    pub(crate) check_start: String,
    /// Asked for by the first search.
    pub(crate) search: String,
    /// Asked for once a page is painted: the controls that every page has, and what keeps the site for offline use.
    pub(crate) painted: String,
    /// Where tabs are among what is seen first; elsewhere they come with what is asked for once a page is painted.
    pub(crate) tabs: String,
    /// On the page that ports.
    pub(crate) keep: String,
    /// Comes with the search.
    pub(crate) search_style: String,
    /// Of the home page and of lists that are narrowed.
    pub(crate) parts: String,
}

/// The names, hashed once: every page asks for them.
pub(crate) fn names() -> &'static Names {
    static NAMES: LazyLock<Names> = LazyLock::new(|| {
        let [
            style,
            filter,
            launch_style,
            launch_start,
            check_style,
            check_start,
            search,
            painted,
            tabs,
            keep,
            search_style,
            parts,
        ] = FILES.map(|(stem, extension, text)| name(stem, extension, text));
        Names {
            style,
            filter,
            launch_style,
            launch_start,
            check_style,
            check_start,
            search,
            painted,
            tabs,
            keep,
            search_style,
            parts,
        }
    });
    &NAMES
}

/// The script that stands in the head of every page: theme, palette and the way to the search have to be there before
/// anything is painted, and a file of its own would hold the first picture up by a request.
pub(crate) fn head_script() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| script_without_remarks(include_str!("../theme/portolan.js")));
    &TEXT
}

/// The controls that every page has, alone: in a page that is a file there is nothing to keep.
pub(crate) fn controls() -> String {
    script_without_remarks(include_str!("../theme/controls.js"))
}

/// Names and contents.
pub(crate) fn files() -> impl Iterator<Item = (String, String)> {
    let vendored = VENDORED.iter().map(|(name, text)| ((*name).to_string(), (*text).to_string()));
    let own = FILES.iter().map(|(stem, extension, text)| {
        let shown = match *extension {
            "css" => without_remarks(text),
            "js" => script_without_remarks(text),
            _ => (*text).to_string(),
        };
        (name(stem, extension, text), shown)
    });
    own.chain(vendored)
}

/// A script without the lines that are remarks, and without indentation.
fn script_without_remarks(script: &str) -> String {
    let lines = script.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    lines.fold(String::new(), |text, line| text + line + "\n")
}

/// A style sheet without comments and indentation, which every reader of a guide would download.
fn without_remarks(style: &str) -> String {
    let mut rest = style;
    let mut code = String::new();
    while let Some((before, after)) = rest.split_once("/*") {
        code += before;
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    code += rest;
    code.lines().map(str::trim).filter(|line| !line.is_empty()).fold(String::new(), |text, line| text + line + "\n")
}

/// A file's name with a hash of its text.
pub(crate) fn name(stem: &str, extension: &str, text: &str) -> String {
    let hash: String = Sha256::digest(text).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("{stem}-{hash}.{extension}")
}

#[cfg(test)]
mod tests {
    use super::without_remarks;

    #[test]
    fn a_style_sheet_keeps_its_rules_and_strings() {
        let check = |before, after| assert_eq!(without_remarks(before), after);
        check("/* a */\na {\n  b: c; /* d\n  e */\n}\n", "a {\nb: c;\n}\n");
        check("a::after { content: \"  x\"; }", "a::after { content: \"  x\"; }\n");
    }
}
