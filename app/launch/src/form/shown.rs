//! The fields of a form: they depend on target, site, script, scheduler, launcher and machines.

use super::{FieldKind, Fields, FormField, FormGroup, OWN_SITE, SiteReader, scheduler_of, script, site, target, text};
use crate::draft::Draft;
use crate::given::asks_for;
use crate::request::{Request, Script};
use crate::site::{has, site_named, sites};
use crate::target::Target;
use tables::{Counting, Field, JoinedBy, Kind, LaunchTable, Scheduler, Site, Status};

/// The fields of the form in its current state, by group. They depend on target, site, scheduler and launcher alone.
#[must_use]
pub fn form(fields: &Fields, read: SiteReader<'_>) -> Vec<FormGroup> {
    let target = target(fields).unwrap_or_default();
    let known = site(fields, read).ok();
    let script = script(fields);
    let own = own_fields(fields, target, script, known.as_ref());
    let mut program = program(script);
    program.extend(own.iter().filter(|(group, _)| group == "program").map(|(_, field)| field.clone()));
    let mut more = more(fields, target, script);
    let read: Vec<String> =
        own.iter().filter(|(group, _)| group == "project").map(|(_, field)| field.name.clone()).collect();
    more.extend(own.into_iter().filter(|(group, _)| group != "program").map(|(_, field)| field));
    more.retain(|field| known.as_ref().is_none_or(|site| site.field.iter().all(|own| own.name != field.name)));
    let mut groups = vec![
        FormGroup { title: "What to run", fields: program, folded: false },
        FormGroup { title: "Where to run", fields: place(fields, target, script, known.as_ref()), folded: false },
    ];
    let scheduler = scheduler_of(fields, known.as_ref());
    let job = if script == Script::Train { of_the_job(scheduler, known.as_ref()) } else { Vec::new() };
    if script == Script::Train {
        groups.push(FormGroup {
            title: "Processes and batch size",
            fields: size(fields, target, known.as_ref()),
            folded: false,
        });
        let mut about = said_by_program(target.table());
        about.extend(more.extract_if(.., |field| read.contains(&field.name)));
        if !job.is_empty() {
            groups.push(FormGroup { title: "Job options", fields: job, folded: true });
        }
        groups.push(FormGroup { title: "Project details", fields: about, folded: true });
    }
    groups.push(FormGroup { title: "More options", fields: more, folded: false });
    groups
}

/// The fields in the target's table, by group.
fn own_fields(fields: &Fields, target: Target, script: Script, site: Option<&Site>) -> Vec<(String, FormField)> {
    let name = match script {
        Script::Train => "train",
        Script::Setup => "setup",
        Script::Collect => "collect",
    };
    // A request with the parts of the form that conditions use.
    let mut request = Request::new(target, "");
    request.scheduler = scheduler_of(fields, site);
    request.nodes = text(fields, "nodes").parse().unwrap_or(1);
    request.launcher = Some(text(fields, "launcher").to_string()).filter(|name| !name.is_empty());
    let Some(site) = site.cloned().or_else(|| site_named("generic", target).ok()) else { return Vec::new() };
    let draft = Draft::for_conditions(&request, &site);
    let used = |field: &&Field| match field.scripts.is_empty() {
        true => script == Script::Train,
        false => field.scripts.iter().any(|script| script == name),
    };
    let asked = target.table().field.iter().filter(used).filter(|field| draft.holds(&field.when));
    asked.map(|field| (field.group.clone(), shown(field))).collect()
}

