//! `[launch.lint]`: faults of other people's scripts that are a target's.

use serde::{Deserialize, Serialize};

/// Faults of other people's scripts that are this target's.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Lint {
    /// Names that nothing reads, and what was meant.
    pub name: Vec<WrongName>,
    /// Variables that should not be set, or not so.
    pub variable: Vec<WrongVariable>,
    /// The communication library that another vendor's devices have.
    pub backend: Option<WrongBackend>,
    /// Flags that a program which reads `key=value` refuses.
    pub flag: Vec<WrongName>,
    /// Whether a virtual environment has to see the vendor's packages.
    pub open_venv: bool,
    /// Whether the vendor's packages come in conda's environments too.
    pub conda: bool,
    /// Names of variables that the vendor's software sets or reads, as far as the tables do not name them; others that begin
    /// with the same word count too.
    pub environment: Vec<String>,
    /// The one Python that the vendor's packages are for.
    pub python: Option<String>,
    /// Packages that need another beside them.
    pub beside: Vec<Beside>,
    /// Programs, beside the usual ones, that start several processes, and their options for how many.
    pub starter: Vec<Starter>,
    /// The launcher that shares replicas out to processes.
    pub shares: Option<Shares>,
    /// The words by which a program is compiled and run.
    pub compiled: Option<CompiledWords>,
}

/// A name that nothing reads.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WrongName {
    /// As it is written.
    pub name: String,
    /// What was meant; empty when there is no such thing.
    pub right: String,
    /// What is said.
    pub why: String,
}

/// A variable that should not be set, or not so.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WrongVariable {
    /// Its name.
    pub name: String,
    /// The finding's name.
    pub rule: String,
    /// What is said.
    pub why: String,
    /// Only where it is exported.
    pub exported: bool,
    /// Only where its value is no group of devices.
    pub no_group: bool,
    /// Where nothing in the script uses its value.
    pub unused: bool,
    /// Where its value is used and nothing in the script sets it; the text then says so.
    pub unset: String,
    /// The name to write in its place: a group of devices stays one.
    pub right: String,
}

/// The communication library of another vendor.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrongBackend {
    /// Its name.
    pub name: String,
    /// The target's.
    pub right: String,
    /// What is said.
    pub why: String,
}

/// A package that needs another beside it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beside {
    /// How the package's file begins.
    pub package: String,
    /// How the other's begins.
    pub needs: String,
    /// What is said.
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

/// A launcher that shares replicas out to processes.
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

/// The words by which a program is compiled and run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompiledWords {
    /// The word that compiles.
    pub compile: String,
    /// The word that runs what was compiled.
    pub run: String,
    /// The option for the compiled file's name.
    pub name: String,
    /// The option for its folder.
    pub folder: String,
    /// The folder where nothing is said.
    pub usual_folder: String,
    /// Where it lies, of `{folder}` and `{name}`.
    pub path: String,
    /// The option of `run` that takes it.
    pub file: String,
    /// The options for the batch.
    pub batch: Vec<String>,
    /// The option for several processes.
    pub parallel: String,
    /// The words that `compile` wants for it.
    pub parallel_compile: String,
}
