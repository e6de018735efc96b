//! The words of the command line.

mod launch;
mod rehearse;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use std::num::NonZeroUsize;
use std::path::PathBuf;

pub(crate) use launch::{LaunchArgs, SchedulerArg};
pub(crate) use rehearse::{RehearseArgs, TwinPrecision};

/// Takes a training script to a new machine.
#[derive(Debug, Parser)]
#[command(name = "portolan", version, about, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Port Python files to a target accelerator
    Port(PortArgs),
    /// Run the original and its port on this machine's CPU, and compare the two step by step
    Rehearse(Box<RehearseArgs>),
    /// Show what every target makes of a project, line by line
    Matrix(MatrixArgs),
    /// Write a script that starts the ported program, or check one
    Launch(Box<LaunchArgs>),
    /// Run CosmicTagger's UResNet on the CPU, and compare another run's outputs with it
    Forward(ForwardArgs),
    /// Write synthetic events, or those of a larcv file, with labels
    Events(EventsArgs),
    /// Check or list the recipes of the porting guides
    #[command(subcommand)]
    Recipes(RecipesCommand),
    /// Build the site's pages, or serve a built site on this machine
    #[command(subcommand)]
    Site(SiteCommand),
}

/// What a port is to be.
#[derive(Clone, Debug, Args)]
pub(crate) struct PortChoice {
    /// Accelerator to port to; `portolan recipes list` names those that there are
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: String,
    /// Replace the code for other devices, or put the target's code under a guard beside it
    #[arg(long, value_enum, default_value_t = StyleArg::Auto)]
    pub(crate) style: StyleArg,
    /// SDK version to port for; the newest that the guide knows when absent
    #[arg(long, value_name = "VERSION")]
    pub(crate) sdk: Option<String>,
    /// Apply changes that may alter what the program does
    #[arg(long = "unsafe")]
    pub(crate) allow_unsafe: bool,
    /// Set a recipe's option, as `portolan recipes list` names it
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = name_and_value)]
    pub(crate) options: Vec<(String, String)>,
    /// Leave out a recipe, e.g. hpu#model-to-device
    #[arg(long = "reject", value_name = "RECIPE")]
    pub(crate) rejected: Vec<String>,
}

const PORT_HELP: &str = "\
Without --write or --out the port is printed as one patch, which `git apply` takes.
Paths in the patch and in the reports are relative to PATH when that is one folder, else to the current folder.
Messages go to stderr as path:line:column: severity[recipe] message.

