//! `portolan port --report`: a page of its own about a port.

use crate::notebooks::NOTEBOOK;
use crate::{TRAINER, folder, portolan, read};
use serde_json::Value;
use std::fs;

const OTHER: &str = "import torch\n\nnet = torch.nn.Linear(4, 2).cuda()  # <script>alert(1)</script> & \"more\"\n\
    old = torch.jit.script(net)\n";

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The text of a page, without its tags and its style sheet.
fn text_of(page: &str) -> String {
    let (_, body) = page.split_once("<body>").expect("a page has a body");
    let mut inside = false;
    let visible = body.chars().filter(|char| {
        inside = (inside || *char == '<') && *char != '>';
        !inside && *char != '>'
    });
    visible.collect()
}

#[test]
fn the_page_has_every_change_with_its_reason_and_what_is_left() {
    let files = [
        ("p/trainer.py", TRAINER),
        ("p/größe & x/other.py", OTHER),
        ("p/bad.py", "def f(:\n"),
        ("p/nb.ipynb", NOTEBOOK),
        ("p/plain.py", "x = 1\n"),
    ];
    let home = folder(&files);
    let ran = portolan(home.path(), &["port", "--target", "hpu", "--report", "r.html", "--format", "json", "p"]);
    assert_eq!(ran.code, 1, "one file is not Python: {ran:?}");
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    let page = read(home.path(), "r.html");
    let text = text_of(&page);
    for (id, recipe) in report["recipes"].as_object().unwrap() {
        let holds_for = recipe["holds_for"].as_str().unwrap();
        assert!(text.contains(&escaped(id)) && text.contains(&escaped(holds_for)), "{id}: {text}");
        assert!(text.contains(&escaped(recipe["source"].as_str().unwrap())), "{id}: {text}");
        for citation in recipe["citations"].as_array().unwrap() {
            assert!(page.contains(&format!("href=\"{}\"", escaped(citation["url"].as_str().unwrap()))), "{id}");
        }
    }
    for file in report["files"].as_array().unwrap() {
        let path = file["path"].as_str().unwrap();
        for said in file["diagnostics"].as_array().unwrap() {
            assert!(text.contains(&escaped(said["message"].as_str().unwrap()).replace('`', "")), "{said}");
            let place = match said["cell"].as_object() {
                Some(cell) => format!("{path}:cell {}:{}:{}", cell["cell"], cell["line"], said["column"]),
                None => format!("{path}:{}:{}", said["line"], said["column"]),
            };
            assert!(text.contains(&escaped(&place)), "{place}: {text}");
        }
        if file["changed"] == true {
            let hash = report["certificate"]["files"][path]["output"].as_str().unwrap();
            assert!(text.contains(&format!("ported: {hash}")), "{text}");
        }
    }
    let (added, removed) = ("net = torch.nn.Linear(4, 2).to(", "net = torch.nn.Linear(4, 2).cuda()");
    assert!(text.contains(added) && text.contains(removed), "{text}");
    let total = &report["totals"];
    let row = format!("All{}{}{}\n", total["done"], total["needs-you"], total["not-possible"]);
    assert!(text.contains(&row), "{row}: {text}");
}

#[test]
fn the_page_loads_nothing_and_is_the_same_each_time() {
    let pages = [(); 2].map(|()| {
        let home = folder(&[("p/trainer.py", TRAINER), ("p/other.py", OTHER)]);
        let ran = portolan(home.path(), &["port", "--target", "hpu", "--report", "r.html", "p"]);
        assert!(ran.code == 0 && ran.out.starts_with("diff --git "), "{ran:?}");
        read(home.path(), "r.html")
    });
    assert_eq!(pages[0], pages[1]);
    let page = &pages[0];
    assert!(page.contains("content=\"default-src 'none'; style-src 'sha256-"), "{page}");
    for word in ["<script", "<link", "<img", "<iframe", " src=", "@import", "url(", " style="] {
        assert!(!page.contains(word), "{word}: {page}");
    }
}

#[test]
fn a_port_without_changes_and_one_without_a_place_for_its_page() {
    let home = folder(&[("a.py", "x = 1\n")]);
    let ran = portolan(home.path(), &["port", "--target", "xpu", "--report", "r.html", "a.py"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let text = text_of(&read(home.path(), "r.html"));
    assert!(text.contains("0 changed places in 0 of 1 file.") && text.contains("Nothing."), "{text}");
    fs::create_dir(home.path().join("x.html")).unwrap();
    for (file, said) in [
        ("x.html", "--report x.html: is a folder"),
        ("no/r.html", "no such folder: no"),
        ("a.py", "--report a.py: the file exists and is no report; nothing was written"),
    ] {
        let ran = portolan(home.path(), &["port", "--target", "xpu", "--report", file, "a.py"]);
        assert!(ran.code == 2 && ran.err.contains(said), "{ran:?}");
    }
    assert_eq!(read(home.path(), "a.py"), "x = 1\n");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("a.html", home.path().join("link.html")).unwrap();
        for file in ["link.html", "/dev/null"] {
            let ran = portolan(home.path(), &["port", "--target", "xpu", "--report", file, "a.py"]);
            assert!(ran.code == 2 && ran.err.contains("is a link or a device, not a file"), "{ran:?}");
        }
    }
    let both = ["port", "--target", "xpu", "--write", "--patch", "p.patch", "--report", "./p.patch", "a.py"];
    let ran = portolan(home.path(), &both);
    assert!(ran.code == 2 && ran.err.contains("are the same file"), "{ran:?}");
}
