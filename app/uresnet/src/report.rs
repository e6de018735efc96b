//! The verdict on a port: its outputs compared with the reference's.

use serde::{Deserialize, Serialize};

use crate::compare::{Agreement, Distance, agreement, classes, distance};
use crate::error::Error;
use crate::network::{CLASSES, Network, PLANES};
use crate::stage::Stage;
use crate::tensor::Tensor;

/// The port's precision. It determines how far its logits may be from the reference's, which are float32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// float32 throughout.
    Fp32,
    /// bfloat16 with 8 significant bits.
    Bf16,
    /// float16 with 11 significant bits.
    Fp16,
}

impl Precision {
    /// Largest difference allowed, relative to the reference's largest magnitude.
    ///
    /// Rounding grows from layer to layer, and the worst of a million logits is an outlier. PyTorch entirely in
    /// bfloat16 and float16 was off by up to 0.12 and 0.027 on the trained sample, and by 0.03 and 0.003 on networks
    /// with seeded weights; the bounds are twice the worst of these. In float32 the order of summation differs, too.
    pub fn tolerance(self) -> f64 {
        match self {
            Precision::Fp32 => 1e-4,
            Precision::Bf16 => 0.25,
            Precision::Fp16 => 0.06,
        }
    }

    /// Smallest share of pixels that must keep their class.
    pub fn least_agreement(self) -> f64 {
        match self {
            Precision::Fp32 => 0.9999,
            Precision::Bf16 => 0.99,
            Precision::Fp16 => 0.999,
        }
    }
}

/// A candidate's outputs compared with the reference's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The candidate's precision.
    pub precision: Precision,
    /// Largest difference allowed, relative to the reference's largest magnitude.
    pub tolerance: f64,
    /// Smallest share of pixels that must keep their class.
    pub least_agreement: f64,
    /// Differences of all logits.
    pub distance: Distance,
    /// Agreement of the classes in all planes.
    pub agreement: Agreement,
    /// The share of pixels with the same class.
    pub same_class: f64,
    /// Intersection over union by class; none if neither has the class.
    pub iou: [Option<f64>; CLASSES],
    /// Differences of the logits of each plane.
    pub planes: Vec<Distance>,
    /// Stages in the candidate's file, in the order of execution.
    pub stages: Vec<StageDistance>,
    /// The first stage whose difference exceeds the tolerance.
    pub first_diverging_stage: Option<String>,
    /// The logits are within the tolerance, finite, and enough pixels keep their class.
    pub agrees: bool,
}

/// One stage of the network in a [`Report`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageDistance {
    /// Its name, as in the candidate's file after `stage.`.
    pub name: String,
    /// Its differences from the reference's.
    pub distance: Distance,
    #[serde(skip)]
    path: String,
}

impl StageDistance {
    /// Compares the candidate's output of a module with the reference's.
    pub fn new(reference: &Stage, candidate: &Tensor) -> Result<StageDistance, Error> {
        let (name, path) = (reference.name(), reference.path.to_string());
        let distance = distance(reference.output, candidate).map_err(|error| match error {
            Error::Shape { expected, found, .. } => Error::Shape { key: format!("stage.{name}"), expected, found },
            other => other,
        })?;
        Ok(StageDistance { name, distance, path })
    }
}

/// Compares logits [images, 3 planes, 3 classes, height, width]. `stages` are those of the candidate, in any order.
pub fn report(
    network: &Network,
    reference: &Tensor,
    candidate: &Tensor,
    mut stages: Vec<StageDistance>,
    precision: Precision,
) -> Result<Report, Error> {
    let whole = distance(reference, candidate)?;
    let same = agreement(reference, candidate)?;
    let planes = (0..PLANES).map(|plane| distance(&one_plane(reference, plane)?, &one_plane(candidate, plane)?));
    let planes = planes.collect::<Result<Vec<_>, Error>>()?;
    let order = network.stages();
    stages.sort_by_cached_key(|stage| (order.iter().position(|path| *path == stage.path), stage.name.clone()));
    let near = |d: &Distance| d.max_relative_to_range <= precision.tolerance() && d.not_finite == 0;
    Ok(Report {
        precision,
        tolerance: precision.tolerance(),
        least_agreement: precision.least_agreement(),
        same_class: same.share(),
        iou: [0, 1, 2].map(|class| same.iou(class)),
        first_diverging_stage: stages.iter().find(|s| !near(&s.distance)).map(|s| s.name.clone()),
        agrees: near(&whole) && same.share() >= precision.least_agreement(),
        distance: whole,
        agreement: same,
        planes,
        stages,
    })
}

