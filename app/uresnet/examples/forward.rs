//! Times the forward pass of a preset with seeded weights, and says what each kind of step contributes.
//!
//! `cargo run --release -p uresnet --example forward -- uresnet 320x512 2 winograd4 avx512 [LOGITS.safetensors]`
//! takes the preset, the size, the number of threads, the method and the instructions; what is left out is the best.
//! The last argument names a file with `input` and `output.plane0..2`: its picture is run and its logits compared; where
//! it holds weights too, they are taken. Instead of a preset a JSON file with the fields of the configuration will do.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::Instant;

use uresnet::{
    Config, Method, Network, Options, Plan, Tensor, Threads, Weights, agreement, distance, read_safetensors,
};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |i: usize, default: &str| arguments.get(i).map_or(default, |a| a.as_str()).to_string();
    let config = Config::preset(&argument(0, "uresnet")).unwrap_or_else(|| {
        let text = std::fs::read_to_string(argument(0, "")).expect("a preset (uresnet, a21, scc21, polaris) or a file");
        Config::from_json(&text).unwrap()
    });
    let size = argument(1, "320x512");
    let (height, width) = size.split_once('x').expect("a size such as 320x512");
    let threads: usize = argument(2, "2").parse().expect("a number of threads");
    let method = match argument(3, "winograd4").as_str() {
        "direct" => Method::Direct,
        "winograd2" => Method::Winograd2,
        _ => Method::Winograd4,
    };
    let options = Options { method, instructions: arguments.get(4).cloned() };
    let file = arguments.get(5).map(|path| read_safetensors(&std::fs::read(path).unwrap()).unwrap());

    let network = Network::new(&config).unwrap();
    let own = file.clone().filter(|tensors| tensors.contains_key("bottleneck.weight"));
    let weights = own.map_or_else(|| Weights::seeded(&network, 0), |t| Weights::from_tensors(&network, t).unwrap());
    let input = match &file {
        Some(tensors) => tensors["input"].clone(),
        None => sparse(height.parse().unwrap(), width.parse().unwrap()),
    };
    let start = Instant::now();
    let plan = Plan::new(&network, &weights, input.shape(), &options).unwrap();
    println!(
        "planned in {:.3} s for {}: maps {} MB (largest pair {} MB), weights {} MB, each worker {} KB",
        start.elapsed().as_secs_f64(),
        plan.instructions(),
        plan.map_bytes() / 1_000_000,
        plan.largest_pair_bytes() / 1_000_000,
        plan.weight_bytes() / 1_000_000,
        plan.worker_bytes() / 1_000,
    );

    // The best of each step over the runs is what the step takes when nothing else wants the processor.
    let mut best = f64::MAX;
    let mut bests = vec![f64::MAX; plan.steps().len()];
    let mut output = None;
    for _ in 0..7 {
        let clock = Mutex::new(Vec::new());
        let start = Instant::now();
        let found = plan.run_with(&input, &Threads(threads), &|_| {
            clock.lock().unwrap().push(Instant::now());
            ControlFlow::Continue(())
        });
        best = best.min(start.elapsed().as_secs_f64());
        output = Some(found.unwrap());
        for (step, at) in bests.iter_mut().zip(clock.lock().unwrap().windows(2)) {
            *step = step.min((at[1] - at[0]).as_secs_f64());
        }
    }
    let mut parts = BTreeMap::new();
    for (step, seconds) in plan.steps().iter().zip(&bests) {
        let place = step.path.matches(".main_module").count();
        let place = if step.path.contains("net_core") { format!("level {place}") } else { "full size".to_string() };
        let part = parts.entry((step.kind.clone(), place)).or_insert((0.0, 0));
        *part = (part.0 + seconds, part.1 + step.macs);
    }
    let rate = |macs: u64, seconds: f64| 2.0 * macs as f64 / seconds / 1e9;
    for ((kind, place), (seconds, macs)) in &parts {
        println!("{kind:>16} {place:<10} {:8.2} ms {:7.1} GFLOP/s", seconds * 1e3, rate(*macs, *seconds));
    }
    let macs = plan.steps().iter().map(|s| s.macs).sum();
    let sum: f64 = bests.iter().sum();
    println!("{:.2} GMAC; GFLOP/s are those of the definition", macs as f64 / 1e9);
    println!(
        "best run {best:.4} s, {:.1} GFLOP/s; best of every step {sum:.4} s, {:.1} GFLOP/s",
        rate(macs, best),
        rate(macs, sum)
    );

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

/// A picture with a few straight tracks on an empty background, as an event has.
fn sparse(height: usize, width: usize) -> Tensor {
    let mut picture = Tensor::zeros(&[1, 3, height, width]);
    for plane in 0..3 {
        for track in 0..8 {
            for x in 0..width {
                let y = (track * 97 + plane * 31 + x * (track + 1) / 4) % height;
                picture.data_mut()[(plane * height + y) * width + x] = 5.0 + ((x * 7 + track) % 50) as f32;
            }
        }
    }
    picture
}
