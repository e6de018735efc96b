//! SambaNova: compile, then run what was compiled.

use super::command::Command;
use super::{Draft, count};
use crate::plan::Step;
use crate::request::{Launcher, Scheduler};

const RUNS: &str = "https://github.com/BruceRayWilsonAtANL/CosmicTagger";
const SRUN: &str = "https://slurm.schedmd.com/srun.html";
const ALCF: &str = "https://github.com/argonne-lcf/user-guides";

pub(super) fn build(draft: &mut Draft<'_>) {
    let request = draft.request;
    if request.profile {
        return draft
            .problem("profile", "SambaTune profiles with a file of its own; the script's notes name the command");
    }
    if request.alone {
        let message = "nothing in the program reads SambaFlow's options, so it knows neither compile nor run: port it to \
                       rdu first";
        draft.problem("entry", message);
    }
    let nodes = request.nodes;
    let instances = request.instances.unwrap_or(nodes);
    // With four tiles of eight to a copy of the model, a device takes two.
    let devices = draft.site.devices_per_node.unwrap_or(8);
    let most = devices.saturating_mul(2);
    if !instances.is_multiple_of(nodes) {
        let message = format!("{} can't be shared evenly by {nodes} machines", count(instances, "instance"));
        return draft.problem("instances", message);
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
    draft.plan.title =
        format!("Compiles, then trains: {} on {}.", count(instances, "instance"), count(nodes, "machine"));
    let (machines, each, all) = (count(nodes, "machine"), count(local, "instance"), count(instances, "instance"));
    draft.plan.arithmetic.push(format!("{machines} × {each} = {all}, one training"));
    draft.samples(instances, "instance");
    draft.ask_for(local);
    draft.plan.resources.tasks_per_node = Some(local);
    draft.plan.resources.cpus_per_task = draft.site.cpus_per_node.map(|cpus| (cpus / local).max(1));
    draft
        .plan
        .notes
        .push("Log of the runtime: /var/log/sambaflow/runtime/sn.log; of the compiler: beside the PEF.".into());
    let note =
        "Profile: sambatune --modes benchmark instrument run -- FILE.yaml, with a file that describes the program.";
    draft.plan.notes.push(note.into());
    draft.activate();
    draft.site_settings();
    let threads = draft.site.value(request, "threads").map(str::to_string);
    if let Some(threads) = threads {
        draft.set("OMP_NUM_THREADS", threads, "Threads of the host's part of each process.", ALCF);
    }
    if instances > 1 {
        draft.set("SAMBA_CCL_NUM_WORKERS", "1", "Workers that exchange gradients.", RUNS);
    }
    let halves = local > devices;
    if request.compiled {
        draft.plan.title = draft.plan.title.replace("Compiles, then trains", "Trains with what was compiled before");
    } else {
        compile(draft, &name, &folder, local, halves);
    }
    train(draft, launcher, &name, &folder, local);
}

pub(super) fn set_up(draft: &mut Draft<'_>, venv: &str) {
    draft.plan.title = "Makes a virtual environment that sees SambaFlow.".into();
    let command = Command::new(["python", "-m", "venv"], ALCF)
        .flag(["--system-site-packages".into()], "SambaFlow's packages stay visible")
        .words(["--", venv]);
    draft.step(command, "A folder for the project's own packages.");
}

/// `python PROGRAM compile` or `run`, and the batch, which both must agree on.
fn program(draft: &Draft<'_>, command: Command, verb: &str) -> Command {
    let command = command.words(["python", &draft.request.entry, verb]);
    match draft.request.batch {
        Some(batch) => {
            command.flag([format!("-b={batch}").into()], "samples of an instance; compile and run must agree")
        }
        None => command,
    }
}

fn with_args(draft: &Draft<'_>, command: Command) -> Command {
    draft.request.args.iter().fold(command, |command, arg| command.word(arg.clone()))
}

fn compile(draft: &mut Draft<'_>, name: &str, folder: &str, local: u32, halves: bool) {
    let command = if draft.request.scheduler == Scheduler::Slurm {
        Command::new(["srun"], ALCF).flag_of(["--nodes=1".into(), "--ntasks=1".into()], "once, not on every task", SRUN)
    } else {
        Command::after(draft.prefix(local), ALCF)
    };
    let mut command = program(draft, command, "compile")
        .flag([format!("--pef-name={name}").into()], "name of what is compiled")
        .flag([format!("--output-folder={folder}").into()], "it lies below this folder, in one of its own name");
    if draft.plan.steps.iter().any(|step| matches!(step, Step::Set(setting) if setting.name == "SAMBA_CCL_NUM_WORKERS"))
    {
        command = command
            .flag(["--data-parallel".into()], "for several instances")
            .flag(["-ws".into(), "2".into()], "2 is enough at this point for any number when it runs");
    }
    if halves {
        command = command
            .flag(["--num-tiles".into(), "4".into()], "half of an RDU's eight tiles, for two instances share one");
    }
    let command = with_args(draft, command);
    draft.step(command, "Compiles, on the host. Again whenever the model or the batch changes.");
}

fn train(draft: &mut Draft<'_>, launcher: Launcher, name: &str, folder: &str, local: u32) {
    let request = draft.request;
    let instances = local * request.nodes;
    let command = match launcher {
        Launcher::Srun if request.scheduler == Scheduler::Slurm => {
            Command::new(["srun"], ALCF).flag(["--mpi=pmi2".into()], "how the processes find one another")
        }
        _ if instances == 1 => Command::after(draft.prefix(1), ALCF),
        _ => {
            let mpirun = draft.site.mpirun.clone().unwrap_or_else(|| "mpirun".into());
            Command::after(draft.prefix(local), ALCF).word(draft.site.word(request, &mpirun)).flag_of(
                ["-np".into(), instances.to_string().into()],
                "processes, one for each instance",
                RUNS,
            )
        }
    };
    let mut command = program(draft, command, "run");
    if instances > 1 {
        command = command
            .flag(["--data-parallel".into()], "all instances are one training")
            .flag(["--reduce-on-rdu".into()], "their gradients are added up on the RDUs");
    }
    let pef = format!("--pef={folder}/{name}/{name}.pef");
    let command = with_args(draft, command.flag([pef.into()], "what was compiled"));
    draft.step(command, "Trains with the compiled file.");
}
