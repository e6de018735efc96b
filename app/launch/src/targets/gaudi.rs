//! Gaudi: one card, the cards of a machine, several machines, a part of a shared machine.

use super::command::Command;
use super::{Draft, count, words};
use crate::plan::Step;
use crate::request::{Launcher, Mode, Scheduler};
use crate::word::Word;

const FLAGS: &str = "https://docs.habana.ai/en/latest/PyTorch/Reference/Runtime_Flags.html";
const OLD_FLAGS: &str = "https://docs.habana.ai/en/v1.10.0/PyTorch/Reference/Runtime_Flags.html";
const EXAMPLES: &str = "https://github.com/HabanaAI/Model-References";
const LOGS: &str =
    "https://docs.habana.ai/en/latest/PyTorch/Reference/Debugging_Guide/Debugging_with_Intel_Gaudi_Logs.html";
const TENANTS: &str =
    "https://docs.habana.ai/en/latest/Orchestration/Multiple_Tenants_on_HPU/Multiple_Workloads_Single_Docker.html";
const OPTIMUM: &str = "https://huggingface.co/docs/optimum/habana/usage_guides/multi_node_training";
const TORCHRUN: &str = "https://pytorch.org/docs/stable/elastic/run.html";
const LIGHTNING: &str = "https://github.com/Lightning-AI/lightning-Habana";
const SRUN: &str = "https://slurm.schedmd.com/srun.html";
const MPIRUN: &str = "https://docs.open-mpi.org/en/main/man-openmpi/man1/mpirun.1.html";

/// The groups of modules that may share a machine.
const GROUPS: [&[u32]; 6] = [&[0, 1], &[2, 3], &[4, 5], &[6, 7], &[0, 1, 2, 3], &[4, 5, 6, 7]];

pub(super) fn build(draft: &mut Draft<'_>) {
    let request = draft.request;
    let most = draft.site.devices_per_node.unwrap_or(8);
    let nodes = request.nodes;
    let usual = match (request.modules.len(), nodes) {
        (0, 1) => 1,
        (0, nodes) => nodes * most,
        (modules, _) => u32::try_from(modules).unwrap_or(u32::MAX),
    };
    let cards = request.instances.unwrap_or(usual);
    if !cards.is_multiple_of(nodes) {
        let message = format!("{} can't be shared evenly by {nodes} machines", count(cards, "process"));
        return draft.problem("instances", message);
    }
    let local = cards / nodes;
    if local > most {
        let message =
            format!("{} on a machine of {}; one card takes one", count(local, "process"), count(most, "card"));
        return draft.problem("instances", message);
    }
    if request.replicas.is_some_and(|replicas| replicas != cards) {
        return draft.problem("replicas", format!("one card holds one copy of the model: {cards} here"));
    }
    let launcher = request.launcher.unwrap_or(match (nodes, request.scheduler) {
        (1, _) | (_, Scheduler::Pbs) => Launcher::Mpirun,
        _ => Launcher::Torchrun,
    });
    if launcher == Launcher::Srun {
        return draft.problem("launcher", "takes mpirun, torchrun, lightning or deepspeed for this target");
    }
    if !request.modules.is_empty() {
        if nodes != 1 || !GROUPS.contains(&&*request.modules) {
            return draft.problem("modules", "takes 0,1 2,3 4,5 6,7 0,1,2,3 or 4,5,6,7, on one machine");
        }
        if request.modules.len() != local as usize {
            let message = format!("{} modules for {}", request.modules.len(), count(local, "process"));
            return draft.problem("modules", message);
        }
    }
    if request.scheduler == Scheduler::Pbs && nodes > 1 && launcher != Launcher::Mpirun {
        let message = "PBS starts the script on one machine; on several only mpirun starts the others' processes";
        return draft.problem("launcher", message);
    }
    draft.joined(cards > 1 || launcher == Launcher::Deepspeed, cards);
    draft.plan.title = format!("Trains on {} of {}.", count(cards, "Gaudi card"), count(nodes, "machine"));
    let (machines, each, all) = (count(nodes, "machine"), count(local, "card"), count(cards, "process"));
    draft.plan.arithmetic.push(format!("{machines} × {each} = {all}, one training"));
    draft.samples(cards, "card");
    draft.ask_for(local);
    // One process by the usual launcher needs none. One that somebody chose is there for its variables: a program that
    // reads them stops without.
    let launcher = if cards == 1 { request.launcher } else { Some(launcher) };
    let meets = cards > 1 || matches!(launcher, Some(Launcher::Mpirun | Launcher::Torchrun));
    environment(draft, meets);
    start(draft, launcher, cards, local);
}

