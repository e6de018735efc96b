//! The worker's desk: the last run lies on it; questions about it are answered from it.

use crate::check::choice::PRECISIONS;
use crate::check::parts::{comparison, layers, statistics};
use crate::check::protocol::{Answer, Done, Input, LARGEST, Parcel, Part, Progress, Run, Stages, Weights as From};
use crate::check::tensors::{logits_of, outputs};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Mutex;
use uresnet::{
    Alone, CLASSES, Error, Event, Network, Options, PLANES, Plan, Scores, Stage, StageDistance, Step, Tensor, Weights,
    classes, scores, write_safetensors,
};

/// Why a question can't be answered, and which part of the form that is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault(pub Part, pub String);

/// Who waits for the answer.
pub trait Watch: Sync {
    /// Seconds since some moment.
    fn now(&self) -> f64;
    /// How far it is.
    fn tell(&self, progress: Progress);
    /// Bytes of memory taken so far.
    fn memory(&self) -> usize;
}

/// What the worker keeps between questions.
#[derive(Default)]
pub struct Desk {
    last: Option<Ran>,
}

/// A run that is over.
pub struct Ran {
    /// The network that ran.
    pub network: Network,
    weights: Weights,
    event: Event,
    /// [pictures, 3 planes, 3 classes, height, width].
    pub logits: Tensor,
    /// What was done, and the seconds of each.
    pub steps: Vec<(Step, f64)>,
    /// Where labels are known and of the logits' size.
    pub scores: Option<Scores>,
    /// The instruction set it was done with.
    pub instructions: &'static str,
    /// Bytes that it took.
    pub memory: Memory,
}

/// Bytes of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    /// Maps between the layers.
    pub maps: usize,
    /// Weights, packed for the kernels.
    pub weights: usize,
    /// All of the program.
    pub whole: usize,
}

impl Desk {
    /// Computes; `weights` and `input` are the files that the question names.
    pub fn run(
        &mut self,
        run: &Run,
        weights: Option<Vec<u8>>,
        input: Option<Vec<u8>>,
        watch: &dyn Watch,
    ) -> Result<Parcel<Answer>, Fault> {
        // Its memory is wanted for the next one.
        self.last = None;
        let about = |path: &str| {
            watch.tell(Progress { path: path.to_string(), step: 0, count: 0, share: 0.0, left: None });
        };
        about("reading the event");
        let network = Network::new(&run.config).map_err(as_fault(Part::Config))?;
        let event = event(run, input)?;
        let shape = event.picture.shape().to_vec();
        network.config.output_size(shape[2], shape[3]).map_err(as_fault(Part::Size))?;
        event.picture.check_finite("input").map_err(as_fault(Part::Input))?;
        about("reading the weights");
        let weights = match run.weights {
            From::Seeded(seed) => Weights::seeded(&network, seed),
            From::File => {
                Weights::from_tensors(&network, read(weights, Part::Weights)?).map_err(as_fault(Part::Weights))?
            }
        };
        about("planning");
        let plan = Plan::new(&network, &weights, &shape, &Options::default()).map_err(as_fault(Part::Run))?;
        let (logits, seconds) = pass(&plan, &event.picture, watch, &mut |_| ())?;
        let memory = Memory { maps: plan.map_bytes(), weights: plan.weight_bytes(), whole: watch.memory() };
        let scores = event.labels.as_ref().and_then(|labels| scores(&logits, labels).ok());
        let steps = plan.steps().iter().cloned().zip(seconds).collect();
        let instructions = plan.instructions();
        let ran = Ran { network, weights, event, logits, steps, scores, instructions, memory };
        let answer = done(&ran).map_err(as_fault(Part::Run))?;
        self.last = Some(ran);
        Ok(answer)
    }

