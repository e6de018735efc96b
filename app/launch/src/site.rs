//! What a machine is like: data, one TOML file each.
//!
//! In a file's texts `{field}` stands for what the user gives for that field, taken as it is, and `$NAME` for an
//! environment variable when the script runs. A file with a key that is not described here is refused.

use crate::condition::When;
use crate::form::OPTIONS as FORM;
use crate::plan::Monitor;
use crate::request::{Problem, Request, Scheduler, Script};
use crate::table::{CommandEntry, Field, SetEntry, Texts, Words};
use crate::target::{SITES, Target};
use crate::word::{Part, Word};
use serde::Deserialize;

/// Whether what the file says can be expected to hold today.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Documented by the site.
    Current,
    /// Was documented; the machine or its pages are gone.
    Archival,
    /// Knows nothing of the machine: the user fills it in.
    Template,
}

/// A variable that the site's own pages ask for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SiteSetting {
    /// Its name.
    pub name: String,
    /// Its value; `{field}` and `$NAME` as anywhere.
    pub value: String,
    /// One line of why.
    pub why: String,
    /// Whether only a launch on several machines needs it.
    #[serde(default)]
    pub several_nodes: bool,
}

/// One machine, for some targets.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Site {
    /// Its own name.
    pub name: String,
    /// The name it shares with the other machines of its site: `--site alcf` takes the one that has the target.
    pub group: Option<String>,
    /// As people know it.
    pub title: String,
    /// Whether it can be expected to hold.
    pub status: Status,
    /// Where the facts are written.
    pub source: String,
    /// The day on which they were compared with the source, `YYYY-MM-DD`; each site of the build has one.
    pub checked: Option<String>,
    /// What it has.
    pub targets: Vec<Target>,
    /// How jobs are started there.
    pub schedulers: Vec<Scheduler>,
    /// Devices of one machine.
    pub devices_per_node: Option<u32>,
    /// Devices of the whole site that one job can have.
    pub devices: Option<u32>,
    /// Machines.
    pub nodes: Option<u32>,
    /// Processor cores of one machine, where tasks share them out.
    pub cpus_per_node: Option<u32>,
    /// Memory of one machine in GiB, where jobs share machines.
    pub memory_per_node: Option<u32>,
    /// Environment modules that a job loads.
    #[serde(default)]
    pub load: Vec<String>,
    /// Slurm's partition.
    pub partition: Option<String>,
    /// Slurm's quality of service.
    pub qos: Option<String>,
    /// Slurm's word for devices, `{devices}` being their number: of one machine, or of all where the target shares them out.
    pub request: Option<String>,
    /// PBS's word for the devices of one machine, such as `ngpus={devices}`.
    pub select: Option<String>,
    /// More that the scheduler is to be told, in the words of its directives.
    #[serde(default)]
    pub directives: Vec<String>,
    /// What every command on a device starts with when a user starts the script by hand.
    #[serde(default)]
    pub prefix: Vec<String>,
    /// Files to source.
    #[serde(default)]
    pub enable: Vec<String>,
    /// A variable that says they were sourced before.
    pub enabled_by: Option<String>,
    /// Texts that the target's commands take as `{site.NAME}`, such as a program's path or the vendor's wheels.
    #[serde(default)]
    pub words: Words,
    /// Variables of the site.
    #[serde(default)]
    pub settings: Vec<SiteSetting>,
    /// What only the user knows.
    #[serde(default)]
    pub field: Vec<Field>,
    /// Variables under conditions, behind the target's own.
    #[serde(default)]
    pub(crate) set: Vec<SetEntry>,
    /// Commands that take the place of the target's, by launcher.
    #[serde(default)]
    pub(crate) command: Vec<CommandEntry>,
    /// Commands that show what the devices do.
    #[serde(default)]
    pub monitors: Vec<Monitor>,
    /// What a user should know.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// The sites of this build, those for any machine first. Each file is read by a test, so a broken one is never part of a
/// build that passed.
pub fn sites() -> Vec<Site> {
    let mut all: Vec<Site> = SITES.iter().filter_map(|(_, text)| Site::read(text).ok()).collect();
    all.sort_by_key(|site| site.group.as_deref() != Some("generic"));
    all
}

/// The site with that name that has the target; a group's name will do.
///
/// # Errors
/// A problem at the field `site` that lists the names there are.
pub fn site_named(name: &str, target: Target) -> Result<Site, Problem> {
    let all = sites();
    let matching = |site: &&Site| site.name == name || site.group.as_deref() == Some(name);
    if let Some(site) = all.iter().filter(matching).find(|site| site.targets.contains(&target)) {
        return Ok(site.clone());
    }
    let known = all.iter().any(|site| matching(&site));
    let mut names: Vec<&str> = all
        .iter()
        .filter(|site| site.targets.contains(&target))
        .flat_map(|site| site.group.as_deref().into_iter().chain([&*site.name]))
        .collect();
    names.sort_unstable();
    names.dedup();
    let what = if known { format!("`{name}` has no {}", target.name()) } else { format!("no site is called `{name}`") };
    Err(Problem::new("site", format!("{what}; there are {}, or a file of your own", names.join(", "))))
}

