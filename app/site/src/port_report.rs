//! One port as one page, in a file of its own: what changed and why, what is left to do, the numbers and the checks.
//!
//! The page loads nothing and has no script. Its bytes depend on the port alone.

use crate::figure::Difference;
use crate::{policy, theme};
use codemod::{
    Applicability, Certificate, Diagnostic, Hunk, KindTotal, Ledger, Places, Ported, PortedFile, RecipeInfo, RecipeSet,
    Severity, Style, Totals,
};
use guide::html::escape;
use python::notebook::{CellLines, is_notebook};
use std::collections::BTreeSet;

/// What a report is about.
pub struct PortReport<'a> {
    /// The port.
    pub ported: &'a Ported,
    /// The text of each file before it; of a notebook its program.
    pub originals: Vec<&'a str>,
    /// The recipes of the port.
    pub recipes: &'a RecipeSet,
    /// Its numbers.
    pub totals: &'a Totals,
    /// What it does to the samples of a step.
    pub ledgers: &'a [Ledger],
}

/// The page.
#[must_use]
pub fn port_report(report: &PortReport<'_>) -> String {
    let target = target_name(report);
    let style = theme::report_style();
    let reasons = &mut Reasons { report, given: BTreeSet::new() };
    let parts = [
        summary(report),
        totals(report.totals),
        left(report),
        ledgers(report),
        changes(report, reasons),
        checks(report),
    ];
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src {policy}; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<title>Port to {target}</title>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<style>{style}</style>\n</head>\n<body>\n\
         <main class=\"wrap report\">\n<h1>Port to {target}</h1>\n{parts}</main>\n</body>\n</html>\n",
        policy = policy::hash(&style),
        parts = parts.concat(),
    )
}

fn target_name(report: &PortReport<'_>) -> String {
    let targets = report.recipes.targets();
    let known = targets.iter().find(|target| target.id == report.ported.target);
    escape(known.map_or(&report.ported.target, |target| &target.name))
}

/// `1 place`, `2 places`.
fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// A path, which may be broken between folders.
fn path(path: &str) -> String {
    escape(path).replace('/', "/<wbr>")
}

/// The numbers in a sentence, the choices, and links to the changed files.
fn summary(report: &PortReport<'_>) -> String {
    let Ported { sdk, style, options, files, certificate, .. } = report.ported;
    let changed = || files.iter().enumerate().filter(|(_, file)| file.changed);
    let Places { done, to_do, not_possible } = report.totals.all;
    let mut sentence =
        format!("{} in {} of {}", count(done, "changed place"), changed().count(), count(files.len(), "file"));
    if to_do > 0 {
        sentence += &format!("; {} left to do", count(to_do, "place"));
    }
    if not_possible > 0 {
        sentence += &format!("; {} not possible", count(not_possible, "place"));
    }
    let mut choices = vec![format!("SDK {}", escape(sdk))];
    choices.push(match style {
        Style::Branch => "the code for other devices is kept, in branches".to_owned(),
        Style::Agnostic => "one program for all devices".to_owned(),
        _ => "the code for other devices is replaced".to_owned(),
    });
    choices.extend(options.iter().map(|(name, value)| format!("<code>{}={}</code>", escape(name), escape(value))));
    let mut html = format!("<p class=\"lead\">{sentence}.</p>\n<p>For {}.", choices.join(", "));
    if certificate.residue.is_empty() && not_possible == 0 {
        html += match style {
            Style::Branch | Style::Agnostic => " No CUDA code was found that the target would run.",
            Style::Auto | Style::InPlace => " No CUDA code was found in the result.",
        };
    }
    html += "</p>\n";
    if changed().count() > 1 {
        html += "<nav aria-label=\"Changed files\"><ul>\n";
        for (number, file) in changed() {
            let left = file.diagnostics.iter().filter(|said| said.severity <= Severity::Warning).count();
            let left = if left == 0 { String::new() } else { format!("<span>{left} to do</span>") };
            html += &format!("<li><a href=\"#file-{number}\">{}</a>{left}</li>\n", path(&file.path));
        }
        html += "</ul></nav>\n";
    }
    html
}

