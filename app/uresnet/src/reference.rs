//! The forward pass written for readability: one loop per operation, f64 sums, no tricks.
//!
//! All faster code is tested against this. The three planes are one batch: image `b * 3 + p` is plane `p` of picture
//! `b`, so a joined map of `3N` channels is the same data with a different shape.

use crate::error::Error;
use crate::network::{Block, CLASSES, Connection, Deepest, Level, Network, PLANES, Series, Unit};
use crate::stage::{Stage, show};
use crate::tensor::Tensor;
use crate::weights::Weights;

/// Batch normalisation's epsilon, against a variance of zero.
pub(crate) const EPSILON: f64 = 1e-5;

/// Leaky ReLU's factor for negative values.
pub(crate) const SLOPE: f32 = 0.01;

/// Runs the network on images [B, 3, H, W]; the logits are [B, 3 planes, 3 classes, H, W].
pub fn forward(network: &Network, weights: &Weights, input: &Tensor) -> Result<Tensor, Error> {
    pass(network, weights, input, None)
}

/// The same, showing the output of every module when it is computed.
pub fn forward_with(
    network: &Network,
    weights: &Weights,
    input: &Tensor,
    observe: &mut dyn FnMut(Stage),
) -> Result<Tensor, Error> {
    pass(network, weights, input, Some(observe))
}

fn pass<'a>(
    network: &Network,
    weights: &'a Weights,
    input: &Tensor,
    observe: Option<&'a mut (dyn FnMut(Stage) + 'a)>,
) -> Result<Tensor, Error> {
    let [pictures, height, width] = check_input(network, input)?;
    let mut pass = Pass { weights, observe, joined: false };
    let x = input.clone().reshaped(&[pictures * PLANES, 1, height, width]);
    let x = pass.unit(&network.initial, x);
    let x = pass.core(network, 0, x);
    let x = pass.series(&network.final_blocks, x);
    let x = pass.unit(&network.head, x);
    let [_, _, height, width] = x.nchw();
    Ok(x.reshaped(&[pictures, PLANES, CLASSES, height, width]))
}

/// Number of images, height and width of a valid input.
pub(crate) fn check_input(network: &Network, input: &Tensor) -> Result<[usize; 3], Error> {
    let &[pictures, planes, height, width] = input.shape() else {
        return Err(Error::Input(format!("expected [images, 3, height, width], found {:?}", input.shape())));
    };
    if planes != PLANES {
        return Err(Error::Input(format!("expected 3 planes as channels, found {planes} in {:?}", input.shape())));
    }
    network.config.output_size(height, width)?;
    input.check_finite("input")?;
    Ok([pictures, height, width])
}

struct Pass<'a> {
    weights: &'a Weights,
    observe: Option<&'a mut (dyn FnMut(Stage) + 'a)>,
    joined: bool,
}

