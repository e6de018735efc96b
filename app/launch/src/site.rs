//! Sites: built-in ones, and the user's own files.

use crate::embedded;
use crate::request::Problem;
use crate::target::Target;
use tables::Site;

/// The built-in sites, those for any machine first.
pub fn sites() -> Vec<Site> {
    embedded::sites()
}

/// Reads and checks a user's own site file.
///
/// # Errors
/// A problem at the field `site` with the error and, if one is affected, its line.
pub fn read_site(text: &str) -> Result<Site, Problem> {
    let targets: Vec<&str> = Target::all().map(Target::name).collect();
    tables::read_site(text, &targets).map_err(|fault| Problem::new("site", fault.to_string()))
}

/// The site with that name that has the target; a group's name is enough.
///
/// # Errors
/// A problem at the field `site` that lists the existing names.
pub fn site_named(name: &str, target: Target) -> Result<Site, Problem> {
    let all = sites();
    let matching = |site: &&Site| site.name == name || site.group.as_deref() == Some(name);
    if let Some(site) = all.iter().filter(matching).find(|site| has(site, target)) {
        return Ok(site.clone());
    }
    let known = all.iter().any(|site| matching(&site));
    let mut names: Vec<&str> = Vec::new();
    for site in all.iter().filter(|site| has(site, target)) {
        for own in site.group.as_deref().into_iter().chain([&*site.name]) {
            if !names.contains(&own) {
                names.push(own);
            }
        }
    }
    let what = if known { format!("`{name}` has no {}", target.name()) } else { format!("unknown site `{name}`") };
    Err(Problem::new("site", format!("{what}; available: {}, or your own file", names.join(", "))))
}

/// Whether a site has that accelerator.
pub(crate) fn has(site: &Site, target: Target) -> bool {
    site.targets.iter().any(|name| name == target.name())
}
