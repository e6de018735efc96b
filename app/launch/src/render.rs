//! A plan as a shell script.

use crate::directives::{directives, mark};
use crate::plan::{Flag, Plan, Step};
use crate::word::{Part, Word};
use std::fmt::Write;
use tables::Scheduler;

const SHELL: &str = "#!/usr/bin/env bash";

/// Sites define `module` in a login shell; `env` would interpret `bash -l` as one name.
const LOGIN: &str = "#!/bin/bash -l";

/// `-u` is not set: the vendors' scripts that are sourced read variables that may be unset.
const OPENING: &str = r#"set -eo pipefail

# Prints a command and runs it; with DRY_RUN=1 in the environment, only prints it.
run() {
  printf '+' >&2
  printf ' %q' "$@" >&2
  printf '\n' >&2
  if [ -z "${DRY_RUN:-}" ]; then "$@"; fi
}
"#;

const TAKE: &str = r#"
# Copies files into a folder; reports missing ones.
take() {
  into=$1
  shift
  for file in "$@"; do
    if [ -n "${DRY_RUN:-}" ] || [ -e "$file" ]; then
      run cp -R -- "$file" "$into/"
    else
      printf 'missing: %s\n' "$file" >&2
    fi
  done
}
"#;

const KEEP: &str = r#"
# Saves a command's output in a file; continues if the command fails.
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

/// The scheduler knows the machines only when the job runs; a dry run, which may be elsewhere, does not query it.
const MACHINES: &str = r#"
# The job's machines, one per line.
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
# All machines in MPI's format, each with its number of processes.
hosts() {
  machines | sed "s/\$/:$1/" | paste -s -d , -
}
"#;

