//! Processes: numbers that are read before the processes exist, and programs that don't start where they are awaited.

use super::directives::Directive;
use super::model::{Block, Model, Run, SetKind, Use, file_name};
use super::shell::Command;
use super::{Look, names};

pub(super) fn check(look: &mut Look<'_>) {
    let job = Job::of(look);
    let options: Vec<&str> = names::device_options().map(|(option, _)| option).collect();
    let none = look.directives.iter().find(|own| options.contains(&&*own.option) && own.value.ends_with(":0"));
    if let Some(at) = none.map(|directive| directive.at) {
        look.found(at, "asked-devices", "requests no device");
    } else if let Some(at) = unrequested(look, &options) {
        look.found(at, "asked-devices", "uses a device, but no directive requests one");
    }
    let model = look.model.clone();
    for used in &model.uses {
        if let Some(numbers) = names::rank(&used.name)
            && job.is_early(look, used, numbers)
        {
            let name = &used.name;
            let value = if name.starts_with("SLURM") { "0" } else { "nothing" };
            let message = format!(
                "the batch shell reads ${name} here, before the processes start: all get its value, {value}; read it in \
                 each process, e.g. srun bash -c '…' with single quotes, or in the program"
            );
            look.found(used.at, "rank-too-early", message);
        }
    }
    for run in model.runs.iter().filter(|run| !run.is_quiet()) {
        job.machines(look, run);
        job.devices(look, run);
    }
    job.left_out(look);
    job.idle(look);
    job.own_address(look);
}

/// A tool or an option for devices in a job of Slurm's whose directives select none: neither by number, nor whole machines,
/// nor machines with a feature.
fn unrequested(look: &Look<'_>, options: &[&str]) -> Option<usize> {
    let selects =
        |own: &Directive| own.is_pbs || options.contains(&&*own.option) || names::selects_devices(&own.option);
    // Without a partition, the resources are given at submission.
    if look.asked("partition").is_none() || look.directives.iter().any(selects) {
        return None;
    }
    let tools = || look.table.lint.foreign.programs.iter().chain(look.table.lint.instead.values());
    look.model.runs.iter().filter(|run| !run.is_quiet()).find_map(|run| {
        let words = &run.command.words;
        let tool = words.first().filter(|word| tools().any(|tool| tool == file_name(&word.text)));
        let listed = || {
            let mut all = run.command.options();
            all.find(|(key, value, _)| names_devices(key) && numbers_of(value).is_some()).map(|(.., word)| word)
        };
        tool.or_else(listed).map(|word| word.range.start)
    })
}

/// Whether an option is for devices.
fn names_devices(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    names::of_devices().any(|name| key.contains(name))
}

/// How many devices a list of their numbers has: `0,1`, `[0]`.
fn numbers_of(text: &str) -> Option<u64> {
    let inner = text.trim_matches(['[', ']']);
    let is_number = |part: &str| part.len() < 3 && part.parse::<u64>().is_ok();
    let is_list =
        (inner.len() < text.len() || inner.contains(',')) && inner.split(',').all(|part| is_number(part.trim()));
    is_list.then(|| inner.split(',').count() as u64)
}

/// What the directives ask for.
struct Job {
    is_job: bool,
    nodes: Option<u64>,
    /// Of the scheduler's launcher, on each machine.
    tasks_per_node: Option<u64>,
    tasks: Option<u64>,
    /// On each machine, if a directive asks for a number of them.
    devices: Option<u64>,
}

impl Job {
    fn of(look: &Look<'_>) -> Job {
        let chunks = || {
            // `select=2:ncpus=8+1:…`
            let select = look.asked("l select")?;
            let count = |chunk: &str| chunk.split(':').next().and_then(|text| text.parse::<u64>().ok()).unwrap_or(1);
            Some(select.split('+').map(count).sum())
        };
        let torque = || look.asked("l nodes")?.split(':').next()?.parse().ok();
        let nodes = look.asked_number("nodes").or_else(chunks).or_else(torque);
        let of_slurm = look.asked_number("ntasks");
        let shared =
            |tasks: u64| nodes.filter(|nodes| *nodes > 0 && tasks.is_multiple_of(*nodes)).map(|nodes| tasks / nodes);
        let tasks_per_node = look.asked_number("ntasks-per-node").or_else(|| of_slurm.and_then(shared));
        let tasks = of_slurm.or_else(|| Some(nodes? * tasks_per_node?));
        let last = |text: &str| text.rsplit(':').next().and_then(|number| number.parse::<u64>().ok());
        // After the kind and the model; a list may have other things in it.
        let of_option = |option: &str| look.asked(option).filter(|text| !text.contains(',')).and_then(last);
        let mut options = names::device_options().filter(|(_, of_node)| *of_node || nodes == Some(1));
        // `select=2:ncpus=8:ngpus=4`, `nodes=2:ppn=8:gpus=4`
        let of_pbs = || {
            let chunk = look.asked("l select").or_else(|| look.asked("l nodes"))?.split('+').next()?;
            let mut parts = chunk.split(':').filter_map(|part| part.split_once('='));
            parts.find(|(name, _)| names::is_resource(name))?.1.parse().ok()
        };
        let devices = options.find_map(|(option, _)| of_option(option)).or_else(of_pbs);
        Job { is_job: !look.directives.is_empty(), nodes, tasks_per_node, tasks, devices }
    }

