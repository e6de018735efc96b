//! `[launch.lint]`: target-specific mistakes in other people's scripts.

use serde::{Deserialize, Serialize};
use sorting::SortedMap;

/// Mistakes in other people's scripts that are specific to this target.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Lint {
    /// Names that nothing reads, and the intended ones.
    pub name: Vec<WrongName>,
    /// Variables that should not be set, or not in this way.
    pub variable: Vec<WrongVariable>,
    /// The communication library for another vendor's devices.
    pub backend: Option<WrongBackend>,
    /// Flags that a program with `key=value` arguments rejects.
    pub flag: Vec<WrongName>,
    /// Whether a virtual environment has to include the vendor's packages.
    pub open_venv: bool,
    /// Whether the vendor's packages are also available in conda environments.
    pub conda: bool,
    /// Names of variables that the vendor's software sets or reads and that are not in the tables; others that begin
    /// with the same word count too.
    pub environment: Vec<String>,
    /// The only Python version for which the vendor provides packages.
    pub python: Option<String>,
    /// Packages that require another one.
    pub beside: Vec<Beside>,
    /// Programs, in addition to the usual ones, that start several processes, and their options for the number.
    pub starter: Vec<Starter>,
    /// The launcher that distributes replicas among processes.
    pub shares: Option<Shares>,
    /// The commands and options by which a program is compiled and run.
    pub compiled: Option<CompiledWords>,
    /// Launchers whose processes the target's software does not join.
    pub launcher: Vec<WrongLauncher>,
    /// The message if a job requests another vendor's devices; empty if the target's have the same name.
    pub devices: String,
    /// How many of the target's devices are in one that a scheduler counts, if more than one.
    pub parts: Option<u64>,
    /// What replaces a word of `foreign`.
    pub instead: SortedMap<String, String>,
    /// Words of scripts for another vendor's devices. They are in a guide without a target, and apply to all targets.
    pub foreign: Foreign,
}

/// Launchers whose processes the target's software does not join.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrongLauncher {
    /// Their names.
    pub names: Vec<String>,
    /// The message.
    pub why: String,
}

/// Words of scripts for another vendor's devices, and the messages for them. `{name}` is the word that was found.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Foreign {
    /// Programs.
    pub programs: Vec<String>,
    /// The message for a program.
    pub program: String,
    /// Prefixes of variables.
    pub variables: Vec<String>,
    /// The message for a variable.
    pub variable: String,
    /// Prefixes of the words in a module's name.
    pub modules: Vec<String>,
    /// The message for a module.
    pub module: String,
    /// Models of devices, as schedulers name them.
    pub models: Vec<String>,
    /// The message for a model.
    pub model: String,
    /// Words by which a scheduler's options request devices, and such options.
    pub requests: Vec<String>,
    /// Options of a container, and parts of the names of its images.
    pub containers: Vec<String>,
    /// The message for a container.
    pub container: String,
    /// Last words of a program's options for its device.
    pub device_options: Vec<String>,
    /// Names of devices there, without a number.
    pub devices: Vec<String>,
    /// The message for such an option.
    pub device: String,
    /// Words of a program's options that only have an effect on other devices.
    pub options: Vec<String>,
    /// The message for such an option.
    pub option: String,
    /// Features by which a scheduler's option `--constraint` selects machines with other devices.
    pub constraints: Vec<String>,
    /// The message for such a feature.
    pub constraint: String,
    /// What follows if there is a replacement, `{right}`.
    pub instead: String,
    /// The message for a script without findings: what was checked, and what was not.
    pub checked: String,
    /// What follows if commands at `{lines}` are not part of the script.
    pub unseen: String,
}

/// A name that nothing reads.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WrongName {
    /// As it is written.
    pub name: String,
    /// The intended name; empty if there is none.
    pub right: String,
    /// The message.
    pub why: String,
}

/// A variable that should not be set, or not in this way.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WrongVariable {
    /// Its name.
    pub name: String,
    /// The finding's name.
    pub rule: String,
    /// The message.
    pub why: String,
    /// Only if it is exported.
    pub exported: bool,
    /// Only if its value is not a group of devices.
    pub no_group: bool,
    /// If nothing in the script uses its value.
    pub unused: bool,
    /// If its value is used and nothing in the script sets it; the message for that.
    pub unset: String,
    /// The replacement name: the value must still be a group of devices.
    pub right: String,
}

/// Another vendor's communication library.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrongBackend {
    /// Its name.
    pub name: String,
    /// The target's.
    pub right: String,
    /// The message.
    pub why: String,
}

/// A package that requires another one.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beside {
    /// The prefix of the package's file name.
    pub package: String,
    /// The prefix of the other's.
    pub needs: String,
    /// The message.
    pub why: String,
}

/// A program that starts several processes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Starter {
    /// Its name.
    pub program: String,
    /// Its options for their number.
    pub flags: Vec<String>,
}

/// A launcher that distributes replicas among processes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shares {
    /// Its name.
    pub program: String,
    /// Its option for processes.
    pub instances: String,
    /// Its option for replicas.
    pub replicas: String,
    /// Its option for the devices of a replica.
    pub devices_per_replica: String,
    /// The scheduler's option for devices.
    pub asked: String,
    /// Options of the program without a value.
    pub alone: Vec<String>,
}

/// The commands and options by which a program is compiled and run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompiledWords {
    /// The command that compiles.
    pub compile: String,
    /// The command that runs the compiled program.
    pub run: String,
    /// The option for the compiled file's name.
    pub name: String,
    /// The option for its folder.
    pub folder: String,
    /// The default folder.
    pub usual_folder: String,
    /// Its path, from `{folder}` and `{name}`.
    pub path: String,
    /// The option of `run` for it.
    pub file: String,
    /// The options for the batch.
    pub batch: Vec<String>,
    /// The option for several processes.
    pub parallel: String,
    /// The words that `compile` requires for it.
    pub parallel_compile: String,
}
