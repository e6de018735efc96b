//! Which fields there are: they depend on target, site, script, scheduler, launcher and machines.

mod more;

use super::{FieldKind, Fields, FormField, FormGroup, OWN_SITE, scheduler_of, script, site, target, text};
use crate::request::{Scheduler, Script, Target};
use crate::site::{Field, Site, sites};
use more::more;

/// The fields of the form as it stands, by group. They depend on target, site, scheduler and launcher alone.
#[must_use]
pub fn form(fields: &Fields) -> Vec<FormGroup> {
    let target = target(fields).unwrap_or(Target::Hpu);
    let known = site(fields).ok();
    let script = script(fields);
    let mut groups = vec![
        FormGroup { title: "What to run", fields: program(target, script), folded: false },
        FormGroup { title: "Where", fields: place(fields, target, script, known.as_ref()), folded: false },
    ];
    if script == Script::Train {
        groups.push(FormGroup { title: "How much", fields: size(fields, target), folded: false });
        groups.push(FormGroup { title: "More about the project", fields: said_by_program(target), folded: true });
    }
    groups.push(FormGroup { title: "More", fields: more(fields, target, script, known.as_ref()), folded: false });
    groups
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
        if scheduler_of(fields, site) == Scheduler::Pbs && !own("select") {
            let help = "What PBS calls them and how many, such as ngpus=8; none where a job has whole machines.";
            let mut shown = field("select", "Devices of a machine", help, FieldKind::Text);
            shown.default = site.and_then(|site| site.select.clone()).unwrap_or_default();
            shown.required = shown.default.is_empty();
            list.push(shown);
        }
    }
    list
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
        let help = "Key or option that takes the micro-batches of a step. The script sets it when you say how many.";
        list.push(field("accumulation-key", "Key for accumulation", help, FieldKind::Text));
    }
    for (name, label) in
        [("batch-from", "Where the batch was read"), ("accumulation-from", "Where the accumulation was read")]
    {
        list.push(field(name, label, "Shown beside the sum.", FieldKind::Text));
    }
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
    let alone = match target {
        Target::Hpu => Some(("Nothing in it joins processes", "Then several would train apart, and are refused.")),
        Target::Popdist => Some(("It does not start PopDist", "Then several would train apart, and are refused.")),
        Target::Rdu => Some(("It does not read SambaFlow's options", "Then it knows neither compile nor run.")),
        Target::Ipu => None,
    };
    list.extend(alone.map(|(label, help)| field("alone", label, help, FieldKind::Switch)));
    let help = "Keys and options that the program does not start without, with commas between them.";
    list.push(field("needs", "Arguments it asks for", help, FieldKind::Text));
    list
}
