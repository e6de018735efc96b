//! A launch as a form: which fields there are for a target at a site, and what is written into them.
//!
//! A field is called what it is called on the command line, so that the form, a link and the command say the same.

use crate::request::{Launcher, Mode, Problem, Request, Scheduler, Script, Target};
use crate::site::{Field, Site, site_named, sites};
use crate::word::{Word, split_words};
use crate::{Plan, plan, render};
use std::collections::BTreeMap;

/// What is written into the fields, by name. A field that is missing or empty has its default.
pub type Fields = BTreeMap<String, String>;

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
    /// Yes or no: `on` or nothing.
    Switch,
}

/// A field of the form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormField {
    /// The word of the command line without dashes, or the NAME of `--set NAME=VALUE`.
    pub name: String,
    /// What it is called in a form.
    pub label: String,
    /// A line about it.
    pub help: String,
    /// How it is filled in.
    pub kind: FieldKind,
    /// Whether there is no script without it.
    pub required: bool,
    /// What it is when nothing is written.
    pub default: String,
}

/// Fields that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormGroup {
    /// The group's heading.
    pub title: &'static str,
    /// Its fields.
    pub fields: Vec<FormField>,
}

/// A script, and what it was made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// What the script does.
    pub plan: Plan,
    /// The script.
    pub script: String,
    /// A name for its file.
    pub file: String,
}

/// Where one site file of the user's own is kept among the fields.
const OWN_SITE: &str = "site-file";

/// The text of a field; empty when nothing is written.
fn text<'a>(fields: &'a Fields, name: &str) -> &'a str {
    fields.get(name).map_or("", |value| value.trim())
}

/// Writes a value into a field, as a user does. A list's default is the same as nothing; a batch that was read out of the
/// code and is then written anew is no longer the code's.
pub fn put(fields: &mut Fields, name: &str, value: String) {
    let known = form(fields).into_iter().flat_map(|group| group.fields).find(|field| field.name == name);
    let is_default = known.is_some_and(|field| matches!(field.kind, FieldKind::Choice(_)) && field.default == value);
    if value.is_empty() || is_default {
        fields.remove(name);
    } else {
        fields.insert(name.to_string(), value);
    }
    if name == "batch" {
        fields.remove("batch-from");
    }
}

fn target(fields: &Fields) -> Result<Target, Problem> {
    let said = text(fields, "target");
    let found = Target::ALL.into_iter().find(|target| target.name() == said);
    match found {
        Some(target) => Ok(target),
        None if said.is_empty() => Ok(Target::Hpu),
        None => Err(Problem::new("target", format!("`{said}` is none of hpu, rdu, ipu, popdist"))),
    }
}

/// The site that the fields name: one of the build's, or the file that the user gave.
///
/// # Errors
/// A problem at `site`, or at `site-file` with the line of the file.
pub fn site(fields: &Fields) -> Result<Site, Problem> {
    let own = fields.get(OWN_SITE).map(String::as_str).unwrap_or_default();
    match text(fields, "site") {
        "own" if own.trim().is_empty() => Err(Problem::new(OWN_SITE, "is required: the text of your site file")),
        "own" => Site::read(own).map_err(|problem| Problem::new(OWN_SITE, problem.message)),
        "" => site_named("generic", target(fields)?),
        name => site_named(name, target(fields)?),
    }
}

/// The fields of the form as it stands, by group. They depend on target, site, scheduler and launcher alone.
#[must_use]
pub fn form(fields: &Fields) -> Vec<FormGroup> {
    let target = target(fields).unwrap_or(Target::Hpu);
    let known = site(fields).ok();
    let script = script(fields);
    let mut groups = vec![
        FormGroup { title: "What to run", fields: program(target, script) },
        FormGroup { title: "Where", fields: place(fields, target, script, known.as_ref()) },
    ];
    if script == Script::Train {
        groups.push(FormGroup { title: "How much", fields: size(fields, target) });
        groups.push(FormGroup { title: "What the program says", fields: said_by_program(target) });
    }
    groups.push(FormGroup { title: "More", fields: more(fields, target, script, known.as_ref()) });
    groups
}

