//! The worker's state: the last run, from which it answers requests. It reads files, creates weights and compares
//! outputs; the network is run by a [`Runner`], defined elsewhere.

use crate::check::protocol::{
    Answer, Ask, Done, Facts, Input, LARGEST, Memory, Parcel, Part, Progress, Run, Stages, Weights as From,
};
use crate::check::state::choice::PRECISIONS;
use crate::check::work::tensors::{logits_of, outputs};
use forward::{Follow, Order, Planned};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use uresnet::{
    CLASSES, Error, Event, Method, Network, PLANES, Precision, Stage, StageDistance, Tensor, Weights, classes, scores,
    write_safetensors,
};

/// Seconds between two progress messages of a run.
const PAUSE: f64 = 0.06;

/// Why a request failed, and the part of the form to which that applies.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault(pub Part, pub String);

impl Fault {
    /// A requested file that is missing.
    pub fn lacking(part: Part) -> Fault {
        Fault(part, "choose a file first".to_string())
    }

    /// A file that was moved or changed since it was chosen.
    pub fn unreadable(part: Part, name: &str) -> Fault {
        Fault(part, format!("{name} can no longer be read; choose it again"))
    }
}

/// The receiver of the progress.
pub trait Watch: Sync {
    /// Seconds since an arbitrary time.
    fn now(&self) -> f64;
    /// Reports the progress.
    fn tell(&self, progress: Progress);
    /// The memory allocated so far, in bytes.
    fn memory(&self) -> usize;
}

/// Runs the network.
pub trait Runner {
    /// Plans and runs; `see` gets the outputs that the order names. The error is a sentence for the user.
    fn run(
        &self,
        order: &Order,
        weights: &Weights,
        picture: &Tensor,
        follow: &dyn Follow,
        see: &mut dyn FnMut(Stage),
    ) -> Result<Tensor, String>;

    /// Its own memory allocated so far, in bytes, if it is separate from the desk's.
    fn memory(&self) -> usize;
}

/// The data that the worker keeps between requests.
pub struct Desk {
    runner: Box<dyn Runner>,
    last: Option<Ran>,
}

/// A finished run.
struct Ran {
    network: Network,
    weights: Weights,
    event: Event,
    /// The logits with which another run's are compared, [images, 3 planes, 3 classes, height, width]. Their rounding
    /// errors are no larger than a direct convolution's; the fastest method, with which the run was timed, has twice as
    /// large ones, and a network that amplifies rounding errors shows them. Computed when they are first needed.
    reference: Option<Tensor>,
}

impl Desk {
    /// A desk with this runner.
    pub fn new(runner: Box<dyn Runner>) -> Desk {
        Desk { runner, last: None }
    }

    /// Answers a request. `file` reads the next of the attached files, for this part of the form.
    pub fn answer(
        &mut self,
        ask: &Ask,
        file: &mut dyn FnMut(Part) -> Result<Vec<u8>, Fault>,
        watch: &dyn Watch,
    ) -> Parcel<Answer> {
        let answer = match ask {
            Ask::Run(run) => self.run_with(run, file, watch),
            Ask::Bundle { weights, stages } => self.bundle(*weights, *stages, watch),
            Ask::Compare { precision } => file(Part::Candidate).and_then(|file| self.compare(file, *precision, watch)),
        };
        answer.unwrap_or_else(|Fault(part, why)| Parcel::of(Answer::Failed(part, why)))
    }

    fn run_with(
        &mut self,
        run: &Run,
        file: &mut dyn FnMut(Part) -> Result<Vec<u8>, Fault>,
        watch: &dyn Watch,
    ) -> Result<Parcel<Answer>, Fault> {
        let weights = match run.weights {
            From::File => Some(file(Part::Weights)?),
            From::Seeded(_) => None,
        };
        let input = match run.input {
            Input::File(_) => Some(file(Part::Input)?),
            Input::Synthetic(_) => None,
        };
        self.run(run, weights, input, watch)
    }