impl Pass<'_> {
    fn show(&mut self, path: &str, output: &Tensor) {
        if let Some(observe) = &mut self.observe {
            show(*observe, path, output, self.joined);
        }
    }

    fn core(&mut self, network: &Network, depth: usize, input: Tensor) -> Tensor {
        let Some(level) = network.levels.get(depth) else {
            return self.deepest(&network.deepest, input);
        };
        let x = self.series(&level.down_blocks, input.clone());
        let x = self.down(level, x);
        let x = self.core(network, depth + 1, x);
        let x = self.up(level, x);
        let x = match &level.connection {
            Connection::None => x,
            Connection::Sum => add(x, &input),
            Connection::Concat(unit) => self.unit(unit, concat(&x, &input)),
        };
        self.show(&format!("{}.connection", level.path), &x);
        let x = self.series(&level.up_blocks, x);
        self.show(&level.path, &x);
        x
    }

    fn down(&mut self, level: &Level, x: Tensor) -> Tensor {
        if !level.pooled {
            return self.unit(&level.down, x);
        }
        let x = self.unit(&level.down, max_pool(&x));
        self.show(&format!("{}.downsample", level.path), &x);
        x
    }

    fn up(&mut self, level: &Level, x: Tensor) -> Tensor {
        if level.up.transposed {
            return self.unit(&level.up, x);
        }
        let x = self.unit(&level.up, bilinear(&x));
        self.show(&format!("{}.upsample", level.path), &x);
        x
    }

    fn deepest(&mut self, deepest: &Deepest, x: Tensor) -> Tensor {
        let [images, channels, height, width] = x.nchw();
        let x = if deepest.joined { x.reshaped(&[images / PLANES, channels * PLANES, height, width]) } else { x };
        self.joined = deepest.joined;
        let x = self.unit(&deepest.bottleneck, x);
        let x = self.series(&deepest.blocks, x);
        let x = self.unit(&deepest.unbottleneck, x);
        self.joined = false;
        let [_, _, height, width] = x.nchw();
        let x = x.reshaped(&[images, channels, height, width]);
        self.show(&deepest.path, &x);
        x
    }

    fn series(&mut self, series: &Series, mut x: Tensor) -> Tensor {
        for block in &series.blocks {
            x = match block {
                Block::Plain(unit) => self.unit(unit, x),
                Block::Residual { path, first, second } => {
                    let y = self.unit(first, x.clone());
                    let y = leaky_relu(add(self.unit(second, y), &x));
                    self.show(path, &y);
                    y
                }
            };
        }
        self.show(&series.path, &x);
        x
    }

    fn unit(&mut self, unit: &Unit, x: Tensor) -> Tensor {
        let weight = self.weights.get(&format!("{}.weight", unit.conv_path));
        let bias = unit.bias.then(|| self.weights.get(&format!("{}.bias", unit.conv_path)).data());
        let mut y = if unit.transposed {
            transposed_convolution(&x, weight, bias)
        } else {
            convolution(&x, weight, bias, unit.stride, unit.padding)
        };
        if unit.normalized {
            let [weight, bias, mean, variance] = ["weight", "bias", "running_mean", "running_var"]
                .map(|name| self.weights.get(&format!("{}.norm.{name}", unit.path)).data());
            let [images, channels, height, width] = y.nchw();
            for (i, map) in y.data_mut().chunks_mut((height * width).max(1)).take(images * channels).enumerate() {
                let c = i % channels;
                let scale = f64::from(weight[c]) / (f64::from(variance[c]) + EPSILON).sqrt();
                for v in map {
                    *v = ((f64::from(*v) - f64::from(mean[c])) * scale + f64::from(bias[c])) as f32;
                }
            }
        }
        if unit.activated {
            y = leaky_relu(y);
        }
        self.show(&unit.path, &y);
        y
    }
}

/// A convolution with a square kernel, zeros around the map; weight [outputs, inputs, rows, columns].
pub fn convolution(x: &Tensor, weight: &Tensor, bias: Option<&[f32]>, stride: usize, padding: usize) -> Tensor {
    let [images, inputs, height, width] = x.nchw();
    let [outputs, _, kernel, _] = weight.nchw();
    let length = |n: usize| (n + 2 * padding).checked_sub(kernel).map_or(0, |n| n / stride + 1);
    let (rows, columns) = (length(height), length(width));
    let mut y = Tensor::zeros(&[images, outputs, rows, columns]);
    let mut sums = vec![0f64; rows * columns];
    for (i, map) in y.data_mut().chunks_mut((rows * columns).max(1)).enumerate() {
        let (image, output) = (i / outputs, i % outputs);
        sums.fill(bias.map_or(0.0, |b| f64::from(b[output])));
        for input in 0..inputs {
            let from = &x.data()[(image * inputs + input) * height * width..][..height * width];
            for (t, &w) in
                weight.data()[(output * inputs + input) * kernel * kernel..][..kernel * kernel].iter().enumerate()
            {
                let (dy, dx) = (t / kernel, t % kernel);
                for row in 0..rows {
                    let Some(source) = (row * stride + dy).checked_sub(padding).filter(|&r| r < height) else {
                        continue;
                    };
                    for column in 0..columns {
                        let Some(c) = (column * stride + dx).checked_sub(padding).filter(|&c| c < width) else {
                            continue;
                        };
                        sums[row * columns + column] += f64::from(w) * f64::from(from[source * width + c]);
                    }
                }
            }
        }
        for (v, sum) in map.iter_mut().zip(&sums) {
            *v = *sum as f32;
        }
    }
    y
}

