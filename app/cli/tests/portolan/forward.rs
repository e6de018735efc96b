//! `portolan forward`: a bundle goes out, comes back in, and agrees; what can't be used is named.

use crate::{folder, portolan};
use std::fs;
use std::path::Path;

const SMALL: &str = r#"{ "depth": 2, "n_initial_filters": 4, "bottleneck_deepest": 8, "blocks_final": 1 }"#;

fn forward(home: &Path, words: &[&str]) -> crate::Ran {
    portolan(home, &[&["forward", "--config", "small.json"], words].concat())
}

#[test]
fn a_bundle_runs_again_and_agrees() {
    let home = folder(&[("small.json", SMALL)]);
    let home = home.path();
    let bundle = ["--seed", "7", "--event", "3", "--size", "32x48", "--out", "b.safetensors", "--bundle", "--stages"];
    let ran = forward(home, &[&bundle[..], &["--threads", "1"]].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("logits [1, 3, 3, 32, 48]") && ran.out.contains("by the labels"), "{ran:?}");

    let again = ["--weights", "b.safetensors", "--input", "b.safetensors", "--compare", "b.safetensors"];
    let ran = forward(home, &[&again[..], &["--threads", "2", "--format", "json"]].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    let told: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let compared = &told["comparison"];
    assert_eq!((&compared["agrees"], &compared["first_diverging_stage"]), (&true.into(), &serde_json::Value::Null));
    assert!(compared["stages"].as_array().unwrap().len() > 10, "{compared}");
    assert_eq!(told["shape"], serde_json::json!([1, 3, 3, 32, 48]));

    let other = ["--seed", "8", "--input", "b.safetensors", "--compare", "b.safetensors", "--precision", "bf16"];
    let ran = forward(home, &other);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.contains("the first further off is initial_convolution.plane0"), "{ran:?}");
    assert!(ran.out.ends_with("the outputs do not agree\n"), "{ran:?}");
}

#[test]
fn what_cannot_be_used_is_named() {
    let home = folder(&[("small.json", SMALL), ("text.txt", "hello"), ("ckpt", "PK\u{3}\u{4}"), ("l.h5", "")]);
    let home = home.path();
    fs::write(home.join("l.h5"), b"\x89HDF\r\n\x1a\n").unwrap();
    let made = forward(home, &["--size", "16x16", "--out", "b.safetensors", "--bundle"]);
    assert_eq!(made.code, 0, "{made:?}");
    let whole = fs::read(home.join("b.safetensors")).unwrap();
    fs::write(home.join("cut.safetensors"), &whole[..whole.len() - 1]).unwrap();
    let header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4, 4), }";
    let data = [f32::NAN; 48].iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let npy = [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header, &data].concat();
    fs::write(home.join("nan.npy"), npy).unwrap();
    for (code, words, expected) in [
        (1, &["--size", "16x18"][..], "the next size that fits is 16 x 20"),
        (1, &["--weights", "cut.safetensors"], "cut.safetensors: tensor file: not a whole safetensors file"),
        (1, &["--weights", "ckpt"], "ckpt: tensor file: not a whole zip archive"),
        (1, &["--input", "text.txt"], "text.txt: tensor file: not a whole safetensors file"),
        (1, &["--input", "l.h5"], "HDF5"),
        (1, &["--input", "nan.npy"], "input: the value at position 0 is not a finite number"),
        (1, &["--input", "no.npy"], "no.npy"),
        (1, &["--size", "32x32", "--compare", "b.safetensors"], "output.plane0: expected shape [1, 3, 32, 32], found"),
        (1, &["--downsample", "3"], "can't be taken 3 by 3"),
        (2, &["--size", "big"], "HEIGHTxWIDTH"),
        (2, &["--stages"], "--out"),
        (2, &["--format", "sarif"], "text and json"),
    ] {
        let ran = forward(home, words);
        assert_eq!((ran.code, ran.out.as_str()), (code, ""), "{words:?}: {ran:?}");
        assert!(ran.err.contains(expected), "{words:?}: {ran:?}");
    }
    let ran = portolan(home, &["forward", "--config", "uresnet", "--weights", "b.safetensors", "--size", "64x64"]);
    assert!(ran.err.contains("initial_convolution.conv.weight: expected shape [16, 1, 5, 5], found [4,"), "{ran:?}");
    let ran = portolan(home, &["forward", "--config", "unet"]);
    assert!(ran.code == 2 && ran.err.contains("uresnet, a21, scc21, polaris"), "{ran:?}");
}

#[test]
fn the_sample_weights_tell_the_classes_apart() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../public/check");
    let path = |name: &str| sample.join(name).to_str().unwrap().to_string();
    assert!(fs::metadata(path("sample.safetensors")).unwrap().len() <= 2 << 20);
    // Of the events that the training has not seen.
    let words = ["forward", "--config", &path("sample.json"), "--weights", &path("sample.safetensors"), "--event", "1"];
    let ran = portolan(Path::new("."), &[&words[..], &["--format", "json"]].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    let told: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let scores = &told["scores"];
    assert!(scores["accuracy"].as_f64().unwrap() > 0.995, "{scores}");
    assert!(scores["non_background_accuracy"].as_f64().unwrap() > 0.95, "{scores}");
    assert!(scores["iou"].as_array().unwrap().iter().all(|iou| iou.as_f64().unwrap() > 0.75), "{scores}");
}
