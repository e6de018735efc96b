//! Properties of a plan other than its results.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use uresnet::{
    Alone, Config, Downsampling, Error, Network, Options, Plan, Team, Tensor, Threads, Weights, distance, forward_with,
};

fn small() -> (Network, Weights) {
    let config = Config { depth: 2, n_initial_filters: 4, bottleneck_deepest: 8, ..Config::default() };
    let network = Network::new(&config).unwrap();
    let weights = Weights::seeded(&network, 0);
    (network, weights)
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "what is counted is the same on every machine, and packs whole networks")]
fn maps_take_little_more_than_the_largest_layer_needs() {
    let check = |name, shape: [usize; 4]| {
        let network = Network::new(&Config::preset(name).unwrap()).unwrap();
        let plan = Plan::new(&network, &Weights::seeded(&network, 0), &shape, &Options::default()).unwrap();
        let (maps, pair) = (plan.map_bytes(), plan.largest_pair_bytes());
        assert!(maps * 2 <= pair * 3, "{name}: {maps} bytes of maps, the largest pair has {pair}");
        // Each weight is stored once, although the planes of large maps are planned one by one.
        let small = Plan::new(&network, &Weights::seeded(&network, 0), &[1, 3, 128, 128], &Options::default()).unwrap();
        assert_eq!(plan.weight_bytes(), small.weight_bytes(), "{name}");
        // 3 planes, 16 channels, in and out.
        assert_eq!(pair, 2 * shape[2] * shape[3] * 3 * network.config.n_initial_filters * 4);
    };
    check("uresnet", [1, 3, 640, 1024]);
    check("a21", [1, 3, 640, 1024]);
    check("polaris", [1, 3, 640, 1024]);
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "what is counted is the same on every machine, and packs whole networks")]
fn the_work_counted_is_the_networks() {
    let check = |name, shape: [usize; 4], expected: u64| {
        let network = Network::new(&Config::preset(name).unwrap()).unwrap();
        let plan = Plan::new(&network, &Weights::seeded(&network, 0), &shape, &Options::default()).unwrap();
        let macs: u64 = plan.steps().iter().map(|step| step.macs).sum();
        // A 1x1 convolution in the upsampling path runs before the interpolation, on a quarter of the pixels.
        assert!(macs <= expected && macs * 20 >= expected * 19, "{name}: {macs} of {expected}");
    };
    check("uresnet", [1, 3, 320, 512], 40_374_000_000);
    check("polaris", [1, 3, 640, 1024], 66_525_000_000);
}

