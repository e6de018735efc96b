//! What the entries of the matrix mean.

use leptos::prelude::*;

/// The legend. The style sheet adds the signs, as in the table.
#[component]
pub(super) fn Legend() -> impl IntoView {
    let entries = [
        ("done", "done", "the port changes the line"),
        ("needs-you", "to do", "something there remains for you to do"),
        ("not-possible", "not possible", "the file can’t be ported to that target"),
        ("", "–", "the line stays unchanged"),
    ];
    let entry = |(class, word, meaning): (&'static str, &'static str, &'static str)| {
        view! {
            <div>
                <dt class=(!class.is_empty()).then_some(class)>{word}</dt>
                <dd>{meaning}</dd>
            </div>
        }
    };
    view! { <dl class="legend">{entries.map(entry).collect_view()}</dl> }
}
