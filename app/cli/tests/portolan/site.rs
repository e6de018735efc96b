//! `portolan site`: pages in a folder, and the folder over HTTP.

use crate::{folder, portolan};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

#[test]
fn build_writes_the_pages_of_the_guides() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let home = folder(&[]);
    let ran = portolan(&root, &["site", "build", "--out", home.path().to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for page in ["index.html", "guides/hpu/index.html", "404.html", "portolan-rehearsal.zip"] {
        assert!(home.path().join(page).is_file(), "{page}");
    }
    // Every guide that the kit covers explains how to use it, and the archive contains a working program.
    for (guide, offered) in [("hpu", true), ("ipu", true), ("tensorflow-ipu", true), ("writing-a-recipe", false)] {
        let page = crate::read(home.path(), &format!("guides/{guide}/index.html"));
        assert_eq!(page.contains("href=\"../../portolan-rehearsal.zip\""), offered, "{guide}");
    }
    let unpack = ["-m", "zipfile", "-e", "portolan-rehearsal.zip", "."];
    let program = ["rehearsal/rehearse.py", "--help"];
    for words in [&unpack[..], &program[..]] {
        let ran = Command::new("python3").args(words).current_dir(home.path()).stdout(Stdio::piped()).output().unwrap();
        assert!(ran.status.success(), "{words:?}: {ran:?}");
    }
}

#[test]
fn build_with_a_faulty_guide_writes_nothing() {
    let home = folder(&[("guides/t.md", "no front matter\n")]);
    let ran = portolan(home.path(), &["site", "build", "--out", "dist"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.starts_with("guides/t.md:1: "), "{ran:?}");
    assert!(!home.path().join("dist").exists());
}

/// A guide with this body is rejected with this message, and nothing is written.
#[track_caller]
fn check(body: &str, message: &str) {
    check_guide(&format!("+++\ntitle = \"T\"\n+++\n{body}"), message);
}

#[track_caller]
fn check_guide(text: &str, message: &str) {
    let home = folder(&[("guides/t.md", text), ("public/there.svg", "<svg/>")]);
    let ran = portolan(home.path(), &["site", "build", "--out", "dist"]);
    assert_eq!(ran.err, format!("guides/t.md:{message}\n"), "{text}");
    assert_eq!(ran.code, 1, "{text}");
    assert!(!home.path().join("dist").exists(), "{text}");
}

#[test]
fn a_dead_link_is_told_with_line_and_remedy() {
    check("Text.\n\n[x](nowhere.md)\n", "6: there is no guide nowhere.md; there are t.md");
    check("## A\n\n[x](#b)\n", "6: t.md has no section #b; a heading gets that anchor by ## Title {#b}");
    check("## Move a model\n[x](#move-the-model)\n", "5: t.md has no section #move-the-model; is #move-a-model meant?");
    check(
        "[x](train.py)\n",
        "4: `train.py` is not a valid target: link to another guide (name.md#anchor), #anchor, or https://…",
    );
    check("[](https://x.org)\n", "4: this link has no text: [text](https://x.org)");
}

#[test]
fn an_id_that_is_there_twice_is_told() {
    let own = "anchor `x` is already used on line 4; give this heading a different {#anchor}";
    check("## A {#x}\n\n## B {#x}\n", &format!("6: {own}"));
    check("## X\n\n### X\n", &format!("6: {own}"));
}

#[test]
fn an_empty_heading_is_told() {
    check("## \n", "4: this heading has no text: add it, or remove the line");
    check("Text.\n\n###\n", "6: this heading has no text: add it, or remove the line");
}

#[test]
fn a_missing_image_is_told() {
    check("![x](../public/no.png)\n", "4: there is no file public/no.png: add it, or correct the path");
    check("![x](there.svg)\n", "4: images must be under ../public/, not at `there.svg`");
    check("![](../public/there.svg)\n", "4: say what the image shows: ![…](../public/there.svg)");
    check("![x](https://x.org/a.png)\n", "4: images must be under public/; none are loaded from other sites");
}

#[test]
fn an_unclosed_fence_is_told() {
    check("## A\n```python\nx = 1\n\n## B\n", "5: unclosed fence: end it with a line of the same backticks");
}

#[test]
fn an_unknown_target_is_told() {
    check_guide(
        "+++\ntitle = \"T\"\ntarget = \"G P U\"\n+++\n",
        "3: target `G P U` is not a name of lowercase letters and digits",
    );
    check_guide(
        "+++\ntitle = \"T\"\ntarget = \"gpu\"\nextends = \"cpu\"\n+++\n",
        "4: `extends = \"cpu\"`: unknown target; available targets: gpu",
    );
}

#[test]
fn an_unknown_fence_language_is_told() {
    let known = "use one of python, text, diff, where, names, words, message, conditions, signatures, says, sh, console, json, yaml, toml, ini, markdown, dockerfile";
    check("```pytorch\nx\n```\n", &format!("4: unknown fence language `pytorch`; {known}"));
    check("```\nx\n```\n", &format!("4: this fence has no language; {known}"));
}

#[test]
fn raw_html_is_told() {
    let remedy = "raw HTML is not rendered: use Markdown, or put a literal <…> in backticks";
    check("<b>x</b>\n", &format!("4: {remedy}"));
    check("Text <script>alert(1)</script>\n", &format!("4: {remedy}"));
}

#[test]
fn one_file_wants_a_built_site() {
    let home = folder(&[("guides/t.md", "+++\ntitle = \"T\"\n+++\n")]);
    let ran = portolan(home.path(), &["site", "build", "--single-file", "one.html"]);
    assert_ne!(ran.code, 0, "{ran:?}");
    assert!(ran.err.ends_with("the built site lacks port/index.html; build it first: cargo xtask build\n"), "{ran:?}");
    assert!(!home.path().join("one.html").exists());
}

/// A server that ends with the test.
struct Serving {
    child: Child,
    address: String,
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn serve(folder: &Path) -> Serving {
    serving(folder, &["site", "serve", "--port", "0", "--dir", "."])
}

fn serving(folder: &Path, words: &[&str]) -> Serving {
    let mut command = Command::new(env!("CARGO_BIN_EXE_portolan"));
    command.args(words).current_dir(folder).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().rsplit("http://").next().unwrap().trim_end_matches('/').to_string();
    Serving { child, address }
}

/// Status line with headers, and body.
fn get(serving: &Serving, request: &str) -> (String, String) {
    let mut stream = TcpStream::connect(&serving.address).unwrap();
    write!(stream, "{request} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", serving.address).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_string(), body.to_string())
}

#[test]
fn serve_answers_like_a_static_host() {
    let home = folder(&[
        ("secret.txt", "no"),
        ("dist/index.html", "<p>home</p>"),
        ("dist/port/index.html", "<p>port</p>"),
        ("dist/engine_bg.wasm", "wasm"),
        ("dist/404.html", "<p>lost</p>"),
    ]);
    let serving = serve(&home.path().join("dist"));
    #[track_caller]
    fn check(serving: &Serving, request: &str, status: &str, header: &str, body: &str) {
        let (head, found) = get(serving, request);
        assert!(head.starts_with(&format!("HTTP/1.1 {status}")), "{request}: {head}");
        assert!(head.contains(header), "{request}: {head}");
        assert_eq!(found, body, "{request}");
    }
    check(&serving, "GET /", "200", "Content-Type: text/html; charset=utf-8", "<p>home</p>");
    check(&serving, "GET /?a=b", "200", "Content-Length: 11", "<p>home</p>");
    check(&serving, "GET /port/", "200", "text/html", "<p>port</p>");
    check(&serving, "GET /port", "308", "Location: /port/", "");
    check(&serving, "GET /engine_bg.wasm", "200", "Content-Type: application/wasm", "wasm");
    check(&serving, "HEAD /engine_bg.wasm", "200", "Content-Length: 4", "");
    check(&serving, "GET /no", "404", "text/html", "<p>lost</p>");
    check(&serving, "GET /../secret.txt", "404", "text/html", "<p>lost</p>");
    check(&serving, "GET /%2e%2e/secret.txt", "404", "text/html", "<p>lost</p>");
    check(&serving, "POST /", "405", "Allow: GET, HEAD", "");
}

#[test]
fn serve_ends_with_the_program_that_started_it() {
    let home = folder(&[("index.html", "<p>home</p>")]);
    let words = ["site", "serve", "--while-stdin", "--port", "0", "--dir", "."];
    let mut command = Command::new(env!("CARGO_BIN_EXE_portolan"));
    command.args(words).current_dir(home.path()).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    std::thread::sleep(Duration::from_millis(200));
    assert!(child.try_wait().unwrap().is_none());
    // Waiting closes its standard input.
    assert!(child.wait().unwrap().success());
}

/// Browsers keep unused connections open.
#[test]
fn idle_connections_keep_nobody_waiting() {
    let home = folder(&[("index.html", "<p>home</p>")]);
    let serving = serve(home.path());
    let idle: Vec<TcpStream> = (0..20).map(|_| TcpStream::connect(&serving.address).unwrap()).collect();
    assert_eq!(get(&serving, "GET /").1, "<p>home</p>");
    drop(idle);
}

/// Events up to the first with this text; the test fails by its time limit if there is none.
fn event(events: &mut impl BufRead, text: &str) -> Vec<String> {
    let mut seen = Vec::new();
    while !seen.last().is_some_and(|line: &String| line.contains(text)) {
        let mut line = String::new();
        assert!(events.read_line(&mut line).unwrap() > 0, "the server went away after {seen:?}");
        seen.push(line.trim_end().to_string());
    }
    seen
}

#[test]
fn a_watched_site_follows_its_guides_and_tells_open_pages() {
    let guide = |words: &str| format!("+++\ntitle = \"T\"\n+++\n{words}\n");
    let home = folder(&[("guides/t.md", &guide("First.")), ("guides/u.md", &guide("Other."))]);
    let write = |words: &str| std::fs::write(home.path().join("guides/t.md"), guide(words)).unwrap();
    let serving = serving(home.path(), &["site", "serve", "--port", "0", "--watch"]);
    let (_, page) = get(&serving, "GET /guides/t/");
    assert!(page.contains("<p>First.</p>") && page.contains("/.portolan/live.js"));
    assert!(
        page.starts_with("<!doctype html>\n<html data-preview lang="),
        "theme/offline.js does not keep such a page"
    );
    assert!(page.contains(" data-painted="), "its controls are there all the same");
    assert!(get(&serving, "GET /.portolan/live.js").1.contains("EventSource"));

    let mut stream = TcpStream::connect(&serving.address).unwrap();
    stream.set_read_timeout(Some(std::time::Duration::from_secs(60))).unwrap();
    write!(stream, "GET /.portolan/events HTTP/1.1\r\n\r\n").unwrap();
    let mut events = BufReader::new(stream);
    event(&mut events, "data: 0");
    let other = home.path().join("dist/guides/u/index.html");
    let untouched = other.metadata().unwrap().modified().unwrap();

    write("Second.");
    event(&mut events, "data: 1");
    assert!(get(&serving, "GET /guides/t/").1.contains("<p>Second.</p>"));
    assert_eq!(other.metadata().unwrap().modified().unwrap(), untouched, "only what changed is written");

    write("[x](nowhere.md)");
    event(&mut events, "data: guides/t.md:4: there is no guide nowhere.md");
    assert!(get(&serving, "GET /guides/t/").1.contains("<p>Second.</p>"), "the last good site stays up");

    write("Third.");
    event(&mut events, "data: 2");
    assert!(get(&serving, "GET /guides/t/").1.contains("<p>Third.</p>"));
}
