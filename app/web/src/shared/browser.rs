//! Browser functions that Leptos does not provide.

use js_sys::{Array, Promise, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    Blob, BlobPropertyBag, Document, ErrorEvent, Event, HtmlAnchorElement, HtmlElement, ReadableStreamDefaultReader,
    ReadableWritablePair, Response, Url, Window,
};

#[wasm_bindgen]
extern "C" {
    type ImportMeta;
    #[wasm_bindgen(method, getter)]
    fn url(this: &ImportMeta) -> String;
    #[wasm_bindgen(thread_local_v2, js_namespace = import, js_name = meta)]
    static IMPORT_META: ImportMeta;

    /// `web-sys` considers these two unstable.
    type CompressionStream;
    #[wasm_bindgen(constructor, catch)]
    fn new(format: &str) -> Result<CompressionStream, JsValue>;
    type DecompressionStream;
    #[wasm_bindgen(constructor, catch)]
    fn new(format: &str) -> Result<DecompressionStream, JsValue>;

    /// `web-sys` has it only with a type for its options.
    type Focusable;
    #[wasm_bindgen(method, js_name = focus)]
    fn focus_with(this: &Focusable, options: &JsValue);

    /// If the whole site is one file, there are no files next to it, but blobs, by the names of these files.
    #[wasm_bindgen(thread_local_v2, js_name = portolanCarried)]
    static CARRIED: Option<js_sys::Object>;
}

/// A file that is included in the page.
fn carried(file: &str) -> Option<Blob> {
    let files = CARRIED.with(Option::clone)?;
    Reflect::get(&files, &file.into()).ok()?.dyn_into().ok()
}

/// The address of a file next to the page's module. With it, the page works under any path and in any folder.
pub(crate) fn beside(file: &str) -> String {
    if let Some(address) = carried(file).and_then(|blob| Url::create_object_url_with_blob(&blob).ok()) {
        return address;
    }
    let module = IMPORT_META.with(ImportMeta::url);
    Url::new_with_base(file, &module).map(|url| url.href()).unwrap_or_else(|_| file.to_owned())
}

pub(crate) fn window() -> Window {
    web_sys::window().expect("the page runs in a window")
}

pub(crate) fn document() -> Document {
    window().document().expect("the page has a document")
}

/// Calls back after this many milliseconds; the returned number cancels it.
pub(crate) fn later(milliseconds: i32, call: impl FnOnce() + 'static) -> i32 {
    let call = Closure::once_into_js(call);
    let set = window().set_timeout_with_callback_and_timeout_and_arguments_0(call.unchecked_ref(), milliseconds);
    set.unwrap_or(0)
}

/// Milliseconds since the page was opened.
pub(crate) fn now() -> f64 {
    window().performance().map_or(0.0, |clock| clock.now())
}

/// Replaces the current address without loading anything or triggering an event.
pub(crate) fn set_address(address: &str) -> Result<(), JsValue> {
    window().history()?.replace_state_with_url(&JsValue::NULL, "", Some(address))
}

/// Removes the fragment from the address. If the whole site is one file, the fragment says which page is shown.
pub(crate) fn clear_fragment() {
    let location = window().location();
    let _ = match CARRIED.with(Option::is_some) {
        true => location.replace("#port"),
        false => set_address(&(location.pathname().unwrap_or_default() + &location.search().unwrap_or_default())),
    };
}

/// The message of an exception.
pub(crate) fn reason(error: &JsValue) -> String {
    let message = Reflect::get(error, &"message".into()).ok().and_then(|m| m.as_string());
    message.or_else(|| error.as_string()).unwrap_or_else(|| "the browser gave no reason".to_owned())
}

/// The message of a worker's error event. If the worker's script cannot be fetched, it is a plain event without a
/// message.
pub(crate) fn worker_error(event: &Event) -> String {
    let said = event.dyn_ref::<ErrorEvent>().map(ErrorEvent::message).filter(|message| !message.is_empty());
    said.unwrap_or_else(|| "it could not be loaded".to_owned())
}

/// Downloads bytes as a file.
pub(crate) fn download(name: &str, kind: &str, bytes: &[u8]) -> Result<(), JsValue> {
    let options = BlobPropertyBag::new();
    options.set_type(kind);
    let parts = Array::of1(&Uint8Array::from(bytes));
    let blob = Blob::new_with_u8_array_sequence_and_options(&parts, &options)?;
    let url = Url::create_object_url_with_blob(&blob)?;
    let link: HtmlAnchorElement = document().create_element("a")?.unchecked_into();
    link.set_href(&url);
    link.set_download(name);
    link.click();
    later(60_000, move || {
        let _ = Url::revoke_object_url(&url);
    });
    Ok(())
}

