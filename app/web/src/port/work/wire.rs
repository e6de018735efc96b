//! The format of messages: `[head as bytes, texts, colours]`. Numbers are transferred, not copied.

use crate::port::protocol::Parcel;
use js_sys::{Array, JsString, Uint8Array, Uint32Array};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::*;

/// A parcel as a message, and its buffers to transfer.
pub(crate) fn pack<T: Serialize>(parcel: Parcel<T>) -> (JsValue, Array) {
    let head = postcard::to_allocvec(&parcel.head).unwrap_or_default();
    let texts: Array = parcel.texts.iter().map(|text| JsValue::from_str(text)).collect();
    let colours: Array = parcel.colours.iter().map(|numbers| Uint32Array::from(numbers.as_slice())).collect();
    let buffers = colours.iter().map(|numbers| JsValue::from(numbers.unchecked_into::<Uint32Array>().buffer()));
    let buffers = buffers.collect();
    (Array::of3(&Uint8Array::from(head.as_slice()), &texts, &colours).into(), buffers)
}

/// A message as a parcel; `None` if it is not one.
pub(crate) fn unpack<T: DeserializeOwned>(message: JsValue) -> Option<Parcel<T>> {
    let parts: Array = message.dyn_into().ok()?;
    let head = postcard::from_bytes(&parts.get(0).dyn_into::<Uint8Array>().ok()?.to_vec()).ok()?;
    let texts = parts.get(1).dyn_into::<Array>().ok()?;
    let colours = parts.get(2).dyn_into::<Array>().ok()?;
    Some(Parcel {
        head,
        texts: texts.iter().map(|text| String::from(text.unchecked_into::<JsString>())).collect(),
        colours: colours.iter().map(|numbers| numbers.unchecked_into::<Uint32Array>().to_vec()).collect(),
    })
}