/// What the script is for; one that trains when nothing else is said.
fn script(fields: &Fields) -> Script {
    match text(fields, "script") {
        "setup" => Script::Setup,
        "collect" => Script::Collect,
        _ => Script::Train,
    }
}

fn field(name: &str, label: &str, help: &str, kind: FieldKind) -> FormField {
    FormField {
        name: name.to_string(),
        label: label.to_string(),
        help: help.to_string(),
        kind,
        required: false,
        default: String::new(),
    }
}

fn required(mut field: FormField) -> FormField {
    field.required = true;
    field
}

fn usually(default: &str, mut field: FormField) -> FormField {
    field.default = default.to_string();
    field
}

fn choices(values: &[(&str, &str)]) -> FieldKind {
    FieldKind::Choice(values.iter().map(|(value, label)| ((*value).to_string(), (*label).to_string())).collect())
}

fn program(target: Target, script: Script) -> Vec<FormField> {
    let targets = [
        ("hpu", "HPU (Intel Gaudi)"),
        ("rdu", "RDU (SambaNova)"),
        ("ipu", "IPU (Graphcore), one process"),
        ("popdist", "PopDist (Graphcore), many processes"),
    ];
    let scripts = [
        ("train", "that trains"),
        ("setup", "that makes the virtual environment, once"),
        ("collect", "that collects results and logs"),
    ];
    let mut fields = vec![
        usually("hpu", field("target", "Target", "", choices(&targets))),
        usually("train", field("script", "A script", "", choices(&scripts))),
    ];
    if script == Script::Train {
        fields.push(required(field(
            "entry",
            "Program",
            "The file that trains, as you would give it to Python.",
            FieldKind::Text,
        )));
        let help = "Split as a shell would; nothing in them is expanded.";
        fields.push(field("args", "Its arguments", help, FieldKind::Text));
    }
    if matches!(target, Target::Ipu | Target::Popdist) && script != Script::Collect {
        fields.push(field("tensorflow", "The program is TensorFlow's", "", FieldKind::Switch));
    }
    fields
}

fn place(fields: &Fields, target: Target, script: Script, site: Option<&Site>) -> Vec<FormField> {
    let mut names: Vec<(String, String)> =
        sites().into_iter().filter(|site| site.targets.contains(&target)).map(|site| (site.name, site.title)).collect();
    let default = names.first().map(|(name, _)| name.clone()).unwrap_or_default();
    names.push(("own".to_string(), "A site file of your own".to_string()));
    let mut list = vec![usually(&default, field("site", "Site", "", FieldKind::Choice(names)))];
    if text(fields, "site") == "own" {
        let help = "TOML, as docs/launch.md describes it. It stays in this page and in its link.";
        list.push(required(field(OWN_SITE, "Your site file", help, FieldKind::Lines)));
    }
    if script == Script::Train {
        let schedulers = site.map_or(&Scheduler::ALL[..], |site| &site.schedulers);
        let label = |scheduler: &Scheduler| match scheduler {
            Scheduler::Bash => "none: by hand",
            Scheduler::Slurm => "Slurm (sbatch)",
            Scheduler::Pbs => "PBS (qsub)",
        };
        let values = schedulers.iter().map(|one| (one.name().to_string(), label(one).to_string())).collect();
        let first = schedulers.first().map_or("bash", |scheduler| scheduler.name());
        list.push(usually(first, field("scheduler", "Scheduler", "", FieldKind::Choice(values))));
    }
    let asked = |site: &Site, own: &Field| site.asks_for(own, script);
    for own in site.into_iter().flat_map(|site| site.fields.iter().filter(|own| asked(site, own))) {
        let mut shown = field(&own.name, &own.name, &own.label, FieldKind::Text);
        shown.required = own.required;
        shown.default = own.default.clone().unwrap_or_default();
        list.push(shown);
    }
    if script == Script::Train && scheduler_of(fields, site) != Scheduler::Bash {
        let own = |name: &str| site.is_some_and(|site| site.fields.iter().any(|field| field.name == name));
        let common = [
            ("partition", "Partition or queue", "Where the job waits."),
            ("account", "Account", "Who pays for it."),
            ("time", "Wall time", "Hours, minutes and seconds: 01:00:00."),
            ("job", "Name of the job", "As the queue shows it; its log has it too."),
        ];
        for (name, label, help) in common.into_iter().filter(|(name, ..)| !own(name)) {
            let mut shown = field(name, label, help, FieldKind::Text);
            if name == "partition" {
                shown.default = site.and_then(|site| site.partition.clone()).unwrap_or_default();
            }
            list.push(shown);
        }
    }
    list
}