#[test]
fn steps_are_told_in_order_and_can_be_stopped() {
    let (network, weights) = small();
    let teams = [&Alone as &dyn Team, &Threads(3)];
    for (team, shown) in teams.into_iter().flat_map(|team| [(team, false), (team, true)]) {
        let plan = Plan::showing(&network, &weights, &[1, 3, 32, 32], &Options::default(), &|_| shown).unwrap();
        let next = AtomicUsize::new(0);
        let input = Tensor::zeros(&[1, 3, 32, 32]);
        let whole = plan.run_with(&input, team, &|step| {
            assert_eq!(step, next.fetch_add(1, Ordering::Relaxed));
            ControlFlow::Continue(())
        });
        assert!(whole.is_ok());
        assert_eq!(next.into_inner(), plan.steps().len() + 1);

        for last in [0, 1, plan.steps().len() - 1] {
            let seen = AtomicUsize::new(0);
            let stopped = plan.run_with(&input, team, &|step| {
                seen.store(step, Ordering::Relaxed);
                if step == last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            assert_eq!(stopped, Err(Error::Cancelled));
            assert_eq!(seen.into_inner(), last);
        }
    }
}

#[test]
fn wrong_input_is_named() {
    let (network, weights) = small();
    let plan = |shape: &[usize], instructions: Option<&str>| {
        let instructions = instructions.map(str::to_string);
        Plan::new(&network, &weights, shape, &Options { instructions, ..Options::default() })
    };
    let check = |found: Result<Tensor, Error>, expected: &str| {
        let found = found.unwrap_err().to_string();
        assert!(found.starts_with(expected), "{found}");
    };
    let whole = plan(&[1, 3, 32, 32], None).unwrap();
    check(
        whole.run(&Tensor::zeros(&[1, 3, 32, 36]), &Alone),
        "input: expected shape [1, 3, 32, 32], found [1, 3, 32, 36]",
    );
    let mut input = Tensor::zeros(&[1, 3, 32, 32]);
    input.data_mut()[7] = f32::NAN;
    check(whole.run(&input, &Alone), "input: the value at position 7 is not finite");
    let refused = |shape: &[usize], instructions| plan(shape, instructions).err().unwrap().to_string();
    assert!(refused(&[1, 3, 30, 32], None).contains("the next valid size is 32 x 32"));
    assert!(refused(&[1, 2, 32, 32], None).starts_with("input: expected [images, 3, height, width]"));
    assert!(
        refused(&[1, 3, 32, 32], Some("abacus")).starts_with("input: no kernels for abacus here; available: portable")
    );
}

/// The stages of both passes, on an image so large that its convolutions are chained and its planes processed one by
/// one.
#[test]
fn a_plan_shows_what_the_reference_shows() {
    for (block_concat, downsampling) in [(false, Downsampling::MaxPooling), (true, Downsampling::Convolutional)] {
        let config = Config {
            depth: 1,
            n_initial_filters: 12,
            bottleneck_deepest: 8,
            blocks_deepest_layer: 1,
            blocks_final: 1,
            block_concat,
            downsampling,
            ..Config::default()
        };
        let network = Network::new(&config).unwrap();
        let weights = Weights::seeded(&network, 5);
        let shape = [2, 3, 96, 192];
        let pixels = (0..shape.iter().product()).map(|i: usize| if i % 13 < 2 { (i * 7919 % 50) as f32 } else { 0.0 });
        let input = Tensor::from_vec(&shape, pixels.collect()).unwrap();
        let mut expected = Vec::new();
        let logits = forward_with(&network, &weights, &input, &mut |stage| {
            expected.push((stage.path.to_string(), stage.name(), stage.output.clone()));
        });
        let mut paths: Vec<&str> = expected.iter().map(|(path, ..)| path.as_str()).collect();
        paths.dedup();
        assert_eq!(paths, network.stages());

        let go_on = |_| ControlFlow::Continue(());
        let plain = Plan::new(&network, &weights, &shape, &Options::default()).unwrap();
        let all = Plan::showing(&network, &weights, &shape, &Options::default(), &|_| true).unwrap();
        let mut found = BTreeMap::new();
        let shown = all.run_showing(&input, &Threads(2), &go_on, &mut |stage| {
            assert!(found.insert(stage.name(), stage.output.clone()).is_none(), "{} comes twice", stage.name());
        });
        for (_, name, map) in &expected {
            let apart = distance(map, &found[name]).unwrap();
            assert!(apart.max_relative_to_range < 1e-4, "{name}: {apart:?}");
        }
        assert_eq!(found.len(), expected.len());
        let shown = shown.unwrap();
        assert_eq!(shown, plain.run(&input, &Alone).unwrap(), "showing changes no bit");
        let apart = distance(&logits.unwrap(), &shown).unwrap();
        assert!(apart.max_relative_to_range < 1e-4, "{apart:?}");

        // A few selected ones cost little, and one that does not exist costs nothing.
        let chosen = ["net_core.upsample", "net_core.up_blocks.blocks.1.convolution_2", "final_layer"];
        let some = Plan::showing(&network, &weights, &shape, &Options::default(), &|path| chosen.contains(&path));
        let some = some.unwrap();
        let mut names = Vec::new();
        some.run_showing(&input, &Alone, &go_on, &mut |stage| names.push(stage.path.to_string())).unwrap();
        names.sort();
        names.dedup();
        assert_eq!(names, ["final_layer", "net_core.up_blocks.blocks.1.convolution_2", "net_core.upsample"]);
        assert!(some.steps().len() < all.steps().len());
        let none = Plan::showing(&network, &weights, &shape, &Options::default(), &|path| path == "elsewhere");
        assert_eq!(none.unwrap().steps(), plain.steps());
    }
}

#[test]
fn progress_grows_from_nothing_to_all() {
    let (network, weights) = small();
    let plan = Plan::new(&network, &weights, &[1, 3, 32, 32], &Options::default()).unwrap();
    let count = plan.steps().len();
    let shares: Vec<f64> = (0..=count).map(|step| plan.progress(step).share).collect();
    assert!(shares.is_sorted() && shares[0].to_bits() == 0 && shares[count] == 1.0, "{shares:?}");
    assert_eq!((plan.progress(0).path, plan.progress(count).path), ("initial_convolution", ""));
    assert_eq!(plan.progress(0).left(3.0), None);
    assert_eq!(plan.progress(count).left(3.0), Some(0.0));
}
