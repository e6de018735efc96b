//! The image size in a file of sparse events. Only its header is read: the rest is for the worker.

use crate::shared::browser;
use js_sys::{JSON, Reflect};
use wasm_bindgen::prelude::*;
use web_sys::File;

/// Bytes of a header that is read; those of sparse events are much shorter.
const LONGEST: f64 = (1 << 16) as f64;

/// The height and width that a safetensors file of sparse events has; `None` for any other file.
pub(super) async fn image_size(file: &File) -> Option<(usize, usize)> {
    let length = u64::from_le_bytes(bytes(file, 0.0, 8.0).await?) as f64;
    if length > LONGEST {
        return None;
    }
    let header = file.slice_with_f64_and_f64(8.0, 8.0 + length).ok()?;
    let header = String::from_utf8(browser::bytes_of(&header).await.ok()?).ok()?;
    let entry = get(&JSON::parse(&header).ok()?, "image_size")?;
    if get(&entry, "dtype")? != "F32" {
        return None;
    }
    let start = 8.0 + length + get(&get(&entry, "data_offsets")?, "0")?.as_f64()?;
    let lengths = [bytes(file, start, 4.0).await?, bytes(file, start + 4.0, 4.0).await?].map(f32::from_le_bytes);
    uresnet::Event::checked_size(&lengths).ok()
}

fn get(of: &JsValue, key: &str) -> Option<JsValue> {
    Reflect::get(of, &key.into()).ok()
}

async fn bytes<const N: usize>(file: &File, start: f64, count: f64) -> Option<[u8; N]> {
    let part = file.slice_with_f64_and_f64(start, start + count).ok()?;
    browser::bytes_of(&part).await.ok()?.try_into().ok()
}
