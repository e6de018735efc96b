//! Where the sources of the cells are in a notebook's JSON, and how a new one is written there.

use super::NotebookFault;
use hifijson::str::Lex as _;
use hifijson::token::Lex as _;
use hifijson::{Error, Expect, Read as _, SliceLexer};
use sorting::SortedMap;
use std::fmt::Write;
use std::ops::Range;

/// The deepest nesting that is read.
const DEEPEST: usize = 100;

/// The source of a cell with code.
pub(super) struct Source {
    /// The cell's place among all cells, from 1.
    pub(super) number: usize,
    pub(super) range: Range<usize>,
    pub(super) text: String,
}

/// The parts of a file that are read.
#[derive(Default)]
struct File {
    has_cells: bool,
    has_worksheets: bool,
    sources: Vec<Source>,
    /// `metadata.kernelspec.language`, `metadata.language_info.name`.
    languages: [Option<String>; 2],
}

/// A reader of JSON that knows its place.
struct Reader<'j> {
    lexer: SliceLexer<'j>,
    json: &'j str,
}

/// The sources of the cells with code, in their order.
pub(super) fn sources(json: &str) -> Result<Vec<Source>, NotebookFault> {
    let mut reader = Reader::new(json);
    let File { has_cells, has_worksheets, sources, languages } = reader.file().map_err(|error| {
        let line = json[..reader.place()].matches('\n').count() + 1;
        NotebookFault::Json(format!("{error} in line {line}"))
    })?;
    if has_worksheets {
        return Err(NotebookFault::Older);
    }
    if !has_cells {
        return Err(NotebookFault::Json("it has no cells".to_owned()));
    }
    // The name of a kernel is free; that of the language is not.
    let language = languages.into_iter().flatten().next();
    match language.filter(|language| !language.to_ascii_lowercase().contains("python")) {
        Some(language) => Err(NotebookFault::Language(language)),
        None => Ok(sources),
    }
}

impl<'j> Reader<'j> {
    fn new(json: &'j str) -> Self {
        Self { lexer: SliceLexer::new(json.as_bytes()), json }
    }

    /// The bytes that were read.
    fn place(&self) -> usize {
        self.json.len() - self.lexer.as_slice().len()
    }

    fn next(&mut self) -> Result<u8, Error> {
        Ok(self.lexer.ws_peek().ok_or(Expect::Value)?)
    }

    fn file(&mut self) -> Result<File, Error> {
        let (mut file, mut cells) = (File::default(), 0);
        self.object(&mut |key, reader| match key {
            "cells" => {
                file.has_cells = true;
                reader.array(&mut |reader| {
                    cells += 1;
                    let source = reader.cell()?;
                    file.sources.extend(source.map(|(range, text)| Source { number: cells, range, text }));
                    Ok(())
                })
            }
            "worksheets" => {
                file.has_worksheets = true;
                reader.skip(DEEPEST)
            }
            "metadata" => reader.object(&mut |key, reader| match key {
                "kernelspec" => reader.text_in_object("language", &mut file.languages[0]),
                "language_info" => reader.text_in_object("name", &mut file.languages[1]),
                _ => reader.skip(DEEPEST),
            }),
            _ => reader.skip(DEEPEST),
        })?;
        match self.lexer.ws_peek() {
            None => Ok(file),
            Some(_) => Err(Expect::Eof)?,
        }
    }

    /// The source of a cell, if it is one with code.
    fn cell(&mut self) -> Result<Option<(Range<usize>, String)>, Error> {
        let (mut is_code, mut source) = (false, None);
        self.object(&mut |key, reader| match key {
            "cell_type" => {
                is_code = reader.text()? == "code";
                Ok(())
            }
            "source" => {
                reader.next()?;
                let (start, mut text) = (reader.place(), String::new());
                if reader.next()? == b'[' {
                    reader.array(&mut |reader| {
                        text += &reader.text()?;
                        Ok(())
                    })?;
                } else {
                    text = reader.text()?;
                }
                source = Some((start..reader.place(), text));
                Ok(())
            }
            _ => reader.skip(DEEPEST),
        })?;
        Ok(source.filter(|_| is_code))
    }

