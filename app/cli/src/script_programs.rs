//! Whether a project has the programs that a script starts, and their parsers the options.

use crate::project::Project;
use anyhow::Result;
use codemod::RecipeSet;
use launch::{Finding, Started, Target};
use std::path::{Path, PathBuf};
use training::{CommandLine, run_facts};

/// Names of what reads options that the program's own files don't name.
const READS_OTHERS: [&str; 9] = [
    "parse_known_args",
    "HfArgumentParser",
    "add_config_arguments",
    "add_argparse_args",
    "from_argparse_args",
    "LightningCLI",
    "allow_extra_args",
    "sys.argv",
    "prefix_chars",
];

/// Programs that the project lacks, and options that no file of a program names.
pub(crate) fn findings(script: &str, folder: &Path, target: Target) -> Result<Vec<Finding>> {
    let project = Project::read_with_configuration(&[PathBuf::from(folder)])?;
    let files = project.inputs.into_iter().filter_map(|input| {
        let text = input.text.ok()?;
        Some(codemod::SourceFile { path: input.path, text })
    });
    let files: Vec<codemod::SourceFile> = files.collect();
    let facts = run_facts(&files, &RecipeSet::embedded().target_facts(target.name()));
    let mut found = Vec::new();
    for Started { line, path, options } in launch::started_programs(script) {
        let own = path.trim_start_matches("./");
        let name = own.rsplit('/').next().unwrap_or(own);
        let is_at = |known: &str, end: &str| known == end || known.strip_suffix(end).is_some_and(|b| b.ends_with('/'));
        let scripts = || files.iter().filter(|file| python::is_python(&file.path));
        let elsewhere = own.starts_with(['/', '~']) || own.starts_with("../");
        if !scripts().any(|file| is_at(&file.path, name)) {
            if !elsewhere && !folder.join(own).exists() {
                let near = launch::nearest(own, scripts().map(|file| &*file.path));
                let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
                let message = format!("the project has no file {own}{near}");
                found.push(Finding { line, rule: "no-program".into(), message });
            }
            continue;
        }
        let mut programs = facts.programs.iter().filter(|program| is_at(&program.place.path, own));
        let (Some(program), None) = (programs.next(), programs.next()) else { continue };
        let texts = || files.iter().filter(|file| program.files.contains(&file.path)).map(|file| &*file.text);
        // An f-string may compose the name.
        let is_open = |text: &str| {
            READS_OTHERS.iter().any(|name| text.contains(name))
                || text.split("add_argument(").skip(1).any(|rest| !rest.trim_start().starts_with(['"', '\'']))
        };
        if program.command_line != CommandLine::Options || texts().any(is_open) {
            continue;
        }
        // argparse accepts the beginning of a name; `--no-x` is the other value of a flag `--x`.
        let has = |option: &str| {
            texts().any(|text| ['"', '\''].iter().any(|quote| text.contains(&format!("{quote}{option}"))))
        };
        let is_known = |option: &String| {
            has(option)
                || option == "--help"
                || option.strip_prefix("--no-").is_some_and(|rest| has(&format!("--{rest}")))
        };
        let known: Vec<&str> = program.settings.iter().map(|setting| &*setting.name).collect();
        for option in options.iter().filter(|option| !is_known(option)) {
            let near = launch::nearest(option, known.iter().copied());
            let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            let message = format!("{} has no option {option}{near}", program.place.path);
            found.push(Finding { line, rule: "unknown-argument".into(), message });
        }
    }
    Ok(found)
}
