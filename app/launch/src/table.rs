//! What a launch has to know of a target: the `[launch]` table in the front matter of the target's guide. A site file may
//! have some of the same tables, where its machine wants something else.
//!
//! Texts are templates ([`fill`](crate::fill)), and `when` is a condition ([`condition`](crate::condition)).

use crate::condition::When;
use serde::Deserialize;

/// The table `[launch]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LaunchTable {
    /// The target in a list of targets.
    pub(crate) label: String,
    /// What the script does.
    pub(crate) title: String,
    /// The same under a condition; the first that holds wins.
    pub(crate) titles: Vec<Note>,
    /// The numbers and how they follow from one another; `{samples}` is the line about the samples of a step.
    pub(crate) numbers: Vec<String>,
    /// What one device is called.
    pub(crate) device: String,
    /// Devices of one machine where the site doesn't say.
    pub(crate) devices_per_node: Option<u32>,
    /// Processes that may share a device.
    pub(crate) per_device: Option<u32>,
    /// How many processes there are.
    pub(crate) processes: Counting,
    /// What a process is called.
    pub(crate) process: Option<String>,
    /// Whether only a power of two of devices can be had.
    pub(crate) power_of_two: bool,
    /// What a program has to have.
    pub(crate) program: guide::ProgramTerms,
    /// What is said to somebody who asks for several processes of a target that is one; empty when several are fine.
    pub(crate) only_one: String,
    /// What holds one copy of the model.
    pub(crate) copy: String,
    /// Whether the target's programs are told their batch by the target's own option.
    pub(crate) own_batch: bool,
    /// Who makes one training of several processes.
    pub(crate) joined_by: JoinedBy,
    /// Why the program must not join its processes itself.
    pub(crate) joined_why: Option<String>,
    /// Why a program that lacks what the target needs can't be started, or not several times.
    pub(crate) alone: String,
    /// The field at which that is said; `instances`, then only when there are several, when absent.
    pub(crate) alone_field: Option<String>,
    /// The switch for it in a form.
    pub(crate) alone_label: String,
    /// A line about it.
    pub(crate) alone_help: String,
    /// A line about the number of processes.
    pub(crate) processes_help: String,
    /// A line about the number of replicas.
    pub(crate) replicas_help: String,
    /// The devices of a machine that several users may share out.
    pub(crate) groups: Vec<String>,
    /// The port at which processes meet.
    pub(crate) port: Option<u32>,
    /// What commands take as `{site.NAME}` where the site has no word of its own.
    pub(crate) words: Words,
    /// What the user may or must say.
    pub(crate) field: Vec<Field>,
    /// What starts the processes.
    pub(crate) launcher: Vec<LauncherEntry>,
    /// What can't be written.
    pub(crate) refused: Vec<Refusal>,
    /// Variables, in order.
    pub(crate) set: Vec<SetEntry>,
    /// What the user should know.
    pub(crate) note: Vec<Note>,
    /// The commands of a training, in order.
    pub(crate) command: Vec<CommandEntry>,
    /// How a command is run in a container: what stands in front of it, by the container's name.
    pub(crate) container: Vec<CommandEntry>,
    /// When the training needs no device.
    pub(crate) without_devices: Option<When>,
    /// The script that makes the virtual environment.
    pub(crate) setup: Setup,
    /// What is worth keeping of a run.
    pub(crate) collect: Vec<Collected>,
    /// Faults of other people's scripts.
    pub(crate) lint: Lint,
}

/// How many processes a training has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Counting {
    /// One for each device; all devices of the machines when there are several machines.
    #[default]
    Devices,
    /// As many copies of the program as are asked for, one for each machine at least.
    Instances,
    /// Copies of the model, shared out to processes; each copy takes devices of its own.
    Replicas,
}

/// Who makes one training of several processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum JoinedBy {
    /// The program, and it has to be told to.
    #[default]
    Program,
    /// What starts them; the program must not do it too.
    Launcher,
    /// The target's own options say it.
    Options,
}

