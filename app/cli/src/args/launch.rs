//! The words of `portolan launch`.

use super::name_and_value;
use clap::{Args, ValueEnum};
use launch::Target;
use std::path::PathBuf;

/// What stands below the options; the fields of a target are those of its guide.
fn launch_help() -> String {
    let of_target = |target: Target| {
        let is_set = |name: &&str| *name != "port";
        let names: Vec<&str> = target.fields().iter().map(|field| &*field.name).filter(is_set).collect();
        (!names.is_empty()).then(|| format!("  {}: {}", target.name(), names.join(", ")))
    };
    let targets: Vec<String> = Target::all().filter_map(of_target).collect();
    LAUNCH_HELP.replace("{targets}", &targets.join("\n"))
}

const LAUNCH_HELP: &str = "\
A value that only you know is set with --set, e.g. --set venv=DIR; a site says which it needs. Known at every site:
venv, cores, checkpoints with resume-key, and under a scheduler account, partition, time (HH:MM:SS), job, mail, array with
array-key, after, requeue=on, exclusive=on; under Slurm qos and memory; under PBS select; with --setup requirements; with
--collect results and archive. Those of a target:
{targets}

With DRY_RUN=1 in its environment the script shows its commands and runs none.

Exit status: 0 written; 1 a file could not be read, or --lint found something; 2 wrong usage.";

