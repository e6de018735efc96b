//! `portolan launch`: reads a site file, prints or writes the script.

use crate::args::{LaunchArgs, LauncherArg, SchedulerArg, TargetArg};
use crate::usage::usage;
use anyhow::{Context, Result};
use launch::{Launcher, Mode, Request, Scheduler, Script, Site, Target};
use std::io::Write;
use std::path::Path;

pub(crate) fn run(args: &LaunchArgs) -> Result<bool> {
    let target = match args.target {
        TargetArg::Hpu => Target::Hpu,
        TargetArg::Rdu => Target::Rdu,
        TargetArg::Ipu => Target::Ipu,
        TargetArg::Popdist => Target::Popdist,
    };
    if let Some(file) = &args.lint {
        return lint(file, target);
    }
    let site = if args.site.ends_with(".toml") {
        let text = std::fs::read_to_string(&args.site).with_context(|| args.site.clone())?;
        Site::read(&text).map_err(|problem| usage(format!("{}: {problem}", args.site)))?
    } else {
        launch::site_named(&args.site, target).map_err(|problem| usage(format!("--{problem}")))?
    };
    let request = request(args, target)?;
    let plan = launch::plan(&request, &site).map_err(|problems| {
        let own = |field: &str| site.fields.iter().any(|known| known.name == field) || OWN.contains(&field);
        let lines = problems.iter().map(|problem| match own(&problem.field) {
            true => format!("--set {}=…: {}", problem.field, problem.message),
            false => format!("--{problem}"),
        });
        usage(lines.collect::<Vec<_>>().join("\n          "))
    })?;
    let script = launch::render(&plan, request.scheduler);
    match &args.out {
        Some(file) => std::fs::write(file, script).with_context(|| file.display().to_string())?,
        None => std::io::stdout().write_all(script.as_bytes())?,
    }
    Ok(true)
}

/// Fields that are set with `--set` at every site.
const OWN: [&str; 9] = ["account", "partition", "time", "venv", "output", "pef", "threads", "gaudi_spawn", "interface"];

fn request(args: &LaunchArgs, target: Target) -> Result<Request> {
    let line = args.args.as_deref().unwrap_or_default();
    let words = launch::split_words(line).ok_or_else(|| usage("--args: a quote is left open"))?;
    let mut request = Request::new(target, args.entry.as_deref().unwrap_or_default());
    request.args = words;
    request.scheduler = match args.scheduler {
        SchedulerArg::Bash => Scheduler::Bash,
        SchedulerArg::Slurm => Scheduler::Slurm,
        SchedulerArg::Pbs => Scheduler::Pbs,
    };
    request.launcher = args.launcher.map(|launcher| match launcher {
        LauncherArg::Mpirun => Launcher::Mpirun,
        LauncherArg::Torchrun => Launcher::Torchrun,
        LauncherArg::Srun => Launcher::Srun,
        LauncherArg::Lightning => Launcher::Lightning,
        LauncherArg::Deepspeed => Launcher::Deepspeed,
    });
    request.script = if args.setup { Script::Setup } else { Script::Train };
    request.mode = if args.lazy { Mode::Lazy } else { Mode::Eager };
    request.tensorflow = args.tensorflow;
    request.nodes = args.nodes;
    request.instances = args.instances;
    request.replicas = args.replicas;
    request.ipus_per_replica = args.ipus_per_replica;
    request.batch = args.batch;
    request.accumulation = args.accumulation;
    request.modules.clone_from(&args.modules);
    request.port = args.port;
    request.hosts.clone_from(&args.hosts);
    request.distributed_key.clone_from(&args.distributed_key);
    request.values = args.values.iter().cloned().collect();
    Ok(request)
}

/// Findings to stderr, the patch to stdout; false when there is a finding.
fn lint(file: &Path, target: Target) -> Result<bool> {
    let shown = file.display().to_string();
    let script = std::fs::read_to_string(file).with_context(|| shown.clone())?;
    let linted = launch::lint(&script, target);
    for finding in &linted.findings {
        eprintln!("{shown}:{}: warning[{}] {}", finding.line, finding.rule, finding.message);
    }
    print!("{}", linted.diff(&script, shown.trim_start_matches(['.', '/'])));
    Ok(linted.findings.is_empty())
}
