//! The tasks that a job of Slurm's requests: processes that share the core of one, and tasks that nothing starts.

use super::job::runs_beside;
use super::model::{Run, file_name};
use super::shell::Command;
use super::{Look, names};

pub(super) fn check(look: &mut Look<'_>) {
    let is_slurm = look.directives.iter().all(|own| !own.is_pbs && own.option != "hetjob");
    if is_slurm && !look.directives.is_empty() {
        one_core(look);
        unstarted(look);
    }
}

/// A launcher that starts several processes in a task with one core.
fn one_core(look: &mut Look<'_>) {
    let devices = || names::device_options().any(|(option, _)| look.asked(option).is_some());
    let is_one = |option: &str| look.asked(option).is_none_or(|count| count == "1");
    let is_single = is_one("ntasks") || look.asked("ntasks") == look.asked("nodes");
    // Without a partition or devices, the resources are given at submission.
    let is_open = (look.asked("partition").is_none() && !devices())
        || look.directives.iter().any(|own| names::brings_cores(&own.option));
    if is_open || !is_single || !is_one("ntasks-per-node") || !is_one("cpus-per-task") {
        return;
    }
    let started = |run: &Run| {
        let words = &run.command.words;
        let (at, option) =
            words.iter().enumerate().find_map(|(at, word)| Some((at, names::processes(file_name(&word.text))?)))?;
        let has_cores = |text: &str| text.starts_with("--cpus-per-task") || text.starts_with("-c");
        // On several machines, this option counts the processes of all of them.
        let is_total = words[at].text == "accelerate" && !is_one("nodes");
        if run.is_quiet() || is_total || words[..at].iter().any(|word| has_cores(&word.text)) {
            return None;
        }
        let own = Command { words: words[at..].to_vec(), ..Command::default() };
        let count = look.model.number(look.script, &own, &[option, &option.replace('_', "-")])?;
        (count > 1).then_some((words[at].range.start, count))
    };
    if let Some((at, count)) = look.model.runs.iter().find_map(started) {
        let message = format!(
            "starts {count} processes on one core, which is what a task has without --cpus-per-task: request \
             --cpus-per-task={count} or more, unless this partition gives cores with its devices"
        );
        look.found(at, "cores", message);
    }
}

