//! The command line.

mod launch;
mod rehearse;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

pub(crate) use launch::{LaunchArgs, SchedulerArg};
pub(crate) use rehearse::{RehearseArgs, TwinPrecision};

/// Ports training scripts to other accelerators.
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
    /// Run the original and its port on the local CPU and compare them step by step
    Rehearse(Box<RehearseArgs>),
    /// Compare all targets for every affected line of a project
    Matrix(MatrixArgs),
    /// Show what becomes of an API name on each target
    Api(ApiArgs),
    /// Find what an error message means, and the lines of a project in its traceback
    Explain(ExplainArgs),
    /// Write a script that starts the ported program, or check one
    Launch(Box<LaunchArgs>),
    /// Run CosmicTagger's UResNet on the CPU and compare another run's outputs with it
    Forward(ForwardArgs),
    /// Write labelled events: synthetic, or from a larcv file
    Events(EventsArgs),
    /// Check or list the recipes of the porting guides
    #[command(subcommand)]
    Recipes(RecipesCommand),
    /// Build the site's pages, or serve a built site locally
    #[command(subcommand)]
    Site(SiteCommand),
}

/// Options of a port.
#[derive(Clone, Debug, Args)]
pub(crate) struct PortChoice {
    /// Accelerator to port to; `portolan recipes list` shows the choices
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: String,
    /// Replace the code for other devices, or keep it and add the target's code under a condition
    #[arg(long, value_enum, default_value_t = StyleArg::Auto)]
    pub(crate) style: StyleArg,
    /// SDK version to port for [default: the newest in the guide]
    #[arg(long, value_name = "VERSION")]
    pub(crate) sdk: Option<String>,
    /// Apply changes that may alter what the program does
    #[arg(long = "unsafe")]
    pub(crate) allow_unsafe: bool,
    /// Set a recipe option listed by `portolan recipes list`
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = name_and_value)]
    pub(crate) options: Vec<(String, String)>,
    /// Put a comment above each place that is left to you; a later port removes those that it no longer reports
    #[arg(long)]
    pub(crate) annotate: bool,
    /// Skip a recipe, e.g. hpu#model-to-device
    #[arg(long = "reject", value_name = "RECIPE")]
    pub(crate) rejected: Vec<String>,
    /// Add the recipes of the guides (*.md) in DIR to those of their targets
    #[arg(long, value_name = "DIR")]
    pub(crate) guides: Option<PathBuf>,
}

const PORT_HELP: &str = "\
Without --write, --out or --series, the port is printed as one patch for `git apply`.
Paths in the patch and in reports are relative to PATH if it is a single folder, else to the current folder; in SARIF, to
the current folder.
Messages go to stderr as path:line:column: severity[recipe] message.

