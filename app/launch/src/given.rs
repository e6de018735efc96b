//! What is given for a launch: by the user, else by the site's file, else by the target's table.

use crate::request::{Problem, Request, Script};
use crate::word::{Part, Word};
use tables::{COMMON, Field, Kind, OPTIONS, Site, Texts, When, common};

/// A request at a site.
#[derive(Clone, Copy)]
pub(crate) struct Given<'a> {
    pub(crate) request: &'a Request,
    pub(crate) site: &'a Site,
}

impl<'a> Given<'a> {
    /// The fields that stand in the words for devices, which are directives.
    pub(crate) fn directive_fields(self) -> impl Iterator<Item = &'a str> {
        let site = self.site;
        let texts = site.request.iter().chain(&site.select).chain(&site.directives);
        let names = texts.flat_map(|text| text.split('{').skip(1).filter_map(|rest| rest.split('}').next()));
        names.filter(|name| *name != "devices")
    }

    /// A text of the file with the user's fields in it.
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

    /// What the user, or else the file, says for a field. Empty is nothing.
    pub(crate) fn value(self, name: &str) -> Option<&'a str> {
        let given = self.request.values.get(name).map(String::as_str).filter(|value| !value.is_empty());
        let of_site = self.site.field.iter().find(|field| field.name == name);
        let of_target = || self.request.target.table().field.iter().find(|field| field.name == name);
        given.or_else(|| of_site.or_else(of_target)?.default.as_deref())
    }

    /// A text of the file as a word. A field that has no value is left empty; [`Given::missing`] reports it.
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
                parts.push(Part::Text(self.value(&after[..end]).unwrap_or_default().to_string()));
                rest = after.get(end + 1..).unwrap_or_default();
            }
        }
        if !rest.is_empty() || parts.is_empty() {
            parts.push(Part::Text(rest.to_string()));
        }
        Word(parts)
    }

    /// There is no field of that name: which there are, and which one was meant.
    fn unknown(self, name: &str) -> String {
        let Given { request, site } = self;
        let is_set = |name: &&str| !OPTIONS.contains(name);
        let names = |fields: &'a [Field]| fields.iter().map(|field| &*field.name).filter(is_set).collect::<Vec<_>>();
        let of_all = COMMON.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        let all = [
            (site.title.as_str(), names(&site.field)),
            (request.target.name(), names(request.target.fields())),
            ("every launch", of_all),
        ];
        let plain = |name: &str| name.to_ascii_lowercase().replace(['_', '-'], "");
        let is_like = |known: &&&str| {
            let (known, name) = (plain(known), plain(name));
            known.starts_with(&name) || name.starts_with(&known)
        };
        let meant = all.iter().flat_map(|(_, names)| names).find(is_like);
        let meant = meant.map(|known| format!("; `{known}` may be meant")).unwrap_or_default();
        let lists = all.iter().filter(|(_, names)| !names.is_empty());
        let lists: Vec<String> = lists.map(|(of, names)| format!("{of} has {}", names.join(", "))).collect();
        format!("there is no such field at {}{meant}; {}", site.title, lists.join("; "))
    }

    /// Required fields without a value where their condition holds, and values for fields that there are none of.
    pub(crate) fn missing(self, holds: impl Fn(&When) -> bool) -> Vec<Problem> {
        let Given { request, site } = self;
        let mut problems = Vec::new();
        let asked = |field: &&Field| field.required && asks_for(site, field, request.script) && holds(&field.when);
        for field in site.field.iter().filter(asked) {
            if self.value(&field.name).is_none() && !request.values.contains_key(&field.name) {
                problems.push(Problem::new(&field.name, format!("is required at {}: {}", site.title, field.label)));
            }
        }
        for (name, value) in &request.values {
            let of_target = request.target.fields().iter();
            let field = site.field.iter().chain(of_target).find(|field| field.name == *name);
            let takes = match (field, common(name)) {
                _ if OPTIONS.contains(&&**name) => {
                    problems.push(Problem::new(name, format!("is an option of its own: --{name}")));
                    continue;
                }
                (Some(field), _) => what(field),
                (None, Some(takes)) => takes.to_string(),
                (None, None) => {
                    problems.push(Problem::new(name, self.unknown(name)));
                    continue;
                }
            };
            if value.is_empty() {
                problems.push(Problem::new(name, format!("is empty: it takes {takes}; leave it out to say nothing")));
            }
        }
        problems
    }
}

/// What a field takes, in words.
fn what(field: &Field) -> String {
    match (field.kind, field.help.as_str()) {
        (Kind::Switch, _) => "on".to_string(),
        (_, "") => format!("the {}", field.label.trim_start_matches("the ")),
        (_, help) => format!("{} ({})", field.label, help.trim_end_matches('.')),
    }
}

/// Whether that script has a use for a field of the site: a training for all, the others for those of the SDK.
pub(crate) fn asks_for(site: &Site, field: &Field, script: Script) -> bool {
    let word = format!("{{{}}}", field.name);
    let mut sdk = site.enable.iter().chain(site.words.values().flat_map(Texts::all));
    script == Script::Train || sdk.any(|text| text.contains(&word))
}
