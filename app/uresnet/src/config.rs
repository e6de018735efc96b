use serde::{Deserialize, Serialize};

use crate::error::Error;

/// What follows each convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Normalization {
    /// Nothing.
    None,
    /// Batch normalisation with its running statistics.
    Batch,
    /// In the configuration class, but rejected by the PyTorch network, so rejected here.
    Layer,
}

/// How the upsampling path uses the map of the same level in the downsampling path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Connections {
    /// Not at all.
    None,
    /// Added.
    Sum,
    /// Concatenated channels, then a 1x1 unit.
    Concat,
}

/// How the width grows from level to level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrowthRate {
    /// By `n_initial_filters` per level.
    Additive,
    /// By a factor of two per level.
    Multiplicative,
}

/// How a level halves the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Downsampling {
    /// A 2x2 unit with stride 2.
    Convolutional,
    /// Max pooling of 2x2, then a 1x1 unit.
    MaxPooling,
}

/// How a level doubles the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Upsampling {
    /// A transposed 2x2 convolution with stride 2.
    Convolutional,
    /// Bilinear, then a 1x1 unit.
    Interpolation,
}

/// The network's configuration: every field that changes the 2D forward pass, with its name in CosmicTagger.
///
/// A field that is missing in the JSON has the value of the preset `uresnet`; an unknown field is rejected, because a
/// misspelled one would silently describe a different network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Convolutions have a bias, even before a normalisation.
    pub bias: bool,
    /// What follows each convolution.
    pub normalization: Normalization,
    /// Width of the first level.
    pub n_initial_filters: usize,
    /// Blocks of a level in the downsampling path, and the same number in the upsampling path.
    pub blocks_per_layer: usize,
    /// Blocks between the two paths.
    pub blocks_deepest_layer: usize,
    /// Blocks between the upsampling path and the last convolution.
    pub blocks_final: usize,
    /// How many times the image is halved.
    pub depth: usize,
    /// Kernel size of the deepest blocks.
    pub filter_size_deepest: usize,
    /// Width of the deepest blocks.
    pub bottleneck_deepest: usize,
    /// Blocks are residual (two convolutions and a sum) instead of a single unit.
    pub residual: bool,
    /// The reference's name is inverted: `true` keeps the planes separate in the deepest block, `false` joins them.
    pub block_concat: bool,
    /// How the upsampling path uses the downsampling path.
    pub connections: Connections,
    /// How the width grows.
    pub growth_rate: GrowthRate,
    /// How a level halves the image.
    pub downsampling: Downsampling,
    /// How a level doubles the image.
    pub upsampling: Upsampling,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            bias: true,
            normalization: Normalization::Batch,
            n_initial_filters: 16,
            blocks_per_layer: 2,
            blocks_deepest_layer: 5,
            blocks_final: 5,
            depth: 6,
            filter_size_deepest: 5,
            bottleneck_deepest: 256,
            residual: true,
            block_concat: false,
            connections: Connections::Concat,
            growth_rate: GrowthRate::Additive,
            downsampling: Downsampling::MaxPooling,
            upsampling: Upsampling::Interpolation,
        }
    }
}

