//! The whole site as one HTML file that opens from disk: every page is a part of it, the engine is included, nothing is
//! loaded.
//!
//! It is generated from the finished site's files. A page becomes a *leaf*, an element whose id is the page's address;
//! the visible leaf depends on the address alone (`theme/one-file.css`), so that reading needs no script. Programs,
//! samples, examples and search data are packed in data blocks, and `theme/one-file.js` starts them when they are
//! needed.

mod address;
mod programs;

use crate::shell::{self, PLACES};
use crate::{SiteError, examples, kit, policy, rose, search, theme};
use address::Leaf;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use guide::html::escape;
use programs::{between, carried_program, search_module};
use std::collections::BTreeMap;
use std::io::Write;

/// Files of a finished site: paths from its root with `/`, and contents.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Where the site offers the single file, relative to its root.
pub const ONE_FILE: &str = "portolan.html";

const SCRIPT: &str = include_str!("../theme/one-file.js");
const STYLE: &str = include_str!("../theme/one-file.css");
const LEFT_OUT: &str = include_str!("one_file/left_out.html");

/// Pages that need something that a single file lacks, or that it already contains in another form.
const WITHOUT: [&str; 2] = ["check/", "print/"];

/// The navigation entry for the omitted view: it links to the leaf that explains this.
const ON_THE_SITE: (&str, &str) = ("check/", "Check a port");

/// The page. An error if the files are not those of a complete site.
pub fn single_file(files: &Files) -> Result<String, SiteError> {
    let text = |path: &str| -> Result<&str, SiteError> {
        let bytes = files.get(path).ok_or_else(|| lacks(path))?;
        std::str::from_utf8(bytes).map_err(|_| SiteError::OneFile(format!("{path} is not text")))
    };
    let mut pages = Vec::new();
    for path in files.keys().filter_map(|file| file.strip_suffix("index.html")) {
        if (path.is_empty() || path.ends_with('/')) && !WITHOUT.contains(&path) {
            pages.push((path, text(&format!("{path}index.html"))?));
        }
    }
    let port = text("port/index.html")?;
    let names: Vec<&str> = pages.iter().map(|(path, _)| *path).collect();
    let leaf = |path| Leaf { path, pages: &names, files };
    let mut main = String::new();
    for (path, html) in &pages {
        main += &leaf(path).of_page(html)?;
    }
    let kit = match files.get(kit::ARCHIVE) {
        Some(bytes) => {
            let data = STANDARD.encode(bytes);
            format!(
                "<h2>The twin run kit</h2>\n<p>It is in this file: <a download=\"{0}\" href=\"data:application/zip;base64,{data}\">{0}</a></p>\n",
                kit::ARCHIVE
            )
        }
        None => String::new(),
    };
    main += &format!(
        "<section class=\"leaf\" id=\"{}\" data-title=\"Checking a port: on the site, or by the command\">\n",
        address::ELSEWHERE
    );
    main += &LEFT_OUT.replace("<!-- KIT -->\n", &kit);
    main += "</section>\n";

    let theme = theme::names();
    let mut style = text(&theme.style)?.to_string();
    for sheet in linked(port, "stylesheet").into_iter().filter(|sheet| *sheet != theme.style) {
        style += text(sheet)?;
    }
    for sheet in [&theme.parts, &theme.search_style, &theme.launch_style] {
        style += text(sheet)?;
    }
    style += STYLE;
    let program = *linked(port, "modulepreload").first().ok_or_else(|| lacks("a program of the port page"))?;
    let wasm = program.strip_suffix(".js").map(|stem| format!("{stem}_bg.wasm"));
    let wasm = &*wasm.ok_or_else(|| lacks("a module of the port page"))?;
    let mut scripts = vec![("", theme::head_script().to_string()), ("", theme::controls())];
    for name in [&theme.filter, &theme.keep] {
        scripts.push(("", text(name)?.to_string()));
    }
    scripts.push(("", SCRIPT.to_string()));
    // It creates tabs from the elements that exist when it runs.
    scripts.push((" type=\"module\"", text(&theme.tabs)?.to_string()));
    scripts.push((" type=\"module\"", carried_program(text(program)?, "portolanPage")?));
    scripts.push((" type=\"module\"", carried_program(text("launch.js")?, "portolanLaunch")?));
    scripts.push((" type=\"module\"", search_module(text(&theme.search)?, theme::VENDORED_SEARCH.1)?));

    let mut blocks = String::new();
    for (name, path) in [
        ("page_bg.wasm", wasm),
        ("engine_bg.wasm", "engine_bg.wasm"),
        ("guide_file_bg.wasm", "guide_file_bg.wasm"),
        ("launch_bg.wasm", "launch_bg.wasm"),
        ("site_file_bg.wasm", "site_file_bg.wasm"),
        ("own_script_bg.wasm", "own_script_bg.wasm"),
        ("samples/spectra_trainer.py", "samples/spectra_trainer.py"),
        ("search.json", search::FILE),
    ] {
        blocks += &block(name, files.get(path).ok_or_else(|| lacks(path))?);
    }
    for (path, packed) in files.iter().filter(|(path, _)| path.starts_with(examples::FOLDER)) {
        blocks += &block(path, packed);
    }
    for (path, name) in [
        ("engine.js", "portolanEngine"),
        ("guide_file.js", "portolanGuideFile"),
        ("site_file.js", "portolanSiteFile"),
        ("own_script.js", "portolanOwnScript"),
    ] {
        blocks += &block(path, carried_program(text(path)?, name)?.as_bytes());
    }

    let head = Head { style: &style, scripts: &scripts };
    Ok(whole(&head, &leaf(""), &main, &blocks))
}

