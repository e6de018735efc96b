//! What a page may load and do. A static host sets no headers, so the first tag of each page is its policy.

use crate::theme;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// The policy as a tag for `<head>`. Everything is loaded from the site itself, and nothing is sent elsewhere.
///
/// - The only inline script, [`theme::head_script`], is allowed by its hash.
/// - `'wasm-unsafe-eval'` compiles WebAssembly; it does not allow `eval`.
/// - Style attributes are allowed, because the heights of rows and the widths of columns are computed; inline style
///   sheets and `<style>` are not.
/// - If the browser supports Trusted Types, a string becomes markup or a script's address only through the single
///   policy of `portolan.js`.
pub(crate) fn tag() -> &'static str {
    static TAG: LazyLock<String> = LazyLock::new(|| {
        format!(
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'self'; connect-src 'self'; \
             script-src 'self' {head_script} 'wasm-unsafe-eval'; worker-src 'self'; \
             style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data: blob:; object-src 'none'; \
             base-uri 'none'; form-action 'self'; require-trusted-types-for 'script'; trusted-types default\">\n\
             <meta name=\"referrer\" content=\"no-referrer\">\n",
            head_script = hash(theme::head_script()),
        )
    });
    &TAG
}

/// The name of an inline script or style sheet in a policy.
pub(crate) fn hash(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}
