//! The network as a tree: the meaning of a [`Config`], layer by layer, with PyTorch's module paths.
//!
//! Everything that traverses the network (the list of parameters, the scalar forward pass, the plan) traverses this
//! tree, so a configuration is interpreted in one place.

use crate::config::{Config, Connections, Downsampling, Normalization, Upsampling};
use crate::error::Error;

/// Input planes of an image; every layer but the deepest treats them alike.
pub const PLANES: usize = 3;

/// The network's classes: background, cosmic, neutrino.
pub const CLASSES: usize = 3;

/// The layers of a configuration.
#[derive(Clone, Debug)]
pub struct Network {
    /// The configuration it was built from.
    pub config: Config,
    /// The 5x5 unit that widens one plane to `n_initial_filters`.
    pub initial: Unit,
    /// The levels, full size first.
    pub levels: Vec<Level>,
    /// Between the two paths.
    pub deepest: Deepest,
    /// Blocks after the upsampling path.
    pub final_blocks: Series,
    /// The 1x1 convolution to the classes; neither normalised nor activated.
    pub head: Unit,
}

/// One level: down, everything deeper, up.
#[derive(Clone, Debug)]
pub struct Level {
    /// Module path, for the names of stages.
    pub path: String,
    /// Channels at this level.
    pub width: usize,
    /// Blocks before halving.
    pub down_blocks: Series,
    /// The halving: a 2x2 unit with stride 2, or a 1x1 unit after max pooling.
    pub down: Unit,
    /// The image is max-pooled before `down`.
    pub pooled: bool,
    /// The doubling: a transposed 2x2 unit, or a 1x1 unit after bilinear interpolation.
    pub up: Unit,
    /// How the level's input is connected.
    pub connection: Connection,
    /// Blocks after the connection.
    pub up_blocks: Series,
}

/// How the level's input is connected in the upsampling path.
#[derive(Clone, Debug)]
pub enum Connection {
    /// Not at all.
    None,
    /// Added.
    Sum,
    /// Channels of the upsampling path, then those of the level's input, through a 1x1 unit.
    Concat(Unit),
}

/// The deepest block.
#[derive(Clone, Debug)]
pub struct Deepest {
    /// Module path, for the names of stages.
    pub path: String,
    /// The three planes are joined as channels of one map.
    pub joined: bool,
    /// To `bottleneck_deepest` channels.
    pub bottleneck: Unit,
    /// Blocks at that width.
    pub blocks: Series,
    /// And back.
    pub unbottleneck: Unit,
}

/// Consecutive blocks.
#[derive(Clone, Debug)]
pub struct Series {
    /// Module path, for the names of stages.
    pub path: String,
    /// The blocks; none is the identity.
    pub blocks: Vec<Block>,
}

/// One block of a series.
#[derive(Clone, Debug)]
pub enum Block {
    /// One unit.
    Plain(Unit),
    /// Two units, the second not activated; the block's input is added and the sum activated.
    Residual {
        /// Module path, for the names of stages.
        path: String,
        /// Activated.
        first: Unit,
        /// Not activated by itself.
        second: Unit,
    },
}

/// Convolution, then normalisation, then leaky ReLU, the last two optional.
#[derive(Clone, Debug)]
pub struct Unit {
    /// Module path of the unit.
    pub path: String,
    /// Module path of its convolution, the prefix of `weight` and `bias`.
    pub conv_path: String,
    /// Input channels.
    pub inputs: usize,
    /// Output channels.
    pub outputs: usize,
    /// Rows and columns of the kernel.
    pub kernel: usize,
    /// Step of the kernel.
    pub stride: usize,
    /// Zero rows and columns around the map.
    pub padding: usize,
    /// The convolution is transposed: it doubles the map instead of halving it.
    pub transposed: bool,
    /// There is a bias.
    pub bias: bool,
    /// There is a batch normalisation, under `norm` next to `conv`.
    pub normalized: bool,
    /// It is followed by leaky ReLU.
    pub activated: bool,
}

/// A parameter or buffer of the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Name in PyTorch's `state_dict`.
    pub name: String,
    /// Shape in PyTorch's order.
    pub shape: Vec<usize>,
    /// Trained by gradient; running statistics are not.
    pub learned: bool,
}

