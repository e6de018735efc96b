//! The page that checks a port. It contains no kernels; the worker does.

#[cfg(target_arch = "wasm32")]
fn main() {
    web::check::mount();
}

/// Runs only in a browser; `cargo build` of the whole workspace still requires a `main`.
#[cfg(not(target_arch = "wasm32"))]
fn main() {}