impl Site {
    /// Reads and checks a site file.
    ///
    /// # Errors
    /// A problem at the field `site` that says what is wrong and in which line.
    pub fn read(text: &str) -> Result<Site, Problem> {
        let site: Site = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
            Problem::new("site", format!("line {line}: {}", error.message()))
        })?;
        let broken = |message: String| Err(Problem::new("site", message));
        if site.targets.is_empty() || site.schedulers.is_empty() {
            return broken("`targets` and `schedulers` name at least one each".into());
        }
        if let Some(day) = site.checked.as_deref().filter(|day| !is_day(day)) {
            return broken(format!("`{}` is no day such as 2026-11-22", day.escape_debug()));
        }
        let directives = [&site.partition, &site.request, &site.select, &site.qos];
        if let Some(text) = directives.into_iter().flatten().find(|text| text.contains(char::is_control)) {
            return broken(format!("`{}` is more than one line", text.escape_debug()));
        }
        if site.request.as_deref().is_some_and(|text| !text.starts_with('-') || text.contains(['$', '*'])) {
            return broken("`request` is an option of sbatch, such as --gres=gpu:{devices}".into());
        }
        let is_directive =
            |text: &&String| text.starts_with('-') && !text.contains(['$', '*']) && !text.contains(char::is_control);
        if let Some(text) = site.directives.iter().find(|text| !is_directive(text)) {
            return broken(format!("`{}` is no option of a scheduler", text.escape_debug()));
        }
        let variables = site.enabled_by.iter().chain(site.settings.iter().map(|setting| &setting.name));
        if let Some(name) = variables.into_iter().find(|name| !is_name(name)) {
            return broken(format!("`{}` is no name of a variable", name.escape_debug()));
        }
        for field in &site.field {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
            if field.name.is_empty() || !field.name.chars().all(is_plain) || FORM.contains(&&*field.name) {
                let name = field.name.escape_debug();
                return broken(format!(
                    "a field can't be called `{name}`: letters, digits, _ and -, and no word of the command"
                ));
            }
            if site.field.iter().filter(|other| other.name == field.name).count() > 1 {
                return broken(format!("there are two fields `{}`", field.name));
            }
        }
        for (text, devices) in site.texts() {
            site.check_text(text, devices)?;
        }
        Ok(site)
    }

    /// Every `{…}` is a field and every `$…` a name.
    fn check_text(&self, text: &str, devices: bool) -> Result<(), Problem> {
        let broken = |message: String| Err(Problem::new("site", message));
        for rest in text.split('{').skip(1) {
            let Some((name, _)) = rest.split_once('}') else {
                return broken(format!("`{}` has a {{ that is not closed", text.escape_debug()));
            };
            let is_devices = devices && name == "devices";
            if !is_devices && self.field.iter().all(|field| field.name != name) {
                return broken(format!("`{{{}}}` is used and is not among its fields", name.escape_debug()));
            }
        }
        for rest in text.split('$').skip(1) {
            if rest.starts_with(|c: char| c.is_ascii_digit()) || !rest.starts_with(is_name_letter) {
                return broken(format!("`{}` has a $ without the name of a variable", text.escape_debug()));
            }
        }
        Ok(())
    }

    /// All texts that a user's fields can stand in, and whether `{devices}` can too.
    fn texts(&self) -> impl Iterator<Item = (&String, bool)> {
        let plain = self.enable.iter().chain(self.words.values().flat_map(Texts::all));
        let settings = self.settings.iter().map(|setting| &setting.value);
        let counted = self.prefix.iter().chain(&self.request).chain(&self.select).chain(&self.directives);
        plain.chain(settings).map(|text| (text, false)).chain(counted.map(|text| (text, true)))
    }

    /// The fields that stand in the words for devices, which are directives.
    pub(crate) fn directive_fields(&self) -> impl Iterator<Item = &str> {
        let texts = self.request.iter().chain(&self.select).chain(&self.directives);
        let names = texts.flat_map(|text| text.split('{').skip(1).filter_map(|rest| rest.split('}').next()));
        names.filter(|name| *name != "devices")
    }

    /// A text of the file with the user's fields in it.
    pub(crate) fn filled(&self, request: &Request, text: &str) -> String {
        let mut out = String::new();
        let mut parts = text.split('{');
        out += parts.next().unwrap_or_default();
        for part in parts {
            let (name, after) = part.split_once('}').unwrap_or((part, ""));
            out += self.value(request, name).unwrap_or_default();
            out += after;
        }
        out
    }

    /// What the user, or else the file, says for a field. Empty is nothing.
    pub(crate) fn value<'a>(&'a self, request: &'a Request, name: &str) -> Option<&'a str> {
        let given = request.values.get(name).map(String::as_str).filter(|value| !value.is_empty());
        let of_site = self.field.iter().find(|field| field.name == name);
        let of_target = || request.target.table().field.iter().find(|field| field.name == name);
        given.or_else(|| of_site.or_else(of_target)?.default.as_deref())
    }

    /// A text of the file as a word. A field that has no value is left empty; [`Site::missing`] reports it.
    pub(crate) fn word(&self, request: &Request, text: &str) -> Word {
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
                parts.push(Part::Text(self.value(request, &after[..end]).unwrap_or_default().to_string()));
                rest = after.get(end + 1..).unwrap_or_default();
            }
        }
        if !rest.is_empty() || parts.is_empty() {
            parts.push(Part::Text(rest.to_string()));
        }
        Word(parts)
    }

    /// Whether that script has a use for a field of the site: a training for all, the others for those of the SDK.
    pub(crate) fn asks_for(&self, field: &Field, script: Script) -> bool {
        let word = format!("{{{}}}", field.name);
        let mut sdk = self.enable.iter().chain(self.words.values().flat_map(Texts::all));
        script == Script::Train || sdk.any(|text| text.contains(&word))
    }

    /// Required fields without a value where their condition holds, and values for fields that there are none of.
    pub(crate) fn missing(&self, request: &Request, holds: impl Fn(&When) -> bool) -> Vec<Problem> {
        let mut problems = Vec::new();
        let asked = |field: &&Field| field.required && self.asks_for(field, request.script) && holds(&field.when);
        for field in self.field.iter().filter(asked) {
            if self.value(request, &field.name).is_none() {
                problems.push(Problem::new(&field.name, format!("is required at {}: {}", self.title, field.label)));
            }
        }
        let known = &request.target.table().field;
        for name in request.values.keys() {
            let is_known = self.field.iter().chain(known).any(|field| field.name == *name);
            if !is_known && !COMMON.contains(&&**name) {
                problems.push(Problem::new(name, format!("{} has no field of this name", self.title)));
            }
        }
        problems
    }
}

