//! A user's own site file: rejected with a reason, or usable for scripts that bash parses.

use super::{Mutator, Target, Ways, chosen, shell};
use crate::fuzz::seeds::{self, Seed};
use launch::{Request, Script, plan, read_site, render};

pub(super) const TARGET: Target = Target { name: "site_file", check, seeds, mutator: Mutator::Bytes, short: 200 };

fn seeds() -> Vec<Seed> {
    seeds::files("app/launch/sites", ".toml")
}

fn check(input: &[u8], ways: Ways) {
    let text = String::from_utf8_lossy(input);
    let site = match read_site(&text) {
        Ok(site) => site,
        Err(problem) => return assert!(problem.field == "site" && problem.message.len() > 5, "{problem:?}"),
    };
    let targets = site.targets.iter().filter_map(|name| launch::Target::named(name));
    let scripts = [Script::Train, Script::Setup, Script::Collect];
    let all: Vec<_> = targets
        .flat_map(|target| {
            site.schedulers.iter().flat_map(move |scheduler| scripts.map(|script| (target, *scheduler, script)))
        })
        .collect();
    for (target, scheduler, script) in chosen(&all, input, ways) {
        for (nodes, instances) in [(1, None), (2, Some(16))] {
            let mut request = Request::new(target, "train.py");
            (request.scheduler, request.script, request.nodes, request.instances) =
                (scheduler, script, nodes, instances);
            match plan(&request, &site) {
                Ok(plan) => {
                    let script = render(&plan);
                    assert!(shell::reads(&script), "bash does not read it:\n{script}");
                }
                Err(problems) => assert!(!problems.is_empty(), "a refusal without a reason"),
            }
        }
    }
}