impl Network {
    /// Builds the layers of a configuration.
    pub fn new(config: &Config) -> Result<Network, Error> {
        config.check()?;
        let build = Builder { config };
        let mut path = "net_core".to_string();
        let mut levels = Vec::new();
        for depth in 0..config.depth {
            levels.push(build.level(&path, config.width(depth), config.width(depth + 1)));
            path.push_str(".main_module");
        }
        // The core of depth zero only wraps the deepest block, hence one more step than levels.
        path.push_str(".main_module");
        let filters = config.n_initial_filters;
        let mut head = build.unit("bottleneck", filters, CLASSES, 1);
        head.conv_path = head.path.clone();
        (head.normalized, head.activated) = (false, false);
        Ok(Network {
            initial: build.unit("initial_convolution", 1, filters, 5),
            levels,
            deepest: build.deepest(path),
            final_blocks: build.series("final_layer".to_string(), config.blocks_final, filters, 3),
            head,
            config: config.clone(),
        })
    }

    /// Every parameter and buffer in the order of PyTorch's `state_dict`, without `num_batches_tracked`.
    pub fn parameters(&self) -> Vec<Parameter> {
        self.units().into_iter().flat_map(Unit::parameters).collect()
    }

    /// The number of trained values, as PyTorch counts them.
    pub fn parameter_count(&self) -> usize {
        let learned = self.parameters().into_iter().filter(|p| p.learned);
        learned.map(|p| p.shape.iter().product::<usize>()).sum()
    }

    /// Paths of the modules whose outputs can be shown, in the order of execution.
    pub fn stages(&self) -> Vec<String> {
        let mut paths = vec![self.initial.path.clone()];
        for level in &self.levels {
            level.down_blocks.stages(&mut paths);
            paths.push(level.down.path.clone());
            paths.extend(level.pooled.then(|| format!("{}.downsample", level.path)));
        }
        paths.push(self.deepest.bottleneck.path.clone());
        self.deepest.blocks.stages(&mut paths);
        paths.extend([&self.deepest.unbottleneck.path, &self.deepest.path].map(String::clone));
        for level in self.levels.iter().rev() {
            paths.push(level.up.path.clone());
            paths.extend((!level.up.transposed).then(|| format!("{}.upsample", level.path)));
            if let Connection::Concat(unit) = &level.connection {
                paths.push(unit.path.clone());
            }
            paths.push(format!("{}.connection", level.path));
            level.up_blocks.stages(&mut paths);
            paths.push(level.path.clone());
        }
        self.final_blocks.stages(&mut paths);
        paths.push(self.head.path.clone());
        paths
    }

    /// All units in the order of the `state_dict`.
    pub fn units(&self) -> Vec<&Unit> {
        let mut units = vec![&self.initial];
        for level in &self.levels {
            units.extend(level.down_blocks.units());
            units.push(&level.down);
        }
        units.push(&self.deepest.bottleneck);
        units.extend(self.deepest.blocks.units());
        units.push(&self.deepest.unbottleneck);
        for level in self.levels.iter().rev() {
            units.push(&level.up);
            if let Connection::Concat(unit) = &level.connection {
                units.push(unit);
            }
            units.extend(level.up_blocks.units());
        }
        units.extend(self.final_blocks.units());
        units.push(&self.head);
        units
    }
}

impl Series {
    fn units(&self) -> impl Iterator<Item = &Unit> {
        self.blocks.iter().flat_map(|block| match block {
            Block::Plain(unit) => vec![unit],
            Block::Residual { first, second, .. } => vec![first, second],
        })
    }
}

impl Series {
    fn stages(&self, paths: &mut Vec<String>) {
        for block in &self.blocks {
            if let Block::Residual { first, second, .. } = block {
                paths.extend([&first.path, &second.path].map(String::clone));
            }
            paths.push(block.path().to_string());
        }
        paths.push(self.path.clone());
    }
}

impl Block {
    /// Module path of the block.
    pub fn path(&self) -> &str {
        match self {
            Block::Plain(unit) => &unit.path,
            Block::Residual { path, .. } => path,
        }
    }
}

impl Unit {
    /// Parameters and buffers of the unit.
    pub fn parameters(&self) -> Vec<Parameter> {
        let (a, b) = if self.transposed { (self.inputs, self.outputs) } else { (self.outputs, self.inputs) };
        let mut all = vec![Parameter {
            name: format!("{}.weight", self.conv_path),
            shape: vec![a, b, self.kernel, self.kernel],
            learned: true,
        }];
        let mut vector = |name: String, learned| all.push(Parameter { name, shape: vec![self.outputs], learned });
        if self.bias {
            vector(format!("{}.bias", self.conv_path), true);
        }
        if self.normalized {
            for (name, learned) in [("weight", true), ("bias", true), ("running_mean", false), ("running_var", false)] {
                vector(format!("{}.norm.{name}", self.path), learned);
            }
        }
        all
    }