/// The scheduler that is chosen, else the first that the site has.
fn scheduler_of(fields: &Fields, site: Option<&Site>) -> Scheduler {
    let said = text(fields, "scheduler");
    let first = site.and_then(|site| site.schedulers.first()).copied();
    Scheduler::ALL.into_iter().find(|scheduler| scheduler.name() == said).or(first).unwrap_or(Scheduler::Bash)
}

fn size(fields: &Fields, target: Target) -> Vec<FormField> {
    let mut list = Vec::new();
    let many = target != Target::Ipu;
    if many {
        list.push(usually("1", field("nodes", "Machines", "", FieldKind::Number)));
        let help = match target {
            Target::Hpu => "One for each card, all machines together.",
            Target::Rdu => "Copies of the program, all machines together.",
            _ => "Processes that poprun starts, all machines together.",
        };
        list.push(field("instances", "Processes", help, FieldKind::Number));
    }
    if matches!(target, Target::Ipu | Target::Popdist) {
        let help = "Copies of the model, all processes together.";
        list.push(field("replicas", "Replicas", help, FieldKind::Number));
        let help = "IPUs that one copy of the model takes.";
        list.push(usually("1", field("ipus-per-replica", "IPUs for a replica", help, FieldKind::Number)));
    }
    let help = "Samples of one micro-batch of one copy of the model; shows the samples of a step.";
    list.push(field("batch", "Batch", help, FieldKind::Number));
    let help = "Micro-batches that one step adds up; what the arguments say, else 1.";
    list.push(field("accumulation", "Accumulation", help, FieldKind::Number));
    let launchers: &[(&str, &str)] = match target {
        Target::Hpu => &[
            ("", "the usual one"),
            ("mpirun", "mpirun"),
            ("torchrun", "torchrun"),
            ("lightning", "Lightning's Trainer"),
            ("deepspeed", "DeepSpeed"),
        ],
        Target::Rdu => &[("", "the usual one"), ("mpirun", "mpirun"), ("srun", "srun")],
        _ => &[],
    };
    if !launchers.is_empty() {
        list.push(field("launcher", "Started by", "Who starts the processes of one training.", choices(launchers)));
    }
    let nodes = text(fields, "nodes");
    if !nodes.is_empty() && nodes != "1" && matches!(target, Target::Hpu | Target::Popdist) {
        let help = "Names of the machines with commas between them, where no scheduler knows them.";
        list.push(field("hosts", "Hosts", help, FieldKind::Text));
    }
    list
}

/// What `--project`, or a link from a port, reads out of the code.
fn said_by_program(target: Target) -> Vec<FormField> {
    let mut list = Vec::new();
    if target != Target::Rdu {
        let help =
            "Key or option that takes the batch, such as run.minibatch_size or --batch-size. The script sets it.";
        list.push(field("batch-key", "Key for the batch", help, FieldKind::Text));
    }
    if target != Target::Rdu {
        let help =
            "Key or option that takes the micro-batches of a step. The script sets it when Accumulation says how many.";
        list.push(field("accumulation-key", "Key for accumulation", help, FieldKind::Text));
    }
    list.push(field("batch-from", "Where the batch was read", "Shown beside the sum.", FieldKind::Text));
    if target == Target::Hpu {
        let help =
            "The line that divides the batch by the number of processes; empty where each process takes all of it.";
        list.push(field("shared-batch", "Where processes share the batch", help, FieldKind::Text));
    }
    if target != Target::Rdu {
        let help = "Key or switch that joins the program's processes, such as run.distributed or --distributed. The script \
                    sets it as the numbers above ask.";
        list.push(field("distributed-key", "Key for several processes", help, FieldKind::Text));
    }
    if target == Target::Hpu {
        let help = "Then several would train apart, and are refused.";
        list.push(field("alone", "Nothing in it joins processes", help, FieldKind::Switch));
    }
    let help = "Keys and options that the program does not start without, with commas between them.";
    list.push(field("needs", "Arguments it asks for", help, FieldKind::Text));
    list
}

