//! Info strings of fences: the machine-readable words of a guide.

use crate::definition::Kind;
use crate::error::Faults;
use crate::front::requirement_fault;
use crate::model::{Example, ExampleKind, Rule};
use crate::sdk::is_version;

/// Languages that a fence may name. A misspelt one would silently lose its colours, so others are rejected.
const LANGUAGES: &[&str] = &[
    "python",
    "text",
    "diff",
    "where",
    "names",
    "words",
    "message",
    "conditions",
    "signatures",
    "says",
    "sh",
    "console",
    "json",
    "yaml",
    "toml",
    "ini",
    "markdown",
    "dockerfile",
];

/// The purpose of a fence.
pub(crate) enum Fence {
    /// A semantic patch or a handler's name.
    Rule(Rule),
    /// Conditions of the rule above.
    Where,
    /// Lines of error messages that the section answers.
    Says,
    /// Lines of logs that no section answers.
    SaysNothing,
    /// Something that is used by name.
    Definition(Kind, String),
    /// Code that the tests run.
    Example(Example),
    /// Code for readers.
    Plain,
}

/// Parses an info string. `line` is the line of the fence itself; rule and example are returned without a body.
pub(crate) fn read(info: &str, line: usize, faults: &mut Faults) -> Fence {
    let words = match words(info) {
        Ok(words) => words,
        Err(message) => {
            faults.add(line, message);
            return Fence::Plain;
        }
    };
    let Some((language, words)) = words.split_first() else {
        faults.add(line, format!("this fence has no language; use one of {}", LANGUAGES.join(", ")));
        return Fence::Plain;
    };
    let language = language.as_str();
    if language == "include" {
        let message = "a guide includes text from other files of its folder only, and only at the beginning of a line";
        faults.add(line, message);
        return Fence::Plain;
    }
    if !LANGUAGES.contains(&language) {
        faults.add(line, format!("unknown fence language `{language}`; use one of {}", LANGUAGES.join(", ")));
        return Fence::Plain;
    }
    match (language, words.first().map(String::as_str)) {
        ("diff", Some("rule")) => Fence::Rule(read_rule(&words[1..], line, faults)),
        ("where", None) => Fence::Where,
        ("says", None) => Fence::Says,
        ("says", Some("nothing")) if words.len() == 1 => Fence::SaysNothing,
        ("signatures", None) => Fence::Definition(Kind::Signatures, String::new()),
        ("names", _) => read_definition(Kind::Names, "names", words, line, faults),
        ("words", _) => read_definition(Kind::Words, "words", words, line, faults),
        ("message", _) => read_definition(Kind::Message, "message", words, line, faults),
        ("conditions", _) => read_definition(Kind::Conditions, "conditions", words, line, faults),
        ("python", Some("block")) => read_definition(Kind::Block, "python block", &words[1..], line, faults),
        ("python", Some("module")) => read_definition(Kind::Module, "python module", &words[1..], line, faults),
        (_, None) => Fence::Plain,
        ("diff", Some(word)) => {
            faults.add(line, format!("unknown word `{word}` after `diff`; a rule begins with `diff rule`"));
            Fence::Plain
        }
        ("says", Some(word)) => {
            faults.add(
                line,
                format!("unknown word `{word}` after `says`; lines that no section answers have `says nothing`"),
            );
            Fence::Plain
        }
        ("where" | "signatures" | "markdown", Some(word)) => {
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
                        .add(line, format!("unknown word `{word}` after `{language}`; use before, after, unchanged or, for Python, block or module"));
                    return Fence::Plain;
                }
            };
            Fence::Example(read_example(kind, language, &words[1..], line, faults))
        }
    }
}

fn read_definition(kind: Kind, fence: &str, words: &[String], line: usize, faults: &mut Faults) -> Fence {
    match words {
        [name] if is_name(name) => return Fence::Definition(kind, name.clone()),
        [name] => faults.add(line, format!("`{name}` is not a name of lowercase letters, digits and `_`")),
        _ => faults.add(line, format!("expected one name after `{fence}`")),
    }
    Fence::Plain
}

fn is_name(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

fn read_rule(words: &[String], line: usize, faults: &mut Faults) -> Rule {
    let mut rule = Rule { line: line + 1, ..Rule::default() };
    for word in words {
        match word.split_once('=') {
            None if word == "unsafe" => rule.is_unsafe = true,
            None if word == "manual" => rule.manual = true,
            None if word == "shared" => rule.shared = true,
            None if word == "neutral" => rule.neutral = true,
            None if word == "step" => rule.of_step = true,
            Some(("stops", "step")) => rule.stops_step = true,
            Some(("says", value)) if is_name(value) => rule.says = Some(value.to_string()),
            Some(("sdk", value)) => match requirement_fault(value) {
                None => rule.sdk = Some(value.to_string()),
                Some(message) => faults.add(line, message),
            },
            Some(("style", value)) => rule.styles = styles(value, line, faults),
            Some(("framework", value)) => {
                rule.framework = one_of("framework", value, &["torch", "tensorflow", "lightning"], line, faults);
            }
            Some(("option", value)) => rule.option = option(value, line, faults),
            Some(("rule", value)) if !value.is_empty() => rule.handler = Some(value.to_string()),
            Some(("rule", _)) => faults.add(line, "`rule=` names no handler"),
            _ => faults.add(
                line,
                format!(
                    "unknown word `{word}` after `diff rule`; known words are unsafe, manual, shared, neutral, step, \
                     stops=step, says=MESSAGE, sdk=\"…\", style=…, framework=…, option=NAME=VALUE, rule=HANDLER"
                ),
            ),
        }
    }
    if rule.manual && rule.is_unsafe {
        faults.add(line, "a `manual` rule is never applied, so `unsafe` has no effect: remove one of the two");
    }
    rule
}

/// The port styles that a fence can name.
const STYLES: [&str; 3] = ["in-place", "branch", "agnostic"];

/// `in-place,agnostic`.
fn styles(value: &str, line: usize, faults: &mut Faults) -> Vec<String> {
    value.split(',').filter_map(|one| one_of("style", one.trim(), &STYLES, line, faults)).collect()
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
            Some(("style", value)) => example.style = one_of("style", value, &STYLES, line, faults),
            Some(("sdk", value)) if is_version(value) => example.sdk = Some(value.to_string()),
            Some(("sdk", value)) => {
                faults.add(line, format!("sdk `{value}` of an example must be one version, e.g. 1.20"))
            }
            Some(("file", value)) if is_relative(value) => example.file = Some(value.to_string()),
            Some(("file", value)) => {
                faults.add(line, format!("file `{value}` is not a path inside the project, e.g. src/trainer.py"));
            }
            Some(("option", value)) => {
                let options = example.option.take().into_iter().chain(option(value, line, faults));
                example.option = Some(options.collect::<Vec<_>>().join(" ")).filter(|options| !options.is_empty());
            }
            _ => faults.add(
                line,
                format!(
                    "unknown word `{word}` on an example; known words are unsafe, style=…, sdk=…, file=…, \
                     option=NAME=VALUE"
                ),
            ),
        }
    }
    example
}

/// Splits at spaces outside double quotes and drops the quotes.
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
        return Err("unclosed double quote in this info string");
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
    faults.add(line, format!("unknown {key} `{value}`; use {}", listed(known)));
    None
}

/// `a, b or c`.
fn listed(words: &[&str]) -> String {
    match words.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => words.concat(),
    }
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

fn is_relative(path: &str) -> bool {
    !path.is_empty() && !path.starts_with('/') && !path.contains('\\') && path.split('/').all(|part| part != "..")
}
