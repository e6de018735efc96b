//! Where the sources of the cells are in a notebook's JSON, and how a new one is written there.

use super::NotebookFault;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::ops::Range;

/// The source of a cell with code.
pub(super) struct Source {
    /// The cell's place among all cells, from 1.
    pub(super) number: usize,
    pub(super) range: Range<usize>,
    pub(super) text: String,
}

#[derive(Deserialize)]
struct File<'j> {
    #[serde(borrow)]
    cells: Option<Vec<Cell<'j>>>,
    worksheets: Option<&'j RawValue>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Cell<'j> {
    cell_type: String,
    #[serde(borrow)]
    source: &'j RawValue,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Metadata {
    kernelspec: Language,
    language_info: Language,
}

/// The parts of the metadata that name a language, each in its own way.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Language {
    language: Option<String>,
    name: Option<String>,
}

/// A source is a text or a list of its lines.
#[derive(Deserialize)]
#[serde(untagged)]
enum Text {
    Whole(String),
    Lines(Vec<String>),
}

/// The sources of the cells with code, in their order.
pub(super) fn sources(json: &str) -> Result<Vec<Source>, NotebookFault> {
    let file: File<'_> = serde_json::from_str(json).map_err(|error| NotebookFault::Json(error.to_string()))?;
    let Some(cells) = file.cells else {
        return Err(match file.worksheets {
            Some(_) => NotebookFault::Older,
            None => NotebookFault::Json("it has no cells".to_owned()),
        });
    };
    // The name of a kernel is free; that of the language is not.
    let language = file.metadata.kernelspec.language.or(file.metadata.language_info.name);
    if let Some(language) = language.filter(|language| !language.to_lowercase().contains("python")) {
        return Err(NotebookFault::Language(language));
    }
    let mut found = Vec::new();
    for (place, Cell { cell_type, source }) in cells.into_iter().enumerate() {
        if cell_type == "code" {
            let text: Text =
                serde_json::from_str(source.get()).map_err(|error| NotebookFault::Json(error.to_string()))?;
            let text = match text {
                Text::Whole(text) => text,
                Text::Lines(lines) => lines.concat(),
            };
            let start = source.get().as_ptr() as usize - json.as_ptr() as usize;
            found.push(Source { number: place + 1, range: start..start + source.get().len(), text });
        }
    }
    Ok(found)
}

/// A new source in the form of the one in this range: a text, or a list of lines, of which those that are in the old one
/// keep their bytes.
pub(super) fn rewritten(json: &str, range: Range<usize>, source: &str) -> String {
    let old = &json[range];
    let quoted = |text: &str| {
        let quoted = serde_json::Value::from(text).to_string();
        // As Python's `json` writes it by default.
        let escapes = json.is_ascii() && json.contains("\\u");
        if escapes { quoted.chars().map(escaped).collect() } else { quoted }
    };
    let Ok(lines) = serde_json::from_str::<Vec<&RawValue>>(old) else { return quoted(source) };
    let known: Vec<(String, &str)> =
        lines.iter().filter_map(|raw| Some((serde_json::from_str(raw.get()).ok()?, raw.get()))).collect();
    let written = |line: &str| {
        known.iter().find(|(text, _)| text == line).map_or_else(|| quoted(line), |(_, raw)| (*raw).to_owned())
    };
    let new: Vec<String> = source.split_inclusive('\n').map(written).collect();
    if new.is_empty() {
        return "[]".to_owned();
    }
    let place = |raw: &RawValue| raw.get().as_ptr() as usize - old.as_ptr() as usize;
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else {
        // As `nbformat` writes it.
        return format!("[\n    {}\n   ]", new.join(",\n    "));
    };
    let (open, close) = (&old[..place(first)], &old[place(last) + last.get().len()..]);
    let between = match lines.get(1) {
        Some(second) => old[place(first) + first.get().len()..place(second)].to_owned(),
        None => format!(",{}", &open[1..]),
    };
    format!("{open}{}{close}", new.join(&between))
}

/// A character of JSON that is not ASCII, as an escape.
fn escaped(c: char) -> String {
    if c.is_ascii() {
        return c.into();
    }
    c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
}