    /// The text of a key, if this is an object with it.
    fn text_in_object(&mut self, wanted: &str, text: &mut Option<String>) -> Result<(), Error> {
        if self.next()? != b'{' {
            return self.skip(DEEPEST);
        }
        self.object(&mut |key, reader| {
            if key != wanted || reader.next()? != b'"' {
                return reader.skip(DEEPEST);
            }
            *text = Some(reader.text()?);
            Ok(())
        })
    }

    fn text(&mut self) -> Result<String, Error> {
        self.lexer.expect(SliceLexer::ws_peek, b'"').ok_or(Expect::String)?;
        let start = self.place();
        self.lexer.str_ignore()?;
        Ok(unescaped(&self.json[start..self.place() - 1]))
    }

    fn array(&mut self, item: &mut dyn FnMut(&mut Self) -> Result<(), Error>) -> Result<(), Error> {
        self.sequence((b'[', b']'), item)
    }

    /// Calls a function with each key, which has to read the value.
    fn object(&mut self, value: &mut dyn FnMut(&str, &mut Self) -> Result<(), Error>) -> Result<(), Error> {
        self.sequence((b'{', b'}'), &mut |reader| {
            let key = reader.text()?;
            reader.lexer.expect(SliceLexer::ws_peek, b':').ok_or(Expect::Colon)?;
            value(&key, reader)
        })
    }

    fn sequence(
        &mut self,
        (open, close): (u8, u8),
        item: &mut dyn FnMut(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.lexer.expect(SliceLexer::ws_peek, open).ok_or(Expect::Value)?;
        if self.lexer.expect(SliceLexer::ws_peek, close).is_some() {
            return Ok(());
        }
        loop {
            item(self)?;
            if self.lexer.expect(SliceLexer::ws_peek, close).is_some() {
                return Ok(());
            }
            self.lexer.expect(SliceLexer::ws_peek, b',').ok_or(Expect::CommaOrEnd)?;
        }
    }

    fn skip(&mut self, deeper: usize) -> Result<(), Error> {
        let deeper = deeper.checked_sub(1).ok_or(Error::Depth)?;
        match self.next()? {
            b'[' => self.array(&mut |reader| reader.skip(deeper)),
            b'{' => self.object(&mut |_, reader| reader.skip(deeper)),
            // Python's `json` writes these numbers.
            _ if [&b"NaN"[..], b"Infinity", b"-Infinity"].iter().any(|name| self.lexer.strip_prefix(name)) => Ok(()),
            next => hifijson::ignore::parse(next, &mut self.lexer),
        }
    }
}

/// The characters of a string's JSON without its quotes. Half of a character is read as a replacement for it.
fn unescaped(json: &str) -> String {
    let (mut out, mut units) = (String::new(), Vec::new());
    let mut rest = json;
    loop {
        if let Some((unit, after)) = rest.strip_prefix("\\u").and_then(|hex| Some((hex.get(..4)?, &hex[4..]))) {
            units.extend(u16::from_str_radix(unit, 16).ok());
            rest = after;
            continue;
        }
        out.extend(char::decode_utf16(units.drain(..)).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)));
        let mut chars = rest.chars();
        match chars.next() {
            None => return out,
            Some('\\') => out.push(match chars.next() {
                Some('b') => '\u{8}',
                Some('f') => '\u{c}',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                other => other.unwrap_or('\\'),
            }),
            Some(c) => out.push(c),
        }
        rest = chars.as_str();
    }
}

/// The texts of a list, and where they are in its JSON.
fn texts(list: &str) -> Vec<(String, Range<usize>)> {
    let mut found = Vec::new();
    let mut reader = Reader::new(list);
    let read = reader.array(&mut |reader| {
        reader.next()?;
        let start = reader.place();
        let text = reader.text()?;
        found.push((text, start..reader.place()));
        Ok(())
    });
    debug_assert!(read.is_ok(), "it was read before");
    found
}

/// The text of a source.
pub(super) fn text(json: &str, source: Range<usize>) -> String {
    let json = &json[source];
    if json.starts_with('[') {
        texts(json).into_iter().map(|(text, _)| text).collect()
    } else {
        Reader::new(json).text().unwrap_or_default()
    }
}

/// Where the text of each line of a source begins in a notebook's JSON.
pub(super) fn lines(json: &str, source: &Source) -> Vec<usize> {
    let start = source.range.start;
    if !json[source.range.clone()].starts_with('[') {
        return vec![start; source.text.split_inclusive('\n').count()];
    }
    let (mut found, mut begins) = (Vec::new(), true);
    for (text, range) in texts(&json[source.range.clone()]) {
        for line in text.split_inclusive('\n') {
            found.extend(begins.then_some(start + range.start));
            begins = line.ends_with('\n');
        }
    }
    found
}