fn shown(own: &Field) -> FormField {
    let kind = match own.kind {
        Kind::Number => FieldKind::Number,
        Kind::Switch => FieldKind::Switch,
        _ => FieldKind::Text,
    };
    let mut shown = field(&own.name, &own.label, &own.help, kind);
    shown.required = own.required;
    shown.default = own.default.clone().unwrap_or_default();
    shown
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

fn program(script: Script) -> Vec<FormField> {
    let targets: Vec<(&str, &str)> = Target::all().map(|target| (target.name(), target.label())).collect();
    let scripts = [("train", "Train"), ("setup", "Set up the environment"), ("collect", "Collect results")];
    let mut fields = vec![
        usually(Target::default().name(), field("target", "Target", "", choices(&targets))),
        usually("train", field("script", "Script", "", choices(&scripts))),
    ];
    if script == Script::Train {
        fields.push(required(field("entry", "Program", "The training script, as passed to Python.", FieldKind::Text)));
        let help = "Split into words as in a shell; variables and globs are not expanded.";
        fields.push(field("args", "Arguments", help, FieldKind::Text));
    }
    fields
}

fn place(fields: &Fields, target: Target, script: Script, site: Option<&Site>) -> Vec<FormField> {
    let mut names: Vec<(String, String)> =
        sites().into_iter().filter(|site| has(site, target)).map(|site| (site.name, site.title)).collect();
    let default = names.first().map(|(name, _)| name.clone()).unwrap_or_default();
    names.push(("own".to_string(), "Your own site file".to_string()));
    let mut list = vec![usually(&default, field("site", "Site", "", FieldKind::Choice(names)))];
    if text(fields, "site") == "own" {
        let help = "TOML; the guide on launching has an example, and docs/launch.md describes the keys. It is stored only in this page and its link.";
        list.push(required(field(OWN_SITE, "Your site file", help, FieldKind::Lines)));
    }
    if script == Script::Train {
        let schedulers = site.map_or(&Scheduler::ALL[..], |site| &site.schedulers);
        let label = |scheduler: &Scheduler| match scheduler {
            Scheduler::Bash => "None (run by hand)",
            Scheduler::Slurm => "Slurm (sbatch)",
            Scheduler::Pbs => "PBS (qsub)",
        };
        let values = schedulers.iter().map(|one| (one.name().to_string(), label(one).to_string())).collect();
        let first = schedulers.first().map_or("bash", |scheduler| scheduler.name());
        let is_alone = site.is_some_and(|site| site.status == Status::Template) && schedulers == [Scheduler::Bash];
        let help = match is_alone {
            true => "For Slurm or PBS, choose “Your own site file” as the site; the guide on launching has an example.",
            false => "",
        };
        list.push(usually(first, field("scheduler", "Scheduler", help, FieldKind::Choice(values))));
    }
    let mut request = Request::new(target, "");
    request.scheduler = scheduler_of(fields, site);
    let asked = |site: &Site, own: &Field| {
        asks_for(site, own, script) && Draft::for_conditions(&request, site).holds(&own.when)
    };
    for own in site.into_iter().flat_map(|site| site.field.iter().filter(|own| asked(site, own))) {
        let mut shown = match own.help.is_empty() {
            true => field(&own.name, &title(&own.name), &sentence(&own.label), FieldKind::Text),
            false => field(&own.name, &own.label, &own.help, FieldKind::Text),
        };
        shown.required = own.required;
        shown.default = own.default.clone().unwrap_or_default();
        list.push(shown);
    }
    if script == Script::Train && scheduler_of(fields, site) != Scheduler::Bash {
        let own = |name: &str| is_own(site, name);
        let is_pbs = scheduler_of(fields, site) == Scheduler::Pbs;
        for (name, help) in [
            ("partition", "Partition or queue of the job."),
            ("account", "Project to charge."),
            ("time", "Time limit as HH:MM:SS, such as 01:00:00."),
        ] {
            if own(name) {
                continue;
            }
            let mut shown = field(name, &title(name), help, FieldKind::Text);
            if name == "partition" {
                shown.default = site.and_then(|site| site.partition.clone()).unwrap_or_default();
            }
            list.push(shown);
        }
        // A site may have no resource for them: its jobs get whole machines.
        let known = site.and_then(|site| site.select.as_ref());
        if is_pbs && !own("select") && known.is_none_or(|select| !select.is_empty()) {
            let help = "PBS resource and number, such as ngpus=8; leave empty if jobs get whole machines.";
            let mut shown = field("select", "Devices per machine", help, FieldKind::Text);
            shown.default = known.cloned().unwrap_or_default();
            shown.required = known.is_none();
            list.push(shown);
        }
    }
    list
}

/// Whether a field of that name is the site's own.
fn is_own(site: Option<&Site>, name: &str) -> bool {
    site.is_some_and(|site| site.field.iter().any(|field| field.name == name))
}

/// The label of a site's field in a form.
fn title(name: &str) -> String {
    match name {
        "partition" => "Partition or queue".to_string(),
        "time" => "Wall time".to_string(),
        "cache" => "Folder for compiled programs".to_string(),
        "gres" => "Slurm resource (GRES)".to_string(),
        name => sentence(&name.replace('_', " ")).trim_end_matches('.').to_string(),
    }
}

/// With a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase().to_string()).unwrap_or_default();
    let stop = if text.is_empty() || text.ends_with(['.', ')']) { "" } else { "." };
    format!("{first}{}{stop}", letters.as_str())
}

