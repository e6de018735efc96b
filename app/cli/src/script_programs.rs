//! Whether a project has the programs that a script starts, and their parsers the options.

use crate::project::Project;
use anyhow::Result;
use codemod::RecipeSet;
use launch::{Finding, Started, Target};
use std::path::{Path, PathBuf};
use training::{CommandLine, run_facts};

/// Names of what reads options that the program's own files don't name.
const READS_OTHERS: [&str; 11] = [
    "parse_known_args",
    "HfArgumentParser",
    "add_config_arguments",
    "add_argparse_args",
    "from_argparse_args",
    "LightningCLI",
    "allow_extra_args",
    "sys.argv",
    "prefix_chars",
    "parents=",
    "version_option",
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
        if program.command_line != CommandLine::Options
            || texts().any(is_open)
            || hands_on(&texts().collect::<Vec<_>>())
        {
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

/// Whether a program passes a parser to a function that none of its files defines, which may add options.
fn hands_on(texts: &[&str]) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let defines = |name: &str| {
        ["def", "class"].iter().any(|kind| {
            let begin = format!("{kind} {name}");
            texts.iter().any(|text| text.split(&*begin).skip(1).any(|rest| !rest.starts_with(is_letter)))
        })
    };
    let parser = |line: &str| {
        let (name, value) = line.split_once('=')?;
        let makes = ["ArgumentParser(", "add_argument_group(", "add_parser("].iter().any(|own| value.contains(own));
        let name = name.split(':').next()?.trim();
        (makes && !name.is_empty() && name.chars().all(is_letter)).then(|| name.to_string())
    };
    texts.iter().any(|text| {
        let parsers: Vec<String> = text.lines().filter_map(parser).collect();
        parsers.iter().flat_map(|name| text.match_indices(&**name)).any(|(at, name)| {
            let (before, after) = (&text[..at], text[at + name.len()..].trim_start());
            let is_argument = after.starts_with([',', ')']) && !before.ends_with(|c| is_letter(c) || c == '.');
            let called = called_at(before).filter(|_| is_argument);
            called.is_some_and(|name| !defines(name))
        })
    })
}

/// The function whose arguments a text ends in.
fn called_at(text: &str) -> Option<&str> {
    let mut depth = 0_usize;
    // Longer calls are rare, and so are parsers at their ends.
    let (open, _) = text.char_indices().rev().take(500).find(|(_, c)| match c {
        ')' => {
            depth += 1;
            false
        }
        '(' if depth == 0 => true,
        '(' => {
            depth -= 1;
            false
        }
        _ => false,
    })?;
    let name = text[..open].rsplit(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::hands_on;

    #[test]
    fn parsers_that_other_functions_get() {
        let check = |text: &str, expected: bool| {
            let text = format!("p = argparse.ArgumentParser()\n{text}\n");
            assert_eq!(hands_on(&[&text, "def add(parser):\n    pass\n"]), expected, "{text}");
        };
        check("add_more(p)", true);
        check("lib.more(x(1), parser=p, y=2)", true);
        check("add(p)", false);
        check("def more(p):\n    pass\nmore(p)", false);
        check("p.add_argument('--a')\nargs = p.parse_args()\ng = f(x.p, map)", false);
        check("é(p)", true);
    }
}
