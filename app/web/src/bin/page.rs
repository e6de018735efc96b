//! The page itself: mounts the app. Has no Python parser in it; that is the worker's.

#[cfg(target_arch = "wasm32")]
fn main() {
    web::port::mount();
}

/// Runs in a browser only; `cargo build` of the whole workspace still wants a `main`.
#[cfg(not(target_arch = "wasm32"))]
fn main() {}