    /// Whether the batch shell reads a number that differs between the processes, for a program that they run.
    fn is_early(&self, look: &Look<'_>, used: &Use, numbers: &str) -> bool {
        let model = &look.model;
        let step = &model.steps[used.step];
        if step.inner || !(self.is_job || step.starts_processes()) || self.is_single(look, numbers) {
            return false;
        }
        if step.command.documents.iter().any(|document| document.range.contains(&used.at)) {
            return false;
        }
        is_passed_on(model, used, &mut Vec::new())
    }

    /// Whether there is one of what is numbered, so that its number is 0 everywhere.
    fn is_single(&self, look: &Look<'_>, numbers: &str) -> bool {
        let several = |run: &Run| {
            let count = look.model.number(look.script, &run.command, &["-n", "--ntasks", "--ntasks-per-node"]);
            run.command.runs("srun").is_some() && count.is_some_and(|count| count > 1)
        };
        let count = match numbers {
            "node" => self.nodes,
            "local" => self.tasks_per_node,
            _ => self.tasks,
        };
        count == Some(1) && (numbers == "node" || !look.model.runs.iter().any(several))
    }

    /// A program that starts the processes of one machine: on which it runs, and how often.
    fn machines(&self, look: &mut Look<'_>, run: &Run) {
        let words = &run.command.words;
        let is_launch =
            |at: usize| words[at].text != "accelerate" || words.get(at + 1).is_some_and(|w| w.text == "launch");
        let Some(at) =
            (0..words.len()).find(|at| names::machine(file_name(&words[*at].text)).is_some() && is_launch(*at))
        else {
            return;
        };
        let name = file_name(&words[at].text).to_string();
        let Some([nodes, processes, node, meet]) = names::machine(&name) else { return };
        let place = words[at].range.start;
        let own = Command { words: words[at..].to_vec(), ..Command::default() };
        let number = |flag: &str| look.model.number(look.script, &own, &spellings(flag).each_ref().map(String::as_str));
        let has = |flags: &str| {
            let mut words = own.words.iter().map(|word| word.text.split('=').next().unwrap_or_default().to_string());
            let flags: Vec<String> = flags.split(',').flat_map(spellings).collect();
            words.any(|word| flags.contains(&word))
        };
        // Options may be in a variable, or in a file.
        let end = own.words.iter().position(|word| word.text.ends_with(".py")).unwrap_or(own.words.len());
        let is_open =
            own.words[..end].windows(2).any(|pair| pair[1].text.starts_with('$') && !pair[0].text.starts_with('-'))
                || has("--config_file");
        let starter = words[..at].iter().position(|word| names::starts(file_name(&word.text)));
        let is_started = run.tasks || starter.is_some();
        let by_srun = starter.filter(|starter| file_name(&words[*starter].text) == "srun");
        let outer = Command { words: words[by_srun.unwrap_or(at)..at].to_vec(), ..Command::default() };
        let of_srun = |flags: &[&str]| look.model.number(look.script, &outer, flags);
        let machines = of_srun(&["-N", "--nodes"]).or(self.nodes);
        let (awaited, processes) = (number(nodes), number(processes));
        let looped = look.model.steps[run.step].block.looped.is_some();
        if let (Some(machines), Some(processes), Some(_)) = (machines, processes, by_srun)
            && name != "accelerate"
        {
            let tasks = of_srun(&["-n", "--ntasks"]).map(|tasks| tasks / machines.max(1));
            let tasks = of_srun(&["--ntasks-per-node"]).or(tasks).or(self.tasks_per_node).unwrap_or(1);
            if tasks > 1 && processes > 1 {
                let message = format!(
                    "srun starts {name} {tasks} times on each machine, and each starts {processes} processes; start one \
                     per machine: srun --ntasks-per-node=1"
                );
                return look.found(place, "started-twice", message);
            }
        }
        let devices = self.devices.map(|devices| devices.max(1) * look.table.lint.parts.unwrap_or(1));
        if let (Some(processes), Some(devices)) = (processes, devices)
            && processes > devices
            && name != "accelerate"
        {
            let device = &look.table.device;
            let message =
                format!("starts {processes} processes on each machine, where the job has {devices} × {device}");
            look.found(place, "processes", message);
        }
        let Some(machines) = machines.filter(|machines| *machines > 1 && !looped) else {
            if let (Some(1), Some(awaited), true) = (machines, awaited, !looped)
                && awaited > 1
            {
                look.found(place, "machines", format!("waits for {awaited} machines; the job has one"));
            }
            return;
        };
        if !is_started {
            let message =
                format!("runs on the first of {machines} machines only; start it with srun --ntasks-per-node=1");
            // A function may run anywhere.
            let is_called = look.model.steps[run.step].block.function;
            if !is_called && awaited != Some(1) && look.directives.iter().all(|directive| !directive.is_pbs) {
                look.found(place, "first-machine", message);
            }
            return;
        }
        if let Some(awaited) = awaited.filter(|awaited| *awaited != machines && *awaited > 1) {
            return look.found(place, "machines", format!("waits for {awaited} machines; the job has {machines}"));
        }
        if is_open || by_srun.is_none() {
            return;
        }
        if !has(nodes) {
            let message = format!("without {nodes}, each of the {machines} machines trains a separate model");
            look.found(place, "machines", message);
        } else if !has(meet) {
            let option = meet.split(',').next().unwrap_or_default();
            look.found(
                place,
                "meeting",
                format!("without {option}, each machine waits for the others at its own address"),
            );
        } else if !has(node) && !has("--rdzv_backend") {
            let message = format!("without {node}, all machines have the number 0; add {node}, or --rdzv_backend c10d");
            look.found(place, "meeting", message);
        }
    }