    /// Height or width after the unit.
    pub fn output_length(&self, input: usize) -> usize {
        if self.transposed {
            input * 2
        } else {
            (input + 2 * self.padding).saturating_sub(self.kernel) / self.stride + 1
        }
    }
}

struct Builder<'a> {
    config: &'a Config,
}

impl Builder<'_> {
    fn unit(&self, path: &str, inputs: usize, outputs: usize, kernel: usize) -> Unit {
        Unit {
            path: path.to_string(),
            conv_path: format!("{path}.conv"),
            inputs,
            outputs,
            kernel,
            stride: 1,
            padding: (kernel - 1) / 2,
            transposed: false,
            bias: self.config.bias,
            normalized: self.config.normalization == Normalization::Batch,
            activated: true,
        }
    }

    fn series(&self, path: String, blocks: usize, width: usize, kernel: usize) -> Series {
        let block = |i| {
            let path = format!("{path}.blocks.{i}");
            if self.config.residual {
                let unit = |name: &str| self.unit(&format!("{path}.{name}"), width, width, kernel);
                let (first, second) = (unit("convolution_1"), Unit { activated: false, ..unit("convolution_2") });
                Block::Residual { path, first, second }
            } else {
                Block::Plain(self.unit(&path, width, width, kernel))
            }
        };
        Series { blocks: (0..blocks).map(block).collect(), path }
    }

    fn level(&self, path: &str, width: usize, deeper: usize) -> Level {
        let config = self.config;
        let halve = |unit: Unit| Unit { stride: 2, padding: 0, ..unit };
        let pooled = config.downsampling == Downsampling::MaxPooling;
        let down = if pooled {
            self.unit(&format!("{path}.downsample.bottleneck"), width, deeper, 1)
        } else {
            halve(self.unit(&format!("{path}.downsample"), width, deeper, 2))
        };
        let up = match config.upsampling {
            Upsampling::Interpolation => self.unit(&format!("{path}.upsample.bottleneck"), deeper, width, 1),
            Upsampling::Convolutional => {
                Unit { transposed: true, ..halve(self.unit(&format!("{path}.upsample"), deeper, width, 2)) }
            }
        };
        let connection = match config.connections {
            Connections::None => Connection::None,
            Connections::Sum => Connection::Sum,
            Connections::Concat => {
                Connection::Concat(self.unit(&format!("{path}.connection.bottleneck"), 2 * width, width, 1))
            }
        };
        let series = |name| self.series(format!("{path}.{name}"), config.blocks_per_layer, width, 3);
        Level {
            path: path.to_string(),
            width,
            down_blocks: series("down_blocks"),
            down,
            pooled,
            up,
            connection,
            up_blocks: series("up_blocks"),
        }
    }

    fn deepest(&self, path: String) -> Deepest {
        let config = self.config;
        let joined = !config.block_concat;
        let outer = config.width(config.depth) * if joined { PLANES } else { 1 };
        let inner = config.bottleneck_deepest;
        Deepest {
            joined,
            bottleneck: self.unit(&format!("{path}.bottleneck"), outer, inner, 1),
            blocks: self.series(
                format!("{path}.blocks"),
                config.blocks_deepest_layer,
                inner,
                config.filter_size_deepest,
            ),
            unbottleneck: self.unit(&format!("{path}.unbottleneck"), inner, outer, 1),
            path,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_have_their_parameter_counts() {
        let check = |name, expected| {
            let network = Network::new(&Config::preset(name).unwrap()).unwrap();
            assert_eq!(network.parameter_count(), expected, "{name}");
        };
        check("uresnet", 18_382_131);
        check("a21", 8_510_547);
        check("scc21", 18_367_891);
        check("polaris", 1_926_403);
    }

    #[test]
    fn uresnet_has_the_tensors_of_its_state_dict() {
        let parameters = Network::new(&Config::default()).unwrap().parameters();
        let ends = |suffix: &str| parameters.iter().filter(|p| p.name.ends_with(suffix)).count();
        // 90 convolutions, 89 of them normalised; PyTorch's `num_batches_tracked` is not included.
        assert_eq!(parameters.len(), 90 * 2 + 89 * 4);
        assert_eq!(ends(".running_mean"), 89);
        assert_eq!(parameters.iter().filter(|p| p.shape.len() == 4).count(), 90);
        assert_eq!(parameters[0].name, "initial_convolution.conv.weight");
        assert_eq!(parameters.last().unwrap().name, "bottleneck.bias");
    }
}
