//! From a request and a site to a plan: what is checked and set for every target. The rest is in one file a target.

mod collect;
mod command;
mod gaudi;
mod graphcore;
mod program;
mod sambanova;

use crate::plan::{Asked, Plan, Resources, Setting, Step};
use crate::request::{Problem, Request, Scheduler, Script, Target};
use crate::site::{Site, Status};
use crate::word::Word;
use command::Command;

pub use program::said;

/// More of anything than any of these machines has.
const MOST: u32 = 4096;

const PIP: &str = "https://pip.pypa.io/en/stable/cli/pip_install/";
const PYTHON: &str = "https://docs.python.org/3/using/cmdline.html";

/// The plan, or everything that is wrong with the request, each at its field.
///
/// # Errors
/// Problems, at least one.
pub fn plan(request: &Request, site: &Site) -> Result<Plan, Vec<Problem>> {
    let mut draft = Draft::new(request, site);
    draft.check();
    if draft.problems.is_empty() {
        match (request.script, request.target) {
            (Script::Setup, _) => draft.set_up(),
            (Script::Collect, _) => collect::build(&mut draft),
            (Script::Train, Target::Hpu) => gaudi::build(&mut draft),
            (Script::Train, Target::Rdu) => sambanova::build(&mut draft),
            (Script::Train, Target::Ipu | Target::Popdist) => graphcore::build(&mut draft),
        }
    }
    if draft.problems.is_empty() { Ok(draft.plan) } else { Err(draft.problems) }
}

/// A plan in the making.
struct Draft<'a> {
    request: &'a Request,
    site: &'a Site,
    plan: Plan,
    problems: Vec<Problem>,
    /// Arguments that follow from the numbers, and why; they stand behind the user's.
    own_args: Vec<(String, String)>,
}

