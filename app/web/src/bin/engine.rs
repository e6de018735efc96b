//! The Web Worker: answers the page's requests with `codemod`.

#[cfg(target_arch = "wasm32")]
fn main() {
    web::port::work::worker::serve();
}

/// Runs only in a browser; `cargo build` of the whole workspace still requires a `main`.
#[cfg(not(target_arch = "wasm32"))]
fn main() {}
