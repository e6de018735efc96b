//! `portolan launch`: reads a site file, prints or writes the script.

use crate::args::{LaunchArgs, SchedulerArg};
use crate::messages::{OnDisk, message};
use crate::output::print;
use crate::reading::text_of;
use crate::said::say_line;
use crate::usage::usage;
use crate::{launch_fields, launch_project, notebook_shell, script_programs};
use anyhow::{Context, Result};
use launch::{Request, Scheduler, Script, Target};
use python::notebook::{Notebook, is_notebook};
use std::io::Write;
use std::path::Path;
use training::words::NOTEBOOK_MAGICS;

pub(crate) fn run(args: &LaunchArgs) -> Result<bool> {
    let target = args.target;
    if let Some(file) = &args.lint {
        return lint(args, file);
    }
    let site = if args.site.ends_with(".toml") {
        let text = std::fs::read_to_string(&args.site).with_context(|| args.site.clone())?;
        launch::read_site(&text).map_err(|problem| usage(format!("{}: {problem}", args.site)))?
    } else {
        launch::site_named(&args.site, target).map_err(|problem| usage(format!("--{problem}")))?
    };
    let request = request(args, target)?;
    let plan = launch::plan(&request, &site)
        .map_err(|problems| usage(launch_fields::lines(&problems, &request, &site).join("\n          ")))?;
    let script = if args.explain { launch::explained(&plan) } else { launch::render(&plan) };
    plan.warnings.iter().for_each(|warning| say_line!("warning: {warning}"));
    if !args.explain {
        plan.notes.iter().for_each(|note| say_line!("note: {note}"));
    }
    match &args.out {
        Some(file) if file.exists() && python::is_python(&file.to_string_lossy()) => {
            return Err(usage(format!("--out {}: this is a program; nothing was written", file.display())).into());
        }
        Some(file) => std::fs::write(file, script).with_context(|| file.display().to_string())?,
        None => std::io::stdout().write_all(script.as_bytes())?,
    }
    Ok(true)
}