pub(super) fn set_up(draft: &mut Draft<'_>, venv: &str) {
    draft.plan.title = "Makes a virtual environment that sees the vendor's PyTorch.".into();
    let command = Command::new(["python3", "-m", "venv"], EXAMPLES)
        .flag(["--system-site-packages".into()], "the vendor's PyTorch stays visible; don't install another")
        .words(["--", venv]);
    draft.step(command, "A folder for the project's own packages.");
}

/// The value of `PT_HPU_LAZY_MODE` for eager: another one in old releases of Gaudi's software. None when the release
/// says nothing that can be relied on.
fn eager(release: Option<&str>) -> Option<(&'static str, &'static str)> {
    let Some(release) = release else { return Some(("0", FLAGS)) };
    let mut numbers = release.split('.').map(|part| part.parse::<u32>().ok());
    match (numbers.next().flatten()?, numbers.next().flatten()?) {
        (1, 0..=11) => Some(("2", OLD_FLAGS)),
        (1, 12) => None,
        _ => Some(("0", FLAGS)),
    }
}

fn environment(draft: &mut Draft<'_>, meets: bool) {
    let request = draft.request;
    draft.activate();
    draft.site_settings();
    let release = draft.site.value(request, "sdk").map(str::to_string);
    match (request.mode, eager(release.as_deref())) {
        (Mode::Lazy, _) => {
            let why =
                "Lazy: operations are gathered and compiled. Said here, for its default changed between releases.";
            draft.set("PT_HPU_LAZY_MODE", "1", why, FLAGS);
        }
        (Mode::Eager, Some((value, source))) => {
            let why = match value {
                "2" => "Eager: 2 in releases up to 1.11.",
                _ => {
                    "Eager, and torch.compile: 0 since release 1.13. Said here, for its default changed between releases."
                }
            };
            draft.set("PT_HPU_LAZY_MODE", value, why, source);
        }
        (Mode::Eager, None) => {
            let message = "takes a release such as 1.20.0. In 1.12 eager mode changed hands: choose --lazy for it";
            return draft.problem("sdk", message);
        }
    }
    if let Some(output) = draft.site.value(request, "output") {
        let logs = format!("{output}/habana_logs");
        draft.set("HABANA_LOGS", logs, "The driver's and the compiler's logs.", LOGS);
    } else {
        draft.plan.notes.push("Logs of the driver and the compiler: ~/.habana_logs, or HABANA_LOGS.".into());
    }
    if request.profile {
        let why =
            "Gaudi's profiler writes .hltv files for https://perfetto.habana.ai; never together with HPUProfiler.";
        draft.set("HABANA_PROFILE", "1", why, LIGHTNING);
    }
    let first = request.modules.first().copied();
    if first.is_some() {
        let list: Vec<String> = request.modules.iter().map(u32::to_string).collect();
        draft.set("HABANA_VISIBLE_MODULES", list.join(","), "This tenant's cards; the rest belong to others.", TENANTS);
    }
    if meets {
        let port = request.port.map_or(12355 + first.unwrap_or(0), u32::from);
        let address = match (request.nodes, request.hosts.first(), request.scheduler) {
            (1, ..) => Word::text("localhost"),
            (_, _, Scheduler::Slurm | Scheduler::Pbs) => Word::first_host(),
            (_, Some(host), _) => Word::text(host.clone()),
            _ => return draft.problem("hosts", "are required: the machines, the first one is where processes meet"),
        };
        draft.set("MASTER_ADDR", address, "Where the processes meet.", EXAMPLES);
        draft.set("MASTER_PORT", port.to_string(), "A port of this training's own: tenants must differ.", TENANTS);
        if let Some(interface) = draft.site.value(request, "interface") {
            let why = "The network interface for the processes' first words.";
            draft.set("HCCL_SOCKET_IFNAME", interface.to_string(), why, EXAMPLES);
        }
    }
}

