//! The forward pass compared with outputs of PyTorch: every 2D configuration on small images.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use uresnet::{
    Alone, Config, Method, Network, Options, Plan, Stage, Tensor, Threads, Weights, agreement, distance, forward_with,
    instructions, read_safetensors,
};

struct Golden {
    network: Network,
    weights: Weights,
    tensors: BTreeMap<String, Tensor>,
    facts: serde_json::Value,
}

impl Golden {
    fn read(name: &str) -> Golden {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/uresnet");
        let facts = std::fs::read_to_string(folder.join(format!("{name}.json"))).unwrap();
        let facts: serde_json::Value = serde_json::from_str(&facts).unwrap();
        let config = Config::from_json(&facts["config"].to_string()).unwrap();
        let network = Network::new(&config).unwrap();
        let tensors = read_safetensors(&std::fs::read(folder.join(format!("{name}.safetensors"))).unwrap()).unwrap();
        let weights = Weights::from_tensors(&network, tensors.clone()).unwrap();
        Golden { network, weights, tensors, facts }
    }

    /// PyTorch's logits, with the planes joined as the crate returns them.
    fn output(&self) -> Tensor {
        let planes: Vec<&Tensor> = (0..3).map(|p| &self.tensors[&format!("output.plane{p}")]).collect();
        let [pictures, classes, height, width] = planes[0].nchw();
        let size = classes * height * width;
        let data = (0..pictures).flat_map(|b| planes.iter().flat_map(move |p| &p.data()[b * size..][..size]));
        Tensor::from_vec(&[pictures, 3, classes, height, width], data.copied().collect()).unwrap()
    }

    /// The tolerance for PyTorch's own rounding: ten times its difference from f64, where that was measured.
    fn tolerance(&self, output: &Tensor) -> f64 {
        let range = f64::from(output.data().iter().fold(0f32, |m, v| m.max(v.abs())));
        match self.facts["torch_f32_vs_f64_maxabs"].as_f64() {
            Some(rounding) => 10.0 * rounding + 1e-6 * range,
            None => 1e-5 * range,
        }
    }

    fn check(&self, name: &str, found: &Tensor) {
        let expected = self.output();
        let distance = distance(&expected, found).unwrap();
        let tolerance = self.tolerance(&expected);
        println!(
            "{name}: {:.2e} of {tolerance:.2e}, {:.1e} of the range",
            distance.max_absolute, distance.max_relative_to_range
        );
        assert!(distance.max_absolute <= tolerance, "{name}: {distance:?}, tolerance {tolerance}");
        assert_eq!(distance.not_finite, 0, "{name}");
        assert!(agreement(&expected, found).unwrap().share() >= 0.9999, "{name}");
    }
}

const CASES: [&str; 16] = [
    "base_concat_maxpool_interp",
    "batch2_blocks_final0",
    "block_concat",
    "conv_down_conv_up",
    "d_convdown_convup",
    "d_edge_depth0",
    "d_edge_filter1",
    "d_edge_none_floor",
    "d_edge_zero_blocks",
    "d_nonorm_bias_convup",
    "depth4_width8",
    "multiplicative_growth",
    "no_connection",
    "no_norm_no_bias",
    "plain_blocks",
    "sum_connection",
];

#[test]
fn names_shapes_and_counts_are_pytorchs() {
    for name in CASES {
        let golden = Golden::read(name);
        assert_eq!(golden.facts["params"], golden.network.parameter_count(), "{name}");
        let Some(shapes) = golden.facts["state_dict"].as_object() else { continue };
        let ours: serde_json::Map<_, _> =
            golden.network.parameters().into_iter().map(|p| (p.name, p.shape.into())).collect();
        assert_eq!(&ours, shapes, "{name}");
    }
}