    /// The last run as a file: input, labels, logits, and what is asked for.
    pub fn bundle(&self, weights: bool, stages: Stages, watch: &dyn Watch) -> Result<Parcel<Answer>, Fault> {
        let ran = self.last()?;
        let mut shown = BTreeMap::new();
        if stages != Stages::None {
            let wanted = |path: &str| stages == Stages::All || !path.contains(".blocks.");
            let mut bytes = 0u64;
            ran.showing(&wanted, watch, &mut |stage| {
                bytes += size_of_val(stage.output.data()) as u64;
                if bytes <= LARGEST {
                    shown.insert(format!("stage.{}", stage.name()), stage.output.clone());
                }
            })?;
            if bytes > LARGEST {
                let problem = format!(
                    "the modules' outputs take {:.1} GiB and a bundle made here at most 1; take a smaller picture, \
                     or `portolan forward --stages`",
                    bytes as f64 / f64::from(1 << 30)
                );
                return Err(Fault(Part::Run, problem));
            }
        }
        let planes = outputs(&ran.logits).map_err(as_fault(Part::Run))?;
        let mut all: BTreeMap<&str, &Tensor> = BTreeMap::from([("input", &ran.event.picture)]);
        all.extend(ran.event.labels.as_ref().map(|labels| ("label", labels)));
        all.extend(planes.iter().chain(&shown).map(|(name, tensor)| (name.as_str(), tensor)));
        if weights {
            all.extend(ran.weights.iter());
        }
        let bytes = write_safetensors(all).map_err(as_fault(Part::Run))?;
        Ok(Parcel { bytes: vec![bytes], ..Parcel::of(Answer::Bundle) })
    }

    /// Holds the outputs in a file against the last run's.
    pub fn compare(&self, file: Vec<u8>, precision: usize, watch: &dyn Watch) -> Result<Parcel<Answer>, Fault> {
        let ran = self.last()?;
        let refuse = |problem| Fault(Part::Candidate, problem);
        let mut found = read(Some(file), Part::Candidate)?;
        let candidate = logits_of(&mut found, &ran.logits).map_err(refuse)?;
        let stages = ran.stages(&found, watch)?;
        let (_, precision) = PRECISIONS.get(precision).ok_or_else(|| refuse("no such precision".to_string()))?;
        let report = uresnet::report(&ran.network, &ran.logits, &candidate, stages, *precision);
        let report = report.map_err(as_fault(Part::Candidate))?;
        let json = statistics::json(ran, Some(&report)).map_err(as_fault(Part::Run))?;
        let theirs = classes(&candidate).map_err(as_fault(Part::Candidate))?;
        Ok(Parcel {
            texts: vec![comparison::html(&report, &ran.logits), json],
            floats: vec![differences(&ran.logits, &candidate)],
            bytes: vec![first_picture(theirs, &ran.logits)],
            ..Parcel::of(Answer::Compared { agrees: report.agrees })
        })
    }

    fn last(&self) -> Result<&Ran, Fault> {
        self.last.as_ref().ok_or_else(|| Fault(Part::Run, "run the network first".to_string()))
    }
}

impl Ran {
    /// Runs once more and shows modules.
    fn showing(
        &self,
        wanted: &dyn Fn(&str) -> bool,
        watch: &dyn Watch,
        see: &mut dyn FnMut(Stage),
    ) -> Result<(), Fault> {
        let (shape, options) = (self.event.picture.shape(), Options::default());
        let plan = Plan::showing(&self.network, &self.weights, shape, &options, wanted);
        pass(&plan.map_err(as_fault(Part::Run))?, &self.event.picture, watch, see).map(|_| ())
    }

    /// How far the modules are off whose outputs the other run wrote too.
    fn stages(&self, found: &BTreeMap<String, Tensor>, watch: &dyn Watch) -> Result<Vec<StageDistance>, Fault> {
        let path = |key: &'_ str| Some(key.strip_prefix("stage.")?.rsplit_once('.')?.0.to_string());
        let paths: BTreeSet<String> = found.keys().filter_map(|key| path(key)).collect();
        let (mut apart, mut wrong) = (Vec::new(), None);
        if !paths.is_empty() {
            self.showing(&|path| paths.contains(path), watch, &mut |stage| {
                let Some(other) = found.get(&format!("stage.{}", stage.name())) else { return };
                match StageDistance::new(&stage, other) {
                    Ok(distance) => apart.push(distance),
                    Err(error) => wrong = wrong.take().or(Some(error)),
                }
            })?;
        }
        match wrong {
            Some(error) => Err(as_fault(Part::Candidate)(error)),
            None => Ok(apart),
        }
    }
}

fn as_fault(part: Part) -> impl Fn(Error) -> Fault {
    move |error| Fault(part, error.to_string())
}

