//! From a request and a site to a plan: everything that is checked and set for all targets. A target's table defines
//! what it needs beyond that.

mod collect;
mod command;
mod condition;
mod counts;
mod fill;
mod job;
mod program;
mod setup;
mod train;

use crate::given::Given;
use crate::plan::{Asked, Plan, Resources, Setting, Step};
use crate::request::{Problem, Request, Script};
use crate::site;
use crate::word::{Word, split_words};
use command::Command;
use counts::Counts;
use tables::{CommandEntry, Counting, Kind, LaunchTable, Scheduler, Site, Status};

pub use program::said;

/// More than any machine has.
pub(crate) const MOST: u32 = 1 << 17;

const PIP: &str = "https://pip.pypa.io/en/stable/cli/pip_install/";
const PYTHON: &str = "https://docs.python.org/3/using/cmdline.html";

/// The plan, or all problems with the request, each at its field.
///
/// # Errors
/// Problems, at least one.
pub fn plan(request: &Request, site: &Site) -> Result<Plan, Vec<Problem>> {
    let mut draft = Draft::new(request, site);
    draft.check();
    if draft.problems.is_empty() {
        match request.script {
            Script::Setup => draft.set_up(),
            Script::Collect => draft.collect(),
            Script::Train => draft.train(),
        }
    }
    let mut problems: Vec<Problem> = Vec::new();
    for problem in draft.problems {
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }
    if problems.is_empty() { Ok(draft.plan) } else { Err(problems) }
}

/// A plan under construction.
pub(crate) struct Draft<'a> {
    pub(crate) request: &'a Request,
    pub(crate) site: &'a Site,
    pub(crate) table: &'static LaunchTable,
    pub(crate) counts: Counts,
    /// The launcher that starts the processes.
    pub(crate) launcher: String,
    plan: Plan,
    problems: Vec<Problem>,
    /// Arguments that follow from the numbers, with reasons; they come after the user's.
    own_args: Vec<(Word, String)>,
    /// Cores of a task.
    pub(crate) cpus: Option<u32>,
    /// Variables that only the script itself uses.
    inner: Vec<String>,
    /// The fields with words that a command took.
    taken: Vec<&'static str>,
}

