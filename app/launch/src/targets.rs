//! From a request and a site to a plan: what is checked and set for every target. The rest is in one file a target.

mod gaudi;
mod graphcore;
mod program;
mod sambanova;

use crate::plan::{Plan, Resources, Setting, Step};
use crate::request::{Problem, Request, Scheduler, Script, Target};
use crate::site::{Site, Status};
use crate::word::Word;

pub use program::said;

/// More of anything than any of these machines has.
const MOST: u32 = 4096;

/// The plan, or everything that is wrong with the request, each at its field.
///
/// # Errors
/// Problems, at least one.
pub fn plan(request: &Request, site: &Site) -> Result<Plan, Vec<Problem>> {
    let mut draft = Draft::new(request, site);
    draft.check();
    if draft.problems.is_empty() {
        match request.target {
            Target::Hpu => gaudi::build(&mut draft),
            Target::Rdu => sambanova::build(&mut draft),
            Target::Ipu | Target::Popdist => graphcore::build(&mut draft),
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
    /// Arguments that follow from the numbers; they stand behind the user's.
    own_args: Vec<String>,
}

impl<'a> Draft<'a> {
    fn new(request: &'a Request, site: &'a Site) -> Draft<'a> {
        let own = |name: &str| site.value(request, name).map(str::to_string);
        let resources = Resources {
            name: format!("portolan-{}", request.target.name()),
            nodes: request.nodes,
            partition: own("partition").or_else(|| site.partition.clone()),
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
        if !site.schedulers.contains(&request.scheduler) {
            let names: Vec<_> = site.schedulers.iter().map(|scheduler| scheduler.name()).collect();
            self.problem("scheduler", format!("{} is known to take {}", site.title, names.join(" or ")));
        }
        if request.script == Script::Setup {
            // Nothing is run but what makes the environment.
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
            ("accumulation", Some(request.accumulation)),
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
        // What becomes part of a directive is never quoted, so it is held to what needs no quotes.
        let resources = self.plan.resources.clone();
        let named = [("partition", resources.partition), ("account", resources.account), ("time", resources.time)];
        let gres = site.value(request, "gres").map(str::to_string);
        for (field, value) in named.into_iter().chain([("gres", gres)]) {
            let plain = |c: char| c.is_ascii_alphanumeric() || "._-:".contains(c);
            if value.is_some_and(|value| value.starts_with('-') || !value.chars().all(plain)) {
                self.problem(field, "takes letters, digits and . _ - : only");
            }
        }
        if request.script == Script::Train {
            self.needs();
        }
        self.problems.extend(site.missing(request));
    }

    fn set(&mut self, name: &str, value: impl Into<Word>, why: &str, source: &str) {
        let setting = Setting { name: name.into(), value: value.into(), why: why.into(), source: source.into() };
        self.plan.steps.push(Step::Set(setting));
    }

    fn run(&mut self, argv: Vec<Word>, why: impl Into<String>, source: &str) {
        self.plan.steps.push(Step::Run { argv, why: why.into(), source: source.into() });
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

    /// The site's word for that many devices, as a directive.
    fn ask_for(&mut self, devices: u32) {
        let gres = self.site.value(self.request, "gres").unwrap_or_default();
        let request = self.site.request.as_deref();
        self.plan.resources.devices =
            request.map(|text| text.replace("{devices}", &devices.to_string()).replace("{gres}", gres));
    }

    /// The program and its arguments, as `python PROGRAM ARGUMENTS`.
    fn program(&self) -> Vec<Word> {
        let words = ["python3", "-u", &self.request.entry].map(Word::from).into_iter();
        words.chain(self.request.args.iter().chain(&self.own_args).map(|arg| Word::text(arg.clone()))).collect()
    }

    fn is_setup(&self) -> bool {
        self.request.script == Script::Setup
    }
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
