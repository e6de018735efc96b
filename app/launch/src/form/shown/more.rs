//! Fields that most launches leave as they are: folders, modes, names.

use super::{field, required, usually};
use crate::form::{FieldKind, Fields, FormField, text};
use crate::request::{Script, Target};
use crate::site::Site;

pub(super) fn more(fields: &Fields, target: Target, script: Script, site: Option<&Site>) -> Vec<FormField> {
    let venv = field("venv", "Virtual environment", "Folder of it.", FieldKind::Text);
    let of_site = |name: &str| site.is_some_and(|site| site.fields.iter().any(|field| field.name == name));
    let mut list = match script {
        Script::Setup => {
            let help = "File of packages, without PyTorch and TensorFlow: those are the vendor's.";
            let packages = field("requirements", "The project's packages", help, FieldKind::Text);
            return vec![required(venv), packages];
        }
        Script::Collect => std::iter::once(venv).chain(collected(target)).collect(),
        Script::Train => vec![venv],
    };
    list.extend(outputs(target));
    if script == Script::Train {
        list.extend(of_target(fields, target));
    }
    list.retain(|field| !of_site(&field.name));
    list
}

fn collected(target: Target) -> Vec<FormField> {
    let help = "Folder or file that the program writes its results to.";
    let results = required(field("results", "Results", help, FieldKind::Text));
    let name = format!("portolan-{}", target.name());
    let help = "Name of the folder that it makes, and of the archive beside it.";
    let archive = usually(&name, field("archive", "Archive", help, FieldKind::Text));
    let job = usually(&name, field("job", "Name of the job", "Its logs have it.", FieldKind::Text));
    vec![results, archive, job]
}

/// Where a training leaves its logs and what it compiled; collecting looks there.
fn outputs(target: Target) -> Vec<FormField> {
    let output = |help: &str| field("output", "Folder for output", help, FieldKind::Text);
    match target {
        Target::Hpu => vec![output("Gaudi's logs go below it.")],
        Target::Rdu => {
            let pef = field("pef", "Name of the PEF", "Compile and run both use it.", FieldKind::Text);
            vec![usually("model", pef), usually("out", output("The PEF lies below it."))]
        }
        Target::Ipu | Target::Popdist => vec![output("The profiler's reports go below it.")],
    }
}

fn of_target(fields: &Fields, target: Target) -> Vec<FormField> {
    let mut list = Vec::new();
    let several = !matches!(text(fields, "nodes"), "" | "1");
    let profile = |help: &str| field("profile", "Profile", help, FieldKind::Switch);
    match target {
        Target::Hpu => {
            let help = "The older way to run PyTorch on Gaudi.";
            list.push(field("lazy", "Lazy mode", help, FieldKind::Switch));
            let help = "Release of Gaudi's software, as hl-smi shows it; a current one when empty.";
            list.push(field("sdk", "Release", help, FieldKind::Text));
            let help = "Cards of a machine that is shared: 0,1 or 4,5,6,7, say.";
            list.push(field("modules", "Modules", help, FieldKind::Text));
            let help = "Where the processes meet; every training on a machine needs its own.";
            list.push(field("port", "Port", help, FieldKind::Number));
            let help = "Cores of a process under mpirun; a socket must have them for all of its processes.";
            list.push(usually("6", field("cores", "Cores", help, FieldKind::Number)));
            list.push(field("interface", "Network interface", "For the processes' first words.", FieldKind::Text));
            list.push(profile("Gaudi's own profiler; never together with HPUProfiler."));
            if text(fields, "launcher") == "deepspeed" {
                let help = "Path of gaudi_spawn.py of Optimum Habana's examples.";
                list.push(required(field("gaudi_spawn", "gaudi_spawn.py", help, FieldKind::Text)));
                if several {
                    let help = "DeepSpeed's file of machines: a line such as host0 slots=8 for each.";
                    list.push(required(field("hostfile", "Host file", help, FieldKind::Text)));
                }
            }
        }
        Target::Rdu => {
            let help = "An earlier script compiled it, and neither model nor batch has changed since.";
            list.push(field("compiled", "The PEF is there", help, FieldKind::Switch));
            let help = "Threads of the host's part of each process.";
            list.push(field("threads", "Threads", help, FieldKind::Number));
        }
        Target::Popdist if several => {
            let help = "Network that the hosts' first words go through, for MPI.";
            list.push(field("interface", "Network interface", help, FieldKind::Text));
            list.push(profile("Reports for the PopVision Graph Analyser."));
        }
        Target::Ipu | Target::Popdist => list.push(profile("Reports for the PopVision Graph Analyser.")),
    }
    list
}