impl<'a> Draft<'a> {
    fn new(request: &'a Request, site: &'a Site) -> Draft<'a> {
        let own = |name: &str| {
            let value = site.value(request, name)?.to_string();
            let source = if request.values.contains_key(name) { String::new() } else { site.source.clone() };
            Some(Asked { value, source })
        };
        let of_site = |value: &String| Asked { value: value.clone(), source: site.source.clone() };
        let resources = Resources {
            name: site.value(request, "job").map_or(format!("portolan-{}", request.target.name()), str::to_string),
            nodes: request.nodes,
            partition: own("partition").or_else(|| site.partition.as_ref().map(of_site)),
            account: own("account"),
            time: own("time"),
            ..Resources::default()
        };
        let mut notes = vec![format!("Site: {} ({})", site.title, site.source)];
        if site.status == Status::Archival {
            notes.push("Archival: written from pages that are no longer published.".into());
        }
        notes.extend(site.notes.iter().cloned());
        let plan = Plan {
            title: String::new(),
            scheduler: if request.script == Script::Train { request.scheduler } else { Scheduler::Bash },
            resources,
            steps: Vec::new(),
            arithmetic: Vec::new(),
            monitors: site.monitors.clone(),
            notes,
        };
        Draft { request, site, plan, problems: Vec::new(), own_args: Vec::new() }
    }

    fn problem(&mut self, field: &str, message: impl Into<String>) {
        self.problems.push(Problem::new(field, message));
    }

    fn check(&mut self) {
        let (request, site) = (self.request, self.site);
        if !site.targets.contains(&request.target) {
            self.problem("site", format!("{} has no {}", site.title, request.target.name()));
        }
        if request.script == Script::Train && !site.schedulers.contains(&request.scheduler) {
            let names: Vec<_> = site.schedulers.iter().map(|scheduler| scheduler.name()).collect();
            self.problem("scheduler", format!("{} is known to take {}", site.title, names.join(" or ")));
        }
        if request.script != Script::Train {
            // The program is not run.
        } else if request.entry.is_empty() {
            self.problem("entry", "is required: the program that trains");
        } else if request.entry.starts_with('-') {
            self.problem("entry", "would be read as an option; write ./ before it");
        }
        let keys = [&request.batch_key, &request.distributed_key].into_iter().flatten();
        let texts = std::iter::once(&request.entry).chain(keys).chain(&request.args).chain(request.values.values());
        if texts.chain(&request.hosts).any(|text| text.contains('\0')) {
            self.problem("args", "no argument of a command can hold a NUL byte");
        }
        let numbers = [
            ("nodes", Some(request.nodes)),
            ("instances", request.instances),
            ("replicas", request.replicas),
            ("ipus-per-replica", Some(request.ipus_per_replica)),
            ("batch", request.batch),
            ("accumulation", request.accumulation),
        ];
        for (field, number) in numbers {
            if number.is_some_and(|number| !(1..=MOST).contains(&number)) {
                self.problem(field, format!("must be from 1 to {MOST}"));
            }
        }
        if let Some(nodes) = site.nodes.filter(|nodes| *nodes < request.nodes) {
            self.problem("nodes", format!("{} has {nodes}", site.title));
        }
        for host in &request.hosts {
            if host.starts_with('-') || !host.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c)) {
                self.problem("hosts", format!("`{}` is no name of a machine", host.escape_debug()));
            }
        }
        self.directives();
        for name in ["threads", "cores"] {
            let number = site.value(request, name).map(str::parse::<u32>);
            if number.is_some_and(|number| !number.is_ok_and(|number| (1..=MOST).contains(&number))) {
                self.problem(name, format!("must be a number from 1 to {MOST}"));
            }
        }
        if request.script == Script::Train {
            self.needs();
        }
        self.problems.extend(site.missing(request));
    }

    /// What becomes part of a directive is never quoted, so it is held to what needs no quotes.
    fn directives(&mut self) {
        let asked = self.plan.resources.clone();
        let value = |asked: Option<Asked>| asked.map(|asked| asked.value);
        let (site, request) = (self.site, self.request);
        let own = |field| (field, site.value(request, field).map(str::to_string));
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-:".contains(c);
        let named = [("partition", value(asked.partition)), ("account", value(asked.account)), own("job")];
        for (field, value) in named.into_iter().chain(site.directive_fields().map(own)) {
            if value.is_some_and(|value| value.starts_with('-') || !value.chars().all(plain)) {
                self.problem(field, "takes letters, digits and . _ - : only");
            }
        }
        if request.scheduler == Scheduler::Pbs && request.script == Script::Train {
            let select = site.value(request, "select");
            let plain = |c: char| plain(c) || c == '=';
            match select {
                None if site.select.is_none() => {
                    let message = "is required: what PBS calls the devices of a machine and how many, such as ngpus=8, or \
                                   none where a job has whole machines";
                    self.problem("select", message);
                }
                Some(select) if select.starts_with([':', '-']) || !select.chars().all(plain) => {
                    self.problem("select", "takes letters, digits and . _ - : = only");
                }
                _ => {}
            }
        }
        let days = request.scheduler != Scheduler::Pbs;
        if value(asked.time).is_some_and(|time| !is_wall_time(&time, days)) {
            let days = if days { ", or days before it: 1-12:00:00" } else { "" };
            self.problem("time", format!("takes hours, minutes and seconds: 01:30:00{days}"));
        }
    }

    fn set(&mut self, name: &str, value: impl Into<Word>, why: &str, source: &str) {
        let setting = Setting { name: name.into(), value: value.into(), why: why.into(), source: source.into() };
        self.plan.steps.push(Step::Set(setting));
    }

    fn step(&mut self, command: Command, why: impl Into<String>) {
        self.plan.steps.push(command.step(why));
    }

    /// Whether an earlier step sets the variable.
    fn is_set(&self, name: &str) -> bool {
        self.plan.steps.iter().any(|step| matches!(step, Step::Set(setting) if setting.name == name))
    }

    /// The variables that the site's file names.
    fn site_settings(&mut self) {
        let (site, request) = (self.site, self.request);
        for setting in site.settings.iter().filter(|setting| request.nodes > 1 || !setting.several_nodes) {
            let value = site.word(request, &setting.value);
            self.set(&setting.name, value, &setting.why, &site.source);
        }
    }

    fn set_up(&mut self) {
        let Some(venv) = self.site.value(self.request, "venv").map(str::to_string) else {
            return self.problem("venv", "is required: folder for the virtual environment");
        };
        match self.request.target {
            Target::Hpu => gaudi::set_up(self, &venv),
            Target::Rdu => sambanova::set_up(self, &venv),
            Target::Ipu | Target::Popdist => graphcore::set_up(self, &venv),
        }
        if let Some(file) = self.site.value(self.request, "requirements").map(str::to_string) {
            let pip = format!("{}/bin/pip", here(&venv));
            let why = "the file must not name PyTorch or TensorFlow: pip would put its own in the vendor's place";
            let command = Command::new([&pip, "install"], PIP).flag(["-r".into(), here(&file).into()], why);
            self.step(command, "The project's own packages.");
        }
    }

    /// A virtual environment, when the user has one.
    fn activate(&mut self) {
        if let Some(venv) = self.site.value(self.request, "venv") {
            let files = vec![Word::text(format!("{}/bin/activate", here(venv)))];
            let why = "The virtual environment with the project's packages.".to_string();
            self.plan.steps.push(Step::Source { files, unless: None, why, source: String::new() });
        }
    }

    /// What a command on a device starts with: nothing inside a job, the site's own way by hand.
    fn prefix(&self, devices: u32) -> Vec<Word> {
        if self.request.scheduler != Scheduler::Bash {
            return Vec::new();
        }
        let texts = self.site.prefix.iter();
        texts.map(|text| self.site.word(self.request, &text.replace("{devices}", &devices.to_string()))).collect()
    }

    /// The scheduler's word for that many devices, as a directive. PBS counts them by machine, and no two sites call them
    /// the same.
    fn ask_for(&mut self, devices: u32) {
        let (site, request) = (self.site, self.request);
        let filled = |text: &str| site.filled(request, &text.replace("{devices}", &devices.to_string()));
        let of_site = |text: &String| Asked { value: filled(text), source: site.source.clone() };
        self.plan.resources.devices = match request.scheduler {
            Scheduler::Bash | Scheduler::Slurm => site.request.as_ref().map(of_site),
            Scheduler::Pbs => match site.value(request, "select") {
                Some("none") => None,
                Some(own) => Some(Asked { value: own.to_string(), source: String::new() }),
                None => site.select.as_ref().map(of_site),
            },
        };
    }
}