fn more(fields: &Fields, target: Target, script: Script, site: Option<&Site>) -> Vec<FormField> {
    let venv = field("venv", "Virtual environment", "Folder of it.", FieldKind::Text);
    let of_site = |name: &str| site.is_some_and(|site| site.fields.iter().any(|field| field.name == name));
    let mut list = match script {
        Script::Setup => return vec![required(venv)],
        Script::Collect => std::iter::once(venv).chain(collected(target)).collect(),
        Script::Train => vec![venv],
    };
    list.extend(outputs(target));
    if script == Script::Train {
        list.extend(of_target(fields, target));
    }
    list.retain(|field| !of_site(&field.name));
    list
}

fn collected(target: Target) -> Vec<FormField> {
    let help = "Folder or file that the program writes its results to.";
    let results = required(field("results", "Results", help, FieldKind::Text));
    let name = format!("portolan-{}", target.name());
    let help = "Name of the folder that it makes, and of the archive beside it.";
    let archive = usually(&name, field("archive", "Archive", help, FieldKind::Text));
    let job = usually(&name, field("job", "Name of the job", "Its logs have it.", FieldKind::Text));
    vec![results, archive, job]
}

/// Where a training leaves its logs and what it compiled; collecting looks there.
fn outputs(target: Target) -> Vec<FormField> {
    let output = |help: &str| field("output", "Folder for output", help, FieldKind::Text);
    match target {
        Target::Hpu => vec![output("Gaudi's logs go below it.")],
        Target::Rdu => {
            let pef = field("pef", "Name of the PEF", "Compile and run both use it.", FieldKind::Text);
            vec![usually("model", pef), usually("out", output("The PEF lies below it."))]
        }
        Target::Ipu | Target::Popdist => vec![output("The profiler's reports go below it.")],
    }
}

fn of_target(fields: &Fields, target: Target) -> Vec<FormField> {
    let mut list = Vec::new();
    let several = !matches!(text(fields, "nodes"), "" | "1");
    let profile = |help: &str| field("profile", "Profile", help, FieldKind::Switch);
    match target {
        Target::Hpu => {
            let help = "The older way to run PyTorch on Gaudi.";
            list.push(field("lazy", "Lazy mode", help, FieldKind::Switch));
            let help = "Release of Gaudi's software, as hl-smi shows it; a current one when empty.";
            list.push(field("sdk", "Release", help, FieldKind::Text));
            let help = "Cards of a machine that is shared: 0,1 or 4,5,6,7, say.";
            list.push(field("modules", "Modules", help, FieldKind::Text));
            let help = "Where the processes meet; every training on a machine needs its own.";
            list.push(field("port", "Port", help, FieldKind::Number));
            let help = "Cores of a process under mpirun; a socket must have them for all of its processes.";
            list.push(usually("6", field("cores", "Cores", help, FieldKind::Number)));
            list.push(field("interface", "Network interface", "For the processes' first words.", FieldKind::Text));
            list.push(profile("Gaudi's own profiler; never together with HPUProfiler."));
            if text(fields, "launcher") == "deepspeed" {
                let help = "Path of gaudi_spawn.py of Optimum Habana's examples.";
                list.push(required(field("gaudi_spawn", "gaudi_spawn.py", help, FieldKind::Text)));
                if several {
                    let help = "DeepSpeed's file of machines: a line such as host0 slots=8 for each.";
                    list.push(required(field("hostfile", "Host file", help, FieldKind::Text)));
                }
            }
        }
        Target::Rdu => {
            let help = "Threads of the host's part of each process.";
            list.push(field("threads", "Threads", help, FieldKind::Number));
        }
        Target::Popdist if several => {
            let help = "Network that the hosts' first words go through, for MPI.";
            list.push(field("interface", "Network interface", help, FieldKind::Text));
            list.push(profile("Reports for the PopVision Graph Analyser."));
        }
        Target::Ipu | Target::Popdist => list.push(profile("Reports for the PopVision Graph Analyser.")),
    }
    list
}