/// Additional options of a scheduler.
fn of_the_job(scheduler: Scheduler, site: Option<&Site>) -> Vec<FormField> {
    if scheduler == Scheduler::Bash {
        return Vec::new();
    }
    let texts = [
        ("job", "Job name", "Shown in the queue and used to name the log."),
        ("mail", "E-mail", "Address to notify when the job ends or fails."),
        ("qos", "Quality of service", "For Slurm, if the site has several."),
        ("memory", "Memory per machine", "For example 64G; the site's default if empty."),
        ("after", "Start after job", "ID of the job that must finish successfully first."),
        ("array", "Job array", "Indices, such as 0-9; runs one job per index."),
        ("array-key", "Index option", "The program's key or option for the index, such as --seed."),
    ];
    let is_slurms = |name: &str| matches!(name, "qos" | "memory");
    let texts = texts.into_iter().filter(|(name, ..)| scheduler == Scheduler::Slurm || !is_slurms(name));
    let switches = [
        ("requeue", "Requeue", "Requeue the job shortly before its time limit."),
        ("exclusive", "Whole machines", "Reserve the machines for this job."),
    ];
    let help = "One per line, such as --constraint=x.";
    texts
        .map(|(name, label, help)| field(name, label, help, FieldKind::Text))
        .chain(switches.map(|(name, label, help)| field(name, label, help, FieldKind::Switch)))
        .chain([field("directive", "More scheduler options", help, FieldKind::Lines)])
        .filter(|field| !is_own(site, &field.name))
        .collect()
}

fn size(fields: &Fields, target: Target, site: Option<&Site>) -> Vec<FormField> {
    let mut list = Vec::new();
    let table = target.table();
    if table.only_one.is_empty() {
        list.push(usually("1", field("nodes", "Machines", "", FieldKind::Number)));
        list.push(field("instances", "Processes", &table.processes_help, FieldKind::Number));
    }
    if table.processes == Counting::Replicas {
        list.push(field("replicas", "Replicas", &table.replicas_help, FieldKind::Number));
        let help = format!("{}s per copy of the model.", table.device);
        let label = format!("{}s per replica", table.device);
        list.push(usually("1", field("devices-per-replica", &label, &help, FieldKind::Number)));
    }
    let help = "Samples per micro-batch for each copy of the model, from which the form computes the samples per step.";
    list.push(field("batch", "Batch size", help, FieldKind::Number));
    let help = "Micro-batches per step; if empty, the value in the arguments, or 1.";
    list.push(field("accumulation", "Accumulation steps", help, FieldKind::Number));
    let named = table.launcher.iter().filter(|entry| !entry.label.is_empty());
    let launchers: Vec<(&str, &str)> = named.map(|entry| (&*entry.name, &*entry.label)).collect();
    if !launchers.is_empty() {
        let help = "The program that starts the processes.";
        let values = [("", "Default")].into_iter().chain(launchers).collect::<Vec<_>>();
        list.push(field("launcher", "Launcher", help, choices(&values)));
    }
    let nodes = text(fields, "nodes");
    // A scheduler knows the machines of its job.
    let by_hand = scheduler_of(fields, site) == Scheduler::Bash;
    if by_hand && !nodes.is_empty() && nodes != "1" && table.only_one.is_empty() && table.joined_by != JoinedBy::Options
    {
        let help = "Names of the machines, separated by commas.";
        list.push(field("hosts", "Hosts", help, FieldKind::Text));
    }
    list
}

