//! All targets side by side.

mod legend;
mod rows;

use crate::port::protocol::Table;
use crate::port::state::Engine;
use crate::port::work::Session;
use crate::shared::view::{When, live};
use leptos::prelude::*;
use rows::Rows;
use std::sync::Arc;

/// The table, or its progress.
#[component]
pub(super) fn Matrix() -> impl IntoView {
    let session: Session = expect_context();
    let broken = session.memo(|state| matches!(state.engine, Engine::Broken(_)));
    let works = Memo::new(move |_| !broken.get());
    let progress = session.memo(|state| (state.matrix.done, state.matrix.total));
    let whole = move || progress.with(|(done, total)| *total > 0 && done == total);
    let table = session.memo(|state| state.matrix.table.clone().map(Shown));
    let columns = move || {
        let (done, total) = progress.get();
        (!whole()).then(|| {
            view! {
                <p class="columns">
                    <label>
                        "Porting to every target "
                        <progress max=total.max(1).to_string() value=done.to_string()></progress>
                    </label>
                </p>
            }
        })
    };
    view! {
        <When holds=broken>
            <div class="state bad">
                <h3>"The engine stopped"</h3>
                <p>"Your text is unchanged."</p>
            </div>
        </When>
        <When holds=works>
            {live(columns)}
            <div class="matrix-place" aria-busy=move || (!whole()).then_some("true")>
                {live(move || table.get().map(|Shown(table)| view! { <Rows table/> }))}
            </div>
        </When>
    }
}

/// A table that is equal only to itself.
#[derive(Clone)]
struct Shown(Arc<Table>);

impl PartialEq for Shown {
    fn eq(&self, other: &Shown) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
