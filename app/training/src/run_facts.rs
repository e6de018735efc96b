//! How a project is run: its programs, the command-line settings of each, how many samples it processes at a time, and
//! how its processes join. Every fact has a location; nothing is evaluated.

mod argparse;
mod conditions;
mod divided;
mod hydra;
mod plain_yaml;
mod programs;
mod settings;
mod starters;
mod yaml;

use crate::target::TargetFacts;
use crate::view::FileView;
use guide::ProgramTerms;
use python::SourceFile;
use python::notebook::is_notebook;
use python::strings::plain_string;
use python::tree::{Id, Trees, kinds};
use serde::{Deserialize, Serialize};
use sorting::SortedSet;

/// The programs of a project, those most likely to train first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFacts {
    /// Files that do something when Python runs them.
    pub programs: Vec<Program>,
    /// Configuration files that are not YAML from some line on, with the place and the reason; the part above is read.
    pub unread: Vec<(Place, String)>,
}

/// A file that does something when Python runs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The file, and the line where it begins to run: `if __name__ == "__main__":`, or the first statement with an
    /// effect.
    pub place: Place,
    /// How it parses its command line.
    pub command_line: CommandLine,
    /// Its settings, with their defaults.
    pub settings: Vec<RunSetting>,
    /// The list of packages beside it, or above it in the project.
    pub requirements: Option<String>,
    /// How its processes join.
    pub joins: Vec<Join>,
    /// Where a batch is divided by the number of processes, which means that it is the total of all processes; for a target with a loader
    /// of its own, the batch of a program that reads without one.
    pub shared_batch: Option<Place>,
    /// Whether it reads `LOCAL_RANK`.
    pub reads_local_rank: bool,
    /// Whether its processes join, and nothing in it assigns the devices of a machine to them.
    pub unplaced: bool,
    /// Whether nothing in it mentions several processes: eight processes would be eight separate trainings.
    pub alone: bool,
    /// The files that it consists of, its own first.
    pub files: Vec<String>,
    /// Its imports, by full names.
    pub imports: SortedSet<String>,
    /// Where its command line is split at `--`, if another parser reads the part before it.
    pub divided: Option<Divided>,
    /// Whether it trains with TensorFlow.
    pub tensorflow: bool,
}

/// A command line of two parts with `--` between them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Divided {
    /// Where it is split.
    pub place: Place,
    /// Options of the program that belong to the first part.
    pub ahead: Vec<String>,
}

/// A path as passed and a line, from 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// The file.
    pub path: String,
    /// The line in it.
    pub line: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.path, self.line)
    }
}

/// How a program parses its command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommandLine {
    /// Hydra: `run.minibatch_size=8`.
    Hydra,
    /// `argparse` or `click`: `--batch-size 8`.
    Options,
    /// In no supported way.
    Unknown,
}

/// A setting of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSetting {
    /// As it is written on the command line: `run.minibatch_size`, `--batch-size`. A name without dots and dashes in a
    /// program with options is positional, or (see [`SettingKind::Constant`]) can't be set at all.
    pub name: String,
    /// Its default; none if that is computed or missing.
    pub value: Option<String>,
    /// How its value is given.
    pub kind: SettingKind,
    /// The allowed values, if they are listed.
    pub choices: Vec<String>,
    /// Whether the program requires it.
    pub required: bool,
    /// Its meaning for a launch.
    pub role: Option<RunRole>,
    /// Where it is declared.
    pub place: Place,
}

/// How a setting's value is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SettingKind {
    /// `key=value`, or `--option value`.
    Value,
    /// An option without a value, which means yes.
    Switch,
    /// An option without a value, which means no.
    SwitchOff,
    /// A literal in the source; it can't be set on the command line.
    Constant,
}