fn totals(Totals { all, kinds, .. }: &Totals) -> String {
    if kinds.is_empty() {
        return String::new();
    }
    // Most ports have no such places.
    let columns = if all.not_possible == 0 { 2 } else { 3 };
    let heads = ["Done", "To do", "Not possible"].iter().take(columns);
    let heads: String = heads.map(|head| format!("<th scope=\"col\">{head}</th>")).collect();
    let cells = |Places { done, to_do, not_possible }: Places| {
        let cell = |number: usize| match number {
            0 => "<td>–</td>".to_owned(),
            _ => format!("<td>{number}</td>"),
        };
        [done, to_do, not_possible].into_iter().take(columns).map(cell).collect::<String>()
    };
    let row = |KindTotal { title, places, .. }: &KindTotal| {
        format!("<tr><th scope=\"row\">{}</th>{}</tr>\n", escape(title), cells(*places))
    };
    format!(
        "<h2>Totals</h2>\n<table class=\"totals\">\n<thead><tr><th scope=\"col\">Places</th>{heads}</tr></thead>\n<tbody>\n{}</tbody>\n\
         <tfoot><tr><th scope=\"row\">All</th>{}</tr></tfoot>\n</table>\n\
         <p class=\"source\">A place that several recipes have changed is in each of their rows, and once in the last.</p>\n",
        kinds.iter().map(row).collect::<String>(),
        cells(*all),
    )
}

/// Messages by kind: what is left to do, and what is good to know.
fn left(report: &PortReport<'_>) -> String {
    let is_work = |said: &Diagnostic| said.severity <= Severity::Warning;
    let work = messages(report, &is_work);
    let notes = messages(report, &|said| !is_work(said));
    let mut html = "<h2 id=\"left\">Left to do</h2>\n".to_owned();
    html += if work.is_empty() { "<p>Nothing.</p>\n" } else { &work };
    if !notes.is_empty() {
        html += &format!("<h2>Notes and hints</h2>\n{notes}");
    }
    html
}

/// The messages of a severity: each recipe with its places, each sentence once.
fn messages(report: &PortReport<'_>, wanted: &dyn Fn(&Diagnostic) -> bool) -> String {
    let all = || {
        let files = report.ported.files.iter().zip(&report.originals);
        files.flat_map(|(file, text)| file.diagnostics.iter().map(move |said| (file, *text, said)))
    };
    let mut kinds: Vec<(Severity, &str)> = Vec::new();
    for (.., said) in all().filter(|(.., said)| wanted(said)) {
        if !kinds.iter().any(|(_, recipe)| *recipe == said.recipe) {
            kinds.push((said.severity, &said.recipe));
        }
    }
    kinds.sort_by_key(|(severity, _)| *severity);
    let mut html = String::new();
    for (severity, recipe) in kinds {
        let of_kind: Vec<_> = all().filter(|(.., said)| said.recipe == recipe && wanted(said)).collect();
        let title = report.recipes.title(&report.ported.target, recipe);
        let stops = of_kind.iter().any(|(.., said)| said.stops_step);
        let badge = match severity {
            Severity::Error => "<span class=\"badge manual\">Not possible</span>",
            _ if stops => "<span class=\"badge manual\">Stops the training step</span>",
            _ => "",
        };
        html += &format!(
            "<section class=\"left\">\n<h3>{}{badge}</h3>\n<p class=\"id\">{}</p>\n",
            escape(&title),
            escape(recipe)
        );
        let mut sentences: Vec<&str> = of_kind.iter().map(|(.., said)| said.message.as_str()).collect();
        let mut known = BTreeSet::new();
        sentences.retain(|sentence| known.insert(*sentence));
        for sentence in sentences {
            html += &format!("<p>{}</p>\n<ul class=\"places\">\n", coded(sentence));
            for (file, text, said) in of_kind.iter().filter(|(.., said)| said.message == sentence) {
                let line = text.lines().nth(said.original.line - 1).unwrap_or_default().trim();
                let code =
                    if line.is_empty() { String::new() } else { format!("<code>{}</code>", escape(&short(line))) };
                let place = format!("{}:{}", file.path, said.original.shown());
                html += &format!("<li><code>{}</code>{code}</li>\n", escape(&place));
            }
            html += "</ul>\n";
        }
        if let Some(info) = info(report, recipe) {
            html += &sources(info);
        }
        html += "</section>\n";
    }
    html
}

