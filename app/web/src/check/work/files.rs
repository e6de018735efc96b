//! Files that the user chooses or drops. The worker reads them when it needs them.

use crate::check::state::{Chosen, Slot};
use crate::shared::browser;
use js_sys::{Array, TypeError};
use wasm_bindgen::prelude::*;
use web_sys::File;

/// The chosen files.
#[derive(Default)]
pub(in crate::check) struct Files {
    pub(super) weights: Option<File>,
    pub(super) input: Option<File>,
    pub(super) candidate: Option<File>,
    /// The trained weights from the site, once they have been needed.
    pub(super) sample: Option<File>,
    /// The input for the desk, for the event with this number, once it has been needed.
    pub(super) readable: Option<(u64, File)>,
}

impl Files {
    /// Stores a file that was chosen.
    pub(super) fn put(&mut self, slot: Slot, file: File) {
        match slot {
            Slot::Weights => self.weights = Some(file),
            Slot::Input => (self.input, self.readable) = (Some(file), None),
            Slot::Candidate => self.candidate = Some(file),
        }
    }
}

/// The properties of a file that the state stores.
pub(super) fn described(file: &File) -> Chosen {
    Chosen { name: file.name(), bytes: file.size() as u64 }
}

/// The trained weights from the site.
pub(super) async fn fetch_sample() -> Result<File, JsValue> {
    let bytes =
        browser::fetch_bytes("check/sample.safetensors").await.map_err(|why| match why.dyn_ref::<TypeError>() {
            // The browser only reports that it failed.
            Some(_) => "there is no network, and this browser has not kept them. With a network, press Run, or \
                        “Download extras” at the foot of the page. Weights made from a seed need none."
                .into(),
            None => why,
        })?;
    File::new_with_u8_array_sequence(&Array::of1(&bytes), "sample.safetensors")
}
