//! The right-hand pane: what came out, and every way in which nothing did.

use crate::app::session;
use crate::parts::certificate::CertificatePanel;
use crate::parts::diff::Diff;
use crate::parts::needs::Needs;
use crate::parts::opening::open_sample;
use crate::parts::recipes::Recipes;
use crate::state::{Jump, Panel, Phase, Run, needs_person};
use leptos::ev;
use leptos::prelude::*;

/// The tabs, in order.
const PANELS: [(Panel, &str, &str); 4] = [
    (Panel::Changes, "changes", "Changes"),
    (Panel::Needs, "needs", "Needs you"),
    (Panel::Recipes, "recipes", "Recipes"),
    (Panel::Certificate, "certificate", "Certificate"),
];

/// The pane.
#[component]
pub(crate) fn ResultPane() -> impl IntoView {
    let session = session();
    let panel = session.part(|state| state.panel);
    let has_port = session.part(|state| state.outcome.is_some());
    let undo = move |event: ev::KeyboardEvent| {
        let command = event.ctrl_key() || event.meta_key();
        let done = match event.key().to_ascii_lowercase().as_str() {
            "z" if command && event.shift_key() => session.state.try_update(|state| state.redo()),
            "y" if command => session.state.try_update(|state| state.redo()),
            "z" if command => session.state.try_update(|state| state.undo()),
            _ => return,
        };
        event.prevent_default();
        if done == Some(true) {
            session.port_now();
        }
    };
    view! {
        <section class="port-result" aria-label="Port" on:keydown=undo>
            <div class="pane-head">
                <h2>"Port"</h2>
                <Summary />
                <Progress />
            </div>
            <Show when=move || has_port.get()><Tabs /></Show>
            <div class="panel" role="tabpanel" id="panel" aria-labelledby=move || format!("tab-{}", name(panel.get()))>
                {move || match panel.get() {
                    _ if !has_port.get() => view! { <State /> }.into_any(),
                    Panel::Changes => view! { <State /> }.into_any(),
                    Panel::Needs => view! { <Needs /> }.into_any(),
                    Panel::Recipes => view! { <Recipes /> }.into_any(),
                    Panel::Certificate => view! { <CertificatePanel /> }.into_any(),
                }}
            </div>
        </section>
    }
}

fn name(panel: Panel) -> &'static str {
    PANELS.iter().find(|(p, ..)| *p == panel).map_or("changes", |(_, name, _)| name)
}

#[component]
fn Summary() -> impl IntoView {
    let session = session();
    let summary = session.part(|state| state.summary());
    view! { <p class="summary" id="summary">{move || summary.get()}</p> }
}

/// Says that something is under way, once it takes long enough to notice, and offers to stop it.
#[component]
fn Progress() -> impl IntoView {
    let session = session();
    let working = session.part(|state| state.run == Run::Working);
    view! {
        <span class="progress" class:on=move || working.get()>
            <span class="spinner" aria-hidden="true"></span>
            <span>"Porting…"</span>
            <button class="button quiet small" disabled=move || !working.get() on:click=move |_| session.stop()>"Cancel"</button>
        </span>
    }
}

/// The tabs; arrow keys walk them.
#[component]
fn Tabs() -> impl IntoView {
    let session = session();
    let panel = session.part(|state| state.panel);
    let totals = session.part(|state| {
        let recipes = state.recipe_counts().len().max(state.rejected.recipes.len());
        let (changes, needs) = state.totals();
        (changes, needs, recipes)
    });
    let tab = move |index: usize| {
        let (value, id, label) = PANELS[index];
        let number = move || match value {
            Panel::Changes => Some(totals.get().0),
            Panel::Needs => Some(totals.get().1),
            Panel::Recipes => Some(totals.get().2),
            Panel::Certificate => None,
        };
        let walk = move |event: ev::KeyboardEvent| {
            let to = match event.key().as_str() {
                "ArrowRight" => (index + 1) % PANELS.len(),
                "ArrowLeft" => (index + PANELS.len() - 1) % PANELS.len(),
                "Home" => 0,
                "End" => PANELS.len() - 1,
                _ => return,
            };
            event.prevent_default();
            session.state.update(|state| state.panel = PANELS[to].0);
            if let Some(tab) = crate::browser::element(&format!("tab-{}", PANELS[to].1)) {
                let _ = tab.focus();
            }
        };
        view! {
            <button role="tab" id=format!("tab-{id}") aria-controls="panel"
                aria-selected=move || (panel.get() == value).to_string()
                tabindex=move || if panel.get() == value { "0" } else { "-1" }
                on:keydown=walk
                on:click=move |_| session.state.update(|state| state.panel = value)>
                {label}
                {move || number().map(|n| view! { <span class="count" class:warn={value == Panel::Needs && n > 0}>{n}</span> })}
            </button>
        }
    };
    view! { <div class="tabs" role="tablist" aria-label="Result">{(0..PANELS.len()).map(tab).collect_view()}</div> }
}

