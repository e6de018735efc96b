//! Styles and scripts. Their names contain a hash of their contents, so that a new release is never mixed with a cached
//! old one.

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
    // Not a module: its names must be global.
    (
        "keep",
        "js",
        concat!("(() => {\n", include_str!("../theme/elements.js"), "\n", include_str!("../theme/keep.js"), "})();\n"),
    ),
    ("search", "css", include_str!("../theme/search.css")),
    ("parts", "css", include_str!("../theme/parts.css")),
];

/// Third-party files, with their licences, whose names contain their version.
const VENDORED: [(&str, &str); 2] =
    [VENDORED_SEARCH, ("minisearch-LICENSE.txt", include_str!("../vendor/minisearch-LICENSE.txt"))];

/// The search engine, complete in one module.
pub(crate) const VENDORED_SEARCH: (&str, &str) = ("minisearch-7.2.0.js", include_str!("../vendor/minisearch-7.2.0.js"));

/// Names of the theme's files, relative to the site's root.
pub(crate) struct Names {
    pub(crate) style: String,
    /// Only on pages with a list to filter; see `filter.rs`.
    pub(crate) filter: String,
    /// For the Launch page.
    pub(crate) launch_style: String,
    /// Loads that page's program.
    pub(crate) launch_start: String,
    /// For the Check page.
    pub(crate) check_style: String,
    /// Loads that page's program.
    pub(crate) check_start: String,
    /// Requested by the first search.
    pub(crate) search: String,
    /// Requested once a page is painted: the controls on every page, and the offline cache.
    pub(crate) painted: String,
    /// Loaded early where tabs are visible at first; elsewhere with the files requested once a page is painted.
    pub(crate) tabs: String,
    /// On the Port page.
    pub(crate) keep: String,
    /// Loaded with the search.
    pub(crate) search_style: String,
    /// For the home page and filtered lists.
    pub(crate) parts: String,
}

/// The names, hashed once: every page uses them.
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

/// The script in the head of every page: theme, palette and the link to the search must be set before the first paint,
/// and a separate file would delay that by a request.
pub(crate) fn head_script() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| script_without_remarks(include_str!("../theme/portolan.js")));
    &TEXT
}

/// Only the controls on every page: in a single-file page there is nothing to cache.
pub(crate) fn controls() -> String {
    script_without_remarks(include_str!("../theme/controls.js"))
}

/// The style sheet of a port's report, which is a file of its own.
pub(crate) fn report_style() -> String {
    without_remarks(concat!(include_str!("../theme/portolan.css"), include_str!("../theme/report.css")))
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

/// A script without comment lines and indentation.
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