/// The logits of one plane, [images, 3 classes, height, width], from those of all.
pub fn one_plane(logits: &Tensor, plane: usize) -> Result<Tensor, Error> {
    let &[pictures, PLANES, CLASSES, height, width] = logits.shape() else {
        return Err(Error::Input(format!(
            "expected logits of [images, 3, 3, height, width], found {:?}",
            logits.shape()
        )));
    };
    let length = CLASSES * height * width;
    let part = |picture| &logits.data()[(picture * PLANES + plane) * length..][..length];
    let data: Vec<f32> = (0..pictures).flat_map(part).copied().collect();
    Ok(Tensor::from_vec(&[pictures, CLASSES, height, width], data).expect("the part of one plane"))
}

/// The quality of a prediction on labelled pixels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// Share of all pixels with the correct class.
    pub accuracy: f64,
    /// The same for non-background pixels; none if there are none.
    pub non_background_accuracy: Option<f64>,
    /// Intersection over union by class; none if neither has the class.
    pub iou: [Option<f64>; CLASSES],
}

/// Scores logits [images, 3 planes, 3 classes, height, width] by labels [images, 3 planes, height, width].
pub fn scores(logits: &Tensor, labels: &Tensor) -> Result<Scores, Error> {
    let predicted = classes(logits)?;
    if predicted.len() != labels.data().len() {
        let (expected, found) = (vec![predicted.len()], vec![labels.data().len()]);
        return Err(Error::Shape { key: "label".to_string(), expected, found });
    }
    let mut table = [[0usize; CLASSES]; CLASSES];
    for (&class, &label) in predicted.iter().zip(labels.data()) {
        table[(label as usize).min(CLASSES - 1)][usize::from(class)] += 1;
    }
    let quotient = |part: usize, whole: usize| (whole > 0).then(|| part as f64 / whole as f64);
    let right = |from: usize| (from..CLASSES).map(|c| table[c][c]).sum();
    let all = |from: usize| table[from..].iter().flatten().sum();
    let iou = |c: usize| {
        let either = table[c].iter().sum::<usize>() + table.iter().map(|row| row[c]).sum::<usize>() - table[c][c];
        quotient(table[c][c], either)
    };
    Ok(Scores {
        accuracy: quotient(right(0), all(0)).unwrap_or(1.0),
        non_background_accuracy: quotient(right(1), all(1)),
        iou: [0, 1, 2].map(iou),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn network() -> Network {
        Network::new(&Config::default()).unwrap()
    }

    fn logits(add: f32) -> Tensor {
        let data = (0..9).map(|i| (i * 7 % 9) as f32 + if i == 4 { add } else { 0.0 }).collect();
        Tensor::from_vec(&[1, 3, 3, 1, 1], data).unwrap()
    }

    #[test]
    fn the_verdict_goes_by_the_precision() {
        let check = |add, precision, expected| {
            let found = report(&network(), &logits(0.0), &logits(add), vec![], precision).unwrap();
            assert_eq!(found.agrees, expected, "{add} {precision:?}: {found:?}");
            assert_eq!(found.planes[0].max_absolute, 0.0);
        };
        check(0.0, Precision::Fp32, true);
        check(1e-3, Precision::Fp32, false);
        check(1e-3, Precision::Fp16, true);
        check(1.0, Precision::Fp16, false);
        check(1.0, Precision::Bf16, true);
        check(3.0, Precision::Bf16, false);
        check(f32::NAN, Precision::Bf16, false);
    }

    #[test]
    fn the_first_stage_that_is_off_is_named() {
        let map = |value| Tensor::from_vec(&[1], vec![value]).unwrap();
        let stage = |path, plane, candidate| {
            StageDistance::new(&Stage { path, plane, output: &map(1.0) }, &map(candidate)).unwrap()
        };
        // Plane by plane, as a plan shows them.
        let stages = vec![
            stage("initial_convolution", Some(0), 1.0),
            stage("bottleneck", Some(0), 1.5),
            stage("initial_convolution", Some(1), 1.0),
            stage("final_layer", Some(1), 2.0),
        ];
        let report = report(&network(), &logits(0.0), &logits(0.0), stages, Precision::Fp32).unwrap();
        let names: Vec<&str> = report.stages.iter().map(|stage| stage.name.as_str()).collect();
        assert_eq!(
            names,
            ["initial_convolution.plane0", "initial_convolution.plane1", "final_layer.plane1", "bottleneck.plane0"]
        );
        assert_eq!(report.first_diverging_stage.as_deref(), Some("final_layer.plane1"));
    }

    #[test]
    fn scores_by_hand() {
        // The classes of the three planes are 1, 2 and 0.
        assert_eq!(classes(&logits(0.0)).unwrap(), [1, 2, 0]);
        let labels = Tensor::from_vec(&[1, 3, 1, 1], vec![1.0, 0.0, 0.0]).unwrap();
        let found = scores(&logits(0.0), &labels).unwrap();
        assert_eq!((found.accuracy, found.non_background_accuracy), (2.0 / 3.0, Some(1.0)));
    }
}
