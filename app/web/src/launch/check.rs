//! What a look at the user's own script found, as HTML.

use super::escape;
use launch::{Linted, Target, lint};

/// The script with what was found: each finding with its line, and the mended lines as a diff.
pub fn html(script: &str, target: Target) -> String {
    if script.trim().is_empty() {
        return "<p class=\"help\">Paste a script, and what is wrong with it is listed here, line by line.</p>"
            .to_string();
    }
    let linted = lint(script, target);
    if linted.findings.is_empty() {
        return "<p>None of the known faults is in this script. That is no proof that it runs: only a run is.</p>"
            .to_string();
    }
    let item = |finding: &launch::Finding| {
        format!(
            "<li><button class=\"link place\" type=\"button\" data-do=\"line\" data-to=\"{0}\">line {0}</button> \
             <code>{1}</code> {2}</li>",
            finding.line,
            finding.rule,
            escape(&finding.message)
        )
    };
    let count = linted.findings.len();
    let noun = if count == 1 { "fault" } else { "faults" };
    format!(
        "<h3>{count} {noun}</h3><ul class=\"findings\">{}</ul>{}",
        linted.findings.iter().map(item).collect::<String>(),
        mended(script, &linted)
    )
}

fn mended(script: &str, linted: &Linted) -> String {
    let pairs = script.lines().zip(linted.fixed.lines()).enumerate().filter(|(_, (old, new))| old != new);
    let rows: String = pairs
        .map(|(at, (old, new))| {
            format!(
                "<tr class=\"removed\"><th scope=\"row\">{0}</th><td><span class=\"visually-hidden\">removed: </span>− {1}</td></tr>\
                 <tr class=\"added\"><th scope=\"row\">{0}</th><td><span class=\"visually-hidden\">added: </span>+ {2}</td></tr>",
                at + 1,
                escape(old),
                escape(new)
            )
        })
        .collect();
    if rows.is_empty() {
        return "<p class=\"help\">None of these has one right answer, so nothing is mended by itself.</p>".to_string();
    }
    format!(
        "<div class=\"mended\" role=\"region\" tabindex=\"0\" aria-label=\"Mended lines\"><table>{rows}</table></div>\
         <p><button class=\"button small\" type=\"button\" data-do=\"mend\">Mend these lines</button></p>"
    )
}

#[cfg(test)]
mod tests {
    use super::html;
    use launch::Target;

    #[test]
    fn findings_and_mended_lines() {
        let check = |script: &str, expected: &str| {
            let html = html(script, Target::Rdu);
            assert!(html.contains(expected), "{expected} in {html}");
        };
        check("", "Paste a script");
        check("echo fine\n", "None of the known faults");
        check("export ONM_NUM_THREADS=4\n", "1 fault");
        check("export ONM_NUM_THREADS=4 # <b>\n", "+ export OMP_NUM_THREADS=4 # &lt;b&gt;");
    }
}
