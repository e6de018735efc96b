//! A launch as a form: the fields for a target at a site, and their values.
//!
//! A field has the same name as on the command line, so that form, link and command are consistent.

mod archive;
mod shown;

pub use archive::all;
pub use shown::form;

use crate::draft::MOST;
use crate::request::{Problem, Request, Script, joins_of};
use crate::site::site_named;
use crate::target::Target;
use crate::word::{Word, split_words};
use crate::{Plan, plan, render};
use sorting::SortedMap;
use tables::{OPTIONS, Scheduler, Site};

/// The values of the fields, by name. A missing or empty field has its default.
pub type Fields = SortedMap<String, String>;

/// How a field is filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// One of these: value and label.
    Choice(Vec<(String, String)>),
    /// A whole number from 1.
    Number,
    /// A line of text.
    Text,
    /// Several lines of text.
    Lines,
    /// Yes or no: `on` or empty.
    Switch,
}

/// A field of the form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormField {
    /// The name of the command-line option without dashes, or the NAME of `--set NAME=VALUE`.
    pub name: String,
    /// Its label in a form.
    pub label: String,
    /// A line of help.
    pub help: String,
    /// How it is filled in.
    pub kind: FieldKind,
    /// Whether a script requires it.
    pub required: bool,
    /// Its default.
    pub default: String,
}

/// Fields that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormGroup {
    /// The group's heading.
    pub title: &'static str,
    /// Its fields.
    pub fields: Vec<FormField>,
    /// Whether it is collapsed by default, because few users need these fields.
    pub folded: bool,
}

/// A script, with its file name and purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// What the script does.
    pub plan: Plan,
    /// The script.
    pub script: String,
    /// A name for its file.
    pub file: String,
}

/// The function that reads a user's own site file: [`read_site`](crate::read_site), or a page's access to it.
pub type SiteReader<'r> = &'r dyn Fn(&str) -> Result<Site, Problem>;

/// The ports that a user may open.
const PORTS: &str = "from 1024 to 65535";

/// The name of the field with the user's own site file.
const OWN_SITE: &str = "site-file";

/// The text of a field; empty if it has none.
fn text<'a>(fields: &'a Fields, name: &str) -> &'a str {
    fields.get(name).map_or("", |value| value.trim())
}

/// The field of that name, as a form for the target shows it for the first scheduler and script that have it.
#[must_use]
pub fn field_of(target: Target, name: &str) -> Option<FormField> {
    let scripts = ["train", "setup", "collect"];
    let container = target.table().container.first().map_or("", |one| &one.by);
    let forms = scripts.iter().flat_map(|script| Scheduler::ALL.iter().map(move |scheduler| (script, scheduler)));
    forms.into_iter().find_map(|(script, scheduler)| {
        let fields = [
            ("target", target.name()),
            ("site", "generic"),
            ("script", *script),
            ("scheduler", scheduler.name()),
            ("container", container),
        ];
        let fields = fields.map(|(name, value)| (name.to_string(), value.to_string())).into();
        form(&fields, &crate::read_site).into_iter().flat_map(|group| group.fields).find(|field| field.name == name)
    })
}

/// Sets a field, like a user. A list's default is the same as no value; a number that was read from the code and then
/// changed is no longer the code's.
pub fn put(fields: &mut Fields, name: &str, value: String, read: SiteReader<'_>) {
    let known = form(fields, read).into_iter().flat_map(|group| group.fields).find(|field| field.name == name);
    let is_default = known.is_some_and(|field| matches!(field.kind, FieldKind::Choice(_)) && field.default == value);
    if value.is_empty() || is_default {
        fields.remove(name);
    } else {
        fields.insert(name.to_string(), value);
    }
    if matches!(name, "batch" | "accumulation") {
        fields.remove(&format!("{name}-from"));
    }
}

