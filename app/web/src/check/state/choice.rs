//! The form's values, and the link that contains them.
//!
//! Every control has a key; the fields of the configuration have CosmicTagger's own names. The fragment of the address
//! lists keys and values that differ from the initial ones.

use crate::check::protocol::{Input, Run, Weights};
use uresnet::{
    Config, Connections, Downsampling, Error, GrowthRate, Network, Normalization, PLANES, Precision, Upsampling,
};

/// The possible precisions of the other run, with the names of `portolan forward --precision`.
pub const PRECISIONS: [(&str, Precision); 3] =
    [("fp32", Precision::Fp32), ("bf16", Precision::Bf16), ("fp16", Precision::Fp16)];

/// Configurations by name: CosmicTagger's, and a small one that runs quickly and has been trained.
pub const PRESETS: [&str; 5] = ["small", "uresnet", "a21", "scc21", "polaris"];

/// The fields of the configuration, in the order of the form.
pub const FIELDS: [&str; 15] = [
    "n_initial_filters",
    "depth",
    "blocks_per_layer",
    "blocks_deepest_layer",
    "blocks_final",
    "filter_size_deepest",
    "bottleneck_deepest",
    "normalization",
    "connections",
    "growth_rate",
    "downsampling",
    "upsampling",
    "bias",
    "residual",
    "block_concat",
];

/// The other controls.
pub const OTHERS: [&str; 9] =
    ["height", "width", "downsample", "weights", "seed", "input", "event", "precision", "stages"];

/// The possible sources of weights: trained ones from the site, a seed, a file.
pub const WEIGHTS: [&str; 3] = ["sample", "seeded", "file"];

/// The maximum memory of a program in a browser, in bytes.
const MEMORY: f64 = (1u64 << 32) as f64;

/// Indices into [`WEIGHTS`].
const SAMPLE: usize = 0;
const SEEDED: usize = 1;
const FILE: usize = 2;

/// The configuration of the sample weights.
const SAMPLED: &str = "small";

/// The possible sources of the event.
pub const INPUTS: [&str; 2] = ["synthetic", "file"];

/// The modules whose outputs a bundle can include.
pub const STAGES: [&str; 3] = ["none", "coarse", "all"];

const NORMALIZATIONS: [(&str, Normalization); 3] =
    [("batch", Normalization::Batch), ("none", Normalization::None), ("layer", Normalization::Layer)];
const CONNECTIONS: [(&str, Connections); 3] =
    [("concat", Connections::Concat), ("sum", Connections::Sum), ("none", Connections::None)];
const GROWTH_RATES: [(&str, GrowthRate); 2] =
    [("additive", GrowthRate::Additive), ("multiplicative", GrowthRate::Multiplicative)];
const DOWNSAMPLINGS: [(&str, Downsampling); 2] =
    [("max_pooling", Downsampling::MaxPooling), ("convolutional", Downsampling::Convolutional)];
const UPSAMPLINGS: [(&str, Upsampling); 2] =
    [("interpolation", Upsampling::Interpolation), ("convolutional", Upsampling::Convolutional)];
const SWITCH: [(&str, bool); 2] = [("false", false), ("true", true)];

/// The problem of a field.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The field's key.
    pub key: &'static str,
    /// A sentence for the user.
    pub problem: String,
    /// A valid height and width in pixels.
    pub next_size: Option<(usize, usize)>,
}

/// The form's values.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The network.
    pub config: Config,
    /// Height and width of the image of a synthetic or sparse event.
    pub size: (usize, usize),
    /// The downsampling factor: this many by this many pixels become one.
    pub downsample: usize,
    /// An index into [`WEIGHTS`].
    pub weights: usize,
    /// The seed of generated weights.
    pub seed: u64,
    /// An index into [`INPUTS`].
    pub input: usize,
    /// The seed of a generated event, or the number of an event in a file.
    pub event: u64,
    /// An index into [`PRECISIONS`].
    pub precision: usize,
    /// An index into [`STAGES`].
    pub stages: usize,
}

impl Default for Choice {
    fn default() -> Self {
        Choice {
            config: Config::preset("small").unwrap_or_default(),
            size: (320, 512),
            downsample: 1,
            weights: SAMPLE,
            seed: 0,
            input: 0,
            event: 0,
            precision: 0,
            stages: 0,
        }
    }
}

/// The kind of values of a control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Number,
    /// One of these words.
    Words(Vec<&'static str>),
    /// Yes or no.
    Switch,
}