/// The meaning of a setting for a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunRole {
    /// Samples of a micro-batch.
    Batch,
    /// Micro-batches per step.
    Accumulation,
    /// The length of the training: epochs, or iterations.
    Length,
    /// Whether the program joins its processes.
    Distributed,
    /// Which device it computes on.
    Device,
    /// Devices of one machine, as Lightning's Trainer counts them.
    Devices,
    /// Machines, as Lightning's Trainer counts them.
    Nodes,
}

/// How the processes of a program join.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Join {
    /// The source of the rank.
    pub by: JoinedBy,
    /// Where that is read.
    pub place: Place,
    /// Arguments without which it is not read, such as `--dist-url=env://`.
    pub under: Vec<String>,
    /// Whether the program always starts processes: if it were started several times, each would start as many.
    pub always: bool,
}

impl Join {
    fn of(by: JoinedBy, place: Place, under: Vec<String>) -> Join {
        Join { by, place, under, always: false }
    }
}

/// The source of a process's rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JoinedBy {
    /// `RANK` and `LOCAL_RANK`, as torchrun sets them.
    Environment,
    /// MPI: mpi4py, which also works in a process that no launcher started.
    Mpi,
    /// Open MPI's variables, as its mpirun sets them.
    OpenMpi,
    /// Slurm's `SLURM_PROCID`.
    Slurm,
    /// The program starts its processes itself.
    Spawn,
    /// Lightning's Trainer.
    Lightning,
    /// DeepSpeed.
    Deepspeed,
    /// Horovod.
    Horovod,
}

/// Reads the run facts of a project: its Python files, and the YAML files that Hydra or the program reads. `target`
/// contains the target's own terms for a step's samples, and the names of compute modes.
#[must_use]
pub fn run_facts(files: &[SourceFile], target: &TargetFacts) -> RunFacts {
    let trees = Trees::default();
    let python = files.iter().filter(|file| python::is_python(&file.path));
    let parsed = python.map(|file| (file.path.as_str(), trees.parse(&file.text)));
    let views = FileView::read_all(&parsed.filter(|(_, tree)| !tree.has_error()).collect::<Vec<_>>());
    run_facts_of_views(&views.iter().collect::<Vec<_>>(), files, target)
}

