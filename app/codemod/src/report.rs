//! The JSON report of a port: printed by `--format json` and downloaded from the page. Its schema is
//! `schema/ported.schema.json`.

use crate::{
    Certificate, Diagnostic, Edit, Figure, Ledger, Options, Ported, RecipeInfo, RecipeSet, Severity, Span, Style,
    Totals,
};
use guide::Citation;
use python::notebook::CellPlace;
use serde::{Deserialize, Serialize};
use sorting::SortedMap;
use training::Quantity;

/// A [`Ported`] without the texts, which can be reconstructed from the files and the edits.
#[derive(Serialize)]
struct Report<'a> {
    target: &'a str,
    sdk: &'a str,
    style: Style,
    options: &'a SortedMap<String, String>,
    files: Vec<FileReport<'a>>,
    recipes: SortedMap<&'a str, RecipeReport<'a>>,
    ledgers: Vec<LedgerReport<'a>>,
    twin: Option<&'a TwinCommands>,
    totals: &'a Totals,
    certificate: &'a Certificate,
}

/// The commands that run and compare the original and the port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TwinCommands {
    /// The command `portolan`, in the project's folder; none if its options can't reproduce this port.
    pub portolan: Option<String>,
    /// The twin run kit's, if it is next to the folders `original` and `port` and this report.
    pub kit: String,
}

#[derive(Serialize)]
struct FileReport<'a> {
    path: &'a str,
    changed: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    new: bool,
    edits: &'a [Edit],
    diagnostics: Vec<DiagnosticReport<'a>>,
}

#[derive(Serialize)]
struct SpanReport {
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    cell: Option<CellPlace>,
}

impl From<Span> for SpanReport {
    fn from(Span { line, column, end_line, end_column, cell }: Span) -> Self {
        Self { line, column, end_line, end_column, cell }
    }
}

#[derive(Serialize)]
struct DiagnosticReport<'a> {
    #[serde(flatten)]
    original: SpanReport,
    ported: SpanReport,
    severity: Severity,
    recipe: &'a str,
    message: &'a str,
    stops_step: bool,
}

impl<'a> From<&'a Diagnostic> for DiagnosticReport<'a> {
    fn from(diagnostic: &'a Diagnostic) -> Self {
        let Diagnostic { original, ported, severity, recipe, message, stops_step } = diagnostic;
        let (original, ported) = ((*original).into(), (*ported).into());
        Self { original, ported, severity: *severity, recipe, message, stops_step: *stops_step }
    }
}

/// Details for the edits and messages that name a recipe.
#[derive(Serialize)]
struct RecipeReport<'a> {
    title: &'a str,
    sdks: &'a [String],
    holds_for: &'a str,
    source: &'a str,
    citations: &'a [Citation],
}

#[derive(Serialize)]
struct LedgerReport<'a> {
    programs: &'a [String],
    entries: Vec<EntryReport<'a>>,
    flags: &'a [String],
}

#[derive(Serialize)]
struct EntryReport<'a> {
    quantity: Quantity,
    name: &'a str,
    before: FigureReport<'a>,
    after: FigureReport<'a>,
}

#[derive(Serialize)]
struct FigureReport<'a> {
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
}

impl<'a> From<&'a Figure> for FigureReport<'a> {
    fn from(Figure { text, place }: &'a Figure) -> Self {
        let place = place.as_ref().map(|(path, line)| (path.as_str(), *line));
        Self { text, path: place.map(|(path, _)| path), line: place.map(|(_, line)| line) }
    }
}

impl<'a> From<&'a Ledger> for LedgerReport<'a> {
    fn from(Ledger { programs, entries, flags }: &'a Ledger) -> Self {
        let entries = entries.iter().map(|entry| EntryReport {
            quantity: entry.quantity,
            name: &entry.name,
            before: (&entry.before).into(),
            after: (&entry.after).into(),
        });
        Self { programs, entries: entries.collect(), flags }
    }
}

/// The report as indented JSON with a final newline: of a port, its recipes, its ledgers, its numbers, and the commands of
/// its twin run, if one of its files is a program.
#[must_use]
pub fn report_json(
    ported: &Ported,
    recipes: &RecipeSet,
    ledgers: &[Ledger],
    twin: Option<&TwinCommands>,
    totals: &Totals,
) -> String {
    let Ported { target, sdk, style, options, files, certificate } = ported;
    let files = files
        .iter()
        .map(|file| FileReport {
            path: &file.path,
            changed: file.changed,
            new: file.is_new,
            edits: &file.edits,
            diagnostics: file.diagnostics.iter().map(Into::into).collect(),
        })
        .collect();
    let named = |id: &str| {
        let edits = ported.files.iter().flat_map(|file| &file.edits).map(|edit| &edit.recipe);
        edits.chain(ported.files.iter().flat_map(|file| &file.diagnostics).map(|d| &d.recipe)).any(|named| named == id)
    };
    let infos = recipes.recipes_for(target);
    let recipes = infos.iter().filter(|recipe| named(&recipe.id)).map(|recipe| {
        let RecipeInfo { id, title, sdks, holds_for, source, citations, .. } = recipe;
        (id.as_str(), RecipeReport { title, sdks, holds_for, source, citations })
    });
    let recipes = recipes.collect();
    let ledgers = ledgers.iter().map(LedgerReport::from).collect();
    let report = Report { target, sdk, style: *style, options, files, recipes, ledgers, twin, totals, certificate };
    // Strings, numbers and maps with string keys: nothing here can fail to be JSON.
    serde_json::to_string_pretty(&report).unwrap_or_default() + "\n"
}

impl Options {
    /// The options with which `portolan` reproduces the port, except for the target. None if single edits were
    /// disabled: the command has no option for that.
    #[must_use]
    pub fn words(&self) -> Option<Vec<String>> {
        let Options { target: _, style, sdk, allow_unsafe, options, annotate, rejected_recipes, rejected_edits } = self;
        let style = style.name();
        let mut words = Vec::new();
        let mut say = |name: &str, value: &str| words.extend([name.to_owned(), value.to_owned()]);
        style.into_iter().for_each(|style| say("--style", style));
        sdk.iter().for_each(|sdk| say("--sdk", sdk));
        options.iter().for_each(|(name, value)| say("--option", &format!("{name}={value}")));
        rejected_recipes.iter().for_each(|recipe| say("--reject", recipe));
        words.extend(allow_unsafe.then(|| "--unsafe".to_owned()));
        words.extend(annotate.then(|| "--annotate".to_owned()));
        rejected_edits.is_empty().then_some(words)
    }
}
