//! The page itself: mounts the app. It does not contain a Python parser; the worker does.

#[cfg(target_arch = "wasm32")]
fn main() {
    web::port::mount();
}

/// Runs only in a browser; `cargo build` of the whole workspace still requires a `main`.
#[cfg(not(target_arch = "wasm32"))]
fn main() {}
