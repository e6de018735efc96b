//! `cargo xtask bench forward`: the forward pass compared with other programs, in one run on one machine.
//!
//! It measures ours natively and as wasm in Chromium, onnxruntime-web in the same Chromium, ONNX Runtime natively, and
//! PyTorch if the `python3` on PATH has it. All compute the same network with the same weights on the same event; the
//! best run of each counts, and the other programs' outputs are compared with ours. The measured code is in
//! `app/uresnet/examples` and `app/uresnet/peers`.

mod table;

use crate::modules;
use crate::setup;
use crate::step::{on_path, run, step};
use crate::workspace;
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const THREADS: [usize; 2] = [1, 2];

/// Our program as a module: its name, the target, and the features that choose its instructions.
const MODULES: [(&str, &str, &str); 3] = [
    ("simd128", "wasm32-wasip1", "simd128"),
    ("relaxed-simd", "wasm32-wasip1", "relaxed-simd"),
    ("threads", modules::THREADED, "relaxed-simd,threads"),
];

/// Paths of the parts of the comparison.
struct Bench {
    /// Models, modules and Python packages: created here, outside the checkout.
    cache: PathBuf,
    peers: PathBuf,
    program: PathBuf,
    exporter: PathBuf,
    /// One with ONNX Runtime, and the user's own, which may have PyTorch.
    pythons: Vec<(&'static str, PathBuf)>,
    runs: usize,
}

/// Measures images of these sizes (`320x512`; two by default), `runs` times each.
pub(crate) fn compare(sizes: &[&str], runs: usize) -> Result<()> {
    let sizes = if sizes.is_empty() { &["320x512", "640x1024"] } else { sizes };
    let bench = step("build the benchmark", || Bench::prepare(runs))?;
    for size in sizes {
        let (height, width) = size.split_once('x').context("expected a size such as 320x512")?;
        let shape = [1, 3, height.parse()?, width.parse()?];
        let folder = bench.cache.join(size);
        step(format!("uresnet at {size}: the network as ONNX"), || {
            run(workspace::command(&bench.exporter).args(["uresnet", size]).arg(&folder))
        })?;
        let mut lines = Vec::new();
        step(format!("uresnet at {size}: natively"), || bench.natively(size, &folder, &mut lines))?;
        step(format!("uresnet at {size}: in Chromium"), || bench.in_browser(size, shape, &folder, &mut lines))?;
        table::print(size, &lines);
    }
    Ok(())
}

impl Bench {
    fn prepare(runs: usize) -> Result<Bench> {
        let cache = setup::cache()?.join("peers");
        let peers = workspace::root().join("app").join("uresnet").join("peers");
        std::fs::create_dir_all(&cache).with_context(|| format!("cannot create {}", cache.display()))?;
        setup::npm_packages(&peers)?;
        let build = ["build", "--quiet", "--release", "--package", "uresnet", "--example"];
        for example in ["forward", "onnx"] {
            run(workspace::command("cargo").args(build).arg(example))?;
        }
        for (name, target, features) in MODULES {
            setup::target(target)?;
            let mut cargo = workspace::command("cargo");
            cargo.args(build).args(["forward", "--target", target, "--features", features]);
            run(cargo.env(modules::LINKED.0, modules::LINKED.1))?;
            let built = workspace::target().join(target).join("release/examples/forward.wasm");
            let module = cache.join(format!("{name}.wasm"));
            std::fs::copy(&built, &module).with_context(|| format!("cannot copy {}", built.display()))?;
        }
        let python = on_path("python3").context("python3 is not on PATH")?;
        let own = setup::python_with_packages(&cache, &peers.join("requirements.txt"))?;
        let examples = workspace::target().join("release").join("examples");
        let program = |name: &str| examples.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
        Ok(Bench {
            program: program("forward"),
            exporter: program("onnx"),
            pythons: vec![("onnxruntime", own), ("torch", python)],
            cache,
            peers,
            runs,
        })
    }

    fn natively(&self, size: &str, folder: &Path, lines: &mut Vec<Value>) -> Result<()> {
        for threads in THREADS {
            let (threads, runs) = (threads.to_string(), self.runs.to_string());
            let mut ours = Command::new(&self.program);
            ours.args(["--json", "--size", size, "--threads", &threads, "--runs", &runs]);
            lines.push(named(answer(&mut ours)?, "ours, native"));
            for (peer, python) in &self.pythons {
                let mut command = Command::new(python);
                command.arg(self.peers.join("native.py")).arg(folder).args([size, &runs, peer, &threads]);
                lines.push(named(answer(&mut command)?, &format!("{peer}, native")));
            }
        }
        Ok(())
    }

    fn in_browser(&self, size: &str, shape: [usize; 4], folder: &Path, lines: &mut Vec<Value>) -> Result<()> {
        let runs = self.runs.to_string();
        let mut tasks = Vec::new();
        for threads in THREADS {
            let count = threads.to_string();
            for (name, ..) in MODULES.iter().filter(|(name, ..)| (*name == "threads") == (threads > 1)) {
                let program = self.cache.join(format!("{name}.wasm"));
                let words = ["--json", "--size", size, "--threads", &count, "--runs", &runs];
                let name = format!("ours, {name}");
                tasks.push(
                    json!({"kind": "ours", "name": name, "program": program, "words": words, "threads": threads}),
                );
            }
            tasks.push(json!({
                "kind": "peer", "name": "onnxruntime-web", "folder": folder, "shape": shape,
                "threads": threads, "runs": self.runs,
            }));
        }
        let list = self.cache.join("tasks.json");
        std::fs::write(&list, json!(tasks).to_string()).with_context(|| format!("cannot write {}", list.display()))?;
        let browser = setup::chromium().context("no Chromium on PATH: run cargo xtask setup")?;
        let node = on_path("node").context("node is not on PATH: run cargo xtask setup")?;
        let mut command = Command::new(node);
        command.arg(self.peers.join("run.mjs")).arg(&list).env("PORTOLAN_CHROMIUM", browser);
        for line in output(&mut command)?.lines() {
            lines.push(serde_json::from_str(line).context("run.mjs did not print JSON")?);
        }
        Ok(())
    }
}

fn named(mut line: Value, name: &str) -> Value {
    line["name"] = name.into();
    line
}

/// The output of a command; its errors are passed through.
fn output(command: &mut Command) -> Result<String> {
    let shown = format!("{command:?}");
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output = output.with_context(|| format!("cannot start {shown}"))?;
    if !output.status.success() {
        bail!("failed: {shown}");
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn answer(command: &mut Command) -> Result<Value> {
    serde_json::from_str(&output(command)?).with_context(|| format!("{command:?} did not print JSON"))
}
