//! `portolan forward`: the reference's logits for an event, and their differences from another run's.

mod files;
mod report;

use crate::args::{Format, ForwardArgs, PrecisionArg};
use crate::larcv;
use crate::output::{Written, check_out, print};
use crate::usage::usage;
use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;
use uresnet::{
    Config, Event, Method, Network, Options, Plan, Precision, Report, SAMPLE_CAUTION, StageDistance, Tensor, Threads,
    Weights, check_script, one_plane, scores, write_safetensors,
};

/// Default size of a synthetic event.
pub(crate) const SYNTHETIC: (usize, usize) = (320, 512);

/// Runs the network, writes and compares as requested. Returns whether the comparison, if any, agrees.
pub(crate) fn run(args: &ForwardArgs) -> Result<bool> {
    if !matches!(args.format, Format::Text | Format::Json) {
        return Err(usage("forward supports the formats text and json").into());
    }
    if let Some(file) = &args.out {
        check_out("--out", file, Written::Tensors)?;
    }
    let threads = threads(args)?;
    let network = Network::new(&config(&args.config)?)?;
    let weights = match (&args.weights, args.seed) {
        (Some(path), _) => {
            Weights::from_tensors(&network, files::weights(path)?).with_context(|| path.display().to_string())?
        }
        (None, seed) => Weights::seeded(&network, seed.unwrap_or(0)),
    };
    let event = event(args)?;
    let options = options(args);
    let plan = Plan::new(&network, &weights, event.picture.shape(), &options)?;
    let (logits, seconds) = pass(&plan, &event.picture, threads)?;

    let candidate = args.compare.as_ref().map(|path| files::outputs(path).map(|found| (path, found))).transpose()?;
    let stages = stages(args, &network, &weights, &event.picture, candidate.as_ref(), threads)?;
    let comparison = candidate
        .map(|(path, found)| {
            compare(&network, &logits, stages.apart, found, args.precision).with_context(|| path.display().to_string())
        })
        .transpose()?;
    let scored = event.labels.as_ref().and_then(|labels| scores(&logits, labels).ok());

    if let Some(path) = &args.out {
        let mut tensors = outputs(&logits)?;
        tensors.insert("input".to_string(), event.picture.clone());
        tensors.extend(event.labels.clone().map(|labels| ("label".to_string(), labels)));
        if args.bundle {
            tensors.extend(weights.iter().map(|(name, tensor)| (name.to_string(), tensor.clone())));
        }
        tensors.extend(stages.outputs);
        let bytes = write_safetensors(tensors.iter().map(|(name, tensor)| (name.as_str(), tensor)))?;
        std::fs::write(path, bytes).with_context(|| path.display().to_string())?;
    }
    if let Some(path) = &args.script {
        std::fs::write(path, check_script(&network.config)).with_context(|| path.display().to_string())?;
    }
    let agrees = comparison.as_ref().is_none_or(|report| report.agrees);
    let has_sample = args.weights.as_deref().is_some_and(files::is_sample);
    let caution = (has_sample && args.input.is_some()).then_some(SAMPLE_CAUTION);
    let told = report::Told { network: &network, plan: &plan, threads, seconds: &seconds, logits: &logits, caution };
    match args.format {
        Format::Json => print(&format!("{:#}\n", report::json(&told, scored.as_ref(), comparison.as_ref())?))?,
        _ => print(&report::text(&told, scored.as_ref(), comparison.as_ref())?)?,
    }
    Ok(agrees)
}

/// Threads beyond the processors only cost memory and time; a few are allowed, to compare machines.
fn threads(args: &ForwardArgs) -> Result<usize> {
    const ANYWHERE: usize = 64;
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get());
    let threads = args.threads.map_or(processors, |threads| threads as usize);
    let most = processors.max(ANYWHERE);
    if threads > most {
        let machine = crate::messages::count(processors, "processor");
        return Err(usage(format!("--threads {threads}: at most {most} here, on a machine with {machine}")).into());
    }
    Ok(threads)
}

/// The reference of a comparison rounds no more than a direct convolution; the fastest method rounds twice as much,
/// which is visible if a network amplifies rounding.
fn options(args: &ForwardArgs) -> Options {
    let held_against = args.out.is_some() || args.compare.is_some();
    let method = if held_against { Method::Winograd2 } else { Method::default() };
    Options { method, ..Options::default() }
}

fn config(word: &str) -> Result<Config> {
    if let Some(config) = Config::preset(word) {
        return Ok(config);
    }
    if !word.ends_with(".json") {
        let presets = Config::PRESETS.join(", ");
        return Err(usage(format!("unknown configuration `{word}`; expected {presets}, or a file FILE.json")).into());
    }
    let text = std::fs::read_to_string(word).with_context(|| word.to_string())?;
    Config::from_json(&text).with_context(|| word.to_string())
}

fn event(args: &ForwardArgs) -> Result<Event> {
    let event = match (&args.input, args.event) {
        (Some(path), number) => {
            let number = number.unwrap_or(0);
            let is_larcv = larcv::is_hdf5(path).with_context(|| path.display().to_string())?;
            let tensors =
                if is_larcv { larcv::events(path, number..number.saturating_add(1))? } else { files::tensors(path)? };
            let event = Event::from_tensors(tensors, number as usize, args.size);
            event.with_context(|| path.display().to_string())?
        }
        (None, number) => {
            let (height, width) = args.size.unwrap_or(SYNTHETIC);
            Event::synthetic(number.unwrap_or(0), height, width)
        }
    };
    match args.downsample {
        Some(factor) => Ok(event.downsampled(factor as usize)?),
        None => Ok(event),
    }
}

