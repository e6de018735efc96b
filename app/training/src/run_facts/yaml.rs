//! YAML as configurations use it: nested keys with plain values, and Hydra's list of defaults.

use saphyr_parser::{Event, Parser, ScalarStyle, Span};
use sorting::SortedMap;

/// A key with a value, by its whole path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// `run.distributed`.
    pub(crate) key: String,
    pub(crate) value: String,
    /// From 1.
    pub(crate) line: usize,
}

/// A default of Hydra's list: `- override group: name`; the group is empty in `- name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Default {
    pub(crate) group: String,
    pub(crate) name: String,
    /// From 1.
    pub(crate) line: usize,
}

/// A file of keys. Lists other than the defaults, and multi-line values, are not settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Yaml {
    pub(crate) entries: Vec<Entry>,
    pub(crate) defaults: Vec<Default>,
    /// Keys are at the top level whatever the file's folder: `# @package _global_`.
    pub(crate) is_global: bool,
    /// Where the text is not YAML any more, from 1, and why; the part above is read.
    pub(crate) fault: Option<(usize, String)>,
}

/// The collections open at an event.
enum Open {
    /// A mapping, with the key whose value is next.
    Mapping(Option<String>),
    List,
}

pub(crate) fn read(text: &str) -> Yaml {
    let is_global =
        |line: &str| line.trim_start().strip_prefix('#').is_some_and(|comment| comment.contains("@package _global_"));
    let mut reader = Reader {
        yaml: Yaml { is_global: text.lines().any(is_global), ..Yaml::default() },
        open: Vec::new(),
        anchored: SortedMap::new(),
    };
    for event in Parser::new_from_str(text) {
        match event {
            Ok((event, span)) => reader.take(event, span),
            Err(error) => {
                reader.yaml.fault = Some((error.marker().line(), error.info().to_owned()));
                break;
            }
        }
    }
    reader.yaml
}

struct Reader {
    yaml: Yaml,
    open: Vec<Open>,
    /// Values with an anchor, for aliases.
    anchored: SortedMap<usize, String>,
}

impl Reader {
    fn take(&mut self, event: Event<'_>, span: Span) {
        match event {
            Event::MappingStart(..) => self.open.push(Open::Mapping(None)),
            Event::SequenceStart(..) => self.open.push(Open::List),
            Event::MappingEnd | Event::SequenceEnd => {
                self.open.pop();
                self.value_is_done();
            }
            Event::Scalar(value, style, anchor, tag) => {
                if anchor > 0 {
                    self.anchored.insert(anchor, value.to_string());
                }
                let empty = value.is_empty() && style == ScalarStyle::Plain;
                let plain = !empty && tag.is_none() && !value.contains('\n');
                self.scalar(value.into_owned(), plain, span.start.line());
            }
            Event::Alias(anchor) => {
                let value = self.anchored.get(&anchor).cloned();
                self.scalar(value.clone().unwrap_or_default(), value.is_some(), span.start.line());
            }
            _ => {}
        }
    }

    /// A key, a value, or an item of a list. Only a `plain` value is a setting.
    fn scalar(&mut self, text: String, plain: bool, line: usize) {
        let is_default = self.in_defaults(1);
        match self.open.last_mut() {
            Some(Open::Mapping(key @ None)) => *key = Some(text),
            Some(Open::Mapping(Some(_))) => {
                if plain {
                    self.setting(text, line);
                }
                self.value_is_done();
            }
            Some(Open::List) if plain && is_default => {
                self.yaml.defaults.push(Default { group: String::new(), name: text, line });
            }
            _ => {}
        }
    }

    fn setting(&mut self, value: String, line: usize) {
        if self.in_defaults(2) {
            if let Some(Open::Mapping(Some(group))) = self.open.last() {
                let group = group.trim_start_matches("override ").trim_start_matches("optional ").trim().to_owned();
                self.yaml.defaults.push(Default { group, name: value, line });
            }
            return;
        }
        let keys: Option<Vec<&str>> = self.open.iter().map(Open::key).collect();
        if let Some(keys) = keys {
            self.yaml.entries.push(Entry { key: keys.join("."), value, line });
        }
    }

    /// Whether the list of defaults at the top level is open, with this many collections inside the top mapping.
    fn in_defaults(&self, depth: usize) -> bool {
        matches!(self.open.as_slice(), [Open::Mapping(Some(key)), Open::List, ..] if key == "defaults")
            && self.open.len() == depth + 1
    }

    fn value_is_done(&mut self) {
        if let Some(Open::Mapping(key)) = self.open.last_mut() {
            *key = None;
        }
    }
}

impl Open {
    fn key(&self) -> Option<&str> {
        match self {
            Self::Mapping(key) => key.as_deref(),
            Self::List => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    /// Each key, value and line; then the defaults.
    fn check(text: &str, expected: &[&str], fault: Option<usize>) {
        let yaml = read(text);
        let entries = yaml.entries.iter().map(|e| format!("{}={} {}", e.key, e.value, e.line));
        let defaults = yaml.defaults.iter().map(|d| format!("[{}] {} {}", d.group, d.name, d.line));
        assert_eq!(entries.chain(defaults).collect::<Vec<_>>(), expected, "{text}");
        assert_eq!(yaml.fault.map(|(line, _)| line), fault, "{text}");
    }

    #[test]
    fn keys_with_plain_values() {
        check("a:\n  b: 1  # why\n  c: 'x: y'\nd: true\n", &["a.b=1 2", "a.c=x: y 3", "d=true 4"], None);
        check("a: {b: 1, c: [1, 2]}\nd:\n  - e: 1\nf:\n", &["a.b=1 1"], None);
        check("a: |\n  two\n  lines\nb: !tag 1\nc: ${d}\n", &["c=${d} 5"], None);
        check("a: &x 8\nb: *x\n", &["a=8 1", "b=8 2"], None);
    }

    #[test]
    fn defaults() {
        check("defaults:\n  - _self_\n  - override data: big\n", &["[] _self_ 2", "[data] big 3"], None);
    }

    #[test]
    fn what_is_not_yaml_is_said() {
        check("a: 1\nb: [1, 2\nc: 3\n", &["a=1 1"], Some(3));
        check("{% if x %}\n", &[], Some(1));
    }
}
