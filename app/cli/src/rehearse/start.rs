//! The project's program to run, and the arguments of the original and the port.

use crate::args::RehearseArgs;
use crate::launch_project;
use crate::port::Port;
use crate::project::Project;
use crate::said::say_line;
use crate::usage::{Usage, usage};
use launch::{Target, Twin, split_words};
use training::Program;

/// How the two are started.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Start {
    /// The program, relative to the project's root.
    pub(super) entry: String,
    /// The kit's options for the port's own arguments.
    pub(super) options: Vec<String>,
    /// The common arguments; or the command of a launch script.
    pub(super) words: Vec<String>,
}

/// The start according to the command line, as far as it is specified; the rest is detected in the port.
pub(super) fn of(args: &RehearseArgs, project: &Project, port: &Port) -> Result<Start, Usage> {
    let program = chosen(args, project, &port.programs)?;
    let target = &port.ported.target;
    let fields = launch_project::fields(program.known, target);
    let mut twin = Twin::read(target, &fields).unwrap_or_default();
    let mut words = args.words.clone();
    match &args.port_args {
        Some(line) => twin.args = split_words(line).ok_or_else(|| usage("--port-args: unclosed quote"))?,
        None => told_once(&mut twin.args, &mut words),
    }
    if args.original_args.as_deref().is_some_and(|line| split_words(line).is_none()) {
        return Err(usage("--original-args: unclosed quote"));
    }
    Ok(Start { entry: program.entry, options: twin.options(), words })
}

struct Chosen<'p> {
    entry: String,
    /// Facts about the program, if it does anything when Python runs it.
    known: Option<&'p Program>,
}

fn chosen<'p>(args: &RehearseArgs, project: &Project, programs: &'p [Program]) -> Result<Chosen<'p>, Usage> {
    let known = |entry: &str| programs.iter().find(|program| program.place.path == entry);
    let is_file = |entry: &str| project.inputs.iter().any(|input| input.path == entry);
    if let Some(entry) = &args.entry {
        let entry = entry.trim_start_matches("./").to_string();
        let names: Vec<&str> = programs.iter().map(|program| program.place.path.as_str()).collect();
        return match is_file(&entry) {
            true => Ok(Chosen { known: known(&entry), entry }),
            false if names.is_empty() => Err(usage(format!("--entry {entry}: not found in the project"))),
            false => {
                Err(usage(format!("--entry {entry}: not found in the project; its programs are {}", names.join(", "))))
            }
        };
    }
    if let Some(entry) = started_by(&args.words).filter(|entry| is_file(entry)) {
        return Ok(Chosen { known: known(entry), entry: entry.to_string() });
    }
    if let [only] = &project.inputs[..] {
        return Ok(Chosen { entry: only.path.clone(), known: known(&only.path) });
    }
    let first = programs
        .first()
        .ok_or_else(|| usage(format!("{}: contains no program; specify one with --entry", args.path.display())))?;
    if programs.len() > 1 {
        say_line!("{}: the program; {} more, select one with --entry", first.place, programs.len() - 1);
    }
    Ok(Chosen { entry: first.place.path.clone(), known: Some(first) })
}

/// The program of a launch script's command: the first Python file after Python itself, or after a launcher.
fn started_by(words: &[String]) -> Option<&str> {
    let name = |word: &str| word.rsplit('/').next().unwrap_or(word).trim_end_matches(".py").to_string();
    let is_launcher = |word: &str| Target::all().flat_map(Target::launchers).any(|known| known == name(word));
    let starts = |word: &String| name(word).starts_with("python") || is_launcher(word);
    let behind = words.iter().position(starts)? + 1;
    let mut files = words[behind..].iter().filter(|word| word.ends_with(".py") && !word.starts_with('-'));
    Some(files.find(|word| !is_launcher(word))?.trim_start_matches("./"))
}

/// Arguments for the port alone may be among those for both, as in a launch script's command. They are removed there.
/// Arguments with the same key and a different value are the user's own choice.
fn told_once(port: &mut Vec<String>, words: &mut Vec<String>) {
    if port.is_empty() {
        return;
    }
    if let Some(at) = words.windows(port.len()).position(|window| window == &port[..]) {
        words.drain(at..at + port.len());
    } else if launch::said(words, port[0].split('=').next().unwrap_or(&port[0])).is_some() {
        port.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::{started_by, told_once};

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_string).collect()
    }

    #[test]
    fn a_command_names_its_program() {
        let check = |line: &str, program: Option<&str>| assert_eq!(started_by(&words(line)), program, "{line}");
        check("python3 -u ./bin/train.py --epochs 1", Some("bin/train.py"));
        check("A=1 mpirun -n 8 python3 train.py a.py", Some("train.py"));
        check("poprun --num-instances 2 python train.py", Some("train.py"));
        check("mode=train data=a.py", None);
        check("--script other.py", None);
        check("", None);
    }

    #[test]
    fn the_ports_own_words_are_taken_out_of_a_command() {
        let check = |port: &str, given: &str, told: &str, rest: &str| {
            let (mut port, mut given) = (words(port), words(given));
            told_once(&mut port, &mut given);
            assert_eq!((port, given), (words(told), words(rest)));
        };
        check("run.mode=NEW", "a=1", "run.mode=NEW", "a=1");
        check("run.mode=NEW", "a=1 run.mode=NEW b=2", "run.mode=NEW", "a=1 b=2");
        check("run.mode=NEW", "run.mode=OLD", "", "run.mode=OLD");
        check("--mode new", "x.py --mode new -v", "--mode new", "x.py -v");
        check("", "a", "", "a");
    }
}
