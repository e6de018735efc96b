//! The check of launch scripts, a separate module because few visitors use it.

#[cfg(target_arch = "wasm32")]
fn main() {
    web::launch::own_files::serve_scripts();
}

/// Runs only in a browser; `cargo build` of the whole workspace still requires a `main`.
#[cfg(not(target_arch = "wasm32"))]
fn main() {}
