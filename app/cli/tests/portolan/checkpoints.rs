//! Weights in `torch.save` files, through `portolan forward`.

use crate::{folder, portolan};
use std::fs;
use std::path::Path;
use std::process::Command;

const SMALL: &str = r#"{ "depth": 1, "n_initial_filters": 2, "bottleneck_deepest": 4, "blocks_final": 1 }"#;

/// A folder with `weights.safetensors`, which also contains an event and its outputs, and checkpoints of the same
/// weights.
fn checkpoints() -> tempfile::TempDir {
    let home = folder(&[("small.json", SMALL)]);
    let words = ["forward", "--config", "small.json", "--size", "16x24", "--out", "weights.safetensors", "--bundle"];
    let ran = portolan(home.path(), &words);
    assert_eq!(ran.code, 0, "{ran:?}");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/portolan/write_checkpoints.py");
    let wrote =
        Command::new("python3").arg(script).args(["weights.safetensors", "."]).current_dir(home.path()).output();
    let wrote = wrote.unwrap();
    assert!(wrote.status.success(), "{}", String::from_utf8_lossy(&wrote.stderr));
    home
}

fn forward(home: &Path, words: &[&str]) -> crate::Ran {
    portolan(home, &[&["forward", "--config", "small.json", "--input", "weights.safetensors"], words].concat())
}

#[test]
fn a_checkpoint_computes_what_its_weights_compute() {
    let home = checkpoints();
    // The allowed difference of the logits, relative to the largest: none, or the rounding of the storage's type.
    for (name, allowed) in [
        ("trainer.ckpt", 0.0),
        ("bare.pt", 0.0),
        ("deep.pt", 0.0),
        ("big.pt", 0.0),
        ("strided.pt", 0.0),
        ("shared.pt", 0.0),
        ("bfloat16.pt", 0.04),
        ("float16.pt", 0.005),
    ] {
        let ran = forward(home.path(), &["--weights", name, "--compare", "weights.safetensors", "--format", "json"]);
        let told: serde_json::Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{name}: {ran:?}"));
        let apart = told["comparison"]["distance"]["max_relative_to_range"].as_f64().unwrap();
        assert!(apart <= allowed && (apart > 0.0) == (allowed > 0.0), "{name}: {apart}");
    }
    assert!(!home.path().join("it_ran").exists());
}

#[test]
fn a_checkpoint_that_cannot_be_used_says_why() {
    let home = checkpoints();
    let whole = fs::read(home.path().join("trainer.ckpt")).unwrap();
    fs::write(home.path().join("cut.ckpt"), &whole[..whole.len() / 2]).unwrap();
    let mut damaged = fs::read(home.path().join("bare.pt")).unwrap();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    fs::write(home.path().join("damaged.pt"), damaged).unwrap();
    for (name, expected) in [
        ("runs.pt", "runs.pt: the pickle calls posix.system, and pickles are not executed here"),
        ("legacy.pt", "before PyTorch 1.6; convert it"),
        ("bare.pkl", "a bare pickle"),
        ("lost.pt", "is missing from the archive"),
        ("beyond.pt", "does not fit its 28 bytes"),
        ("endless.pt", "are larger than a file of this size allows"),
        ("nothing.pt", "the checkpoint contains no named tensors"),
        ("cut.ckpt", "cut.ckpt: tensor file: incomplete or damaged zip archive"),
        ("damaged.pt", "damaged: wrong checksum"),
    ] {
        let ran = forward(home.path(), &["--weights", name]);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{name}: {ran:?}");
        assert!(ran.err.contains(expected), "{name}: {ran:?}");
    }
    assert!(!home.path().join("it_ran").exists());
    let ran =
        portolan(home.path(), &["forward", "--config", "uresnet", "--weights", "trainer.ckpt", "--size", "64x64"]);
    assert!(ran.err.contains("initial_convolution.conv.weight: expected shape [16, 1, 5, 5], found [2, 1"), "{ran:?}");
}
