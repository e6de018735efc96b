//! The form: the network, the event, and the machine.

use super::actions::Actions;
use super::field::Field;
use super::file_field::{FileField, dropped};
use super::machine::Machine;
use crate::check::state::choice::FIELDS;
use crate::check::state::{Slot, State};
use crate::check::work::Session;
use leptos::html::Details;
use leptos::prelude::*;

/// The whole form.
#[component]
pub(super) fn Form() -> impl IntoView {
    let session: Session = expect_context();
    view! {
        <div class="check-form">
            <p class="notice" id="notice" role="status">{move || session.state.with(|state| state.notice.clone())}</p>
            <NetworkFields/>
            <WeightFields/>
            <EventFields/>
            <Machine/>
            <Actions/>
        </div>
    }
}

#[component]
fn NetworkFields() -> impl IntoView {
    let session: Session = expect_context();
    let fields = NodeRef::<Details>::new();
    let wrong = Memo::new(move |_| session.state.with(State::fields_are_wrong));
    Effect::new(move |_| {
        if let (true, Some(fields)) = (wrong.get(), fields.get()) {
            fields.set_open(true);
        }
    });
    view! {
        <fieldset>
            <legend>"Network"</legend>
            <Field key="preset" label="Configuration"/>
            <p class="hint" id="parameters">{move || session.state.with(State::parameters)}</p>
            <details id="fields" node_ref=fields>
                <summary>"All settings"</summary>
                <div class="grid">{FIELDS.map(|key| view! { <Field key/> }).collect_view()}</div>
            </details>
        </fieldset>
    }
}

#[component]
fn WeightFields() -> impl IntoView {
    let session: Session = expect_context();
    let is = move |word: &'static str| move || session.state.with(|state| state.value("weights") == word);
    view! {
        <fieldset on:drop=dropped(session, Slot::Weights)>
            <legend>"Weights"</legend>
            <Field key="weights" label="Weights"/>
            <p class="hint" hidden=move || !is("sample")()>
                "Trained on synthetic events to separate cosmic rays from a neutrino; not trained on data from a real detector. "
                "Run downloads it (1 MB). "
                <a href="sample.safetensors" download="">"Download sample weights"</a>
            </p>
            <div hidden=move || !is("seeded")()>
                <Field key="seed" label="Seed"/>
            </div>
            <div hidden=move || !is("file")()>
                <FileField of=Slot::Weights label="Checkpoint: safetensors or torch.save" accept=".safetensors,.pt,.pth,.ckpt,.npz"/>
            </div>
        </fieldset>
    }
}

#[component]
fn EventFields() -> impl IntoView {
    let session: Session = expect_context();
    let from_file = Memo::new(move |_| session.state.with(|state| state.choice.has_input_file()));
    let offered = Memo::new(move |_| session.state.with(State::offered_size));
    let caution = move || session.state.with(|state| state.choice.caution());
    view! {
        <fieldset on:drop=dropped(session, Slot::Input)>
            <legend>"Event"</legend>
            <Field key="input" label="Event"/>
            <div hidden=move || !from_file.get()>
                <FileField
                    of=Slot::Input
                    label="Image as a dense array or a list of pixels: safetensors, npy, npz or larcv’s HDF5"
                    accept=".safetensors,.npy,.npz,.h5,.hdf5"
                />
                <p class="notice" id="form-caution">{caution}</p>
            </div>
            <div class="grid">
                <Field key="event" label="Event number"/>
                <Field key="downsample" label="Downsample by"/>
                <Field key="height" label="Height"/>
                <Field key="width" label="Width"/>
            </div>
            <p class="hint" id="fed">{move || session.state.with(State::fed)}</p>
            {move || offered.get().map(|(height, width)| view! {
                <p class="actions">
                    <button
                        type="button"
                        class="button quiet small"
                        id="use-size"
                        on:click=move |_| session.take_size((height, width))
                    >
                        {format!("Use {height} × {width}")}
                    </button>
                </p>
            })}
        </fieldset>
    }
}