#[derive(Debug, Args)]
#[command(after_help = launch_help())]
pub(crate) struct LaunchArgs {
    /// Accelerator to train on
    #[arg(long, value_name = "TARGET", value_parser = target)]
    pub(crate) target: Target,
    /// Where: generic, alcf, tamu-aces, one machine of these such as alcf-pod64, or a site file that ends in .toml
    #[arg(long, value_name = "SITE", default_value = "generic")]
    pub(crate) site: String,
    /// Who starts the script
    #[arg(long, value_enum, default_value_t = SchedulerArg::Bash)]
    pub(crate) scheduler: SchedulerArg,
    /// The program that trains
    #[arg(long, value_name = "FILE", required_unless_present_any = ["lint", "setup", "collect", "project"])]
    pub(crate) entry: Option<String>,
    /// Its arguments, split like a shell; variables and globs are not expanded
    #[arg(long, value_name = "ARGUMENTS", allow_hyphen_values = true)]
    pub(crate) args: Option<String>,
    /// Machines; what the project's Trainer says, else 1, when absent
    #[arg(long, value_name = "N")]
    pub(crate) nodes: Option<u32>,
    /// Processes, all machines together
    #[arg(long, value_name = "N")]
    pub(crate) instances: Option<u32>,
    /// Copies of the model, all processes together
    #[arg(long, value_name = "N")]
    pub(crate) replicas: Option<u32>,
    /// Devices for one copy of the model (ipu, popdist)
    #[arg(long, value_name = "N", default_value_t = 1, alias = "ipus-per-replica")]
    pub(crate) devices_per_replica: u32,
    /// Samples of one micro-batch, to show the samples of a step
    #[arg(long, value_name = "N")]
    pub(crate) batch: Option<u32>,
    /// Micro-batches that one step adds up; what --args says, else 1, when absent
    #[arg(long, value_name = "N")]
    pub(crate) accumulation: Option<u32>,
    /// Who starts the processes, such as mpirun or torchrun; the target's usual one when absent
    #[arg(long, value_name = "LAUNCHER")]
    pub(crate) launcher: Option<String>,
    /// Who could start the program's processes, as it was read; taken unless --launcher says another, or the target's
    /// usual one tells them the same
    #[arg(long, value_name = "LAUNCHER")]
    pub(crate) suits: Option<String>,
    /// Run lazily, the older way (hpu)
    #[arg(long)]
    pub(crate) lazy: bool,
    /// Devices of a machine that users share, e.g. 0,1 (hpu)
    #[arg(long, value_name = "LIST")]
    pub(crate) modules: Option<String>,
    /// Port where the processes meet
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1024..))]
    pub(crate) port: Option<u16>,
    /// Names of the machines, where no scheduler knows them
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) hosts: Vec<String>,
    /// Read what is left open out of the ported project: program, batch, keys; says on stderr what it found and where
    #[arg(long, value_name = "DIR", conflicts_with = "lint")]
    pub(crate) project: Option<PathBuf>,
    /// The program's key or switch that joins its processes, e.g. run.distributed; the script sets it
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    pub(crate) distributed_key: Option<String>,
    /// The program's key or option that takes the batch, e.g. run.minibatch_size; the script sets it
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    pub(crate) batch_key: Option<String>,
    /// Where the batch was read, shown beside the sum
    #[arg(long, value_name = "TEXT")]
    pub(crate) batch_from: Option<String>,
    /// Where the program divides its batch by the number of processes
    #[arg(long, value_name = "TEXT")]
    pub(crate) shared_batch: Option<String>,
    /// Where the micro-batches of a step were read, shown beside the sum; then the script does not set them
    #[arg(long, value_name = "TEXT")]
    pub(crate) accumulation_from: Option<String>,
    /// The program's key or option that takes the micro-batches of a step
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    pub(crate) accumulation_key: Option<String>,
    /// Words without which the program's processes don't join, e.g. --dist-url=env://; the script adds them
    #[arg(long, value_name = "ARGUMENTS", allow_hyphen_values = true)]
    pub(crate) join_args: Option<String>,
    /// From what the program's processes learn their places: environment, mpi, open-mpi, horovod, deepspeed, lightning,
    /// spawn, each with words that it takes, e.g. environment:--dist-url=env://; unread where that was not found
    #[arg(long, value_name = "LIST")]
    pub(crate) joined_by: Option<String>,
    /// The program's key or option that takes the devices of Lightning's Trainer; the script sets it
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    pub(crate) devices_key: Option<String>,
    /// The same for machines
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    pub(crate) nodes_key: Option<String>,
    /// Option with which the program starts processes itself
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    pub(crate) spawn_key: Option<String>,
    /// The program divides its command line at `--` (rdu)
    #[arg(long)]
    pub(crate) divided: bool,
    /// Its options that stand in front of `--` all the same
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) ahead: Vec<String>,
    /// The program lacks what joins its processes, or what the target's launch counts on: what can't work is refused
    #[arg(long)]
    pub(crate) alone: bool,
    /// Keys and options that the program does not start without
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) needs: Vec<String>,
    /// TensorFlow program
    #[arg(long)]
    pub(crate) tensorflow: bool,
    /// Write the script that makes the virtual environment
    #[arg(long)]
    pub(crate) setup: bool,
    /// Write the script that puts results, logs and versions into one archive
    #[arg(long, conflicts_with = "setup")]
    pub(crate) collect: bool,
    /// An earlier script compiled the program (rdu)
    #[arg(long)]
    pub(crate) compiled: bool,
    /// Turn the vendor's profiler on (hpu, ipu, popdist)
    #[arg(long)]
    pub(crate) profile: bool,
    /// Environment variable of your own; as often as you like
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = name_and_value)]
    pub(crate) env: Vec<(String, String)>,
    /// Directive of your own for the scheduler, e.g. --directive=--constraint=x; as often as you like
    #[arg(long = "directive", value_name = "OPTION", allow_hyphen_values = true)]
    pub(crate) directives: Vec<String>,
    /// Environment modules to load, e.g. gcc/12
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) load: Vec<String>,
    /// Say of each variable, flag and directive why it is there and where that is written
    #[arg(long)]
    pub(crate) explain: bool,
    /// Value of a field; they are listed below
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = field_and_value)]
    pub(crate) values: Vec<(String, String)>,
    /// Check this script instead: findings to stderr, a patch to stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) lint: Option<PathBuf>,
    /// File to write; stdout when absent
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchedulerArg {
    /// You, by hand
    Bash,
    /// sbatch
    Slurm,
    /// qsub
    Pbs,
}

fn field_and_value(word: &str) -> Result<(String, String), String> {
    let example =
        "it takes the name of a field and its value, such as venv=DIR; portolan launch --help lists the fields";
    name_and_value(word).map_err(|_| example.to_string())
}

fn target(name: &str) -> Result<Target, String> {
    Target::named(name).ok_or_else(|| {
        let names: Vec<&str> = Target::all().map(Target::name).collect();
        format!("there are {}", names.join(", "))
    })
}
