//! Modules that other files import, converted to text for a page or a worker.

use crate::SiteError;

/// The text between two strings, at the first occurrence.
pub(super) fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let start = text.find(open)? + open.len();
    text[start..].find(close).map(|end| &text[start..start + end])
}

/// A wasm-bindgen program without its exports, so that the text works as a module and as a classic script: its start
/// function is assigned to `name` in the global scope, where others find it.
pub(super) fn carried_program(text: &str, name: &str) -> Result<String, SiteError> {
    let fault = |why: &str| SiteError::OneFile(format!("the program that should become {name} {why}"));
    let (body, exports) = text.rsplit_once("\nexport {").ok_or_else(|| fault("has no start"))?;
    let (exports, rest) = exports.split_once("};").ok_or_else(|| fault("has no start"))?;
    let start = exports.split(',').find_map(|name| name.trim().strip_suffix(" as default"));
    let start = start.ok_or_else(|| fault("has no start"))?;
    // Where the module would be, if it were a separate file; it receives its location as an argument.
    let body = body.replace("import.meta", "({ url: location.href })");
    let mut text = String::new();
    for line in body.lines() {
        if line.starts_with("import ") {
            return Err(fault("loads another file"));
        }
        text += line.strip_prefix("export ").unwrap_or(line);
        text.push('\n');
    }
    in_a_tag(format!("{text}{rest}\nglobalThis.{name} = {start};\n"))
}

/// The search with its engine.
pub(super) fn search_module(search: &str, engine: &str) -> Result<String, SiteError> {
    let fault = |what: &str| SiteError::OneFile(format!("the search has no {what}"));
    let (import, search) = search
        .split_once("import MiniSearch from ")
        .and_then(|(before, rest)| Some((before, rest.split_once('\n')?.1)))
        .ok_or_else(|| fault("import of its engine"))?;
    let (engine, _) = engine.rsplit_once("export { MiniSearch as default };").ok_or_else(|| fault("engine"))?;
    let engine = format!("const MiniSearch = (() => {{\n{engine}\nreturn MiniSearch;\n}})();\n");
    in_a_tag(format!("{engine}{import}{search}\nwindow.portolanOneFile.search = open;\n"))
}

/// A script can be embedded in a page unless it ends its own tag.
fn in_a_tag(text: String) -> Result<String, SiteError> {
    match text.to_ascii_lowercase().contains("</script") {
        true => Err(SiteError::OneFile("a program holds the end of a script tag".to_string())),
        false => Ok(text),
    }
}