fn request(args: &LaunchArgs, target: Target) -> Result<Request> {
    let line = args.args.as_deref().unwrap_or_default();
    let words = launch::split_words(line).ok_or_else(|| usage("--args: unclosed quote"))?;
    let read = match &args.project {
        Some(folder) => launch_project::read(folder, args.entry.as_deref(), target)?,
        None => launch_project::read_entry(args.entry.as_deref(), target),
    };
    let text = |own: &Option<String>, name: &str| own.clone().or_else(|| read.get(name).map(str::to_string));
    let mut request = Request::new(target, &text(&args.entry, "entry").unwrap_or_default());
    request.args = read.args(words);
    request.scheduler = match args.scheduler {
        SchedulerArg::Bash => Scheduler::Bash,
        SchedulerArg::Slurm => Scheduler::Slurm,
        SchedulerArg::Pbs => Scheduler::Pbs,
    };
    request.launcher.clone_from(&args.launcher);
    request.suits = text(&args.suits, "suits");
    request.script = match (args.setup, args.collect) {
        (true, _) => Script::Setup,
        (_, true) => Script::Collect,
        _ => Script::Train,
    };
    request.nodes = args.nodes.or_else(|| read.number("nodes")).unwrap_or(1);
    request.instances = args.instances.or_else(|| read.number("instances").filter(|_| args.nodes.is_none()));
    request.replicas = args.replicas;
    request.devices_per_replica = args.devices_per_replica;
    request.batch_key = text(&args.batch_key, "batch-key");
    request.accumulation_key = text(&args.accumulation_key, "accumulation-key");
    request.batch = args.batch.or_else(|| read.number("batch"));
    let from_code = args.batch.is_none();
    request.batch_from =
        args.batch_from.clone().or_else(|| read.get("batch-from").filter(|_| from_code).map(Into::into));
    request.accumulation = args.accumulation.or_else(|| read.number("accumulation"));
    let from_code = args.accumulation.is_none();
    request.accumulation_from =
        args.accumulation_from.clone().or_else(|| read.get("accumulation-from").filter(|_| from_code).map(Into::into));
    request.shared_batch = text(&args.shared_batch, "shared-batch");
    request.port = args.port;
    request.hosts.clone_from(&args.hosts);
    request.distributed_key = text(&args.distributed_key, "distributed-key");
    let join_args = text(&args.join_args, "join-args");
    request.join_args = join_args.and_then(|line| launch::split_words(&line)).unwrap_or_default();
    request.joined_by = launch::joins_of(&text(&args.joined_by, "joined-by").unwrap_or_default());
    request.devices_key = text(&args.devices_key, "devices-key");
    request.nodes_key = text(&args.nodes_key, "nodes-key");
    request.spawn_key = text(&args.spawn_key, "spawn-key");
    request.divided = args.divided || read.get("divided").is_some();
    request.ahead.clone_from(&args.ahead);
    request.ahead.extend(read.get("ahead").into_iter().flat_map(|list| list.split(',')).map(str::to_string));
    request.alone = args.alone || read.get("alone").is_some();
    request.env.clone_from(&args.env);
    request.directives.clone_from(&args.directives);
    request.load.clone_from(&args.load);
    request.file = args.out.as_ref().and_then(|file| Some(file.file_name()?.to_string_lossy().into_owned()));
    request.needs.clone_from(&args.needs);
    request.needs.extend(read.get("needs").into_iter().flat_map(|list| list.split(',')).map(str::to_string));
    let switches = [
        ("lazy", args.lazy),
        ("profile", args.profile),
        ("compiled", args.compiled),
        ("tensorflow", args.tensorflow || read.get("tensorflow").is_some() && target.has_field("tensorflow")),
    ];
    let of_code =
        ["rank_option", "switch_key", "unplaced", "unported"].into_iter().filter(|name| target.has_field(name));
    let of_code = of_code.chain(args.setup.then_some("requirements"));
    let of_code = of_code.filter_map(|name| Some((name.to_string(), read.get(name)?.to_string())));
    let given = switches.into_iter().filter(|(_, given)| *given).map(|(name, _)| (name.to_string(), "on".to_string()));
    let modules = args.modules.iter().map(|list| ("modules".to_string(), list.clone()));
    let launcher = args.launcher_args.iter().map(|line| ("launcher_args".to_string(), line.clone()));
    request.values = given.chain(of_code).chain(modules).chain(launcher).chain(args.values.iter().cloned()).collect();
    Ok(request)
}

/// Findings to stderr, the patch to stdout; false if there is a finding. Of a notebook, the shell lines are checked.
fn lint(args: &LaunchArgs, file: &Path) -> Result<bool> {
    let target = args.target;
    let shown = file.display().to_string();
    let script = match text_of(std::fs::read(file).with_context(|| shown.clone())?) {
        Ok(script) => script,
        Err(diagnostic) => {
            say_line!("{}", message(&shown, &diagnostic, OnDisk::Original));
            return Ok(false);
        }
    };
    if is_notebook(&shown) {
        let notebook = Notebook::read(&script, NOTEBOOK_MAGICS).map_err(|fault| usage(format!("{shown}: {fault}")))?;
        let findings = notebook_shell::messages(&shown, &notebook, target);
        findings.iter().for_each(|finding| say_line!("{finding}"));
        if findings.is_empty() {
            say_line!("{}", launch::lint("", target).checked);
        }
        return Ok(findings.is_empty());
    }
    let mut linted = launch::lint(&script, target);
    if let Some(folder) = &args.project {
        linted.findings.extend(script_programs::findings(&script, folder, target)?);
        linted.findings.extend(launch::refused(&script, target, &request(args, target)?));
        sorting::by_key(&mut linted.findings, |finding| finding.line);
    }
    for finding in &linted.findings {
        say_line!("{shown}:{}: warning[{}] {}", finding.line, finding.rule, finding.message);
    }
    if linted.findings.is_empty() {
        say_line!("{}", linted.checked);
    }
    print(&codemod::git_patch_of(shown.trim_start_matches("./").trim_start_matches('/'), &script, &linted.fixed))?;
    Ok(linted.findings.is_empty())
}
