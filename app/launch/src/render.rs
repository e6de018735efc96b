//! A plan as a shell script.

use crate::plan::{Plan, Resources, Step};
use crate::request::Scheduler;
use crate::word::{Part, Word};
use std::fmt::Write;

/// `-u` stays off: the vendors' scripts that are sourced read variables that may be unset.
const OPENING: &str = r#"set -eo pipefail

# Shows a command and runs it; with DRY_RUN=1 in the environment only shows it.
run() {
  printf '+' >&2
  printf ' %q' "$@" >&2
  printf '\n' >&2
  if [ -z "${DRY_RUN:-}" ]; then "$@"; fi
}
"#;

/// The scheduler knows the machines only when the job runs; a dry run, which may be elsewhere, asks nobody.
const MACHINES: &str = r#"
# The job's machines, one a line.
machines() {
  if [ -n "${DRY_RUN:-}" ]; then
    echo MACHINE
  else
    LIST
  fi
}
"#;

const FIRST_HOST: &str = r#"
# The first of them.
first_host() {
  machines | sed -n 1p
}
"#;

const HOSTS: &str = r#"
# All of them as MPI wants them, each with its number of processes.
hosts() {
  machines | sed "s/\$/:$1/" | paste -s -d , -
}
"#;

/// The script. Bash whatever the scheduler; Slurm and PBS read their directives out of its comments.
pub fn render(plan: &Plan, scheduler: Scheduler) -> String {
    let mut out = String::from("#!/usr/bin/env bash\n");
    match scheduler {
        Scheduler::Bash => {}
        Scheduler::Slurm => slurm(&mut out, &plan.resources),
        Scheduler::Pbs => pbs(&mut out, &plan.resources),
    }
    comment(&mut out, &plan.title);
    for line in plan.notes.iter().chain(&plan.arithmetic) {
        comment(&mut out, line);
    }
    if !plan.monitors.is_empty() {
        comment(&mut out, "While it runs, in a second terminal:");
        for monitor in &plan.monitors {
            comment(&mut out, &format!("  {}  ({})", monitor.command, monitor.why));
        }
    }
    out.push_str(OPENING);
    machines(&mut out, plan, scheduler);
    if scheduler == Scheduler::Pbs {
        out.push_str("\n# PBS starts in the home folder.\ncd \"${PBS_O_WORKDIR:-.}\"\n");
    }
    for step in &plan.steps {
        out.push('\n');
        write_step(&mut out, step);
    }
    out
}

/// The functions that the plan's words call.
fn machines(out: &mut String, plan: &Plan, scheduler: Scheduler) {
    let parts = plan.steps.iter().flat_map(|step| match step {
        Step::Set(setting) => std::slice::from_ref(&setting.value),
        Step::Run { argv, .. } => argv,
        Step::Source { .. } | Step::Require { .. } => &[],
    });
    let parts: Vec<&Part> = parts.flat_map(|word| &word.0).collect();
    let first = parts.contains(&&Part::FirstHost);
    let all = parts.iter().any(|part| matches!(part, Part::Hosts(_)));
    if first || all {
        let list = match scheduler {
            // The file has a line for each process.
            Scheduler::Pbs => r#"awk '!seen[$0]++' "$PBS_NODEFILE""#,
            Scheduler::Bash | Scheduler::Slurm => r#"scontrol show hostnames "$SLURM_JOB_NODELIST""#,
        };
        out.push_str(&MACHINES.replace("LIST", list));
    }
    if first {
        out.push_str(FIRST_HOST);
    }
    if all {
        out.push_str(HOSTS);
    }
}

fn write_step(out: &mut String, step: &Step) {
    match step {
        Step::Source { files, unless, why, source } => {
            reason(out, why, source);
            let mut test = String::from("[ -z \"${DRY_RUN:-}\" ]");
            if let Some(name) = unless {
                let _ = write!(test, " && [ -z \"${{{name}:-}}\" ]");
            }
            out.push_str("# shellcheck disable=SC1090,SC1091\n");
            let _ = writeln!(out, "if {test}; then");
            for file in files {
                let _ = writeln!(out, "  . {}", file.quoted());
            }
            out.push_str("fi\n");
        }
        Step::Require { name, message } => {
            let _ = writeln!(out, "if [ -z \"${{{name}:-}}\" ]; then");
            let _ = writeln!(out, "  echo {} >&2\n  exit 2\nfi", Word::text(message.clone()).quoted());
        }
        Step::Set(setting) => {
            reason(out, &setting.why, &setting.source);
            // Quotes in a value are part of a file's name here, not a command that is split later.
            let has_quotes = |part: &Part| matches!(part, Part::Text(text) if text.contains(['"', '\'', '\\']));
            let quotes = setting.value.0.iter().any(has_quotes);
            let [assign, export] =
                if quotes { ["# shellcheck disable=SC2089\n", "# shellcheck disable=SC2090\n"] } else { [""; 2] };
            let (name, value) = (&setting.name, setting.value.quoted());
            let _ = write!(out, "{assign}{name}={value}\n{export}export {name}\n");
        }
        Step::Run { argv, why, source } => {
            reason(out, why, source);
            out.push_str("run");
            let mut width = 3;
            for word in argv {
                let word = word.quoted();
                if width + word.len() > 96 {
                    out.push_str(" \\\n ");
                    width = 1;
                }
                width += word.len() + 1;
                out.push(' ');
                out.push_str(&word);
            }
            out.push('\n');
        }
    }
}

fn reason(out: &mut String, why: &str, source: &str) {
    comment(out, why);
    if !source.is_empty() {
        comment(out, source);
    }
}

/// One line, whatever the text holds: a line break in it would end the comment.
fn comment(out: &mut String, text: &str) {
    let _ = writeln!(out, "# {}", text.replace(|c: char| c.is_control(), " "));
}

fn slurm(out: &mut String, asked: &Resources) {
    let _ = writeln!(out, "#SBATCH --job-name={}\n#SBATCH --output={}-%j.log", asked.name, asked.name);
    let _ = writeln!(out, "#SBATCH --nodes={}", asked.nodes);
    if let Some(tasks) = asked.tasks_per_node {
        let _ = writeln!(out, "#SBATCH --ntasks-per-node={tasks}");
    }
    if let Some(cpus) = asked.cpus_per_task {
        let _ = writeln!(out, "#SBATCH --cpus-per-task={cpus}");
    }
    let named = [("partition", &asked.partition), ("account", &asked.account), ("time", &asked.time)];
    for (name, value) in named {
        if let Some(value) = value {
            let _ = writeln!(out, "#SBATCH --{name}={value}");
        }
    }
    if let Some(devices) = &asked.devices {
        let _ = writeln!(out, "#SBATCH {devices}");
    }
}

fn pbs(out: &mut String, asked: &Resources) {
    let processes = asked.tasks_per_node.map(|tasks| format!(":mpiprocs={tasks}")).unwrap_or_default();
    let _ = writeln!(out, "#PBS -N {}\n#PBS -j oe\n#PBS -l select={}{processes}", asked.name, asked.nodes);
    if asked.nodes > 1 {
        out.push_str("#PBS -l place=scatter\n");
    }
    let named = [("-q ", &asked.partition), ("-A ", &asked.account), ("-l walltime=", &asked.time)];
    for (flag, value) in named {
        if let Some(value) = value {
            let _ = writeln!(out, "#PBS {flag}{value}");
        }
    }
}
