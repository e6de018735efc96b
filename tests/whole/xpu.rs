//! The scripts of `tests/fixtures/scripts` on Intel's GPUs: ported and compared with their golden files.

use codemod::{Options, Severity, Style};
use python::SourceFile;
use std::fs;
use tests::sound::{assert_golden, assert_sound, here, to};

/// Ports a script in place, or by the branches that it has.
fn ported(name: &str, sdk: Option<&str>) -> Vec<String> {
    let style = if name == "mode_chain" { Style::Auto } else { Style::InPlace };
    ported_in(style, name, sdk)
}

/// Ports a script and compares it with its golden file; returns the ids of the remaining warnings.
fn ported_in(style: Style, name: &str, sdk: Option<&str>) -> Vec<String> {
    let scripts = here().join("fixtures/scripts");
    let path = format!("{name}.py");
    let files = [SourceFile { text: fs::read_to_string(scripts.join(&path)).unwrap(), path }];
    let ported = assert_sound(&files, &Options { style, sdk: sdk.map(Into::into), ..to("xpu") });
    let version = match (style, sdk) {
        (Style::Agnostic, _) => "-agnostic".to_owned(),
        (_, sdk) => sdk.map_or(String::new(), |sdk| format!("-{sdk}")),
    };
    assert_golden(&scripts.join(format!("{name}.xpu{version}.py")), &ported.files[0].text);
    let warnings = ported.files[0].diagnostics.iter().filter(|d| d.severity == Severity::Warning);
    warnings.map(|d| d.recipe.clone()).collect()
}

/// Nothing remains as manual work, and no CUDA use is unreported.
#[test]
fn scripts_without_a_rest() {
    for name in [
        "compiled_lm",
        "cuda_beside_training",
        "device_arguments",
        "fstring_devices",
        "import_aliases",
        "lightning_trainer",
        "plankton",
        "spawn_ddp",
        "spectra_trainer",
        "sync_batch_norm_ddp",
        "tabs_crlf_bom",
    ] {
        assert_eq!(ported(name, None), [""; 0], "{name}");
    }
    // It calls `get_ipython` and `nvidia-smi`.
    assert_eq!(ported("exported_notebook", None), ["engine#exported-notebook", "engine#cuda-software"]);
}

/// Before PyTorch 2.5 the device comes with an extension, and training is in bfloat16.
#[test]
fn before_the_device_was_pytorchs_own() {
    assert_eq!(ported("tabs_crlf_bom", Some("2.3")), [""; 0]);
    // Their checkpoints contain the state of a scaler that is now disabled.
    assert_eq!(ported("spectra_trainer", Some("2.3")), ["xpu#grad-scaler"]);
    assert_eq!(ported("sync_batch_norm_ddp", Some("2.3")), ["xpu#sync-batch-norm", "xpu#grad-scaler"]);
}

/// A port that uses the extension is updated.
#[test]
fn an_older_port() {
    assert_eq!(ported("ipex_and_ccl", None), ["xpu#extension"]);
    assert_eq!(ported("ipex_and_ccl", Some("2.3")), [""; 0]);
}

/// A script that uses `torch.accelerator` needs no change, and one with a mode for the target gets no new branches.
#[test]
fn scripts_that_know_more_than_one_machine() {
    assert_eq!(ported("accelerator_style", None), [""; 0]);
    assert_eq!(ported("mode_chain", None), ["xpu#extension"]);
}

/// Scripts that choose their device are one program for all devices.
#[test]
fn one_program() {
    for name in ["compiled_lm", "device_arguments", "plankton", "spectra_trainer"] {
        let scripts = here().join("fixtures/scripts");
        let path = format!("{name}.py");
        let files = [SourceFile { text: fs::read_to_string(scripts.join(&path)).unwrap(), path }];
        assert_eq!(assert_sound(&files, &to("xpu")).style, Style::Agnostic, "{name}");
        assert_eq!(ported_in(Style::Agnostic, name, None), [""; 0], "{name}");
    }
}
