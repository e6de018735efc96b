//! The check of launch scripts, a module of its own: few visitors bring a script.

#[cfg(target_arch = "wasm32")]
fn main() {
    web::launch::own_files::serve_scripts();
}

/// Runs in a browser only; `cargo build` of the whole workspace still wants a `main`.
#[cfg(not(target_arch = "wasm32"))]
fn main() {}