/// The logits, and the seconds of each step. On a terminal, stderr shows the progress.
fn pass(plan: &Plan, picture: &Tensor, threads: usize) -> Result<(Tensor, Vec<f64>)> {
    let clock = Mutex::new(Vec::new());
    let shown = std::io::stderr().is_terminal();
    let start = Instant::now();
    let logits = plan.run_with(picture, &Threads(threads), &|number| {
        if let Ok(mut clock) = clock.lock() {
            clock.push(Instant::now());
        }
        if shown {
            let progress = plan.progress(number);
            let left =
                progress.left(start.elapsed().as_secs_f64()).map_or(String::new(), |s| format!("{s:4.0} s left "));
            let (percent, place) = (100.0 * progress.share, progress.path.replace(".main_module", ".*"));
            write!(std::io::stderr(), "\r\x1b[K{percent:3.0} % {left}{place}").ok();
        }
        ControlFlow::Continue(())
    });
    if shown {
        write!(std::io::stderr(), "\r\x1b[K").ok();
    }
    let clock = clock.into_inner().unwrap_or_default();
    Ok((logits?, clock.windows(2).map(|at| (at[1] - at[0]).as_secs_f64()).collect()))
}

/// Outputs of modules.
#[derive(Default)]
struct Stages {
    /// As they are written to a file; only if they are to be written.
    outputs: BTreeMap<String, Tensor>,
    /// Differences from the other run's.
    apart: Vec<StageDistance>,
}

/// Runs again and shows the modules that are to be written or that the other run has. The first run was timed, and
/// showing takes time.
fn stages(
    args: &ForwardArgs,
    network: &Network,
    weights: &Weights,
    picture: &Tensor,
    candidate: Option<&(&PathBuf, BTreeMap<String, Tensor>)>,
    threads: usize,
) -> Result<Stages> {
    let found = candidate.map(|(_, found)| found);
    let key = |name: &str| format!("stage.{name}");
    let found_paths: BTreeSet<&str> = found
        .into_iter()
        .flat_map(BTreeMap::keys)
        .filter_map(|k| Some(k.strip_prefix("stage.")?.rsplit_once('.')?.0))
        .collect();
    let mut stages = Stages::default();
    if !args.stages && found_paths.is_empty() {
        return Ok(stages);
    }
    let shows = |path: &str| args.stages || found_paths.contains(path);
    let plan = Plan::showing(network, weights, picture.shape(), &options(args), &shows)?;
    let mut wrong = None;
    plan.run_showing(picture, &Threads(threads), &|_| ControlFlow::Continue(()), &mut |stage| {
        let key = key(&stage.name());
        if let Some(other) = found.and_then(|found| found.get(&key)) {
            match StageDistance::new(&stage, other) {
                Ok(apart) => stages.apart.push(apart),
                Err(error) => wrong = wrong.take().or(Some(error)),
            }
        }
        if args.stages {
            stages.outputs.insert(key, stage.output.clone());
        }
    })?;
    match (wrong, candidate) {
        (Some(error), Some((path, _))) => Err(error).with_context(|| path.display().to_string()),
        _ => Ok(stages),
    }
}

/// The logits in the ported project's form: one tensor [images, 3 classes, height, width] per plane.
fn outputs(logits: &Tensor) -> Result<BTreeMap<String, Tensor>> {
    let named = (0..uresnet::PLANES).map(|plane| Ok((format!("output.plane{plane}"), one_plane(logits, plane)?)));
    named.collect()
}

fn compare(
    network: &Network,
    logits: &Tensor,
    stages: Vec<StageDistance>,
    mut found: BTreeMap<String, Tensor>,
    precision: PrecisionArg,
) -> Result<Report> {
    let mut planes = Vec::new();
    for (name, expected) in outputs(logits)? {
        let plane = found
            .remove(&name)
            .with_context(|| format!("{name} is missing; expected it with shape {:?}", expected.shape()))?;
        if plane.shape() != expected.shape() {
            anyhow::bail!("{name}: expected shape {:?}, found {:?}", expected.shape(), plane.shape());
        }
        planes.push(plane);
    }
    let &[pictures, _, classes, height, width] = logits.shape() else { anyhow::bail!("logits without planes") };
    let length = classes * height * width;
    let data = (0..pictures).flat_map(|picture| planes.iter().map(move |plane| &plane.data()[picture * length..]));
    let data = data.flat_map(|image| image[..length].iter().copied()).collect();
    let candidate = Tensor::from_vec(logits.shape(), data).context("the logits differ in size")?;
    let precision = match precision {
        PrecisionArg::Fp32 => Precision::Fp32,
        PrecisionArg::Bf16 => Precision::Bf16,
        PrecisionArg::Fp16 => Precision::Fp16,
    };
    Ok(uresnet::report(network, logits, &candidate, stages, precision)?)
}
