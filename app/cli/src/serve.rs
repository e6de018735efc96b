//! `portolan site serve`: serves a built site locally. It is for previews, not for the open internet.

mod live;

use crate::args::ServeArgs;
use crate::site::THREADED;
use crate::usage::usage;
use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use live::Live;

/// The maximum length of a request's first line and headers.
const LONGEST_HEAD: u64 = 64 * 1024;

/// Smaller responses, in bytes, are sent as they are.
const SMALL: usize = 1024;

/// The timeout of connections that browsers open but never use.
const PATIENCE: Duration = Duration::from_secs(30);

/// The site in one file, if this build contains it.
const CARRIED: Option<&[u8]> = include!(concat!(env!("OUT_DIR"), "/site.rs"));

/// What is served.
enum Site {
    Folder(PathBuf),
    /// A single page, at `/`.
    OneFile(&'static [u8]),
}

/// Serves a site until the process is terminated.
///
/// Every connection has a thread and answers one request: a browser opens several connections at once and keeps some
/// idle, and none of them may block another.
pub(crate) fn run(args: ServeArgs) -> Result<bool> {
    if args.while_stdin {
        std::thread::spawn(|| {
            io::copy(&mut io::stdin(), &mut io::sink()).ok();
            std::process::exit(0);
        });
    }
    // What changes while the first pages are built is a change.
    let sources = args.watch.then(|| live::look_at_sources(&args.sources));
    let live = args.watch.then(Live::default);
    let dir = args.dir.clone().unwrap_or_else(|| PathBuf::from("dist"));
    if args.watch {
        live::build(&dir, &args.sources)?;
    }
    let site = match CARRIED {
        Some(page) if args.dir.is_none() && !args.watch => Site::OneFile(page),
        _ if dir.is_dir() => Site::Folder(fs::canonicalize(&dir)?),
        _ => return Err(usage(format!("{}: folder not found; build the site first", dir.display())).into()),
    };
    let listener =
        TcpListener::bind(("127.0.0.1", args.port)).with_context(|| format!("can't listen on port {}", args.port))?;
    let shown = match &site {
        Site::Folder(dir) => dir.display().to_string(),
        Site::OneFile(_) => "the site in one file".to_owned(),
    };
    println!("Serving {shown} on http://{}/", listener.local_addr()?);
    std::thread::scope(|scope| {
        if let (Some(live), Some(sources)) = (&live, sources) {
            scope.spawn(|| live.watch(&dir, &args.sources, sources));
        }
        for stream in listener.incoming().flatten() {
            // Errors of a disconnected browser are ignored.
            scope.spawn(|| answer(stream, &site, live.as_ref()).ok());
        }
    });
    Ok(true)
}

/// The result of resolving a path.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    File(PathBuf),
    /// A folder without its trailing slash: relative links in its page would be wrong.
    Folder,
    Nothing,
}

fn answer(mut stream: TcpStream, site: &Site, live: Option<&Live>) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut lines = BufReader::new((&stream).take(LONGEST_HEAD)).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    let mut takes_gzip = false;
    // All are read, because closing a connection with unread data resets it.
    for line in lines {
        let line = line?.to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        takes_gzip |= line.strip_prefix("accept-encoding:").is_some_and(accepts_gzip);
    }
    let mut words = request.split(' ');
    let (method, url) = (words.next().unwrap_or_default(), words.next().unwrap_or("/"));
    if method.is_empty() {
        return Ok(());
    }
    let response = match live {
        Some(live) if url == live::EVENTS => return live.tell(stream),
        Some(_) if url == live::SCRIPT => {
            Response::new("200 OK", vec![("Content-Type", "text/javascript".into())], live::TEXT)
        }
        Some(_) => live::listening(respond(method, url, site)),
        None => respond(method, url, site),
    };
    let response = gzipped(response, takes_gzip);
    stream.write_all(response.head().as_bytes())?;
    if method != "HEAD" {
        stream.write_all(&response.body)?;
    }
    stream.flush()
}

/// A response before it is sent.
struct Response {
    status: &'static str,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Response {
    fn new(status: &'static str, headers: Vec<(&'static str, String)>, body: impl Into<Vec<u8>>) -> Response {
        Response { status, headers, body: body.into() }
    }

    fn head(&self) -> String {
        let mut head =
            format!("HTTP/1.1 {}\r\nContent-Length: {}\r\nConnection: close\r\n", self.status, self.body.len());
        // The site is rebuilt while it is viewed.
        head += "Cache-Control: no-cache\r\nX-Content-Type-Options: nosniff\r\n";
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        head + "\r\n"
    }
}

/// Whether a value of `Accept-Encoding`, in small letters, allows gzip. A weight of 0 forbids it.
fn accepts_gzip(encodings: &str) -> bool {
    let weight = |wanted: &str| {
        let of = |coding: &str| {
            let mut parts = coding.split(';').map(str::trim);
            let is_wanted = parts.next() == Some(wanted);
            let weight = parts.find_map(|part| part.strip_prefix("q=")?.trim().parse::<f32>().ok());
            is_wanted.then(|| weight.unwrap_or(1.0))
        };
        encodings.split(',').find_map(of)
    };
    weight("gzip").or_else(|| weight("*")).is_some_and(|weight| weight > 0.0)
}

