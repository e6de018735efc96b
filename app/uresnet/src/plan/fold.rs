use crate::network::Unit;
use crate::reference::EPSILON;
use crate::weights::Parameters;

/// A unit's convolution with its normalisation folded in, in f64 until it is packed.
pub(crate) struct Folded {
    /// `[output][input][row][column]`, also for a transposed unit.
    pub(crate) weight: Vec<f64>,
    /// One per output.
    pub(crate) bias: Vec<f64>,
    pub(crate) outputs: usize,
    pub(crate) inputs: usize,
    /// Rows times columns.
    pub(crate) taps: usize,
}

impl Folded {
    /// Reads a unit's weights and folds in its normalisation.
    pub(crate) fn new(unit: &Unit, weights: &dyn Parameters) -> Folded {
        let (outputs, inputs, taps) = (unit.outputs, unit.inputs, unit.kernel * unit.kernel);
        let raw = weights.numbers(&format!("{}.weight", unit.conv_path), outputs * inputs * taps);
        let mut weight = vec![0.0; outputs * inputs * taps];
        for (i, w) in weight.iter_mut().enumerate() {
            let (output, input, tap) = (i / (inputs * taps), i / taps % inputs, i % taps);
            let at = if unit.transposed { (input * outputs + output) * taps + tap } else { i };
            *w = raw[at].into();
        }
        let mut bias = vec![0.0; outputs];
        if unit.bias {
            let raw = weights.numbers(&format!("{}.bias", unit.conv_path), outputs);
            bias = raw.iter().map(|&b| b.into()).collect();
        }
        if unit.normalized {
            let [gain, shift, mean, variance] = ["weight", "bias", "running_mean", "running_var"]
                .map(|name| weights.numbers(&format!("{}.norm.{name}", unit.path), outputs));
            for output in 0..outputs {
                let scale = f64::from(gain[output]) / (f64::from(variance[output]) + EPSILON).sqrt();
                bias[output] = (bias[output] - f64::from(mean[output])) * scale + f64::from(shift[output]);
                weight[output * inputs * taps..][..inputs * taps].iter_mut().for_each(|w| *w *= scale);
            }
        }
        Folded { weight, bias, outputs, inputs, taps }
    }

    /// Only the outputs `first..first + count`.
    pub(crate) fn outputs(&self, first: usize, count: usize) -> Folded {
        let size = self.inputs * self.taps;
        Folded {
            weight: self.weight[first * size..(first + count) * size].to_vec(),
            bias: self.bias[first..first + count].to_vec(),
            outputs: count,
            ..*self
        }
    }

    /// A single tap, as a 1x1 convolution.
    pub(crate) fn tap(&self, tap: usize) -> Folded {
        let weight = self.weight.iter().skip(tap).step_by(self.taps).copied().collect();
        Folded { weight, bias: self.bias.clone(), taps: 1, ..*self }
    }

    /// Packs as `[vector][tap][input][lane]`, outputs padded with zeros to whole vectors.
    pub(crate) fn pack(&self, vectors: usize, lanes: usize) -> Vec<f32> {
        let mut packed = vec![0.0; vectors * self.taps * self.inputs * lanes];
        for (i, &w) in self.weight.iter().enumerate() {
            let (output, input, tap) = (i / (self.inputs * self.taps), i / self.taps % self.inputs, i % self.taps);
            let row = (output / lanes * self.taps + tap) * self.inputs + input;
            packed[row * lanes + output % lanes] = w as f32;
        }
        packed
    }

    /// The bias, padded with zeros.
    pub(crate) fn pack_bias(&self, length: usize) -> Vec<f32> {
        self.bias.iter().map(|&b| b as f32).chain(std::iter::repeat(0.0)).take(length).collect()
    }
}