/// The changes, or why there are none.
#[component]
fn State() -> impl IntoView {
    let session = session();
    let phase = session.part(|state| state.phase());
    move || {
        match phase.get() {
        Phase::Changes => view! { <Diff /> }.into_any(),
        Phase::Nothing => view! { <Nothing /> }.into_any(),
        Phase::Empty => view! {
            <div class="state">
                <h3>"No script yet"</h3>
                <p>"Paste a training script on the left, open files, or start from the sample. The port appears here as you type. The page sends your code nowhere."</p>
                <p><button class="button" on:click=move |_| open_sample(session)>"Start from the sample"</button></p>
            </div>
        }.into_any(),
        Phase::Starting => view! { <div class="state"><h3>"Loading the engine…"</h3><p>"Your text is ported as soon as it is here."</p></div> }.into_any(),
        Phase::Working => view! { <div class="state"><h3>"Porting…"</h3></div> }.into_any(),
        Phase::Stopped => view! {
            <div class="state">
                <h3>"Stopped"</h3>
                <p>"You cancelled this port. Your text is as it was."</p>
                <p><button class="button" on:click=move |_| session.port_now()>"Port it after all"</button></p>
            </div>
        }.into_any(),
        Phase::Broken(why) => view! {
            <div class="state bad">
                <h3>"The engine stopped"</h3>
                <p>"This input was too much for it. Your text is as it was."</p>
                {(!why.is_empty()).then(|| view! { <p><code>{why}</code></p> })}
                <p><button class="button" on:click=move |_| session.port_now()>"Start it again"</button></p>
            </div>
        }.into_any(),
        Phase::Failed { message, line, column } => {
            view! {
                <div class="state bad">
                    <h3>"This file can't be ported yet"</h3>
                    <p>{message}</p>
                    <p><button class="button" on:click=move |_| {
                        session.state.update(|state| {
                            state.source_hidden = false;
                            state.jump_to(Jump::Source(line.saturating_sub(1), column.saturating_sub(1)));
                        });
                    }>{format!("Go to line {line}, column {column}")}</button></p>
                </div>
            }.into_any()
        }
    }
    }
}

/// A file that stays as it is.
#[component]
fn Nothing() -> impl IntoView {
    let session = session();
    let facts = session.part(|state| {
        let diagnostics = state.outcome_of(state.selected).map(|f| f.diagnostics.clone()).unwrap_or_default();
        let needs = diagnostics.iter().filter(|d| needs_person(d)).count();
        let path = state.file().map(|f| f.path.clone()).unwrap_or_default();
        let residue = state.outcome.as_ref().map(|o| o.certificate.residue.clone()).unwrap_or_default();
        let left = residue.iter().any(|line| line.strip_prefix(&path).is_some_and(|rest| rest.starts_with(':')));
        let off = !state.rejected.recipes.is_empty() || state.rejected.edits.iter().any(|e| e.path == path);
        (needs, diagnostics.len(), left, off, state.choice.target.to_ascii_uppercase())
    });
    move || {
        let (needs, messages, left, off, target) = facts.get();
        let what = match (needs, left) {
            (0, false) if off => format!("You turned off every change that {target} recipes would make in this file."),
            (0, false) => format!(
                "No {target} recipe matches anything in this file, and no name of the source vendor was found in it."
            ),
            (0, true) => {
                format!("No {target} recipe changes this file, but names of the source vendor are left in it.")
            }
            (n, _) => format!(
                "No {target} recipe changes this file by itself; {} left for you.",
                if n == 1 { "1 place is".to_owned() } else { format!("{n} places are") }
            ),
        };
        view! {
            <div class="state">
                <h3>"Nothing changed"</h3>
                <p>{what}</p>
            </div>
            {(messages > 0 || off).then(|| view! { <Diff /> })}
        }
    }
}