fn respond(method: &str, target: &str, site: &Site) -> Response {
    let url = target.split(['?', '#']).next().unwrap_or("/");
    if !["GET", "HEAD"].contains(&method) {
        return Response::new("405 Method Not Allowed", vec![("Allow", "GET, HEAD".to_string())], "");
    }
    let missing = || plain("404 Not Found", "404: page not found\n");
    let dir = match site {
        Site::Folder(dir) => dir,
        Site::OneFile(page) if url == "/" => {
            let kind = media_type(Path::new("index.html")).to_string();
            return Response::new("200 OK", vec![("Content-Type", kind)], *page);
        }
        Site::OneFile(_) => return missing(),
    };
    match find(dir, url) {
        Found::File(file) => {
            let mut response = send("200 OK", &file);
            response.headers.extend(isolation(file.strip_prefix(dir).unwrap_or(&file)));
            response
        }
        Found::Folder => {
            let query = target.split('#').next().and_then(|target| target.split_once('?'));
            let query = query.map(|(_, query)| format!("?{query}")).unwrap_or_default();
            // After two slashes a browser would read the name of a host.
            let location = format!("/{}/{query}", url.trim_start_matches('/'));
            Response::new("308 Permanent Redirect", vec![("Location", location)], "")
        }
        Found::Nothing if dir.join("404.html").is_file() => send("404 Not Found", &dir.join("404.html")),
        Found::Nothing => missing(),
    }
}

fn send(status: &'static str, file: &Path) -> Response {
    match fs::read(file) {
        Ok(body) => Response::new(status, vec![("Content-Type", media_type(file).to_string())], body),
        Err(error) => plain("500 Internal Server Error", &format!("{error}\n")),
    }
}

/// Compresses a response as static hosts do, if the browser `takes` that: the engine is a third as large, which matters
/// through a tunnel. A cache has to know that the answer to another browser may differ.
fn gzipped(mut response: Response, takes: bool) -> Response {
    let is_packed = |kind: &str| (kind.starts_with("image/") && kind != "image/svg+xml") || kind == "application/zip";
    let kind = response.headers.iter().find(|(name, _)| *name == "Content-Type").map_or("", |(_, kind)| kind);
    if response.body.len() < SMALL || is_packed(kind) {
        return response;
    }
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    if takes && let Ok(body) = packed.write_all(&response.body).and_then(|()| packed.finish()) {
        response.body = body;
        response.headers.push(("Content-Encoding", "gzip".to_string()));
    }
    response.headers.push(("Vary", "Accept-Encoding".to_string()));
    response
}

/// Headers that isolate the pages with threads, as the site's service worker adds them if a server does not. A worker's
/// script needs them too.
fn isolation(path: &Path) -> Vec<(&'static str, String)> {
    let has = |extension: &str| path.extension().is_some_and(|found| found == extension);
    let page = has("html") && THREADED.iter().any(|folder| path.starts_with(folder));
    let mut headers = Vec::new();
    if page {
        headers.push(("Cross-Origin-Opener-Policy", "same-origin".to_string()));
    }
    if page || has("js") || has("wasm") {
        headers.push(("Cross-Origin-Embedder-Policy", "require-corp".to_string()));
        headers.push(("Cross-Origin-Resource-Policy", "same-origin".to_string()));
    }
    headers
}

fn plain(status: &'static str, text: &str) -> Response {
    Response::new(status, vec![("Content-Type", "text/plain; charset=utf-8".to_string())], text)
}

/// The file named by a URL's path. Nothing outside the folder is ever served, whatever the path or a link contains.
fn find(dir: &Path, url: &str) -> Found {
    let Some(path) = decoded(url) else { return Found::Nothing };
    let mut file = dir.to_path_buf();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." || part.contains(['\\', '\0', ':']) {
            return Found::Nothing;
        }
        file.push(part);
    }
    if file.is_dir() && !path.ends_with('/') {
        return Found::Folder;
    }
    if file.is_dir() {
        file.push("index.html");
    } else if path.ends_with('/') {
        return Found::Nothing;
    }
    match fs::canonicalize(&file) {
        Ok(file) if file.is_file() && file.starts_with(dir) => Found::File(file),
        _ => Found::Nothing,
    }
}

/// Decodes `%20` and the like; none if the result is not UTF-8.
fn decoded(url: &str) -> Option<String> {
    let mut out = Vec::new();
    let mut bytes = url.bytes();
    while let Some(byte) = bytes.next() {
        let byte = match byte {
            b'%' => {
                let digit = |byte: Option<u8>| (byte? as char).to_digit(16);
                (16 * digit(bytes.next())? + digit(bytes.next())?) as u8
            }
            byte => byte,
        };
        out.push(byte);
    }
    String::from_utf8(out).ok()
}

