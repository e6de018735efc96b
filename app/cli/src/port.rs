//! `portolan port`.

use crate::args::{Format, PortArgs, StyleArg};
use crate::messages::{message, summary};
use crate::project::Project;
use crate::usage::usage;
use crate::{output, sarif};
use anyhow::Result;
use codemod::{Options, Ported, PortedFile, Severity, SourceFile, Style};

/// Ports, prints or writes. Says whether the exit status is 0.
pub(crate) fn run(args: &PortArgs) -> Result<bool> {
    let options = options(args);
    let project = Project::read(&args.paths, args.out.as_deref())?;
    let ported = port(&project, &options)?;

    for (input, file) in project.inputs.iter().zip(&ported.files) {
        for diagnostic in &file.diagnostics {
            eprintln!("{}", message(&input.shown, diagnostic));
        }
    }
    let mut written = true;
    if args.write {
        written = output::write_back(&project, &ported)?;
    } else if let Some(out) = &args.out {
        output::write_tree(&project, &ported, out)?;
    }
    match args.format {
        Format::Text if args.write || args.out.is_some() => {}
        Format::Text => output::print(&patch(&project, &ported))?,
        Format::Json => output::print(&codemod::report_json(&ported))?,
        Format::Sarif => output::print(&sarif::sarif(&ported))?,
    }
    eprintln!("{}", summary(&ported));

    let found = |severity| ported.files.iter().flat_map(|file| &file.diagnostics).any(|d| d.severity == severity);
    Ok(written && !found(Severity::Error) && !(args.check && found(Severity::Warning)))
}

fn options(args: &PortArgs) -> Options {
    Options {
        target: args.target.clone(),
        style: match args.style {
            StyleArg::Auto => Style::Auto,
            StyleArg::InPlace => Style::InPlace,
            StyleArg::Branch => Style::Branch,
        },
        sdk: args.sdk.clone(),
        allow_unsafe: args.allow_unsafe,
        options: args.options.iter().cloned().collect(),
        rejected_recipes: args.rejected.clone(),
        rejected_edits: Vec::new(),
    }
}

/// Hands the files that could be read to the engine, and puts the others back among the results with their message.
fn port(project: &Project, options: &Options) -> Result<Ported> {
    let readable = project.inputs.iter().filter_map(|input| {
        let text = input.text.as_ref().ok()?.clone();
        Some(SourceFile { path: input.path.clone(), text })
    });
    let sources: Vec<SourceFile> = readable.collect();
    let mut ported = engine(&sources, options)?;
    for (index, input) in project.inputs.iter().enumerate() {
        if let Err(diagnostic) = &input.text {
            let diagnostics = vec![diagnostic.clone()];
            let refused = PortedFile {
                path: input.path.clone(),
                changed: false,
                text: String::new(),
                edits: vec![],
                diagnostics,
            };
            ported.files.insert(index, refused);
        }
    }
    Ok(ported)
}

fn patch(project: &Project, ported: &Ported) -> String {
    let files = project.inputs.iter().zip(&ported.files);
    let patch = files.map(|(input, file)| match &input.text {
        Ok(text) => codemod::git_patch_of(&file.path, text, &file.text),
        Err(_) => String::new(),
    });
    patch.collect()
}

fn engine(sources: &[SourceFile], options: &Options) -> Result<Ported> {
    let recipes = codemod::RecipeSet::embedded();
    if !recipes.targets().iter().any(|target| target.id == options.target) {
        return Err(usage(format!("this build has no recipes for {}", options.target)).into());
    }
    Ok(codemod::port(sources, &recipes, options))
}