impl Config {
    /// Names that [`Config::preset`] knows.
    pub const PRESETS: [&'static str; 5] = ["uresnet", "a21", "scc21", "polaris", "small"];

    /// A named configuration: CosmicTagger's, and `small`, which runs in a moment and which the sample weights are for.
    ///
    /// ```
    /// let config = uresnet::Config::preset("polaris").unwrap();
    /// assert_eq!(config.depth, 7);
    /// ```
    pub fn preset(name: &str) -> Option<Config> {
        let uresnet = Config::default();
        match name {
            "uresnet" => Some(uresnet),
            "a21" => Some(Config {
                n_initial_filters: 8,
                residual: false,
                blocks_final: 0,
                connections: Connections::Sum,
                ..uresnet
            }),
            "scc21" => Some(Config { normalization: Normalization::None, ..uresnet }),
            "polaris" => Some(Config {
                depth: 7,
                blocks_deepest_layer: 2,
                blocks_final: 2,
                bottleneck_deepest: 96,
                residual: false,
                connections: Connections::Sum,
                ..uresnet
            }),
            "small" => Some(Config {
                n_initial_filters: 8,
                depth: 4,
                blocks_per_layer: 1,
                blocks_deepest_layer: 2,
                blocks_final: 1,
                filter_size_deepest: 3,
                bottleneck_deepest: 64,
                ..uresnet
            }),
            _ => None,
        }
    }

    /// Reads a configuration from JSON and checks it.
    pub fn from_json(text: &str) -> Result<Config, Error> {
        let config: Config = serde_json::from_str(text).map_err(|e| Error::ConfigFile(e.to_string()))?;
        config.check()?;
        Ok(config)
    }

    /// Rejects values with which no network can be built.
    pub fn check(&self) -> Result<(), Error> {
        let error = |field, problem: &str| Err(Error::Config { field, problem: problem.to_string() });
        if self.normalization == Normalization::Layer {
            return error("normalization", "layer has no 2D implementation in PyTorch's network; use batch or none");
        }
        if self.n_initial_filters == 0 {
            return error("n_initial_filters", "must be at least 1");
        }
        if self.bottleneck_deepest == 0 {
            return error("bottleneck_deepest", "must be at least 1");
        }
        if self.filter_size_deepest == 0 {
            return error("filter_size_deepest", "must be at least 1");
        }
        if self.depth > 16 {
            return error("depth", "must be at most 16");
        }
        if self.residual && self.filter_size_deepest.is_multiple_of(2) && self.blocks_deepest_layer > 0 {
            return error("filter_size_deepest", "must be odd with residual blocks: an even kernel shrinks the map");
        }
        let widest = (0..=self.depth).try_fold(0, |_, level| self.checked_width(level));
        if widest.is_none_or(|w| w > 1 << 20)
            || [self.bottleneck_deepest, self.filter_size_deepest].iter().any(|&n| n > 1 << 20)
            || [self.blocks_per_layer, self.blocks_deepest_layer, self.blocks_final].iter().any(|&n| n > 4096)
        {
            return error("n_initial_filters", "this configuration is too large to compute");
        }
        Ok(())
    }

    /// Channels at a level, counted from the full-size image down; `depth` is the deepest.
    pub fn width(&self, level: usize) -> usize {
        self.checked_width(level).unwrap_or(usize::MAX)
    }

    fn checked_width(&self, level: usize) -> Option<usize> {
        match self.growth_rate {
            GrowthRate::Additive => self.n_initial_filters.checked_mul(level + 1),
            GrowthRate::Multiplicative => self.n_initial_filters.checked_mul(1usize.checked_shl(level as u32)?),
        }
    }

    /// Height and width of the logits for an image, or an error that names the next valid size.
    ///
    /// Joined connections need both numbers to be multiples of `2^depth`. Without connections any size of at least
    /// `2^depth` runs, and the output is smaller where halving drops a row or column.
    pub fn output_size(&self, height: usize, width: usize) -> Result<(usize, usize), Error> {
        self.check()?;
        if let (Some(h), Some(w)) = (self.output_length(height), self.output_length(width)) {
            return Ok((h, w));
        }
        let next =
            |given: usize| (given..=given.saturating_add(2 << self.depth)).find(|&n| self.output_length(n).is_some());
        let next = next(height).zip(next(width));
        Err(Error::Size { given: (height, width), next, depth: self.depth })
    }

    /// One side of the image through both paths; `None` where PyTorch would stop.
    fn output_length(&self, given: usize) -> Option<usize> {
        let deepest = given >> self.depth;
        // An even kernel with padding (k-1)/2 removes one row in every block.
        let lost = if self.filter_size_deepest.is_multiple_of(2) { self.blocks_deepest_layer } else { 0 };
        let left = deepest.checked_sub(lost).filter(|&n| n > 0)?;
        let exact = lost == 0 && given.is_multiple_of(1 << self.depth);
        match self.connections {
            Connections::None => Some(left << self.depth),
            _ if self.depth == 0 => Some(left),
            _ => exact.then_some(given),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let check = |config: &Config, given, expected: Result<(usize, usize), &str>| {
            let found = config.output_size(given, given + 64).map_err(|e| e.to_string());
            assert_eq!(found, expected.map_err(str::to_string));
        };
        let uresnet = Config::default();
        check(&uresnet, 128, Ok((128, 192)));
        check(
            &uresnet,
            160,
            Err("an image of 160 x 224 can't be downsampled and upsampled 6 times; the next valid size is 192 x 256"),
        );
        check(
            &uresnet,
            0,
            Err("an image of 0 x 64 can't be downsampled and upsampled 6 times; the next valid size is 64 x 64"),
        );
        let loose = Config { connections: Connections::None, depth: 3, ..uresnet.clone() };
        check(&loose, 52, Ok((48, 112)));
        let shrinking = Config { filter_size_deepest: 4, residual: false, ..uresnet };
        check(
            &shrinking,
            128,
            Err(
                "an image of 128 x 192 can't be downsampled and upsampled 6 times; no size is valid for this configuration",
            ),
        );
    }

    #[test]
    fn refusals_name_the_field() {
        let check = |json: &str, expected: &str| {
            let found = Config::from_json(json).unwrap_err().to_string();
            assert!(found.starts_with(expected), "{found}");
        };
        check("{\"normalization\": \"layer\"}", "configuration: normalization: layer has no 2D implementation");
        check("{\"filter_size_deepest\": 4}", "configuration: filter_size_deepest: must be odd");
        check("{\"filters\": 4}", "configuration: unknown field `filters`");
        check(
            "{\"growth_rate\": \"multiplicative\", \"depth\": 16, \"n_initial_filters\": 4096}",
            "configuration: n_initial_filters: this configuration is too large",
        );
        assert_eq!(Config::from_json("{\"depth\": 5}").unwrap(), Config { depth: 5, ..Config::default() });
    }
}
