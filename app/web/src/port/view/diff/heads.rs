use crate::shared::view::live;
use leptos::prelude::*;

/// Columns and their headings.
#[component]
pub(super) fn Heads(unified: Memo<bool>) -> impl IntoView {
    let heads = |heads: &[&'static str]| heads.iter().map(|head| view! { <th>{*head}</th> }).collect_view();
    let columns = move || match unified.get() {
        true => view! { <col class="num"/> <col class="num"/> <col/> }.into_any(),
        false => view! { <col class="num"/> <col/> <col class="num"/> <col/> }.into_any(),
    };
    view! {
        <colgroup>{live(columns)}</colgroup>
        <thead class="visually-hidden">
            <tr aria-rowindex="1">
                {live(move || match unified.get() {
                    true => heads(&["Line of the original", "Line of the port", "Code"]),
                    false => heads(&["Line", "Original", "Line", "Port"]),
                })}
            </tr>
        </thead>
    }
}
