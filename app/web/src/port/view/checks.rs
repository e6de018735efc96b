//! The checks of this port.

use super::ledger::BatchSummary;
use crate::port::protocol::Checked;
use crate::port::state::{Panel, State};
use crate::port::work::Session;
use crate::shared::browser;
use crate::shared::text::count;
use crate::shared::view::live;
use codemod::{Certificate, FileHashes, Style};
use leptos::prelude::*;

/// Further files are only listed in the report: laying out thousands of rows at once blocks the page.
const FILES: usize = 100;
/// The same for programs with a batch summary: each has a table.
const PROGRAMS: usize = 20;

/// The batch summary, and the checks below it.
#[component]
pub(super) fn Checks() -> impl IntoView {
    let session: Session = expect_context();
    let ports = session.memo(|state| state.ports);
    let show = move || {
        ports.track();
        session.state.with_untracked(|state| of_port(session, state))
    };
    view! {
        <div class="scroll certificate" tabindex="0" role="region" aria-label="Batch summary and checks">
            {live(show)}
        </div>
    }
}

fn of_port(session: Session, state: &State) -> Option<impl IntoView + use<>> {
    let outcome = state.outcome.as_ref()?;
    let Checked { sdk, certificate } = outcome.certificate.as_ref()?;
    let style = match outcome.style {
        Style::Branch => "branch",
        Style::Agnostic => "one program for all devices",
        Style::Auto | Style::InPlace => "replace",
    };
    let under = format!(
        "Target {}, SDK {sdk}, {style}, {}.",
        state.target_name(&outcome.target),
        count(certificate.rounds, "pass").replace("passs", "passes")
    );
    let ledgers = outcome.ledgers.iter().take(PROGRAMS).cloned().collect();
    let cut = cut(PROGRAMS, outcome.ledgers.len(), "programs");
    // The files of a large project are added in a task of their own.
    let made = RwSignal::new(false);
    browser::later(0, move || made.set(true));
    let versions = move || made.get().then(|| session.state.with_untracked(versions));
    Some(view! {
        <BatchSummary ledgers/>
        {cut}
        <h3>"Checks"</h3>
        <p>{under}</p>
        {list(certificate)}
        <p class="fine">
            "These checks only examine the text. "
            <button class="link" on:click=move |_| session.show(Panel::Twin)>"A twin run"</button>
            " shows on any machine with Python and PyTorch or TensorFlow whether the port computes what the original does. Only a run on the accelerator shows how well it trains there."
        </p>
        {live(versions)}
    })
}

fn list(c: &Certificate) -> impl IntoView + use<> {
    let checks = [
        (c.parses, "Every changed file parses.", "A changed file does not parse."),
        (
            c.idempotent,
            "Porting the result again changes nothing.",
            "Porting the result again would change it further.",
        ),
        (
            c.untouched_bytes_equal,
            "Unedited code is byte-identical.",
            "Code outside the edits differs from the original.",
        ),
        (
            c.comments_kept,
            "Every comment is kept, or was removed with its line.",
            "A comment of the original is missing.",
        ),
        (
            c.residue.is_empty(),
            "No CUDA or NVIDIA references remain in Python code.",
            "CUDA or NVIDIA references remain:",
        ),
    ];
    let check = |(good, yes, no): (bool, &'static str, &'static str)| {
        let (class, sign, text) = if good { ("yes", "✓", yes) } else { ("no", "✗", no) };
        view! {
            <li class=class>
                <span aria-hidden="true">{sign}</span>
                {text}
            </li>
        }
    };
    let residue = |line: &String| view! { <li><code>{line.clone()}</code></li> };
    view! {
        <ul class="checks">{checks.map(check).collect_view()}</ul>
        <ul class="residue">{c.residue.iter().map(residue).collect_view()}</ul>
    }
}

/// What the port was made with, and hashes of its input and output.
fn versions(state: &State) -> Option<impl IntoView + use<>> {
    let Checked { certificate, .. } = state.outcome.as_ref()?.certificate.as_ref()?;
    let file = |(path, FileHashes { input, output }): (&String, &FileHashes)| {
        view! {
            <tr>
                <th scope="row">{path.clone()}</th>
                <td><code>{input.clone()}</code></td>
                <td><code>{output.clone()}</code></td>
            </tr>
        }
    };
    let cut = cut(FILES, certificate.files.len(), "files");
    Some(view! {
        <dl>
            <dt>"Engine"</dt>
            <dd><code>{certificate.engine.clone()}</code></dd>
            <dt>"Recipes"</dt>
            <dd><code>{certificate.recipes.clone()}</code></dd>
        </dl>
        <table>
            <caption>"SHA-256"</caption>
            <thead>
                <tr>
                    <th scope="col">"File"</th>
                    <th scope="col">"Original"</th>
                    <th scope="col">"Port"</th>
                </tr>
            </thead>
            <tbody>{certificate.files.iter().take(FILES).map(file).collect_view()}</tbody>
        </table>
        {cut}
    })
}

/// Notes that a list is longer than shown.
fn cut(shown: usize, all: usize, things: &str) -> Option<impl IntoView + use<>> {
    let text = format!("The first {shown} of {all} {things}; the report has all.");
    (all > shown).then(|| view! { <p class="fine">{text}</p> })
}
