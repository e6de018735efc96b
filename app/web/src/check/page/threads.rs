//! How many threads a run takes, and why it may be one.

use super::{html, text};
use crate::browser::{element, window};
use js_sys::{Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::HtmlSelectElement;

/// Fills in the control: as many threads as the machine runs at once, all of them chosen. Where workers can't share
/// memory there is one.
pub(super) fn offer() {
    let most = most();
    let isolated = is_isolated();
    if let Some(select) = element("threads") {
        let select: HtmlSelectElement = select.unchecked_into();
        let offered = if isolated { most } else { 1 };
        let option = |count| format!("<option value=\"{count}\">{count}</option>");
        select.set_inner_html(&(1..=offered).map(option).collect::<String>());
        select.set_value(&offered.to_string());
        select.set_disabled(offered == 1);
    }
    if isolated || most == 1 {
        let processors = if most == 1 { "one thread".to_string() } else { format!("{most} threads") };
        text("why-threads", &format!("This machine runs {processors} at once. The numbers are the same with any."));
        return;
    }
    text(
        "why-threads",
        "One: workers share memory only on pages that are isolated from all others, and this page is not.",
    );
    spawn_local(async move {
        if let Some(true) = would_be_isolated().await {
            html(
                "why-threads",
                &format!(
                    "One, this first time. <button type=\"button\" class=\"button quiet small\" data-do=\"reload\">\
                     Reload the page</button> to compute with up to {most}; the form stays, chosen files do not."
                ),
            );
        }
    });
}

/// How many are chosen.
pub(super) fn chosen() -> usize {
    let select = element("threads").map(|select| select.unchecked_into::<HtmlSelectElement>());
    select.and_then(|select| select.value().parse().ok()).unwrap_or(1)
}

fn most() -> usize {
    (window().navigator().hardware_concurrency() as usize).max(1)
}

/// Workers of this page may share memory.
fn is_isolated() -> bool {
    Reflect::get(&window(), &"crossOriginIsolated".into()).is_ok_and(|isolated| isolated.is_truthy())
}

/// The site's service worker isolates this page wherever it is served from, but it wasn't there when the page was loaded.
/// Resolves when it is; `None` where there are no service workers.
async fn would_be_isolated() -> Option<bool> {
    let get = |of: &JsValue, name: &str| Reflect::get(of, &name.into()).ok().filter(JsValue::is_truthy);
    // Absent where the page's address is not a secure one.
    let container = get(&window().navigator(), "serviceWorker")?;
    if get(&container, "controller").is_some() {
        return Some(false);
    }
    JsFuture::from(get(&container, "ready")?.unchecked_into::<Promise>()).await.ok()?;
    Some(true)
}
