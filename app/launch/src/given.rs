//! The values for a launch: the user's, otherwise those of the site's file, otherwise those of the target's table.

use crate::request::{Problem, Request, Script};
use crate::word::{Part, Word};
use tables::{COMMON, Field, OPTIONS, Site, Texts, When};

/// A request at a site.
#[derive(Clone, Copy)]
pub(crate) struct Given<'a> {
    pub(crate) request: &'a Request,
    pub(crate) site: &'a Site,
}

impl<'a> Given<'a> {
    /// The fields in the request for devices, which is a directive.
    pub(crate) fn directive_fields(self) -> impl Iterator<Item = &'a str> {
        let site = self.site;
        let texts = site.request.iter().chain(&site.select).chain(&site.directives);
        let names = texts.flat_map(|text| text.split('{').skip(1).filter_map(|rest| rest.split('}').next()));
        names.filter(|name| *name != "devices")
    }

    /// A text of the file with the user's fields filled in.
    pub(crate) fn filled(self, text: &str) -> String {
        let mut out = String::new();
        let mut parts = text.split('{');
        out += parts.next().unwrap_or_default();
        for part in parts {
            let (name, after) = part.split_once('}').unwrap_or((part, ""));
            out += self.value(name).unwrap_or_default();
            out += after;
        }
        out
    }

    /// The value of a field: the user's, otherwise the file's. Empty means none.
    pub(crate) fn value(self, name: &str) -> Option<&'a str> {
        let given = self.request.values.get(name).map(String::as_str).filter(|value| !value.is_empty());
        let of_site = self.site.field.iter().find(|field| field.name == name);
        let of_target = || self.request.target.table().field.iter().find(|field| field.name == name);
        given.or_else(|| of_site.or_else(of_target)?.default.as_deref())
    }

    /// A text of the file as a word. A field without a value stays empty; [`Given::missing`] reports it.
    pub(crate) fn word(self, text: &str) -> Word {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '$', '*']) {
            let (before, special) = rest.split_at(at);
            if !before.is_empty() {
                parts.push(Part::Text(before.to_string()));
            }
            let after = &special[1..];
            if special.starts_with('*') {
                parts.push(Part::Any);
                rest = after;
            } else if special.starts_with('$') {
                let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
                parts.push(Part::Variable(after[..end].to_string()));
                rest = &after[end..];
            } else {
                let end = after.find('}').unwrap_or(after.len());
                parts.extend(Word::path(self.value(&after[..end]).unwrap_or_default()).0);
                rest = after.get(end + 1..).unwrap_or_default();
            }
        }
        if !rest.is_empty() || parts.is_empty() {
            parts.push(Part::Text(rest.to_string()));
        }
        Word(parts)
    }

    /// Required fields without a value if their condition is true, and values for fields that don't exist.
    pub(crate) fn missing(self, holds: impl Fn(&When) -> bool) -> Vec<Problem> {
        let Given { request, site } = self;
        let mut problems = Vec::new();
        let asked = |field: &&Field| field.required && asks_for(site, field, request.script) && holds(&field.when);
        for field in site.field.iter().filter(asked) {
            if self.value(&field.name).is_none() && !request.values.contains_key(&field.name) {
                problems.push(Problem::new(&field.name, format!("is required: {}", field.label)));
            }
        }
        for (name, value) in &request.values {
            let of_target = request.target.fields().iter();
            let field = site.field.iter().chain(of_target).find(|field| field.name == *name);
            let message = match field {
                _ if OPTIONS.contains(&&**name) => format!("has its own option: --{name}"),
                None if !COMMON.contains(&&**name) => format!("is not a field of {}", site.title),
                _ if value.is_empty() => "is empty; omit it instead".to_string(),
                _ => continue,
            };
            problems.push(Problem::new(name, message));
        }
        problems
    }
}

/// Whether that script uses a field of the site: a training uses all, the others those of the SDK.
pub(crate) fn asks_for(site: &Site, field: &Field, script: Script) -> bool {
    let word = format!("{{{}}}", field.name);
    let mut sdk = site.enable.iter().chain(site.words.values().flat_map(Texts::all));
    script == Script::Train || sdk.any(|text| text.contains(&word))
}
