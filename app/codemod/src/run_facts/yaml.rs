//! The part of YAML that configurations are written in: nested keys with plain values, and the list of defaults.

/// A key with a value, by its whole path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry<'t> {
    /// `run.distributed`.
    pub(super) key: String,
    pub(super) value: &'t str,
    /// From 1.
    pub(super) line: usize,
}

/// A file of plain keys. What is written otherwise (lists, blocks of text, flow mappings) is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Yaml<'t> {
    pub(super) entries: Vec<Entry<'t>>,
    /// Group, name and line of `- override group: name`; the group is empty in `- name`.
    pub(super) defaults: Vec<(&'t str, &'t str, usize)>,
    /// Keys stand at the top whatever the file's folder: `# @package _global_`.
    pub(super) is_global: bool,
}

pub(super) fn read(text: &str) -> Yaml<'_> {
    let mut yaml = Yaml::default();
    // The keys around a line, with their indentation.
    let mut open: Vec<(usize, &str)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let content = line.trim_start();
        yaml.is_global |= content.starts_with('#') && content.contains("@package _global_");
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let indent = line.len() - content.len();
        if let Some(item) = content.strip_prefix("- ") {
            if let [(_, "defaults")] = open.as_slice() {
                let item = without_comment(item);
                let (group, name) = item.split_once(':').unwrap_or(("", item));
                let group = group.trim().trim_start_matches("override ").trim_start_matches("optional ").trim();
                yaml.defaults.push((group, unquoted(name.trim()), number + 1));
            }
            continue;
        }
        open.retain(|(outer, _)| *outer < indent);
        let Some((key, value)) = content.split_once(':') else { continue };
        let (key, value) = (unquoted(key.trim()), without_comment(value));
        if value.is_empty() {
            open.push((indent, key));
            continue;
        }
        if !value.starts_with(['[', '{', '|', '>', '&', '*', '!']) {
            let path: Vec<&str> = open.iter().map(|(_, outer)| *outer).chain([key]).collect();
            yaml.entries.push(Entry { key: path.join("."), value: unquoted(value), line: number + 1 });
        }
    }
    yaml
}

fn without_comment(text: &str) -> &str {
    text.split(" #").next().unwrap_or(text).trim()
}

fn unquoted(text: &str) -> &str {
    let inner = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    inner('"').or_else(|| inner('\'')).unwrap_or(text)
}