/// A new source in the form of the one in this range: a text, or a list of lines, of which those that are in the old one
/// keep their bytes.
pub(super) fn rewritten(json: &str, range: Range<usize>, source: &str) -> String {
    let old = &json[range];
    // As Python's `json` writes it by default.
    let escapes = json.is_ascii() && json.contains("\\u");
    if !old.starts_with('[') {
        return quoted(source, escapes);
    }
    let known = texts(old);
    let of_text: SortedMap<&str, &Range<usize>> = known.iter().map(|(text, range)| (text.as_str(), range)).collect();
    let written =
        |line: &str| of_text.get(line).map_or_else(|| quoted(line, escapes), |range| old[(*range).clone()].to_owned());
    let new: Vec<String> = source.split_inclusive('\n').map(written).collect();
    if new.is_empty() {
        return "[]".to_owned();
    }
    let (Some((_, first)), Some((_, last))) = (known.first(), known.last()) else {
        // As `nbformat` writes it.
        return format!("[\n    {}\n   ]", new.join(",\n    "));
    };
    let (open, close) = (&old[..first.start], &old[last.end..]);
    let between = match known.get(1) {
        Some((_, second)) => old[first.end..second.start].to_owned(),
        None => format!(",{}", &open[1..]),
    };
    format!("{open}{}{close}", new.join(&between))
}

/// A text as JSON; `escapes` is for characters that are not ASCII.
fn quoted(text: &str, escapes: bool) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out += "\\n",
            '\r' => out += "\\r",
            '\t' => out += "\\t",
            _ if c.is_control() && c.is_ascii() || escapes && !c.is_ascii() => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            _ => out.push(c),
        }
    }
    out + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_json() {
        for text in ["a\"b\\c\n\r\t\u{1}\u{1f}\u{7f}", "café 😀", ""] {
            for escapes in [false, true] {
                let quoted = quoted(text, escapes);
                assert_eq!(serde_json::from_str::<String>(&quoted).unwrap(), text);
                assert_eq!(Reader::new(&quoted).text().unwrap(), text);
                assert!(!escapes || quoted.is_ascii());
            }
        }
    }

    #[test]
    fn what_python_writes_is_read() {
        let cell = r#"{"cell_type": "code", "outputs": [NaN, -Infinity, {"a": Infinity}], "source": ["a\ud83d\n", "\ud83d\ude00\u00e9"]}"#;
        for kernel in ["null", "{\"language\": null}", "3"] {
            let json = format!("{{\"cells\": [{cell}], \"metadata\": {{\"kernelspec\": {kernel}}}, \"x\": NaN}}");
            let sources = sources(&json).ok().unwrap();
            assert_eq!(sources[0].text, "a\u{fffd}\n😀é");
            let written = rewritten(&json, sources[0].range.clone(), "a\u{fffd}\nb");
            assert_eq!(written, r#"["a\ud83d\n", "b"]"#);
        }
        assert!(sources(r#"{"cells": [], "x": Nan}"#).is_err());
    }

    #[test]
    fn the_lines_of_a_source_in_its_file() {
        let check = |source: &str, expected: &[&str]| {
            let json = format!("{{\"cells\": [{{\"cell_type\": \"code\", \"source\": {source}}}]}}");
            let sources = sources(&json).ok().unwrap();
            let starts: Vec<&str> = lines(&json, &sources[0]).into_iter().map(|at| &json[at..at + 3]).collect();
            assert_eq!(starts, expected, "{source}");
        };
        check(r#"["a\n", "b", "c\nd\n", "e"]"#, &["\"a\\", "\"b\"", "\"c\\", "\"e\""]);
        check(r#""a\nb""#, &["\"a\\", "\"a\\"]);
        check("[ ]", &[]);
    }

    #[test]
    fn what_nests_too_deeply_is_refused() {
        let deep = |open: &str, close: &str| {
            let json = format!("{{\"cells\": [], \"x\": {}1{}}}", open.repeat(100_000), close.repeat(100_000));
            assert!(matches!(sources(&json), Err(NotebookFault::Json(why)) if why.contains("depth")));
        };
        deep("[", "]");
        deep("{\"a\":", "}");
    }
}