/// Compares the stages of a pass with PyTorch's; all those in the file are required.
fn check_stages(golden: &Golden, name: &str, found: &BTreeMap<String, Tensor>) {
    let known = golden.tensors.iter().filter_map(|(key, tensor)| Some((key.strip_prefix("stage.")?, tensor)));
    for (key, expected) in known {
        // The older cases number the calls of a top-level module, which are its planes.
        let newer = ["0", "1", "2"].iter().find_map(|i| Some(format!("{}plane{i}", key.strip_suffix(i)?)));
        let found = found.get(key).or_else(|| found.get(&newer?)).unwrap_or_else(|| panic!("{name}: no stage {key}"));
        let distance = distance(expected, found).unwrap();
        assert!(distance.max_relative_to_range < 1e-5, "{name} {key}: {distance:?}");
    }
}

#[test]
fn the_reference_agrees_at_the_end_and_at_every_stage() {
    for name in CASES {
        let golden = Golden::read(name);
        let mut stages = BTreeMap::new();
        let observe = &mut |stage: Stage| assert!(stages.insert(stage.name(), stage.output.clone()).is_none());
        let output = forward_with(&golden.network, &golden.weights, &golden.tensors["input"], observe);
        golden.check(name, &output.unwrap());
        check_stages(&golden, name, &stages);
    }
}

#[test]
fn a_plan_that_shows_its_stages_agrees_at_each() {
    for name in CASES {
        let golden = Golden::read(name);
        let input = &golden.tensors["input"];
        let plan = Plan::showing(&golden.network, &golden.weights, input.shape(), &Options::default(), &|_| true);
        let mut stages = BTreeMap::new();
        let observe = &mut |stage: Stage| assert!(stages.insert(stage.name(), stage.output.clone()).is_none());
        let output = plan.unwrap().run_showing(input, &Threads(2), &|_| ControlFlow::Continue(()), observe);
        golden.check(name, &output.unwrap());
        check_stages(&golden, name, &stages);
    }
}

#[test]
fn every_plan_agrees() {
    for name in CASES {
        let golden = Golden::read(name);
        let input = &golden.tensors["input"];
        for instructions in instructions() {
            for method in [Method::Direct, Method::Winograd2, Method::Winograd4] {
                let options = Options { method, instructions: Some(instructions.to_string()) };
                let plan = Plan::new(&golden.network, &golden.weights, input.shape(), &options).unwrap();
                let label = format!("{name} {instructions} {method:?}");
                let alone = plan.run(input, &Alone).unwrap();
                golden.check(&label, &alone);
                if method == Method::default() {
                    assert_eq!(alone, plan.run(input, &Threads(3)).unwrap(), "{label}: threads change no bit");
                }
            }
        }
    }
}

/// Large maps are processed in stripes and chunks of chained convolutions, for which no golden case is large enough.
#[test]
fn chains_agree_with_the_definition() {
    for residual in [true, false] {
        let config = Config { depth: 1, residual, blocks_final: 3, bottleneck_deepest: 8, ..Config::default() };
        let network = Network::new(&config).unwrap();
        let weights = Weights::seeded(&network, 3);
        let shape = [1, 3, 66, 302];
        let pixels = (0..shape.iter().product()).map(|i: usize| if i % 41 < 3 { (i * 7919 % 100) as f32 } else { 0.0 });
        let input = Tensor::from_vec(&shape, pixels.collect()).unwrap();
        let run = |method, instructions: &str, threads| {
            let options = Options { method, instructions: Some(instructions.to_string()) };
            let plan = Plan::new(&network, &weights, &shape, &options).unwrap();
            let first = plan.run(&input, &Threads(threads)).unwrap();
            assert_eq!(first, plan.run(&input, &Alone).unwrap(), "neither threads nor used memory change a bit");
            first
        };
        let expected = run(Method::Direct, "portable", 2);
        for instructions in instructions() {
            for method in [Method::Winograd2, Method::Winograd4] {
                let found = distance(&expected, &run(method, instructions, 3)).unwrap();
                println!("{instructions} {method:?}: {:.1e} of the range", found.max_relative_to_range);
                assert!(found.max_relative_to_range < 1e-5, "{instructions} {method:?}: {found:?}");
            }
        }
    }
}
