//! `portolan site serve`: a built site on this machine. For looking at it, not for the open internet.

use crate::usage::usage;
use anyhow::{Result, anyhow};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use tiny_http::{Header, Method, Request, Response, Server};

/// Requests are answered by this many threads: a browser asks for several files at once.
const THREADS: usize = 4;

/// Serves a folder until the process is ended.
pub(crate) fn run(dir: &Path, port: u16) -> Result<bool> {
    if !dir.is_dir() {
        return Err(usage(format!("{}: there is no such folder; build the site first", dir.display())).into());
    }
    let dir = fs::canonicalize(dir)?;
    let server = Server::http(("127.0.0.1", port)).map_err(|error| anyhow!("port {port} can't be served: {error}"))?;
    if let Some(address) = server.server_addr().to_ip() {
        println!("Serving {} on http://{address}/", dir.display());
    }
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for request in server.incoming_requests() {
                    // A browser that went away is its own business.
                    answer(request, &dir).ok();
                }
            });
        }
    });
    Ok(true)
}

/// What a path leads to.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    File(PathBuf),
    /// A folder named without its closing slash: relative links in its page would lead astray.
    Folder,
    Nothing,
}

fn answer(request: Request, dir: &Path) -> std::io::Result<()> {
    let url = request.url().split(['?', '#']).next().unwrap_or("/").to_string();
    if !matches!(request.method(), Method::Get | Method::Head) {
        return request.respond(with(Response::empty(405), "Allow", "GET, HEAD"));
    }
    match find(dir, &url) {
        Found::File(file) => send(request, 200, &file),
        Found::Folder => request.respond(with(Response::empty(308), "Location", &format!("{url}/"))),
        Found::Nothing if dir.join("404.html").is_file() => send(request, 404, &dir.join("404.html")),
        Found::Nothing => request.respond(Response::from_string("404: there is no such page\n").with_status_code(404)),
    }
}

fn send(request: Request, status: u16, file: &Path) -> std::io::Result<()> {
    let body = match fs::read(file) {
        Ok(body) => body,
        Err(error) => return request.respond(Response::from_string(format!("{error}\n")).with_status_code(500)),
    };
    let response = Response::from_data(body).with_status_code(status).with_chunked_threshold(usize::MAX);
    let response = with(response, "Content-Type", media_type(file));
    let response = with(response, "X-Content-Type-Options", "nosniff");
    // The site is rebuilt while it is looked at.
    let response = with(response, "Cache-Control", "no-cache");
    request.respond(response)
}

/// Adds a header; a value that no header can have is left out.
fn with<R: Read>(mut response: Response<R>, name: &str, value: &str) -> Response<R> {
    if let Ok(header) = Header::from_bytes(name, value) {
        response.add_header(header);
    }
    response
}

/// The file that a URL's path names. Nothing outside the folder is ever found, whatever the path or a link says.
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

/// Undoes `%20` and the like; none when it is not UTF-8 then.
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

/// The media type by the file's ending. WebAssembly has to have the right one to be compiled while it arrives.
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
    fn modules_have_the_type_that_lets_them_stream() {
        assert_eq!(media_type(Path::new("a/engine_bg.wasm")), "application/wasm");
    }
}
