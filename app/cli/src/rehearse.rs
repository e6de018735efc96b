//! `portolan rehearse`: ports a project and runs the original and the port side by side with the twin run kit.

mod notebooks;
mod python;
mod start;
mod tree;

use crate::args::{ListFormat, RehearseArgs, TwinPrecision};
use crate::messages::{OnDisk, messages, outline, summary};
use crate::project::Project;
use crate::said::{say, say_line};
use crate::totals::totals;
use crate::usage::usage;
use crate::{guides, kit, output, port};
use anyhow::{Context, Result, bail};
use codemod::{RecipeSet, Severity, Style};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf, absolute};
use std::process::{Command, Stdio};

/// The folder of a rehearsal contains the kit, the original if it has notebooks, the ported project, the port's report and the result.
const KIT: &str = "kit";
const ORIGINAL: &str = "original";
const PORT: &str = "port";
const REPORT: &str = "report.json";
const RESULT: &str = "twin.json";

/// Returns whether the two agree.
pub(crate) fn run(args: &RehearseArgs) -> Result<bool> {
    let options = port::options(&args.choice);
    let recipes = guides::recipes(args.choice.guides.as_deref())?;
    port::check_words(recipes, &options)?;
    if args.path == Path::new("-") {
        return Err(usage("a rehearsal needs a file or a project folder").into());
    }
    if let Some(file) = &args.html {
        output::check_out("--html", file, output::Written::Page)?;
    }
    let project = Project::read(std::slice::from_ref(&args.path), None)?;
    if let [only] = &project.inputs[..]
        && let Err(diagnostic) = &only.text
    {
        return Err(usage(format!("{}: {}", only.shown, diagnostic.message)).into());
    }
    let port = port::port(&project, recipes, &options);
    if let Some(sentence) = port::idle_options(&project, recipes, &options, &port).first() {
        return Err(usage(sentence.clone()).into());
    }
    let python = python::find(args.python.as_deref(), &port.programs)?;
    let start = start::of(args, &project, &port)?;
    let ported = &port.ported;
    tell(&project, &port, recipes);
    if !ported.files.iter().any(|file| file.changed) {
        say_line!("portolan: the port changes nothing, so there is nothing to compare");
        return Ok(false);
    }
    say_line!("portolan: running {} and its port to {} on this machine's CPU", start.entry, ported.target);

    let folder = tempfile::tempdir().context("no disk space for the runs")?;
    kit::write(&folder.path().join(KIT))?;
    let root = project.root.clone().unwrap_or_default();
    let texts = project.inputs.iter().zip(&ported.files).filter(|(input, _)| input.text.is_ok());
    let texts = texts.map(|(_, file)| file).chain(ported.new_files()).map(|file| (file.path.as_str(), file.written()));
    let notebooks = notebooks::programs(&project, ported);
    let programs = |side: usize| notebooks.iter().map(move |(path, texts)| (path.as_str(), texts[side].as_str()));
    tree::write(texts.chain(programs(1)), &root, &folder.path().join(PORT))?;
    let original = match notebooks.is_empty() {
        true => root.clone(),
        false => {
            // Its notebooks are programs there, too.
            let sources = project.inputs.iter().filter(|input| input.notebook.is_none());
            let texts = sources.filter_map(|input| Some((input.path.as_str(), input.text.as_deref().ok()?)));
            let folder = folder.path().join(ORIGINAL);
            tree::write(texts.chain(programs(0)), &root, &folder)?;
            folder
        }
    };
    let report = port::report(&port, recipes, &args.choice, &totals(&project, &port.ported, &BTreeSet::new(), recipes));
    fs::write(folder.path().join(REPORT), report).context("can't write the port's report")?;

    let (words, result) = (words(args, &start, folder.path(), &original)?, folder.path().join(RESULT));
    let mut agree = compare(args, &python, &root, &words, &result)?;
    // One program for all devices also does what it did before where there is no such target.
    for (machine, shown) in [("cuda", "CUDA"), ("cpu", "the CPU")] {
        if ported.style != Style::Agnostic {
            break;
        }
        say_line!("portolan: the same with {shown} as the only device");
        let words = [&words[..1], &["--on".into(), machine.into()], &words[1..]].concat();
        let words = on_another_machine(words, args.port_args.is_none());
        agree &= compare(args, &python, &root, &words, &folder.path().join("elsewhere.json"))?;
    }
    Ok(agree)
}

