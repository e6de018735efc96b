//! Checks of a site file beyond its types.

use super::Fault;
use crate::command::Texts;
use crate::field::OPTIONS;
use crate::site::Site;

/// Checks a site file.
pub(super) fn check(site: &Site, targets: &[&str]) -> Result<(), Fault> {
    let broken = |message: String| Err(Fault::from(message));
    if site.targets.is_empty() || site.schedulers.is_empty() {
        return broken("`targets` and `schedulers` need at least one entry each".into());
    }
    if let Some(name) = site.targets.iter().find(|name| !targets.contains(&name.as_str())) {
        return broken(format!("`targets`: `{}` is not one of {}", name.escape_debug(), targets.join(", ")));
    }
    if let Some(day) = site.checked.as_deref().filter(|day| !is_day(day)) {
        return broken(format!("`{}` is not a date such as 2026-11-22", day.escape_debug()));
    }
    let directives = [&site.partition, &site.request, &site.select, &site.qos];
    if let Some(text) = directives.into_iter().flatten().find(|text| text.contains(char::is_control)) {
        return broken(format!("`{}` has more than one line", text.escape_debug()));
    }
    if site.request.as_deref().is_some_and(|text| !text.starts_with('-') || text.contains(['$', '*'])) {
        return broken("`request` must be an sbatch option, such as --gres=gpu:{devices}".into());
    }
    let is_directive =
        |text: &&String| text.starts_with('-') && !text.contains(['$', '*']) && !text.contains(char::is_control);
    if let Some(text) = site.directives.iter().find(|text| !is_directive(text)) {
        return broken(format!("`{}` is not a scheduler option", text.escape_debug()));
    }
    let variables = site.enabled_by.iter().chain(site.settings.iter().map(|setting| &setting.name));
    if let Some(name) = variables.into_iter().find(|name| !is_name(name)) {
        return broken(format!("`{}` is not a variable name", name.escape_debug()));
    }
    for field in &site.field {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        if field.name.is_empty() || !field.name.chars().all(is_plain) || OPTIONS.contains(&&*field.name) {
            let name = field.name.escape_debug();
            return broken(format!(
                "invalid field name `{name}`: use letters, digits, _ and -, and no option of the command"
            ));
        }
        if site.field.iter().filter(|other| other.name == field.name).count() > 1 {
            return broken(format!("duplicate field `{}`", field.name));
        }
    }
    for (text, devices) in texts(site) {
        check_text(site, text, devices)?;
    }
    Ok(())
}

/// Every `{…}` is a field and every `$…` a name.
fn check_text(site: &Site, text: &str, devices: bool) -> Result<(), Fault> {
    let broken = |message: String| Err(Fault::from(message));
    for rest in text.split('{').skip(1) {
        let Some((name, _)) = rest.split_once('}') else {
            return broken(format!("`{}` has an unclosed {{", text.escape_debug()));
        };
        let is_devices = devices && name == "devices";
        if !is_devices && site.field.iter().all(|field| field.name != name) {
            return broken(format!("`{{{}}}` is used but is not a field", name.escape_debug()));
        }
    }
    for rest in text.split('$').skip(1) {
        if rest.starts_with(|c: char| c.is_ascii_digit()) || !rest.starts_with(is_name_letter) {
            return broken(format!("`{}` has a $ without a variable name", text.escape_debug()));
        }
    }
    Ok(())
}

/// All texts that can contain a user's fields, and whether they can contain `{devices}` too.
fn texts(site: &Site) -> impl Iterator<Item = (&String, bool)> {
    let plain = site.enable.iter().chain(site.words.values().flat_map(Texts::all));
    let settings = site.settings.iter().map(|setting| &setting.value);
    let counted = site.prefix.iter().chain(&site.request).chain(&site.select).chain(&site.directives);
    plain.chain(settings).map(|text| (text, false)).chain(counted.map(|text| (text, true)))
}

/// `YYYY-MM-DD`.
fn is_day(text: &str) -> bool {
    let fits = |(at, byte): (usize, u8)| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
    text.len() == 10 && text.bytes().enumerate().all(fits)
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(is_name_letter)
}

fn is_name_letter(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
