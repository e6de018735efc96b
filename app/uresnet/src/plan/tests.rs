//! Every kernel of every instruction set is compared with the definition, over random shapes.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::layer::Layer;
use super::*;
use crate::compare::distance;
use crate::kernels::Form;
use crate::network::{Block, Unit};
use crate::reference::{SLOPE, bilinear, convolution, max_pool, transposed_convolution};
use crate::team::Alone;
use crate::team::Threads;
use crate::weights::unit_interval;

/// Every available kind of team.
const TEAMS: &[&dyn Team] = &[&Alone, &Threads(2)];

/// The number of shapes to try.
const fn tried(shapes: u64) -> u64 {
    if cfg!(miri) { shapes / 10 + 1 } else { shapes }
}

/// Pseudorandom numbers, the same on every machine.
struct Random(u64, usize);

impl Random {
    fn unit(&mut self) -> f64 {
        self.1 += 1;
        unit_interval(self.0, self.1)
    }

    /// One of `first..=last`; of fewer under Miri, which is a thousand times slower.
    fn pick(&mut self, first: usize, last: usize) -> usize {
        let last = if cfg!(miri) { last.min(first + 9) } else { last };
        first + (self.unit() * (last - first + 1) as f64) as usize
    }

    fn chance(&mut self) -> bool {
        self.unit() < 0.5
    }

    fn tensor(&mut self, shape: &[usize]) -> Tensor {
        let data = (0..shape.iter().product()).map(|_| (self.unit() * 2.0 - 1.0) as f32).collect();
        Tensor::from_vec(shape, data).unwrap()
    }
}

/// A map that is empty except for a few pixels, like an event: most of its tiles are flat.
fn sparse(random: &mut Random, shape: &[usize]) -> Tensor {
    let mut tensor = Tensor::zeros(shape);
    let area = shape[2] * shape[3];
    for i in 0..tensor.data().len() {
        if (i % area).is_multiple_of(97) {
            tensor.data_mut()[i] = random.unit() as f32;
        }
    }
    tensor
}

fn unit(path: &str, inputs: usize, outputs: usize, kernel: usize) -> Unit {
    Unit {
        path: path.to_string(),
        conv_path: format!("{path}.conv"),
        inputs,
        outputs,
        kernel,
        stride: 1,
        padding: (kernel - 1) / 2,
        transposed: false,
        bias: true,
        normalized: false,
        activated: true,
    }
}

fn weights_of(units: &[&Unit], random: &mut Random) -> Weights {
    let parameters = units.iter().flat_map(|unit| unit.parameters());
    Weights::unchecked(parameters.map(|p| (p.name, random.tensor(&p.shape))).collect::<BTreeMap<_, _>>())
}

/// The result of a unit by the definition, without its activation.
fn defined(unit: &Unit, weights: &Weights, x: &Tensor) -> Tensor {
    let weight = weights.get(&format!("{}.weight", unit.conv_path));
    let bias = Some(weights.get(&format!("{}.bias", unit.conv_path)).data());
    match unit.transposed {
        true => transposed_convolution(x, weight, bias),
        false => convolution(x, weight, bias, unit.stride, unit.padding),
    }
}

fn leaky(mut x: Tensor) -> Tensor {
    x.data_mut().iter_mut().for_each(|v| *v = v.max(*v * SLOPE));
    x
}

fn added(mut a: Tensor, b: &Tensor) -> Tensor {
    a.data_mut().iter_mut().zip(b.data()).for_each(|(a, b)| *a += b);
    a
}

