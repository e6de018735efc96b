//! Running a program against the stand-ins of `rehearsal/`, and what it then called.

use crate::sound::{folder, here};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// What the machine of a run has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Machine {
    Cpu,
    Cuda,
    Hpu,
    Ipu,
    Popdist,
    Rdu,
}

impl Machine {
    /// The machine that a target's ports are for.
    pub(crate) fn of(target: &str) -> Self {
        match target {
            "hpu" => Self::Hpu,
            "ipu" => Self::Ipu,
            "popdist" => Self::Popdist,
            "rdu" => Self::Rdu,
            _ => panic!("there are no stand-ins for {target}"),
        }
    }

    /// Folders of the kit with the modules that only this machine has.
    fn modules(self) -> &'static [&'static str] {
        match self {
            Self::Cpu | Self::Cuda => &[],
            Self::Hpu => &["gaudi"],
            Self::Ipu => &["ipu", "tf", "tf_ipu"],
            Self::Popdist => &["ipu", "popdist", "tf", "tf_ipu"],
            Self::Rdu => &["rdu"],
        }
    }

    /// The accelerator that torch itself knows there.
    fn accelerator(self) -> &'static str {
        match self {
            Self::Cuda => "cuda",
            Self::Hpu => "hpu",
            _ => "cpu",
        }
    }

    /// What its launcher says to each process: here the first of two instances with two replicas each.
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

/// Runs a program in a folder of its own and reads what it called.
pub(crate) fn run(root: &Path, program: &str, args: &[&str], machine: Machine) -> Result<Calls, String> {
    run_with(root, program, args, machine, &[])
}

/// The same with more of an environment.
pub(crate) fn run_with(
    root: &Path,
    program: &str,
    args: &[&str],
    machine: Machine,
    env: &[(&str, &str)],
) -> Result<Calls, String> {
    let cwd = folder("run");
    let calls = run_in(&cwd, root, program, args, machine, env);
    let _ = fs::remove_dir_all(&cwd);
    calls
}

/// The same in a folder that a run before it may have left something in. A broken contract is an error.
pub(crate) fn run_in(
    cwd: &Path,
    root: &Path,
    program: &str,
    args: &[&str],
    machine: Machine,
    env: &[(&str, &str)],
) -> Result<Calls, String> {
    let kit = here().join("../rehearsal");
    let folders = ["recorder", "base"].iter().chain(machine.modules()).map(|name| kit.join(name));
    let Output { status, stderr, .. } = Command::new("python3")
        .arg(root.join(program))
        .args(args)
        .current_dir(cwd)
        .env_remove("PT_HPU_LAZY_MODE")
        .env_remove("CUDA_VISIBLE_DEVICES")
        .env("PYTHONPATH", std::env::join_paths(folders).unwrap())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("STAND_IN_MACHINE", machine.accelerator())
        .env("STAND_IN_CALLS", cwd.join("calls"))
        .env("STAND_IN_CONTRACTS", cwd.join("contracts"))
        .envs([("RANK", "0"), ("LOCAL_RANK", "0"), ("WORLD_SIZE", "1")])
        .envs([("MASTER_ADDR", "localhost"), ("MASTER_PORT", "29500")])
        .envs(machine.environment().iter().copied())
        .envs(env.iter().copied())
        .output()
        .unwrap();
    let contracts = fs::read_to_string(cwd.join("contracts")).unwrap_or_default();
    let broken: Vec<_> = contracts.lines().filter(|line| !line.ends_with("\"broken\": []}")).collect();
    if !status.success() || !broken.is_empty() {
        let stderr = String::from_utf8_lossy(&stderr);
        return Err(format!("{program} {args:?} on a machine with {machine:?}:\n{}\n{stderr}", broken.join("\n")));
    }
    let calls = fs::read_to_string(cwd.join("calls")).unwrap();
    Ok(calls.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}
