//! `cargo xtask size`: the download sizes, compared with their limits.

use crate::modules::MODULES;
use crate::workspace;
use anyhow::{Context, Result, bail};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Files that are downloaded together, and their maximum size in KiB of gzip.
struct Budget {
    name: String,
    files: Vec<PathBuf>,
    bar: f64,
    /// The limit in a test run: the goal, or, as long as it is not reached, slightly more than today's size, so that it
    /// can only shrink.
    ceiling: f64,
}

/// Which limit is an error.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    Bar,
    Ceiling,
}

/// Prints one line per budget; an error if one exceeds the limit, or if `dist/` lacks a measured file.
pub(crate) fn run(limit: Limit) -> Result<()> {
    let dist = workspace::root().join("dist");
    let mut over = Vec::new();
    println!("    {:<28} {:>9} {:>9}", "gzip -9", "KiB", "bar");
    for budget in budgets(&dist)? {
        let mut bytes = 0;
        for file in &budget.files {
            let content = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
            bytes += gzipped(&content)?;
        }
        let size = bytes as f64 / 1024.0;
        let mark = if size > budget.bar { "  over" } else { "" };
        println!("    {:<28} {size:>9.1} {:>9}{mark}", budget.name, budget.bar);
        if size > (if limit == Limit::Bar { budget.bar } else { budget.ceiling }) {
            over.push(budget.name);
        }
    }
    if !over.is_empty() {
        bail!("too large: {}", over.join(", "));
    }
    Ok(())
}

/// The modules, each with the JavaScript that starts it, loads it or that it shares with others, and each guide page
/// with its style sheets and scripts.
fn budgets(dist: &Path) -> Result<Vec<Budget>> {
    let mut files = Vec::new();
    collect(dist, &mut files).with_context(|| format!("cannot read {}: run cargo xtask build", dist.display()))?;
    files.sort();
    let mut budgets = Vec::new();
    for (name, bar, ceiling) in [
        ("page", 260.0, 409.3),
        ("engine", 640.0, 1131.5),
        ("launch", 260.0, 260.0),
        ("check", 260.0, 260.0),
        ("desk", 150.0, 150.0),
        ("larcv", 180.0, 183.0),
        ("guide_file", 150.0, 225.5),
        ("site_file", 150.0, 150.0),
        ("own_script", 150.0, 168.0),
    ] {
        let mut parts: Vec<PathBuf> = files.iter().filter(|file| is_module_part(file, name)).cloned().collect();
        for kind in ["wasm", "js"] {
            if !parts.iter().any(|file| file.extension().is_some_and(|extension| extension == kind)) {
                bail!("dist/ has no {name}*.{kind}: run cargo xtask build");
            }
        }
        // The first lines of a worker.
        parts.extend(Some(dist.join(format!("start_{name}.js"))).filter(|file| file.is_file()));
        budgets.push(Budget { name: format!("{name} module"), files: parts, bar, ceiling });
    }
    for (place, ..) in MODULES {
        let module = dist.join(place);
        let mut parts = vec![module.clone(), dist.join("forward.js"), dist.join("start_forward.js")];
        if let Some(folder) = module.parent().filter(|folder| *folder != dist) {
            let is_script =
                |file: &&PathBuf| file.parent() == Some(folder) && file.extension().is_some_and(|e| e == "js");
            parts.extend(files.iter().filter(is_script).cloned());
        }
        let name = module.file_stem().unwrap_or_default().to_string_lossy();
        budgets.push(Budget { name: format!("{name} module"), files: parts, bar: 150.0, ceiling: 150.0 });
    }
    let guides = dist.join("guides");
    for page in files.iter().filter(|file| file.starts_with(&guides) && file.ends_with("index.html")) {
        let html = std::fs::read_to_string(page).with_context(|| format!("cannot read {}", page.display()))?;
        let folder = page.parent().unwrap_or(dist);
        let mut parts = vec![page.clone()];
        for link in linked(&html) {
            let file = if let Some(path) = link.strip_prefix('/') { dist.join(path) } else { folder.join(&link) };
            parts.push(
                file.canonicalize().with_context(|| format!("{} loads {link}, which is missing", page.display()))?,
            );
        }
        let name = folder.strip_prefix(dist).unwrap_or(folder);
        budgets.push(Budget { name: format!("/{}/", name.display()), files: parts, bar: 45.0, ceiling: 65.8 });
    }
    Ok(budgets)
}

/// `page.js`, `page-0123abc_bg.wasm`, `snippets/…/page.js` are parts of `page`; `pages.js` is not.
fn is_module_part(file: &Path, module: &str) -> bool {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let rest = name.strip_prefix(module);
    rest.is_some_and(|rest| rest.starts_with(['-', '_', '.']) && (rest.ends_with(".js") || rest.ends_with(".wasm")))
}

/// The files that the page's head loads from the site: style sheets, scripts, preloads, fonts and the icon, not links
/// to pages.
fn linked(html: &str) -> Vec<String> {
    let mut links = Vec::new();
    for tag in html.split('<').filter(|tag| tag.starts_with("link ") || tag.starts_with("script ")) {
        let tag = tag.split('>').next().unwrap_or_default();
        let loads = ["stylesheet", "preload", "icon", "src="].iter().any(|word| tag.contains(word));
        for attribute in ["href=", "src="] {
            let Some((_, value)) = tag.split_once(attribute).filter(|_| loads) else { continue };
            let value = value.trim_start_matches(['"', '\'']);
            let path = value.split(['"', '\'', ' ', '?', '#']).next().unwrap_or_default();
            if !path.is_empty() && !path.contains(':') && !links.iter().any(|link| link == path) {
                links.push(path.to_owned());
            }
        }
    }
    links
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { collect(&path, files)? } else { files.push(path) }
    }
    Ok(())
}

fn gzipped(content: &[u8]) -> Result<usize> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content)?;
    Ok(encoder.finish()?.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_its_wasm_and_its_scripts() {
        let part = |name: &str| is_module_part(Path::new(name), "page");
        assert!(part("dist/page-1f2e_bg.wasm") && part("dist/page-1f2e.js") && part("dist/page.js"));
        assert!(!part("dist/pages.js") && !part("dist/page.css") && !part("dist/engine-1f2e.js"));
    }

    #[test]
    fn a_page_weighs_what_its_head_loads() {
        let html = r#"<link rel="stylesheet" href="../../site-1a.css"><link rel=preload href='/a.woff2' as=font>
            <link rel="canonical" href="/guides/hpu/"><a href="/port/">x</a><script src="/theme.js" defer></script>"#;
        assert_eq!(linked(html), ["../../site-1a.css", "/a.woff2", "/theme.js"]);
    }
}
