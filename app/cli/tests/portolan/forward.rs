//! `portolan forward`: a bundle is written, read again, and agrees; unusable input is named.

use crate::schema::check_forward;
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
    assert!(ran.out.contains("logits [1, 3, 3, 32, 48]") && ran.out.contains("compared with the labels"), "{ran:?}");

    let again = ["--weights", "b.safetensors", "--input", "b.safetensors", "--compare", "b.safetensors"];
    let ran = forward(home, &[&again[..], &["--threads", "2", "--format", "json"]].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    let told: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    check_forward(&told);
    let compared = &told["comparison"];
    assert_eq!((&compared["agrees"], &compared["first_diverging_stage"]), (&true.into(), &serde_json::Value::Null));
    assert!(compared["stages"].as_array().unwrap().len() > 10, "{compared}");
    assert_eq!(told["shape"], serde_json::json!([1, 3, 3, 32, 48]));

    let other = ["--seed", "8", "--input", "b.safetensors", "--compare", "b.safetensors", "--precision", "bf16"];
    let ran = forward(home, &other);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.contains("the first outside the tolerance is initial_convolution.plane0"), "{ran:?}");
    assert!(ran.out.contains("differences in units in the last place: 0: 0.00 %"), "{ran:?}");
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
    let header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3, 16, 16), }";
    let npy = [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header].concat();
    fs::write(home.join("none.npy"), npy).unwrap();
    for (code, words, expected) in [
        (1, &["--size", "16x18"][..], "the next valid size is 16 x 20"),
        (1, &["--weights", "cut.safetensors"], "cut.safetensors: tensor file: incomplete or damaged safetensors file"),
        (1, &["--weights", "ckpt"], "ckpt: tensor file: incomplete or damaged zip archive"),
        (1, &["--input", "text.txt"], "text.txt: tensor file: not a supported file"),
        (1, &["--input", "l.h5"], "HDF5"),
        (1, &["--input", "nan.npy"], "input: the value at position 0 is not finite"),
        (1, &["--input", "none.npy"], "it contains no image: its shape is [0, 3, 16, 16]"),
        (1, &["--input", "no.npy"], "no.npy"),
        (1, &["--size", "32x32", "--compare", "b.safetensors"], "output.plane0: expected shape [1, 3, 32, 32], found"),
        (1, &["--downsample", "3"], "can't be downsampled 3 by 3"),
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
    assert!(ran.code == 2 && ran.err.contains("uresnet, a21, scc21, polaris, small"), "{ran:?}");
    let ran = portolan(home, &["forward", "--config", "polaris", "--weights", "sample", "--size", "128x128"]);
    assert!(ran.code == 1 && ran.err.contains("sample: "), "{ran:?}");
}

#[test]
fn the_sample_weights_tell_the_classes_apart() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../public/check");
    let path = |name: &str| sample.join(name).to_str().unwrap().to_string();
    assert!(fs::metadata(path("sample.safetensors")).unwrap().len() <= 2 << 20);
    // On events that were not used in the training.
    let home = folder(&[]);
    let words = ["forward", "--config", "small", "--weights", "sample", "--event", "1"];
    let ran = portolan(home.path(), &[&words[..], &["--format", "json", "--out", "named.safetensors"]].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    // The same with the files that the page loads.
    let files = ["--config", &path("sample.json"), "--weights", &path("sample.safetensors"), "--event", "1"];
    let same = portolan(home.path(), &[&["forward", "--compare", "named.safetensors"], &files[..]].concat());
    assert!(same.code == 0 && same.out.contains("compared: max difference 0.000e0"), "{same:?}");
    let told: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    check_forward(&told);
    let scores = &told["scores"];
    assert!(scores["accuracy"].as_f64().unwrap() > 0.995, "{scores}");
    assert!(scores["non_background_accuracy"].as_f64().unwrap() > 0.95, "{scores}");
    assert!(scores["iou"].as_array().unwrap().iter().all(|iou| iou.as_f64().unwrap() > 0.75), "{scores}");
}

