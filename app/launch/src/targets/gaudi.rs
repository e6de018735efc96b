//! Gaudi: one card, the cards of a machine, several machines, a part of a shared machine.

use super::{Draft, words};
use crate::plan::Step;
use crate::request::{Launcher, Mode, Scheduler};
use crate::word::Word;

const FLAGS: &str = "https://docs.habana.ai/en/latest/PyTorch/Reference/Runtime_Flags.html";
const EXAMPLES: &str = "https://github.com/HabanaAI/Model-References";
const LOGS: &str =
    "https://docs.habana.ai/en/latest/PyTorch/Reference/Debugging_Guide/Debugging_with_Intel_Gaudi_Logs.html";
const TENANTS: &str =
    "https://docs.habana.ai/en/latest/Orchestration/Multiple_Tenants_on_HPU/Multiple_Workloads_Single_Docker.html";
const OPTIMUM: &str = "https://github.com/huggingface/optimum-habana/tree/main/examples";
const TORCHRUN: &str = "https://pytorch.org/docs/stable/elastic/run.html";
const LIGHTNING: &str = "https://github.com/Lightning-AI/lightning-Habana";

/// The groups of modules that may share a machine.
const GROUPS: [&[u32]; 6] = [&[0, 1], &[2, 3], &[4, 5], &[6, 7], &[0, 1, 2, 3], &[4, 5, 6, 7]];

pub(super) fn build(draft: &mut Draft<'_>) {
    let request = draft.request;
    if draft.is_setup() {
        let venv = draft.site.value(request, "venv").unwrap_or_default().to_string();
        if venv.is_empty() {
            return draft.problem("venv", "is required: folder for the virtual environment");
        }
        draft.plan.title = "Makes a virtual environment that sees the vendor's PyTorch.".into();
        let argv = words(["python3", "-m", "venv", "--system-site-packages", "--", &venv]);
        return draft.run(argv, "The vendor's PyTorch stays visible; don't install another.", EXAMPLES);
    }
    let most = draft.site.devices_per_node.unwrap_or(8);
    let nodes = request.nodes;
    let usual = match (request.modules.len(), nodes) {
        (0, 1) => 1,
        (0, nodes) => nodes * most,
        (modules, _) => u32::try_from(modules).unwrap_or(u32::MAX),
    };
    let cards = request.instances.unwrap_or(usual);
    if !cards.is_multiple_of(nodes) {
        return draft.problem("instances", format!("{cards} processes can't be shared evenly by {nodes} machines"));
    }
    let local = cards / nodes;
    if local > most {
        return draft
            .problem("instances", format!("{local} processes on a machine of {most} cards; one card takes one"));
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
            return draft.problem("modules", format!("{} modules for {local} processes", request.modules.len()));
        }
    }
    match request.scheduler {
        Scheduler::Pbs if nodes > 1 && launcher != Launcher::Mpirun => {
            let message = "PBS starts the script on one machine; on several only mpirun starts the others' processes";
            return draft.problem("launcher", message);
        }
        Scheduler::Pbs => {
            let note = "PBS: what cards are called differs between sites; add them to the line with select.";
            draft.plan.notes.push(note.into());
        }
        _ => {}
    }
    draft.joined(cards > 1 || launcher == Launcher::Deepspeed);
    draft.plan.title = format!("Trains on Gaudi. Cards: {cards}; machines: {nodes}.");
    draft.plan.arithmetic.push(format!("{nodes} machines × {local} cards = {cards} processes, one training"));
    draft.samples(cards, "cards");
    draft.ask_for(local);
    environment(draft, cards);
    start(draft, launcher, cards, local);
}