/// [`run_facts`] for Python files that have already been read. Of `files` only the YAML files are read, and the names of the lists of packages.
#[must_use]
pub fn run_facts_of_views(views: &[&FileView<'_>], files: &[SourceFile], target: &TargetFacts) -> RunFacts {
    let yaml: Vec<(&str, &str)> = files
        .iter()
        .filter(|file| file.path.ends_with(".yaml") || file.path.ends_with(".yml"))
        .map(|file| (file.path.as_str(), file.text.as_str()))
        .collect();
    let unread = yaml.iter().filter_map(|(path, text)| {
        let (line, why) = yaml::read(text).fault?;
        Some((Place { path: (*path).to_owned(), line }, why))
    });
    // Jupyter runs a notebook, not a launcher.
    let scripts: Vec<&FileView<'_>> = views.iter().copied().filter(|view| !is_notebook(view.path)).collect();
    let mut programs = programs::collect(&scripts, &yaml, target);
    for program in &mut programs {
        let folders = program.place.path.rmatch_indices('/').map(|(end, _)| &program.place.path[..=end]);
        let mut lists = folders.chain([""]).map(|folder| format!("{folder}requirements.txt"));
        program.requirements = lists.find(|list| files.iter().any(|file| file.path == *list));
    }
    RunFacts { unread: unread.collect(), programs }
}

impl Program {
    /// The setting with a meaning.
    #[must_use]
    pub fn setting(&self, role: RunRole) -> Option<&RunSetting> {
        self.settings.iter().find(|setting| setting.role == Some(role))
    }

    /// The option for a process's local rank, if nothing reads it from the environment: the launcher before torchrun
    /// passed it, torchrun does not.
    #[must_use]
    pub fn local_rank_option(&self) -> Option<&RunSetting> {
        let is_option = |setting: &&RunSetting| matches!(&*setting.name, "--local_rank" | "--local-rank");
        let by_environment = self.joins.iter().any(|join| join.by == JoinedBy::Environment);
        self.settings.iter().find(is_option).filter(|_| by_environment && !self.reads_local_rank)
    }

    /// Fields of `portolan launch`, by their command-line names, as this program needs them for a target. Unknown
    /// values are omitted.
    #[must_use]
    pub fn launch_fields(&self, target: &ProgramTerms) -> Vec<(&'static str, String)> {
        let mut out = vec![("entry", self.place.path.clone())];
        let mut say = |name: &'static str, value: String| out.push((name, value));
        if self.tensorflow {
            say("tensorflow", "on".to_owned());
        }
        if let Some(device) = self.setting(RunRole::Device) {
            let member = device.choices.iter().find(|choice| choice.eq_ignore_ascii_case(&target.member));
            if let Some(member) = member.filter(|member| device.value.as_ref() != Some(*member)) {
                let word = if device.name.starts_with('-') { " " } else { "=" };
                say("args", format!("{}{word}{member}", device.name));
            }
        }
        let number = |role| self.setting(role).and_then(|s| Some((s, s.value.clone()?.parse::<u32>().ok()?)));
        if let Some((setting, batch)) = number(RunRole::Batch) {
            say("batch", batch.to_string());
            say("batch-from", format!("{} {}", setting.name, setting.place));
            if setting.kind == SettingKind::Value {
                say("batch-key", setting.name.clone());
            }
        }
        if let Some((setting, accumulation)) = number(RunRole::Accumulation).filter(|(_, number)| *number > 0) {
            say("accumulation", accumulation.to_string());
            say("accumulation-from", format!("{} {}", setting.name, setting.place));
            if setting.kind == SettingKind::Value {
                say("accumulation-key", setting.name.clone());
            }
        }
        // A Trainer that is not ported has no devices of this kind.
        let launcher = self.launcher(target).filter(|_| target.joins);
        let starts = matches!(launcher, Some("lightning" | "program"));
        let count = |role| number(role).map(|(_, number)| number).filter(|number| *number > 0 && starts);
        if let Some(devices) = count(RunRole::Devices) {
            let nodes = count(RunRole::Nodes).unwrap_or(1);
            if nodes > 1 {
                say("nodes", nodes.to_string());
            }
            say("instances", devices.saturating_mul(nodes).to_string());
        }
        if let Some(place) = &self.shared_batch {
            say("shared-batch", place.to_string());
        }
        if let Some(setting) = self.setting(RunRole::Distributed) {
            match setting.kind {
                SettingKind::Switch => say("distributed-key", setting.name.clone()),
                SettingKind::Value if setting.name.starts_with('-') => {
                    say("distributed-key", format!("{}=", setting.name));
                }
                SettingKind::Value => say("distributed-key", setting.name.clone()),
                SettingKind::SwitchOff | SettingKind::Constant => {}
            }
        }
        let alone = match &target.import {
            // A launcher starts any program several times; they are one training only if the program uses what the
            // target requires.
            Some(needed) => !self.has(needed),
            None => target.joins && self.alone,
        };
        if alone {
            say("alone", "on".to_owned());
        }
        if let Some(launcher) = launcher {
            say("suits", launcher.to_owned());
        }
        if target.joins && !self.alone {
            say("joined-by", self.joined_by(target));
        }
        // The program starts as many processes as its settings say; a number that is written in the source can't be
        // set.
        if starts {
            for (role, field) in [(RunRole::Devices, "devices-key"), (RunRole::Nodes, "nodes-key")] {
                match self.setting(role) {
                    Some(own) if own.kind == SettingKind::Value => say(field, own.name.clone()),
                    Some(own) => say(field, format!("={} {}", own.value.as_deref().unwrap_or_default(), own.place)),
                    None => {}
                }
            }
        }
        let spawn = self.joins.iter().find(|join| join.by == JoinedBy::Spawn).and_then(|join| join.under.first());
        if let Some(key) = spawn.filter(|_| target.joins) {
            say("spawn-key", key.split('=').next().unwrap_or(key).to_owned());
        }
        if let Some(option) = self.local_rank_option() {
            say("rank_option", format!("{} {}", option.name, option.place));
        }
        let is_switch = |setting: &&RunSetting| {
            let name = setting.name.rsplit_once('.').map(|(_, name)| name);
            setting.kind == SettingKind::Value && name.is_some() && name == target.switch.as_deref()
        };
        if let Some(setting) = self.settings.iter().find(is_switch) {
            say("switch_key", setting.name.clone());
        }
        if self.unplaced {
            say("unplaced", "on".to_owned());
        }
        if let Some(list) = &self.requirements {
            say("requirements", list.clone());
        }
        if let Some(divided) = &self.divided {
            say("divided", "on".to_owned());
            if !divided.ahead.is_empty() {
                say("ahead", divided.ahead.join(","));
            }
        }
        let needs: Vec<&str> = self
            .settings
            .iter()
            .filter(|setting| setting.required && (setting.name.starts_with('-') || setting.name.contains('.')))
            .map(|setting| setting.name.as_str())
            .collect();
        if !needs.is_empty() {
            say("needs", needs.join(","));
        }
        out
    }

    /// Whether it imports that module, or something below it.
    #[must_use]
    pub fn has(&self, module: &str) -> bool {
        self.imports
            .iter()
            .any(|name| name.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
    }

    /// The sources from which its processes get their ranks, each with the arguments that it requires:
    /// `environment:--dist-url=env://,open-mpi`. `unread` if nothing of the kind was found.
    fn joined_by(&self, target: &ProgramTerms) -> String {
        if self.spawns() {
            return JoinedBy::Spawn.name().to_owned();
        }
        let mut all: Vec<String> = Vec::new();
        if self.by_vendor(target) {
            // The vendor's own call reads torchrun's variables and MPI's.
            all.extend(["environment".to_owned(), "mpi".to_owned()]);
        }
        for join in &self.joins {
            let words = if join.by == JoinedBy::Spawn { String::new() } else { join.under.join(" ") };
            let colon = if words.is_empty() { "" } else { ":" };
            let own = format!("{}{colon}{words}", join.by.name());
            // Processes that the program starts only under a switch do not count: with a launcher, the switch is off.
            let is_switched = join.by == JoinedBy::Spawn && !join.under.is_empty();
            if !is_switched && !all.contains(&own) {
                all.push(own);
            }
        }
        if all.is_empty() { "unread".to_owned() } else { all.join(",") }
    }

    /// Whether it always starts processes, so that a launcher must start it once.
    fn spawns(&self) -> bool {
        self.joins.iter().any(|join| join.by == JoinedBy::Spawn && join.always)
    }

    fn by_vendor(&self, target: &ProgramTerms) -> bool {
        target.mpi.iter().any(|name| self.has(name))
    }

    /// What has to start the processes so that they join; none if several launchers can.
    fn launcher(&self, target: &ProgramTerms) -> Option<&'static str> {
        let join = |by: JoinedBy| self.joins.iter().find(|join| join.by == by);
        let joins = |by: JoinedBy| join(by).is_some();
        let is_plain = |by: JoinedBy| join(by).is_some_and(|join| join.under.is_empty());
        if joins(JoinedBy::Lightning) {
            return Some("lightning");
        }
        if self.spawns() || is_plain(JoinedBy::Spawn) && !joins(JoinedBy::Environment) {
            return Some("program");
        }
        let by_mpi =
            self.by_vendor(target) || joins(JoinedBy::Mpi) || joins(JoinedBy::OpenMpi) || joins(JoinedBy::Horovod);
        match (joins(JoinedBy::Environment), by_mpi) {
            (true, false) => Some("torchrun"),
            // MPI's variables are read only under a switch, torchrun's always.
            (true, true)
                if is_plain(JoinedBy::Environment) && joins(JoinedBy::OpenMpi) && !is_plain(JoinedBy::OpenMpi) =>
            {
                Some("torchrun")
            }
            (false, _) if joins(JoinedBy::OpenMpi) => Some("mpirun"),
            _ => None,
        }
    }
}

impl JoinedBy {
    /// The name used by a launch.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            JoinedBy::Environment => "environment",
            JoinedBy::Mpi => "mpi",
            JoinedBy::OpenMpi => "open-mpi",
            JoinedBy::Slurm => "slurm",
            JoinedBy::Spawn => "spawn",
            JoinedBy::Lightning => "lightning",
            JoinedBy::Deepspeed => "deepspeed",
            JoinedBy::Horovod => "horovod",
        }
    }
}