const JOB_PORT: &str = r#"
# A port unique to this job, for jobs that share a machine; outside a job, the given port.
job_port() {
  job=${SLURM_JOB_ID:-${PBS_JOBID:-}}
  job=${job%%[!0-9]*}
  if [ -n "$job" ]; then echo $((20000 + (10#$job + ${PBS_ARRAY_INDEX:-0}) % 10000)); else echo "$1"; fi
}
"#;

const NEWEST: &str = r#"
# The newest file in a folder whose name matches a pattern, if any.
newest() {
  { find "$1" -type f -name "$2" -printf '%T@ %p\n' 2>/dev/null || true; } | sort -n | tail -n 1 | cut -d ' ' -f 2-
}
"#;

const REQUEUE: &str = r#"
# Slurm signals this script shortly before the time limit; the job then returns to the queue.
trap 'scontrol requeue "$SLURM_JOB_ID"' USR1
"#;

/// The script, with few comments: the purpose of each command. Always bash; Slurm and PBS read their directives from
/// its comments.
pub fn render(plan: &Plan) -> String {
    Rendering { explained: false }.script(plan)
}

/// The same script with the reason and the source of each variable, flag and directive.
pub fn explained(plan: &Plan) -> String {
    Rendering { explained: true }.script(plan)
}

/// How a script is written.
struct Rendering {
    explained: bool,
}

impl Rendering {
    fn script(&self, plan: &Plan) -> String {
        let scheduler = plan.scheduler;
        let mut out = format!("{}\n", if loads_modules(plan) { LOGIN } else { SHELL });
        if let Some((mark, source)) = mark(scheduler) {
            if self.explained {
                comment(&mut out, &format!("Resources of the job: {source}"));
            }
            for flag in directives(&plan.resources, scheduler) {
                if self.explained {
                    reason_of(&mut out, "", &flag, source);
                }
                let _ = writeln!(out, "{mark} {}", flag.words);
            }
            out.push('\n');
        }
        plan.warnings.iter().for_each(|warning| comment(&mut out, &format!("Warning: {warning}")));
        comment(&mut out, &plan.title);
        let word = if scheduler == Scheduler::Bash { "Start" } else { "Submit" };
        comment(&mut out, &format!("{word}: {}", plan.start));
        if self.explained {
            plan.notes.iter().for_each(|note| comment(&mut out, note));
        }
        plan.arithmetic.iter().for_each(|line| comment(&mut out, line));
        if self.explained && !plan.monitors.is_empty() {
            comment(&mut out, "Monitoring, in a second terminal:");
            for monitor in &plan.monitors {
                comment(&mut out, &format!("  {}  ({})", monitor.command, monitor.why));
            }
        }
        self.function(&mut out, OPENING);
        if plan.steps.iter().any(|step| matches!(step, Step::Take { .. })) {
            self.function(&mut out, TAKE);
        }
        if plan.steps.iter().any(|step| matches!(step, Step::Keep { .. })) {
            self.function(&mut out, KEEP);
        }
        self.functions(&mut out, plan);
        let requeues = plan.resources.requeue && scheduler == Scheduler::Slurm;
        if requeues {
            self.function(&mut out, REQUEUE);
        }
        if scheduler == Scheduler::Pbs {
            self.function(&mut out, "\n# PBS starts jobs in the home folder.\ncd \"${PBS_O_WORKDIR:-.}\"\n");
        }
        let last = plan.steps.iter().rposition(|step| matches!(step, Step::Run { .. }));
        let mut was_set = false;
        for (at, step) in plan.steps.iter().enumerate() {
            let is_set = matches!(step, Step::Set(_));
            if self.explained || !(was_set && is_set) {
                out.push('\n');
            }
            was_set = is_set;
            let waits = requeues && last == Some(at);
            self.step(&mut out, step);
            if waits {
                // bash handles a signal only between commands, so the last one runs in the background.
                out.truncate(out.trim_end().len());
                out.push_str(" &\nwait \"$!\"\n");
            }
        }
        out
    }

    /// The script's own lines, with their comments if all comments are requested.
    fn function(&self, out: &mut String, text: &str) {
        for line in text.split_inclusive('\n').filter(|line| self.explained || !line.starts_with("# ")) {
            out.push_str(line);
        }
    }

    fn reason(&self, out: &mut String, why: &str, source: &str) {
        if self.explained {
            reason(out, why, source);
        }
    }
    /// The functions that the plan's words use.
    fn functions(&self, out: &mut String, plan: &Plan) {
        let parts = plan.steps.iter().flat_map(|step| match step {
            Step::Set(setting) => std::slice::from_ref(&setting.value),
            Step::Run { argv, .. } => argv,
            Step::Source { .. } | Step::Require { .. } | Step::Take { .. } | Step::Keep { .. } => &[],
        });
        let parts: Vec<&Part> = parts.flat_map(|word| &word.0).collect();
        let first = parts.contains(&&Part::FirstHost);
        let all = parts.iter().any(|part| matches!(part, Part::Hosts(_)));
        if first || all {
            let list = match plan.scheduler {
                // The file has a line for each process.
                Scheduler::Pbs => r#"awk '!seen[$0]++' "$PBS_NODEFILE""#,
                Scheduler::Bash | Scheduler::Slurm => r#"scontrol show hostnames "$SLURM_JOB_NODELIST""#,
            };
            self.function(out, &MACHINES.replace("LIST", list));
        }
        if first {
            self.function(out, FIRST_HOST);
        }
        if all {
            self.function(out, HOSTS);
        }
        if parts.iter().any(|part| matches!(part, Part::JobPort(_))) {
            self.function(out, JOB_PORT);
        }
        if parts.iter().any(|part| matches!(part, Part::Newest(..))) {
            self.function(out, NEWEST);
        }
    }

    fn step(&self, out: &mut String, step: &Step) {
        match step {
            Step::Source { files, unless, why, source } => {
                self.reason(out, why, source);
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
                self.reason(out, &setting.why, &setting.source);
                // Quotes in a value are part of a file name here, not of a command that is split later.
                let has_quotes = |part: &Part| matches!(part, Part::Text(text) if text.contains(['"', '\'', '\\']));
                let quotes = setting.value.0.iter().any(has_quotes);
                let (name, value) = (&setting.name, setting.value.quoted());
                let runs = |part: &Part| !matches!(part, Part::Text(_) | Part::Variable(_) | Part::Any);
                if quotes {
                    let _ = write!(
                        out,
                        "# shellcheck disable=SC2089\n{name}={value}\n# shellcheck disable=SC2090\nexport {name}\n"
                    );
                } else if setting.value.0.iter().any(runs) {
                    // A failed assignment stops a script, a failed `export` does not.
                    let _ = write!(out, "{name}={value}\nexport {name}\n");
                } else {
                    let _ = writeln!(out, "export {name}={value}");
                }
            }
            Step::Run { argv, flags, why, source } => {
                comment(out, why);
                if self.explained {
                    if !source.is_empty() {
                        comment(out, source);
                    }
                    for flag in flags {
                        reason_of(out, &format!("  {}: ", flag.words), flag, source);
                    }
                }
                command(out, "run", argv);
            }
            Step::Take { file, into, why, source } => {
                self.reason(out, why, source);
                command(out, "take", [into, file]);
            }
            Step::Keep { argv, file, why, source } => {
                self.reason(out, why, source);
                command(out, "keep", std::iter::once(file).chain(argv));
            }
        }
    }
}

fn loads_modules(plan: &Plan) -> bool {
    let is_module = |argv: &[Word]| argv.first().is_some_and(|word| *word == Word::from("module"));
    plan.steps.iter().any(|step| matches!(step, Step::Run { argv, .. } if is_module(argv)))
}

/// A call of one of the script's own functions, on as many lines as necessary.
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

/// The reason for a flag; its source too if it differs from the common one.
fn reason_of(out: &mut String, before: &str, flag: &Flag, known: &str) {
    let source = match flag.source.as_str() {
        "" => String::new(),
        own if own == known => String::new(),
        own => format!(" ({own})"),
    };
    comment(out, &format!("{before}{}{source}", flag.why));
}

/// The text on one line: a line break in it would end the comment.
fn comment(out: &mut String, text: &str) {
    let _ = writeln!(out, "# {}", text.replace(|c: char| c.is_control(), " "));
}
