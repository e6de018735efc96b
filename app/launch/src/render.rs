//! A plan as a shell script.

use crate::directives::{directives, mark};
use crate::plan::{Flag, Plan, Step};
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

const TAKE: &str = r#"
# Copies files into a folder; names those that are not there.
take() {
  into=$1
  shift
  for file in "$@"; do
    if [ -n "${DRY_RUN:-}" ] || [ -e "$file" ]; then
      run cp -R -- "$file" "$into/"
    else
      printf 'not there: %s\n' "$file" >&2
    fi
  done
}
"#;

const KEEP: &str = r#"
# Keeps what a command prints in a file; goes on when the command fails.
keep() {
  file=$1
  shift
  if [ -n "${DRY_RUN:-}" ]; then
    run "$@"
  else
    run "$@" > "$file" || printf 'failed: %s\n' "$1" >&2
  fi
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
pub fn render(plan: &Plan) -> String {
    let scheduler = plan.scheduler;
    let mut out = String::from("#!/usr/bin/env bash\n");
    if let Some((mark, source)) = mark(scheduler) {
        comment(&mut out, &format!("What the job asks for: {source}"));
        for flag in directives(&plan.resources, scheduler) {
            reason_of(&mut out, "", &flag, source);
            let _ = writeln!(out, "{mark} {}", flag.words);
        }
        out.push('\n');
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
    if plan.steps.iter().any(|step| matches!(step, Step::Take { .. })) {
        out.push_str(TAKE);
    }
    if plan.steps.iter().any(|step| matches!(step, Step::Keep { .. })) {
        out.push_str(KEEP);
    }
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
        Step::Source { .. } | Step::Require { .. } | Step::Take { .. } | Step::Keep { .. } => &[],
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
            let message = Word::text(message.clone()).quoted();
            let _ = writeln!(out, "if [ -z \"${{{name}:-}}\" ]; then\n  echo {message} >&2");
            out.push_str("  if [ -z \"${DRY_RUN:-}\" ]; then exit 2; fi\nfi\n");
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
        Step::Run { argv, flags, why, source } => {
            reason(out, why, source);
            for flag in flags {
                reason_of(out, &format!("  {}: ", flag.words), flag, source);
            }
            command(out, "run", argv);
        }
        Step::Take { file, into, why, source } => {
            reason(out, why, source);
            command(out, "take", [into, file]);
        }
        Step::Keep { argv, file, why, source } => {
            reason(out, why, source);
            command(out, "keep", std::iter::once(file).chain(argv));
        }
    }
}

/// A call of one of the script's own functions, on as many lines as it needs.
fn command<'a>(out: &mut String, function: &str, words: impl IntoIterator<Item = &'a Word>) {
    out.push_str(function);
    let mut width = function.len();
    for word in words {
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

fn reason(out: &mut String, why: &str, source: &str) {
    comment(out, why);
    if !source.is_empty() {
        comment(out, source);
    }
}

/// Why a flag stands there; its source too when it isn't the one that was named for all.
fn reason_of(out: &mut String, before: &str, flag: &Flag, known: &str) {
    let source = match flag.source.as_str() {
        "" => String::new(),
        own if own == known => String::new(),
        own => format!(" ({own})"),
    };
    comment(out, &format!("{before}{}{source}", flag.why));
}

/// One line, whatever the text holds: a line break in it would end the comment.
fn comment(out: &mut String, text: &str) {
    let _ = writeln!(out, "# {}", text.replace(|c: char| c.is_control(), " "));
}
