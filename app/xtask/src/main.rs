//! `cargo xtask …`: the commands used by README, CONTRIBUTING and CI.
//!
//! Every command is a list of steps. A step is a child process (cargo, trunk, npm, node, …) with a heading before it
//! and its time after it; see [`step`]. `setup` comes first in `build`, `serve` and `test`: it checks the machine and
//! installs what is missing, and nothing else. Tools installed only for this project are in the user's cache folder and
//! in `tests/browser/node_modules`; the user's own tools are never changed.
//!
//! This crate is kept small, because everybody compiles it before anything else happens: no room of the project is a
//! dependency of it.

mod bench;
mod browser_tests;
mod corpus;
mod deny;
mod dist;
mod ecosystem;
mod fresh;
mod fuzz;
mod generated;
mod modules;
mod paths;
mod reproduce;
mod same_bytes;
mod sbom;
mod serve;
mod setup;
mod size;
mod step;
mod suite;
mod surroundings;
mod wasm_kernels;
mod wheel;
mod workspace;

use corpus::{Part, Together};
use setup::SITE_TOOLS;
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND; `cargo xtask help COMMAND` prints its lines

  setup         installs what build, serve and test need
                [--oldest-pytorch: the oldest supported PyTorch, for tests with PORTOLAN_PYTHON set to it]
  build         setup, then the whole site into dist/
  serve         build, then http://127.0.0.1:8080, rebuilt when a source changes  [--port N]
  test          setup, then every step of the tests, or those named; a step that passed with the same inputs is skipped
                [--list: the steps  --quick: those for every commit  --all: repeat what passed, too]  [STEP …]
                [--fresh: serve and test HEAD on a bare Debian in target/fresh, as root  --keep: keep it]
  tested        whether the whole of HEAD's tree has passed, according to target/tested.toml
  as-tested     runs a command in the environment of the tests: HOME, PATH, locale, …  COMMAND …
  size          gzip sizes of the files in dist/, compared with their limits
  corpus        ports the files of published packages and checks the ports; writes docs/robustness.md  [--bounded | --minutes N | --folder DIR | --projects DIR]
                [--folder DIR: the projects in a folder instead; only prints the result]
  ecosystem     ports public repositories with a base build and with this tree, and writes what differs as a Markdown table
                [--base COMMAND | --base-rev COMMIT: the base build; otherwise the last release]  [--target T] [--repos NAME]
                [--from FOLDER: checkouts in place of fetched ones]  [--out FILE]
  same-bytes    checks that the command (debug, release) and the engine under Node and in Chromium produce the same bytes  [--files N]
  fuzz          fuzzes everything that reads external input  [--minutes N] [TARGET …]
  generated     ports generated training programs and compares runs
                [--minutes N] [--target T] [--habit H] [--seed N] [--resume] [--bounded]
  deny          licences, sources and known vulnerabilities of dependencies; needs the network
  sbom          writes the bill of materials of a release, as CycloneDX  FILE
  wheel         builds the command as a Python wheel, with the site in it, and uses it in a clean environment
                [--site FILE: the finished site in one file  --target TRIPLE: for another system]
  reproduce     builds the site twice, in different folders, and lists the files that differ
  bench port    porting time compared with a parse, ast-grep and TorchFix
  bench growth  how the time grows with lines, edits, calls and files; fails if faster than the size  [SHAPE …]
  bench diff    time of a diff
  bench site    time to build the pages, and 10,000 generated ones
  bench notebook  time from opening a notebook of 100 cells to its port, in the built page
  bench typing  time from keypress to painted frame, and for large projects, in the built page
  bench day     memory of the page, its worker and its storage while 2,000 edits are made  [EDITS]
  bench lighthouse  Lighthouse on the built pages, or only on those named  [PAGE …]
  bench forward the forward pass compared with onnxruntime-web, ONNX Runtime and PyTorch  [--runs N] [HEIGHTxWIDTH …]
  modules       builds the network's modules into a folder: a part of build  FOLDER
  env           prints shell variables for running cargo for wasm32 by hand
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let Some(command) = asked_about(&words) {
        print!("{}", help(command));
        return ExitCode::SUCCESS;
    }
    let done = match words.as_slice() {
        ["setup"] => suite::set_up().map(drop),
        ["setup", "--oldest-pytorch"] => setup::OLDEST_PYTORCH.ensure().map(drop),
        ["build"] => setup::run_beside(&[SITE_TOOLS], dist::compile_ahead).and_then(|tools| dist::build(&tools)),
        ["serve"] => setup::run_beside(&[SITE_TOOLS], dist::compile_ahead).and_then(|tools| serve::watch(&tools, 8080)),
        ["serve", "--port", port] => match port.parse() {
            Ok(port) => {
                setup::run_beside(&[SITE_TOOLS], dist::compile_ahead).and_then(|tools| serve::watch(&tools, port))
            }
            Err(_) => return refuse("serve", &format!("`{port}` is not a port number")),
        },
        ["test", "--fresh"] => fresh::run(false),
        ["test", "--fresh", "--keep"] => fresh::run(true),
        ["test", words @ ..] => match suite::Request::parse(words) {
            Ok(request) => suite::run(&request),
            Err(fault) => return refuse("test", &fault),
        },
        ["tested"] => suite::say_tested(),
        ["timed", program, arguments @ ..] => suite::times::run_timed(program, arguments),
        ["as-tested", program, arguments @ ..] => surroundings::run_as_tested(program, arguments),
        ["generated", arguments @ ..] => generated::run_with(arguments),
        ["corpus"] => corpus::run_part(Part::Whole, None),
        ["corpus", "--bounded"] => corpus::run_part(Part::Bounded, None),
        ["corpus", "--folder", folder] => corpus::run_folder(Path::new(folder), Together::File),
        ["corpus", "--projects", folder] => corpus::run_folder(Path::new(folder), Together::Project),
        ["corpus", "--minutes", minutes] => match minutes.parse() {
            Ok(minutes) => corpus::run_part(Part::Whole, Some(minutes)),
            Err(_) => return refuse("corpus", &format!("`{minutes}` is not a number of minutes")),
        },
        ["ecosystem", words @ ..] => match ecosystem::Request::parse(words) {
            Ok(request) => ecosystem::run(&request),
            Err(fault) => return refuse("ecosystem", &fault),
        },
        ["same-bytes"] => suite::set_up().and_then(|tools| same_bytes::compare(&tools, 300)),
        ["same-bytes", "--files", files] => match files.parse() {
            Ok(files) => suite::set_up().and_then(|tools| same_bytes::compare(&tools, files)),
            Err(_) => return refuse("same-bytes", &format!("`{files}` is not a number of files")),
        },
        ["fuzz", "--minutes", minutes, names @ ..] => match minutes.parse() {
            Ok(minutes) => fuzz::run_targets(minutes, names),
            Err(_) => return refuse("fuzz", &format!("`{minutes}` is not a number of minutes")),
        },
        ["fuzz", names @ ..] if !has_option(names) => fuzz::run_targets(1.0, names),
        ["size"] => size::run(size::Limit::Bar),
        ["deny"] => deny::check_all(),
        ["sbom", file] => sbom::write(Path::new(file)),
        ["wheel", words @ ..] => match wheel::Request::parse(words) {
            Some(request) => wheel::build(&request),
            None => return refuse("wheel", &unknown("wheel", words)),
        },
        ["reproduce"] => reproduce::build_twice(),
        ["bench", "port"] => bench::run_port(),
        ["bench", "growth", shapes @ ..] if !has_option(shapes) => bench::run_growth(shapes),
        ["bench", "diff"] => bench::run_bench("diff"),
        ["bench", "site"] => bench::run_site(),
        ["bench", "notebook"] => bench::run_notebook(),
        ["bench", "typing"] => bench::run_typing(),
        ["bench", "day"] => bench::run_day(&[]),
        ["bench", "day", edits] if !has_option(&[edits]) => bench::run_day(&[edits]),
        ["bench", "lighthouse", pages @ ..] if !has_option(pages) => bench::run_lighthouse(pages),
        ["bench", "forward", "--runs", runs, sizes @ ..] => match runs.parse() {
            Ok(runs) if runs > 0 => bench::compare(sizes, runs),
            _ => return refuse("bench", &format!("`{runs}` is not a number of runs")),
        },
        ["bench", "forward", sizes @ ..] if !has_option(sizes) => bench::compare(sizes, 5),
        ["modules", folder] => modules::build(Path::new(folder)),
        ["env"] => setup::print_env(),
        [command, others @ ..] => return refuse(command, &unknown(command, others)),
        // `asked_about` has answered it.
        [] => Ok(()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nxtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The command whose help is asked for; an empty one for all. What follows `as-tested` and `timed` is another program's.
fn asked_about<'word>(words: &[&'word str]) -> Option<&'word str> {
    let is_asked = |word: &&str| matches!(*word, "--help" | "-h");
    match words {
        [] | ["help" | "--help" | "-h"] => Some(""),
        ["help", command, ..] => Some(command),
        ["as-tested" | "timed", first, ..] => is_asked(first).then(|| words[0]),
        [command, others @ ..] => others.iter().any(is_asked).then_some(command),
    }
}

