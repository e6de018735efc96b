//! Sites: those of the build, and files of the user's own.

use crate::embedded;
use crate::request::Problem;
use crate::target::Target;
use tables::Site;

/// The sites of this build, those for any machine first.
pub fn sites() -> Vec<Site> {
    embedded::sites()
}

/// Reads and checks a site file of the user's own.
///
/// # Errors
/// A problem at the field `site` that says what is wrong and, where one is at fault, in which line.
pub fn read_site(text: &str) -> Result<Site, Problem> {
    let targets: Vec<&str> = Target::all().map(Target::name).collect();
    tables::read_site(text, &targets).map_err(|fault| Problem::new("site", fault.to_string()))
}

/// What [`read_site`] says, as bytes for a program that has no reader of TOML.
#[must_use]
pub fn pack_read(read: &Result<Site, Problem>) -> Vec<u8> {
    let read = read.as_ref().map_err(|problem| &problem.message);
    postcard::to_allocvec(&read).unwrap_or_default()
}

/// What [`pack_read`] packed.
///
/// # Errors
/// The problem of the file, or one that says that the bytes are others.
pub fn unpack_read(packed: &[u8]) -> Result<Site, Problem> {
    let read: Result<Site, String> = postcard::from_bytes(packed).unwrap_or_else(|error| Err(error.to_string()));
    read.map_err(|message| Problem::new("site", message))
}

/// The site with that name that has the target; a group's name will do.
///
/// # Errors
/// A problem at the field `site` that lists the names there are.
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
    let what = if known { format!("`{name}` has no {}", target.name()) } else { format!("no site is called `{name}`") };
    Err(Problem::new("site", format!("{what}; there are {}, or a file of your own", names.join(", "))))
}

/// Whether a site has that accelerator.
pub(crate) fn has(site: &Site, target: Target) -> bool {
    site.targets.iter().any(|name| name == target.name())
}
