//! The parts of a run that are worth keeping, in one archive: results, logs, profiles and the versions it ran with.

use super::command::Command;
use super::{Draft, here};
use crate::plan::Step;
use crate::word::{Part, Word};
use tables::Collected;
use tables::Scheduler;

const TAR: &str = "https://www.gnu.org/software/tar/manual/tar.html";

impl Draft<'_> {
    pub(super) fn collect(&mut self) {
        build(self);
    }
}

fn build(draft: &mut Draft<'_>) {
    let (request, site) = (draft.request, draft.site);
    let given = draft.given();
    let own = |name: &str| given.value(name).map(str::to_string);
    let Some(results) = own("results") else {
        return draft.problem("results", "is required: folder or file that the program writes its results to");
    };
    let name = own("archive").unwrap_or_else(|| format!("portolan-{}", request.target.name()));
    if name.ends_with('/') {
        return draft.problem("archive", "must be the name of a folder and archive, without a trailing /");
    }
    if here(&name) == here(results.trim_end_matches('/')) {
        return draft.problem("archive", "is also the name of the results; choose another");
    }
    draft.plan.title = format!("Packs results, logs and versions into {name}.tar.gz.");
    draft.plan.monitors.clear();
    draft.plan.notes.push("Missing files are reported and skipped; nothing is deleted.".into());
    draft.load();
    draft.activate();
    let folder = here(&name);
    let command = Command::new(["mkdir"], "").words(["-p".into(), "--".into(), Word::path(&folder)]);
    draft.step(command, "Creates the folder.");
    take(draft, &folder, Word::path(&here(&results)), "The program's results.", "");
    let job = &draft.plan.resources.name;
    let logs = |before: &str, after: &str| {
        Word(vec![Part::Text(format!("./{job}{before}")), Part::Any, Part::Text(after.into())])
    };
    for (scheduler, log) in [(Scheduler::Slurm, logs("-", ".log")), (Scheduler::Pbs, logs(".o", ""))] {
        if site.schedulers.contains(&scheduler) {
            take(draft, &folder, log, "The jobs' logs.", "");
        }
    }
    draft.enable();
    for entry in draft.table.collect.iter() {
        of_target(draft, &folder, entry);
    }
    keep(
        draft,
        &folder,
        "python.txt",
        ["python3", "-m", "pip", "freeze"].map(Word::from).to_vec(),
        "Versions of Python's packages.",
        "",
    );
    let command = Command::new(["tar"], TAR)
        .flag(["-czf".into(), Word::path(&format!("{folder}.tar.gz"))], "compressed, to this file")
        .words(["--".into(), Word::path(&folder)]);
    draft.step(command, "Creates the archive.");
}

/// An entry of the target's table: a file, or the output of a command.
fn of_target(draft: &mut Draft<'_>, folder: &str, entry: &Collected) {
    if !draft.holds(&entry.when) {
        return;
    }
    if let Some(file) = &entry.take {
        let mut file = draft.word(file);
        if let Some(Part::Text(text)) = file.0.first_mut() {
            *text = here(text);
        }
        take(draft, folder, file, &entry.why, &entry.source);
    } else {
        let argv = entry.command.split_whitespace().map(|word| draft.word(word)).collect();
        keep(draft, folder, &entry.into, argv, &entry.why, &entry.source);
    }
}

fn take(draft: &mut Draft<'_>, folder: &str, file: Word, why: &str, source: &str) {
    draft.plan.steps.push(Step::Take { file, into: Word::path(folder), why: why.into(), source: source.into() });
}

fn keep(draft: &mut Draft<'_>, folder: &str, file: &str, argv: Vec<Word>, why: &str, source: &str) {
    let file = Word::path(&format!("{folder}/{file}"));
    draft.plan.steps.push(Step::Keep { argv, file, why: why.into(), source: source.into() });
}