/// The kit's command line without the files that are for the target's run, and without the port's own arguments if they were
/// detected: they select the target.
fn on_another_machine(words: Vec<OsString>, detected: bool) -> Vec<OsString> {
    let mut out = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if word == "--" {
            out.push(word);
            out.extend(words);
            break;
        }
        if ["--json", "--html"].iter().any(|of_target| word == *of_target) {
            words.next();
        } else if !(detected && word.to_string_lossy().starts_with("--port-args")) {
            out.push(word);
        }
    }
    out
}

/// The run, on stderr: the port in one line, and the files that it could not read.
fn tell(project: &Project, port: &port::Port, recipes: &RecipeSet) {
    let ported = &port.ported;
    let shown: Vec<&str> = port.shown.iter().map(String::as_str).collect();
    if let Some(overview) = codemod::overview(ported, recipes) {
        let on_disk = vec![OnDisk::Original; ported.files.len()];
        say!("{}", outline(&overview, &ported.target, &shown, &on_disk));
    }
    let all = shown
        .iter()
        .copied()
        .zip(&ported.files)
        .flat_map(|(path, file)| file.diagnostics.iter().map(move |d| (path, d, OnDisk::Original)));
    for line in messages(all.filter(|(_, diagnostic, _)| diagnostic.severity == Severity::Error)) {
        say_line!("{line}");
    }
    let none = BTreeSet::new();
    say_line!("{}", summary(ported, &none, &totals(project, ported, &none, recipes)));
}

/// The kit's command line.
fn words(args: &RehearseArgs, start: &start::Start, folder: &Path, original: &Path) -> Result<Vec<OsString>> {
    let mut words: Vec<OsString> = vec![folder.join(KIT).join(kit::PROGRAM).into()];
    let mut say = |name: &str, value: OsString| words.extend([name.into(), value]);
    say("--target", (&args.choice.target).into());
    say("--project", folder.join(PORT).into());
    say("--twin", original.into());
    say("--report", folder.join(REPORT).into());
    say("--json", folder.join(RESULT).into());
    if let Some(steps) = args.steps {
        say("--twin-steps", steps.to_string().into());
    }
    say("--seed", args.seed.to_string().into());
    say("--precision", if args.precision == TwinPrecision::Target { "target" } else { "float32" }.into());
    say("--instances", args.instances.to_string().into());
    if let Some(replicas) = args.replicas {
        say("--replicas", replicas.to_string().into());
    }
    if let Some(samples) = args.fake_data {
        say("--fake-data", samples.to_string().into());
    }
    for images in &args.fake_images {
        say("--fake-images", images.into());
    }
    if let Some(file) = &args.html {
        say("--html", absolute(file).with_context(|| file.display().to_string())?.into());
    }
    if args.no_data {
        words.push("--no-data".into());
    }
    let joined =
        args.original_args.iter().map(|line| format!("--twin-args={line}")).chain(start.options.iter().cloned());
    words.extend(joined.map(OsString::from));
    words.extend(["--".into(), OsString::from(notebooks::started(&start.entry))]);
    words.extend(start.words.iter().map(OsString::from));
    Ok(words)
}

fn compare(args: &RehearseArgs, python: &Path, root: &Path, words: &[OsString], result: &Path) -> Result<bool> {
    // A path with several components is relative to the current folder; a plain name is searched for on PATH.
    let python = if python.components().count() > 1 { absolute(python)? } else { PathBuf::from(python) };
    let mut command = Command::new(&python);
    command.args(words).current_dir(root).env("PYTHONDONTWRITEBYTECODE", "1").stdin(Stdio::null());
    if args.format == ListFormat::Json {
        command.stdout(Stdio::null());
    }
    let status = command.status().with_context(|| format!("{} can't be started", python.display()))?;
    if args.format == ListFormat::Json && result.is_file() {
        output::print(&fs::read_to_string(result).context("can't read the result")?)?;
    }
    match status.code() {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        Some(2) => Err(usage("the rehearsal did not start").into()),
        _ => bail!("the rehearsal was interrupted"),
    }
}