/// The kind of values of a key's control.
pub fn kind(key: &str) -> Kind {
    fn words<T>(table: &[(&'static str, T)]) -> Kind {
        Kind::Words(table.iter().map(|(word, _)| *word).collect())
    }
    match key {
        "normalization" => words(&NORMALIZATIONS),
        "connections" => words(&CONNECTIONS),
        "growth_rate" => words(&GROWTH_RATES),
        "downsampling" => words(&DOWNSAMPLINGS),
        "upsampling" => words(&UPSAMPLINGS),
        "precision" => words(&PRECISIONS),
        "preset" => Kind::Words(PRESETS.to_vec()),
        "weights" => Kind::Words(WEIGHTS.to_vec()),
        "input" => Kind::Words(INPUTS.to_vec()),
        "stages" => Kind::Words(STAGES.to_vec()),
        "bias" | "residual" | "block_concat" => Kind::Switch,
        _ => Kind::Number,
    }
}

impl Choice {
    /// The value of a control as text; `None` for an unknown key.
    pub fn get(&self, key: &str) -> Option<String> {
        fn word<T: PartialEq>(table: &[(&str, T)], value: &T) -> String {
            table.iter().find(|(_, known)| known == value).map_or(String::new(), |(word, _)| word.to_string())
        }
        let config = &self.config;
        Some(match key {
            "preset" => self.preset().unwrap_or_default().to_string(),
            "bias" => config.bias.to_string(),
            "normalization" => word(&NORMALIZATIONS, &config.normalization),
            "n_initial_filters" => config.n_initial_filters.to_string(),
            "blocks_per_layer" => config.blocks_per_layer.to_string(),
            "blocks_deepest_layer" => config.blocks_deepest_layer.to_string(),
            "blocks_final" => config.blocks_final.to_string(),
            "depth" => config.depth.to_string(),
            "filter_size_deepest" => config.filter_size_deepest.to_string(),
            "bottleneck_deepest" => config.bottleneck_deepest.to_string(),
            "residual" => config.residual.to_string(),
            "block_concat" => config.block_concat.to_string(),
            "connections" => word(&CONNECTIONS, &config.connections),
            "growth_rate" => word(&GROWTH_RATES, &config.growth_rate),
            "downsampling" => word(&DOWNSAMPLINGS, &config.downsampling),
            "upsampling" => word(&UPSAMPLINGS, &config.upsampling),
            "height" => self.size.0.to_string(),
            "width" => self.size.1.to_string(),
            "downsample" => self.downsample.to_string(),
            "weights" => WEIGHTS[self.weights].to_string(),
            "seed" => self.seed.to_string(),
            "input" => INPUTS[self.input].to_string(),
            "event" => self.event.to_string(),
            "precision" => PRECISIONS[self.precision].0.to_string(),
            "stages" => STAGES[self.stages].to_string(),
            _ => return None,
        })
    }

    /// Sets the value of a control; the error says which values are valid, and nothing changes.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        fn word<T: Copy>(table: &[(&str, T)], value: &str) -> Result<T, String> {
            let words: Vec<&str> = table.iter().map(|(word, _)| *word).collect();
            let found = table.iter().find(|(word, _)| *word == value).map(|(_, found)| *found);
            found.ok_or_else(|| format!("“{value}” is not one of {}", words.join(", ")))
        }
        fn place(words: &[&str], value: &str) -> Result<usize, String> {
            let found = words.iter().position(|word| *word == value);
            found.ok_or_else(|| format!("“{value}” is not one of {}", words.join(", ")))
        }
        fn number<T: std::str::FromStr>(value: &str) -> Result<T, String> {
            value.trim().parse().map_err(|_| format!("“{value}” is not a whole number in the allowed range"))
        }
        let config = &mut self.config;
        match key {
            "preset" => {
                *config =
                    Config::preset(value).ok_or_else(|| format!("“{value}” is not one of {}", PRESETS.join(", ")))?
            }
            "bias" => config.bias = word(&SWITCH, value)?,
            "normalization" => config.normalization = word(&NORMALIZATIONS, value)?,
            "n_initial_filters" => config.n_initial_filters = number(value)?,
            "blocks_per_layer" => config.blocks_per_layer = number(value)?,
            "blocks_deepest_layer" => config.blocks_deepest_layer = number(value)?,
            "blocks_final" => config.blocks_final = number(value)?,
            "depth" => config.depth = number(value)?,
            "filter_size_deepest" => config.filter_size_deepest = number(value)?,
            "bottleneck_deepest" => config.bottleneck_deepest = number(value)?,
            "residual" => config.residual = word(&SWITCH, value)?,
            "block_concat" => config.block_concat = word(&SWITCH, value)?,
            "connections" => config.connections = word(&CONNECTIONS, value)?,
            "growth_rate" => config.growth_rate = word(&GROWTH_RATES, value)?,
            "downsampling" => config.downsampling = word(&DOWNSAMPLINGS, value)?,
            "upsampling" => config.upsampling = word(&UPSAMPLINGS, value)?,
            "height" => self.size.0 = number(value)?,
            "width" => self.size.1 = number(value)?,
            "downsample" => self.downsample = number(value)?,
            "weights" => self.weights = place(&WEIGHTS, value)?,
            "seed" => self.seed = number(value)?,
            "input" => self.input = place(&INPUTS, value)?,
            "event" => self.event = number(value)?,
            "precision" => self.precision = place(&PRECISIONS.map(|(word, _)| word), value)?,
            "stages" => self.stages = place(&STAGES, value)?,
            _ => return Err(format!("“{key}” is not a field of this page")),
        }
        Ok(())
    }

    /// The same for a control that the user changes: sample weights and their configuration belong together, so
    /// changing one also changes the other.
    pub fn choose(&mut self, key: &str, value: &str) -> Result<(), String> {
        self.set(key, value)?;
        if self.weights == SAMPLE && self.preset() != Some(SAMPLED) {
            match key {
                "weights" => self.set("preset", SAMPLED)?,
                _ => self.weights = SEEDED,
            }
        }
        Ok(())
    }

    /// The weights until the user chooses others.
    fn usual_weights(&self) -> usize {
        if self.preset() == Some(SAMPLED) { SAMPLE } else { SEEDED }
    }

    /// Whether the weights are the site's.
    pub fn has_sample_weights(&self) -> bool {
        self.weights == SAMPLE
    }

    /// What the predicted classes of a run mean, if it is not what they say; otherwise empty.
    pub fn caution(&self) -> &'static str {
        match self.weights {
            SAMPLE if self.has_input_file() => uresnet::SAMPLE_CAUTION,
            SEEDED => {
                "The weights are random, so the predicted classes mean nothing. Whether a port agrees with the reference \
                 can still be checked."
            }
            _ => "",
        }
    }

    /// Whether the weights are in a file of the user's.
    pub fn has_weight_file(&self) -> bool {
        self.weights == FILE
    }

    /// Whether the event is in a file of the user's.
    pub fn has_input_file(&self) -> bool {
        self.input != 0
    }

    /// The preset with this configuration.
    pub fn preset(&self) -> Option<&'static str> {
        PRESETS.into_iter().find(|name| Config::preset(name).as_ref() == Some(&self.config))
    }

    /// The problems.
    pub fn faults(&self) -> Vec<Fault> {
        let fault = |key, problem: String| vec![Fault { key, problem, next_size: None }];
        let config = &self.config;
        match config.check() {
            Err(Error::Config { field, problem }) => return fault(field, problem),
            Err(other) => return fault("preset", other.to_string()),
            Ok(()) => {}
        }
        if self.weights == SAMPLE && self.preset() != Some(SAMPLED) {
            return fault("weights", format!("the sample weights are those of the configuration {SAMPLED}"));
        }
        if self.downsample == 0 {
            return fault("downsample", "must be at least 1".to_string());
        }
        // A dense image has its own size.
        if self.input != 0 { Vec::new() } else { self.size_faults() }
    }

    /// The problems of the image size, if everything else is valid.
    pub fn size_faults(&self) -> Vec<Fault> {
        let fault = |key, problem: String| vec![Fault { key, problem, next_size: None }];
        let (factor, (height, width)) = (self.downsample, self.size);
        if let Some(problem) = self.too_large() {
            return fault("height", problem);
        }
        match self.config.output_size(height / factor, width / factor) {
            Err(error) => {
                let next = match error {
                    Error::Size { next, .. } => next.map(|(h, w)| (h * factor, w * factor)),
                    _ => None,
                };
                vec![Fault { key: "height", problem: error.to_string(), next_size: next }]
            }
            Ok(_) if height % factor != 0 || width % factor != 0 => {
                fault("downsample", format!("{height} x {width} pixels can't be downsampled by {factor}"))
            }
            Ok(_) => Vec::new(),
        }
    }

    /// Why an image is too large for any browser, and the largest possible size.
    fn too_large(&self) -> Option<String> {
        let (factor, (height, width)) = (self.downsample as f64, self.size);
        let filters = self.config.n_initial_filters as f64;
        // At the finest resolution, two feature maps of each plane are in memory at a time, in addition to image and
        // logits.
        let maps = 4.0 * (2.0 * filters + 4.0) * PLANES as f64 / (factor * factor);
        // The other program in the worker has the original event, and the displayed data of the run.
        let shown = 32.0 + 128.0 / (factor * factor);
        let most = MEMORY / maps.max(shown);
        let pixels = height as f64 * width as f64;
        if pixels <= most {
            return None;
        }
        let side = (most.sqrt() / factor) as usize;
        let fits = |side: &usize| self.config.output_size(*side, *side).is_ok();
        let largest = (1..=side).rev().take(2 << self.config.depth).find(fits).map(|side| side * self.downsample);
        let largest = largest.map(|side| format!(", and {side} x {side} is the largest square")).unwrap_or_default();
        Some(format!(
            "a picture of {height} x {width} needs more than the 4 GiB that a program in a browser can have. With this \
             configuration about {} million pixels fit{largest}",
            (most / 1e6) as u64
        ))
    }

    /// The number of parameters of the network; `None` if it can't be built.
    pub fn parameters(&self) -> Option<usize> {
        Network::new(&self.config).ok().map(|network| network.parameter_count())
    }

    /// The configuration as `portolan forward --config FILE.json` reads it.
    pub fn config_json(&self) -> String {
        let line = |key: &&str| {
            let value = self.get(key).unwrap_or_default();
            let quote = if matches!(kind(key), Kind::Words(_)) { "\"" } else { "" };
            format!("  \"{key}\": {quote}{value}{quote}")
        };
        format!("{{\n{}\n}}\n", FIELDS.iter().map(line).collect::<Vec<_>>().join(",\n"))
    }

    /// The run to perform.
    pub fn run(&self) -> Run {
        Run {
            config: self.config.clone(),
            weights: if self.weights == SEEDED { Weights::Seeded(self.seed) } else { Weights::File },
            input: if self.input == 0 { Input::Synthetic(self.event) } else { Input::File(self.event) },
            size: self.size,
            downsample: self.downsample,
        }
    }

    /// The fragment of the address; empty if all values are the initial ones.
    pub fn fragment(&self) -> String {
        let begin = Choice::default();
        let mut parts = Vec::new();
        let mut base = Choice { config: begin.config.clone(), ..self.clone() };
        if self.config != begin.config {
            let nearest = PRESETS.iter().filter_map(|name| Some((name, Config::preset(name)?)));
            let differing = |config: &Config| {
                let other = Choice { config: config.clone(), ..self.clone() };
                FIELDS.iter().filter(|key| other.get(key) != self.get(key)).count()
            };
            if let Some((name, config)) = nearest.min_by_key(|(_, config)| differing(config)) {
                if config != begin.config {
                    parts.push(format!("preset={name}"));
                }
                base.config = config;
            }
        }
        let mut list = |keys: &[&str], from: &Choice| {
            for key in keys.iter().filter(|key| from.get(key) != self.get(key)) {
                parts.push(format!("{key}={}", self.get(key).unwrap_or_default()));
            }
        };
        list(&FIELDS, &base);
        list(&OTHERS, &Choice { weights: self.usual_weights(), ..begin });
        parts.join("&")
    }

    /// Parses [`Choice::fragment`], with or without `#`. Invalid parts are reported, and the rest is applied.
    pub fn from_fragment(fragment: &str) -> (Choice, Vec<String>) {
        let (mut choice, mut faults) = (Choice::default(), Vec::new());
        let fragment = fragment.strip_prefix('#').unwrap_or(fragment);
        let mut weights = false;
        // A single word is an anchor on the page.
        for part in fragment.split('&').filter(|_| fragment.contains('=')) {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            match choice.set(key, value) {
                Ok(()) => weights |= key == "weights",
                Err(fault) => faults.push(format!("{key}: {fault}")),
            }
        }
        if !weights {
            choice.weights = choice.usual_weights();
        }
        (choice, faults)
    }

    /// The command that writes the same reference; `config` is the name of the file for a configuration that is not a
    /// preset.
    pub fn command(&self, config: &str) -> String {
        let mut words = vec!["portolan forward --config".to_string(), self.preset().unwrap_or(config).to_string()];
        words.push(match self.weights {
            SAMPLE => "--weights sample".to_string(),
            SEEDED => format!("--seed {}", self.seed),
            _ => "--weights FILE".to_string(),
        });
        if self.input != 0 {
            words.push("--input FILE".to_string());
        }
        let (height, width) = self.size;
        words.push(format!("--event {} --size {height}x{width}", self.event));
        if self.downsample != 1 {
            words.push(format!("--downsample {}", self.downsample));
        }
        words.push("--out reference.safetensors --bundle --script check_port.py".to_string());
        if self.stages != 0 {
            words.push("--stages".to_string());
        }
        words.join(" ")
    }

    /// The command that runs a ported project with the reference.
    pub fn port_command(&self) -> String {
        let stages = [" --stages", " --stages", " --stages all"][self.stages];
        let precision = PRECISIONS[self.precision].0;
        format!(
            "python3 check_port.py reference.safetensors --project path/to/port --device DEVICE --precision {precision}{stages}"
        )
    }
}

#[cfg(test)]
mod tests;
