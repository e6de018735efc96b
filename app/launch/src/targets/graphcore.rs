//! Graphcore: one process, or several under `poprun`.

use super::command::Command;
use super::{Draft, count, here};
use crate::plan::Step;
use crate::request::{Scheduler, Target};
use crate::word::Word;

const POPTORCH: &str = "https://docs.graphcore.ai/projects/poptorch-user-guide/en/latest/";
const POPRUN: &str = "https://docs.graphcore.ai/projects/poprun-user-guide/en/latest/";
const TENSORFLOW: &str = "https://docs.graphcore.ai/projects/tensorflow-user-guide/en/latest/";

const PROFILE: &str = "https://github.com/argonne-lcf/ai-testbed-userdocs";

pub(super) fn build(draft: &mut Draft<'_>) {
    enable(draft);
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
        let message = format!("{replicas} can't be shared evenly by {}", count(instances, "instance"));
        return draft.problem("replicas", message);
    }
    if !instances.is_multiple_of(request.nodes) {
        let message = format!("{} can't be shared evenly by {} machines", count(instances, "instance"), request.nodes);
        return draft.problem("instances", message);
    }
    let ipus = u64::from(replicas) * u64::from(request.ipus_per_replica);
    if !ipus.is_power_of_two() {
        let message =
            format!("{replicas} × {} = {}; a power of two is needed", request.ipus_per_replica, count(ipus, "IPU"));
        return draft.problem("replicas", message);
    }
    if let Some(most) = draft.site.devices.filter(|most| u64::from(*most) < ipus) {
        return draft.problem("replicas", format!("{ipus} IPUs asked for; {} has {most}", draft.site.title));
    }
    let ipus = u32::try_from(ipus).unwrap_or(u32::MAX);
    if is_popdist && instances > 1 && request.alone {
        let message = "nothing in the program starts PopDist: each would be a training of its own. Port it to popdist \
                       first, or take 1";
        draft.problem("instances", message);
    }
    draft.joined(false, instances);
    let (copies, each) = (count(replicas, "replica"), count(request.ipus_per_replica, "IPU"));
    draft.plan.arithmetic.push(format!("{copies} × {each} = {}, a power of two", count(ipus, "IPU")));
    draft.samples(replicas, "replica");
    draft.ask_for(ipus);
    draft.activate();
    draft.site_settings();
    caches(draft);
    profile(draft);
    if is_popdist {
        return poprun(draft, instances, replicas, ipus);
    }
    draft.plan.title = format!("Trains in one process on {}.", count(ipus, "IPU"));
    if replicas > 1 {
        let note = format!(
            "The program itself must ask for {replicas} replicas, in its options for the IPU; a port does with \
             --option replicas={replicas}."
        );
        draft.plan.notes.push(note);
    }
    let command = Command::after(draft.prefix(ipus), POPTORCH).python(draft);
    draft.step(command, "The first step compiles; that takes minutes unless the cache has it.");
}

fn poprun(draft: &mut Draft<'_>, instances: u32, replicas: u32, ipus: u32) {
    let request = draft.request;
    if draft.site.vipu_partition.is_some() && request.scheduler != Scheduler::Slurm {
        let message = "poprun needs the job's partition here, which Slurm makes: --scheduler slurm";
        return draft.problem("scheduler", message);
    }
    let (copies, parts) = (count(replicas, "replica"), count(instances, "instance"));
    draft.plan.title = format!("Trains with {copies} in {parts} on {}.", count(ipus, "IPU"));
    draft.plan.arithmetic.push(format!("{copies} ÷ {parts} = {} each", replicas / instances));
    let mut command =
        Command::after(draft.prefix(ipus), POPRUN).words(["poprun"]).flag(["-vv".into()], "says what it starts where");
    if let Some(partition) = &draft.site.vipu_partition {
        let partition = Word::text("--vipu-partition=").and(draft.site.word(request, partition));
        command = command.flag([partition], "the job's own IPUs");
    }
    if request.nodes > 1 {
        if request.hosts.len() != request.nodes as usize {
            let message = format!("{} given for {} machines", request.hosts.len(), request.nodes);
            return draft.problem("hosts", message);
        }
        let hosts = format!("--host={}", request.hosts.join(","));
        command = command.flag([hosts.into()], "the machines that share the instances");
        command = match several_hosts(draft, command) {
            Some(command) => command,
            None => return,
        };
    }
    let cache = Word::variable(if request.tensorflow { "TF_CACHE_DIR" } else { "POPTORCH_CACHE_DIR" });
    let command = command
        .flag([format!("--num-instances={instances}").into()], "processes, all machines together")
        .flag([format!("--num-replicas={replicas}").into()], "copies of the model, all processes together")
        .flag([format!("--ipus-per-replica={}", request.ipus_per_replica).into()], "IPUs of one copy")
        .flag([Word::text("--executable-cache-path=").and(cache)], "the instances share what one compiled")
        .python(draft);
    draft.step(command, "poprun starts the instances and joins them.");
}

