//! Front matter: the `key: value` lines between two `---` at the top of a page.

use crate::error::Faults;
use crate::front_target::{read_bridge, read_field, read_mode, read_option};
use crate::model::FrontMatter;

const KEYS: &str = "title, target, description, sdks, order, extends, mode, modules, bridge, autoload, software, \
                    `option NAME`, `field NAME`";

/// Splits a page into its front matter's lines and the byte offset at which the body begins.
///
/// Done by hand, not by the Markdown parser: that one also takes a `---` further down for front matter.
pub(crate) fn split(text: &str) -> Result<(Vec<&str>, usize), &'static str> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().unwrap_or("");
    if first.trim_end() != "---" {
        return Err("a guide begins with front matter: `---`, then `title: …`, then `---`");
    }
    let mut offset = first.len();
    let mut front = Vec::new();
    for line in lines {
        offset += line.len();
        if line.trim_end() == "---" {
            return Ok((front, offset));
        }
        front.push(line.trim_end());
    }
    Err("the front matter has no closing `---` line")
}

/// Reads the lines of the front matter; the first of them is line 2 of the file.
pub(crate) fn read(lines: &[&str], faults: &mut Faults) -> FrontMatter {
    let mut front = FrontMatter::default();
    let mut seen: Vec<&str> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let number = index + 2;
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        let Some((key, value)) = line.split_once(':') else {
            faults.add(number, format!("`{line}` is not `key: value`"));
            continue;
        };
        let (key, value) = (key.trim(), unquote(value.trim()));
        if seen.contains(&key) {
            faults.add(number, format!("`{key}` stands here a second time; keep one"));
            continue;
        }
        seen.push(key);
        match key {
            "title" => front.title = value.to_string(),
            "description" => front.description = value.to_string(),
            "target" if is_word(value) => front.target = Some(value.to_string()),
            "target" => faults.add(number, format!("target `{value}` is not a name of lowercase letters and digits")),
            "sdks" => front.sdks = read_sdks(value, number, faults),
            "order" => match value.parse() {
                Ok(order) => front.order = order,
                Err(_) => faults.add(number, format!("order `{value}` is not a whole number")),
            },
            "extends" if is_word(value) => {
                front.extends = Some(value.to_string());
                front.extends_line = number;
            }
            "extends" => faults.add(number, format!("target `{value}` is not a name of lowercase letters and digits")),
            "mode" => front.mode = faults.keep(number, read_mode(value)),
            "modules" => front.modules = value.split(',').map(|module| module.trim().to_string()).collect(),
            "bridge" => front.bridge = faults.keep(number, read_bridge(value)),
            "autoload" => front.autoload = Some(value.to_string()),
            "software" => front.software = Some(value.to_string()),
            _ if key.starts_with("option ") => {
                front.options.extend(faults.keep(number, read_option(&key[7..], value, number)));
            }
            _ if key.starts_with("field ") => front.fields.extend(faults.keep(number, read_field(&key[6..], value))),
            _ => faults.add(number, format!("unknown front-matter key `{key}`; the known ones are {KEYS}")),
        }
    }
    if front.target.is_none() && (front.extends.is_some() || !front.options.is_empty() || !front.fields.is_empty()) {
        faults.add(1, "`extends`, `option` and `field` belong to a guide with a `target`");
    }
    if front.title.is_empty() {
        faults.add(1, "the front matter has no title: add a line `title: …`");
    }
    front
}

fn read_sdks(value: &str, line: usize, faults: &mut Faults) -> Vec<String> {
    let sdks: Vec<String> = value.split(',').map(|sdk| sdk.trim().to_string()).collect();
    for sdk in &sdks {
        if !is_version(sdk) {
            faults.add(line, format!("`{sdk}` in sdks is not a version such as 1.20"));
        }
    }
    if sdks.windows(2).any(|pair| version(&pair[0]) >= version(&pair[1])) {
        faults.add(line, "sdks go from the oldest to the newest; the last is the default");
    }
    sdks
}

/// Whether the text is numbers joined by dots.
pub(crate) fn is_version(text: &str) -> bool {
    text.split('.').all(|part| !part.is_empty() && part.len() < 9 && part.bytes().all(|b| b.is_ascii_digit()))
}

/// The numbers of a version, for comparing.
fn version(text: &str) -> Vec<u32> {
    text.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
}

fn unquote(text: &str) -> &str {
    text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text)
}
