//! All scripts of a target in one archive, with a README.

use super::{Fields, OWN_SITE, SiteReader, command, site, target, text, write};
use crate::request::Script;
use tables::Scheduler;

/// Every script of the target at the site, and a README: file names and contents. The README lists scripts that can't
/// be written.
#[must_use]
pub fn all(fields: &Fields, read: SiteReader<'_>) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut read_me = String::from("# Launch scripts\n\n");
    let mut left_out = String::new();
    let mut monitors = Vec::new();
    let target = target(fields).unwrap_or_default();
    let schedulers = site(fields, read).map(|site| site.schedulers).unwrap_or_default();
    let trainings = schedulers.into_iter().map(|one| (Script::Train, one));
    // Environments are created, and results collected, outside jobs at any site.
    let by_hand = |script| std::iter::once((script, Scheduler::Bash));
    for (script, scheduler) in by_hand(Script::Setup).chain(trainings).chain(by_hand(Script::Collect)) {
        let mut fields = fields.clone();
        fields.insert("script".into(), script.name().into());
        if script == Script::Train {
            fields.insert("scheduler".into(), scheduler.name().into());
        }
        let name = script.file_name(target.name(), scheduler);
        match write(&fields, read) {
            Ok(written) => {
                let how = match scheduler {
                    Scheduler::Bash => "bash",
                    Scheduler::Slurm => "sbatch",
                    Scheduler::Pbs => "qsub",
                };
                read_me += &format!("## {name}\n\n{}\n\n    {how} {name}\n\n", written.plan.title);
                for line in &written.plan.arithmetic {
                    read_me += &format!("- {line}\n");
                }
                read_me += &format!("\nCommand-line equivalent:\n\n    {} --out {name}\n\n", command(&fields, read));
                if script == Script::Train {
                    monitors = written.plan.monitors;
                }
                files.push((name, written.script));
            }
            Err(problems) => {
                for problem in problems {
                    left_out += &format!("- {name}: {problem}\n");
                }
            }
        }
    }
    if !monitors.is_empty() {
        read_me += "## Monitoring, in a second terminal\n\n";
        for monitor in monitors {
            read_me += &format!("- `{}`: {}\n", monitor.command, monitor.why);
        }
        read_me.push('\n');
    }
    read_me += "With `DRY_RUN=1` in the environment, a script prints its commands without running them.\n";
    if let Some(own) = fields.get(OWN_SITE).filter(|_| text(fields, "site") == "own") {
        files.push(("site.toml".to_string(), own.clone()));
    }
    if !left_out.is_empty() {
        read_me += &format!("\n## Not written\n\n{left_out}");
    }
    files.insert(0, ("README.md".to_string(), read_me));
    files
}