/// What the hosts need besides their names: the V-IPU server that gives out the IPUs, and what MPI hands on to the
/// processes there. None when a problem was reported.
fn several_hosts(draft: &mut Draft<'_>, mut command: Command) -> Option<Command> {
    let request = draft.request;
    let own = |name: &str| draft.site.value(request, name).map(str::to_string);
    let (server, partition, interface) = (own("vipu_server"), own("vipu_partition"), own("interface"));
    if let Some(server) = server {
        command = command.flag([format!("--vipu-server-host={server}").into()], "gives out the IPUs of all of them");
    }
    if let Some(partition) = partition {
        command = command
            .flag([format!("--vipu-partition={partition}").into()], "the IPUs that are set aside")
            .flag(["--reset-partition=no".into()], "the partition is taken as it is");
    }
    if let Some(interface) = interface {
        // poprun splits these words itself, so a blank in one of them would be the start of the next.
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-/:,".contains(c);
        if !interface.chars().all(plain) {
            draft.problem("interface", "takes the name of an interface or a network such as 10.1.3.0/24");
            return None;
        }
        let words = format!("--mpi-global-args=--mca btl_tcp_if_include {interface}");
        command = command.flag([words.into()], "the network for MPI's first words");
    }
    let names = ["LD_LIBRARY_PATH", "OPAL_PREFIX", "PATH", "CPATH", "PYTHONPATH"].map(str::to_string);
    let set = draft.plan.steps.iter().filter_map(|step| match step {
        Step::Set(setting) => Some(setting.name.clone()),
        _ => None,
    });
    let names: Vec<String> = names.into_iter().chain(set).map(|name| format!("-x {name}")).collect();
    let words = format!("--mpi-local-args={}", names.join(" "));
    Some(command.flag([words.into()], "variables that the processes on the other machines get too"))
}

pub(super) fn enable(draft: &mut Draft<'_>) {
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

fn profile(draft: &mut Draft<'_>) {
    if !draft.request.profile {
        let note = "Logs: POPART_LOG_LEVEL, POPLAR_LOG_LEVEL and POPLIBS_LOG_LEVEL take WARN and the like.";
        return draft.plan.notes.push(note.into());
    }
    let folder = draft.site.value(draft.request, "output").unwrap_or(".").to_string();
    // The value is JSON, where these need a backslash.
    let folder = format!("{folder}/reports").replace('\\', "\\\\").replace('"', "\\\"");
    if folder.contains(char::is_control) {
        return draft.problem("output", "can't hold control characters when the profiler is on");
    }
    let options = format!("{{\"autoReport.all\":\"true\",\"autoReport.directory\":\"{folder}\"}}");
    let why = "Reports for the PopVision Graph Analyser; training is slower with it.";
    draft.set("POPLAR_ENGINE_OPTIONS", options, why, PROFILE);
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

pub(super) fn set_up(draft: &mut Draft<'_>, venv: &str) {
    enable(draft);
    let (request, site) = (draft.request, draft.site);
    let wheels = if request.tensorflow { &site.tensorflow_wheels } else { &site.wheels };
    if wheels.is_empty() {
        return draft.problem("site", format!("{} names no wheels for this framework", site.title));
    }
    draft.plan.title = "Makes the virtual environment with Graphcore's wheels.".into();
    let python = site.word(request, site.python.as_deref().unwrap_or("python3"));
    let command = Command::new(["virtualenv"], &site.source)
        .flag(["-p".into(), python], "the wheels are for this Python only")
        .words(["--", venv]);
    draft.step(command, "A folder for the SDK's wheels and the project's own packages.");
    let pip = format!("{}/bin/pip", here(venv));
    let mut command = Command::new([&pip, "install"], &site.source);
    for wheel in wheels {
        command = command.word(site.word(request, wheel));
    }
    draft.step(command, "The SDK's own wheels; a stock PyTorch or TensorFlow would hide them.");
}
