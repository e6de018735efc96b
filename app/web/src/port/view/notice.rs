use crate::port::state::{Notice as Said, Undo};
use crate::port::work::Session;
use crate::shared::view::{Prose, live};
use leptos::prelude::*;

/// The outcome of the user's last action, and the screen reader's announcement of a port.
#[component]
pub(super) fn Notice() -> impl IntoView {
    let session: Session = expect_context();
    let notice = session.memo(|state| state.notice.clone());
    let show = move |Said { bad, text, undo }: Said| {
        let undo = undo.map(|undo| {
            let label = match undo {
                Undo::Project => "Restore previous project",
                Undo::Removal | Undo::Decision => "Undo",
            };
            view! { <button class="link" on:click=move |_| session.undo_notice(undo)>{label}</button> }
        });
        let dismiss = move |_| session.state.update(|state| state.notice = None);
        view! {
            <div class="port-notice" class:bad=bad>
                <span>
                    <Prose text/>
                </span>
                {undo}
                <button class="link" on:click=dismiss>"Dismiss"</button>
            </div>
        }
    };
    let spoken = session.memo(|state| state.spoken());
    view! {
        <p class="visually-hidden" role="status" id="spoken">{spoken}</p>
        <div role="status" id="notice">{live(move || notice.get().map(show))}</div>
    }
}