/// Fields that every site and every target has; they are set with `--set` too.
pub const COMMON: [&str; 22] = [
    "account",
    "partition",
    "time",
    "venv",
    "results",
    "archive",
    "job",
    "select",
    "requirements",
    "qos",
    "mail",
    "array",
    "array-key",
    "after",
    "requeue",
    "exclusive",
    "memory",
    "cores",
    "checkpoints",
    "resume-key",
    "container",
    "image",
];

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_build_reads() {
        for (name, text) in SITES {
            let site = Site::read(text).unwrap_or_else(|problem| panic!("{name}: {problem}"));
            assert_eq!(*name, site.name);
            assert!(site.checked.is_some(), "{name}: `checked` says on which day its facts were looked up");
        }
    }

    #[test]
    fn a_broken_file_says_where() {
        let good = SITES.iter().find(|(name, _)| *name == "generic-hpu").expect("a site").1;
        let check = |text: &str, said: &str| {
            let problem = Site::read(text).expect_err("refused").to_string();
            assert!(problem.contains(said), "{problem}");
        };
        check(&good.replace("title =", "titel ="), "titel");
        check("name = 3", "line 1");
        check(&good.replace("[\"hpu\"]", "[\"tpu\"]"), "tpu");

        let with = |line: &str| good.replace("title =", &format!("{line}\ntitle ="));
        check(&with("enable = [\"{nothing}/x\"]"), "`{nothing}` is used");
        check(&with("enabled_by = \"A; rm\""), "no name of a variable");
        check(&with("settings = [{ name = \"A B\", value = \"1\", why = \"x\" }]"), "no name of a variable");
        check(&with("enable = [\"{nothing/x\"]"), "a { that is not closed");
        check(&with("enable = [\"a$/x\"]"), "a $ without the name");
        check(&good.replace("{devices}", "{kind}"), "`{kind}` is used");
        check(&good.replace("--gres=", "gres="), "an option of sbatch");
        check(&good.replace("--gres=", "--gres=a\\n"), "more than one line");
        check(&with("field = [{ name = \"entry\", label = \"x\" }]"), "no word of the command");
        check(&with("field = [{ name = \"a\", label = \"x\" }, { name = \"a\", label = \"y\" }]"), "two fields `a`");
    }
}