fn environment(draft: &mut Draft<'_>, cards: u32) {
    let request = draft.request;
    draft.activate();
    let mode = match request.mode {
        Mode::Eager => "0",
        Mode::Lazy => "1",
    };
    let why = "0 eager and torch.compile, 1 lazy; said here, for its default changed between releases.";
    draft.set("PT_HPU_LAZY_MODE", mode, why, FLAGS);
    if let Some(output) = draft.site.value(request, "output") {
        let logs = format!("{output}/habana_logs");
        draft.set("HABANA_LOGS", logs, "The driver's and the compiler's logs.", LOGS);
    }
    let first = request.modules.first().copied();
    if first.is_some() {
        let list: Vec<String> = request.modules.iter().map(u32::to_string).collect();
        draft.set("HABANA_VISIBLE_MODULES", list.join(","), "This tenant's cards; the rest belong to others.", TENANTS);
    }
    if cards > 1 {
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

fn start(draft: &mut Draft<'_>, launcher: Launcher, cards: u32, local: u32) {
    let request = draft.request;
    let nodes = request.nodes;
    let program = draft.program();
    let by_hand = |draft: &mut Draft<'_>| {
        if nodes > 1 {
            let message = "set NODE_RANK: 0 on the first machine, 1 on the next; run this script on each".to_string();
            draft.plan.steps.push(Step::Require { name: "NODE_RANK".into(), message });
        }
    };
    match launcher {
        Launcher::Deepspeed => {
            let Some(spawn) = draft.site.value(request, "gaudi_spawn").map(str::to_string) else {
                return draft
                    .problem("gaudi_spawn", "is required: path of gaudi_spawn.py of Optimum Habana's examples");
            };
            if nodes > 1 {
                return draft.problem("nodes", "DeepSpeed is written for one machine; several need a host file");
            }
            let mut argv = words(["python3", &spawn, "--world_size", &cards.to_string(), "--use_deepspeed"]);
            // DeepSpeed's launcher reads no variable for it; 29500 is everybody's, so tenants would meet each other.
            if cards > 1 {
                argv.push("--master_port".into());
                argv.push(Word::variable("MASTER_PORT"));
            }
            argv.extend(program.into_iter().skip(2));
            draft.run(argv, "DeepSpeed starts a process for each card.", OPTIMUM);
        }
        Launcher::Lightning if nodes > 1 && request.scheduler == Scheduler::Slurm => {
            draft.problem("launcher", "Lightning on several machines is written for --scheduler bash");
        }
        Launcher::Lightning => {
            by_hand(draft);
            if nodes > 1 {
                draft.set("WORLD_SIZE", cards.to_string(), "Processes, all machines together.", LIGHTNING);
            }
            draft.run(program, format!("The Trainer starts {local} processes: devices={local}."), LIGHTNING);
        }
        _ if cards == 1 => draft.run(program, "One process, one card.", EXAMPLES),
        Launcher::Torchrun => {
            let mut argv = Vec::new();
            if nodes == 1 {
                argv.extend(words(["torchrun", "--nproc_per_node", &local.to_string()]));
            } else {
                if request.scheduler == Scheduler::Slurm {
                    draft.plan.resources.tasks_per_node = Some(1);
                    argv.extend(words(["srun", "--ntasks-per-node=1"]));
                }
                argv.extend(words([
                    "torchrun",
                    "--nnodes",
                    &nodes.to_string(),
                    "--nproc_per_node",
                    &local.to_string(),
                ]));
                if request.scheduler == Scheduler::Slurm {
                    let meeting = Word::variable("MASTER_ADDR").and_text(":").and(Word::variable("MASTER_PORT"));
                    argv.extend(words(["--rdzv_backend", "c10d", "--rdzv_endpoint"]));
                    argv.push(meeting);
                    argv.push("--rdzv_id".into());
                    argv.push(Word::variable("SLURM_JOB_ID"));
                } else {
                    by_hand(draft);
                    argv.extend(words(["--node_rank"]));
                    argv.push(Word::variable("NODE_RANK"));
                }
            }
            if nodes == 1 || request.scheduler != Scheduler::Slurm {
                argv.push("--master_addr".into());
                argv.push(Word::variable("MASTER_ADDR"));
                argv.push("--master_port".into());
                argv.push(Word::variable("MASTER_PORT"));
            }
            argv.extend(program.into_iter().skip(2));
            draft.run(argv, "A process for each card; each takes the card of its local rank.", TORCHRUN);
        }
        Launcher::Mpirun | Launcher::Srun => {
            // An MPI that knows the scheduler starts no more processes than the job has tasks.
            draft.plan.resources.tasks_per_node = Some(local);
            let mut argv = words(["mpirun", "-n", &cards.to_string(), "--bind-to", "core"]);
            if nodes == 1 {
                argv.extend(words(["--map-by", "socket:PE=6", "--rank-by", "slot", "--report-bindings"]));
            } else {
                let by_hand = request.scheduler == Scheduler::Bash;
                if by_hand && request.hosts.len() != nodes as usize {
                    return draft.problem("hosts", format!("{} given for {nodes} machines", request.hosts.len()));
                }
                let message = "set MPI_ROOT to the folder of Open MPI".to_string();
                draft.plan.steps.push(Step::Require { name: "MPI_ROOT".into(), message });
                let hosts = if by_hand {
                    let hosts: Vec<String> = request.hosts.iter().map(|host| format!("{host}:{local}")).collect();
                    Word::text(hosts.join(","))
                } else {
                    // In a variable first: a script stops when an assignment fails, not when an argument does.
                    draft.set("JOB_HOSTS", Word::hosts(local), "Each machine and its processes.", EXAMPLES);
                    Word::variable("JOB_HOSTS")
                };
                argv.extend(words(["--map-by", &format!("ppr:{}:socket:PE=6", local.div_ceil(2))]));
                argv.extend(words(["--prefix"]));
                argv.push(Word::variable("MPI_ROOT"));
                argv.push("-H".into());
                argv.push(hosts);
            }
            argv.extend(words(["--allow-run-as-root"]));
            let set = draft.plan.steps.iter().filter_map(|step| match step {
                Step::Set(setting) if setting.name != "JOB_HOSTS" => Some(setting.name.clone()),
                _ => None,
            });
            for name in set.collect::<Vec<_>>() {
                argv.extend(words(["-x", &name]));
            }
            argv.extend(program);
            let why = "A process for each card. PE=6: cores for a process; at most a socket's cores by its processes.";
            draft.run(argv, why, EXAMPLES);
        }
    }
}
