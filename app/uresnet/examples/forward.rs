//! Times the forward pass of a preset with seeded weights, and prints the share of each kind of step.
//!
//! `cargo run --release -p uresnet --example forward -- --preset uresnet --size 320x512 --threads 2`; the defaults are the
//! fastest available method and instructions, on a synthetic event. More options:
//!
//! - `--method direct|winograd2|winograd4`, `--instructions NAME`, `--runs N`
//! - `--config FILE`: a JSON file with the fields of the configuration instead of a preset
//! - `--file FILE`: its `input` is run, its `output.plane0..2` compared, and its weights, if any, are used
//! - `--dense`: an image without background, in which nothing can be skipped
//! - `--json`: one line for programs; `cargo xtask bench forward` reads it
//!
//! Built for wasm32-wasip1, the same program runs in a browser.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::Instant;

use serde_json::{Value, json};
use uresnet::{
    Config, Event, Method, Network, Options, Plan, Team, Tensor, Threads, Weights, agreement, distance, peak,
    read_safetensors,
};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let flag = |name: &str| arguments.iter().any(|a| a == name);
    let option = |name: &str, default: &str| {
        let value = arguments.iter().position(|a| a == name).and_then(|i| arguments.get(i + 1));
        value.map_or(default, |v| v.as_str()).to_string()
    };
    let config = match option("--config", "").as_str() {
        "" => Config::preset(&option("--preset", "uresnet")).expect("a preset: uresnet, a21, scc21 or polaris"),
        path => Config::from_json(&std::fs::read_to_string(path).unwrap()).unwrap(),
    };
    let size = option("--size", "320x512");
    let (height, width) = size.split_once('x').expect("a size such as 320x512");
    let (height, width) = (height.parse().unwrap(), width.parse().unwrap());
    let team = Threads(option("--threads", "1").parse().expect("a number of threads"));
    let method = match option("--method", "winograd4").as_str() {
        "direct" => Method::Direct,
        "winograd2" => Method::Winograd2,
        "winograd4" => Method::Winograd4,
        other => panic!("no method is named {other}"),
    };
    let instructions = Some(option("--instructions", "")).filter(|name| !name.is_empty());
    let runs: usize = option("--runs", "5").parse().expect("a number of runs");
    let file = Some(option("--file", "")).filter(|path| !path.is_empty());
    let file = file.map(|path| read_safetensors(&std::fs::read(path).unwrap()).unwrap());

    let network = Network::new(&config).unwrap();
    let own = file.clone().filter(|tensors| tensors.contains_key("bottleneck.weight"));
    let weights = own.map_or_else(|| Weights::seeded(&network, 0), |t| Weights::from_tensors(&network, t).unwrap());
    let input = match &file {
        Some(tensors) => tensors["input"].clone(),
        None if flag("--dense") => dense(height, width),
        None => Event::synthetic(0, height, width).picture,
    };
    let start = Instant::now();
    let plan = Plan::new(&network, &weights, input.shape(), &Options { method, instructions }).unwrap();
    let planned = start.elapsed().as_secs_f64();

    // The best time of each step over the runs is its time on an idle processor; likewise the peak.
    let (mut best, mut flops) = (f64::MAX, 0.0f64);
    let mut busy: Option<f64> = None;
    let mut bests = vec![f64::MAX; plan.steps().len()];
    let mut output = None;
    for _ in 0..runs {
        flops = flops.max(measured_peak(plan.instructions()));
        let clock = Mutex::new(Vec::new());
        let (start, work) = (Instant::now(), processor_seconds());
        let found = plan.run_with(&input, &team, &|_| {
            clock.lock().unwrap().push(Instant::now());
            ControlFlow::Continue(())
        });
        best = best.min(start.elapsed().as_secs_f64());
        if let (Some(before), Some(after)) = (work, processor_seconds()) {
            busy = Some(busy.unwrap_or(f64::MAX).min(after - before));
        }
        output = Some(found.unwrap());
        for (step, at) in bests.iter_mut().zip(clock.lock().unwrap().windows(2)) {
            *step = step.min((at[1] - at[0]).as_secs_f64());
        }
    }
    let parts = parts(&plan, &bests);
    let macs: u64 = plan.steps().iter().map(|s| s.macs).sum();
    let memory = plan.map_bytes() + plan.weight_bytes() + team.size() * plan.worker_bytes();
    if flag("--json") {
        let parts: Vec<Value> = parts
            .iter()
            .map(|((kind, place), (seconds, macs))| json!({"kind": kind, "place": place, "seconds": seconds, "macs": macs}))
            .collect();
        let bits = output
            .iter()
            .flat_map(|o| o.data())
            .fold(0u64, |sum, v| (sum ^ u64::from(v.to_bits())).wrapping_mul(0x0100_0000_01b3));
        let line = json!({
            "bits": format!("{bits:016x}"),
            "instructions": plan.instructions(), "threads": team.size(), "seconds": best,
            // Of the first thread alone.
            "processor": busy.filter(|_| team.size() == 1), "planned": planned,
            "peak": flops, "macs": macs, "maps": plan.map_bytes(), "weights": plan.weight_bytes(),
            "memory": memory, "resident": resident(), "parts": parts,
        });
        println!("{line}");
        return;
    }
    println!(
        "planned in {planned:.3} s for {}: maps {} MB (largest pair {} MB), weights {} MB, each worker {} KB",
        plan.instructions(),
        plan.map_bytes() / 1_000_000,
        plan.largest_pair_bytes() / 1_000_000,
        plan.weight_bytes() / 1_000_000,
        plan.worker_bytes() / 1_000,
    );
    let rate = |macs: u64, seconds: f64| 2.0 * macs as f64 / seconds / 1e9;
    for ((kind, place), (seconds, macs)) in &parts {
        println!("{kind:>16} {place:<10} {:8.2} ms {:7.1} GFLOP/s", seconds * 1e3, rate(*macs, *seconds));
    }
    println!(
        "{:.2} GMAC; GFLOP/s are those of the definition, the peak of one thread is {flops:.1}",
        macs as f64 / 1e9
    );
    let sum: f64 = bests.iter().sum();
    println!("best run {best:.4} s, {:.1} GFLOP/s; sum of each step's best {sum:.4} s", rate(macs, best));

    let known = file.filter(|tensors| tensors.contains_key("output.plane0"));
    if let (Some(tensors), Some(output)) = (known, output) {
        let data = (0..3).flat_map(|p| tensors[&format!("output.plane{p}")].data().to_vec()).collect();
        let expected = Tensor::from_vec(output.shape(), data).expect("one picture");
        let found = distance(&expected, &output).unwrap();
        let same = agreement(&expected, &output).unwrap();
        println!(
            "against the file: {:.2e} absolute, {:.2e} of the range, classes agree on {} of {} pixels",
            found.max_absolute, found.max_relative_to_range, same.same, same.pixels
        );
    }
}

