use super::*;
use crate::check::state::report::{Stages as Told, distances, json, stages, verdict};
use uresnet::{Config, Report};

/// A client that only waits.
struct Nobody;

impl Watch for Nobody {
    fn now(&self) -> f64 {
        0.0
    }

    fn tell(&self, _: Progress) {}

    fn memory(&self) -> usize {
        0
    }
}

/// Runs the network with the code that is linked here.
struct Here;

impl Runner for Here {
    fn run(
        &self,
        order: &Order,
        weights: &Weights,
        picture: &Tensor,
        follow: &dyn Follow,
        see: &mut dyn FnMut(Stage),
    ) -> Result<Tensor, String> {
        forward::compute(order, weights, picture, 1, follow, see).map_err(|error| error.to_string())
    }

    fn memory(&self) -> usize {
        0
    }
}

fn desk() -> Desk {
    Desk::new(Box::new(Here))
}

fn report_of(compared: Parcel<Answer>) -> (Parcel<Answer>, Report) {
    match compared.head.clone() {
        Answer::Compared(report, _) => (compared, *report),
        other => panic!("{other:?}"),
    }
}

fn fixture(name: &str) -> Vec<u8> {
    let path = format!("{}/../../tests/fixtures/uresnet/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn golden() -> Config {
    Config {
        n_initial_filters: 4,
        depth: 3,
        blocks_per_layer: 1,
        blocks_deepest_layer: 1,
        blocks_final: 1,
        bottleneck_deepest: 16,
        ..Config::default()
    }
}

fn small() -> Run {
    Run { config: golden(), weights: From::Seeded(1), input: Input::Synthetic(2), size: (32, 64), downsample: 1 }
}

/// The network of a case created with PyTorch; its configuration is next to it.
fn golden_run() -> Run {
    let text = String::from_utf8(fixture("base_concat_maxpool_interp.json")).unwrap();
    let whole: serde_json::Value = serde_json::from_str(&text).unwrap();
    let config = Config::from_json(&whole["config"].to_string()).unwrap();
    Run { config, weights: From::File, input: Input::File(0), size: (64, 64), downsample: 1 }
}

#[test]
fn pytorch_s_outputs_agree_with_the_run_on_them() {
    let file = fixture("base_concat_maxpool_interp.safetensors");
    let mut desk = desk();
    let done = desk.run(&golden_run(), Some(file.clone()), Some(file.clone()), &Nobody).unwrap();
    let Answer::Done(told) = &done.head else { panic!("{:?}", done.head) };
    assert_eq!((told.input, told.output, told.facts.parameters), ((64, 64), (64, 64), 37_651));
    assert_eq!(told.facts.pixels.iter().map(|plane| plane.iter().sum::<u64>()).collect::<Vec<_>>(), [4096; 3]);
    assert_eq!((done.floats[0].len(), done.bytes[0].len(), done.bytes[1].len()), (3 * 4096, 3 * 4096, 0));
    let (compared, report) = report_of(desk.compare(file, 0, &Nobody).unwrap());
    assert!(report.agrees, "{report:?}");
    assert!(compared.floats[0].iter().all(|&difference| difference < 1e-4));
    let verdict = verdict(&report);
    assert_eq!((verdict.headline.as_str(), verdict.caution), ("PASS: within float32 tolerance", None));
    assert_eq!(stages(&report), Told::None);
}

#[test]
fn a_bundle_is_a_candidate_that_agrees_to_the_bit_and_one_that_was_changed_is_found() {
    let mut desk = desk();
    let done = desk.run(&small(), None, None, &Nobody).unwrap();
    assert_eq!(done.bytes[1].len(), done.bytes[0].len(), "a synthetic event has labels");
    let bundle = desk.bundle(true, Stages::All, &Nobody).unwrap().bytes.remove(0);
    let (compared, report) = report_of(desk.compare(bundle.clone(), 0, &Nobody).unwrap());
    assert!(report.agrees && report.first_diverging_stage.is_none() && report.stages.len() > 10, "{report:?}");
    assert!(compared.floats[0].iter().all(|&difference| difference == 0.0));
    assert!(verdict(&report).caution.is_some(), "the reference was compared with itself");

    let mut tensors = uresnet::read_tensors(&bundle).unwrap();
    tensors.get_mut("output.plane1").unwrap().data_mut()[5] += 100.0;
    let stage = "stage.net_core.down_blocks.plane0";
    tensors.get_mut(stage).unwrap_or_else(|| panic!("{stage}")).data_mut()[0] = f32::NAN;
    let changed = write_safetensors(tensors.iter().map(|(name, tensor)| (name.as_str(), tensor))).unwrap();
    let (compared, report) = report_of(desk.compare(changed, 1, &Nobody).unwrap());
    assert!(!report.agrees);
    assert_eq!(compared.floats[0][32 * 64 + 5], 100.0);
    let Answer::Done(told) = done.head else { panic!("{:?}", done.head) };
    assert_eq!(stages(&report), Told::First("net_core.down_blocks.plane0".to_owned()));
    assert_eq!(verdict(&report).headline, "FAIL: outside bfloat16 tolerance");
    assert!(distances(&report, &told.facts.shape)[2].1.ends_with("at plane 1, class 0, row 0, column 5"));
    let json: serde_json::Value = serde_json::from_str(&json(&told.facts, Some(&report))).unwrap();
    assert_eq!(json["logits"]["pixels"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).sum::<u64>(), 3 * 2048);
    assert_eq!(json["comparison"]["precision"], "bf16");
    assert_eq!(json["comparison"]["first_diverging_stage"], "net_core.down_blocks.plane0");
}

#[test]
fn what_is_wrong_is_told_with_its_part() {
    let check = |run: Run, weights: Option<&[u8]>, input: Option<&[u8]>, part, expected: &str| {
        let (weights, input) = (weights.map(<[u8]>::to_vec), input.map(<[u8]>::to_vec));
        let Fault(found, text) = desk().run(&run, weights, input, &Nobody).unwrap_err();
        assert_eq!(found, part, "{text}");
        assert!(text.contains(expected), "{text}");
    };
    let whole = fixture("base_concat_maxpool_interp.safetensors");
    let config = |change: &dyn Fn(&mut Config)| {
        let mut run = small();
        change(&mut run.config);
        run
    };
    check(config(&|c| c.filter_size_deepest = 4), None, None, Part::Config, "filter_size_deepest");
    check(Run { size: (30, 64), ..small() }, None, None, Part::Size, "32 x 64");
    check(Run { downsample: 3, size: (96, 97), ..small() }, None, None, Part::Size, "3 by 3");
    let file = Run { weights: From::File, ..small() };
    check(file.clone(), Some(&whole[..whole.len() / 2]), None, Part::Weights, "safetensors");
    check(file.clone(), Some(b""), None, Part::Weights, "empty");
    check(file, Some(b"\x80\x04\x95"), None, Part::Weights, "pickle");
    let other = Run { config: Config::default(), ..golden_run() };
    check(Run { input: Input::Synthetic(0), ..other }, Some(&whole), None, Part::Weights, "");
    let nan = Tensor::from_vec(&[3, 8, 8], vec![f32::NAN; 192]).unwrap();
    let nan = write_safetensors([("input", &nan)]).unwrap();
    check(Run { input: Input::File(0), ..small() }, None, Some(&nan), Part::Input, "is not finite");
}

#[test]
fn a_candidate_of_another_shape_is_refused_and_the_run_stays() {
    let mut desk = desk();
    assert_eq!(desk.bundle(false, Stages::None, &Nobody).unwrap_err().0, Part::Run);
    desk.run(&small(), None, None, &Nobody).unwrap();
    let plane = Tensor::zeros(&[1, 3, 32, 32]);
    let candidate = write_safetensors([("output.plane0", &plane)]).unwrap();
    let Fault(part, text) = desk.compare(candidate, 0, &Nobody).unwrap_err();
    assert_eq!((part, &*text), (Part::Candidate, "output.plane0: expected shape [1, 3, 32, 64], found [1, 3, 32, 32]"));
    assert_eq!(desk.bundle(false, Stages::None, &Nobody).unwrap().head, Answer::Bundle);
}

#[test]
fn a_reduced_precision_is_recognised_by_the_numbers() {
    let numbers = |round: &dyn Fn(f32) -> f32| {
        let data = (0..200).map(|i| round((i as f32 * 0.37).sin() * 3.1)).collect();
        Tensor::from_vec(&[200], data).expect("200 numbers")
    };
    let cut = |bits: u32| move |number: f32| f32::from_bits(number.to_bits() >> bits << bits);
    assert_eq!(suggested(&numbers(&cut(16)), 0), Some(1));
    assert_eq!(suggested(&numbers(&cut(13)), 0), Some(2));
    assert_eq!(suggested(&numbers(&cut(16)), 1), None);
    assert_eq!(suggested(&numbers(&|number| number), 0), None);
}
