//! The reader of site files, a separate module because few visitors have such a file.

#[cfg(target_arch = "wasm32")]
fn main() {
    web::launch::own_files::serve_site_files();
}

/// Runs only in a browser; `cargo build` of the whole workspace still requires a `main`.
#[cfg(not(target_arch = "wasm32"))]
fn main() {}