/// PyTorch's outputs, through the command: every golden case with its own configuration.
#[test]
fn pytorchs_outputs_agree() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/uresnet");
    let mut cases = 0;
    for entry in fs::read_dir(&fixtures).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let facts: serde_json::Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let home = folder(&[("config.json", &facts["config"].to_string())]);
        let golden = path.with_extension("safetensors");
        let golden = golden.to_str().unwrap();
        let files = ["--weights", golden, "--input", golden, "--compare", golden];
        let ran = portolan(home.path(), &[&["forward", "--config", "config.json"], &files[..]].concat());
        assert_eq!(ran.code, 0, "{golden}: {ran:?}");
        assert!(ran.out.ends_with("the outputs agree\n"), "{golden}: {ran:?}");
        cases += 1;
    }
    assert_eq!(cases, 16);
}

#[test]
fn events_are_written_and_read() {
    let home = folder(&[("small.json", SMALL)]);
    let home = home.path();
    let ran = portolan(home, &["events", "--first", "5", "--count", "3", "--size", "32x48", "--out", "e.safetensors"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""));
    let made = forward(home, &["--event", "6", "--size", "32x48", "--out", "made.safetensors"]);
    assert_eq!(made.code, 0, "{made:?}");
    let read = ["--input", "e.safetensors", "--event", "6", "--compare", "made.safetensors"];
    let ran = forward(home, &read);
    assert!(ran.code == 0 && ran.out.contains("compared: max difference 0.000e0"), "{ran:?}");
    let ran = forward(home, &["--input", "e.safetensors", "--event", "8", "--size", "32x48"]);
    assert!(ran.code == 1 && ran.err.contains("the file has no event 8"), "{ran:?}");
}

#[test]
fn tensors_replace_nothing_else() {
    let home = folder(&[("train.py", "x = 1\n"), ("small.json", SMALL)]);
    let home = home.path();
    let refused = "--out train.py: the file exists and is no safetensors file; nothing was written";
    for command in [&["events", "--size", "32x48"][..], &["forward", "--config", "small.json", "--size", "32x48"]] {
        let ran = portolan(home, &[command, &["--out", "train.py"]].concat());
        assert!(ran.code == 2 && ran.err.contains(refused), "{ran:?}");
        assert_eq!(fs::read_to_string(home.join("train.py")).unwrap(), "x = 1\n");
        for _ in 0..2 {
            let ran = portolan(home, &[command, &["--out", "e.safetensors"]].concat());
            assert_eq!(ran.code, 0, "{ran:?}");
        }
    }
}

