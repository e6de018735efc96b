//! Graphcore: one process, or several under `poprun`.

use super::{Draft, here, words};
use crate::plan::Step;
use crate::request::{Scheduler, Target};
use crate::word::Word;

const POPTORCH: &str = "https://docs.graphcore.ai/projects/poptorch-user-guide/en/latest/";
const POPRUN: &str = "https://docs.graphcore.ai/projects/poprun-user-guide/en/latest/";
const TENSORFLOW: &str = "https://docs.graphcore.ai/projects/tensorflow-user-guide/en/latest/";

pub(super) fn build(draft: &mut Draft<'_>) {
    enable(draft);
    if draft.is_setup() {
        return set_up(draft);
    }
    let request = draft.request;
    let is_popdist = request.target == Target::Popdist;
    let instances = request.instances.unwrap_or(if is_popdist { request.nodes } else { 1 });
    let replicas = request.replicas.unwrap_or(instances);
    if request.launcher.is_some() {
        return draft.problem("launcher", "is for other targets: one process, or poprun for popdist");
    }
    if !is_popdist && (instances > 1 || request.nodes > 1) {
        let field = if instances > 1 { "instances" } else { "nodes" };
        return draft.problem(field, "this target is one process; choose popdist for several");
    }
    if !replicas.is_multiple_of(instances) {
        return draft.problem("replicas", format!("{replicas} can't be shared evenly by {instances} instances"));
    }
    if !instances.is_multiple_of(request.nodes) {
        let message = format!("{instances} can't be shared evenly by {} machines", request.nodes);
        return draft.problem("instances", message);
    }
    let ipus = u64::from(replicas) * u64::from(request.ipus_per_replica);
    if !ipus.is_power_of_two() {
        let message = format!("{replicas} × {} = {ipus} IPUs; a power of two is needed", request.ipus_per_replica);
        return draft.problem("replicas", message);
    }
    if let Some(most) = draft.site.devices.filter(|most| u64::from(*most) < ipus) {
        return draft.problem("replicas", format!("{ipus} IPUs asked for; {} has {most}", draft.site.title));
    }
    let ipus = u32::try_from(ipus).unwrap_or(u32::MAX);
    draft.joined(false);
    let sum = format!("{replicas} replicas × {} IPUs = {ipus} IPUs, a power of two", request.ipus_per_replica);
    draft.plan.arithmetic.push(sum);
    draft.samples(replicas, "replicas");
    draft.ask_for(ipus);
    let venv = draft.site.value(request, "venv").map(str::to_string);
    if venv.is_some() {
        draft.activate();
    }
    caches(draft);
    let mut argv = draft.prefix(ipus);
    if !is_popdist {
        draft.plan.title = format!("Trains in one process on {ipus} IPUs.");
        if replicas > 1 {
            let note = format!("The program itself asks for {replicas} replicas, in its options for the IPU.");
            draft.plan.notes.push(note);
        }
        argv.extend(draft.program());
        return draft.run(argv, "The first step compiles; that takes minutes unless the cache has it.", POPTORCH);
    }
    if draft.site.vipu_partition.is_some() && request.scheduler != Scheduler::Slurm {
        let message = "poprun needs the job's partition here, which Slurm makes: --scheduler slurm";
        return draft.problem("scheduler", message);
    }
    draft.plan.title = format!("Trains with {replicas} replicas in {instances} instances on {ipus} IPUs.");
    draft.plan.arithmetic.push(format!("{replicas} replicas ÷ {instances} instances = {} each", replicas / instances));
    argv.extend(words(["poprun", "-vv"]));
    if let Some(partition) = &draft.site.vipu_partition {
        argv.push(Word::text("--vipu-partition=").and(draft.site.word(request, partition)));
    }
    if request.nodes > 1 {
        if request.hosts.len() != request.nodes as usize {
            let message = format!("{} given for {} machines", request.hosts.len(), request.nodes);
            return draft.problem("hosts", message);
        }
        argv.push(format!("--host={}", request.hosts.join(",")).into());
        if !several_hosts(draft, &mut argv) {
            return;
        }
    }
    argv.push(format!("--num-instances={instances}").into());
    argv.push(format!("--num-replicas={replicas}").into());
    argv.push(format!("--ipus-per-replica={}", request.ipus_per_replica).into());
    let cache = Word::variable(if request.tensorflow { "TF_CACHE_DIR" } else { "POPTORCH_CACHE_DIR" });
    argv.push(Word::text("--executable-cache-path=").and(cache));
    argv.extend(draft.program());
    draft.run(argv, "poprun starts the instances and joins them; --num-replicas is their total.", POPRUN);
}

