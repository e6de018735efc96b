//! The Web Worker that computes the network, for browsers without SIMD: built without the default features.

#[cfg(target_arch = "wasm32")]
fn main() {
    web::check::worker::serve();
}

/// Runs in a browser only; `cargo build` of the whole workspace still wants a `main`.
#[cfg(not(target_arch = "wasm32"))]
fn main() {}