    /// Runs the network; `weights` and `input` are the attached files.
    pub fn run(
        &mut self,
        run: &Run,
        weights: Option<Vec<u8>>,
        input: Option<Vec<u8>>,
        watch: &dyn Watch,
    ) -> Result<Parcel<Answer>, Fault> {
        // Its memory is needed for the next one.
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
        let order = Order { config: run.config.clone(), shape, method: Method::default(), shows: Vec::new() };
        let (logits, seconds, planned) = pass(&*self.runner, &order, &weights, &event.picture, watch, &mut |_| ())?;
        let whole = watch.memory() + self.runner.memory();
        let memory = Memory { maps: planned.maps, weights: planned.weights, whole };
        let predicted = classes(&logits).map_err(as_fault(Part::Run))?;
        let range = |(low, high): (f32, f32), &logit: &f32| (low.min(logit), high.max(logit));
        let facts = Facts {
            config: network.config.clone(),
            parameters: network.parameter_count(),
            shape: logits.shape().to_vec(),
            instructions: planned.instructions,
            threads: planned.threads,
            steps: planned.steps.into_iter().zip(seconds).collect(),
            memory,
            range: logits.data().iter().fold((f32::INFINITY, f32::NEG_INFINITY), range),
            pixels: counts(&predicted, &logits),
            scores: event.labels.as_ref().and_then(|labels| scores(&logits, labels).ok()),
        };
        let answer = done(facts, &event, first_picture(predicted, &logits), size_of(&logits));
        self.last = Some(Ran { network, weights, event, reference: None });
        Ok(answer)
    }

