//! The command line of `portolan launch`.

use super::name_and_value;
use clap::{Args, ValueEnum};
use launch::Target;
use std::path::PathBuf;

/// Text below the options; the fields of a target are those of its guide.
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
Use --set for values that only you know, e.g. --set venv=DIR; missing ones are reported. Fields of every site:
venv, cores, checkpoints with resume-key, and under a scheduler account, partition, time (HH:MM:SS), job, mail, array with
array-key, after, requeue=on, exclusive=on; under Slurm qos and memory; under PBS select; with --setup requirements; with
--collect results and archive. Fields of a target:
{targets}

With DRY_RUN=1 in the environment, the script prints its commands without running them.

Exit status: 0 written; 1 a file could not be read, or --lint found something; 2 wrong usage.";

#[derive(Debug, Args)]
#[command(after_help = launch_help())]
pub(crate) struct LaunchArgs {
    /// Accelerator to train on
    #[arg(long, value_name = "TARGET", value_parser = target)]
    pub(crate) target: Target,
    /// Site: generic, alcf, tamu-aces, one of their machines such as alcf-pod64, or a site file (.toml)
    #[arg(long, value_name = "SITE", default_value = "generic")]
    pub(crate) site: String,
    /// Scheduler that starts the script
    #[arg(long, value_enum, default_value_t = SchedulerArg::Bash)]
    pub(crate) scheduler: SchedulerArg,
    /// The training program
    #[arg(long, value_name = "FILE", required_unless_present_any = ["lint", "setup", "collect", "project"])]
    pub(crate) entry: Option<String>,
    /// Program arguments, split like a shell; variables and globs are not expanded
    #[arg(long, value_name = "ARGUMENTS", allow_hyphen_values = true)]
    pub(crate) args: Option<String>,
    /// Number of machines [default: as in the project's Trainer, else 1]
    #[arg(long, value_name = "N")]
    pub(crate) nodes: Option<u32>,
    /// Number of processes on all machines
    #[arg(long, value_name = "N")]
    pub(crate) instances: Option<u32>,
    /// Copies of the model in all processes
    #[arg(long, value_name = "N")]
    pub(crate) replicas: Option<u32>,
    /// Devices per copy of the model (ipu, popdist)
    #[arg(long, value_name = "N", default_value_t = 1, alias = "ipus-per-replica")]
    pub(crate) devices_per_replica: u32,
    /// Samples per micro-batch; shows the samples per step
    #[arg(long, value_name = "N")]
    pub(crate) batch: Option<u32>,
    /// Micro-batches per step [default: as in --args, else 1]
    #[arg(long, value_name = "N")]
    pub(crate) accumulation: Option<u32>,
    /// Launcher, such as mpirun or torchrun [default: the target's usual launcher]
    #[arg(long, value_name = "LAUNCHER")]
    pub(crate) launcher: Option<String>,
    /// Options for the launcher, split like a shell; added to its command
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
    pub(crate) launcher_args: Option<String>,
    /// Launcher that suits the program, as detected; used unless --launcher is given or the target's
    /// usual launcher provides the same variables
    #[arg(long, value_name = "LAUNCHER")]
    pub(crate) suits: Option<String>,
    /// Lazy mode, the older execution mode (hpu)
    #[arg(long)]
    pub(crate) lazy: bool,
    /// Your devices on a shared machine, e.g. 0,1 (hpu)
    #[arg(long, value_name = "LIST")]
    pub(crate) modules: Option<String>,
    /// Rendezvous port
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1024..))]
    pub(crate) port: Option<u16>,
    /// Names of the machines, if there is no scheduler
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) hosts: Vec<String>,
    /// Fill in program, batch and keys from the ported project; findings are listed on stderr with their locations.
    /// With --lint, also check what the program would refuse
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// The program's key or flag for distributed training, e.g. run.distributed; the script sets it
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    pub(crate) distributed_key: Option<String>,
    /// The program's key or option for the batch size, e.g. run.minibatch_size; the script sets it
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    pub(crate) batch_key: Option<String>,
    /// Where the batch size was found, shown next to the sum
    #[arg(long, value_name = "TEXT")]
    pub(crate) batch_from: Option<String>,
    /// Where the program divides its batch by the number of processes
    #[arg(long, value_name = "TEXT")]
    pub(crate) shared_batch: Option<String>,
    /// Where the micro-batches per step were found, shown next to the sum; the script then does not set them
    #[arg(long, value_name = "TEXT")]
    pub(crate) accumulation_from: Option<String>,
    /// The program's key or option for the micro-batches per step
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    pub(crate) accumulation_key: Option<String>,
    /// Arguments that distributed training requires, e.g. --dist-url=env://; the script adds them
    #[arg(long, value_name = "ARGUMENTS", allow_hyphen_values = true)]
    pub(crate) join_args: Option<String>,
    /// How the program's processes get their ranks: environment, mpi, open-mpi, horovod, deepspeed, lightning,
    /// spawn, each with the arguments that it requires, e.g. environment:--dist-url=env://; unread if not found
    #[arg(long, value_name = "LIST")]
    pub(crate) joined_by: Option<String>,
    /// The program's key or option for the devices of Lightning's Trainer; the script sets it
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    pub(crate) devices_key: Option<String>,
    /// The program's key or option for the Trainer's number of machines; the script sets it
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    pub(crate) nodes_key: Option<String>,
    /// Option with which the program starts processes itself
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    pub(crate) spawn_key: Option<String>,
    /// The program divides its command line at `--` (rdu)
    #[arg(long)]
    pub(crate) divided: bool,
    /// Program options that still go before `--`
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) ahead: Vec<String>,
    /// The program has no distributed training, or lacks what the target's launch requires; launches that can't work are refused
    #[arg(long)]
    pub(crate) alone: bool,
    /// Keys and options that the program requires
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) needs: Vec<String>,
    /// TensorFlow program
    #[arg(long)]
    pub(crate) tensorflow: bool,
    /// Write the script that creates the virtual environment
    #[arg(long)]
    pub(crate) setup: bool,
    /// Write the script that collects results, logs and versions in one archive
    #[arg(long, conflicts_with = "setup")]
    pub(crate) collect: bool,
    /// Use the compiled program of an earlier run (rdu)
    #[arg(long)]
    pub(crate) compiled: bool,
    /// Enable the vendor's profiler (hpu, ipu, popdist)
    #[arg(long)]
    pub(crate) profile: bool,
    /// Additional environment variable; repeatable
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = name_and_value)]
    pub(crate) env: Vec<(String, String)>,
    /// Additional scheduler directive, e.g. --directive=--constraint=x; repeatable
    #[arg(long = "directive", value_name = "OPTION", allow_hyphen_values = true)]
    pub(crate) directives: Vec<String>,
    /// Environment modules to load, e.g. gcc/12
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) load: Vec<String>,
    /// Explain each variable, flag and directive, with a link to its source
    #[arg(long)]
    pub(crate) explain: bool,
    /// Value of a field listed below
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = field_and_value)]
    pub(crate) values: Vec<(String, String)>,
    /// Check an existing script, or the shell lines of a notebook, instead: findings on stderr, a patch on stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) lint: Option<PathBuf>,
    /// File to write [default: stdout]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchedulerArg {
    /// Run by hand
    Bash,
    /// sbatch
    Slurm,
    /// qsub
    Pbs,
}

fn field_and_value(word: &str) -> Result<(String, String), String> {
    let example = "expected FIELD=VALUE, such as venv=DIR; portolan launch --help lists the fields";
    name_and_value(word).map_err(|_| example.to_string())
}

fn target(name: &str) -> Result<Target, String> {
    Target::named(name).ok_or_else(|| {
        let names: Vec<&str> = Target::all().map(Target::name).collect();
        format!("there are {}", names.join(", "))
    })
}