Exit status: 0 ported; 1 a file could not be read, parsed or written, another port is writing in the
folder, or --check found manual work; 2 wrong usage.";

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("where").args(["diff", "write", "out", "series"]))]
#[command(after_help = PORT_HELP)]
pub(crate) struct PortArgs {
    #[command(flatten)]
    pub(crate) choice: PortChoice,
    /// Print one git-style patch (the default)
    #[arg(long)]
    pub(crate) diff: bool,
    /// Write changed files in place; with `-`, print the ported text
    #[arg(long)]
    pub(crate) write: bool,
    /// Save the patch to FILE before --write changes anything; `git apply -R FILE` reverts the port, even one that was killed
    #[arg(long, value_name = "FILE", requires = "write")]
    pub(crate) patch: Option<PathBuf>,
    /// Write the ported project to DIR, including unchanged files, and name what is not copied; fails if a file there differs
    /// from the port
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Overwrite files in DIR that differ from the port
    #[arg(long, requires = "out", conflicts_with_all = ["write", "diff"])]
    pub(crate) force: bool,
    /// Write the port to DIR as numbered patches for `git am`: one commit a recipe, with its reason and source, and every
    /// file compiles after each
    #[arg(long, value_name = "DIR")]
    pub(crate) series: Option<PathBuf>,
    /// Author of the commits
    #[arg(long, value_name = "NAME <EMAIL>", requires = "series", default_value = "Portolan <portolan@localhost>")]
    #[arg(value_parser = author)]
    pub(crate) author: Author,
    /// Write a page about the port to FILE: the changes with their reasons and sources, what is left to do, the numbers
    /// and the checks
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// Exit with status 1 if manual work remains
    #[arg(long)]
    pub(crate) check: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// Files and folders to port as one project; `-` reads a file from stdin
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct MatrixArgs {
    /// Output format
    #[arg(long, value_enum, default_value_t = MatrixFormat::Text)]
    pub(crate) format: MatrixFormat,
    /// Files and folders to analyse as one project
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
}

const API_HELP: &str = "\
The answer is that of the site's API lookup: the code that takes the name's place, or `removed`, `rewritten`
(more than a line) or `manual` (only reported), with the recipes. Several lines of a target are for different uses.

Exit status: 0 known; 1 no recipe names it; 2 wrong usage.";

#[derive(Debug, Args)]
#[command(after_help = API_HELP)]
pub(crate) struct ApiArgs {
    /// Show this target only
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: Option<String>,
    /// Output format; the JSON is described in schema/
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    pub(crate) format: ListFormat,
    /// Full name, such as torch.cuda.amp.autocast; a method as cuda or `.cuda()`
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}

const EXPLAIN_HELP: &str = "\
The answer comes from the guides: for each message that they know, its cause, what to do and the source, at most three, the first
exception first. With --project, the lines of the project in the traceback are shown with those of the port and of the original, and
with what the port changed or reported there. Only the end of a long log is read, the last MiB.

Exit status: 0 known; 1 not known here, or the log can't be read; 2 wrong usage.";

#[derive(Debug, Args)]
#[command(after_help = EXPLAIN_HELP)]
pub(crate) struct ExplainArgs {
    /// Only answers for this target; `portolan recipes list` shows the choices
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: Option<String>,
    /// The original project, or its folder, to find the lines of the traceback in
    #[arg(long, value_name = "PATH", requires = "target")]
    pub(crate) project: Option<PathBuf>,
    /// A recipe that was skipped when the project was ported
    #[arg(long = "reject", value_name = "RECIPE", requires = "project")]
    pub(crate) rejected: Vec<String>,
    /// Output format; the JSON is described in schema/
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    pub(crate) format: ListFormat,
    /// A log, or the end of one, with the traceback; `-` reads stdin
    #[arg(value_name = "LOG")]
    pub(crate) log: PathBuf,
}

const FORWARD_HELP: &str = "\
FILE is safetensors, a torch.save checkpoint (no code in it is run), .npz or .npy. An event is `input`
[images, 3, height, width], or one entry per non-empty pixel in `plane`, `row`, `col`, `value` and, if
known, `label` and `event`, with the height and width in `image_size`. Weights have PyTorch's names, with or without the prefix `module.`.
The outputs, written and compared, are `output.plane0` to `output.plane2` [images, 3 classes, height, width].
Written and compared outputs are computed with a method that rounds less than the fastest one.

Exit status: 0 done; 1 a file could not be used, or the outputs do not agree; 2 wrong usage.";

#[derive(Debug, Args)]
#[command(after_help = FORWARD_HELP)]
pub(crate) struct ForwardArgs {
    /// uresnet, a21, scc21, polaris, small (the page's sample), or a file with CosmicTagger's configuration fields
    #[arg(long, value_name = "NAME|FILE.json")]
    pub(crate) config: String,
    /// Trained weights; `sample` selects the sample weights of `small`
    #[arg(long, value_name = "FILE|sample", conflicts_with = "seed")]
    pub(crate) weights: Option<PathBuf>,
    /// Seed for generated weights (0 if no weights are given)
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Input image (safetensors, npz, npy, or larcv's HDF5) [default: a synthetic event]
    #[arg(long, value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,
    /// Index of the event in a sparse or larcv FILE, or of the synthetic event [default: 0]
    #[arg(long, value_name = "N")]
    pub(crate) event: Option<u64>,
    /// Image size of a synthetic (320x512) or sparse event (that of the file, or 1280x2048 if it has none)
    #[arg(long, value_name = "HEIGHTxWIDTH", value_parser = size)]
    pub(crate) size: Option<(usize, usize)>,
    /// Downsample K by K pixels to one: their mean and their largest label
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) downsample: Option<u32>,
    /// Number of threads; more than processors are no faster [default: all processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) threads: Option<u32>,
    /// Write input and outputs to this file
    #[arg(long, value_name = "FILE.safetensors")]
    pub(crate) out: Option<PathBuf>,
    /// Include the weights in the same file
    #[arg(long, requires = "out")]
    pub(crate) bundle: bool,
    /// Include every module's output as `stage.PATH.plane0` to `2` or `stage.PATH.all`
    #[arg(long, requires = "out")]
    pub(crate) stages: bool,
    /// Write a Python script that runs a ported project's network on that file, for --compare
    #[arg(long, value_name = "FILE.py", requires = "bundle")]
    pub(crate) script: Option<PathBuf>,
    /// Compare with the outputs, and any stages, of another run
    #[arg(long, value_name = "FILE.safetensors")]
    pub(crate) compare: Option<PathBuf>,
    /// Precision of the other run; sets the tolerance
    #[arg(long, value_enum, default_value_t = PrecisionArg::Fp32, requires = "compare")]
    pub(crate) precision: PrecisionArg,
    /// Output format: text or json
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

const EVENTS_HELP: &str = "\
The file has one entry per non-empty pixel: `event`, `plane` (0 to 2), `row`, `col`, `value` (charge) and
`label` (0 background, 1 cosmic, 2 neutrino). The same options give the same events on every machine. From a larcv file,
it reads the pixels of sbndwire and the classes of sbnd_cosmicseg or, if they have other names, the one producer
whose values are not all classes and the one whose values are.

Exit status: 0 written; 1 the file could not be written; 2 wrong usage.";

#[derive(Debug, Args)]
#[command(after_help = EVENTS_HELP)]
pub(crate) struct EventsArgs {
    /// Number of the first event
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..1 << 24))]
    pub(crate) first: u64,
    /// Number of events [default: 1, or all events of a file]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4096))]
    pub(crate) count: Option<u64>,
    /// Size of the generated images [default: 320x512]
    #[arg(long, value_name = "HEIGHTxWIDTH", value_parser = size, conflicts_with = "input")]
    pub(crate) size: Option<(usize, usize)>,
    /// Read events from a larcv 3 HDF5 file instead of generating them
    #[arg(long, value_name = "FILE.h5")]
    pub(crate) input: Option<PathBuf>,
    /// File to write
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
    /// `branch` if the project has compute modes, `agnostic` if it chooses its device (HPU and XPU), else `in-place`
    Auto,
    /// Replace the code for other devices
    InPlace,
    /// Keep the code for other devices and add a branch
    Branch,
    /// One program for all devices: the code for the others stays as it is, and the target's stands beside it
    Agnostic,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Human-readable text; for a port, a patch
    Text,
    /// One JSON object, as described in schema/
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// The numbers of places by kind, as comma-separated values
    Csv,
    /// Nothing: only the messages, on stderr
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MatrixFormat {
    /// A table of all affected lines, and the numbers of places
    Text,
    /// One JSON object, as described in schema/
    Json,
    /// The numbers of places by target and kind, as comma-separated values
    Csv,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RecipesCommand {
    /// Run all examples of the guides; UPDATE=1 rewrites the `after` fences
    Test {
        /// Folder with the guides
        #[arg(default_value = "guides")]
        dir: PathBuf,
        /// Add them to the built-in guides, as `portolan port --guides DIR` does
        #[arg(long)]
        added: bool,
    },
    /// List the recipes of this build
    List {
        /// Output format
        #[arg(long, value_enum, default_value_t = ListFormat::Text)]
        format: ListFormat,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// One line per entry
    Text,
    /// JSON
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
    /// Folder to serve [default: the site in one file that an installed command contains; in a checkout, dist]
    #[arg(long, visible_alias = "out", value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Port to listen on; 0 selects any free port
    #[arg(long, default_value_t = 8080)]
    pub(crate) port: u16,
    /// Rebuild pages when a source changes, and reload open pages
    #[arg(long)]
    pub(crate) watch: bool,
    /// End when standard input does: with the program at its other end
    #[arg(long, hide = true)]
    pub(crate) while_stdin: bool,
    #[command(flatten)]
    pub(crate) sources: PageSources,
}

/// Sources of the pages.
#[derive(Clone, Debug, Args)]
pub(crate) struct PageSources {
    /// Folder with the guides
    #[arg(long, value_name = "DIR", default_value = "guides")]
    pub(crate) guides: PathBuf,
    /// Folder whose files are copied unchanged
    #[arg(long, value_name = "DIR", default_value = "public")]
    pub(crate) public: PathBuf,
    /// Folder with the twin run kit, offered as an archive; ignored if missing
    #[arg(long, value_name = "DIR", default_value = "rehearsal")]
    pub(crate) kit: PathBuf,
    /// Base path of the site, starting and ending with `/`
    #[arg(long, value_name = "PATH", default_value = "/")]
    pub(crate) base: String,
    /// Base URL for editing guides/NAME.md; pages then link to it
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
    /// The built Port page; without it the site contains only guides
    #[arg(long, value_name = "FILE")]
    pub(crate) port_page: Option<PathBuf>,
    /// Also write guides, search and the Port page, including the engine, as one file that opens from disk; --out must contain
    /// the built programs (cargo xtask build)
    #[arg(long, value_name = "FILE")]
    pub(crate) single_file: Option<PathBuf>,
}

/// The author of commits.
#[derive(Clone, Debug)]
pub(crate) struct Author {
    pub(crate) name: String,
    pub(crate) email: String,
}

fn author(word: &str) -> Result<Author, String> {
    let parts = word.strip_suffix('>').and_then(|word| word.split_once(" <"));
    let is_plain = |part: &str| !part.trim().is_empty() && !part.contains(['<', '>', '\n', '\r']);
    match parts {
        Some((name, email)) if is_plain(name) && is_plain(email) => {
            Ok(Author { name: name.to_owned(), email: email.to_owned() })
        }
        _ => Err("expected NAME <EMAIL>".to_owned()),
    }
}

fn name_and_value(word: &str) -> Result<(String, String), String> {
    match word.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_string(), value.to_string())),
        _ => Err("expected NAME=VALUE".to_string()),
    }
}

