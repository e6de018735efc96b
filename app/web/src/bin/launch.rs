//! The page that writes launch scripts.

#[cfg(target_arch = "wasm32")]
fn main() {
    web::launch::mount();
}

/// Runs only in a browser; `cargo build` of the whole workspace still requires a `main`.
#[cfg(not(target_arch = "wasm32"))]
fn main() {}
