use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::error::Error;
use crate::network::{Network, Parameter};
use crate::tensor::Tensor;

/// The parameters and buffers of a network, by their PyTorch names, complete and with the correct shapes.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    tensors: BTreeMap<String, Tensor>,
}

/// The source of a network's parameters for a plan.
pub trait Parameters {
    /// The values of a parameter or buffer by its PyTorch name, row-major, as many as its shape requires. Requested
    /// once or a few times each, when it is packed.
    fn numbers(&self, name: &str, count: usize) -> Cow<'_, [f32]>;
}

impl Parameters for Weights {
    /// # Panics
    /// If the network for which these weights were made has no such parameter.
    fn numbers(&self, name: &str, _: usize) -> Cow<'_, [f32]> {
        Cow::Borrowed(self.get(name).data())
    }
}

impl Weights {
    /// Selects the network's parameters from named tensors, with or without a prefix, such as the `module.` of a
    /// network that was trained by several processes.
    ///
    /// A missing tensor, a wrong shape, a value that is not finite, and a weight that is not in the configuration are
    /// errors: each would compute a network other than the file's. Tensors that belong to no module of the network
    /// (`input`, `output.plane0`) and `num_batches_tracked` are ignored.
    pub fn from_tensors(network: &Network, mut tensors: BTreeMap<String, Tensor>) -> Result<Weights, Error> {
        let first = format!("{}.weight", network.initial.conv_path);
        let fronts = tensors.keys().filter_map(|name| name.strip_suffix(&first).map(str::to_string));
        let front = fronts.min_by_key(String::len).filter(|front| front.ends_with('.'));
        if let Some(front) = front {
            let bare = |name: String| name.strip_prefix(&front).map(str::to_string).unwrap_or(name);
            let all = std::mem::take(&mut tensors);
            tensors.extend(all.into_iter().map(|(name, tensor)| (bare(name), tensor)));
        }
        let mut chosen = BTreeMap::new();
        for Parameter { name, shape, .. } in network.parameters() {
            let Some(tensor) = tensors.remove(&name) else {
                return Err(Error::MissingKey { key: name, expected: shape });
            };
            if tensor.shape() != shape {
                return Err(Error::Shape { key: name, expected: shape, found: tensor.shape().to_vec() });
            }
            tensor.check_finite(&name)?;
            chosen.insert(name, tensor);
        }
        let modules = ["initial_convolution.", "net_core.", "final_layer.", "bottleneck."];
        let left = tensors.into_iter().find(|(name, _)| {
            modules.iter().any(|module| name.starts_with(module)) && !name.ends_with(".num_batches_tracked")
        });
        match left {
            Some((key, tensor)) => Err(Error::UnexpectedKey { key, found: tensor.shape().to_vec() }),
            None => Ok(Weights { tensors: chosen }),
        }
    }

    /// Weights generated from a seed, the same on every machine; for tests and timing, not for physics.
    ///
    /// Each value depends only on the seed, the tensor's name and its position. Weights are scaled so that the maps
    /// neither vanish nor overflow, and running statistics, scales and biases are all different from their defaults.
    pub fn seeded(network: &Network, seed: u64) -> Weights {
        let tensor = |p: &Parameter| {
            let salt = fnv1a(&p.name).wrapping_add(seed);
            let count = p.shape.iter().product();
            let data = (0..count).map(|i| value(p, unit_interval(salt, i)) as f32).collect();
            Tensor::from_vec(&p.shape, data).expect("as many values as the shape holds")
        };
        let mut tensors = BTreeMap::new();
        tensors.extend(network.parameters().iter().map(|p| (p.name.clone(), tensor(p))));
        Weights { tensors }
    }

    /// Tensors that no network requires, for tests of single layers.
    #[cfg(test)]
    pub(crate) fn unchecked(tensors: BTreeMap<String, Tensor>) -> Weights {
        Weights { tensors }
    }

    /// One tensor by its PyTorch name.
    ///
    /// # Panics
    /// If the network for which these weights were made has no such parameter.
    pub fn get(&self, name: &str) -> &Tensor {
        self.tensors.get(name).unwrap_or_else(|| panic!("{name} is not a parameter of this network"))
    }