/// On several machines by hand each one runs the script, and has to be told which it is.
fn told_its_rank(draft: &mut Draft<'_>) {
    if draft.request.nodes > 1 {
        let message = "set NODE_RANK: 0 on the first machine, 1 on the next; run this script on each".to_string();
        draft.plan.steps.push(Step::Require { name: "NODE_RANK".into(), message });
    }
}

fn start(draft: &mut Draft<'_>, launcher: Option<Launcher>, cards: u32, local: u32) {
    match launcher {
        Some(Launcher::Deepspeed) => deepspeed(draft, cards),
        Some(Launcher::Lightning) => lightning(draft, cards, local),
        Some(Launcher::Torchrun) => torchrun(draft, local),
        Some(Launcher::Mpirun | Launcher::Srun) => mpirun(draft, cards, local),
        None => {
            let command = Command::new([], EXAMPLES).python(draft);
            draft.step(command, "One process, one card.");
        }
    }
}

fn deepspeed(draft: &mut Draft<'_>, cards: u32) {
    let request = draft.request;
    let Some(spawn) = draft.site.value(request, "gaudi_spawn") else {
        return draft.problem("gaudi_spawn", "is required: path of gaudi_spawn.py of Optimum Habana's examples");
    };
    let mut command = Command::new(["python3", spawn], OPTIMUM);
    if request.nodes > 1 {
        let Some(file) = draft.site.value(request, "hostfile") else {
            let message = "is required: DeepSpeed's file of machines, a line such as `host0 slots=8` for each";
            return draft.problem("hostfile", message);
        };
        let why = "the machines and the cards of each; DeepSpeed reaches them over ssh";
        command = command.flag(["--hostfile".into(), file.into()], why);
        let note = "DeepSpeed takes variables to other machines from the file ~/.deepspeed_env, a line NAME=VALUE each: put \
                    PT_HPU_LAZY_MODE there too.";
        draft.plan.notes.push(note.into());
    } else {
        command = command.flag(["--world_size".into(), cards.to_string().into()], "processes, one for each card");
    }
    command = command.flag(["--use_deepspeed".into()], "DeepSpeed's launcher starts them");
    // It reads no variable for the port; 29500 is everybody's, so tenants would meet each other.
    if cards > 1 && request.nodes == 1 {
        let why = "a port of this training's own, for 29500 is everybody's";
        command = command.flag(["--master_port".into(), Word::variable("MASTER_PORT")], why);
    }
    let command = command.program(draft);
    draft.step(command, "DeepSpeed starts a process for each card.");
}

fn lightning(draft: &mut Draft<'_>, cards: u32, local: u32) {
    if draft.request.nodes > 1 {
        if draft.request.scheduler == Scheduler::Slurm {
            return draft.problem("launcher", "Lightning on several machines is written for --scheduler bash");
        }
        told_its_rank(draft);
        draft.set("WORLD_SIZE", cards.to_string(), "Processes, all machines together.", LIGHTNING);
    }
    let command = Command::new([], LIGHTNING).python(draft);
    draft.step(command, format!("The Trainer starts {}: devices={local}.", count(local, "process")));
}

