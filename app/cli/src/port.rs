//! `portolan port`.

use crate::args::{Format, PortArgs, PortChoice, StyleArg};
use crate::interruption::Interrupted;
use crate::messages::{OnDisk, count, messages, outline, removed_comments, summary};
use crate::output::WrittenBack;
use crate::project::Project;
use crate::replacement::New;
use crate::said::{say, say_line};
use crate::totals::{self, totals};
use crate::usage::{Usage, usage};
use crate::{guides, launch_project, notebook_shell, output, sarif, series};

use ::site::PortReport;
use anyhow::{Context, Result};
use codemod::{
    Diagnostic, Ledger, Options, Ported, PortedFile, RecipeSet, Severity, Style, TargetInfo, TargetOption, Totals,
    TwinCommands, is_configuration,
};
use launch::Twin;
use python::notebook::Notebook;
use python::{SourceFile, Trees};
use std::collections::BTreeSet;
use std::path::Path;
use training::Program;

/// Ports, prints or writes. Returns whether the exit status is 0.
pub(crate) fn run(args: &PortArgs) -> Result<bool> {
    let options = options(&args.choice);
    let recipes = guides::recipes(args.choice.guides.as_deref())?;
    check_words(recipes, &options)?;
    if let Some(file) = &args.patch {
        output::check_is_new(file)?;
    }
    if let Some(folder) = &args.series {
        series::check_is_free(folder)?;
    }
    if let Some(file) = &args.report {
        output::check_out("--report", file, output::Written::Page)?;
        if args.patch.as_ref().is_some_and(|patch| std::path::absolute(patch).ok() == std::path::absolute(file).ok()) {
            return Err(usage("--report and --patch are the same file; nothing was written").into());
        }
    }
    // Before the files are read: what another port is about to change can't be ported.
    let claimed = if args.write { output::claim(&args.paths)? } else { Vec::new() };
    let project = Project::read(&args.paths, args.out.as_deref())?;
    let mut port = port(&project, recipes, &options);
    let idle = idle_options(&project, recipes, &options, &port);
    let (mut written, mut left, mut interrupted) = (true, BTreeSet::new(), 0);
    if args.write {
        WrittenBack { fine: written, left, interrupted } =
            output::write_back(&project, &mut port.ported, args.patch.as_deref())?;
        drop(claimed);
        for file in port.ported.new_files().filter(|file| project.place_of(file).is_none()) {
            say_line!(
                "portolan: save {} next to the program: the port imports it, and a port without --write has it in its patch",
                file.path
            );
        }
    } else if let Some(out) = &args.out {
        written = output::write_tree(&project, &port.ported, out, args.force)?;
    } else if let Some(folder) = &args.series {
        if project.inputs.iter().any(|input| input.disk.is_none()) {
            return Err(usage("--series needs files: no commit can change stdin").into());
        }
        series::write(&project, recipes, &options, &args.author, folder)?;
    }
    let Port { ported, ledgers, shown, .. } = &port;

    let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
    let of_file = |n| if args.write && !left.contains(&n) { OnDisk::Ported } else { OnDisk::Original };
    let on_disk: Vec<OnDisk> = (0..ported.files.len()).map(of_file).collect();
    if let Some(overview) = codemod::overview(ported, recipes) {
        say!("{}", outline(&overview, &ported.target, &shown, &on_disk));
    }
    let files = shown.iter().zip(&on_disk).zip(&ported.files);
    let found = files.flat_map(|((path, on_disk), file)| file.diagnostics.iter().map(move |d| (*path, d, *on_disk)));
    for line in messages(found) {
        say_line!("{line}");
    }
    for line in shown.iter().zip(&ported.files).filter_map(|(path, file)| removed_comments(path, &file.edits)) {
        say_line!("{line}");
    }
    let twin = twin(&port, &args.choice);
    let totals = totals(&project, ported, &left, recipes);
    if let Some(file) = &args.report {
        report_page(file, &project, &port, recipes, &totals)?;
    }
    match args.format {
        Format::Text if args.write || args.out.is_some() || args.series.is_some() => {}
        Format::Text => output::print(&patch(&project, ported))?,
        Format::Json => output::print(&codemod::report_json(ported, recipes, ledgers, twin.as_ref(), &totals))?,
        Format::Sarif => {
            let notebooks: Vec<_> =
                project.inputs.iter().map(|input| input.notebook.as_ref().map(Notebook::json)).collect();
            output::print(&sarif::sarif(ported, recipes, &shown, &on_disk, &notebooks))?;
        }
        Format::None => {}
        Format::Csv => output::print(&totals::csv(std::slice::from_ref(&totals)))?,
    }
    let of_them = match left.len() - interrupted {
        0 => String::new(),
        left => format!("; {} not written, as said above", count(left, "file")),
    };
    say_line!("{}{of_them}", summary(ported, &left, &totals));
    say!("{}", totals::table(&totals));
    // A copy of the folder names all links that are not in it.
    let is_copy = args.out.is_some() && project.whole_folder;
    for link in project.links_left_out.iter().filter(|_| !is_copy) {
        say_line!("portolan: skipped {}, a link to a path outside the project", link.display());
    }
    say!("{}", account(ledgers));
    let changed = ported.files.iter().any(|file| file.changed);
    // Of a folder that was ported in place there is no original to run.
    if let Some(command) = twin.and_then(|twin| twin.portolan).filter(|_| changed && !args.write) {
        let folder = if project.whole_folder { ", in the project's folder" } else { "" };
        say_line!("portolan: to compare original and port on this machine's CPU{folder}:\n  {command}");
    }

    for sentence in &idle {
        say_line!("portolan: error: {sentence}");
    }
    if interrupted > 0 {
        let patch = if args.patch.is_some() { ", with another --patch or none" } else { "" };
        let were = if interrupted == 1 { "was" } else { "were" };
        let message =
            format!("{} {were} not replaced: run it again to finish the port{patch}", count(interrupted, "file"));
        return Err(Interrupted::saying(message).into());
    }
    let found = |severity| ported.files.iter().flat_map(|file| &file.diagnostics).any(|d| d.severity == severity);
    Ok(written && idle.is_empty() && !found(Severity::Error) && !(args.check && found(Severity::Warning)))
}

