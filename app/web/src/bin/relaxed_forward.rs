//! The Web Worker that computes the network, for browsers with relaxed SIMD: fused multiply-adds.

#[cfg(target_arch = "wasm32")]
fn main() {
    web::check::worker::serve();
}

/// Runs in a browser only; `cargo build` of the whole workspace still wants a `main`.
#[cfg(not(target_arch = "wasm32"))]
fn main() {}