/// The request that the fields describe.
///
/// # Errors
/// What can't be read, each at its field.
pub fn request(fields: &Fields) -> Result<Request, Vec<Problem>> {
    let target = target(fields).map_err(|problem| vec![problem])?;
    let site = site(fields).map_err(|problem| vec![problem])?;
    let mut problems = Vec::new();
    let mut request = Request::new(target, text(fields, "entry"));
    request.scheduler = scheduler_of(fields, Some(&site));
    request.script = script(fields);
    request.profile = text(fields, "profile") == "on";
    request.tensorflow = text(fields, "tensorflow") == "on";
    request.mode = if text(fields, "lazy") == "on" { Mode::Lazy } else { Mode::Eager };
    match split_words(fields.get("args").map_or("", String::as_str)) {
        Some(words) => request.args = words,
        None => problems.push(Problem::new("args", "a quote is left open")),
    }
    let mut number = |name: &str| -> Option<u32> {
        let said = text(fields, name);
        match said.parse() {
            _ if said.is_empty() => None,
            Ok(number) => Some(number),
            Err(_) => {
                problems.push(Problem::new(name, format!("`{said}` is no whole number")));
                None
            }
        }
    };
    request.nodes = number("nodes").unwrap_or(1);
    request.instances = number("instances");
    request.replicas = number("replicas");
    request.ipus_per_replica = number("ipus-per-replica").unwrap_or(1);
    request.batch = number("batch");
    request.accumulation = number("accumulation");
    let port = number("port");
    match port.map(u16::try_from) {
        Some(Ok(port)) if port >= 1024 => request.port = Some(port),
        Some(_) => problems.push(Problem::new("port", "must be from 1024 to 65535")),
        None => {}
    }
    let list =
        |name: &str| text(fields, name).split(',').map(str::trim).filter(|one| !one.is_empty()).map(String::from);
    request.hosts = list("hosts").collect();
    request.needs = list("needs").collect();
    for module in list("modules") {
        match module.parse() {
            Ok(module) => request.modules.push(module),
            Err(_) => problems.push(Problem::new("modules", format!("`{module}` is no whole number"))),
        }
    }
    request.launcher = match text(fields, "launcher") {
        "mpirun" => Some(Launcher::Mpirun),
        "torchrun" => Some(Launcher::Torchrun),
        "srun" => Some(Launcher::Srun),
        "lightning" => Some(Launcher::Lightning),
        "deepspeed" => Some(Launcher::Deepspeed),
        "" => None,
        other => {
            problems.push(Problem::new("launcher", format!("`{other}` starts nothing that is known here")));
            None
        }
    };
    let own = |name: &str| Some(text(fields, name)).filter(|said| !said.is_empty()).map(str::to_string);
    request.distributed_key = own("distributed-key");
    request.batch_key = own("batch-key");
    request.batch_from = own("batch-from");
    request.shared_batch = own("shared-batch");
    request.accumulation_key = own("accumulation-key");
    request.alone = text(fields, "alone") == "on";
    // What else the form shows at this site and was filled in is a value of `--set`.
    for shown in form(fields).into_iter().flat_map(|group| group.fields) {
        let value = fields.get(&shown.name).map(String::as_str).unwrap_or_default();
        if !OPTIONS.contains(&&*shown.name) && !value.is_empty() {
            request.values.insert(shown.name, value.to_string());
        }
    }
    if problems.is_empty() { Ok(request) } else { Err(problems) }
}

/// Fields that are options of the command of their own; all others are values of `--set`.
pub(crate) const OPTIONS: [&str; 27] = [
    "target",
    "site",
    OWN_SITE,
    "scheduler",
    "script",
    "entry",
    "args",
    "nodes",
    "instances",
    "replicas",
    "ipus-per-replica",
    "batch",
    "accumulation",
    "launcher",
    "lazy",
    "profile",
    "modules",
    "port",
    "hosts",
    "tensorflow",
    "distributed-key",
    "batch-key",
    "batch-from",
    "shared-batch",
    "needs",
    "accumulation-key",
    "alone",
];

/// The script that the fields ask for.
///
/// # Errors
/// Everything that is wrong, each at its field.
pub fn write(fields: &Fields) -> Result<Written, Vec<Problem>> {
    let site = site(fields).map_err(|problem| vec![problem])?;
    let request = request(fields)?;
    let plan = plan(&request, &site)?;
    let script = render(&plan);
    let name = match request.script {
        Script::Setup => "setup",
        Script::Train => "train",
        Script::Collect => "collect",
    };
    Ok(Written { script, file: format!("{name}-{}.sh", request.target.name()), plan })
}