fn target(fields: &Fields) -> Result<Target, Problem> {
    let said = text(fields, "target");
    if said.is_empty() {
        return Ok(Target::default());
    }
    Target::named(said).ok_or_else(|| {
        let names: Vec<&str> = Target::all().map(Target::name).collect();
        Problem::new("target", format!("`{said}` is not one of {}", names.join(", ")))
    })
}

/// The text of the user's own site file, if the fields select it.
#[must_use]
pub fn own_site(fields: &Fields) -> Option<&str> {
    let own = fields.get(OWN_SITE).map(String::as_str).unwrap_or_default();
    (text(fields, "site") == "own" && !own.trim().is_empty()).then_some(own)
}

/// The site selected by the fields: a built-in one, or the user's file.
///
/// # Errors
/// A problem at `site`, or at `site-file` with the line of the file.
pub fn site(fields: &Fields, read: SiteReader<'_>) -> Result<Site, Problem> {
    match text(fields, "site") {
        "own" => match own_site(fields) {
            Some(own) => read(own).map_err(|problem| Problem::new(OWN_SITE, problem.message)),
            None => Err(Problem::new(OWN_SITE, "is required: the text of your site file")),
        },
        "" => site_named("generic", target(fields)?),
        name => site_named(name, target(fields)?),
    }
}

/// The purpose of the script; training by default.
fn script(fields: &Fields) -> Script {
    match text(fields, "script") {
        "setup" => Script::Setup,
        "collect" => Script::Collect,
        _ => Script::Train,
    }
}

/// The chosen scheduler, otherwise the first that the site has.
fn scheduler_of(fields: &Fields, site: Option<&Site>) -> Scheduler {
    let said = text(fields, "scheduler");
    let first = site.and_then(|site| site.schedulers.first()).copied();
    Scheduler::ALL.into_iter().find(|scheduler| scheduler.name() == said).or(first).unwrap_or(Scheduler::Bash)
}

/// The request described by the fields.
///
/// # Errors
/// Values that can't be parsed, each at its field.
pub fn request(fields: &Fields, read: SiteReader<'_>) -> Result<Request, Vec<Problem>> {
    let target = target(fields).map_err(|problem| vec![problem])?;
    let site = site(fields, read).map_err(|problem| vec![problem])?;
    let mut problems = Vec::new();
    let mut request = Request::new(target, text(fields, "entry"));
    request.scheduler = scheduler_of(fields, Some(&site));
    request.script = script(fields);
    match split_words(fields.get("args").map_or("", String::as_str)) {
        Some(words) => request.args = words,
        None => problems.push(Problem::new("args", "a quote is not closed")),
    }
    let mut number = |name: &str| -> Option<u32> {
        let said = text(fields, name);
        match said.parse() {
            _ if said.is_empty() => None,
            Ok(number) => Some(number),
            Err(_) => {
                let range = if name == "port" { PORTS.to_string() } else { format!("from 1 to {MOST}") };
                problems.push(Problem::new(name, format!("`{said}` is not a whole number {range}")));
                None
            }
        }
    };
    request.nodes = number("nodes").unwrap_or(1);
    request.instances = number("instances");
    request.replicas = number("replicas");
    request.devices_per_replica = number("devices-per-replica").unwrap_or(1);
    request.batch = number("batch");
    request.accumulation = number("accumulation");
    let port = number("port");
    match port.map(u16::try_from) {
        Some(Ok(port)) if port >= 1024 => request.port = Some(port),
        Some(_) => problems.push(Problem::new("port", format!("must be {PORTS}"))),
        None => {}
    }
    let list =
        |name: &str| text(fields, name).split(',').map(str::trim).filter(|one| !one.is_empty()).map(String::from);
    request.hosts = list("hosts").collect();
    request.needs = list("needs").collect();
    request.suits = Some(text(fields, "suits")).filter(|name| !name.is_empty()).map(str::to_string);
    request.launcher = Some(text(fields, "launcher")).filter(|name| !name.is_empty()).map(str::to_string);
    let own = |name: &str| Some(text(fields, name)).filter(|said| !said.is_empty()).map(str::to_string);
    let lines =
        |name: &str| text(fields, name).lines().map(str::trim).filter(|line| !line.is_empty()).map(String::from);
    request.directives = lines("directive").collect();
    request.load = list("load").collect();
    for line in lines("env") {
        match line.split_once('=') {
            Some((name, value)) => request.env.push((name.to_string(), value.to_string())),
            None => problems.push(Problem::new("env", format!("`{line}` is not NAME=VALUE"))),
        }
    }
    request.distributed_key = own("distributed-key");
    request.batch_key = own("batch-key");
    request.batch_from = own("batch-from");
    request.accumulation_from = own("accumulation-from");
    request.shared_batch = own("shared-batch");
    request.accumulation_key = own("accumulation-key");
    request.join_args = split_words(text(fields, "join-args")).unwrap_or_default();
    request.joined_by = joins_of(text(fields, "joined-by"));
    request.devices_key = own("devices-key");
    request.nodes_key = own("nodes-key");
    request.spawn_key = own("spawn-key");
    request.divided = text(fields, "divided") == "on";
    request.ahead = list("ahead").collect();
    request.alone = text(fields, "alone") == "on";
    // All other filled-in fields at this site are values of `--set`.
    for shown in form(fields, read).into_iter().flat_map(|group| group.fields) {
        let value = fields.get(&shown.name).map(String::as_str).unwrap_or_default();
        if !OPTIONS.contains(&&*shown.name) && !value.is_empty() {
            request.values.insert(shown.name, value.to_string());
        }
    }
    if problems.is_empty() { Ok(request) } else { Err(problems) }
}