    /// All tensors by name, for export.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Tensor)> {
        self.tensors.iter().map(|(name, tensor)| (name.as_str(), tensor))
    }
}

fn value(parameter: &Parameter, u: f64) -> f64 {
    let name = parameter.name.as_str();
    let around_zero = 2.0 * u - 1.0;
    if let [_, inputs, rows, columns] = parameter.shape[..] {
        around_zero * (6.0 / (inputs * rows * columns) as f64).sqrt()
    } else if name.ends_with(".running_mean") || name.ends_with(".norm.bias") {
        around_zero * 0.2
    } else if name.ends_with(".running_var") {
        0.5 + 1.5 * u
    } else if name.ends_with(".norm.weight") && name.contains(".convolution_2.") {
        // A residual block adds its input, so its second unit is kept small.
        0.2 + 0.3 * u
    } else if name.ends_with(".norm.weight") {
        0.6 + 0.8 * u
    } else {
        around_zero * 0.1
    }
}

/// The FNV-1a hash of a name.
fn fnv1a(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The `index`-th number of the splitmix64 sequence that starts at `salt`, as 24 bits in [0, 1).
pub(crate) fn unit_interval(salt: u64, index: usize) -> f64 {
    let mut z = salt.wrapping_add((index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    (z >> 40) as f64 / f64::from(1 << 24)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn small() -> Network {
        let config = Config { depth: 1, n_initial_filters: 2, bottleneck_deepest: 3, ..Config::default() };
        Network::new(&config).unwrap()
    }

    #[test]
    fn seeded_values_are_the_published_ones() {
        let weights = Weights::seeded(&Network::new(&Config::default()).unwrap(), 0);
        let check = |name, expected: [f32; 3]| assert_eq!(weights.get(name).data()[..3], expected, "{name}");
        check("initial_convolution.conv.weight", [0.218_701_21, -0.307_719_53, 0.232_037_17]);
        check("net_core.downsample.bottleneck.norm.running_var", [1.861_449_5, 0.537_980_9, 1.016_156_9]);
        check("bottleneck.weight", [0.231_063_02, 0.287_366_03, 0.446_783_6]);
    }

    #[test]
    fn a_file_of_another_network_is_refused_by_name_and_shape() {
        let network = small();
        let whole = Weights::seeded(&network, 1).tensors;
        let check = |change: &dyn Fn(&mut BTreeMap<String, Tensor>), expected: Result<(), &str>| {
            let mut tensors = whole.clone();
            change(&mut tensors);
            let found = Weights::from_tensors(&network, tensors).map(|w| assert_eq!(w.tensors, whole));
            assert_eq!(found.map_err(|e| e.to_string()), expected.map_err(str::to_string));
        };
        check(&|_| (), Ok(()));
        check(
            &|t| {
                *t = t.iter().map(|(k, v)| (format!("module.{k}"), v.clone())).collect();
                t.insert("input".to_string(), Tensor::zeros(&[1]));
                t.insert("module.initial_convolution.norm.num_batches_tracked".to_string(), Tensor::zeros(&[]));
            },
            Ok(()),
        );
        check(&|t| *t = t.iter().map(|(k, v)| (format!("_orig_mod.module.{k}"), v.clone())).collect(), Ok(()));
        check(
            &|t| drop(t.remove("bottleneck.weight")),
            Err("weights: bottleneck.weight is missing; the configuration expects it with shape [3, 2, 1, 1]"),
        );
        check(
            &|t| drop(t.insert("bottleneck.bias".to_string(), Tensor::zeros(&[4]))),
            Err("bottleneck.bias: expected shape [3], found [4]"),
        );
        check(
            &|t| drop(t.insert("net_core.extra.weight".to_string(), Tensor::zeros(&[1, 2]))),
            Err("weights: net_core.extra.weight with shape [1, 2] is not part of this configuration"),
        );
        check(
            &|t| t.get_mut("bottleneck.bias").unwrap().data_mut()[2] = f32::NAN,
            Err("bottleneck.bias: the value at position 2 is not finite"),
        );
    }
}
