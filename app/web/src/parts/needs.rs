//! What is left for a person, and what is worth knowing.

use crate::app::session;
use crate::browser;
use crate::state::{Jump, Panel, Phase};
use codemod::{Diagnostic, Severity};
use leptos::prelude::*;

/// Headings by severity, gravest first.
const GROUPS: [(Severity, &str, &str); 4] = [
    (Severity::Error, "Could not be ported", "error"),
    (Severity::Warning, "Needs you before it runs right", "warning"),
    (Severity::Info, "Worth knowing", "info"),
    (Severity::Hint, "Could be better", "hint"),
];

/// The list, by severity; each entry jumps to its line.
#[component]
pub(crate) fn Needs() -> impl IntoView {
    let session = session();
    let found = session.keyed(
        |state| state.ports,
        |state| {
            let files = state.outcome.iter().flat_map(|outcome| outcome.files.iter().enumerate());
            let all = files
                .flat_map(|(index, file)| file.diagnostics.iter().map(move |d| (index, file.path.clone(), d.clone())));
            all.collect::<Vec<_>>()
        },
    );
    let residue = session.part(|state| state.outcome.as_ref().is_some_and(|o| !o.certificate.residue.is_empty()));
    move || {
        let found = found.get();
        if found.is_empty() {
            let rest =
                if residue.get() { " Names of the source vendor are left; the certificate lists them." } else { "" };
            return view! { <div class="state"><h3>"No messages"</h3><p>"The engine found nothing that it leaves to you."{rest}</p></div> }.into_any();
        }
        let groups = GROUPS.iter().filter_map(|(severity, title, class)| {
            let entries: Vec<_> = found.iter().filter(|(.., d)| d.severity == *severity).cloned().collect();
            let number = entries.len();
            (number > 0).then(|| view! {
                <section class=format!("needs {class}")>
                    <h3>{*title}" "<span class="count">{number}</span></h3>
                    <ul>{entries.into_iter().map(|(index, path, d)| view! { <Entry index path diagnostic=d /> }).collect_view()}</ul>
                </section>
            })
        });
        view! { <div class="scroll" tabindex="0" role="region" aria-label="Messages">{groups.collect_view()}</div> }
            .into_any()
    }
}

#[component]
fn Entry(index: usize, path: String, diagnostic: Diagnostic) -> impl IntoView {
    let session = session();
    let (line, column) = (diagnostic.line, diagnostic.column);
    let go = move |_| {
        session.select(index);
        session.state.update(|state| {
            if matches!(state.phase(), Phase::Failed { .. }) {
                state.source_hidden = false;
                state.jump_to(Jump::Source(line.saturating_sub(1), column.saturating_sub(1)));
            } else {
                state.panel = Panel::Changes;
                state.jump_to(Jump::New(line.saturating_sub(1) as u32));
            }
        });
    };
    view! {
        <li>
            <button class="link place" on:click=go>{format!("{path}:{line}")}</button>
            <p>{diagnostic.message}</p>
            <GuideLink recipe=diagnostic.recipe />
        </li>
    }
}

/// A link to the section that a recipe is; its title as text. Nothing for the engine's own messages.
#[component]
pub(crate) fn GuideLink(recipe: String) -> impl IntoView {
    let session = session();
    let known = session.state.with_untracked(|state| state.recipe(&recipe).map(|r| r.title.clone()));
    known.map(|title| view! { <a href=guide_address(&recipe) target="_blank" class="guide-link">{title}</a> })
}

/// The address of a recipe's section.
pub(crate) fn guide_address(recipe: &str) -> String {
    let (guide, section) = recipe.split_once('#').unwrap_or((recipe, ""));
    browser::beside(&format!("guides/{guide}/#{section}"))
}
