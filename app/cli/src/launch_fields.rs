//! The fields of `--set`: messages about unknown ones and missing values.

use launch::form::{FieldKind, FormField, field_of};
use launch::{COMMON, Field, Kind, OPTIONS, Problem, Request, Site};

/// Problems as lines, each with its command-line option; those of `--set` with the field's allowed values.
pub(crate) fn lines(problems: &[Problem], request: &Request, site: &Site) -> Vec<String> {
    let fields: Vec<&Field> = site.field.iter().chain(request.target.fields()).collect();
    let field = |name: &str| fields.iter().copied().find(|field| field.name == name);
    let line = |problem: &Problem| {
        let Problem { field: name, message } = problem;
        let given = request.values.get(name);
        if given.is_none() && field(name).is_none() && !COMMON.contains(&&**name) {
            return format!("--{problem}");
        }
        let common = || field_of(request.target, name).filter(|_| COMMON.contains(&&**name));
        let takes = field(name).map(what).or_else(|| common().map(|field| described(&field)));
        let more = match (takes, given) {
            (Some(takes), Some(value)) if value.is_empty() => format!("; expected {takes}"),
            (None, _) if !OPTIONS.contains(&&**name) => known(name, request, site),
            _ => String::new(),
        };
        // As for an option: a message about the field continues its sentence.
        let said = Problem { field: format!("{name}=…"), message: message.clone() };
        format!("--set {said}{more}")
    };
    let mut lines: Vec<String> = problems.iter().map(line).collect();
    if lines.iter().any(|line| line.starts_with("--set ")) {
        lines.push("the fields of --set are listed by portolan launch --help".to_string());
    }
    lines
}

/// The existing fields, and the one that was probably meant.
fn known(name: &str, request: &Request, site: &Site) -> String {
    let names = |fields: &[Field]| {
        let names = fields.iter().map(|field| field.name.clone());
        names.filter(|name| !OPTIONS.contains(&&**name)).collect::<Vec<_>>()
    };
    let all = [
        (site.title.as_str(), names(&site.field)),
        (request.target.name(), names(request.target.fields())),
        ("every launch", COMMON.map(str::to_string).to_vec()),
    ];
    let plain = |name: &str| name.to_ascii_lowercase().replace(['_', '-'], "");
    let is_like = |known: &&String| {
        let (known, name) = (plain(known), plain(name));
        known.starts_with(&name) || name.starts_with(&known)
    };
    let meant = all.iter().flat_map(|(_, names)| names).find(is_like);
    let meant = meant.map(|known| format!("; did you mean `{known}`?")).unwrap_or_default();
    let lists = all.iter().filter(|(_, names)| !names.is_empty());
    let lists: Vec<String> = lists.map(|(of, names)| format!("{of} has {}", names.join(", "))).collect();
    format!("{meant}; {}", lists.join("; "))
}

/// The allowed values of a site's or a target's field, as text.
fn what(field: &Field) -> String {
    in_words(field.kind == Kind::Switch, &field.label, &field.help)
}

/// The allowed values of a common field, as described in the form.
fn described(field: &FormField) -> String {
    in_words(field.kind == FieldKind::Switch, &field.label, &field.help)
}

fn in_words(is_switch: bool, label: &str, help: &str) -> String {
    match help {
        _ if is_switch => "on".to_string(),
        "" => format!("the {}", label.trim_start_matches("the ")),
        help => format!("{label} ({})", help.trim_end_matches('.')),
    }
}