#[test]
fn events_of_larcv_are_read() {
    let home = folder(&[("small.json", SMALL), ("words.h5", "no HDF5")]);
    let home = home.path();
    // Written by write_larcv.py, which documents the contents.
    let whole = include_bytes!("larcv.h5");
    fs::write(home.join("larcv.h5"), whole).unwrap();
    fs::write(home.join("cut.h5"), &whole[..whole.len() / 2]).unwrap();
    let ran = portolan(home, &["events", "--input", "larcv.h5", "--out", "e.safetensors"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""));
    let tensors = uresnet::read_tensors(&fs::read(home.join("e.safetensors")).unwrap()).unwrap();
    let pixel =
        |at: usize| ["event", "plane", "row", "col", "value", "label"].map(|name| tensors[name].data()[at]).to_vec();
    assert_eq!(tensors["value"].data().len(), 2 * 3 * 5);
    assert_eq!(pixel(0), [0.0, 0.0, 0.0, 0.0, 0.5, 1.0]);
    assert_eq!(pixel(28), [1.0, 2.0, 3.0, 8.0, 13.5, 2.0]);

    let size = ["--event", "1", "--size", "32x64"];
    let direct = forward(home, &[&["--input", "larcv.h5", "--out", "direct.safetensors"], &size[..]].concat());
    assert_eq!(direct.code, 0, "{direct:?}");
    let ran = forward(home, &[&["--input", "e.safetensors", "--compare", "direct.safetensors"], &size[..]].concat());
    assert!(ran.code == 0 && ran.out.contains("compared: max difference 0.000e0"), "{ran:?}");

    // The image has the file's size if no other is given; so has that of an event from it.
    for input in ["larcv.h5", "e.safetensors"] {
        let shape = |more: &[&str]| forward(home, &[&["--input", input], more].concat());
        let ran = shape(&[]);
        assert!(ran.code == 0 && ran.out.contains("logits [1, 3, 3, 32, 64]"), "{input}: {ran:?}");
        let ran = shape(&["--size", "48x96"]);
        assert!(ran.code == 0 && ran.out.contains("logits [1, 3, 3, 48, 96]"), "{input}: {ran:?}");
        let ran = shape(&["--size", "4x96"]);
        assert!(ran.code == 1 && ran.err.contains("row 4 is not an integer below 4"), "{input}: {ran:?}");
    }

    let check = |arguments: &[&str], code: i32, expected: &str| {
        let ran = portolan(home, &[&["events", "--out", "x.safetensors"], arguments].concat());
        assert!(ran.code == code && ran.err.contains(expected), "{arguments:?}: {ran:?}");
        assert!(!home.join("x.safetensors").exists(), "{arguments:?}");
    };
    check(&["--input", "larcv.h5", "--first", "2"], 1, "no event 2: the file has 2");
    check(&["--input", "cut.h5"], 1, "cut.h5: ");
    check(&["--input", "words.h5"], 2, "words.h5 is not a larcv HDF5 file");
    check(&["--input", "none.h5"], 1, "none.h5: ");
    check(&["--input", "larcv.h5", "--size", "32x64"], 2, "cannot be used with");
    let sample = ["forward", "--config", "small", "--weights", "sample"];
    let caution = "trained on synthetic events only";
    let ran = portolan(home, &[&sample[..], &["--input", "larcv.h5"]].concat());
    assert!(ran.code == 0 && ran.out.contains(caution), "{ran:?}");
    let ran = portolan(home, &[&sample[..], &["--size", "32x64"]].concat());
    assert!(ran.code == 0 && !ran.out.contains(caution), "{ran:?}");
    let weights = portolan(home, &["forward", "--config", "small.json", "--weights", "larcv.h5"]);
    assert!(weights.code == 1 && weights.err.contains("portolan events --input"), "{weights:?}");
}

#[test]
fn a_picture_comes_in_any_format() {
    let home = folder(&[("small.json", SMALL)]);
    let home = home.path();
    let numbers: Vec<u8> = (0..3 * 4 * 8).flat_map(|i| (i as f32 / 7.0).to_le_bytes()).collect();
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3, 4, 8), }";
    let npy = [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), &numbers].concat();
    fs::write(home.join("picture.npy"), &npy).unwrap();
    let script = "import sys, zipfile\n\
                  for name, packing in (('stored.npz', 0), ('deflated.npz', 8)):\n\
                  \x20   with zipfile.ZipFile(name, 'w', packing) as archive:\n\
                  \x20       archive.write('picture.npy', 'input.npy')\n";
    let packed = std::process::Command::new("python3").args(["-c", script]).current_dir(home).status();
    assert!(packed.unwrap().success());
    let ran = forward(home, &["--input", "picture.npy", "--out", "b.safetensors"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for name in ["stored.npz", "deflated.npz", "b.safetensors"] {
        let ran = forward(home, &["--input", name, "--compare", "b.safetensors"]);
        assert!(ran.code == 0 && ran.out.contains("compared: max difference 0.000e0"), "{name}: {ran:?}");
    }
    let whole = fs::read(home.join("deflated.npz")).unwrap();
    fs::write(home.join("cut.npz"), &whole[..whole.len() - 40]).unwrap();
    let huge = [&u64::MAX.to_le_bytes()[..], b"{}"].concat();
    fs::write(home.join("huge.safetensors"), huge).unwrap();
    fs::write(home.join("empty.npz"), "").unwrap();
    let sparse = fs::File::create(home.join("large.safetensors")).unwrap();
    sparse.set_len(3 << 30).unwrap();
    for (name, expected) in [
        ("cut.npz", "incomplete or damaged zip archive"),
        ("huge.safetensors", "incomplete or damaged safetensors file"),
        ("empty.npz", "the file is empty"),
        ("large.safetensors", "larger than 1 GiB"),
    ] {
        let ran = forward(home, &["--input", name]);
        assert!(ran.code == 1 && ran.err.contains(expected), "{name}: {ran:?}");
    }
}
