//! The page that writes launch scripts.

#[cfg(target_arch = "wasm32")]
fn main() {
    web::launch::mount();
}

/// Runs in a browser only; `cargo build` of the whole workspace still wants a `main`.
#[cfg(not(target_arch = "wasm32"))]
fn main() {}