/// The command that writes the same script.
#[must_use]
pub fn command(fields: &Fields) -> String {
    let mut line = String::from("portolan launch");
    let mut add = |words: &[&str]| {
        for word in words {
            line.push(' ');
            line += &Word::text(*word).quoted();
        }
    };
    for shown in form(fields).into_iter().flat_map(|group| group.fields) {
        let said = fields.get(&shown.name).map(String::as_str).unwrap_or_default();
        let is_set = !said.trim().is_empty();
        match &*shown.name {
            "target" => add(&["--target", if is_set { said } else { &shown.default }]),
            "site" if said == "own" => add(&["--site", "site.toml"]),
            "script" if said == "setup" => add(&["--setup"]),
            "script" if said == "collect" => add(&["--collect"]),
            OWN_SITE | "script" => {}
            // The command takes bash where a site that has no bash takes its first.
            "scheduler" if !is_set && shown.default != "bash" => add(&["--scheduler", &shown.default]),
            _ if !is_set || said == shown.default => {}
            "tensorflow" | "lazy" | "alone" | "profile" => add(&[&format!("--{}", shown.name)]),
            "args" | "needs" | "batch-key" | "accumulation-key" | "distributed-key" => {
                add(&[&format!("--{}={said}", shown.name)]);
            }
            name if OPTIONS.contains(&name) => add(&[&format!("--{name}"), said.trim()]),
            name => add(&["--set", &format!("{name}={said}")]),
        }
    }
    line
}

/// Every script of the target at the site, and a README about them: file names and contents. What can't be written is
/// said in the README.
#[must_use]
pub fn all(fields: &Fields) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut read_me = String::from("# Launch scripts\n\n");
    let mut left_out = String::new();
    let mut monitors = Vec::new();
    let schedulers = site(fields).map(|site| site.schedulers).unwrap_or_default();
    let trainings = schedulers.into_iter().map(|one| ("train", one));
    // Environments are made, and results collected, by hand on any site.
    let by_hand = |script| std::iter::once((script, Scheduler::Bash));
    for (script, scheduler) in by_hand("setup").chain(trainings).chain(by_hand("collect")) {
        let mut fields = fields.clone();
        fields.insert("script".into(), script.into());
        if script == "train" {
            fields.insert("scheduler".into(), scheduler.name().into());
        }
        let name = if script == "train" { format!("train-{}.sh", scheduler.name()) } else { format!("{script}.sh") };
        match write(&fields) {
            Ok(written) => {
                let how = match scheduler {
                    Scheduler::Bash => "bash",
                    Scheduler::Slurm => "sbatch",
                    Scheduler::Pbs => "qsub",
                };
                read_me += &format!("## {name}\n\n{}\n\n    {how} {name}\n\n", written.plan.title);
                for line in &written.plan.arithmetic {
                    read_me += &format!("- {line}\n");
                }
                read_me += &format!("\nThe same script by the command:\n\n    {} --out {name}\n\n", command(&fields));
                if script == "train" {
                    monitors = written.plan.monitors;
                }
                files.push((name, written.script));
            }
            Err(problems) => {
                for problem in problems {
                    left_out += &format!("- {name}: {problem}\n");
                }
            }
        }
    }
    if !monitors.is_empty() {
        read_me += "## While it runs, in a second terminal\n\n";
        for monitor in monitors {
            read_me += &format!("- `{}`: {}\n", monitor.command, monitor.why);
        }
        read_me.push('\n');
    }
    read_me += "With `DRY_RUN=1` in its environment a script shows its commands and runs none of them.\n";
    if let Some(own) = fields.get(OWN_SITE).filter(|_| text(fields, "site") == "own") {
        files.push(("site.toml".to_string(), own.clone()));
    }
    if !left_out.is_empty() {
        read_me += &format!("\n## Not written\n\n{left_out}");
    }
    files.insert(0, ("README.md".to_string(), read_me));
    files
}

#[cfg(test)]
mod tests;
