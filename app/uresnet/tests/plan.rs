//! What a plan promises beside its numbers.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use uresnet::{Alone, Config, Error, Network, Options, Plan, Team, Tensor, Threads, Weights};

fn small() -> (Network, Weights) {
    let config = Config { depth: 2, n_initial_filters: 4, bottleneck_deepest: 8, ..Config::default() };
    let network = Network::new(&config).unwrap();
    let weights = Weights::seeded(&network, 0);
    (network, weights)
}

#[test]
fn maps_take_little_more_than_the_largest_layer_needs() {
    let check = |name, shape: [usize; 4]| {
        let network = Network::new(&Config::preset(name).unwrap()).unwrap();
        let plan = Plan::new(&network, &Weights::seeded(&network, 0), &shape, &Options::default()).unwrap();
        let (maps, pair) = (plan.map_bytes(), plan.largest_pair_bytes());
        assert!(maps * 2 <= pair * 3, "{name}: {maps} bytes of maps, the largest pair has {pair}");
        // 3 planes, 16 channels, in and out.
        assert_eq!(pair, 2 * shape[2] * shape[3] * 3 * network.config.n_initial_filters * 4);
    };
    check("uresnet", [1, 3, 640, 1024]);
    check("a21", [1, 3, 640, 1024]);
    check("polaris", [1, 3, 640, 1024]);
}

#[test]
fn the_work_counted_is_the_networks() {
    let check = |name, shape: [usize; 4], expected: u64| {
        let network = Network::new(&Config::preset(name).unwrap()).unwrap();
        let plan = Plan::new(&network, &Weights::seeded(&network, 0), &shape, &Options::default()).unwrap();
        let macs: u64 = plan.steps().iter().map(|step| step.macs).sum();
        // A 1x1 convolution on the way up runs before the interpolation, on a quarter of the pixels.
        assert!(macs <= expected && macs * 20 >= expected * 19, "{name}: {macs} of {expected}");
    };
    check("uresnet", [1, 3, 320, 512], 40_374_000_000);
    check("polaris", [1, 3, 640, 1024], 66_525_000_000);
}

#[test]
fn steps_are_told_in_order_and_can_be_stopped() {
    let (network, weights) = small();
    let plan = Plan::new(&network, &weights, &[1, 3, 32, 32], &Options::default()).unwrap();
    for team in [&Alone as &dyn Team, &Threads(3)] {
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
    check(whole.run(&input, &Alone), "input: the value at position 7 is not a finite number");
    let refused = |shape: &[usize], instructions| plan(shape, instructions).err().unwrap().to_string();
    assert!(refused(&[1, 3, 30, 32], None).contains("the next size that fits is 32 x 32"));
    assert!(refused(&[1, 2, 32, 32], None).starts_with("input: expected [pictures, 3, height, width]"));
    assert!(
        refused(&[1, 3, 32, 32], Some("abacus")).starts_with("input: no kernels for abacus here; there are portable")
    );
}