/// Plans with every instruction set and method, runs on one thread and in a team, and compares; padding must stay zero.
fn check(
    case: &str,
    weights: &Weights,
    inputs: &[&Tensor],
    expected: &Tensor,
    build: &dyn Fn(&mut Planner, &[Layer], Layer),
) {
    for (i, kernels) in Kernels::all().into_iter().enumerate() {
        for method in [Method::Direct, Method::Winograd2, Method::Winograd4] {
            let all = Kernels::all();
            let mut planner = Planner::new(weights, all[..=i].to_vec(), method, &|_| false);
            let mut take = |t: &Tensor| {
                let [images, channels, height, width] = t.nchw();
                planner.take(images, (height, width), channels)
            };
            let layers: Vec<Layer> = inputs.iter().map(|t| take(t)).collect();
            let to = take(expected);
            build(&mut planner, &layers, to);
            for team in TEAMS {
                let mut arena = Aligned::zeros(planner.arena.length()).unwrap();
                arena.as_mut_slice()[to.map.offset..][..to.numbers()].fill(f32::NAN);
                for (layer, tensor) in layers.iter().zip(inputs) {
                    each(layer, |place, from| arena.as_mut_slice()[place] = from.map_or(0.0, |i| tensor.data()[i]));
                }
                let (arena, weights) = (arena.as_mut_slice(), planner.packed.as_slice());
                let memories = Memories { input: &[], arena, output: &mut [], weights };
                assert!(execute(&planner.jobs, memories, *team, &|_| ControlFlow::Continue(())));
                let mut found = Tensor::zeros(expected.shape());
                each(&to, |place, from| match from {
                    Some(i) => found.data_mut()[i] = arena[place],
                    None => assert_eq!(arena[place], 0.0, "{case}: padding"),
                });
                let distance = distance(expected, &found).unwrap();
                let far = distance.max_relative_to_range > 2e-5 || distance.not_finite > 0;
                assert!(!far, "{case} {} {method:?} {}: {distance:?}", kernels.name, team.size());
            }
        }
    }
}

/// Every element of a map, with its position in the tensor; none for padding.
fn each(layer: &Layer, mut visit: impl FnMut(usize, Option<usize>)) {
    let map = layer.map;
    for (image, y, x) in (0..map.images * map.height * map.width)
        .map(|i| (i / (map.height * map.width), i / map.width % map.height, i % map.width))
    {
        for c in 0..map.channels {
            let place = map.offset + image * map.image_step + (y * map.width + x) * map.channels + c;
            let index = ((image * layer.channels + c) * map.height + y) * map.width + x;
            visit(place, (c < layer.channels).then_some(index));
        }
    }
}

#[test]
fn convolutions() {
    for seed in 0..tried(40) {
        let mut random = Random(seed, 0);
        let kernel = [1, 2, 3, 3, 3, 3, 5, 7][random.pick(0, 7)];
        let stride = if kernel == 2 || random.unit() < 0.2 { 2 } else { 1 };
        let unit = Unit { stride, ..unit("u", random.pick(1, 50), random.pick(1, 70), kernel) };
        let shape = [random.pick(1, 3), unit.inputs, random.pick(kernel, 23), random.pick(kernel, 41)];
        let weights = weights_of(&[&unit], &mut random);
        let x = if random.chance() { random.tensor(&shape) } else { sparse(&mut random, &shape) };
        let mut y = defined(&unit, &weights, &x);
        let mut inputs = vec![&x];
        let residual = random.tensor(y.shape());
        if random.chance() && kernel > 1 {
            y = added(y, &residual);
            inputs.push(&residual);
        }
        check(&format!("seed {seed} {unit:?} {shape:?}"), &weights, &inputs, &leaky(y), &|planner, layers, to| {
            planner.convolution(&unit, layers[0], to, layers.get(1).copied(), SLOPE);
        });
    }
}

