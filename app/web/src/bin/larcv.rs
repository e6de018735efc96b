//! The reader of larcv's HDF5 files, a separate module because few visitors have such a file.

/// Runs only in a browser, when it is given a file.
fn main() {}

#[cfg(target_arch = "wasm32")]
mod interface {
    use wasm_bindgen::prelude::*;

    /// The pixels of an event, counted from 0, as safetensors; the error says what is wrong with the file.
    #[wasm_bindgen]
    #[allow(unreachable_pub)] // from Rust; JavaScript reaches it
    pub fn event(file: Vec<u8>, number: u64) -> Result<Vec<u8>, JsError> {
        Ok(uresnet::larcv_event(file, number)?)
    }
}
