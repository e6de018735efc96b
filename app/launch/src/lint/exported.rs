//! Variables for programs that no program gets: set in the shell, but not exported.

use super::model::{Run, SetKind, file_name};
use super::unset::of_vendors;
use super::{Look, names};

pub(super) fn check(look: &mut Look<'_>) {
    let model = look.model.clone();
    let all = model.sets.iter().find(|set| set.name.is_empty()).map_or(usize::MAX, |set| set.at);
    let of_vendors = of_vendors();
    let of_job = |name: &str| {
        let is_pbs = look.directives.iter().any(|directive| directive.is_pbs);
        names::given("is").any(|given| given == name && !names::read_by_programs(name))
            || (is_pbs && names::of_jobs().any(|(given, _)| given == name))
    };
    // What these programs start gets their values.
    let sets_own = ["MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "LOCAL_RANK", "RANK", "NODE_RANK"];
    let trains = |run: &&Run| !run.is_quiet() && run.command.words.iter().any(|word| word.text.ends_with(".py"));
    let by_machine = |run: &Run| run.command.words.iter().any(|word| names::machine(file_name(&word.text)).is_some());
    let all_by_machine = model.runs.iter().filter(trains).all(by_machine);
    let mut found = Vec::new();
    for set in model.sets.iter().filter(|set| set.kind == SetKind::Own && set.at < all && set.value.is_some()) {
        let name = &*set.name;
        let first = name.split('_').next().unwrap_or_default();
        let is_vendors = name.contains('_') && first.len() > 2 && of_vendors.contains(first);
        let is_foreign = look.table.lint.foreign.variables.iter().any(|own| name.starts_with(&**own));
        // `$!` and the like are the shell's.
        let of_shell = look.script[set.at + name.len()..].starts_with("=$!");
        if (all_by_machine && sets_own.contains(&name))
            || of_shell
            || !(names::read_by_programs(name) || is_vendors)
            || is_foreign
            || of_job(name)
        {
            continue;
        }
        // A text for another shell reads what it is given.
        let is_used = |step: usize| {
            let step = &model.steps[step];
            !step.inner && !step.is_quiet()
        };
        let is_read = model.uses_of(name).any(|used| used.at != set.at && is_used(used.step));
        let is_passed = model.sets_of(name).any(|other| other.kind != SetKind::Own)
            || model.steps.iter().flat_map(|step| &step.command.words).any(|word| {
                // `mpirun -x NAME`, `docker run -e NAME`, `--export=ALL,NAME`.
                word.range.start > set.at
                    && super::whole(&word.text, name).next().is_some()
                    && word.sets().is_none()
                    && !word.text.contains('$')
            });
        let starts = model.steps.iter().enumerate().any(|(number, step)| {
            let at = step.command.words.first().map_or(0, |word| word.range.start);
            at > set.at && model.trains(number)
        });
        if !is_read && !is_passed && starts {
            found.push((set.at, format!("{name} is not exported, so no program gets it: export {name}=…")));
        }
    }
    for (at, message) in found {
        look.found(at, "not-exported", message);
        let is_alone =
            look.commands.iter().any(|command| matches!(&command.words[..], [word] if word.range.start == at));
        if is_alone {
            look.mend(at..at, "export ");
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::tests::{check, found};

    #[test]
    fn variables_that_no_program_gets() {
        check("hpu", "OMP_NUM_THREADS=4\npython t.py\n", "export OMP_NUM_THREADS=4\npython t.py\n", &["not-exported"]);
        found("hpu", "N=1 MASTER_PORT=2\necho $MASTER_PORT\nsrun python t.py $N\n", &["not-exported"]);
        let inner = "MASTER_ADDR=a\nsrun bash -c 'python t.py --to $MASTER_ADDR'\n";
        check("hpu", inner, &format!("export {inner}"), &["not-exported"]);
        for fine in [
            "export OMP_NUM_THREADS=4\npython t.py\n",
            "OMP_NUM_THREADS=4\nexport OMP_NUM_THREADS\npython t.py\n",
            "OMP_NUM_THREADS=4 python t.py\n",
            "set -a\nOMP_NUM_THREADS=4\npython t.py\n",
            "declare -x OMP_NUM_THREADS=4\npython t.py\n",
            "MASTER_ADDR=a\ntorchrun --standalone t.py\n",
            "MASTER_ADDR=a\ntorchrun --master_addr $MASTER_ADDR t.py\n",
            "OMP_NUM_THREADS=4\nmpirun -x OMP_NUM_THREADS python t.py\n",
            "OMP_NUM_THREADS=4\n",
            "NAME=4\npython t.py\n",
            "sleep 1 &\nFI_PID=$!\npython t.py\n",
            "SRUN_PID=1\npython t.py\n",
            "PATH=/x:$PATH\npython t.py\n",
        ] {
            found("hpu", fine, &[]);
        }
        found("hpu", "#PBS -l select=1\nOMP_NUM_THREADS=4\npython /p/t.py\n", &[]);
    }
}