/// A line under a condition.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Note {
    pub(crate) text: String,
    #[serde(default)]
    pub(crate) when: When,
}

/// Something that only the user knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Field {
    /// Its name in `{…}` and in `--set NAME=VALUE`.
    pub name: String,
    /// What it is.
    pub label: String,
    /// A line about it.
    pub help: String,
    /// What it takes.
    pub kind: Kind,
    /// Whether there is no script without it.
    pub required: bool,
    /// What it is when the user says nothing; only ever something that the source says.
    pub default: Option<String>,
    /// When it is asked for.
    pub when: When,
    /// The scripts that use it: `train`, `setup`, `collect`.
    pub scripts: Vec<String>,
    /// `program` where it says something about the program.
    pub group: String,
}

/// What a field takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Any text.
    #[default]
    Text,
    /// A whole number from 1.
    Number,
    /// `on`, or nothing.
    Switch,
    /// A name for a file, without a folder.
    Name,
    /// A network interface, or a network.
    Network,
    /// One of the target's groups of devices.
    Group,
    /// A release of the vendor's software.
    Release,
}

/// Something that starts the processes of a training.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LauncherEntry {
    pub(crate) name: String,
    /// In a form; without one it can't be chosen.
    pub(crate) label: String,
    /// When it is taken without being chosen: any of these, and the first launcher that fits.
    pub(crate) usual: Option<Vec<When>>,
    /// Whether a single process, too, has to know where processes meet.
    pub(crate) meets_alone: bool,
    /// Whether a single process, too, joins.
    pub(crate) joins_alone: bool,
    /// From what the processes that it starts can learn their places: `environment` for torchrun's variables, `mpi`, …
    pub(crate) tells: Vec<String>,
    /// What a task of the scheduler is.
    pub(crate) tasks: Option<Tasks>,
    /// When it is.
    pub(crate) tasks_when: When,
    /// When it can't be used, and why.
    pub(crate) refused: Vec<Refusal>,
}

/// What a task of the scheduler is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Tasks {
    /// A process of the training.
    Processes,
    /// A machine: one program that starts the machine's processes.
    Machines,
}

/// Something that can't be written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Refusal {
    /// Where it is said; at the launcher's field when absent.
    pub(crate) field: String,
    pub(crate) when: When,
    pub(crate) why: String,
}

/// An environment variable: set to a value, or asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SetEntry {
    pub(crate) name: String,
    pub(crate) value: Option<String>,
    /// What its value stands for; the value, its reason and its source are the release's, of `[variable.NAME]`.
    pub(crate) is: Option<String>,
    /// What the user is asked for where nothing has set the variable before.
    pub(crate) ask: Option<String>,
    pub(crate) when: When,
    pub(crate) why: String,
    pub(crate) source: String,
    /// Whether the script alone uses it.
    pub(crate) inner: bool,
}

/// A command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct CommandEntry {
    /// The launcher that it belongs to; all when empty.
    pub(crate) by: String,
    pub(crate) when: When,
    pub(crate) why: String,
    pub(crate) source: String,
    pub(crate) words: Vec<Phrase>,
}

/// Words of a command.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Phrase {
    /// Words that need no reason.
    Bare(String),
    /// Words with their reason.
    Reasoned(Reasoned),
}

/// Words with their reason.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reasoned {
    pub(crate) words: Texts,
    #[serde(default)]
    pub(crate) why: String,
    #[serde(default)]
    pub(crate) when: When,
    /// Where that is written; the command's own source when absent.
    #[serde(default)]
    pub(crate) source: String,
    /// What stands in the explanation in place of the words.
    #[serde(default)]
    pub(crate) shown: String,
}

/// One text, or several.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Texts {
    /// One.
    One(String),
    /// Several.
    Several(Vec<String>),
}

