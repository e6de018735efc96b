//! The JSON report of a port: what `--format json` prints and the page lets people download. Its schema is
//! `schema/ported.schema.json`.

use crate::{Certificate, Diagnostic, Edit, Ported, Style};
use serde::Serialize;
use std::collections::BTreeMap;

/// A [`Ported`] without the texts: whoever has the files makes them from the edits.
#[derive(Serialize)]
struct Report<'a> {
    target: &'a str,
    sdk: &'a str,
    style: Style,
    options: &'a BTreeMap<String, String>,
    files: Vec<FileReport<'a>>,
    certificate: &'a Certificate,
}

#[derive(Serialize)]
struct FileReport<'a> {
    path: &'a str,
    changed: bool,
    edits: &'a [Edit],
    diagnostics: &'a [Diagnostic],
}

/// The report as indented JSON with a line end behind it.
pub fn report_json(ported: &Ported) -> String {
    let Ported { target, sdk, style, options, files, certificate } = ported;
    let files = files
        .iter()
        .map(|file| FileReport {
            path: &file.path,
            changed: file.changed,
            edits: &file.edits,
            diagnostics: &file.diagnostics,
        })
        .collect();
    let report = Report { target, sdk, style: *style, options, files, certificate };
    // Strings, numbers and maps with string keys: nothing here can fail to be JSON.
    serde_json::to_string_pretty(&report).unwrap_or_default() + "\n"
}