fn read(file: Option<Vec<u8>>, part: Part) -> Result<BTreeMap<String, Tensor>, Fault> {
    let file = file.ok_or_else(|| Fault(part, "choose a file first".to_string()))?;
    uresnet::read_tensors(&file).map_err(as_fault(part))
}

fn event(run: &Run, file: Option<Vec<u8>>) -> Result<Event, Fault> {
    let event = match run.input {
        Input::Synthetic(seed) => {
            // Before the picture is made: a wrong size may be a huge one.
            let small = |length: usize| length / run.downsample.max(1);
            run.config.output_size(small(run.size.0), small(run.size.1)).map_err(as_fault(Part::Size))?;
            Event::synthetic(seed, run.size.0, run.size.1)
        }
        Input::File(number) => {
            Event::from_tensors(read(file, Part::Input)?, number as usize, run.size).map_err(as_fault(Part::Input))?
        }
    };
    match run.downsample {
        1 => Ok(event),
        factor => event.downsampled(factor).map_err(as_fault(Part::Size)),
    }
}

/// Runs a plan: the logits, and the seconds of each step.
fn pass(
    plan: &Plan,
    picture: &Tensor,
    watch: &dyn Watch,
    see: &mut dyn FnMut(Stage),
) -> Result<(Tensor, Vec<f64>), Fault> {
    let clock = Mutex::new(Vec::with_capacity(plan.steps().len() + 1));
    let before = |number: usize| {
        let now = watch.now();
        let start = match clock.lock() {
            Ok(mut clock) => {
                clock.push(now);
                clock[0]
            }
            Err(_) => now,
        };
        let progress = plan.progress(number);
        watch.tell(Progress {
            path: progress.path.to_string(),
            step: number + 1,
            count: progress.count,
            share: progress.share,
            left: progress.left(now - start),
        });
        ControlFlow::Continue(())
    };
    let logits = plan.run_showing(picture, &Alone, &before, see).map_err(as_fault(Part::Run))?;
    let clock = clock.into_inner().unwrap_or_default();
    Ok((logits, clock.windows(2).map(|at| at[1] - at[0]).collect()))
}

fn done(ran: &Ran) -> Result<Parcel<Answer>, Error> {
    let [_, _, height, width] = ran.event.picture.nchw();
    let (out_height, out_width) = size_of(&ran.logits);
    let pixels = PLANES * height * width;
    let picture = ran.event.picture.data()[..pixels].to_vec();
    let labels = ran.event.labels.as_ref().map(|labels| labels.data()[..pixels].iter().map(|&l| l as u8).collect());
    let predicted = classes(&ran.logits)?;
    let texts = vec![statistics::html(ran, &predicted), layers::html(&ran.steps)];
    let brightest = picture.iter().copied().fold(0.0, f32::max);
    Ok(Parcel {
        head: Answer::Done(Done { input: (height, width), output: (out_height, out_width), brightest }),
        texts,
        floats: vec![picture],
        bytes: vec![first_picture(predicted, &ran.logits), labels.unwrap_or_default()],
    })
}

/// Height and width of logits.
fn size_of(logits: &Tensor) -> (usize, usize) {
    match *logits.shape() {
        [.., height, width] => (height, width),
        _ => (0, 0),
    }
}

/// The page shows one picture of a file that has several.
fn first_picture(mut classes: Vec<u8>, logits: &Tensor) -> Vec<u8> {
    let (height, width) = size_of(logits);
    classes.truncate(PLANES * height * width);
    classes
}

/// The largest difference of a pixel's logits, for the first picture; infinite where one is no number.
fn differences(reference: &Tensor, candidate: &Tensor) -> Vec<f32> {
    let (height, width) = size_of(reference);
    let area = height * width;
    let planes = reference.data().chunks_exact(CLASSES * area).zip(candidate.data().chunks_exact(CLASSES * area));
    let pixel = |a: &[f32], b: &[f32], at: usize| {
        let apart = |class: usize| (a[class * area + at] - b[class * area + at]).abs();
        (0..CLASSES).map(apart).fold(0.0, |most: f32, d| if d.is_finite() { most.max(d) } else { f32::INFINITY })
    };
    planes.take(PLANES).flat_map(|(a, b)| (0..area).map(move |at| pixel(a, b, at))).collect()
}

#[cfg(test)]
mod tests;