/// Values that `--project`, or a link from a port, reads from the code.
fn said_by_program(table: &LaunchTable) -> Vec<FormField> {
    let mut list = Vec::new();
    let help = "Key or option for the batch size, such as run.minibatch_size or --batch-size. The script sets it.";
    list.push(field("batch-key", "Batch size option", help, FieldKind::Text));
    let help = "Key or option for the micro-batches per step. The script sets it if you give their number.";
    list.push(field("accumulation-key", "Accumulation option", help, FieldKind::Text));
    for (name, label) in [("batch-from", "Batch size read from"), ("accumulation-from", "Accumulation read from")] {
        list.push(field(name, label, "File and line, shown next to the result.", FieldKind::Text));
    }
    if table.joined_by == JoinedBy::Options {
        let help = "Write the target's arguments first and the program's own after --.";
        list.push(field("divided", "Command line split at --", help, FieldKind::Switch));
        let help = "Options of the program that must still come before --, separated by commas.";
        list.push(field("ahead", "Options before --", help, FieldKind::Text));
    }
    if table.joined_by == JoinedBy::Program {
        let help =
            "Arguments that the program needs for several processes, such as --dist-url=env://. The script adds them.";
        list.push(field("join-args", "Distributed arguments", help, FieldKind::Text));
        let help = "How its processes learn their ranks: environment, mpi, open-mpi, horovod, deepspeed, lightning, \
                    spawn; unread if that was not found.";
        list.push(field("joined-by", "Rank source", help, FieldKind::Text));
        let help = "The launcher that gives processes their places in the way this program reads them. The site's usual \
                    launcher is used instead if it does so too.";
        list.push(field("suits", "Suitable launcher", help, FieldKind::Text));
        let help = "Key or option for the number of devices per machine, in a program that starts its processes or in \
                    Lightning's Trainer. The script sets it.";
        list.push(field("devices-key", "Devices option", help, FieldKind::Text));
        let help = "Key or option for the Trainer's number of machines. The script sets it.";
        list.push(field("nodes-key", "Machines option", help, FieldKind::Text));
        let help = "Option that makes the program start processes itself; under a launcher, each would start more.";
        list.push(field("spawn-key", "Processes option", help, FieldKind::Text));
        let help = "The line that divides the batch by the number of processes; on IPUs, the batch of a program's own reader. Empty if each process, or replica, uses the full batch.";
        list.push(field("shared-batch", "Batch divided at", help, FieldKind::Text));
    }
    let help = "Key or switch that joins the program's processes, such as run.distributed or --distributed. The script \
                sets it to match the numbers above.";
    list.push(field("distributed-key", "Distributed flag", help, FieldKind::Text));
    if !table.alone_label.is_empty() {
        list.push(field("alone", &table.alone_label, &table.alone_help, FieldKind::Switch));
    }
    let help = "Keys and options that the program requires, separated by commas.";
    list.push(field("needs", "Required arguments", help, FieldKind::Text));
    list
}

/// Fields that most launches leave unchanged.
fn more(fields: &Fields, target: Target, script: Script) -> Vec<FormField> {
    let venv = field("venv", "Virtual environment", "Its folder, such as env.", FieldKind::Text);
    match script {
        Script::Train => {
            let mut list = vec![
                venv,
                field(
                    "load",
                    "Environment modules",
                    "Modules to load, such as gcc/12, separated by commas.",
                    FieldKind::Text,
                ),
                field("env", "Variables", "Additional variables as NAME=VALUE, one per line.", FieldKind::Lines),
            ];
            let help = "Folder or pattern, such as output/*.ckpt; a job resumes from the newest checkpoint.";
            list.push(field("checkpoints", "Checkpoints", help, FieldKind::Text));
            let help = "Key or option that takes a checkpoint, such as --resume.";
            list.push(field("resume-key", "Checkpoint option", help, FieldKind::Text));
            let containers = &target.table().container;
            if !containers.is_empty() {
                let values: Vec<(&str, &str)> =
                    std::iter::once(("", "none")).chain(containers.iter().map(|one| (&*one.by, &*one.by))).collect();
                list.push(field("container", "Container", "Container runtime.", choices(&values)));
                if !text(fields, "container").is_empty() {
                    let help = "Docker image name or Apptainer file.";
                    list.push(required(field("image", "Container image", help, FieldKind::Text)));
                }
            }
            if target.table().field.iter().all(|field| field.name != "cores") {
                list.push(field("cores", "Cores", "Cores per process.", FieldKind::Number));
            }
            list
        }
        Script::Setup => {
            let help = "Requirements file, without PyTorch and TensorFlow: the vendor provides these.";
            vec![required(venv), field("requirements", "Project packages", help, FieldKind::Text)]
        }
        Script::Collect => {
            let help = "Folder or file that the program writes its results to.";
            let results = required(field("results", "Results", help, FieldKind::Text));
            let name = format!("portolan-{}", target.name());
            let help = "Name of the folder and archive to create.";
            let archive = usually(&name, field("archive", "Archive", help, FieldKind::Text));
            let job = usually(&name, field("job", "Job name", "Used in the names of the logs.", FieldKind::Text));
            vec![venv, results, archive, job]
        }
    }
}