/// Copies text to the clipboard.
pub(crate) async fn copy(text: &str) -> Result<(), JsValue> {
    let navigator = window().navigator();
    // Missing if the page is not served over https.
    if Reflect::get(&navigator, &"clipboard".into())?.is_undefined() {
        return Err("the browser allows clipboard access on https pages only".into());
    }
    JsFuture::from(navigator.clipboard().write_text(text)).await.map(|_| ())
}

/// The bytes of a file or blob.
pub(crate) async fn bytes_of(blob: &Blob) -> Result<Vec<u8>, JsValue> {
    Ok(Uint8Array::new(&JsFuture::from(blob.array_buffer()).await?).to_vec())
}

async fn fetch(file: &str) -> Result<Response, JsValue> {
    if let Some(blob) = carried(file) {
        return Response::new_with_opt_blob(Some(&blob));
    }
    let response: Response = JsFuture::from(window().fetch_with_str(&beside(file))).await?.unchecked_into();
    match response.ok() {
        true => Ok(response),
        false => Err(format!("{file}: status {}", response.status()).into()),
    }
}

/// Fetches the bytes of a file next to the page's module.
pub(crate) async fn fetch_bytes(file: &str) -> Result<Uint8Array, JsValue> {
    let buffer = JsFuture::from(fetch(file).await?.array_buffer()?).await?;
    Ok(Uint8Array::new(&buffer))
}

/// Fetches the text of a file next to the page's module.
pub(crate) async fn fetch_text(file: &str) -> Result<String, JsValue> {
    let response = fetch(file).await?;
    let text = JsFuture::from(response.text()?).await?;
    text.as_string().ok_or_else(|| "not a text".into())
}

/// Deflates without a header.
pub(crate) async fn deflate(bytes: &[u8]) -> Result<Vec<u8>, JsValue> {
    let stream = CompressionStream::new("deflate-raw")?;
    pump(bytes, stream.unchecked_into(), usize::MAX).await
}

/// Inflates data without a header; an error if the result has more than `most` bytes.
pub(crate) async fn inflate(bytes: &[u8], most: usize) -> Result<Vec<u8>, JsValue> {
    let stream = DecompressionStream::new("deflate-raw")?;
    pump(bytes, stream.unchecked_into(), most).await
}

async fn pump(bytes: &[u8], through: ReadableWritablePair, most: usize) -> Result<Vec<u8>, JsValue> {
    let input = Uint8Array::from(bytes);
    let body = Response::new_with_opt_js_u8_array(Some(&input))?.body();
    let body = body.ok_or_else(|| JsValue::from("no stream"))?;
    let reader: ReadableStreamDefaultReader = body.pipe_through(&through).get_reader().unchecked_into();
    let mut out = Vec::new();
    loop {
        let step = JsFuture::from(reader.read()).await?;
        if Reflect::get(&step, &"done".into())?.is_truthy() {
            return Ok(out);
        }
        let chunk: Uint8Array = Reflect::get(&step, &"value".into())?.unchecked_into();
        if out.len() + chunk.length() as usize > most {
            let _: Promise = reader.cancel();
            return Err("it is too large when unpacked".into());
        }
        out.extend(chunk.to_vec());
    }
}

/// Calls back when an element's size changes, for as long as the page is open.
pub(crate) fn when_resized(element: &web_sys::Element, call: impl FnMut() + 'static) {
    let call = Closure::<dyn FnMut()>::new(call).into_js_value();
    if let Ok(observer) = web_sys::ResizeObserver::new(call.unchecked_ref()) {
        observer.observe(element);
    }
}

/// The width of the page in CSS pixels.
pub(crate) fn page_width() -> f64 {
    window().inner_width().ok().and_then(|width| width.as_f64()).unwrap_or(1280.0)
}

/// Focuses the element with this id, without scrolling the page to it: it continues what had the focus.
pub(crate) fn focus(id: &str) {
    if let Some(element) = element(id) {
        focus_on(&element);
    }
}

/// Focuses an element without scrolling the page to it.
pub(crate) fn focus_on(element: &HtmlElement) {
    let options = js_sys::Object::new();
    let _ = Reflect::set(&options, &"preventScroll".into(), &true.into());
    element.unchecked_ref::<Focusable>().focus_with(&options);
}

/// The element with this id.
pub(crate) fn element(id: &str) -> Option<HtmlElement> {
    document().get_element_by_id(id)?.dyn_into().ok()
}
