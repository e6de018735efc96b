//! Values for a launch that are not on the command line: they are detected in the project, for
//! `portolan launch --project` and for a rehearsal.

use crate::messages::{OnDisk, message};
use crate::project::Project;
use crate::said::{say, say_line};
use crate::usage::usage;
use anyhow::Result;
use codemod::{Options, RecipeSet, Views};
use launch::Target;
use launch::form::Fields;
use python::SourceFile;
use python::notebook::is_notebook;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use training::{FileView, JoinedBy, Program, RunFacts, RunRole, run_facts, run_facts_of_views};

/// Facts about a program of the project, by command-line option.
#[derive(Debug, Default)]
pub(crate) struct Read {
    fields: Vec<(&'static str, String)>,
}

impl Read {
    /// The program's value for an option.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// The arguments, preceded by those that the project needs for the target unless they are already set.
    pub(crate) fn args(&self, own: Vec<String>) -> Vec<String> {
        let wanted = self.get("args").and_then(launch::split_words).unwrap_or_default();
        let key = wanted.first().map(|first| first.split('=').next().unwrap_or(first));
        if key.is_some_and(|key| launch::said(&own, key).is_some()) {
            return own;
        }
        wanted.into_iter().chain(own).collect()
    }

    /// The same as a number; an invalid one counts as missing.
    pub(crate) fn number(&self, name: &str) -> Option<u32> {
        self.get(name)?.parse().ok()
    }
}

/// Reads a folder, lists on stderr what was found and where, and returns it.
pub(crate) fn read(folder: &Path, entry: Option<&str>, target: Target) -> Result<Read> {
    if !folder.is_dir() {
        return Err(usage(format!("--project {}: folder not found", folder.display())).into());
    }
    let project = Project::read_with_configuration(&[PathBuf::from(folder)])?;
    let mut files = Vec::new();
    for input in project.inputs {
        match input.text {
            Ok(text) => files.push(SourceFile { path: input.path, text }),
            Err(diagnostic) => say_line!("{}", message(&input.shown, &diagnostic, OnDisk::Original)),
        }
    }
    let recipes = RecipeSet::embedded();
    let facts = run_facts(&files, &recipes.target_facts(target.name()));
    let program = chosen(&facts, entry, folder)?;
    say!("{}", summary(&facts, program, target));
    let mut fields = program.launch_fields(&target.program_terms());
    let left = unported(&files, &program.files, target, recipes);
    if let Some((_, place)) = &left {
        say_line!("{place}: the training step is not ported");
    }
    fields.extend(left);
    Ok(Read { fields })
}

/// For a program without its project: whether its own file has a training step that is not ported.
pub(crate) fn read_entry(entry: Option<&str>, target: Target) -> Read {
    let is_script = |path: &&str| python::is_python(path) && !is_notebook(path);
    let text = entry.filter(is_script).and_then(|path| std::fs::read_to_string(path).ok());
    let Some((path, text)) = entry.zip(text) else { return Read::default() };
    let files = [SourceFile { path: path.to_owned(), text }];
    Read { fields: unported(&files, &[path.to_owned()], target, RecipeSet::embedded()).into_iter().collect() }
}

/// The field that reports where a program's training step was not ported; none for an already ported project, which a
/// port does not change.
fn unported(
    files: &[SourceFile],
    reached: &[String],
    target: Target,
    recipes: &RecipeSet,
) -> Option<(&'static str, String)> {
    let options = Options { target: target.name().to_owned(), ..Options::default() };
    let ported = codemod::port(files, recipes, &options);
    let (file, stop) = codemod::unported(&ported, reached)?;
    Some(("unported", format!("{}:{}", ported.files[file].path, stop.original.line)))
}

/// The programs of a port, the most likely first. The configuration may name the devices.
pub(crate) fn programs(files: &[SourceFile], views: &Views<'_>, target: &str, recipes: &RecipeSet) -> Vec<Program> {
    let views: Vec<&FileView<'_>> = views.after.iter().map(Rc::as_ref).collect();
    run_facts_of_views(&views, files, &recipes.target_facts(target)).programs
}

/// Facts about the launch of a program, by command-line option.
pub(crate) fn fields(program: Option<&Program>, target: &str) -> Fields {
    let read =
        program.zip(Target::named(target)).map(|(program, target)| program.launch_fields(&target.program_terms()));
    read.into_iter().flatten().map(|(name, value)| (name.to_string(), value)).collect()
}

fn chosen<'f>(facts: &'f RunFacts, entry: Option<&str>, folder: &Path) -> Result<&'f Program> {
    let Some(entry) = entry else {
        let nothing =
            || usage(format!("--project {}: contains no program; specify one with --entry", folder.display()));
        return Ok(facts.programs.first().ok_or_else(nothing)?);
    };
    let wanted = entry.trim_start_matches("./");
    let found = facts.programs.iter().find(|program| program.place.path == wanted);
    Ok(found.ok_or_else(|| {
        let known: Vec<&str> = facts.programs.iter().map(|program| program.place.path.as_str()).collect();
        usage(format!("--entry {entry}: not a program of the project; its programs are {}", known.join(", ")))
    })?)
}

/// The findings, each with its location.
fn summary(facts: &RunFacts, program: &Program, target: Target) -> String {
    let terms = target.program_terms();
    let mut out = format!("{}: the program", program.place);
    let others = facts.programs.len() - 1;
    if others > 0 {
        let _ = write!(out, "; {others} more, select one with --entry");
    }
    out.push('\n');
    for (place, why) in &facts.unread {
        let _ = writeln!(out, "{place}: invalid YAML, the rest is ignored: {why}");
    }
    let roles = [
        (RunRole::Batch, "the batch"),
        (RunRole::Accumulation, "micro-batches of a step"),
        (RunRole::Length, "training length"),
        (RunRole::Distributed, "distributed flag"),
        (RunRole::Device, "the device"),
        (RunRole::Devices, "devices of a machine"),
        (RunRole::Nodes, "machines"),
    ];
    for (role, what) in roles {
        if let Some(setting) = program.setting(role) {
            let value = setting.value.as_deref().unwrap_or("no value");
            let _ = writeln!(out, "{}: {what}: {} ({value})", setting.place, setting.name);
        }
    }
    if let Some(place) = &program.shared_batch {
        let _ = writeln!(out, "{place}: the processes share the batch");
    }
    // The target's own library may do it.
    let by_target = terms.import.as_deref().is_some_and(|module| program.has(module));
    if program.joins.is_empty() && !program.alone && !by_target {
        let _ = writeln!(out, "{}: no distributed training was found", program.place);
    }
    for join in &program.joins {
        let by = match join.by {
            JoinedBy::Environment => "processes get their ranks from RANK and LOCAL_RANK",
            JoinedBy::OpenMpi => "processes get their ranks from Open MPI's variables",
            JoinedBy::Mpi => "processes get their ranks from MPI",
            JoinedBy::Slurm => "processes get their ranks from Slurm",
            JoinedBy::Spawn => "the program starts processes itself",
            JoinedBy::Lightning => "Lightning starts the processes",
            JoinedBy::Deepspeed => "DeepSpeed",
            JoinedBy::Horovod => "processes get their ranks from Horovod",
        };
        let _ = writeln!(out, "{}: {by}", join.place);
    }
    if !program.joins.is_empty() && terms.import.is_none() && !terms.joins {
        let name = target.label();
        let _ = writeln!(out, "{}: {name}: nothing else is started that it could join", program.place);
    }
    out
}