/// The media type by the file's extension. WebAssembly needs the correct one to be compiled while it is downloaded.
fn media_type(file: &Path) -> &'static str {
    match file.extension().and_then(|extension| extension.to_str()).unwrap_or("") {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "json" | "map" => "application/json",
        "wasm" => "application/wasm",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" | "py" | "patch" => "text/plain; charset=utf-8",
        "xml" => "application/xml",
        "zip" => "application/zip",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside_the_folder() {
        let dir = fs::canonicalize(env!("CARGO_MANIFEST_DIR")).unwrap();
        let file = |path: &str| Found::File(dir.join(path));
        assert_eq!(find(&dir, "/src/main.rs"), file("src/main.rs"));
        assert_eq!(find(&dir, "/src/m%61in.rs"), file("src/main.rs"));
        assert_eq!(find(&dir, "/src"), Found::Folder);
        for nothing in
            ["/src/", "/../cli/Cargo.toml", "/%2e%2e/cli/Cargo.toml", "/src/main.rs/", "/%", "/%ff", "/no", "/a%00b"]
        {
            assert_eq!(find(&dir, nothing), Found::Nothing, "{nothing}");
        }
    }

    #[test]
    fn a_site_in_one_file_is_one_page() {
        let check = |url: &str, status: &str, body: &str| {
            let response = respond("GET", url, &Site::OneFile(b"<html>"));
            assert_eq!((response.status, String::from_utf8_lossy(&response.body).as_ref()), (status, body), "{url}");
        };
        check("/", "200 OK", "<html>");
        check("/?x=1", "200 OK", "<html>");
        check("/serve.rs", "404 Not Found", "404: page not found\n");
        assert!(respond("HEAD", "/", &Site::OneFile(b"")).head().contains("Content-Type: text/html; charset=utf-8"));
    }

    #[test]
    fn what_is_large_and_not_packed_is_compressed() {
        let check = |kind: &str, size: usize, is_packed: bool| {
            let response = Response::new("200 OK", vec![("Content-Type", kind.to_string())], vec![b' '; size]);
            let response = gzipped(response, true);
            assert_eq!(
                response.headers.contains(&("Content-Encoding", "gzip".to_string())),
                is_packed,
                "{kind} {size}"
            );
            let mut body = Vec::new();
            flate2::read::GzDecoder::new(&*response.body).read_to_end(&mut body).ok();
            assert_eq!(if is_packed { body } else { response.body }, vec![b' '; size]);
        };
        check("application/wasm", 100_000, true);
        check("image/svg+xml", 5_000, true);
        check("text/html; charset=utf-8", 100, false);
        check("image/png", 5_000, false);
        check("application/zip", 5_000, false);
    }

    #[test]
    fn a_cache_keeps_answers_to_other_browsers_apart() {
        let answer = |kind: &str, takes: bool| {
            let response = Response::new("200 OK", vec![("Content-Type", kind.to_string())], vec![b' '; 5_000]);
            let response = gzipped(response, takes);
            let has = |name: &str| response.headers.iter().any(|(header, _)| *header == name);
            (has("Vary"), has("Content-Encoding"))
        };
        assert_eq!(answer("application/wasm", true), (true, true));
        assert_eq!(answer("application/wasm", false), (true, false));
        assert_eq!(answer("image/png", true), (false, false));
    }

    #[test]
    fn only_a_browser_that_allows_gzip_gets_it() {
        for encodings in [" gzip", "br, gzip;q=0.5", "deflate , gzip ; q=1", "*", "*;q=0.1, br"] {
            assert!(accepts_gzip(encodings), "{encodings}");
        }
        for encodings in ["", "gzip;q=0", "identity, gzip;q=0.0", "notgzip", "*;q=0", "*, gzip;q=0", "br"] {
            assert!(!accepts_gzip(encodings), "{encodings}");
        }
    }

    #[test]
    fn a_folder_is_redirected_within_the_site() {
        let site = Site::Folder(fs::canonicalize(env!("CARGO_MANIFEST_DIR")).unwrap());
        let check = |url: &str, location: &str| {
            let response = respond("GET", url, &site);
            assert_eq!(response.headers, [("Location", location.to_string())], "{url}");
        };
        check("/src", "/src/");
        check("/src?a=1&b=/c", "/src/?a=1&b=/c");
        check("/src?a#b", "/src/?a");
        check("//src", "/src/");
    }

    #[test]
    fn the_pages_with_threads_are_isolated_and_no_others() {
        let check = |path: &str, expected: &[&str]| {
            let names: Vec<&str> = isolation(Path::new(path)).into_iter().map(|(name, _)| name).collect();
            assert_eq!(names, expected, "{path}");
        };
        let [opener, embedder, resource] =
            ["Cross-Origin-Opener-Policy", "Cross-Origin-Embedder-Policy", "Cross-Origin-Resource-Policy"];
        check("check/index.html", &[opener, embedder, resource]);
        check("start_forward.js", &[embedder, resource]);
        check("threads/threaded_forward.wasm", &[embedder, resource]);
        check("port/index.html", &[]);
        check("checks/index.html", &[]);
    }

    #[test]
    fn modules_have_the_type_that_lets_them_stream() {
        assert_eq!(media_type(Path::new("a/engine_bg.wasm")), "application/wasm");
    }
}
