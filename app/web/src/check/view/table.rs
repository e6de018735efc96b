use leptos::prelude::*;

/// A table that scrolls in its frame, also with the keyboard.
#[component]
pub(super) fn Table(
    label: &'static str,
    #[prop(optional)] caption: &'static str,
    heads: Vec<String>,
    children: Children,
) -> impl IntoView {
    let caption = (!caption.is_empty()).then(|| view! { <caption>{caption}</caption> });
    let heads = heads.into_iter().map(|head| view! { <th scope="col">{head}</th> }).collect_view();
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label=label>
            <table>
                {caption}
                <thead>
                    <tr>{heads}</tr>
                </thead>
                <tbody>{children()}</tbody>
            </table>
        </div>
    }
}

/// Names and values as a list.
#[component]
pub(super) fn Facts(rows: Vec<(String, String)>, #[prop(optional)] id: Option<&'static str>) -> impl IntoView {
    let row = |(name, value): (String, String)| {
        view! {
            <div>
                <dt>{name}</dt>
                <dd>{value}</dd>
            </div>
        }
    };
    view! {
        <dl class="facts" id=id>
            {rows.into_iter().map(row).collect_view()}
        </dl>
    }
}