impl Texts {
    /// All of them.
    pub(crate) fn all(&self) -> &[String] {
        match self {
            Texts::One(text) => std::slice::from_ref(text),
            Texts::Several(texts) => texts,
        }
    }
}

/// Texts that commands take by name.
pub type Words = std::collections::BTreeMap<String, Texts>;

/// The script that makes the virtual environment.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Setup {
    pub(crate) title: String,
    pub(crate) set: Vec<SetEntry>,
    pub(crate) command: Vec<CommandEntry>,
}

/// Something worth keeping of a run: a file, or what a command prints.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Collected {
    pub(crate) take: Option<String>,
    pub(crate) command: String,
    /// The file that the command's output goes to.
    pub(crate) into: String,
    pub(crate) when: When,
    pub(crate) why: String,
    pub(crate) source: String,
}

/// Faults of other people's scripts that are this target's.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Lint {
    /// Names that nothing reads, and what was meant.
    pub(crate) name: Vec<WrongName>,
    /// Variables that should not be set, or not so.
    pub(crate) variable: Vec<WrongVariable>,
    /// The communication library that another vendor's devices have.
    pub(crate) backend: Option<WrongBackend>,
    /// Flags that a program which reads `key=value` refuses.
    pub(crate) flag: Vec<WrongName>,
    /// Whether a virtual environment has to see the vendor's packages.
    pub(crate) open_venv: bool,
    /// Whether the vendor's packages come in conda's environments too.
    pub(crate) conda: bool,
    /// The one Python that the vendor's packages are for.
    pub(crate) python: Option<String>,
    /// Packages that need another beside them.
    pub(crate) beside: Vec<Beside>,
    /// Programs, beside the usual ones, that start several processes, and their options for how many.
    pub(crate) starter: Vec<Starter>,
    /// The launcher that shares replicas out to processes.
    pub(crate) shares: Option<Shares>,
    /// The words by which a program is compiled and run.
    pub(crate) compiled: Option<CompiledWords>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct WrongName {
    pub(crate) name: String,
    /// What was meant; empty when there is no such thing.
    pub(crate) right: String,
    pub(crate) why: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct WrongVariable {
    pub(crate) name: String,
    /// The finding's name.
    pub(crate) rule: String,
    pub(crate) why: String,
    /// Only where it is exported.
    pub(crate) exported: bool,
    /// Only where its value is no group of devices.
    pub(crate) no_group: bool,
    /// Where nothing in the script uses its value.
    pub(crate) unused: bool,
    /// Where its value is used and nothing in the script sets it; the text then says so.
    pub(crate) unset: String,
    /// The name to write in its place: a group of devices stays one.
    pub(crate) right: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WrongBackend {
    pub(crate) name: String,
    pub(crate) right: String,
    pub(crate) why: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Beside {
    /// How the package's file begins.
    pub(crate) package: String,
    /// How the other's begins.
    pub(crate) needs: String,
    pub(crate) why: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Starter {
    pub(crate) program: String,
    pub(crate) flags: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Shares {
    pub(crate) program: String,
    pub(crate) instances: String,
    pub(crate) replicas: String,
    pub(crate) devices_per_replica: String,
    /// The scheduler's option for devices.
    pub(crate) asked: String,
    /// Options of the program without a value.
    pub(crate) alone: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompiledWords {
    pub(crate) compile: String,
    pub(crate) run: String,
    /// The option for the compiled file's name, and that for its folder.
    pub(crate) name: String,
    pub(crate) folder: String,
    pub(crate) usual_folder: String,
    /// Where it lies, of `{folder}` and `{name}`.
    pub(crate) path: String,
    /// The option of `run` that takes it.
    pub(crate) file: String,
    pub(crate) batch: Vec<String>,
    /// The option for several processes, and the words that `compile` wants for it.
    pub(crate) parallel: String,
    pub(crate) parallel_compile: String,
}
