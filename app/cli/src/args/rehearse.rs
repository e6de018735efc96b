//! The command line of `portolan rehearse`.

use super::{ListFormat, PortChoice};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

const REHEARSE_HELP: &str = "\
Ports PATH and runs the original and the port on the local CPU with the same data and initial weights, using the
installed PyTorch or TensorFlow and stand-ins for the vendor's modules. Losses, gradients and weights are
compared step by step. A project runs in its folder, a single file in the current folder. Your files are not changed: each run has its own folder
with links to yours.
Arguments after `--` are passed to the program; a complete launch command, including its launcher, also works.
In agnostic style both also run with CUDA (computed by the CPU) and on the CPU alone; --format json and --html are of the target's run.
A run shows that the port computes the same results, but not its speed, its memory use, or what the vendor's compiler accepts.

Exit status: 0 equal, or equal except for explained differences; 1 they differ, one failed or trained nothing, or the vendor's rules
are broken; 2 wrong usage, or a package is missing.";

#[derive(Debug, Args)]
#[command(after_help = REHEARSE_HELP)]
pub(crate) struct RehearseArgs {
    #[command(flatten)]
    pub(crate) choice: PortChoice,
    /// The program to run, if the folder has several
    #[arg(long, value_name = "FILE.py")]
    pub(crate) entry: Option<String>,
    /// Number of optimizer steps to compare [default: 16; with --no-data 4]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) steps: Option<u32>,
    /// Seed of both runs
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) seed: u32,
    /// Precision of both runs
    #[arg(long, value_enum, default_value_t = TwinPrecision::Float32)]
    pub(crate) precision: TwinPrecision,
    /// Processes of the port, each with a batch of its own, or with its part of the program's
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) instances: u32,
    /// Total number of replicas [default: one per instance]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) replicas: Option<u32>,
    /// Run without the program's data: samples are made up, of the shapes that its training step takes (PyTorch; Linux and macOS)
    #[arg(long)]
    pub(crate) no_data: bool,
    /// Generate fake torchvision and Keras data sets with N training samples
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "1000", require_equals = true,
        value_parser = clap::value_parser!(u32).range(..=10_000_000))]
    pub(crate) fake_data: Option<u32>,
    /// Generate a folder of fake images with one subfolder per class (10 by default) at the path that the program reads
    #[arg(long, value_name = "FOLDER[=CLASSES]")]
    pub(crate) fake_images: Vec<String>,
    /// Arguments of the original, if they differ from the port's
    #[arg(long, value_name = "ARGS", allow_hyphen_values = true)]
    pub(crate) original_args: Option<String>,
    /// Arguments of the port only, instead of those detected in the project
    #[arg(long, value_name = "ARGS", allow_hyphen_values = true)]
    pub(crate) port_args: Option<String>,
    /// Python with PyTorch installed, or TensorFlow for Keras programs [default: `python3` on PATH or, if it has neither, the one
    /// made by `cargo xtask setup`]
    #[arg(long, value_name = "FILE")]
    pub(crate) python: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    pub(crate) format: ListFormat,
    /// Write the result as an HTML page with both loss curves
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// A file or a project folder
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    /// The program's arguments, or the command that starts it
    #[arg(value_name = "ARGS", last = true)]
    pub(crate) words: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TwinPrecision {
    /// float32 on both sides
    Float32,
    /// The types that the programs request
    Target,
}