/// The maximum number of characters shown of a line of code in a list.
const WIDEST: usize = 100;

fn short(line: &str) -> String {
    let short: String = line.chars().take(WIDEST).collect();
    if short.len() < line.len() { short + "…" } else { short }
}

/// A sentence with the code in its backticks.
fn coded(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(number, part)| match number % 2 {
        0 => escape(part),
        _ => format!("<code>{}</code>", escape(part)),
    });
    parts.collect()
}

fn ledgers(report: &PortReport<'_>) -> String {
    let mut html = String::new();
    for ledger in report.ledgers.iter().filter(|ledger| !ledger.flags.is_empty()) {
        let of = ledger.programs.join(", ");
        let of = if of.is_empty() { String::new() } else { format!(": {}", escape(&of)) };
        html += &format!(
            "<h2>Before and after{of}</h2>\n<table class=\"totals\">\n<thead><tr><th scope=\"col\">A step</th>\
             <th scope=\"col\">Original</th><th scope=\"col\">Port</th></tr></thead>\n<tbody>\n"
        );
        for entry in &ledger.entries {
            html += &format!(
                "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td></tr>\n",
                escape(&entry.name),
                escape(&entry.before.text),
                escape(&entry.after.text)
            );
        }
        html += "</tbody>\n</table>\n<ul>\n";
        html.extend(ledger.flags.iter().map(|flag| format!("<li>{}.</li>\n", coded(flag))));
        html += "</ul>\n";
    }
    html
}

/// The changed files: their changed places, each with its reasons.
fn changes(report: &PortReport<'_>, reasons: &mut Reasons<'_>) -> String {
    let mut html = "<h2>Changes</h2>\n".to_owned();
    let files = report.ported.files.iter().zip(&report.originals).enumerate();
    let mut changed = files.filter(|(_, (file, _))| file.changed).peekable();
    if changed.peek().is_none() {
        return html + "<p>None.</p>\n";
    }
    html += "<p class=\"source\">Line numbers are those of the original.</p>\n";
    for (number, (file, text)) in changed {
        html += &format!("<h3 class=\"path\" id=\"file-{number}\">{}</h3>\n", path(&file.path));
        let language = if python::is_python(&file.path) { "python" } else { "text" };
        let difference = Difference::of(language, text, &file.text, &file.edits);
        let cells = is_notebook(&file.path).then(|| CellLines::of(text));
        for group in difference.groups() {
            let place = place(group, cells.as_ref());
            html += &format!(
                "<figure>\n<figcaption>{place}</figcaption>\n{}{}</figure>\n",
                difference.group(group, &format!("{}, {place}", file.path)),
                reasons.of(file, group)
            );
        }
    }
    html
}

/// Where a group of changed places is in the original.
fn place(group: &[Hunk], cells: Option<&CellLines>) -> String {
    let (first, last) = match group {
        [first, .., last] => (first, last),
        [only] => (only, only),
        [] => return String::new(),
    };
    // Lines that are only added have the number of the one before which they are.
    let (start, end) = (first.old_start as usize + 1, (last.old_end as usize).max(first.old_start as usize + 1));
    let lines = |start: usize, end: usize| match end - start {
        0 => format!("line {start}"),
        _ => format!("lines {start} to {end}"),
    };
    let in_cell = |line: usize| cells.and_then(|cells| cells.place(line));
    match (in_cell(start), in_cell(end)) {
        (Some(from), Some(to)) if from.cell == to.cell => format!("Cell {}, {}", from.cell, lines(from.line, to.line)),
        (Some(from), Some(to)) => {
            format!("Cell {}, line {}, to cell {}, line {}", from.cell, from.line, to.cell, to.line)
        }
        _ => lines(start, end).replacen('l', "L", 1),
    }
}

/// The reasons of changes; each is written out once.
struct Reasons<'a> {
    report: &'a PortReport<'a>,
    given: BTreeSet<String>,
}

