//! What is worth keeping of a run, in one archive: results, logs, profiles and the versions it ran with.

use super::command::Command;
use super::{Draft, here};
use crate::plan::Step;
use crate::request::{Scheduler, Target};
use crate::word::{Part, Word};

const TAR: &str = "https://www.gnu.org/software/tar/manual/tar.html";

pub(super) fn build(draft: &mut Draft<'_>) {
    let (request, site) = (draft.request, draft.site);
    let own = |name: &str| site.value(request, name).map(str::to_string);
    let Some(results) = own("results") else {
        return draft.problem("results", "is required: folder or file that the program writes its results to");
    };
    let name = own("archive").unwrap_or_else(|| format!("portolan-{}", request.target.name()));
    if name.ends_with('/') {
        return draft.problem("archive", "is a name for a folder and an archive, without / at its end");
    }
    if here(&name) == here(results.trim_end_matches('/')) {
        return draft.problem("archive", "is the name of the results: take another for the copy");
    }
    draft.plan.title = format!("Puts results, logs and versions into {name}.tar.gz.");
    draft.plan.monitors.clear();
    draft.plan.notes.push("What is not there is named and left out; nothing is deleted.".into());
    draft.activate();
    let folder = here(&name);
    let command = Command::new(["mkdir"], "").words(["-p", "--", &folder]);
    draft.step(command, "A folder for all of it.");
    take(draft, &folder, Word::text(here(&results)), "What the program wrote.", "");
    let job = &draft.plan.resources.name;
    let logs = |before: &str, after: &str| {
        Word(vec![Part::Text(format!("./{job}{before}")), Part::Any, Part::Text(after.into())])
    };
    for (scheduler, log) in [(Scheduler::Slurm, logs("-", ".log")), (Scheduler::Pbs, logs(".o", ""))] {
        if site.schedulers.contains(&scheduler) {
            take(draft, &folder, log, "What jobs printed.", "");
        }
    }
    match request.target {
        Target::Hpu => gaudi(draft, &folder, own("output")),
        Target::Rdu => sambanova(draft, &folder, own("output"), own("pef")),
        Target::Ipu | Target::Popdist => graphcore(draft, &folder, own("output")),
    }
    keep(draft, &folder, "python.txt", &["python3", "-m", "pip", "freeze"], "Versions of Python's packages.", "");
    let command = Command::new(["tar"], TAR)
        .flag(["-czf".into(), format!("{folder}.tar.gz").into()], "compressed, into this file")
        .words(["--", &folder]);
    draft.step(command, "One file to take away.");
}

fn gaudi(draft: &mut Draft<'_>, folder: &str, output: Option<String>) {
    const LOGS: &str =
        "https://docs.habana.ai/en/latest/PyTorch/Reference/Debugging_Guide/Debugging_with_Intel_Gaudi_Logs.html";
    const TOOL: &str = "https://docs.habana.ai/en/latest/Management_and_Monitoring/Embedded_System_Tools_Guide/System_Management_Interface_Tool.html";
    let logs = match output {
        Some(output) => Word::text(here(&format!("{output}/habana_logs"))),
        None => Word::variable("HOME").and_text("/.habana_logs"),
    };
    take(draft, folder, logs, "Logs of the driver and the compiler.", LOGS);
    keep(draft, folder, "hl-smi.txt", &["hl-smi", "-q"], "Cards, driver and firmware.", TOOL);
}

fn sambanova(draft: &mut Draft<'_>, folder: &str, output: Option<String>, pef: Option<String>) {
    const DOCS: &str = "https://docs.sambanova.ai/";
    let pef = pef.unwrap_or_else(|| "model".into());
    let below = here(&format!("{}/{pef}/{pef}", output.unwrap_or_else(|| "out".into())));
    for log in ["samba.log", "mac.log"] {
        take(draft, folder, Word::text(format!("{below}.{log}")), "Log of the compiler.", DOCS);
    }
    take(draft, folder, "/var/log/sambaflow/runtime/sn.log".into(), "Log of the runtime.", DOCS);
    let argv = ["/opt/sambaflow/bin/snfadm", "-l", "inventory"];
    keep(draft, folder, "inventory.txt", &argv, "RDUs and their state.", DOCS);
}

fn graphcore(draft: &mut Draft<'_>, folder: &str, output: Option<String>) {
    const TOOLS: &str = "https://docs.graphcore.ai/";
    super::graphcore::enable(draft);
    let reports = format!("{}/reports", output.unwrap_or_else(|| ".".into()));
    take(draft, folder, Word::text(here(&reports)), "Reports for the PopVision Graph Analyser.", TOOLS);
    keep(draft, folder, "gc-info.txt", &["gc-info", "-l"], "IPUs and the SDK's version.", TOOLS);
}

fn take(draft: &mut Draft<'_>, folder: &str, file: Word, why: &str, source: &str) {
    draft.plan.steps.push(Step::Take { file, into: folder.into(), why: why.into(), source: source.into() });
}

fn keep(draft: &mut Draft<'_>, folder: &str, file: &str, argv: &[&str], why: &str, source: &str) {
    let argv = argv.iter().map(|word| Word::from(*word)).collect();
    let file = format!("{folder}/{file}").into();
    draft.plan.steps.push(Step::Keep { argv, file, why: why.into(), source: source.into() });
}