    /// A program's list of devices: `--gpus 0,1,2,3`.
    fn devices(&self, look: &mut Look<'_>, run: &Run) {
        let Some(devices) = self.devices.filter(|_| look.model.trains(run.step)) else { return };
        let devices = devices * look.table.lint.parts.unwrap_or(1);
        for (_, value, word) in run.command.options().filter(|(key, ..)| names_devices(key)) {
            if let Some(named) = numbers_of(value).filter(|named| *named > 1 && *named > devices) {
                let device = &look.table.device;
                let message = format!("names {named} devices; the job has {devices} × {device} on each machine");
                look.found(word.range.start, "processes", message);
            }
        }
    }

    /// A launcher that starts fewer processes than the job has machines.
    fn idle(&self, look: &mut Look<'_>) {
        let Some(machines) = self.nodes.filter(|nodes| *nodes > 1) else { return };
        let starter = |run: &Run| run.command.words.iter().position(|word| names::starts(file_name(&word.text)));
        let mut starts =
            look.model.runs.iter().filter(|run| !run.is_quiet()).filter_map(|run| Some((run, starter(run)?)));
        let (Some((run, at)), None) = (starts.next(), starts.next()) else { return };
        let words = &run.command.words;
        let is_other = |text: &str| text == ":" || text.starts_with("-m") || names::spreads(text);
        if look.model.steps[run.step].block != Block::default() || words.iter().any(|word| is_other(&word.text)) {
            return;
        }
        let own = Command { words: words[at..].to_vec(), ..Command::default() };
        let Some(count) = look.model.number(look.script, &own, &["-n", "-np", "--np", "--ntasks"]) else { return };
        if count < machines {
            let place = words[at].range.start;
            look.found(place, "machines", format!("starts processes on {count} of {machines} machines at most"));
        }
    }

