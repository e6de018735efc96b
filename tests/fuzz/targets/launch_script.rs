//! Other people's launch scripts: mistakes are reported with lines of the script, and a fixed script is still a script.

use super::{Mutator, Target, Ways, chosen, shell};
use crate::fuzz::seeds::Seed;
use launch::{Request, Scheduler, lint, plan, render, sites};

pub(super) const TARGET: Target = Target { name: "launch_script", check, seeds, mutator: Mutator::Bytes, short: 200 };

/// The scripts that the engine itself writes.
fn seeds() -> Vec<Seed> {
    let mut seeds = Vec::new();
    for target in launch::Target::all() {
        for site in sites().iter().filter(|site| site.targets.iter().any(|name| name == target.name())) {
            for scheduler in Scheduler::ALL {
                let mut request = Request::new(target, "train.py");
                (request.scheduler, request.instances, request.args) = (scheduler, Some(2), vec!["--epochs=3".into()]);
                let plan = plan(&request, site).ok().map(|plan| render(&plan));
                let name = format!("{}-{}-{}.sh", target.name(), site.name, scheduler.name());
                seeds.extend(plan.map(|script| (name, script.into_bytes())));
            }
        }
    }
    seeds
}

fn check(input: &[u8], ways: Ways) {
    let script = String::from_utf8_lossy(input);
    let lines: Vec<&str> = script.split_inclusive('\n').collect();
    let all: Vec<launch::Target> = launch::Target::all().collect();
    for target in chosen(&all, input, ways) {
        let linted = lint(&script, target);
        for finding in &linted.findings {
            let inside = (1..=lines.len().max(1)).contains(&finding.line);
            assert!(inside && finding.message.len() > 10, "{finding:?} of {} lines", lines.len());
        }
        let (mut mended, mut at) = (String::new(), 0);
        for hunk in &linted.hunks {
            let first = if hunk.old.is_empty() { hunk.line } else { hunk.line - 1 };
            assert!(at <= first, "hunks that overlap");
            mended.extend(lines[at..first].iter().copied());
            let end = first + hunk.old.len();
            assert_eq!(lines[first..end].concat(), hunk.old.concat(), "the old lines of a hunk");
            mended += &hunk.new.concat();
            at = end;
        }
        mended.extend(lines[at..].iter().copied());
        assert_eq!(mended, linted.fixed, "the hunks lead to the mended script");
        // One fix may enable another, but then it converges.
        let mut fixed = linted.fixed.clone();
        let settles = (0..4).any(|_| {
            let again = lint(&fixed, target).fixed;
            std::mem::replace(&mut fixed, again) == fixed
        });
        assert!(settles, "mending that does not end");
        if linted.fixed != *script && !script.contains('\0') && shell::reads(&script) {
            assert!(shell::reads(&linted.fixed), "bash read the script, and not what was mended");
        }
    }
}
