//! Cores that a job requests for each process, and that its processes don't get.

use super::model::{Set, SetKind, file_name};
use super::{Look, names};

pub(super) fn check(look: &mut Look<'_>) {
    not_inherited(look);
    threads(look);
}

/// More threads in each process than the job has cores.
fn threads(look: &mut Look<'_>) {
    let of_chunk = |option: &str, name: &str| {
        let mut parts = look.asked(option)?.split('+').next()?.split(':').filter_map(|part| part.split_once('='));
        parts.find(|(own, _)| *own == name)?.1.parse().ok()
    };
    let cores: Option<u64> = of_chunk("l select", "ncpus").or_else(|| of_chunk("l nodes", "ppn"));
    let cores = cores.or_else(|| look.asked_number("cpus-per-task")).filter(|_| look.asked("exclusive").is_none());
    let Some(cores) = cores else { return };
    let sets: Vec<&Set> = look.model.sets_of("OMP_NUM_THREADS").collect();
    let [Set { value: Some(value), at, kind: SetKind::Exported, .. }] = &sets[..] else { return };
    let [piece] = &value[..] else { return };
    let threads: Option<u64> = look.script[piece.range.clone()].parse().ok();
    if let Some(threads) = threads.filter(|threads| *threads > cores) {
        let shown = if cores == 1 { "one core" } else { &*format!("{cores} cores") };
        look.found(*at, "cores", format!("{threads} threads in each process, where the job has {shown}"));
    }
}

/// Since Slurm 22.05, `srun` does not inherit `--cpus-per-task` (srun(1)).
fn not_inherited(look: &mut Look<'_>) {
    let Some(cores) = look.asked_number("cpus-per-task").filter(|cores| *cores > 1) else { return };
    if look.model.sets_of("SRUN_CPUS_PER_TASK").next().is_some() {
        return;
    }
    let lost = |run: &&super::model::Run| {
        let words = &run.command.words;
        let srun = run.command.runs("srun").filter(|_| !run.is_quiet());
        let Some(srun) = srun else { return false };
        // The words before the program; a variable may have the option.
        let mut rest = words[srun + 1..].iter();
        while let Some(word) = rest.next() {
            let text = &*word.text;
            let Some(option) = text.strip_prefix('-') else {
                return !text.starts_with('$') && !names::is_short(file_name(text));
            };
            let long = option.strip_prefix('-').map(|long| long.split('=').next().unwrap_or(long));
            let name = long.unwrap_or_else(|| option.get(..1).unwrap_or(option));
            let known = names::slurm_option(name);
            if known.is_none_or(|(name, _)| name == "cpus-per-task") {
                return false;
            }
            let takes = known.is_some_and(|(_, takes)| takes) && !text.contains('=');
            if takes && (long.is_some() || option.len() == 1) {
                rest.next();
            }
        }
        false
    };
    let Some(run) = look.model.runs.iter().find(lost) else { return };
    let at = run.command.words[0].range.start;
    let message = format!(
        "srun does not inherit --cpus-per-task={cores} (since Slurm 22.05), so each process gets one core: export \
         SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK first"
    );
    look.found(at, "cores", message);
    // csh has no `export`.
    if super::words::is_csh(look.script) {
        return;
    }
    let last = look.directives.last().map_or(0, |directive| directive.at);
    let place = last + look.script[last..].find('\n').map_or(look.script.len() - last, |end| end + 1);
    look.mend(place..place, "export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK\n");
}

#[cfg(test)]
mod tests {
    use crate::lint::tests::{check, found};

    #[test]
    fn more_threads_than_cores() {
        let found = |script: &str, rules: &[&str]| found("xpu", script, rules);
        found("#PBS -l nodes=1:ppn=1\nexport OMP_NUM_THREADS=16\npython /x/t.py\n", &["cores"]);
        found("#SBATCH -c 4\nexport OMP_NUM_THREADS=8\npython t.py\n", &["cores"]);
        found("#PBS -l select=1:ncpus=16\nexport OMP_NUM_THREADS=16\npython /x/t.py\n", &[]);
        found("#SBATCH -n 4\nexport OMP_NUM_THREADS=8\nsrun python t.py\n", &[]);
    }

    #[test]
    fn cores_that_srun_does_not_inherit() {
        let head = "#!/bin/bash\n#SBATCH -n 1 -c 8\n";
        for lost in ["srun -n 1 -w $1 ray start", "srun --jobid $SLURM_JOB_ID -u bash -c 'python t.py'", "srun ./t.sh"]
        {
            let after = format!("{head}export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK\n{lost}\n");
            check("hpu", &format!("{head}{lost}\n"), &after, &["cores"]);
        }
        let fixed = format!("{head}export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK\nsrun python t.py\n");
        check("hpu", &format!("{head}srun python t.py\n"), &fixed, &["cores"]);
        for fine in [
            "srun -c 8 python t.py",
            "srun --cpus-per-task=8 bash -c 'x'",
            "srun $1 python t.py",
            "srun -w $1 hostname",
        ] {
            found("hpu", &format!("{head}{fine}\n"), &[]);
        }
        found("hpu", &format!("{head}srun -éx python t.py\n"), &[]);
        found("hpu", "#!/bin/tcsh\n#SBATCH -n 1 -c 8\nsrun python t.py\n", &["cores"]);
        found("hpu", "#!/bin/bash\n#SBATCH -n 1 -c 1\nsrun python t.py\n", &[]);
        found("hpu", "#!/bin/bash\n#SBATCH -n 1 -c 8\npython t.py\n", &[]);
    }
}