impl Reasons<'_> {
    fn of(&mut self, file: &PortedFile, group: &[Hunk]) -> String {
        let mut html = String::from("<ul class=\"reasons\">\n");
        let mut done: Vec<&str> = Vec::new();
        for edit in file.edits.iter().filter(|edit| group.iter().any(|hunk| hunk.edits.contains(&edit.id))) {
            if done.contains(&edit.recipe.as_str()) {
                continue;
            }
            done.push(&edit.recipe);
            let id = escape(&edit.recipe);
            let title = escape(&self.report.recipes.title(&self.report.ported.target, &edit.recipe));
            let badge = match edit.applicability {
                Applicability::Unsafe => " <span class=\"badge unsafe\">May alter results</span>",
                _ => "",
            };
            if self.given.insert(edit.recipe.clone()) {
                html += &format!(
                    "<li id=\"{id}\"><p><b>{title}</b>{badge} <span class=\"id\">{id}</span></p>\n{}</li>\n",
                    info(self.report, &edit.recipe)
                        .map(|info| format!("<p>{}</p>\n{}", escape(&info.reason), sources(info)))
                        .unwrap_or_default()
                );
            } else {
                html += &format!("<li><p><a href=\"#{id}\">{title}</a>{badge}</p></li>\n");
            }
        }
        let comments = file.edits.iter().filter(|edit| group.iter().any(|hunk| hunk.edits.contains(&edit.id)));
        for comment in comments.flat_map(|edit| &edit.comments_removed) {
            html += &format!(
                "<li><p>The comment <code>{}</code> is removed with the code that it describes.</p></li>\n",
                escape(&comment.text)
            );
        }
        html + "</ul>\n"
    }
}

fn info<'a>(report: &'a PortReport<'_>, recipe: &str) -> Option<&'a RecipeInfo> {
    report.recipes.recipes_for(&report.ported.target).iter().find(|info| info.id == recipe)
}

/// A recipe's source, with its links, and its versions.
fn sources(RecipeInfo { source, citations, holds_for, .. }: &RecipeInfo) -> String {
    let mut html = String::from("<p class=\"source\">Source: ");
    let mut rest = source.as_str();
    for citation in citations {
        let Some((before, after)) = rest.split_once(&citation.text) else { continue };
        html += &format!("{}<a href=\"{}\">{}</a>", escape(before), escape(&citation.url), escape(&citation.text));
        rest = after;
    }
    html + &format!("{} Holds for: {}</p>\n", escape(rest), escape(holds_for))
}

/// The certificate.
fn checks(report: &PortReport<'_>) -> String {
    let Certificate {
        engine,
        recipes,
        files,
        parses,
        idempotent,
        untouched_bytes_equal,
        comments_kept,
        comments_removed,
        rounds,
        residue,
    } = &report.ported.certificate;
    let verdicts = [
        (parses, "Every changed file parses"),
        (idempotent, "A second port changes nothing"),
        (untouched_bytes_equal, "Bytes outside the edits are unchanged"),
        (comments_kept, "Comments are kept, except those of removed code"),
    ];
    let mut html = "<h2>Certificate</h2>\n<dl>\n".to_owned();
    for (holds, what) in verdicts {
        html += &format!("<dt>{what}</dt><dd>{}</dd>\n", if *holds { "yes" } else { "<span class=\"no\">no</span>" });
    }
    let list = |lines: &[String]| match lines {
        [] => "none".to_owned(),
        lines => {
            let items = lines.iter().map(|line| format!("<li><code>{}</code></li>", escape(line)));
            format!("<ul>{}</ul>", items.collect::<String>())
        }
    };
    html += &format!(
        "<dt>Comments removed with their code</dt><dd>{}</dd>\n<dt>CUDA code that is left</dt><dd>{}</dd>\n\
         <dt>Rounds</dt><dd>{rounds}</dd>\n<dt>Engine</dt><dd>Portolan {}</dd>\n\
         <dt>Recipes</dt><dd class=\"hash\">{recipes}</dd>\n",
        list(comments_removed),
        list(residue),
        escape(engine)
    );
    // Of unchanged files, the reader has no use.
    let changed = report.ported.files.iter().filter(|file| file.changed);
    for (path, hashes) in changed.filter_map(|file| Some((&file.path, files.get(&file.path)?))) {
        html += &format!(
            "<dt>SHA-256 of {}</dt><dd class=\"hash\">{}<br>ported: {}</dd>\n",
            escape(path),
            hashes.input,
            hashes.output
        );
    }
    html + "</dl>\n"
}