/// `HH:MM:SS`, which both schedulers take; Slurm also takes days before it.
fn is_wall_time(text: &str, days: bool) -> bool {
    let (day, time) = match text.split_once('-') {
        Some((day, time)) if days => (day, time),
        Some(_) => return false,
        None => ("0", text),
    };
    let number = |text: &str, most: usize| {
        let is_number = (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse::<u32>().ok()).flatten()
    };
    let parts: Vec<&str> = time.split(':').collect();
    let [hours, minutes, seconds] = parts[..] else { return false };
    let below_sixty = |text: &str| text.len() == 2 && number(text, 2).is_some_and(|number| number < 60);
    let is_something = text.bytes().any(|byte| (b'1'..=b'9').contains(&byte));
    number(day, 3).is_some()
        && number(hours, 4).is_some()
        && below_sixty(minutes)
        && below_sixty(seconds)
        && is_something
}

/// `1 card`, `8 cards`.
fn count(number: impl Into<u64>, one: &str) -> String {
    let number = number.into();
    let ending = match number {
        1 => "",
        _ if one.ends_with(['s', 'h']) => "es",
        _ => "s",
    };
    format!("{number} {one}{ending}")
}

/// A path that `.` or a command doesn't take for an option or look up in PATH.
fn here(path: &str) -> String {
    if path.starts_with('/') || path.starts_with("./") || path.starts_with("../") {
        path.to_string()
    } else {
        format!("./{path}")
    }
}

/// Words of text.
fn words<const N: usize>(texts: [&str; N]) -> Vec<Word> {
    texts.into_iter().map(Word::from).collect()
}
