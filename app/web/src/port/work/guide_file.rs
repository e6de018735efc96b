//! The reader of the user's own guides: a separate module, because few users have any, and a reader of Markdown and TOML is
//! larger than the rest of what guides need.

use guide::Guide;

/// A guide, or its errors with their lines.
pub type Read = Result<Guide, Vec<String>>;

/// Parses a guide.
pub fn read(path: &str, text: &str) -> Read {
    Guide::parse(path, text).map_err(|errors| errors.iter().map(ToString::to_string).collect())
}

/// What the worker calls, once the module is loaded, and the name of the function that loads it.
#[cfg(target_arch = "wasm32")]
pub mod module {
    use super::Read;
    use js_sys::{Promise, Uint8Array};
    use wasm_bindgen::prelude::*;

    #[wasm_bindgen]
    extern "C" {
        /// Loads the module (`start_engine.js`).
        #[wasm_bindgen(js_name = portolanLoadGuideReader, catch)]
        pub(in crate::port) fn load() -> Result<Promise, JsValue>;
        #[wasm_bindgen(js_name = portolanReadGuide, catch)]
        fn read_packed(path: &str, text: &str) -> Result<Uint8Array, JsValue>;
    }

    /// Defines `portolanReadGuide`.
    pub fn offer() {
        let read = |path: String, text: String| {
            Uint8Array::from(&*postcard::to_allocvec(&super::read(&path, &text)).unwrap_or_default())
        };
        let read = Closure::<dyn Fn(String, String) -> Uint8Array>::new(read).into_js_value();
        let _ = js_sys::Reflect::set(&js_sys::global(), &"portolanReadGuide".into(), &read);
    }

    /// Reads a guide by the loaded module.
    pub(in crate::port) fn read(path: &str, text: &str) -> Read {
        let read = read_packed(path, text).ok().and_then(|packed| postcard::from_bytes(&packed.to_vec()).ok());
        read.unwrap_or_else(|| Err(vec![format!("{path}: the reader of guides stopped")]))
    }
}
