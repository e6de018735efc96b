//! The reader of site files, a module of its own: few visitors have such a file.

#[cfg(target_arch = "wasm32")]
fn main() {
    web::launch::own_files::serve_site_files();
}

/// Runs in a browser only; `cargo build` of the whole workspace still wants a `main`.
#[cfg(not(target_arch = "wasm32"))]
fn main() {}
