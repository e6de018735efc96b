//! What was checked of this port.

use crate::app::session;
use codemod::Style;
use leptos::prelude::*;

/// The certificate. It says what was found, in the words of the checks.
#[component]
pub(crate) fn CertificatePanel() -> impl IntoView {
    let session = session();
    let outcome = session.keyed(|state| state.ports, |state| state.outcome.clone());
    move || {
        outcome.get().map(|outcome| {
            let c = outcome.certificate.clone();
            let checks = [
                (c.parses, "Every changed file parses.", "A changed file does not parse."),
                (c.idempotent, "Porting the result again changes nothing.", "Porting the result again would change it."),
                (c.untouched_bytes_equal, "Outside the edits every byte is the original's.", "Bytes outside the edits differ from the original."),
                (c.comments_kept, "Every comment of the original is in the result.", "A comment of the original is not in the result."),
                (c.residue.is_empty(), "No name of the source vendor is left.", "Names of the source vendor are left:"),
            ];
            let checks = checks.into_iter().map(|(good, yes, no)| view! {
                <li class=if good { "yes" } else { "no" }><span aria-hidden="true">{if good { "✓" } else { "✗" }}</span>{if good { yes } else { no }}</li>
            });
            let residue = (!c.residue.is_empty()).then(|| view! {
                <ul class="residue">{c.residue.iter().map(|line| view! { <li><code>{line.clone()}</code></li> }).collect_view()}</ul>
            });
            let style = if outcome.style == Style::Branch { "branch" } else { "in place" };
            let files = c.files.iter().map(|(path, hashes)| view! {
                <tr><th scope="row">{path.clone()}</th><td><code>{hashes.input.clone()}</code></td><td><code>{hashes.output.clone()}</code></td></tr>
            });
            view! {
                <div class="scroll certificate" tabindex="0" role="region" aria-label="Certificate">
                    <p>{format!("Target {}, SDK {}, style {style}, {} rounds.", outcome.target.to_ascii_uppercase(), outcome.sdk, c.rounds)}</p>
                    <ul class="checks">{checks.collect_view()}</ul>
                    {residue}
                    <p class="fine">"These checks are about the text. Whether the port trains as well as the original, only a run can tell."</p>
                    <dl>
                        <dt>"Engine"</dt><dd><code>{c.engine.clone()}</code></dd>
                        <dt>"Recipes"</dt><dd><code>{c.recipes.clone()}</code></dd>
                    </dl>
                    <table>
                        <caption>"SHA-256"</caption>
                        <thead><tr><th scope="col">"File"</th><th scope="col">"Original"</th><th scope="col">"Port"</th></tr></thead>
                        <tbody>{files.collect_view()}</tbody>
                    </table>
                </div>
            }
        })
    }
}
