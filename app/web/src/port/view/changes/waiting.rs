//! Shown in place of changes that are not available yet, or no longer.

use crate::port::state::Phase;
use crate::port::work::{Session, open_sample};
use leptos::prelude::*;

/// Shown while there is nothing to show.
pub(super) fn waiting(session: Session, phase: Phase) -> AnyView {
    let port = move |_| session.port_now();
    match phase {
        Phase::Empty => view! {
            <div class="state">
                <h3>"No script yet"</h3>
                <p>
                    "Paste a training script, open files, or start from the sample. The port appears here as you type. Your code never leaves this browser."
                </p>
                <ol class="steps">
                    <li>"Paste the script, or open its project."</li>
                    <li>"Name the file as in your project, and choose the target."</li>
                    <li>"Review each change; reject what you do not want."</li>
                    <li>"Work through To do."</li>
                    <li>"Download the patch and apply it."</li>
                </ol>
                <p>
                    <button class="button" on:click=move |_| open_sample(session)>"Start from the sample"</button>
                </p>
            </div>
        }
        .into_any(),
        Phase::Starting => view! {
            <div class="state">
                <h3>"Loading the engine…"</h3>
                <p>"Your text is ported as soon as the engine has loaded."</p>
            </div>
        }
        .into_any(),
        Phase::Stopped => view! {
            <div class="state">
                <h3>"Stopped"</h3>
                <p>"Your text is unchanged."</p>
                <p>
                    <button class="button" on:click=port>"Port now"</button>
                </p>
            </div>
        }
        .into_any(),
        Phase::Broken(why) => view! {
            <div class="state bad">
                <h3>"The engine stopped"</h3>
                <p>
                    "It failed on this input, ran out of memory, or could not be loaded. Your text is unchanged. "
                    <code>{why}</code>
                </p>
                <p>
                    <button class="button" on:click=port>"Restart the engine"</button>
                </p>
            </div>
        }
        .into_any(),
        _ => view! {
            <div class="state">
                <h3>"Porting…"</h3>
            </div>
        }
        .into_any(),
    }
}
