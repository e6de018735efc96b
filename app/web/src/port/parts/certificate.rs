//! What was checked of this port. The worker writes it.

use super::{escape, target_name};
use crate::port::state::count;
use codemod::{Ported, Style};

/// The ledger, and the certificate below it. The latter says what was found, in the words of the checks. `run` is what
/// stands behind `python` to run the port.
pub fn panel(ported: &Ported, ledger: &str, run: &str) -> String {
    let c = &ported.certificate;
    let checks = [
        (c.parses, "Every changed file parses.", "A changed file does not parse."),
        (c.idempotent, "Porting the result again changes nothing.", "Porting the result again would change it."),
        (
            c.untouched_bytes_equal,
            "Outside the edits every byte is the original's.",
            "Bytes outside the edits differ from the original.",
        ),
        (
            c.comments_kept,
            "Every comment of the original is in the result.",
            "A comment of the original is not in the result.",
        ),
        (
            c.residue.is_empty(),
            "No name of the source vendor was found in the result.",
            "Names of the source vendor are left:",
        ),
    ];
    let check = |(good, yes, no): (bool, &str, &str)| match good {
        true => format!("<li class=\"yes\"><span aria-hidden=\"true\">✓</span>{yes}</li>"),
        false => format!("<li class=\"no\"><span aria-hidden=\"true\">✗</span>{no}</li>"),
    };
    let residue: String = c.residue.iter().map(|line| format!("<li><code>{}</code></li>", escape(line))).collect();
    let file = |(path, hashes): (&String, &codemod::FileHashes)| {
        let (path, input, output) = (escape(path), &hashes.input, &hashes.output);
        format!("<tr><th scope=\"row\">{path}</th><td><code>{input}</code></td><td><code>{output}</code></td></tr>")
    };
    format!(
        "<div class=\"scroll certificate\" tabindex=\"0\" role=\"region\" aria-label=\"Ledger and certificate\">{ledger}\
         <h3>Certificate</h3>\
         <p>Target {}, SDK {}, style {}, {}.</p><ul class=\"checks\">{}</ul><ul class=\"residue\">{residue}</ul>\
         <p class=\"fine\">These checks are about the text. Whether the port trains as well as the original, only a run \
         can tell. \
         The <a href=\"../portolan-rehearsal.zip\" download>rehearsal kit</a> tells on any machine with Python whether the port \
         keeps the vendor's rules; unpacked beside it:</p>\
         <pre><code>python3 rehearsal/rehearse.py --target {} -- {}</code></pre><dl><dt>Engine</dt><dd><code>{}</code></dd><dt>Recipes</dt><dd><code>{}</code></dd></dl>\
         <table><caption>SHA-256</caption><thead><tr><th scope=\"col\">File</th><th scope=\"col\">Original</th>\
         <th scope=\"col\">Port</th></tr></thead><tbody>{}</tbody></table></div>",
        escape(&target_name(&ported.target)),
        escape(&ported.sdk),
        if ported.style == Style::Branch { "branch" } else { "in place" },
        count(c.rounds, "round"),
        checks.map(check).concat(),
        escape(&ported.target),
        escape(run),
        escape(&c.engine),
        escape(&c.recipes),
        c.files.iter().map(file).collect::<String>(),
    )
}
