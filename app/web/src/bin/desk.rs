//! The Web Worker of the check: reads files, and has the network computed by another program.

/// Runs in a browser only, and not before it is given what computes.
fn main() {}

#[cfg(target_arch = "wasm32")]
mod interface {
    use wasm_bindgen::prelude::*;
    use web::check::work::worker;

    /// Answers the page's questions until it ends the worker; `program` is what `forward.js` makes of a module.
    #[wasm_bindgen]
    #[allow(unreachable_pub)] // from Rust; JavaScript reaches it
    pub fn serve(program: JsValue) {
        worker::serve(program);
    }
}
