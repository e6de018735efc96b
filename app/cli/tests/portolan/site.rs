//! `portolan site`: pages in a folder, and the folder over HTTP.

use crate::{folder, portolan};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

#[test]
fn build_writes_the_pages_of_the_guides() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let home = folder(&[]);
    let ran = portolan(&root, &["site", "build", "--out", home.path().to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for page in ["index.html", "guides/hpu/index.html", "404.html", "portolan-rehearsal.zip"] {
        assert!(home.path().join(page).is_file(), "{page}");
    }
    // Every guide that the kit covers says how to use it, and the archive unpacks to a program that runs.
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
    let mut command = Command::new(env!("CARGO_BIN_EXE_portolan"));
    command.args(["site", "serve", "--port", "0", "--dir"]).arg(folder).stdout(Stdio::piped());
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

/// Browsers keep connections open that they do not use.
#[test]
fn idle_connections_keep_nobody_waiting() {
    let home = folder(&[("index.html", "<p>home</p>")]);
    let serving = serve(home.path());
    let idle: Vec<TcpStream> = (0..20).map(|_| TcpStream::connect(&serving.address).unwrap()).collect();
    assert_eq!(get(&serving, "GET /").1, "<p>home</p>");
    drop(idle);
}