fn place(view: &FileView<'_>, id: Id) -> Place {
    Place { path: view.path.to_owned(), line: view.index.line(id) }
}

/// The value of a literal as written on a command line; none for anything that is computed.
fn literal(view: &FileView<'_>, id: Id) -> Option<String> {
    let k = kinds();
    let (kind, text) = (view.index.kind(id), view.index.text_of(id));
    if kind == k.string {
        return plain_string(&view.index, id).map(str::to_owned);
    }
    let number = text.strip_prefix('-').unwrap_or(text);
    let is_number = number.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && number.chars().all(|c| c.is_ascii_alphanumeric() || "._-+".contains(c));
    if is_number {
        return Some(text.replace('_', ""));
    }
    matches!(text, "True" | "False").then(|| text.to_owned())
}

/// The argument of that name in a call.
fn keyword(view: &FileView<'_>, call: Id, name: &str) -> Option<Id> {
    view.index.arguments(call).keyword(name)
}

/// Positional arguments of a call, in order.
fn positional(view: &FileView<'_>, call: Id) -> Vec<Id> {
    view.index.arguments(call).positional().collect()
}

/// The role suggested by a setting's name and value.
fn role_of(name: &str, value: Option<&str>, kind: SettingKind) -> Option<RunRole> {
    let last = name.rsplit('.').next().unwrap_or(name).trim_start_matches('-').to_ascii_lowercase();
    let last: String = last.chars().filter(|c| *c != '_' && *c != '-').collect();
    let whole = value.is_none_or(|value| value.parse::<u64>().is_ok());
    let truth = matches!(kind, SettingKind::Switch) || matches!(value, Some("True" | "False" | "true" | "false"));
    let elsewhere = ["val", "test", "eval", "aux", "infer", "num", "log", "print", "max", "warm", "queue", "nbatch"];
    if last.contains("accum") && whole && kind != SettingKind::Switch {
        return Some(RunRole::Accumulation);
    }
    let batch =
        last == "batch" || last == "bs" || (last.contains("batch") && (last.contains("size") || last.contains("per")));
    if batch && whole && kind != SettingKind::Switch && !elsewhere.iter().any(|word| last.contains(word)) {
        return Some(RunRole::Batch);
    }
    let length = ["epochs", "nepochs", "numepochs", "maxepochs", "iterations", "maxiters", "maxsteps", "steps"];
    if length.contains(&last.as_str()) && whole && kind != SettingKind::Switch {
        return Some(RunRole::Length);
    }
    let distributed = ["distributed", "ddp", "useddp", "usedistributed", "isdistributed", "distributedtraining"];
    (distributed.contains(&last.as_str()) && truth).then_some(RunRole::Distributed)
}

/// Whether listed values are devices to compute on.
fn are_devices(choices: &[String], target: &TargetFacts) -> bool {
    let modes = choices.iter().filter(|choice| crate::modes::is_mode(choice, &target.compute_modes)).count();
    modes >= 2
}

#[cfg(test)]
mod tests;
