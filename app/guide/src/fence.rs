//! Info strings of fences: the machine words of a guide.

use crate::error::Faults;
use crate::front::is_version;
use crate::model::{Example, ExampleKind, Rule};

/// Languages a fence may name. A misspelt one would silently lose its colours, so others are refused.
const LANGUAGES: &[&str] =
    &["python", "text", "diff", "where", "sh", "console", "json", "yaml", "toml", "ini", "markdown", "dockerfile"];

/// What a fence is for.
pub(crate) enum Fence {
    /// A semantic patch or a handler's name.
    Rule(Rule),
    /// Conditions of the rule above.
    Where,
    /// Code that the tests run.
    Example(Example),
    /// Code to look at.
    Plain,
}

/// Reads an info string. `line` is the line of the fence itself; rule and example come back without a body.
pub(crate) fn read(info: &str, line: usize, faults: &mut Faults) -> Fence {
    let words = match words(info) {
        Ok(words) => words,
        Err(message) => {
            faults.add(line, message);
            return Fence::Plain;
        }
    };
    let Some((language, words)) = words.split_first() else {
        faults.add(line, format!("this fence names no language; use one of {}", LANGUAGES.join(", ")));
        return Fence::Plain;
    };
    let language = language.as_str();
    if !LANGUAGES.contains(&language) {
        faults.add(line, format!("unknown fence language `{language}`; use one of {}", LANGUAGES.join(", ")));
        return Fence::Plain;
    }
    match (language, words.first().map(String::as_str)) {
        ("diff", Some("rule")) => Fence::Rule(read_rule(&words[1..], line, faults)),
        ("where", None) => Fence::Where,
        (_, None) => Fence::Plain,
        ("diff", Some(word)) => {
            faults.add(line, format!("unknown word `{word}` after `diff`; a rule begins with `diff rule`"));
            Fence::Plain
        }
        ("where" | "markdown", Some(word)) => {
            faults.add(line, format!("unknown word `{word}` after `{language}`"));
            Fence::Plain
        }
        (_, Some(word)) => {
            let kind = match word {
                "before" => ExampleKind::Before,
                "after" => ExampleKind::After,
                "unchanged" => ExampleKind::Unchanged,
                _ => {
                    faults
                        .add(line, format!("unknown word `{word}` after `{language}`; use before, after or unchanged"));
                    return Fence::Plain;
                }
            };
            Fence::Example(read_example(kind, language, &words[1..], line, faults))
        }
    }
}

fn read_rule(words: &[String], line: usize, faults: &mut Faults) -> Rule {
    let mut rule = Rule { line: line + 1, ..Rule::default() };
    for word in words {
        match word.split_once('=') {
            None if word == "unsafe" => rule.is_unsafe = true,
            None if word == "manual" => rule.manual = true,
            None if word == "shared" => rule.shared = true,
            Some(("sdk", value)) => match sdk_fault(value) {
                None => rule.sdk = Some(value.to_string()),
                Some(message) => faults.add(line, message),
            },
            Some(("style", value)) => rule.style = one_of("style", value, &["in-place", "branch"], line, faults),
            Some(("framework", value)) => {
                rule.framework = one_of("framework", value, &["torch", "tensorflow", "lightning"], line, faults);
            }
            Some(("option", value)) => rule.option = option(value, line, faults),
            Some(("rule", value)) if !value.is_empty() => rule.handler = Some(value.to_string()),
            Some(("rule", _)) => faults.add(line, "`rule=` names no handler"),
            _ => faults.add(
                line,
                format!(
                    "unknown word `{word}` after `diff rule`; the known ones are unsafe, manual, shared, sdk=\"…\", \
                     style=…, framework=…, option=NAME=VALUE, rule=HANDLER"
                ),
            ),
        }
    }
    if rule.manual && rule.is_unsafe {
        faults.add(line, "a `manual` rule is never applied, so `unsafe` says nothing: keep one of the two words");
    }
    rule
}

fn read_example(kind: ExampleKind, language: &str, words: &[String], line: usize, faults: &mut Faults) -> Example {
    let mut example = Example {
        kind,
        language: language.to_string(),
        text: String::new(),
        line: line + 1,
        is_unsafe: false,
        style: None,
        sdk: None,
        file: None,
        option: None,
    };
    for word in words {
        match word.split_once('=') {
            None if word == "unsafe" && kind != ExampleKind::After => example.is_unsafe = true,
            None if word == "unsafe" => faults.add(line, "`unsafe` belongs on the `before` fence of this pair"),
            Some(("style", value)) => example.style = one_of("style", value, &["in-place", "branch"], line, faults),
            Some(("sdk", value)) if is_version(value) => example.sdk = Some(value.to_string()),
            Some(("sdk", value)) => faults.add(line, format!("sdk `{value}` of an example is one version, e.g. 1.20")),
            Some(("file", value)) if is_relative(value) => example.file = Some(value.to_string()),
            Some(("file", value)) => {
                faults.add(line, format!("file `{value}` is not a path inside the project, e.g. src/trainer.py"));
            }
            Some(("option", value)) => example.option = option(value, line, faults),
            _ => faults.add(
                line,
                format!(
                    "unknown word `{word}` on an example; the known ones are unsafe, style=…, sdk=…, file=…, \
                     option=NAME=VALUE"
                ),
            ),
        }
    }
    example
}

/// Splits at blanks outside double quotes and drops the quotes.
fn words(info: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quoted = false;
    for c in info.chars() {
        match c {
            '"' => quoted = !quoted,
            c if c.is_whitespace() && !quoted => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            c => word.push(c),
        }
    }
    if quoted {
        return Err("a double quote in this info string is not closed");
    }
    if !word.is_empty() {
        words.push(word);
    }
    Ok(words)
}

fn one_of(key: &str, value: &str, known: &[&str], line: usize, faults: &mut Faults) -> Option<String> {
    if known.contains(&value) {
        return Some(value.to_string());
    }
    faults.add(line, format!("unknown {key} `{value}`; use {}", known.join(" or ")));
    None
}

fn option(value: &str, line: usize, faults: &mut Faults) -> Option<String> {
    match value.split_once('=') {
        Some((name, setting)) if !name.is_empty() && !setting.is_empty() => Some(value.to_string()),
        _ => {
            faults.add(line, format!("`option={value}` is not `option=NAME=VALUE`"));
            None
        }
    }
}

fn sdk_fault(range: &str) -> Option<String> {
    let comparisons = range.split(',').map(str::trim);
    for comparison in comparisons {
        let version = comparison.trim_start_matches(['<', '>', '=']).trim();
        let operator = &comparison[..comparison.len() - comparison.trim_start_matches(['<', '>', '=']).len()];
        if !["<", "<=", "==", ">=", ">"].contains(&operator) || !is_version(version) {
            return Some(format!("`{comparison}` in sdk is not a comparison such as >=1.20 or <1.20"));
        }
    }
    None
}

fn is_relative(path: &str) -> bool {
    !path.is_empty() && !path.starts_with('/') && !path.contains('\\') && path.split('/').all(|part| part != "..")
}
