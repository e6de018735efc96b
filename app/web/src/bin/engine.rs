//! The Web Worker: takes the page's questions, answers out of `codemod`.

#[cfg(target_arch = "wasm32")]
fn main() {
    web::port::work::worker::serve();
}

/// Runs in a browser only; `cargo build` of the whole workspace still wants a `main`.
#[cfg(not(target_arch = "wasm32"))]
fn main() {}
