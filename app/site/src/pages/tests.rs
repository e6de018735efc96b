use super::{Input, Kit, build};
use std::collections::{BTreeMap, BTreeSet};

const HPU: &str = r#"+++
title = "To <HPU>"
target = "hpu"
description = "How."
sdks = ["1.8", "1.20"]
order = 2
+++
## Move {#move}
Because. See [recipes](writing.md#how).

```diff rule
- torch.cuda.is_available()
+ torch.hpu.is_available()
```
```where
not inside def keep
```
```python before unsafe file=a.py option=lazy=on
import torch
x = torch.cuda.is_available()
```
```python after sdk=1.8 style=in-place
anything
```
```python unchanged
y = 1
```
### Deeper
By hand.
```diff rule manual
  torch.cuda.graph($X)
```
```python unchanged
import torch
z = torch.cuda.graph(1)
```
```sh
ls <x
```
## Next
"#;
const WRITING: &str = "+++\ntitle = \"Writing\"\ndescription = \"How to.\"\norder = 9\n+++\n## How\n";

fn outcome(guides: &[(&str, &str)], port_page: Option<&str>) -> Result<BTreeMap<String, String>, String> {
    let guides = guide::pages(guides.iter().copied()).expect("nothing is included").0;
    let changed = BTreeMap::from([("guides/hpu.md".to_string(), "2026-11-21".to_string())]);
    let input = Input {
        guides: &guides,
        port_page,
        assets: &BTreeSet::new(),
        kit: &Kit::new(),
        base: "/sub/",
        changed: &|path| changed.get(path).cloned(),
        edit: Some("https://e.org/"),
        one_file: false,
    };
    match build(&input) {
        Ok(pages) => {
            Ok(pages.into_iter().map(|(path, bytes)| (path, String::from_utf8(bytes).expect("UTF-8"))).collect())
        }
        Err(faults) => Err(faults.iter().map(|fault| format!("{fault}\n")).collect()),
    }
}

fn pages() -> BTreeMap<String, String> {
    outcome(&[("guides/writing.md", WRITING), ("guides/hpu.md", HPU)], None).expect("the guides are right")
}

#[test]
fn every_page_is_there_and_comes_out_the_same() {
    let pages = pages();
    let names: Vec<&str> = pages.keys().map(String::as_str).filter(|name| name.ends_with(".html")).collect();
    assert_eq!(
        names,
        [
            "404.html",
            "apis/index.html",
            "changelog/index.html",
            "check/index.html",
            "glossary/index.html",
            "guides/hpu/index.html",
            "guides/index.html",
            "guides/writing/index.html",
            "index.html",
            "launch/index.html",
            "licences/index.html",
            "print/index.html",
            "recipes/index.html",
            "sources/index.html",
        ]
    );
    assert_eq!(pages, self::pages());
    for file in ["search.json", "manifest.webmanifest"] {
        assert!(pages.contains_key(file), "{file}");
    }
}

#[test]
fn a_recipe_shows_what_the_engine_does() {
    let page = &pages()["guides/hpu/index.html"];
    for expected in [
        "<title>To &lt;HPU&gt; – Portolan</title>",
        "<p>Because. See <a href=\"../writing/#how\">recipes</a>.</p>",
        "<li class=\"badge safe\">Automatic</li>",
        "<li class=\"badge manual\">Manual</li>",
        "<li><code>not inside def keep</code></li>",
        "<figcaption><span>a.py · in place · SDK 1.8 · lazy: on · with unsafe edits</span>\
         <a class=\"try\" href=\"../../port/#example=hpu/move/1\">",
        "<span>example.py · stays as it is</span>",
        "<b>To do</b>, line 2</li>",
        "<pre><code>ls &lt;x</code></pre>",
        "<li><a href=\"#move\">Move</a><ol>\n<li><a href=\"#deeper\">Deeper</a></ol>\n<li><a href=\"#next\">",
    ] {
        assert!(page.contains(expected), "{expected}\nis not in\n{page}");
    }
    assert!(!page.contains("anything"), "what the guide expects is not what is shown");
    assert_eq!(page.matches("To do").count(), 1, "other recipes' messages are theirs: {page}");
}

#[test]
fn home_shows_a_port_and_the_guides_in_order() {
    let pages = pages();
    let home = &pages["index.html"];
    assert!(home.contains("<table class=\"diff\"") && home.contains("<mark>hpu</mark>"), "{home}");
    for page in [home, &pages["guides/index.html"]] {
        assert!(page.find("To &lt;HPU&gt;") < page.find(">Writing<"), "{page}");
    }
    assert!(pages["404.html"].contains("href=\"/sub/guides/\""), "{}", pages["404.html"]);
}

/// The file at an address, relative to a page.
fn target(page: &str, to: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in to.split('/') {
        match part {
            ".." => {
                parts.pop();
            }
            "." => {}
            part => parts.push(part),
        }
    }
    let file = parts.join("/");
    if file.is_empty() || file.ends_with('/') { file + "index.html" } else { file }
}

/// Every `href` and `src` of every page leads to an existing page, anchor or file; `port/` and the programs are built
/// elsewhere.
#[test]
fn nothing_leads_nowhere() {
    let pages = pages();
    let mut count = 0;
    for (path, html) in pages.iter().filter(|(path, _)| path.ends_with("index.html")) {
        let ends = html
            .match_indices(" href=\"")
            .map(|(at, _)| at + 7)
            .chain(html.match_indices(" src=\"").map(|(at, _)| at + 6));
        for start in ends {
            let to = html[start..].split('"').next().unwrap_or("");
            let (page, anchor) = to.split_once('#').unwrap_or((to, ""));
            let file = if page.is_empty() { path.clone() } else { target(path, page) };
            let elsewhere = ["port/index.html", "launch.js", "check.js"].contains(&&*file)
                || to.starts_with("https://")
                || to.starts_with("data:");
            if !elsewhere {
                let Some(there) = pages.get(&file) else { panic!("{path}: {to} leads to {file}") };
                assert!(anchor.is_empty() || there.contains(&format!("id=\"{anchor}\"")), "{path}: {to}");
            }
            count += 1;
        }
    }
    assert!(count > 40, "{count}");
}

#[test]
fn all_faults_come_with_their_lines() {
    let found = outcome(
        &[
            ("guides/a.md", "+++\ntitle = \"A\"\n+++\n## B\n[x](#c) and\n[y](b.md)\n\n[](https://x.org)\n"),
            ("guides/b.md", "+++\ntitle = \"B\"\n+++\n### \n"),
            ("more/a.md", "+++\ntitle = \"A\"\n+++\n"),
        ],
        Some("<p>"),
    );
    assert_eq!(
        found.unwrap_err(),
        "guides/b.md:4: this heading has no text: add it, or remove the line\n\
         more/a.md:1: there is another guide named `a`; rename one\n\
         guides/a.md:5: a.md has no section #c; a heading gets that anchor by ## Title {#c}\n\
         guides/a.md:6: there is no guide b.md; there are a.md\n\
         guides/a.md:8: this link has no text: [text](https://x.org)\n\
         app/web/index.html:1: the built page has no <head>\n"
    );
}

#[test]
fn a_page_that_ports_is_framed() {
    let built = "<head><script src=\"x.js\"></script></head><body></body>";
    let pages = outcome(&[], Some(built)).expect("whole");
    assert!(pages["port/index.html"].contains("<script src=\"x.js\"></script>"));
    assert!(pages["index.html"].contains("<h1>") && !pages["index.html"].contains("<table"), "no guide, no port");
}

#[test]
fn a_rule_that_the_engine_does_not_understand_is_told() {
    let guide = "+++\ntitle = \"A\"\ntarget = \"a\"\n+++\n## B\nWhy.\n```diff rule\n- f(\n+ g(\n```\n";
    let found = outcome(&[("guides/a.md", guide)], None).unwrap_err();
    assert!(found.starts_with("guides/a.md:"), "{found}");
}

#[test]
fn a_guide_leads_on_and_says_how_old_it_is() {
    let pages = pages();
    let page = &pages["guides/hpu/index.html"];
    for expected in [
        "<li><a href=\"../\">Guides</a></li><li><span aria-current=\"page\">To &lt;HPU&gt;</span></li>",
        "Last changed <time datetime=\"2026-11-21\">2026-11-21</time> · <a href=\"https://e.org/guides/hpu.md\">",
        "<a rel=\"next\" href=\"../writing/\"><small>Next</small>Writing</a>",
    ] {
        assert!(page.contains(expected), "{expected}\nis not in\n{page}");
    }
    assert!(!page.contains("rel=\"prev\"") && !pages["guides/writing/index.html"].contains("Last changed"));
}

#[test]
fn all_guides_stand_on_one_page() {
    let pages = pages();
    let page = &pages["print/index.html"];
    for expected in [
        "<h1 id=\"hpu\">",
        "<h2 id=\"hpu--move\">",
        "<a href=\"#writing--how\">recipes</a>",
        "href=\"../port/#example=hpu/move/1\"",
    ] {
        assert!(page.contains(expected), "{expected}\nis not in\n{page}");
    }
}

#[test]
fn a_guide_brings_no_markup_and_no_script() {
    let hostile = "'\"></title></script><img src=x onerror=hit()><a href=\"javascript:hit()\">";
    let head = format!("+++\ntitle = {hostile:?}\ntarget = \"hpu\"\ndescription = {hostile:?}\n+++\n");
    let code = format!("```python before\nx = 1  # {hostile}\n```\n```python after\n```\n");
    let guide = format!("{head}## `{hostile}` {{#move}}\nBecause of `{hostile}`.\n\n{code}```sh\n{hostile}\n```\n");
    let pages = outcome(&[("guides/hpu.md", &guide)], None).expect("it is all text");
    for (path, page) in pages.iter().filter(|(path, _)| path.ends_with(".html")) {
        assert!(!page.contains("<img src=x"), "{path}: {page}");
        assert!(!page.contains("<a href=\"javascript:"), "{path}: {page}");
        assert_eq!(page.matches("</title>").count(), 1, "{path}");
    }
    assert!(pages["guides/hpu/index.html"].contains("&lt;img src=x onerror=hit()"));
    for markup in
        ["<img src=x onerror=hit()>", "[x](javascript:hit())", "![x](javascript:hit())", "[x](data:text/html,x)"]
    {
        let faults = outcome(&[("guides/hpu.md", &format!("{head}## A {{#a}}\n{markup}\n"))], None);
        let faults = faults.expect_err("it is refused");
        assert!(faults.contains("guides/hpu.md:7:"), "{markup}: {faults}");
    }
}
