//! Files that the user chooses or drops. They are read by the worker, when it needs them.

use super::{fault, on, show_choice, text, with};
use crate::browser;
use crate::check::choice::Choice;
use crate::check::parts::mebibytes;
use crate::check::protocol::LARGEST;
use js_sys::{Array, TypeError};
use wasm_bindgen::prelude::*;
use web_sys::{DragEvent, Element, File, FileList, HtmlElement, HtmlInputElement};

/// The files that are chosen.
#[derive(Default)]
pub(crate) struct Files {
    pub(crate) weights: Option<File>,
    pub(crate) input: Option<File>,
    pub(crate) candidate: Option<File>,
    /// The trained weights from beside the page, once they were wanted.
    pub(crate) sample: Option<File>,
    /// What the desk reads of the input, for the event of this number, once it was wanted.
    pub(crate) readable: Option<(u64, File)>,
}

/// The trained weights from beside the page.
pub(super) async fn fetch_sample() -> Result<File, JsValue> {
    let bytes =
        browser::fetch_bytes("check/sample.safetensors").await.map_err(|why| match why.dyn_ref::<TypeError>() {
            // What the browser says then is that it failed.
            Some(_) => {
                "there is no network, and this browser does not keep them yet. With a network, press Run, or “Keep \
                    the rest too” at the foot of the page. Weights made from a seed need none."
                    .into()
            }
            None => why,
        })?;
    File::new_with_u8_array_sequence(&Array::of1(&bytes), "sample.safetensors")
}

impl Files {
    /// What files are wanted that are not chosen.
    pub(crate) fn lacking(&self, choice: &Choice) -> Vec<&'static str> {
        let wanted = [
            ("the file with the weights", choice.has_weight_file() && self.weights.is_none()),
            ("the file with the event", choice.has_input_file() && self.input.is_none()),
        ];
        wanted.into_iter().filter(|(_, lacks)| *lacks).map(|(name, _)| name).collect()
    }
}

/// Takes files that are dropped.
pub(super) fn listen(place: &HtmlElement) {
    on(place, "dragover", |event: DragEvent| {
        if zone(&event).is_some() {
            event.prevent_default();
        }
    });
    on(place, "drop", |event: DragEvent| {
        let Some(name) = zone(&event) else { return };
        event.prevent_default();
        if let Some(file) = event.data_transfer().and_then(|data| first(data.files())) {
            take(&name, file);
        }
    });
}

fn zone(event: &DragEvent) -> Option<String> {
    let target: Element = event.target()?.dyn_into().ok()?;
    target.closest("[data-drop]").ok()??.get_attribute("data-drop")
}

fn first(files: Option<FileList>) -> Option<File> {
    files?.get(0)
}

/// Takes the file of an input.
pub(super) fn chosen(name: &str, input: &HtmlInputElement) {
    if let Some(file) = first(input.files()) {
        take(name, file);
    }
}

fn take(name: &str, file: File) {
    let key = format!("file-{name}");
    if file.size() > LARGEST as f64 {
        let size = file.size() / LARGEST as f64;
        let why = match name {
            "candidate" => "this page takes 1 at most. Write fewer modules’ outputs, or use portolan forward --compare",
            _ => "no weights and no event of this network are larger than 1",
        };
        let problem = format!("{} has {size:.1} GiB; {why}", file.name());
        fault(&key, &problem);
        return;
    }
    fault(&key, "");
    text(&format!("name-{name}"), &format!("{}, {}", file.name(), mebibytes(file.size() as usize)));
    with(|state| match name {
        "weights" => {
            state.files.weights = Some(file);
            state.choice.choose("weights", "file")
        }
        "input" => {
            state.files.input = Some(file);
            state.files.readable = None;
            state.choice.choose("input", "file")
        }
        _ => {
            state.files.candidate = Some(file);
            Ok(())
        }
    })
    .ok();
    text("notice", "");
    match name {
        "candidate" => super::running::compare_again(),
        _ => {
            show_choice();
            let fragment = with(|state| state.choice.fragment());
            let _ = browser::set_address(&format!("#{fragment}"));
        }
    }
}
