//! The number of threads for a run, and why it may be one.

use super::session::Session;
use crate::check::state::Threads;
use crate::shared::browser::window;
use js_sys::{Promise, Reflect};
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

/// Offers as many threads as the machine can run at once, and selects all of them. If workers can't share memory, there
/// is one.
pub(in crate::check) fn offer(session: Session) {
    let most = (window().navigator().hardware_concurrency() as usize).max(1);
    let offered = if is_isolated() { most } else { 1 };
    session.state.update(|state| state.threads = Threads { most, offered, chosen: offered, after_reload: false });
    if offered < most {
        spawn_local(async move {
            if would_be_isolated().await == Some(true) {
                session.state.update(|state| state.threads.after_reload = true);
            }
        });
    }
}

/// Whether workers of this page can share memory.
fn is_isolated() -> bool {
    Reflect::get(&window(), &"crossOriginIsolated".into()).is_ok_and(|isolated| isolated.is_truthy())
}

/// The site's service worker isolates this page on any host, but it was not active when the page was loaded. Resolves
/// when it is; `None` if there are no service workers.
async fn would_be_isolated() -> Option<bool> {
    let get = |of: &JsValue, name: &str| Reflect::get(of, &name.into()).ok().filter(JsValue::is_truthy);
    // Missing if the page's address is not secure.
    let container = get(&window().navigator(), "serviceWorker")?;
    if get(&container, "controller").is_some() {
        return Some(false);
    }
    JsFuture::from(get(&container, "ready")?.unchecked_into::<Promise>()).await.ok()?;
    Some(true)
}
