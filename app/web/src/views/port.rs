//! `/port/`: the source on the left, the port on the right.

use crate::app::session;
use crate::parts::controls::Controls;
use crate::parts::editor::Editor;
use crate::parts::files::Files;
use crate::parts::opening::{OpenButtons, listen_for_drops};
use crate::parts::result::ResultPane;
use crate::parts::take_away::TakeAway;
use crate::state::{Panel, Phase, Run};
use leptos::ev;
use leptos::prelude::*;

/// The page.
#[component]
pub(crate) fn Port() -> impl IntoView {
    let session = session();
    let hidden = session.part(|state| state.source_hidden);
    let dropping = listen_for_drops();
    window_event_listener(ev::keydown, move |event| {
        let command = event.ctrl_key() || event.meta_key();
        match event.key().as_str() {
            "Enter" if command => session.port_now(),
            "F8" => session.state.update(|state| {
                state.panel = Panel::Changes;
                state.step(!event.shift_key());
            }),
            _ => return,
        }
        event.prevent_default();
    });
    view! {
        <div class="port" class:alone=move || hidden.get() class:dropping=dropping>
            <div class="port-bar">
                <h1>"Port a training script"</h1>
                <Controls />
                <TakeAway />
            </div>
            <Announcer />
            <section class="port-source" aria-label="Source" hidden=move || hidden.get()>
                <div class="pane-head">
                    <h2>"Source"</h2>
                    <OpenButtons />
                </div>
                <Files />
                <Editor />
            </section>
            <ResultPane />
        </div>
    }
}

/// What is said aloud, and what is said about opening, copying and sharing.
#[component]
fn Announcer() -> impl IntoView {
    let session = session();
    let notice = session.part(|state| state.notice.clone());
    let former = session.part(|state| state.has_former());
    let spoken = session.part(|state| match state.phase() {
        Phase::Changes | Phase::Nothing if state.run == Run::Idle => state.summary(),
        Phase::Failed { message, line, .. } if state.run == Run::Idle => format!("{message} Line {line}."),
        Phase::Broken(_) => "The engine stopped.".to_owned(),
        _ => String::new(),
    });
    view! {
        <p class="visually-hidden" role="status" id="spoken">{move || spoken.get()}</p>
        <div class="port-notice" role="status" class:bad=move || notice.get().is_some_and(|n| n.bad)>
            {move || notice.get().map(|notice| view! {
                <span>{notice.text}</span>
                <Show when=move || former.get() && !notice.bad>
                    <button class="link" on:click=move |_| session.change_and_port(|state| state.bring_back())>
                        "Bring the former project back"
                    </button>
                </Show>
                <button class="link" on:click=move |_| session.state.update(|state| state.notice = None)>"Dismiss"</button>
            })}
        </div>
    }
}
