//! Dynamic parts of a page. Leptos compiles its code for such a part once for each type of closure; these all have the
//! same type, which makes a page's module smaller.

use leptos::prelude::*;
use leptos::tachys::reactive_graph::SharedReactiveFunction;
use std::sync::{Arc, Mutex};

/// A part that is recreated when something it reads changes.
pub(crate) fn live<V: IntoView + 'static>(
    mut part: impl FnMut() -> V + Send + 'static,
) -> SharedReactiveFunction<AnyView> {
    Arc::new(Mutex::new(move || part().into_any()))
}

/// A part that exists while a condition is true. It is not recreated as long as the condition stays true.
#[component]
pub(crate) fn When(holds: Memo<bool>, children: ChildrenFn) -> impl IntoView {
    live(move || holds.get().then(|| children()))
}

/// A list in which an item's part stays the same as long as the item's key does.
pub(crate) fn each<T: Send + 'static, V: IntoView + 'static>(
    items: impl Fn() -> Vec<T> + Send + Sync + 'static,
    key: impl Fn(&T) -> u64 + Send + Sync + 'static,
    part: impl Fn(T) -> V + Send + Sync + 'static,
) -> AnyView {
    let part = Arc::new(part);
    let keyed = move |item: T| {
        let (key, part) = (key(&item), part.clone());
        let made: Made = Box::new(move || part(item).into_any());
        (key, made)
    };
    listed(Box::new(move || items().into_iter().map(&keyed).collect()))
}

type Made = Box<dyn FnOnce() -> AnyView + Send>;

fn listed(parts: Box<dyn Fn() -> Vec<(u64, Made)> + Send + Sync>) -> AnyView {
    view! {
        <For each=parts key=|part| part.0 let((_, made))>
            {made()}
        </For>
    }
    .into_any()
}
