//! Runs a program against the stand-ins of `rehearsal/`, and returns the recorded calls.

use crate::results::Run;
use crate::server::{self, Framework};
use crate::twin::Files;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use tests::sound::{Folder, here};

/// The machine of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) enum Machine {
    Cpu,
    Cuda,
    Hpu,
    Ipu,
    Popdist,
    Rdu,
    Xpu,
}

impl Machine {
    /// The machine for a target's ports.
    pub(crate) fn of(target: &str) -> Self {
        match target {
            "hpu" => Self::Hpu,
            "ipu" => Self::Ipu,
            "popdist" => Self::Popdist,
            "rdu" => Self::Rdu,
            "xpu" => Self::Xpu,
            _ => panic!("there are no stand-ins for {target}"),
        }
    }

    /// Folders of the kit with the modules that only this machine has.
    fn modules(self) -> &'static [&'static str] {
        match self {
            Self::Cpu | Self::Cuda => &[],
            Self::Hpu => &["gaudi"],
            Self::Ipu => &["ipu"],
            Self::Popdist => &["ipu", "popdist"],
            Self::Rdu => &["rdu"],
            Self::Xpu => &["xpu"],
        }
    }

    /// The accelerator that torch itself reports there.
    fn accelerator(self) -> &'static str {
        match self {
            Self::Cuda => "cuda",
            Self::Hpu => "hpu",
            Self::Xpu => "xpu",
            _ => "cpu",
        }
    }

    /// The variables that its launcher sets for each process: here the first of two instances with two replicas each.
    fn environment(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Popdist => &[
                ("POPDIST_NUM_TOTAL_REPLICAS", "4"),
                ("POPDIST_NUM_LOCAL_REPLICAS", "2"),
                ("POPDIST_REPLICA_INDEX_OFFSET", "0"),
                ("POPDIST_NUM_IPUS_PER_REPLICA", "1"),
            ],
            _ => &[],
        }
    }
}

pub(crate) type Calls = Vec<(String, BTreeMap<String, Value>)>;

/// Runs a program in a folder of its own and reads its calls.
pub(crate) fn run(root: &Path, program: &str, args: &[&str], machine: Machine) -> Result<Calls, String> {
    run_with(root, program, args, machine, &[])
}

/// The same with additional environment variables.
pub(crate) fn run_with(
    root: &Path,
    program: &str,
    args: &[&str],
    machine: Machine,
    env: &[(&str, &str)],
) -> Result<Calls, String> {
    run_in(&Folder::new(), root, program, args, machine, env)
}

/// The same in a folder in which an earlier run may have left files. A violated contract is an error.
pub(crate) fn run_in(
    cwd: &Path,
    root: &Path,
    program: &str,
    args: &[&str],
    machine: Machine,
    env: &[(&str, &str)],
) -> Result<Calls, String> {
    let kit = here().join("../rehearsal").canonicalize().unwrap();
    // TensorFlow is a stand-in with its own arrays, which are incompatible with the NumPy of PyTorch's programs.
    let tensorflow = fs::read_to_string(root.join(program)).is_ok_and(|text| {
        let imports = ["import tensorflow", "from tensorflow", "import keras", "from keras"];
        text.lines().any(|line| imports.iter().any(|import| line.trim_start().starts_with(import)))
    });
    let others: &[&str] = if tensorflow { &["tf", "tf_ipu"] } else { &[] };
    let folders = ["recorder", "base"].iter().chain(machine.modules()).chain(others).map(|name| kit.join(name));
    let mut environment = server::environment();
    let own = |name: &str| cwd.join(name).to_str().unwrap().to_owned();
    let set = [
        ("STAND_IN_MACHINE", machine.accelerator().to_owned()),
        ("STAND_IN_CALLS", own("calls")),
        ("STAND_IN_CONTRACTS", own("contracts")),
        ("STAND_IN_FAKE_DATA", "12".to_owned()),
    ];
    environment.extend(set.map(|(name, value)| (name.to_owned(), value)));
    let told = [
        ("RANK", "0"),
        ("LOCAL_RANK", "0"),
        ("WORLD_SIZE", "1"),
        ("MASTER_ADDR", "localhost"),
        ("MASTER_PORT", "29500"),
    ];
    let told = told.iter().chain(machine.environment()).chain(env);
    environment.extend(told.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    let program_path = root.join(program);
    let argv: Vec<_> = std::iter::once(program_path.to_str().unwrap()).chain(args.iter().copied()).collect();
    let run = if tensorflow { server::run_alone } else { server::run };
    let success = run(&json!({
        "argv": argv, "cwd": cwd, "env": environment, "path": folders.collect::<Vec<_>>(),
        "out": own(".printed"), "err": own(".errors"),
    }));
    let contracts = fs::read_to_string(cwd.join("contracts")).unwrap_or_default();
    let broken: Vec<_> = contracts.lines().filter(|line| !line.ends_with("\"broken\": []}")).collect();
    if !success || !broken.is_empty() {
        let stderr = fs::read_to_string(cwd.join(".errors")).unwrap_or_default();
        return Err(format!("{program} {args:?} on a machine with {machine:?}:\n{}\n{stderr}", broken.join("\n")));
    }
    let calls = fs::read_to_string(cwd.join("calls")).unwrap();
    Ok(calls.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// Starts of one program, one after the other in one folder of a machine. The program sees no other files.
#[derive(Serialize)]
pub(crate) struct Starts {
    pub(crate) machine: Machine,
    pub(crate) program: String,
    pub(crate) files: Files,
    /// The arguments and the variables of each.
    pub(crate) commands: Vec<(Vec<String>, BTreeMap<String, String>)>,
}

impl Run for Starts {
    fn framework(&self) -> Framework {
        Framework::PyTorch
    }

    /// The names of all calls, or what the run failed with.
    fn run(&self) -> Value {
        let (root, cwd) = (Folder::with(&self.files), Folder::new());
        let mut calls = BTreeSet::new();
        for (args, env) in &self.commands {
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (&**name, &**value)).collect();
            match run_in(&cwd, &root, &self.program, &args, self.machine, &env) {
                Ok(done) => calls.extend(done.into_iter().map(|(name, _)| name)),
                Err(fault) => return json!({"failed": fault}),
            }
        }
        json!({"calls": calls})
    }
}

impl Starts {
    /// They end without a fault, and something is trained on the target.
    pub(crate) fn train(&self) -> Result<(), String> {
        let trains = |name: &str| match self.machine {
            Machine::Ipu | Machine::Popdist => name == "poptorch.train" || name == "keras.fit",
            Machine::Rdu => name == "samba.session.run",
            _ => name == "forward" || name == "keras.fit",
        };
        self.check(|result| {
            if let Some(fault) = result["failed"].as_str() {
                return Err(fault.to_owned());
            }
            let mut calls = result["calls"].as_array().into_iter().flatten().filter_map(Value::as_str);
            if calls.any(trains) { Ok(()) } else { Err("the port ran, and nothing was trained on the target".into()) }
        })
    }
}
