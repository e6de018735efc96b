use super::{Document, Link};
use crate::Guide;

fn document(body: &str) -> Document {
    let text = format!("+++\ntitle = \"T\"\n+++\n{body}");
    let guide = Guide::parse("guides/t.md", &text).expect("the test's guide is right");
    Document::new(&guide, &text)
}

#[track_caller]
fn check(body: &str, expected: &str) {
    assert_eq!(document(body).html(), expected);
}

#[test]
fn prose() {
    check(
        "One *two* **three** `a<b>`\nfour & five\\\nsix\n",
        "<p>One <em>two</em> <strong>three</strong> <code>a&lt;b&gt;</code>\nfour &amp; five<br>\nsix</p>\n",
    );
    check("> quoted\n\n---\n", "<blockquote>\n<p>quoted</p>\n</blockquote>\n<hr>\n");
    check("- a\n- b\n\n3. c\n", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n<ol start=\"3\">\n<li>c</li>\n</ol>\n");
    check("Why.\n\nSource: a book.\n", "<p>Why.</p>\n<p class=\"source\">Source: a book.</p>\n");
    check("Holds for: all.\nSource: a\nbook.\n", "<p class=\"source\">Holds for: all.<br>\nSource: a\nbook.</p>\n");
}

#[test]
fn headings_carry_a_link_to_themselves() {
    check(
        "## Use `x` {#y}\n",
        "<div class=\"heading\"><h2 id=\"y\">Use <code>x</code></h2>\
         <a class=\"anchor\" href=\"#y\" aria-labelledby=\"y\">#</a></div>\n",
    );
    let mut page = document("## A\n\n### B\n");
    page.below_headings(|id| format!("[{id}]"));
    assert!(page.html().contains("</div>\n[a]<div") && page.html().ends_with("[b]"), "{}", page.html());
}

#[test]
fn tables_scroll_in_their_own_frame() {
    check(
        "| a | b |\n|---|--:|\n| 1 | `2` |\n",
        "<div class=\"table\" role=\"region\" tabindex=\"0\" aria-label=\"Table 1: a, b\">\n<table>\n\
         <thead><tr><th scope=\"col\">a</th><th scope=\"col\" class=\"right\">b</th></tr></thead>\n<tbody>\n\
         <tr><td data-label=\"a\">1</td><td class=\"right\" data-label=\"b\"><code>2</code></td></tr>\n</tbody>\n</table></div>\n",
    );
    let page = document("| | a |\n|---|---|\n| b | 1 |\n").html();
    assert!(page.contains("<tr><td></td><th scope=\"col\">a</th></tr>"), "{page}");
    assert!(page.contains("<tr><th scope=\"row\">b</th><td data-label=\"a\">1</td></tr>"), "{page}");
}

#[test]
fn links_are_resolved_or_told() {
    let mut page = document("[a](b.md#c)\n\n![d\ne](f.svg) [g](nowhere)\n");
    let mut seen = Vec::new();
    let faults = page.resolve_links(|link| {
        seen.push(link.clone());
        if link.to == "nowhere" { Err("no such page".to_string()) } else { Ok(format!("../\"{}", link.to)) }
    });
    let link = |to: &str, text: &str, is_image, line| Link { to: to.into(), text: text.into(), is_image, line };
    assert_eq!(seen, [link("b.md#c", "a", false, 4), link("f.svg", "d\ne", true, 6), link("nowhere", "g", false, 7)]);
    assert_eq!(faults.len(), 1);
    assert_eq!(faults[0].to_string(), "guides/t.md:7: no such page");
    assert_eq!(
        page.html(),
        "<p><a href=\"../&quot;b.md#c\">a</a></p>\n\
         <p><img src=\"../&quot;f.svg\" alt=\"d\ne\"> <a href=\"nowhere\">g</a></p>\n"
    );
}

#[test]
fn fences_are_the_callers() {
    let mut page =
        document("## A\n```python before  unsafe\nx\n\ny<\n```\n```python after\n```\n- ```sh\n  ls\n  ```\n");
    assert!(page.html().contains("<pre><code>x\n\ny&lt;\n</code></pre>"), "{}", page.html());
    let mut seen = String::new();
    page.replace_fences(|fence| {
        seen += &format!("{} {} {:?} {}\n", fence.line, fence.language, fence.body, fence.words);
        "<b>".to_string()
    });
    assert_eq!(seen, "6 python \"x\\n\\ny<\\n\" before  unsafe\n11 python \"\" after\n13 sh \"ls\\n\" \n");
    assert!(page.html().ends_with("<b><b><ul>\n<li><b></li>\n</ul>\n"), "{}", page.html());
}

#[test]
fn text_and_sources_of_sections() {
    let page = document(
        "Above `x`.\n\n## A\nOne\ntwo [b](https://b.org/c).\n\n- i\n- j\n\n```diff rule\n- a.b($X)\n+ c($X)\n```\n\
         | k | l |\n|---|---|\n| 1 | 2 |\n",
    );
    let blocks = |all: &[&str]| all.iter().map(|block| block.to_string()).collect::<Vec<_>>();
    assert_eq!(
        page.passages(),
        [
            (String::new(), blocks(&["Above x."])),
            ("a".to_string(), blocks(&["One two b.", "i", "j", "a.b($X)", "c($X)", "k · l", "1 · 2"])),
        ]
    );
    let outward: Vec<_> = page.outward().into_iter().map(|(id, link)| (id, link.to, link.text, link.line)).collect();
    assert_eq!(outward, [("a".to_string(), "https://b.org/c".to_string(), "b".to_string(), 8)]);
}