fn torchrun(draft: &mut Draft<'_>, local: u32) {
    let (nodes, by_slurm) = (draft.request.nodes, draft.request.scheduler == Scheduler::Slurm);
    let mut command = Command::new([], TORCHRUN);
    if nodes > 1 && by_slurm {
        draft.plan.resources.tasks_per_node = Some(1);
        command = command.words(["srun"]).flag_of(["--ntasks-per-node=1".into()], "one torchrun on each machine", SRUN);
    }
    command = command.words(["torchrun"]);
    if nodes > 1 {
        command = command.flag(["--nnodes".into(), nodes.to_string().into()], "machines");
    }
    command =
        command.flag(["--nproc_per_node".into(), local.to_string().into()], "processes of a machine, one for a card");
    if nodes > 1 && by_slurm {
        let meeting = Word::variable("MASTER_ADDR").and_text(":").and(Word::variable("MASTER_PORT"));
        command = command
            .flag(["--rdzv_backend".into(), "c10d".into()], "the machines find their ranks themselves")
            .flag(["--rdzv_endpoint".into(), meeting], "where they meet")
            .flag(["--rdzv_id".into(), Word::variable("SLURM_JOB_ID")], "this job and no other");
    } else {
        told_its_rank(draft);
        if nodes > 1 {
            command =
                command.flag(["--node_rank".into(), Word::variable("NODE_RANK")], "which of the machines this is");
        }
        command = command
            .flag(["--master_addr".into(), Word::variable("MASTER_ADDR")], "the machine where they meet")
            .flag(["--master_port".into(), Word::variable("MASTER_PORT")], "and its port");
    }
    let command = command.program(draft);
    draft.step(command, "A process for each card; each takes the card of its local rank.");
}

fn mpirun(draft: &mut Draft<'_>, cards: u32, local: u32) {
    let request = draft.request;
    let nodes = request.nodes;
    // An MPI that knows the scheduler starts no more processes than the job has tasks.
    draft.plan.resources.tasks_per_node = Some(local);
    let cores = draft.site.value(request, "cores").unwrap_or("6").to_string();
    let why_cores = format!("{cores} cores for a process; a socket must have them for all of its processes");
    let mut command = Command::new(["mpirun"], EXAMPLES)
        .flag(["-n".into(), cards.to_string().into()], "processes, all machines together")
        .flag_of(["--bind-to".into(), "core".into()], "each keeps to its cores", MPIRUN);
    if nodes == 1 {
        let map = format!("socket:PE={cores}");
        command = command
            .flag(["--map-by".into(), map.into()], why_cores)
            .flag_of(["--rank-by".into(), "slot".into()], "ranks count up along them", MPIRUN)
            .flag_of(["--report-bindings".into()], "says which cores each has", MPIRUN);
    } else {
        let by_hand = request.scheduler == Scheduler::Bash;
        if by_hand && request.hosts.len() != nodes as usize {
            return draft.problem("hosts", format!("{} given for {nodes} machines", request.hosts.len()));
        }
        if !draft.is_set("MPI_ROOT") {
            let message = "set MPI_ROOT to the folder of Open MPI".to_string();
            draft.plan.steps.push(Step::Require { name: "MPI_ROOT".into(), message });
        }
        let hosts = if by_hand {
            let hosts: Vec<String> = request.hosts.iter().map(|host| format!("{host}:{local}")).collect();
            Word::text(hosts.join(","))
        } else {
            // In a variable first: a script stops when an assignment fails, not when an argument does.
            draft.set("JOB_HOSTS", Word::hosts(local), "Each machine and its processes.", EXAMPLES);
            Word::variable("JOB_HOSTS")
        };
        let sockets = local.div_ceil(2);
        let map = format!("ppr:{sockets}:socket:PE={cores}");
        command = command
            .flag(["--map-by".into(), map.into()], format!("{} on a socket; {why_cores}", count(sockets, "process")))
            .flag(["--prefix".into(), Word::variable("MPI_ROOT")], "where Open MPI lies on the other machines")
            .flag(["-H".into(), hosts], "the machines, with the processes of each");
    }
    command = command.flag_of(["--allow-run-as-root".into()], "inside the vendor's container you are root", MPIRUN);
    let set = draft.plan.steps.iter().filter_map(|step| match step {
        Step::Set(setting) if setting.name != "JOB_HOSTS" => Some(setting.name.clone()),
        _ => None,
    });
    let mut names: Vec<Word> = Vec::new();
    for name in set.collect::<Vec<_>>() {
        names.extend(words(["-x", &name]));
    }
    let command = command.flags(names, "-x NAME", "processes on every machine get the variables that are set above");
    let command = command.python(draft);
    draft.step(command, "A process for each card.");
}