/// The report of a port as JSON.
pub(crate) fn report(port: &Port, recipes: &RecipeSet, choice: &PortChoice, totals: &Totals) -> String {
    codemod::report_json(&port.ported, recipes, &port.ledgers, twin(port, choice).as_ref(), totals)
}

/// Writes the page about a port.
fn report_page(file: &Path, project: &Project, port: &Port, recipes: &RecipeSet, totals: &Totals) -> Result<()> {
    let texts = project.inputs.iter().map(|input| input.text.as_deref().unwrap_or_default());
    let configured = |path: &str| {
        let found = project.configuration().iter().find(|(_, file)| file.path == path);
        found.map_or("", |(_, file)| &file.text)
    };
    let rest = port.ported.files.iter().skip(project.inputs.len()).map(|file| configured(&file.path));
    let report = PortReport {
        ported: &port.ported,
        originals: texts.chain(rest).collect(),
        recipes,
        totals,
        ledgers: &port.ledgers,
    };
    let page = ::site::port_report(&report);
    let written = New::beside(file).and_then(|new| new.fill(|new| std::fs::write(new, page))?.rename(file));
    written.with_context(|| format!("{} can't be written", file.display()))
}

/// The commands of the port's twin run, if one of its files is a program.
fn twin(port: &Port, choice: &PortChoice) -> Option<TwinCommands> {
    let ported = &port.ported;
    let fields = launch_project::fields(port.programs.first(), &ported.target);
    let twin = Twin::read(&ported.target, &fields)?;
    let one_file = ported.files.iter().filter(|file| !file.is_new && !is_configuration(&file.path)).count() == 1;
    let guides = choice.guides.iter().flat_map(|folder| ["--guides".to_owned(), folder.display().to_string()]);
    let words = options(choice).words().map(|words| words.into_iter().chain(guides).collect::<Vec<_>>());
    let portolan = words.map(|words| twin.command(&words, one_file));
    Some(TwinCommands { portolan, kit: twin.kit_command(&format!("portolan-{}.json", ported.target)) })
}

/// The port's effect on the samples of a step, if there is one.
fn account(ledgers: &[Ledger]) -> String {
    let mut out = String::new();
    for ledger in ledgers.iter().filter(|ledger| !ledger.flags.is_empty()) {
        let of = match ledger.programs.as_slice() {
            programs if programs.is_empty() || ledgers.len() == 1 => String::new(),
            programs => format!(" in {}", programs.join(", ")),
        };
        out += &format!("portolan: before and after{of}\n");
        for entry in &ledger.entries {
            out += &format!("  {:27}{} -> {}\n", entry.name, entry.before.text, entry.after.text);
        }
        for flag in &ledger.flags {
            out += &format!("  {flag}.\n");
        }
    }
    out
}

/// The engine's options.
pub(crate) fn options(args: &PortChoice) -> Options {
    Options {
        target: args.target.clone(),
        style: match args.style {
            StyleArg::Auto => Style::Auto,
            StyleArg::InPlace => Style::InPlace,
            StyleArg::Branch => Style::Branch,
            StyleArg::Agnostic => Style::Agnostic,
        },
        sdk: args.sdk.clone(),
        allow_unsafe: args.allow_unsafe,
        options: args.options.iter().cloned().collect(),
        annotate: args.annotate,
        rejected_recipes: args.rejected.clone(),
        rejected_edits: Vec::new(),
    }
}

/// A port, with facts about it.
pub(crate) struct Port {
    pub(crate) ported: Ported,
    pub(crate) ledgers: Vec<Ledger>,
    /// The programs of the port, those most likely to train first.
    pub(crate) programs: Vec<Program>,
    /// A path that the user can open, for each file of the port.
    pub(crate) shown: Vec<String>,
}