/// Seconds and multiplications by kind of step and place in the network.
fn parts(plan: &Plan, seconds: &[f64]) -> BTreeMap<(String, String), (f64, u64)> {
    let mut parts = BTreeMap::new();
    for (step, seconds) in plan.steps().iter().zip(seconds) {
        let place = step.path.matches(".main_module").count();
        let place = if step.path.contains("net_core") { format!("level {place}") } else { "full size".to_string() };
        let part = parts.entry((step.kind.clone(), place)).or_insert((0.0, 0));
        *part = (part.0 + seconds, part.1 + step.macs);
    }
    parts
}

/// Processor seconds of this thread, if the system reports them: on a busy machine they are more stable than a clock.
fn processor_seconds() -> Option<f64> {
    let nanoseconds = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(nanoseconds.split(' ').next()?.parse::<f64>().ok()? / 1e9)
}

/// The peak memory of this program, if the system reports it.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
}

/// GFLOP/s of one thread that only multiplies and adds.
fn measured_peak(instructions: &str) -> f64 {
    let mut best = 0.0f64;
    for _ in 0..5 {
        let start = Instant::now();
        let (operations, sum) = peak(instructions, 200_000).expect("the plan's own instructions");
        assert!(sum > 0.0);
        best = best.max(operations as f64 / start.elapsed().as_secs_f64() / 1e9);
    }
    best
}

/// An image in which no two neighbours are the same.
fn dense(height: usize, width: usize) -> Tensor {
    let data = (0..3 * height * width).map(|i| (i.wrapping_mul(2654435761) >> 7 & 1023) as f32 / 64.0).collect();
    Tensor::from_vec(&[1, 3, height, width], data).expect("the shape has as many numbers")
}