/// Tasks of a job that runs its programs without a launcher.
fn unstarted(look: &mut Look<'_>) {
    let number =
        |option: &'static str| look.asked_number(option).filter(|count| *count > 1).map(|count| (option, count));
    // On several machines, a program that nothing starts there is reported.
    let several = number("nodes").is_some() || look.asked("nodes").is_some_and(|nodes| nodes.contains('-'));
    let Some((option, tasks)) = number("ntasks-per-node").or_else(|| number("ntasks")).filter(|_| !several) else {
        return;
    };
    let starts = |name: &str| {
        let is_other = name.ends_with(".sh") || ["xargs", "make", "bash", "sh"].contains(&name);
        names::starts(name) || names::processes(name).is_some() || names::spreads(name) || is_other
    };
    let is_other = |run: &Run| {
        let words = &run.command.words;
        words.iter().any(|word| starts(file_name(&word.text))) || words[0].text.starts_with(['$', '.'])
    };
    let mut runs = look.model.runs.iter().filter(|run| !run.is_quiet());
    let reads_number = look.script.contains("TASKS") || look.script.contains("NPROCS");
    if reads_number || look.script.lines().any(runs_beside) || runs.clone().any(is_other) {
        return;
    }
    let is_python = |text: &str| file_name(text).starts_with("python");
    let trains = |run: &Run| run.command.words.windows(2).any(|pair| is_python(&pair[0].text) && pair[1].text != "-c");
    let own = look.directives.iter().rfind(|own| own.option == option).map(|own| own.at);
    // A comment may say that cores are meant, which a process has where all are on one machine.
    let means_cores = |at: &usize| {
        let line = look.script[*at..].lines().next().unwrap_or_default().to_lowercase();
        line[1..].split_once('#').is_some_and(|(_, comment)| comment.contains("core") || comment.contains("cpu"))
    };
    if let Some(at) = own.filter(|at| !means_cores(at)).filter(|_| runs.any(trains)) {
        let cores = tasks.saturating_mul(look.asked_number("cpus-per-task").unwrap_or(1));
        let message = format!(
            "--{option}={tasks}, and nothing starts {tasks} tasks: this script's programs run once. If one process needs \
             their cores: --{option}=1 --cpus-per-task={cores}; programs that read the number of tasks, as Lightning \
             does, refuse it or wait for the others"
        );
        look.found(at, "tasks", message);
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::tests::found;

    #[test]
    fn processes_on_one_core() {
        let job = "#!/bin/bash\n#SBATCH -p x -N 1 --gres=gpu:8\n";
        let check = |script: &str, rules: &[&str]| found("hpu", &format!("{job}{script}"), rules);
        for start in [
            "N=8\nsrun torchrun --nproc-per-node $N t.py\n",
            "#SBATCH -n 1 -c 1\npython -m torch.distributed.launch --nproc_per_node=8 t.py\n",
            "accelerate launch --num_processes 8 t.py\n",
            "deepspeed --num_gpus=8 t.py\n",
        ] {
            check(start, &["cores"]);
        }
        for fine in [
            "#SBATCH -c 32\ntorchrun --nproc_per_node 8 t.py\n",
            "#SBATCH -n 8\ntorchrun --nproc_per_node 8 t.py\n",
            "#SBATCH --exclusive\ntorchrun --nproc_per_node 8 t.py\n",
            "#SBATCH --cpus-per-gpu=4\ntorchrun --nproc_per_node 8 t.py\n",
            "srun -c 32 torchrun --nproc_per_node 8 t.py\n",
            "torchrun --nproc_per_node 1 t.py\ntorchrun --nproc_per_node $1 t.py\n",
            "echo torchrun --nproc_per_node 8 t.py\n",
        ] {
            check(fine, &[]);
        }
        found("hpu", "#SBATCH -J x\ntorchrun --nproc_per_node 8 t.py\n", &[]);
        let two = "#SBATCH -p x -N 2 -n 2\nsrun accelerate launch --machine_rank $1 --num_machines 2 --num_processes 8 \
                   --main_process_ip $1 t.py\n";
        found("hpu", two, &[]);
        found("hpu", "#PBS -l select=1\ntorchrun --nproc_per_node 8 /x/t.py\n", &[]);
    }

    #[test]
    fn tasks_that_nothing_starts() {
        let job = "#!/bin/bash\n#SBATCH --ntasks-per-node=4\n";
        let check = |script: &str, rules: &[&str]| found("hpu", &format!("{job}{script}"), rules);
        check("python t.py\n", &["tasks"]);
        check("#SBATCH -N 1\nmodule load x\nA=1 python3 -u $1\n", &["tasks"]);
        for fine in [
            "srun python t.py\n",
            "torchrun --nproc_per_node 4 t.py\n",
            "python t.py --workers $SLURM_NTASKS\n",
            "for i in 1 2; do python t.py $i & done\nwait\n",
            "ls | xargs -P 4 python t.py\n",
            "./run.sh\npython t.py\n",
            "$RUN python t.py\n",
            "python -c 'x'\n",
            "#SBATCH -N 1-2\npython t.py\n",
            "#SBATCH --ntasks-per-node=4\t# CPU cores\npython t.py\n",
        ] {
            let twice = if fine.contains("CPU") { &["directive-twice"][..] } else { &[] };
            check(fine, twice);
        }
        check("#SBATCH -N 2\npython t.py\n", &["first-machine"]);
        found("hpu", "#SBATCH -n 1\npython t.py\n", &[]);
    }
}