#[test]
fn chains() {
    for seed in 0..tried(8) {
        let mut random = Random(seed, 1);
        let width = random.pick(1, 34);
        let residual = random.chance();
        let blocks: Vec<Block> = (0..random.pick(1, if residual { 2 } else { 4 }))
            .map(|i| {
                let part = |n| unit(&format!("b{i}.{n}"), width, width, 3);
                match residual {
                    true => Block::Residual { path: String::new(), first: part(1), second: part(2) },
                    false => Block::Plain(part(0)),
                }
            })
            .collect();
        let units: Vec<&Unit> = blocks
            .iter()
            .flat_map(|b| match b {
                Block::Plain(unit) => vec![unit],
                Block::Residual { first, second, .. } => vec![first, second],
            })
            .collect();
        let weights = weights_of(&units, &mut random);
        let shape = [random.pick(1, 2), width, random.pick(1, 60), random.pick(1, 300)];
        let x = if random.chance() { random.tensor(&shape) } else { sparse(&mut random, &shape) };
        let mut y = x.clone();
        for block in &blocks {
            y = match block {
                Block::Plain(unit) => leaky(defined(unit, &weights, &y)),
                Block::Residual { first, second, .. } => {
                    let z = leaky(defined(first, &weights, &y));
                    leaky(added(defined(second, &weights, &z), &y))
                }
            };
        }
        check(
            &format!("seed {seed} {} blocks {shape:?}", blocks.len()),
            &weights,
            &[&x],
            &y,
            &|planner, layers, to| {
                if planner.method == Method::Direct {
                    planner.method = Method::Winograd2;
                }
                planner.chain(&blocks, layers[0], to);
            },
        );
    }
}

#[test]
fn pointwise_over_sources_of_every_form() {
    for seed in 0..tried(40) {
        let mut random = Random(seed, 2);
        let (images, height, width) = (random.pick(1, 3), 2 * random.pick(1, 9), 2 * random.pick(1, 20));
        let sources: Vec<(Tensor, Form)> = (0..random.pick(1, 3))
            .map(|_| {
                let channels = random.pick(1, 40);
                match random.pick(0, 2) {
                    0 => (random.tensor(&[images, channels, height, width]), Form::Plain),
                    1 => {
                        let odd = random.pick(0, 1);
                        (random.tensor(&[images, channels, 2 * height + odd, 2 * width + odd]), Form::Pooled)
                    }
                    _ => (random.tensor(&[images, channels, height / 2, width / 2]), Form::Upsampled(SLOPE)),
                }
            })
            .collect();
        let formed = sources.iter().map(|(tensor, form)| match form {
            Form::Plain => tensor.clone(),
            Form::Pooled => max_pool(tensor),
            Form::Upsampled(_) => leaky(bilinear(tensor)),
        });
        let channels: usize = sources.iter().map(|(t, _)| t.nchw()[1]).sum();
        let unit = unit("u", channels, random.pick(1, 70), 1);
        let weights = weights_of(&[&unit], &mut random);
        let area = height * width;
        let formed: Vec<Tensor> = formed.collect();
        let data = (0..images)
            .flat_map(|i| formed.iter().flat_map(move |t| &t.data()[i * t.nchw()[1] * area..][..t.nchw()[1] * area]));
        let x = Tensor::from_vec(&[images, channels, height, width], data.copied().collect()).unwrap();
        let expected = leaky(defined(&unit, &weights, &x));
        let inputs: Vec<&Tensor> = sources.iter().map(|(t, _)| t).collect();
        check(&format!("seed {seed}"), &weights, &inputs, &expected, &|planner, layers, to| {
            let sources = layers.iter().zip(&sources).map(|(layer, (_, form))| (*layer, *form)).collect();
            planner.pointwise(&unit, "u", sources, to, SLOPE);
        });
    }
}

#[test]
fn doublings_and_sums() {
    for seed in 0..tried(20) {
        let mut random = Random(seed, 3);
        let unit =
            Unit { transposed: true, stride: 2, padding: 0, ..unit("u", random.pick(1, 50), random.pick(1, 50), 2) };
        let weights = weights_of(&[&unit], &mut random);
        let (images, height, width) = (random.pick(1, 3), random.pick(1, 9), random.pick(1, 20));
        let x = random.tensor(&[images, unit.inputs, height, width]);
        let y = leaky(defined(&unit, &weights, &x));
        check(&format!("doubling, seed {seed}"), &weights, &[&x], &y, &|planner, layers, to| {
            planner.doubling(&unit, layers[0], to);
        });
        let other = random.tensor(&[images, unit.inputs, 2 * height, 2 * width]);
        let sum = added(leaky(bilinear(&x)), &other);
        check(&format!("sum, seed {seed}"), &weights, &[&x, &other], &sum, &|planner, layers, to| {
            planner.sum("u", layers[0], Form::Upsampled(SLOPE), Some(layers[1]), to);
        });
    }
}
