//! The Web Worker of the check: reads files, and has another program run the network.

/// Runs only in a browser, when it is given a program that runs the network.
fn main() {}

#[cfg(target_arch = "wasm32")]
mod interface {
    use wasm_bindgen::prelude::*;
    use web::check::work::worker;

    /// Answers the page's requests until the page terminates the worker; `program` is what `forward.js` creates from a
    /// module.
    #[wasm_bindgen]
    #[allow(unreachable_pub)] // from Rust; JavaScript reaches it
    pub fn serve(program: JsValue) {
        worker::serve(program);
    }
}
