use super::{Files, single_file};
use crate::{shell, theme};
use std::collections::BTreeMap;

/// A minimal site.
fn site() -> Files {
    let page = |path, main| shell(&shell::Frame { path, title: path, main, ..shell::Frame::default() });
    let port = page("port/", "<div id=\"port\"></div>")
        .replace("</head>", "<link rel=\"modulepreload\" href=\"../page-1.js\">\n</head>");
    let program = "let a;\nexport { initSync, begin as default };\n";
    let mut files: BTreeMap<String, Vec<u8>> = [
        ("index.html", page("", "<h1>Home</h1>").as_str()),
        ("guides/hpu/index.html", &page("guides/hpu/", "<h2 id=\"a\">A</h2><a href=\"../../check/\">x</a>")),
        ("check/index.html", &page("check/", "<h1>Check</h1>")),
        ("launch/index.html", &page("launch/", "<h1>Launch</h1>")),
        ("port/index.html", &port),
        ("page-1.js", program),
        ("page-1_bg.wasm", "page"),
        ("engine.js", program),
        ("engine_bg.wasm", "engine"),
        ("guide_file.js", program),
        ("guide_file_bg.wasm", "guide_file"),
        ("launch.js", program),
        ("launch_bg.wasm", "launch"),
        ("site_file.js", program),
        ("site_file_bg.wasm", "site_file"),
        ("own_script.js", program),
        ("own_script_bg.wasm", "own_script"),
        ("samples/spectra_trainer.py", "import torch"),
        ("examples/hpu.bin", "examples"),
        ("search.json", "[]"),
    ]
    .map(|(path, text)| (path.to_string(), text.as_bytes().to_vec()))
    .into();
    files.extend(theme::files().map(|(path, text)| (path, text.as_bytes().to_vec())));
    files
}

#[test]
fn pages_become_leaves_and_nothing_is_loaded() {
    let page = single_file(&site()).expect("the site is whole");
    for expected in [
        "<section class=\"leaf\" id=\"guides/hpu/\" data-title=\"guides/hpu/ – Portolan\">",
        "<h2 id=\"guides/hpu/a\">A</h2><a href=\"#elsewhere/\" data-left-out=\"\">x</a>",
        "<a class=\"brand\" href=\"#home/\">",
        "<a href=\"#port\">Port a script</a>",
        "data-carried=\"engine_bg.wasm\"",
        "data-carried=\"examples/hpu.bin\"",
        "globalThis.portolanPage = begin;",
        "<section class=\"leaf\" id=\"launch/\" data-title=\"launch/ – Portolan\">\n<h1>Launch</h1>",
        "globalThis.portolanLaunch = begin;",
        "default-src 'none'; script-src 'wasm-unsafe-eval' 'sha256-",
    ] {
        assert!(page.contains(expected), "{expected}\nis not in\n{page}");
    }
    assert!(!page.contains("<h1>Check</h1>") && !page.contains(" src=\"") && !page.contains("rel=\"stylesheet\""));
}

#[test]
fn the_same_site_is_the_same_file() {
    assert_eq!(single_file(&site()), single_file(&site()));
}

#[test]
fn what_is_not_a_whole_site_is_told() {
    #[track_caller]
    fn check(path: &str, text: Option<&str>, expected: &str) {
        let mut files = site();
        match text {
            Some(text) => drop(files.insert(path.to_string(), text.as_bytes().to_vec())),
            None => drop(files.remove(path)),
        }
        assert_eq!(single_file(&files).unwrap_err().to_string(), format!("the site as one file: {expected}"));
    }
    check("engine.js", None, "the built site lacks engine.js; build it first: cargo xtask build");
    check("port/index.html", None, "the built site lacks port/index.html; build it first: cargo xtask build");
    check("engine.js", Some("let a;\n"), "the program that should become portolanEngine has no start");
    check(
        "page-1.js",
        Some("import 'x';\nexport { a as default };\n"),
        "the program that should become portolanPage loads another file",
    );
    check("guides/hpu/index.html", Some("<p>"), "guides/hpu/index.html has no <main>");
}
