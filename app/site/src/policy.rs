//! What a page may load and do. A static host sets no headers, so each page carries its policy as its first tag.

/// Everything comes from the site itself, and nothing is sent elsewhere.
///
/// - `'wasm-unsafe-eval'` compiles WebAssembly; it does not allow `eval`.
/// - Attributes may set a style, because the heights of rows and the widths of columns are computed; style sheets and
///   `<style>` may not be written into a page.
/// - Where the browser knows Trusted Types, a string becomes markup or a script's address only through the one policy of
///   `portolan.js`.
const POLICY: &str = "default-src 'self'; connect-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; \
    style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; \
    form-action 'self'; require-trusted-types-for 'script'; trusted-types default";

/// The policy as a tag for `<head>`.
pub(crate) fn tag() -> String {
    format!(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n<meta name=\"referrer\" content=\"no-referrer\">\n"
    )
}