/// A transposed convolution with a 2x2 kernel and stride 2; weight [inputs, outputs, 2, 2].
pub fn transposed_convolution(x: &Tensor, weight: &Tensor, bias: Option<&[f32]>) -> Tensor {
    let [images, inputs, height, width] = x.nchw();
    let [_, outputs, ..] = weight.nchw();
    let mut y = Tensor::zeros(&[images, outputs, 2 * height, 2 * width]);
    for (i, v) in y.data_mut().iter_mut().enumerate() {
        let (column, row) = (i % (2 * width), i / (2 * width) % (2 * height));
        let (output, image) = (i / (4 * height * width) % outputs, i / (4 * height * width) / outputs);
        let tap = row % 2 * 2 + column % 2;
        let mut sum = bias.map_or(0.0, |b| f64::from(b[output]));
        for input in 0..inputs {
            let value = x.data()[((image * inputs + input) * height + row / 2) * width + column / 2];
            sum += f64::from(weight.data()[(input * outputs + output) * 4 + tap]) * f64::from(value);
        }
        *v = sum as f32;
    }
    y
}

/// The maximum of each 2x2; an odd last row or column is dropped.
pub fn max_pool(x: &Tensor) -> Tensor {
    let [images, channels, height, width] = x.nchw();
    let (rows, columns) = (height / 2, width / 2);
    let mut y = Tensor::zeros(&[images, channels, rows, columns]);
    for (i, v) in y.data_mut().iter_mut().enumerate() {
        let (map, row, column) = (i / (rows * columns), i / columns % rows, i % columns);
        let at = |r, c| x.data()[(map * height + 2 * row + r) * width + 2 * column + c];
        *v = at(0, 0).max(at(0, 1)).max(at(1, 0)).max(at(1, 1));
    }
    y
}

/// Twice as many rows and columns, with linear interpolation; pixels are areas, so the corners are not aligned.
pub fn bilinear(x: &Tensor) -> Tensor {
    let [images, channels, height, width] = x.nchw();
    let mut y = Tensor::zeros(&[images, channels, 2 * height, 2 * width]);
    for (i, v) in y.data_mut().iter_mut().enumerate() {
        let (map, row, column) = (i / (4 * height * width), i / (2 * width) % (2 * height), i % (2 * width));
        let ((top, bottom, down), (left, right, across)) = (neighbours(row, height), neighbours(column, width));
        let at = |r: usize, c: usize| x.data()[(map * height + r) * width + c];
        let upper = at(top, left) * (1.0 - across) + at(top, right) * across;
        let lower = at(bottom, left) * (1.0 - across) + at(bottom, right) * across;
        *v = upper * (1.0 - down) + lower * down;
    }
    y
}

/// The two source positions of an upsampled position, and the weight of the second.
pub(crate) fn neighbours(position: usize, length: usize) -> (usize, usize, f32) {
    let source = ((position as f32 + 0.5) / 2.0 - 0.5).max(0.0);
    let first = source as usize;
    (first, (first + 1).min(length - 1), source - first as f32)
}

fn concat(a: &Tensor, b: &Tensor) -> Tensor {
    let ([images, first, height, width], [_, second, ..]) = (a.nchw(), b.nchw());
    let mut data = Vec::with_capacity(a.data().len() + b.data().len());
    for image in 0..images {
        data.extend_from_slice(&a.data()[image * first * height * width..][..first * height * width]);
        data.extend_from_slice(&b.data()[image * second * height * width..][..second * height * width]);
    }
    Tensor::from_vec(&[images, first + second, height, width], data).expect("two maps of one size")
}

fn add(mut a: Tensor, b: &Tensor) -> Tensor {
    a.data_mut().iter_mut().zip(b.data()).for_each(|(a, b)| *a += b);
    a
}

fn leaky_relu(mut x: Tensor) -> Tensor {
    x.data_mut().iter_mut().filter(|v| **v < 0.0).for_each(|v| *v *= SLOPE);
    x
}