impl<'a> Draft<'a> {
    fn new(request: &'a Request, site: &'a Site) -> Draft<'a> {
        let table = request.target.table();
        let given = Given { request, site };
        let own = |name: &str| {
            let value = given.value(name)?.to_string();
            let source = if request.values.contains_key(name) { String::new() } else { site.source.clone() };
            Some(Asked { value, source })
        };
        let of_site = |value: &String| Asked { value: value.clone(), source: site.source.clone() };
        let text = |name: &str| given.value(name).map(str::to_string);
        let of_site_directives =
            site.directives.iter().map(|text| Asked { value: given.filled(text), source: site.source.clone() });
        let of_user = request.directives.iter().map(|text| Asked { value: text.clone(), source: String::new() });
        let resources = Resources {
            name: given.value("job").map_or(format!("portolan-{}", request.target.name()), str::to_string),
            nodes: request.nodes,
            partition: own("partition").or_else(|| site.partition.as_ref().map(of_site)),
            account: own("account"),
            time: own("time"),
            mail: text("mail"),
            qos: text("qos").or_else(|| site.qos.clone()),
            array: text("array"),
            after: text("after"),
            requeue: text("requeue").is_some(),
            extra: of_site_directives.chain(of_user).collect(),
            ..Resources::default()
        };
        // A template has no machine whose pages it could be compared with.
        let compared = if site.status == Status::Template { "as of" } else { "compared with it on" };
        let checked = site.checked.as_ref().map(|day| format!(", {compared} {day}")).unwrap_or_default();
        let mut notes = vec![format!("Site: {} ({}){checked}", site.title, site.source)];
        if site.status == Status::Archival {
            notes.push("Archival: based on pages that are no longer published.".into());
        }
        notes.extend(site.notes.iter().cloned());
        let loads = !site.load.is_empty() || !request.load.is_empty();
        let plan = Plan {
            title: String::new(),
            start: match (request.script, request.scheduler) {
                (Script::Train, Scheduler::Slurm) => format!("sbatch {}", request.file_name()),
                (Script::Train, Scheduler::Pbs) => format!("qsub {}", request.file_name()),
                // A login shell defines `module`.
                _ if loads => format!("bash -l {}", request.file_name()),
                _ => format!("bash {}", request.file_name()),
            },
            scheduler: if request.script == Script::Train { request.scheduler } else { Scheduler::Bash },
            resources,
            steps: Vec::new(),
            arithmetic: Vec::new(),
            monitors: site.monitors.clone(),
            warnings: Vec::new(),
            notes,
        };
        Draft {
            request,
            site,
            table,
            counts: Counts::default(),
            launcher: String::new(),
            plan,
            problems: Vec::new(),
            own_args: Vec::new(),
            cpus: None,
            inner: Vec::new(),
            taken: Vec::new(),
        }
    }

    fn given(&self) -> Given<'a> {
        Given { request: self.request, site: self.site }
    }

    /// Complete enough to evaluate conditions.
    pub(crate) fn for_conditions(request: &'a Request, site: &'a Site) -> Draft<'a> {
        let mut draft = Draft::new(request, site);
        draft.launcher = request.launcher.clone().unwrap_or_default();
        draft
    }

    pub(crate) fn problem(&mut self, field: &str, message: impl Into<String>) {
        self.problems.push(Problem::new(field, message));
    }

    fn check(&mut self) {
        let (request, site) = (self.request, self.site);
        if !site::has(site, request.target) {
            self.problem("site", format!("{} has no {}", site.title, request.target.name()));
        }
        if request.script == Script::Train && !site.schedulers.contains(&request.scheduler) {
            let names: Vec<_> = site.schedulers.iter().map(|scheduler| scheduler.name()).collect();
            self.problem("scheduler", format!("{} supports only {}", site.title, names.join(" or ")));
        }
        if request.script != Script::Train {
            // The program is not run.
        } else if request.entry.is_empty() {
            self.problem("entry", "is required: the training program");
        } else if request.entry.starts_with('-') {
            self.problem("entry", "would be read as an option; prefix it with ./");
        } else if request.entry.ends_with(".ipynb") {
            self.problem("entry", "is a notebook, which runs in Jupyter; export it: jupyter nbconvert --to script");
        }
        let keys = [&request.batch_key, &request.distributed_key].into_iter().flatten();
        let texts = std::iter::once(&request.entry).chain(keys).chain(&request.args).chain(request.values.values());
        if texts.chain(&request.hosts).any(|text| text.contains('\0')) {
            self.problem("args", "can't contain a NUL byte");
        }
        let numbers = [
            ("nodes", Some(request.nodes)),
            ("instances", request.instances),
            ("replicas", request.replicas),
            ("devices-per-replica", Some(request.devices_per_replica)),
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
        for (field, value) in request.values.iter().chain([(&"entry".to_string(), &request.entry)]) {
            if value.starts_with('~') && !value.starts_with("~/") {
                self.problem(field, "may begin with ~/ only: for another user's folder, write the absolute path");
            }
        }
        for arg in request.args.iter().filter(|arg| arg.starts_with("~/") || arg.contains("=~/")) {
            let note =
                format!("the argument {arg} is passed unchanged: a shell would expand its ~, this script does not");
            self.plan.notes.push(note);
        }
        for host in &request.hosts {
            if host.starts_with('-') || !host.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c)) {
                self.problem("hosts", format!("`{}` is not a machine name", host.escape_debug()));
            }
        }
        self.directives();
        self.fields();
        if request.script == Script::Train {
            self.check_job();
            self.needs();
        }
        let missing = self.given().missing(|when| self.holds(when));
        self.problems.extend(missing);
    }

    /// The parts of a directive are never quoted, so only characters that need no quotes are allowed.
    fn directives(&mut self) {
        let asked = self.plan.resources.clone();
        let value = |asked: Option<Asked>| asked.map(|asked| asked.value);
        let (site, request, given) = (self.site, self.request, self.given());
        let own = |field| (field, given.value(field).map(str::to_string));
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-:".contains(c);
        let named = [("partition", value(asked.partition)), ("account", value(asked.account)), own("job")];
        for (field, value) in named.into_iter().chain(given.directive_fields().map(own)) {
            if value.is_some_and(|value| value.starts_with('-') || !value.chars().all(plain)) {
                self.problem(field, "may have only letters, digits and . _ - :");
            }
        }
        if request.scheduler == Scheduler::Pbs && request.script == Script::Train {
            let select = given.value("select");
            let plain = |c: char| plain(c) || c == '=';
            match select {
                None if site.select.is_none() => {
                    let message = "is required: PBS's name for the devices and their number, such as ngpus=8, or none if jobs \
                                   get whole machines";
                    self.problem("select", message);
                }
                Some(select) if select.starts_with([':', '-']) || !select.chars().all(plain) => {
                    self.problem("select", "may have only letters, digits and . _ - : =");
                }
                _ => {}
            }
        }
        let days = request.scheduler != Scheduler::Pbs;
        if value(asked.time).is_some_and(|time| !is_wall_time(&time, days)) {
            let days = if days { " or, with days, 1-12:00:00" } else { "" };
            self.problem("time", format!("must be hours, minutes and seconds, such as 01:30:00{days}"));
        }
    }

    fn step(&mut self, command: Command, why: impl Into<String>) {
        self.plan.steps.push(command.step(why));
    }

    /// Whether an earlier step sets the variable.
    fn is_set(&self, name: &str) -> bool {
        self.plan.steps.iter().any(|step| matches!(step, Step::Set(setting) if setting.name == name))
    }

    /// The variables that the site's file sets.
    fn site_settings(&mut self) {
        let (site, request) = (self.site, self.request);
        for setting in site.settings.iter().filter(|setting| request.nodes > 1 || !setting.several_nodes) {
            let (value, source) = (self.given().word(&setting.value), site.source.clone());
            let (name, why) = (setting.name.clone(), setting.why.clone());
            self.plan.steps.push(Step::Set(Setting { name, value, why, source }));
        }
    }

    /// The commands of the training: those of the site for the launcher, if there are any, instead of the target's.
    fn commands(&self) -> Vec<&'a CommandEntry> {
        let fits = |entry: &&CommandEntry| entry.by.is_empty() || entry.by == self.launcher;
        let own: Vec<&CommandEntry> = self.site.command.iter().filter(fits).collect();
        if own.is_empty() { self.table.command.iter().filter(fits).collect() } else { own }
    }

    /// The value of a field: the user's, otherwise the site's or the target's. Empty means none.
    pub(crate) fn value(&self, name: &str) -> Option<&'a str> {
        self.given().value(name)
    }

    /// The site's files of shell settings.
    fn enable(&mut self) {
        let site = self.site;
        if !site.enable.is_empty() {
            self.plan.steps.push(Step::Source {
                files: site.enable.iter().map(|file| self.given().word(file)).collect(),
                unless: site.enabled_by.clone(),
                why: "Adds the SDK to the paths unless it is already set up.".into(),
                source: site.source.clone(),
            });
        }
    }

    /// The texts for a name: the site's, otherwise the target's.
    pub(crate) fn word_of_site(&self, name: &str) -> Option<&'a [String]> {
        let texts = self.site.words.get(name).or_else(|| self.table.words.get(name))?;
        Some(texts.all())
    }

    /// The same as words of a command; a problem if there are none.
    pub(crate) fn words_of_site(&mut self, name: &str) -> Vec<Word> {
        let site = self.site;
        let Some(texts) = self.word_of_site(name) else {
            self.problem("site", format!("{} has no `words.{name}`, which this script needs", site.title));
            return Vec::new();
        };
        texts.iter().map(|text| self.given().word(text)).collect()
    }

    /// Checks that the fields have allowed values.
    fn fields(&mut self) {
        for field in self.site.field.iter().chain(&self.table.field) {
            let Some(value) = self.value(&field.name) else { continue };
            let is_plain = |more: &str| value.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c));
            let message = match field.kind {
                Kind::Number if !value.parse::<u32>().is_ok_and(|number| (1..=MOST).contains(&number)) => {
                    format!("must be a number from 1 to {MOST}")
                }
                Kind::Switch if value != "on" => "must be on, or omitted".to_string(),
                Kind::Words => match split_words(value) {
                    None => "must close every quote".to_string(),
                    Some(words) if words.first().is_none_or(|first| !first.starts_with('-')) => {
                        "must begin with an option".to_string()
                    }
                    Some(_) => continue,
                },
                Kind::Name if value.starts_with('-') || value.contains('/') => "is a name, not a path".to_string(),
                Kind::Network if !is_plain("._-/:,") => {
                    "must be an interface or a network such as 10.1.3.0/24".to_string()
                }
                Kind::Release if !guide::sdk::is_version(value) => {
                    format!("must be a release such as {}", self.request.target.newest())
                }
                _ => continue,
            };
            self.problem(&field.name, message);
        }
    }

    /// A virtual environment, if the user has one.
    fn activate(&mut self) {
        if let Some(venv) = self.given().value("venv") {
            let files = vec![Word::path(&format!("{}/bin/activate", here(venv)))];
            let why = "Virtual environment with the project's packages.".to_string();
            self.plan.steps.push(Step::Source { files, unless: None, why, source: String::new() });
        }
    }

    /// The prefix of a command on a device: none inside a job, the site's own outside.
    fn prefix(&self) -> Vec<Word> {
        if self.request.scheduler != Scheduler::Bash {
            return Vec::new();
        }
        let devices = self.counts.asked;
        let texts = self.site.prefix.iter();
        texts.map(|text| self.given().word(&text.replace("{devices}", &devices.to_string()))).collect()
    }

    /// The scheduler's request for that many devices, as a directive. PBS counts them by machine, and every site has a
    /// different name for them.
    fn ask_for_devices(&mut self) {
        let (site, request, given) = (self.site, self.request, self.given());
        // Several processes may share a device: the request never exceeds the devices of a machine.
        let devices = match self.table.processes {
            Counting::Replicas => self.counts.asked,
            _ => self.counts.asked.min(self.counts.devices_per_node),
        };
        let filled = |text: &str| given.filled(&text.replace("{devices}", &devices.to_string()));
        let of_site = |text: &String| Asked { value: filled(text), source: site.source.clone() };
        self.plan.resources.devices = match request.scheduler {
            Scheduler::Bash | Scheduler::Slurm => site.request.as_ref().map(of_site),
            Scheduler::Pbs => match given.value("select") {
                Some("none") => None,
                Some(own) => Some(Asked { value: own.to_string(), source: String::new() }),
                None => site.select.as_ref().map(of_site),
            },
        };
    }
}

/// `HH:MM:SS`, which both schedulers accept; Slurm also accepts days before it.
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
pub(crate) fn count(number: impl Into<u64>, one: &str) -> String {
    let number = number.into();
    let ending = match number {
        1 => "",
        _ if one.ends_with(['s', 'h']) => "es",
        _ => "s",
    };
    format!("{number} {one}{ending}")
}

/// A path that `.` or a command does not interpret as an option or search for in PATH.
pub(crate) fn here(path: &str) -> String {
    if ["/", "./", "../", "~/", "$"].iter().any(|start| path.starts_with(start)) {
        path.to_string()
    } else {
        format!("./{path}")
    }
}