Exit status: 0 ported; 1 a file could not be read or parsed, or --check found work for a person; 2 wrong usage.";

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("where").args(["diff", "write", "out"]))]
#[command(after_help = PORT_HELP)]
pub(crate) struct PortArgs {
    #[command(flatten)]
    pub(crate) choice: PortChoice,
    /// Print one git-style patch (the default)
    #[arg(long)]
    pub(crate) diff: bool,
    /// Write the changed files back; unchanged ones are not touched. With `-` the ported text is printed
    #[arg(long)]
    pub(crate) write: bool,
    /// Write the patch to FILE before --write changes anything: `git apply -R FILE` takes the port back
    #[arg(long, value_name = "FILE", requires = "write")]
    pub(crate) patch: Option<PathBuf>,
    /// Write the ported tree into DIR, unchanged files too; refused when a file there differs from the port
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Replace files of DIR that differ from the port
    #[arg(long, requires = "out", conflicts_with_all = ["write", "diff"])]
    pub(crate) force: bool,
    /// Exit with 1 when something is left for a person to do
    #[arg(long)]
    pub(crate) check: bool,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// Files and folders to port as one project; `-` reads a file from stdin
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct MatrixArgs {
    /// What to print
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    pub(crate) format: ListFormat,
    /// Files and folders to look at as one project
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
}

const FORWARD_HELP: &str = "\
FILE is safetensors, a checkpoint of torch.save (nothing in it is run), .npz or .npy. An event is `input`
[pictures, 3, height, width], or one entry for each pixel that is not empty in `plane`, `row`, `col`, `value` and, if
known, `label` and `event`. Weights have PyTorch's names, with or without `module.` in front.
The outputs, written and compared, are `output.plane0` to `output.plane2` [pictures, 3 classes, height, width].
What is written or compared is computed by a method that rounds less than the fastest.

Exit status: 0 done; 1 a file could not be used, or the outputs do not agree; 2 wrong usage.";

#[derive(Debug, Args)]
#[command(after_help = FORWARD_HELP)]
pub(crate) struct ForwardArgs {
    /// uresnet, a21, scc21, polaris, small (the page's sample), or a file with the fields of CosmicTagger's configuration
    #[arg(long, value_name = "NAME|FILE.json")]
    pub(crate) config: String,
    /// Weights of a trained network; `sample` are those of `small`, which the page begins with
    #[arg(long, value_name = "FILE|sample", conflicts_with = "seed")]
    pub(crate) weights: Option<PathBuf>,
    /// Weights made from a number (0 when there are no others)
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// The picture (safetensors, npz, npy, or larcv's HDF5); a synthetic event when absent
    #[arg(long, value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,
    /// Which event of a sparse or larcv FILE, or which synthetic one (0 when absent)
    #[arg(long, value_name = "N")]
    pub(crate) event: Option<u64>,
    /// Size of a synthetic (320x512) or sparse (1280x2048) event's picture
    #[arg(long, value_name = "HEIGHTxWIDTH", value_parser = size)]
    pub(crate) size: Option<(usize, usize)>,
    /// Make K by K pixels one: their mean, and the largest of their labels
    #[arg(long, value_name = "K")]
    pub(crate) downsample: Option<usize>,
    /// Threads to run on; all when absent
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
    /// Write input and outputs
    #[arg(long, value_name = "FILE.safetensors")]
    pub(crate) out: Option<PathBuf>,
    /// Write the weights into the same file
    #[arg(long, requires = "out")]
    pub(crate) bundle: bool,
    /// Write every module's output into it as `stage.PATH.plane0` to `2` or `stage.PATH.all`
    #[arg(long, requires = "out")]
    pub(crate) stages: bool,
    /// Write a Python script that runs a ported project's own network on that file, for --compare
    #[arg(long, value_name = "FILE.py", requires = "bundle")]
    pub(crate) script: Option<PathBuf>,
    /// Compare with the outputs, and stages if there are any, that another run wrote
    #[arg(long, value_name = "FILE.safetensors")]
    pub(crate) compare: Option<PathBuf>,
    /// What that run computed with, which says how far it may be off
    #[arg(long, value_enum, default_value_t = PrecisionArg::Fp32, requires = "compare")]
    pub(crate) precision: PrecisionArg,
    /// What to print: text or json
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

const EVENTS_HELP: &str = "\
The file has one entry for each pixel that is not empty: `event`, `plane` (0 to 2), `row`, `col`, `value` (charge) and
`label` (0 background, 1 cosmic, 2 neutrino). The same numbers draw the same events on every machine. Of a larcv file
the pixels of sbndwire and the classes of sbnd_cosmicseg are taken, or, where they are called otherwise, the one producer
whose values are not all classes and the one whose values are.

Exit status: 0 written; 1 the file could not be written; 2 wrong usage.";

#[derive(Debug, Args)]
#[command(after_help = EVENTS_HELP)]
pub(crate) struct EventsArgs {
    /// Number of the first event
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..1 << 24))]
    pub(crate) first: u64,
    /// How many events; when absent one, or all of a file
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4096))]
    pub(crate) count: Option<u64>,
    /// Size of the pictures that are drawn (320x512 when absent)
    #[arg(long, value_name = "HEIGHTxWIDTH", value_parser = size, conflicts_with = "input")]
    pub(crate) size: Option<(usize, usize)>,
    /// Take them out of an HDF5 file of larcv 3 in place of drawing them
    #[arg(long, value_name = "FILE.h5")]
    pub(crate) input: Option<PathBuf>,
    /// Where to write them
    #[arg(long, value_name = "FILE.safetensors")]
    pub(crate) out: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PrecisionArg {
    /// float32
    Fp32,
    /// bfloat16
    Bf16,
    /// float16
    Fp16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StyleArg {
    /// `branch` when the project has compute modes to choose from, else `in-place`
    Auto,
    /// The file becomes code for the target
    InPlace,
    /// Every other device stays as it was
    Branch,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text for people; of a port, a patch
    Text,
    /// One JSON object, as described in schema/
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RecipesCommand {
    /// Run every example of the guides; UPDATE=1 writes the `after` fences anew
    Test {
        /// Folder with the guides
        #[arg(default_value = "guides")]
        dir: PathBuf,
    },
    /// List the recipes of this build
    List {
        /// What to print
        #[arg(long, value_enum, default_value_t = ListFormat::Text)]
        format: ListFormat,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// One line an entry
    Text,
    /// A JSON array
    Json,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SiteCommand {
    /// Write the pages
    Build(BuildArgs),
    /// Serve a built site on http://127.0.0.1
    Serve(ServeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Folder to serve
    #[arg(long, visible_alias = "out", value_name = "DIR", default_value = "dist")]
    pub(crate) dir: PathBuf,
    /// Port to listen on; 0 takes any free one
    #[arg(long, default_value_t = 8080)]
    pub(crate) port: u16,
    /// Write the pages again when a guide or another of their sources changes, and have open pages reload themselves
    #[arg(long)]
    pub(crate) watch: bool,
    #[command(flatten)]
    pub(crate) sources: PageSources,
}

/// What the pages are made of.
#[derive(Clone, Debug, Args)]
pub(crate) struct PageSources {
    /// Folder with the guides
    #[arg(long, value_name = "DIR", default_value = "guides")]
    pub(crate) guides: PathBuf,
    /// Folder whose files are copied as they are
    #[arg(long, value_name = "DIR", default_value = "public")]
    pub(crate) public: PathBuf,
    /// Folder with the rehearsal kit, which the site offers as an archive; none when there is no such folder
    #[arg(long, value_name = "DIR", default_value = "rehearsal")]
    pub(crate) kit: PathBuf,
    /// Where the site will live, with `/` at both ends
    #[arg(long, value_name = "PATH", default_value = "/")]
    pub(crate) base: String,
    /// Address below which guides/NAME.md can be edited; pages then link to it
    #[arg(long, value_name = "URL")]
    pub(crate) edit: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct BuildArgs {
    /// Folder to write to
    #[arg(long, value_name = "DIR", default_value = "dist")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) sources: PageSources,
    /// The built page that ports; without it the site has guides only
    #[arg(long, value_name = "FILE")]
    pub(crate) port_page: Option<PathBuf>,
    /// Also write guides, search and the port's page as one page that opens from a disk, the engine inside; --out must hold
    /// the built programs (cargo xtask build)
    #[arg(long, value_name = "FILE")]
    pub(crate) single_file: Option<PathBuf>,
}

fn name_and_value(word: &str) -> Result<(String, String), String> {
    match word.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_string(), value.to_string())),
        _ => Err("expected NAME=VALUE".to_string()),
    }
}

/// A picture of more pixels than the largest event has sixteen times over is a slip of the pen.
fn size(word: &str) -> Result<(usize, usize), String> {
    let sides = word.split_once('x').and_then(|(h, w)| Some((h.parse::<u32>().ok()?, w.parse::<u32>().ok()?)));
    match sides {
        Some((h, w)) if u64::from(h) * u64::from(w) <= 1 << 26 => Ok((h as usize, w as usize)),
        Some(_) => Err("larger than 67 million pixels".to_string()),
        None => Err("expected HEIGHTxWIDTH, e.g. 320x512".to_string()),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        super::Cli::command().debug_assert();
    }
}
