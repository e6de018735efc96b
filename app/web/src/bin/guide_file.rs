//! The reader of users' own guides, which the worker of the porting page loads with the first one.

#[cfg(target_arch = "wasm32")]
fn main() {
    web::port::work::guide_file::module::offer();
}

/// Runs only in a browser; `cargo build` of the whole workspace still requires a `main`.
#[cfg(not(target_arch = "wasm32"))]
fn main() {}