    /// Each machine understands `localhost` as itself.
    fn own_address(&self, look: &mut Look<'_>) {
        let Some(machines) = self.nodes.filter(|nodes| *nodes > 1) else { return };
        let is_own = |text: &str| ["localhost", "127.0.0.1"].contains(&text.trim_matches(['"', '\'', '}']));
        let mut found = Vec::new();
        for set in look.model.sets.iter().filter(|set| set.kind != SetKind::Prefix) {
            // The branch may be the one for a single machine.
            if look.model.steps[set.step].block.branched {
                continue;
            }
            let value: String = set.value.iter().flatten().map(|piece| &look.script[piece.range.clone()]).collect();
            let is_default =
                value.split_once(":-").or_else(|| value.split_once(":=")).is_some_and(|(_, to)| is_own(to));
            let reaches = |used: &Use| {
                let step = &look.model.steps[used.step];
                used.at > set.at && (step.tasks || step.starts_processes()) && !step.is_quiet()
            };
            let by_name = set.name == "MASTER_ADDR" && set.kind == SetKind::Exported;
            if (is_own(&value) || is_default) && (by_name || look.model.uses_of(&set.name).any(reaches)) {
                found.push(set.at);
            }
        }
        for at in found {
            let message =
                format!("each of the {machines} machines understands localhost as itself: use the first one's name");
            look.found(at, "meeting", message);
        }
    }

    /// A program that nothing starts on the other machines.
    fn left_out(&self, look: &mut Look<'_>) {
        let Some(machines) = self.nodes.filter(|nodes| *nodes > 1) else { return };
        let is =
            |run: &Run, known: &dyn Fn(&str) -> bool| run.command.words.iter().any(|word| known(file_name(&word.text)));
        let spreads = |name: &str| {
            names::starts(name) || names::machine(name).is_some() || names::spreads(name) || name.ends_with(".sh")
        };
        if look.model.runs.iter().any(|run| is(run, &spreads)) {
            return;
        }
        let trains = |run: &&Run| is(run, &|name| name.starts_with("python")) && is(run, &|name| name.ends_with(".py"));
        if let Some(run) = look.model.runs.iter().filter(|run| !run.is_quiet()).rfind(trains) {
            let message = format!("runs on the first of {machines} machines only: nothing starts it on the others");
            look.found(run.command.words[0].range.start, "first-machine", message);
        }
    }
}

/// `--node_rank` and `--node-rank`.
fn spellings(flag: &str) -> [String; 2] {
    [flag.to_string(), flag.replace('_', "-")]
}

/// So many variables are followed.
const MOST: usize = 100;

/// Whether the value reaches a program: in its words or its environment.
fn is_passed_on(model: &Model, used: &Use, seen: &mut Vec<usize>) -> bool {
    let step = &model.steps[used.step];
    let words = &step.command.words;
    let in_word = |at: usize| words.iter().any(|word| word.range.contains(&at) && word.range.contains(&used.at));
    let first = model.sets.partition_point(|set| set.step < used.step);
    let mut own = model.sets[first..].iter().take_while(|set| set.step == used.step);
    if let Some(set) = own.find(|set| in_word(set.at)) {
        return match set.kind {
            SetKind::Exported => true,
            SetKind::Prefix => model.trains(used.step),
            SetKind::Own => {
                let mut later = model.uses_of(&set.name).filter(|other| other.at > used.at);
                model.sets_of(&set.name).any(|other| other.kind == SetKind::Exported)
                    || later.any(|other| {
                        let is_new = seen.len() < MOST && !seen.contains(&other.at);
                        seen.push(other.at);
                        is_new && is_passed_on(model, other, seen)
                    })
            }
        };
    }
    model.trains(used.step)
}

#[cfg(test)]
mod tests {
    use crate::lint::tests;

    #[track_caller]
    fn check(script: &str, rules: &[&str]) {
        let head = "#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=4\n";
        tests::found("hpu", &format!("{head}{script}"), rules);
    }

    #[track_caller]
    fn check_machines(script: &str, rules: &[&str]) {
        tests::found("hpu", &format!("#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=1\n{script}"), rules);
    }