/// The largest event has 1280 x 2048 pixels; a side of more than 8 times that, or more than 16 times the pixels, is
/// assumed to be a typo.
fn size(word: &str) -> Result<(usize, usize), String> {
    let sides = word.split_once('x').and_then(|(h, w)| Some((h.parse::<u32>().ok()?, w.parse::<u32>().ok()?)));
    match sides {
        Some((h, w)) if ![h, w].iter().all(|side| (1..=1 << 14).contains(side)) => {
            Err("each side must be from 1 to 16384".to_string())
        }
        Some((h, w)) if h * w <= 1 << 26 => Ok((h as usize, w as usize)),
        Some(_) => Err("larger than 67 million pixels".to_string()),
        None => Err("expected HEIGHTxWIDTH, e.g. 320x512".to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::error::ErrorKind;
    use clap::{CommandFactory, Parser};
    use std::any::TypeId;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// Every option with a number as a value, after the words of its command.
    fn numbers(command: &clap::Command, words: &[String]) -> Vec<(Vec<String>, String)> {
        let types = [
            TypeId::of::<u16>(),
            TypeId::of::<u32>(),
            TypeId::of::<u64>(),
            TypeId::of::<usize>(),
            TypeId::of::<i64>(),
            TypeId::of::<f64>(),
        ];
        let is_number = |arg: &&clap::Arg| types.iter().any(|known| arg.get_value_parser().type_id() == *known);
        let own = command.get_arguments().filter(is_number).filter_map(|arg| arg.get_long());
        let mut all: Vec<_> = own.map(|name| (words.to_vec(), name.to_owned())).collect();
        for below in command.get_subcommands() {
            all.extend(numbers(below, &[words, &[below.get_name().to_owned()]].concat()));
        }
        all
    }

    /// A number out of its bounds is refused with a sentence before anything is read or computed.
    #[test]
    fn every_number_has_bounds() {
        // Any number of its type is a seed or names a synthetic event, and any port can be listened on.
        let any = ["forward --seed", "forward --event", "rehearse --seed", "site serve --port"];
        // The plan of a launch has the bounds of these, which are also those of the form on the page.
        let of_plan = ["nodes", "instances", "replicas", "devices-per-replica", "batch", "accumulation"];
        let of_plan = of_plan.map(|name| format!("launch --{name}"));
        let from_zero = ["events --first", "rehearse --fake-data"];
        let found = numbers(&Cli::command(), &[]);
        assert!(found.len() > 15, "{found:?}");
        let mut seen = Vec::new();
        for (words, name) in found {
            let option = format!("{} --{name}", words.join(" "));
            let check = |value: &str| {
                let line = ["portolan".to_owned()].into_iter().chain(words.iter().cloned());
                let error = Cli::try_parse_from(line.chain([format!("--{name}={value}")])).err();
                let kind = error.as_ref().map(clap::Error::kind);
                let is_refused = matches!(kind, Some(ErrorKind::ValueValidation | ErrorKind::InvalidValue));
                assert!(is_refused, "{option}={value}: {error:?}");
            };
            ["-1", "x", "", "1.5", "18446744073709551616"].into_iter().for_each(check);
            seen.push(option.clone());
            if any.contains(&option.as_str()) || of_plan.contains(&option) {
                continue;
            }
            check("4294967295");
            check("100000001");
            if !from_zero.contains(&option.as_str()) {
                check("0");
            }
        }
        let known = any.into_iter().chain(of_plan.iter().map(String::as_str)).chain(from_zero);
        for option in known {
            assert!(seen.iter().any(|seen| seen == option), "{option} is no number any more");
        }
    }

    #[test]
    fn sizes_have_bounds() {
        for word in ["0x0", "0x512", "1x67108864", "16384x16384", "-1x5", "4294967296x1", "x", "5", "16385x1"] {
            assert!(super::size(word).is_err(), "{word}");
        }
        assert_eq!(super::size("8192x8192"), Ok((8192, 8192)));
    }
}