/// Passes the readable files to the engine, and adds the others to the result with their messages.
pub(crate) fn port(project: &Project, recipes: &RecipeSet, options: &Options) -> Port {
    let sources = project.sources();
    let mut shown: Vec<String> = project.inputs.iter().map(|input| input.shown.clone()).collect();
    let trees = Trees::default();
    let (mut ported, views) = codemod::port_with_views(&sources, recipes, options, &trees);
    let ledgers = codemod::ledgers(&views, &ported.target, recipes);
    let programs = launch_project::programs(&sources, &views, &ported.target, recipes);
    let notebooks = project.notebooks();
    ported.put_back(&notebooks);
    for file in &mut ported.files {
        if let Some(notebook) = notebooks.get(&file.path) {
            notebook_shell::report(notebook, file, recipes, options);
        }
    }
    let existing =
        ported.new_files().filter_map(|file| Some((file.path.clone(), project.has(file)?))).collect::<Vec<_>>();
    existing.iter().for_each(|(path, is_same)| codemod::keep_existing(&mut ported, path, *is_same, recipes));
    ported.keep_reported(&is_configuration);
    shown.extend(ported.new_files().map(|file| project.shown(&file.path)));
    let is_left = |file: &SourceFile| ported.certificate.files.contains_key(&file.path);
    shown.extend(project.configuration().iter().filter(|(_, file)| is_left(file)).map(|(path, _)| path.clone()));
    for (index, input) in project.inputs.iter().enumerate() {
        if let Err(diagnostic) = &input.text {
            let diagnostics = vec![Diagnostic::clone(diagnostic)];
            let refused = PortedFile {
                path: input.path.clone(),
                changed: false,
                text: String::new(),
                edits: vec![],
                diagnostics,
                notebook: None,
                is_new: false,
            };
            ported.files.insert(index, refused);
        }
    }
    Port { ported, ledgers, programs, shown }
}

/// A sentence for each option that was set and changes nothing in this port: it must not look as if it did.
pub(crate) fn idle_options(project: &Project, recipes: &RecipeSet, options: &Options, result: &Port) -> Vec<String> {
    let targets = recipes.targets();
    let Some(target) = targets.iter().find(|target| target.id == options.target) else { return Vec::new() };
    let is_set = |option: &TargetOption| {
        let default = target.default_of(option, options.sdk.as_deref());
        options.options.get(&option.name).is_some_and(|value| *value != default)
    };
    let is_idle = |option: &&TargetOption| {
        let mut without = options.clone();
        without.options.remove(&option.name);
        port(project, recipes, &without).ported.files == result.ported.files
    };
    let idle = target.options.iter().filter(|option| is_set(option)).filter(is_idle);
    idle.map(|TargetOption { name, label, .. }| format!("option `{name}` ({label}) changes nothing in this port"))
        .collect()
}

fn patch(project: &Project, ported: &Ported) -> String {
    let files = project.inputs.iter().zip(&ported.files);
    let changed = files
        .filter_map(|(input, file)| Some((&file.path, input.before_and_after(file)?)))
        .map(|(path, (before, after))| codemod::git_patch_of(path, before, after));
    changed.chain(ported.new_files().map(|file| codemod::git_patch_of_new(&file.path, &file.text))).collect()
}

/// A target that no guide is for.
pub(crate) fn unknown_target(id: &str, targets: &[TargetInfo]) -> Usage {
    let known: Vec<&str> = targets.iter().map(|target| target.id.as_str()).collect();
    usage(format!("no recipes for target `{id}`; available targets: {}", known.join(", ")))
}

/// A misspelt word must not silently disable something.
pub(crate) fn check_words(recipes: &RecipeSet, options: &Options) -> Result<(), Usage> {
    let targets = recipes.targets();
    let Some(target) = targets.iter().find(|target| target.id == options.target) else {
        return Err(unknown_target(&options.target, &targets));
    };
    if let Some(sdk) = options.sdk.as_ref().filter(|sdk| !target.knows(sdk)) {
        let (id, known) = (&target.id, target.sdks.join(", "));
        return Err(usage(format!(
            "the guides for {id} don't cover SDK version `{sdk}`; they cover {known} and the releases between them"
        )));
    }
    for (name, value) in options.options.iter() {
        let Some(option) = target.options.iter().find(|option| option.name == *name) else {
            let known: Vec<&str> = target.options.iter().map(|option| option.name.as_str()).collect();
            return Err(usage(format!("unknown option `{name}`; available options: {}", known.join(", "))));
        };
        if !option.kind.admits(value) {
            return Err(usage(format!("option `{name}` is {}, not `{value}`", option.kind)));
        }
    }
    for rejected in &options.rejected_recipes {
        if !recipes.recipes_for(&target.id).iter().any(|recipe| recipe.id == *rejected) {
            let how = format!("`portolan recipes list` shows those for {}", target.id);
            return Err(usage(format!("unknown recipe `{rejected}`; {how}")));
        }
    }
    Ok(())
}