    #[test]
    fn numbers_of_processes_that_the_batch_shell_reads() {
        let early = |script: &str| check(script, &["rank-too-early"]);
        early("export RANK=$SLURM_PROCID\nsrun python t.py\n");
        early("RANK=$SLURM_PROCID\nexport RANK\nsrun python t.py\n");
        early("RANK=$SLURM_PROCID srun python t.py\n");
        early("srun python t.py --rank ${SLURM_PROCID}\n");
        early("R=$SLURM_PROCID\nARGS=\"--rank $R\"\nsrun python t.py $ARGS\n");
        early("srun bash -c \"RANK=$SLURM_PROCID python t.py\"\n");
        early("mpirun -n 8 python t.py --rank $OMPI_COMM_WORLD_RANK\n");
        for fine in [
            "srun bash -c 'RANK=$SLURM_PROCID python t.py'\n",
            "srun bash -c \"RANK=\\$SLURM_PROCID python t.py\"\n",
            "C=\"python t.py --rank \\$SLURM_PROCID\"\nsrun bash -c \"$C\"\n",
            "echo \"task $SLURM_PROCID\"\nsrun python t.py\n",
            "R=$SLURM_PROCID\nif [ $R = 0 ]; then echo first; fi\nsrun python t.py\n",
            "cat > run.sh <<'END'\npython t.py --rank $SLURM_PROCID\nEND\nsrun bash run.sh\n",
        ] {
            check(fine, &[]);
        }
        // With one process, all numbers are 0; in a script for each process, they are its own.
        tests::found("hpu", "#!/bin/bash\n#SBATCH -N 1 -n 1\nexport RANK=$SLURM_PROCID\nsrun python t.py\n", &[]);
        tests::found("hpu", "export RANK=$SLURM_PROCID\npython t.py\n", &[]);
        check_machines("export LOCAL_RANK=$SLURM_LOCALID\nsrun python t.py\n", &[]);
    }

    #[test]
    fn programs_of_one_machine() {
        let end = "--nnodes 2 --nproc_per_node 8 --rdzv_backend c10d --rdzv_endpoint $H:1 t.py\n";
        let torchrun = format!("H=$(hostname)\nsrun torchrun {end}");
        check_machines(&torchrun, &[]);
        check_machines(&torchrun.replace("srun ", ""), &["first-machine"]);
        check_machines(&torchrun.replace("nnodes 2", "nnodes 4"), &["machines"]);
        check_machines(&torchrun.replace("--nnodes 2 ", ""), &["machines"]);
        check_machines(&torchrun.replace("--rdzv_endpoint $H:1 ", ""), &["meeting"]);
        let fixed = torchrun.replace("--rdzv_backend c10d --rdzv_endpoint $H:1", "--master_addr $H");
        check_machines(&fixed, &["meeting"]);
        check_machines(&fixed.replace("--master", "--node_rank $1 --master"), &[]);
        check(&torchrun, &["started-twice"]);
        check(&torchrun.replace("srun", "srun --ntasks-per-node=1"), &[]);
        check(&torchrun.replace("srun", "srun -n 2"), &[]);
        check_machines(&format!("H=a\nC=\"torchrun {end}\"\necho $C\nsrun $C\n").replace("t.py\n", "t.py"), &[]);
        let devices = "#!/bin/bash\n#SBATCH -N 1 -c 8 --gres=gpu:hl225:4\ntorchrun --nproc_per_node 8 t.py\n";
        tests::found("hpu", devices, &["processes"]);
        tests::found("hpu", &devices.replace(":4", ":8"), &[]);
        tests::found("xpu", devices, &[]);
        let nothing = "#!/bin/bash\n#SBATCH -N 1 -p x\n";
        tests::found("hpu", &format!("{nothing}python t.py --gpu_ids [0,1]\n"), &["asked-devices"]);
        tests::found("hpu", &format!("{nothing}hl-smi\npython t.py\n"), &["asked-devices"]);
        tests::found("hpu", &format!("{nothing}python t.py --gpus 1\n"), &[]);
        tests::found("hpu", &format!("#SBATCH --exclusive\n{nothing}hl-smi\n"), &["no-interpreter"]);
        tests::found("hpu", "#PBS -l select=1:ngpus=1\npython /x/t.py -gpus=0,1\n", &["processes"]);
        tests::found("hpu", "#PBS -l select=4\nmpiexec -n 1 python /x/t.py\n", &["machines"]);
        check_machines("export MASTER_ADDR=localhost\nsrun python t.py\n", &["meeting"]);
        check_machines("H=${H:-localhost}\nsrun python t.py --host $H\n", &["meeting"]);
        let single = "export MASTER_ADDR=localhost\n";
        check_machines(&format!("if [ $N = 1 ]; then\n{single}fi\nsrun python t.py\n"), &[]);
        check_machines("python t.py\n", &["first-machine"]);
        check_machines("python prepare.py\nsrun python t.py\n", &[]);
        check_machines("for n in a b; do ssh $n python t.py; done\n", &[]);
        tests::found("hpu", "#!/bin/bash\n#SBATCH -N 1\ntorchrun --nnodes=2 t.py\n", &["machines"]);
    }
}
