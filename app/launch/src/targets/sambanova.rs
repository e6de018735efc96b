//! SambaNova: compile, then run what was compiled.

use super::{Draft, words};
use crate::request::{Launcher, Scheduler};
use crate::word::Word;

const DOCS: &str = "https://docs.sambanova.ai/";
const ALCF: &str = "https://github.com/argonne-lcf/user-guides";

pub(super) fn build(draft: &mut Draft<'_>) {
    let request = draft.request;
    if draft.is_setup() {
        let venv = draft.site.value(request, "venv").unwrap_or_default().to_string();
        if venv.is_empty() {
            return draft.problem("venv", "is required: folder for the virtual environment");
        }
        draft.plan.title = "Makes a virtual environment that sees SambaFlow.".into();
        let argv = words(["python", "-m", "venv", "--system-site-packages", "--", &venv]);
        return draft.run(argv, "SambaFlow's packages stay visible.", ALCF);
    }
    let nodes = request.nodes;
    let instances = request.instances.unwrap_or(nodes);
    // With four tiles of eight to a copy of the model, a device takes two.
    let most = draft.site.devices_per_node.unwrap_or(8) * 2;
    if !instances.is_multiple_of(nodes) {
        return draft.problem("instances", format!("{instances} can't be shared evenly by {nodes} machines"));
    }
    let local = instances / nodes;
    if local > most {
        return draft.problem("instances", format!("{local} on a machine that takes {most}: two for each RDU"));
    }
    if request.replicas.is_some_and(|replicas| replicas != instances) {
        return draft.problem("replicas", format!("an instance holds one copy of the model: {instances} here"));
    }
    let by_slurm = request.scheduler == Scheduler::Slurm;
    let launcher = request.launcher.unwrap_or(if by_slurm { Launcher::Srun } else { Launcher::Mpirun });
    match launcher {
        Launcher::Srun if by_slurm || instances == 1 => {}
        Launcher::Mpirun if nodes == 1 => {}
        Launcher::Mpirun => {
            return draft.problem("launcher", "several machines are written for srun: --scheduler slurm");
        }
        Launcher::Srun => return draft.problem("launcher", "srun shares out a job: --scheduler slurm"),
        _ => return draft.problem("launcher", "takes srun or mpirun for this target"),
    }
    let name = draft.site.value(request, "pef").unwrap_or("model").to_string();
    if name.starts_with('-') || name.contains('/') {
        return draft.problem("pef", "is a name, not a path");
    }
    let folder = draft.site.value(request, "output").unwrap_or("out").to_string();
    draft.plan.title = format!("Compiles, then trains. Instances: {instances}; machines: {nodes}.");
    draft.plan.arithmetic.push(format!("{nodes} machines × {local} instances = {instances}"));
    draft.samples(instances, "instances");
    draft.ask_for(local);
    draft.plan.resources.tasks_per_node = Some(local);
    draft.plan.resources.cpus_per_task = draft.site.cpus_per_node.map(|cpus| cpus / local);
    draft.activate();
    let threads = draft.site.value(request, "threads").map(str::to_string);
    if let Some(threads) = threads {
        draft.set("OMP_NUM_THREADS", threads, "Threads of the host's part of each process.", ALCF);
    }
    if instances > 1 {
        draft.set("SAMBA_CCL_NUM_WORKERS", "1", "Workers that exchange gradients.", ALCF);
    }
    let arguments = |verb: &str| {
        let mut argv = words(["python", &request.entry, verb]);
        if let Some(batch) = request.batch {
            argv.push(format!("-b={batch}").into());
        }
        argv
    };
    let own: Vec<Word> = request.args.iter().map(|arg| Word::text(arg.clone())).collect();
    let mut argv = if by_slurm { words(["srun", "--nodes=1", "--ntasks=1"]) } else { draft.prefix(local) };
    argv.extend(arguments("compile"));
    argv.push(format!("--pef-name={name}").into());
    argv.push(format!("--output-folder={folder}").into());
    if instances > 1 {
        // Two are enough at this point for any number when it runs.
        argv.extend(words(["--data-parallel", "-ws", "2"]));
    }
    argv.extend(own.iter().cloned());
    draft.run(argv, "Compiles, on the host. Again whenever the model or the batch changes.", ALCF);
    let mut argv = match launcher {
        Launcher::Srun if by_slurm => words(["srun", "--mpi=pmi2"]),
        _ if instances == 1 => draft.prefix(1),
        _ => {
            let mpirun = draft.site.mpirun.clone().unwrap_or_else(|| "mpirun".into());
            let mut argv = draft.prefix(local);
            argv.push(draft.site.word(request, &mpirun));
            argv.extend(words(["-np", &instances.to_string()]));
            argv
        }
    };
    argv.extend(arguments("run"));
    if instances > 1 {
        argv.extend(words(["--data-parallel", "--reduce-on-rdu"]));
    }
    argv.push(format!("--pef={folder}/{name}/{name}.pef").into());
    argv.extend(own);
    draft.run(argv, "Trains with the file that was compiled above.", DOCS);
}