/// The script for the fields.
///
/// # Errors
/// All problems, each at its field.
pub fn write(fields: &Fields, read: SiteReader<'_>) -> Result<Written, Vec<Problem>> {
    let site = site(fields, read).map_err(|problem| vec![problem])?;
    let request = request(fields, read)?;
    let plan = plan(&request, &site)?;
    let script = render(&plan);
    Ok(Written { script, file: request.file_name(), plan })
}

/// The command that writes the same script.
#[must_use]
pub fn command(fields: &Fields, read: SiteReader<'_>) -> String {
    let mut line = String::from("portolan launch");
    let mut add = |words: &[&str]| {
        for word in words {
            line.push(' ');
            line += &Word::text(*word).quoted();
        }
    };
    for shown in form(fields, read).into_iter().flat_map(|group| group.fields) {
        let said = fields.get(&shown.name).map(String::as_str).unwrap_or_default();
        let is_set = !said.trim().is_empty();
        match &*shown.name {
            "target" => add(&["--target", if is_set { said } else { &shown.default }]),
            "site" if said == "own" => add(&["--site", "site.toml"]),
            "script" if said == "setup" => add(&["--setup"]),
            "script" if said == "collect" => add(&["--collect"]),
            OWN_SITE | "script" => {}
            // Without `--scheduler` the command uses bash, the form the first scheduler of a site without bash.
            "scheduler" if !is_set && shown.default != "bash" => add(&["--scheduler", &shown.default]),
            _ if !is_set || said == shown.default => {}
            "alone" | "divided" => add(&[&format!("--{}", shown.name)]),
            "args" => add(&[&format!("--args={said}")]),
            "env" | "directive" => {
                for line in said.lines().map(str::trim).filter(|line| !line.is_empty()) {
                    add(&[&format!("--{}={line}", shown.name)]);
                }
            }
            "needs" | "batch-key" | "accumulation-key" | "distributed-key" | "join-args" | "joined-by"
            | "devices-key" | "nodes-key" | "spawn-key" | "suits" | "ahead" => {
                add(&[&format!("--{}={}", shown.name, said.trim())]);
            }
            name if OPTIONS.contains(&name) => add(&[&format!("--{name}"), said.trim()]),
            name => add(&["--set", &format!("{name}={said}")]),
        }
    }
    line
}

#[cfg(test)]
mod tests;
