//! Parses tables from TOML, and checks them.

mod site;

use crate::launch::LaunchTable;
use crate::site::Site;
use crate::target::TargetTable;
use guide::Variable;
use serde::Deserialize;
use sorting::SortedMap;
use std::fmt;

/// An error in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The line, from 1, if one is affected.
    pub line: Option<usize>,
    /// What is wrong and what would be correct.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl From<String> for Fault {
    fn from(message: String) -> Fault {
        Fault { line: None, message }
    }
}

/// A TOML error, with its line.
fn fault(text: &str, error: &toml::de::Error) -> Fault {
    let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
    Fault { line: Some(line), message: error.message().to_string() }
}

/// Reads and checks a site file, whose targets have to exist.
///
/// # Errors
/// The error, with the line if one is affected.
pub fn read_site(text: &str, targets: &[&str]) -> Result<Site, Fault> {
    let site: Site = toml::from_str(text).map_err(|error| fault(text, &error))?;
    site::check(&site, targets)?;
    Ok(site)
}

/// The part of a guide's front matter that a launch uses.
#[derive(Deserialize)]
struct Front {
    target: Option<String>,
    #[serde(default)]
    order: i64,
    mode: Option<guide::Mode>,
    #[serde(default)]
    sdks: Vec<String>,
    #[serde(default)]
    variable: SortedMap<String, Variable>,
    extends: Option<String>,
    /// As written in this guide; keys that it leaves out may be inherited from another.
    launch: Option<LaunchTable>,
}

/// The targets among guides, in the guides' order: those with a table `[launch]`. Missing keys are inherited from the
/// target that the guide extends, and words for all targets are in a guide without one. `fronts` are paths, each with the front matter of the guide there.
///
/// # Errors
/// All errors, each with its path and, if one is affected, its line.
pub fn read_targets(fronts: &[(String, String)]) -> Result<Vec<TargetTable>, Vec<String>> {
    let mut known = Vec::new();
    let mut faults = Vec::new();
    for (path, text) in fronts {
        match toml::from_str::<Front>(text) {
            Ok(front) => known.push((path, text, front)),
            Err(error) => {
                // A line with `+++` is above the first.
                let Fault { line, message } = fault(text, &error);
                faults.push(format!("{path}:{}: {message}", 1 + line.unwrap_or_default()));
            }
        }
    }
    let of_all =
        known.iter().filter(|(.., front)| front.target.is_none()).find_map(|(.., front)| front.launch.as_ref());
    let foreign = of_all.map(|launch| launch.lint.foreign.clone()).unwrap_or_default();
    known.retain(|(.., front)| front.target.is_some() && front.launch.is_some());
    sorting::by(&mut known, |(.., a), (.., b)| (a.order, &a.target).cmp(&(b.order, &b.target)));
    let launch_of = |name: &str| {
        let (_, text, _) = known.iter().find(|(.., front)| front.target.as_deref() == Some(name))?;
        toml::from_str::<toml::Table>(text).ok()?.remove("launch")?.try_into::<toml::Table>().ok()
    };
    let mut targets = Vec::new();
    for (path, _, front) in &known {
        let name = front.target.clone().unwrap_or_default();
        let mut table = front.extends.as_deref().and_then(launch_of).unwrap_or_default();
        table.extend(launch_of(&name).unwrap_or_default());
        match table.try_into::<LaunchTable>() {
            Ok(mut launch) => {
                launch.lint.foreign.clone_from(&foreign);
                targets.push(TargetTable {
                    member: front.mode.as_ref().map_or(&name, |mode| &mode.name).to_lowercase(),
                    sdks: front.sdks.clone(),
                    variables: front.variable.clone(),
                    launch,
                    name,
                })
            }
            Err(error) => faults.push(format!("{path}: [launch]: {}", error.message())),
        }
    }
    if faults.is_empty() { Ok(targets) } else { Err(faults) }
}

#[cfg(test)]
mod tests;