/// The lines of [`USAGE`] about a command, or all of them.
fn help(command: &str) -> String {
    let mut is_its = false;
    let own = |line: &&str| {
        // A line that begins further to the right belongs to the one above it.
        let is_first = line.starts_with("  ") && !line.starts_with("   ");
        is_its = if is_first { line.split_whitespace().next() == Some(command) } else { is_its };
        is_its
    };
    let lines: String = USAGE.lines().filter(own).map(|line| format!("{line}\n")).collect();
    if lines.is_empty() { USAGE.to_owned() } else { lines }
}

fn has_option(words: &[&str]) -> bool {
    words.iter().any(|word| word.starts_with('-'))
}

fn is_known(command: &str) -> bool {
    help(command) != USAGE
}

fn unknown(command: &str, others: &[&str]) -> String {
    if !is_known(command) {
        return format!("unknown command: {command}");
    }
    match others.iter().find(|word| word.starts_with('-')) {
        Some(option) => format!("unknown option, or one without its value: {option}"),
        None => format!("`cargo xtask {command}` does not take: {}", others.join(" ")),
    }
}

/// One sentence, and where the help is.
fn refuse(command: &str, fault: &str) -> ExitCode {
    let about = if is_known(command) { format!(" {command}") } else { String::new() };
    eprintln!("xtask: {fault}\nhelp: cargo xtask help{about}");
    ExitCode::from(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_is_of_the_command_that_is_named() {
        let check = |words: &[&str], expected: Option<&str>| assert_eq!(asked_about(words), expected, "{words:?}");
        check(&[], Some(""));
        check(&["-h"], Some(""));
        check(&["help", "serve"], Some("serve"));
        check(&["test", "--help"], Some("test"));
        check(&["bench", "port", "-h"], Some("bench"));
        check(&["as-tested", "--help"], Some("as-tested"));
        check(&["as-tested", "cargo", "--help"], None);
        check(&["test", "engine"], None);
        assert!(
            help("test").starts_with("  test ") && help("test").contains("--fresh") && !help("test").contains("tested")
        );
        assert!(
            help("bench").starts_with("  bench ") && help("bench").lines().all(|line| line.starts_with("  bench "))
        );
        assert_eq!(help(""), USAGE);
        assert_eq!(help("usage:"), USAGE);
    }

    #[test]
    fn a_wrong_word_is_named() {
        assert_eq!(unknown("tset", &["--quick"]), "unknown command: tset");
        assert_eq!(unknown("serve", &["--prot", "9"]), "unknown option, or one without its value: --prot");
        assert_eq!(unknown("size", &["dist"]), "`cargo xtask size` does not take: dist");
    }
}
