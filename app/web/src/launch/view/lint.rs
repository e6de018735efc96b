//! A user's own script, and its problems.

use crate::launch::state::{FixedLine, State, fixed_lines, units_of_line};
use crate::launch::work::Session;
use crate::shared::text::count;
use crate::shared::view::Prose;
use launch::{Finding, Linted};
use leptos::html::{Button, Textarea};
use leptos::prelude::*;

/// The section below the form.
#[component]
pub(super) fn OwnScript() -> impl IntoView {
    let session: Session = expect_context();
    let state = session.state;
    let text = NodeRef::<Textarea>::new();
    let linted = Memo::new(move |_| state.with(State::linted));
    let target = Memo::new(move |_| state.with(|state| state.own_target().name()));
    let option = move |(name, label): (String, String)| {
        view! { <option value=name.clone() prop:selected=move || target.get() == name>{label}</option> }
    };
    view! {
        <section class="launch-check" aria-labelledby="check-name">
            <h2 id="check-name" tabindex="-1">"Check an existing script"</h2>
            <p>"Paste a launch script: it is checked for known mistakes, line by line."</p>
            <div class="field">
                <label for="check-target">"Target"</label>
                <select
                    id="check-target"
                    on:change=move |event| state.update(|state| state.choose_own_target(&event_target_value(&event)))
                >
                    {state.with_untracked(State::targets).into_iter().map(option).collect_view()}
                </select>
            </div>
            <label for="check-text">"Your script"</label>
            <textarea
                id="check-text"
                rows="10"
                spellcheck="false"
                autocapitalize="off"
                autocomplete="off"
                node_ref=text
                prop:value=move || state.with(|state| state.own.text.clone())
                on:input=move |event| state.update(|state| state.type_own(event_target_value(&event)))
            ></textarea>
            <p class="said" id="check-undo" role="status">
                <Show when=move || state.with(State::is_fixed)>
                    <Undo text/>
                </Show>
            </p>
            <div id="check-found" aria-live="polite">
                {move || found(linted.get(), text)}
            </div>
        </section>
    }
}

/// A note that the lines were fixed, and a button that undoes it. The button that fixed them is gone, so this one gets
/// the focus.
#[component]
fn Undo(text: NodeRef<Textarea>) -> impl IntoView {
    let session: Session = expect_context();
    let button = NodeRef::<Button>::new();
    button.on_load(|button| drop(button.focus()));
    let undo = move |_| {
        session.state.update(State::unfix_own);
        text.get_untracked().map(|text| text.focus());
    };
    view! { "Fixed. " <button class="link" id="undo-fix" type="button" node_ref=button on:click=undo>"Undo"</button> }
}

fn found(linted: Option<Result<Linted, String>>, text: NodeRef<Textarea>) -> AnyView {
    let linted = match linted {
        None => return view! { <p class="help">"Problems are listed here."</p> }.into_any(),
        Some(Err(why)) => {
            return view! { <p>"The script can’t be checked: the checker stopped (" {why} "). Edit the script to try again."</p> }
                .into_any();
        }
        Some(Ok(linted)) => linted,
    };
    if linted.findings.is_empty() {
        return view! { <p>{linted.checked}</p> }.into_any();
    }
    let lines = fixed_lines(&linted);
    let entry = move |finding: Finding| view! { <Entry finding text/> };
    view! {
        <h3>{count(linted.findings.len(), "problem")}</h3>
        <ul class="findings">{linted.findings.into_iter().map(entry).collect_view()}</ul>
        <Fix lines/>
    }
    .into_any()
}

/// A problem, with a link to its line.
#[component]
fn Entry(finding: Finding, text: NodeRef<Textarea>) -> impl IntoView {
    let Finding { line, rule, message } = finding;
    let select = move |_| {
        let Some(text) = text.get_untracked() else { return };
        let (start, end) = units_of_line(&text.value(), line);
        let _ = text.focus();
        let _ = text.set_selection_range(start, end);
    };
    view! {
        <li>
            <button class="link place" type="button" on:click=select>"line " {line}</button>
            " "
            <code>{rule}</code>
            " "
            <Prose text=message/>
        </li>
    }
}

/// The lines that can be fixed, as a diff, and the button that fixes them.
#[component]
fn Fix(lines: Vec<FixedLine>) -> impl IntoView {
    let session: Session = expect_context();
    if lines.is_empty() {
        return view! { <p class="help">"None of these has a single right answer, so none is fixed automatically."</p> }
            .into_any();
    }
    let rows = |(line, old, new): FixedLine| {
        let row = |class: &'static str, said: &'static str, sign: &'static str, text: String| {
            // A line that is only inserted or only removed has one side.
            (!text.is_empty()).then(|| {
                view! {
                    <tr class=class>
                        <th scope="row">{line}</th>
                        <td><span class="visually-hidden">{said}</span> {sign} {text}</td>
                    </tr>
                }
            })
        };
        view! { {row("removed", "removed: ", "− ", old)} {row("added", "added: ", "+ ", new)} }
    };
    view! {
        <div class="fixed-lines" role="region" tabindex="0" aria-label="Lines to fix">
            <table>
                <tbody>{lines.into_iter().map(rows).collect_view()}</tbody>
            </table>
        </div>
        <p>
            <button class="button small" id="fix" type="button" on:click=move |_| session.state.update(State::fix_own)>
                "Fix these lines"
            </button>
        </p>
    }
    .into_any()
}