fn lacks(what: &str) -> SiteError {
    SiteError::OneFile(format!("the built site lacks {what}; build it first: cargo xtask build"))
}

/// The contents of `<head>`.
struct Head<'a> {
    style: &'a str,
    /// Further attributes of the tag, and the text.
    scripts: &'a [(&'a str, String)],
}

fn whole(head: &Head<'_>, leaf: &Leaf<'_>, main: &str, blocks: &str) -> String {
    let hashes: Vec<String> = head.scripts.iter().map(|(_, text)| policy::hash(text)).collect();
    // Nothing is loaded; a worker is created from the page itself.
    let policy = format!(
        "default-src 'none'; script-src 'wasm-unsafe-eval' {}; worker-src blob:; style-src {}; style-src-attr 'unsafe-inline'; \
         img-src data: blob:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types default",
        hashes.join(" "),
        policy::hash(head.style)
    );
    let (early, late): (Vec<_>, Vec<_>) = head.scripts.iter().partition(|(kind, _)| kind.is_empty());
    let tags = |scripts: Vec<&(&str, String)>| -> String {
        scripts.iter().map(|(kind, text)| format!("<script{kind}>{text}</script>\n")).collect()
    };
    let mut places: Vec<(&str, &str)> = PLACES.into_iter().filter(|(path, _)| leaf.has(path)).collect();
    places.push(ON_THE_SITE);
    let more: Vec<(&str, &str)> = shell::MORE.into_iter().filter(|(path, _)| leaf.has(path)).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<title>Portolan</title>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"description\" content=\"{description}\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<style>{style}</style>\n{early}\
         <link rel=\"icon\" type=\"image/svg+xml\" href=\"{icon}\">\n</head>\n<body>\n\
         {masthead}<main id=\"main\" tabindex=\"-1\">\n{main}</main>\n{foot}{blocks}{late}</body>\n</html>\n",
        description = escape("Guides for porting training scripts, and the engine that ports them, in one file."),
        style = head.style,
        icon = rose::icon(),
        masthead = leaf.rewritten(&shell::masthead("./", "", &places)),
        foot = leaf.rewritten(&shell::foot("./", &more)),
        early = tags(early),
        late = tags(late),
    )
}

/// A file in a data block: compressed, because pages of megabytes are sent by mail and scp.
fn block(name: &str, bytes: &[u8]) -> String {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    let packed = packer.write_all(bytes).and_then(|()| packer.finish());
    let text = STANDARD.encode(packed.expect("memory takes what is written to it"));
    format!("<script type=\"application/octet-stream\" data-carried=\"{name}\">{text}</script>\n")
}

/// The targets of a page's links of one kind, relative to the site's root; the page is one folder deep.
fn linked<'a>(html: &'a str, kind: &str) -> Vec<&'a str> {
    let rel = format!("rel=\"{kind}\"");
    let tags = html.split('<').filter(|tag| tag.starts_with("link ") && tag.contains(&rel));
    tags.filter_map(|tag| between(tag, "href=\"", "\"")?.strip_prefix("../")).collect()
}

#[cfg(test)]
mod tests;