    /// The last run as a file: input, labels, logits, and the requested parts.
    pub fn bundle(&mut self, weights: bool, stages: Stages, watch: &dyn Watch) -> Result<Parcel<Answer>, Fault> {
        let (runner, ran) = self.last()?;
        let mut shown = BTreeMap::new();
        if stages != Stages::None {
            let wanted = |path: &str| stages == Stages::All || !path.contains(".blocks.");
            let mut bytes = 0u64;
            ran.showing(&wanted, runner, watch, &mut |stage| {
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
        let planes = outputs(ran.exact(runner, watch)?.1).map_err(as_fault(Part::Run))?;
        let mut all: BTreeMap<&str, &Tensor> = BTreeMap::new();
        all.insert("input", &ran.event.picture);
        all.extend(ran.event.labels.as_ref().map(|labels| ("label", labels)));
        all.extend(planes.iter().chain(&shown).map(|(name, tensor)| (name.as_str(), tensor)));
        if weights {
            all.extend(ran.weights.iter());
        }
        let bytes = write_safetensors(all).map_err(as_fault(Part::Run))?;
        Ok(Parcel { bytes: vec![bytes], ..Parcel::of(Answer::Bundle) })
    }

    /// Compares the outputs in a file with the last run's.
    pub fn compare(&mut self, file: Vec<u8>, precision: usize, watch: &dyn Watch) -> Result<Parcel<Answer>, Fault> {
        let (runner, ran) = self.last()?;
        let refuse = |problem| Fault(Part::Candidate, problem);
        let (_, asked) = PRECISIONS.get(precision).ok_or_else(|| refuse("no such precision".to_string()))?;
        let mut found = read(Some(file), Part::Candidate)?;
        let candidate = logits_of(&mut found, &ran.output_shape()?).map_err(refuse)?;
        let stages = ran.stages(&found, runner, watch)?;
        let (network, reference) = ran.exact(runner, watch)?;
        let report = uresnet::report(network, reference, &candidate, stages, *asked);
        let report = report.map_err(as_fault(Part::Candidate))?;
        let theirs = classes(&candidate).map_err(as_fault(Part::Candidate))?;
        Ok(Parcel {
            floats: vec![differences(reference, &candidate)],
            bytes: vec![first_picture(theirs, reference)],
            ..Parcel::of(Answer::Compared(Box::new(report), suggested(&candidate, precision)))
        })
    }

    fn last(&mut self) -> Result<(&dyn Runner, &mut Ran), Fault> {
        let ran = self.last.as_mut().ok_or_else(|| Fault(Part::Run, "run the network first".to_string()))?;
        Ok((&*self.runner, ran))
    }
}

impl Ran {
    /// The network and the reference logits.
    fn exact(&mut self, runner: &dyn Runner, watch: &dyn Watch) -> Result<(&Network, &Tensor), Fault> {
        if self.reference.is_none() {
            self.showing(&|_| false, runner, watch, &mut |_| ())?;
        }
        let reference = self.reference.as_ref();
        Ok((&self.network, reference.ok_or_else(|| Fault(Part::Run, "run the network first".to_string()))?))
    }

    /// Runs again for the reference, and passes on the modules' outputs.
    fn showing(
        &mut self,
        wanted: &dyn Fn(&str) -> bool,
        runner: &dyn Runner,
        watch: &dyn Watch,
        see: &mut dyn FnMut(Stage),
    ) -> Result<(), Fault> {
        let shape = self.event.picture.shape().to_vec();
        let shows = self.network.stages().into_iter().filter(|path| wanted(path)).collect();
        let order = Order { config: self.network.config.clone(), shape, method: Method::Winograd2, shows };
        let (logits, ..) = pass(runner, &order, &self.weights, &self.event.picture, watch, see)?;
        self.reference = Some(logits);
        Ok(())
    }

    fn output_shape(&self) -> Result<[usize; 5], Fault> {
        let [pictures, planes, height, width] = self.event.picture.nchw();
        let (height, width) = self.network.config.output_size(height, width).map_err(as_fault(Part::Size))?;
        Ok([pictures, planes, CLASSES, height, width])
    }

    /// The differences of the modules whose outputs the other run also wrote.
    fn stages(
        &mut self,
        found: &BTreeMap<String, Tensor>,
        runner: &dyn Runner,
        watch: &dyn Watch,
    ) -> Result<Vec<StageDistance>, Fault> {
        let path = |key: &'_ str| Some(key.strip_prefix("stage.")?.rsplit_once('.')?.0.to_string());
        let mut paths = BTreeSet::new();
        paths.extend(found.keys().filter_map(|key| path(key)));
        let (mut apart, mut wrong) = (Vec::new(), None);
        if !paths.is_empty() {
            self.showing(&|path| paths.contains(path), runner, watch, &mut |stage| {
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
    let file = file.ok_or_else(|| Fault::lacking(part))?;
    uresnet::read_tensors(&file).map_err(as_fault(part))
}

fn event(run: &Run, file: Option<Vec<u8>>) -> Result<Event, Fault> {
    let event = match run.input {
        Input::Synthetic(seed) => {
            // Before the image is created: with an invalid size it could be huge.
            let small = |length: usize| length / run.downsample.max(1);
            run.config.output_size(small(run.size.0), small(run.size.1)).map_err(as_fault(Part::Size))?;
            Event::synthetic(seed, run.size.0, run.size.1)
        }
        Input::File(number) => Event::from_tensors(read(file, Part::Input)?, number as usize, Some(run.size))
            .map_err(as_fault(Part::Input))?,
    };
    match run.downsample {
        1 => Ok(event),
        factor => event.downsampled(factor).map_err(as_fault(Part::Size)),
    }
}

/// Runs the network: the logits, the seconds of each step, and how it was planned.
fn pass(
    runner: &dyn Runner,
    order: &Order,
    weights: &Weights,
    picture: &Tensor,
    watch: &dyn Watch,
    see: &mut dyn FnMut(Stage),
) -> Result<(Tensor, Vec<f64>, Planned), Fault> {
    let clock = Clock { watch, hands: Mutex::default() };
    let logits = runner.run(order, weights, picture, &clock, see).map_err(|why| Fault(Part::Run, why))?;
    let Hands { planned, begun, .. } = clock.hands.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok((logits, begun.windows(2).map(|at| at[1] - at[0]).collect(), planned))
}

/// Measures the time of a run's steps, and reports the progress.
struct Clock<'a> {
    watch: &'a dyn Watch,
    hands: Mutex<Hands>,
}

#[derive(Default)]
struct Hands {
    planned: Planned,
    /// When each step started.
    begun: Vec<f64>,
    /// When the last message was sent.
    told: Option<f64>,
}

impl Follow for Clock<'_> {
    fn planned(&self, planned: Planned) {
        self.hands.lock().unwrap_or_else(PoisonError::into_inner).planned = planned;
    }

    fn before(&self, step: usize) {
        let now = self.watch.now();
        let mut hands = self.hands.lock().unwrap_or_else(PoisonError::into_inner);
        hands.begun.push(now);
        if hands.told.is_some_and(|told| told + PAUSE > now) {
            return;
        }
        hands.told = Some(now);
        let Planned { steps, shares, .. } = &hands.planned;
        let progress = uresnet::Progress {
            step,
            count: steps.len(),
            path: steps.get(step).map_or("", |step| step.path.as_str()),
            share: shares.get(step).copied().unwrap_or(1.0),
        };
        self.watch.tell(Progress {
            path: progress.path.to_string(),
            step: step + 1,
            count: progress.count,
            share: progress.share,
            left: progress.left(now - hands.begun[0]),
        });
    }
}

fn done(facts: Facts, event: &Event, predicted: Vec<u8>, output: (usize, usize)) -> Parcel<Answer> {
    let [_, _, height, width] = event.picture.nchw();
    let pixels = PLANES * height * width;
    let picture = event.picture.data()[..pixels].to_vec();
    let labels = event.labels.as_ref().map(|labels| labels.data()[..pixels].iter().map(|&l| l as u8).collect());
    let brightest = picture.iter().copied().fold(0.0, f32::max);
    Parcel {
        floats: vec![picture],
        bytes: vec![predicted, labels.unwrap_or_default()],
        ..Parcel::of(Answer::Done(Box::new(Done { input: (height, width), output, brightest, facts })))
    }
}

/// The number of pixels of each class in each plane, for all images together.
fn counts(predicted: &[u8], logits: &Tensor) -> [[u64; CLASSES]; PLANES] {
    let (height, width) = size_of(logits);
    let mut counts = [[0; CLASSES]; PLANES];
    for (image, pixels) in predicted.chunks_exact((height * width).max(1)).enumerate() {
        pixels.iter().for_each(|&class| counts[image % PLANES][usize::from(class)] += 1);
    }
    counts
}

/// Height and width of logits.
fn size_of(logits: &Tensor) -> (usize, usize) {
    match *logits.shape() {
        [.., height, width] => (height, width),
        _ => (0, 0),
    }
}

/// The page shows one image of a file that has several.
fn first_picture(mut classes: Vec<u8>, logits: &Tensor) -> Vec<u8> {
    let (height, width) = size_of(logits);
    classes.truncate(PLANES * height * width);
    classes
}

/// The precision that numbers appear to have: the one that represents all of them exactly, if it is lower than
/// requested. Numbers that a small format represents by chance are rare among many.
fn suggested(candidate: &Tensor, asked: usize) -> Option<usize> {
    const ENOUGH: usize = 64;
    let place = |precision| PRECISIONS.iter().position(|(_, known)| *known == precision);
    let numbers = || candidate.data().iter().filter(|number| number.is_finite() && **number != 0.0);
    if numbers().take(ENOUGH).count() < ENOUGH {
        return None;
    }
    // Both have fewer digits than float32; float16 has three more of them than bfloat16, but a smaller range.
    let ends_in_zeros = |bits: u32| numbers().all(|number| number.to_bits() << (32 - bits) == 0);
    let in_range = || numbers().all(|number| (6.2e-5..65_520.0).contains(&number.abs()));
    let found = match () {
        () if ends_in_zeros(16) => place(Precision::Bf16),
        () if ends_in_zeros(13) && in_range() => place(Precision::Fp16),
        () => None,
    };
    found.filter(|found| *found != asked)
}

/// The largest difference of each pixel's logits, for the first image; infinite if one is not a number.
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