/// What the hosts need besides their names: the V-IPU server that gives out the IPUs, and what MPI hands on to the
/// processes there. False when a problem was reported.
fn several_hosts(draft: &mut Draft<'_>, argv: &mut Vec<Word>) -> bool {
    let request = draft.request;
    let own = |name: &str| draft.site.value(request, name).map(str::to_string);
    let (server, partition, interface) = (own("vipu_server"), own("vipu_partition"), own("interface"));
    if let Some(server) = server {
        argv.push(format!("--vipu-server-host={server}").into());
    }
    if let Some(partition) = partition {
        argv.push(format!("--vipu-partition={partition}").into());
        argv.push("--reset-partition=no".into());
    }
    if let Some(interface) = interface {
        // poprun splits these words itself, so a blank in one of them would be the start of the next.
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-/:,".contains(c);
        if !interface.chars().all(plain) {
            draft.problem("interface", "takes the name of an interface or a network such as 10.1.3.0/24");
            return false;
        }
        argv.push(format!("--mpi-global-args=--mca btl_tcp_if_include {interface}").into());
    }
    let cache = if request.tensorflow { "TF_POPLAR_FLAGS" } else { "POPTORCH_CACHE_DIR" };
    let names = ["LD_LIBRARY_PATH", "OPAL_PREFIX", "PATH", "CPATH", "PYTHONPATH", cache];
    argv.push(format!("--mpi-local-args={}", names.map(|name| format!("-x {name}")).join(" ")).into());
    true
}

fn enable(draft: &mut Draft<'_>) {
    let site = draft.site;
    if !site.enable.is_empty() {
        draft.plan.steps.push(Step::Source {
            files: site.enable.iter().map(|file| site.word(draft.request, file)).collect(),
            unless: site.enabled_by.clone(),
            why: "Puts the SDK on the paths, unless a login did.".into(),
            source: site.source.clone(),
        });
    }
}

fn caches(draft: &mut Draft<'_>) {
    let Some(cache) = draft.site.value(draft.request, "cache").map(str::to_string) else { return };
    if draft.request.tensorflow {
        draft.set("TF_CACHE_DIR", cache, "Compiled programs, so that a second run starts at once.", "");
        let flags = Word::text("--executable_cache_path=").and(Word::variable("TF_CACHE_DIR"));
        draft.set("TF_POPLAR_FLAGS", flags, "Tells TensorFlow; a ~ in it would stay a ~.", TENSORFLOW);
    } else {
        let why = "Compiled programs, so that a second run starts at once. It grows without bound.";
        draft.set("POPTORCH_CACHE_DIR", cache, why, POPTORCH);
    }
}

fn set_up(draft: &mut Draft<'_>) {
    let (request, site) = (draft.request, draft.site);
    let Some(venv) = site.value(request, "venv").map(str::to_string) else {
        return draft.problem("venv", "is required: folder for the virtual environment");
    };
    let wheels = if request.tensorflow { &site.tensorflow_wheels } else { &site.wheels };
    if wheels.is_empty() {
        return draft.problem("site", format!("{} names no wheels for this framework", site.title));
    }
    draft.plan.title = "Makes the virtual environment with Graphcore's wheels.".into();
    let python = site.python.clone().unwrap_or_else(|| "python3".into());
    let argv = words(["virtualenv", "-p", &python, "--", &venv]);
    draft.run(argv, "The wheels are for this Python only.", &site.source);
    let mut argv = words([&*format!("{}/bin/pip", here(&venv)), "install"]);
    argv.extend(wheels.iter().map(|wheel| site.word(request, wheel)));
    draft.run(argv, "The SDK's own wheels; a stock PyTorch or TensorFlow would hide them.", &site.source);
}
