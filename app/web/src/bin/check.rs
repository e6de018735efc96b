//! The page that checks a port. Has no kernel in it; those are the worker's.

#[cfg(target_arch = "wasm32")]
fn main() {
    web::check::mount();
}

/// Runs in a browser only; `cargo build` of the whole workspace still wants a `main`.
#[cfg(not(target_arch = "wasm32"))]
fn main() {}
