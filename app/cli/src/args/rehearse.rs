//! The words of `portolan rehearse`.

use super::{ListFormat, PortChoice};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

const REHEARSE_HELP: &str = "\
Ports PATH and runs the original and the port on this machine's CPU, with the same data from the same weights, on the
PyTorch or TensorFlow that is installed and stand-ins for the vendor's modules: their losses, gradients and weights are
compared step by step. A folder's program is started in that folder, a file in the current one. Neither is written to: each run has a folder
of its own, with links to what is in yours.
Behind `--` stand the program's own arguments, or the command of a launch script as it stands there, with its launcher.
A run shows that the port computes the same. It says nothing of speed, of memory, or of what the vendor's compiler accepts.

Exit status: 0 equal, or equal up to what is explained; 1 they differ, one failed or trained nothing, or the vendor's rules
are broken; 2 wrong usage, or a package is missing.";

#[derive(Debug, Args)]
#[command(after_help = REHEARSE_HELP)]
pub(crate) struct RehearseArgs {
    #[command(flatten)]
    pub(crate) choice: PortChoice,
    /// The program, where the folder has several
    #[arg(long, value_name = "FILE.py")]
    pub(crate) entry: Option<String>,
    /// Steps of the optimizer that are compared
    #[arg(long, value_name = "K", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) steps: u32,
    /// Seed of both runs
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) seed: u32,
    /// Both in float32, or as the programs say
    #[arg(long, value_enum, default_value_t = TwinPrecision::Float32)]
    pub(crate) precision: TwinPrecision,
    /// Processes of the port, where the target has a launcher of its own
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) instances: u32,
    /// Replicas in all; one an instance when absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) replicas: Option<u32>,
    /// Make up the data sets of torchvision and Keras, with N samples for training
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "1000", require_equals = true)]
    pub(crate) fake_data: Option<u32>,
    /// Make up a folder of images, one folder in it a class (10 when absent), where the program looks for it
    #[arg(long, value_name = "FOLDER[=CLASSES]")]
    pub(crate) fake_images: Vec<String>,
    /// The original's arguments where they are others than the port's
    #[arg(long, value_name = "ARGS", allow_hyphen_values = true)]
    pub(crate) original_args: Option<String>,
    /// Arguments of the port alone, in place of those that are read off the project
    #[arg(long, value_name = "ARGS", allow_hyphen_values = true)]
    pub(crate) port_args: Option<String>,
    /// The Python that has PyTorch, or TensorFlow for a program of Keras; `python3` on PATH when absent
    #[arg(long, value_name = "FILE")]
    pub(crate) python: Option<PathBuf>,
    /// What to print
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    pub(crate) format: ListFormat,
    /// Write the result as a page with the two curves of the loss
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// A file, or the folder of a project
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
    /// The types that the programs ask for
    Target,
}
