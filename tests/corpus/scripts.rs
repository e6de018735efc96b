//! The scripts of `tests/fixtures/scripts` on Gaudi: ported, compared with their golden files, and run on both machines.

use crate::machine::{Calls, Machine, run, run_with};
use crate::sound::{assert_golden, assert_sound, folder, here, texts, to_hpu, write_tree};
use crate::story::{assert_marks, assert_on_hpu, assert_same_story, common_story, own_story};
use codemod::{Ported, Style};
use python::SourceFile;
use std::fs;
use std::path::{Path, PathBuf};

/// A script of `tests/fixtures/scripts`, and where its original runs.
struct Script {
    name: &'static str,
    sdk: Option<&'static str>,
    style: Style,
    ported: Ported,
    before: PathBuf,
    after: PathBuf,
}

impl Script {
    fn new(name: &'static str, style: Style) -> Self {
        Self::with_sdk(name, style, None)
    }

    fn with_sdk(name: &'static str, style: Style, sdk: Option<&'static str>) -> Self {
        let scripts = here().join("fixtures/scripts");
        let path = format!("{name}.py");
        let files = [SourceFile { text: fs::read_to_string(scripts.join(&path)).unwrap(), path }];
        let ported = assert_sound(&files, &to_hpu(sdk));
        assert_eq!(ported.style, style, "{name}: style chosen by auto");
        assert!(ported.files[0].changed, "{name}: nothing was ported");
        let after = folder("ported");
        write_tree(&after, texts(&ported));
        Self { name, sdk, style, ported, before: scripts, after }
    }

    fn golden(self) -> Self {
        let version = self.sdk.map_or(String::new(), |sdk| format!("-{sdk}"));
        assert_golden(&self.before.join(format!("{}.hpu{version}.py", self.name)), &self.ported.files[0].text);
        self
    }

    fn run(&self, root: &Path, args: &[&str], machine: Machine) -> Calls {
        run(root, &format!("{}.py", self.name), args, machine).unwrap_or_else(|fault| panic!("{fault}"))
    }

    /// On a machine with neither GPU nor Gaudi software, original and port do the same.
    fn same_on_cpu(self, args: &[&str]) -> Self {
        let (before, after) = (self.run(&self.before, args, Machine::Cpu), self.run(&self.after, args, Machine::Cpu));
        assert_same_story(self.name, &own_story(&before), &own_story(&after));
        self
    }

    /// In branch style the GPU's path is unchanged.
    fn same_on_cuda(self, args: &[&str]) -> Self {
        let (before, after) = (self.run(&self.before, args, Machine::Cuda), self.run(&self.after, args, Machine::Cuda));
        assert_same_story(self.name, &own_story(&before), &own_story(&after));
        self
    }

    /// The port does the same on Gaudi as the original on a GPU.
    fn moves_from_cuda_to_hpu(self, before: &[&str], after: &[&str]) -> Self {
        let before = self.run(&self.before, before, Machine::Cuda);
        let after = self.run(&self.after, after, Machine::Hpu);
        assert_on_hpu(&after);
        assert_marks(&after, self.style == Style::InPlace && self.sdk.is_some());
        assert_same_story(self.name, &common_story(&before), &common_story(&after));
        self
    }
}

#[test]
fn cell_ddp() {
    Script::new("cell_ddp", Style::InPlace).golden().moves_from_cuda_to_hpu(&[], &[]);
}

#[test]
fn cell_ddp_lazily() {
    Script::with_sdk("cell_ddp", Style::InPlace, Some("1.19")).golden().moves_from_cuda_to_hpu(&[], &[]);
}

#[test]
fn wafer_aliases() {
    Script::new("wafer_aliases", Style::InPlace).golden().moves_from_cuda_to_hpu(&[], &[]);
}

#[test]
fn plankton() {
    Script::new("plankton", Style::InPlace).golden().same_on_cpu(&[]).moves_from_cuda_to_hpu(&[], &[]);
}

#[test]
fn plankton_lazily() {
    Script::with_sdk("plankton", Style::InPlace, Some("1.8")).same_on_cpu(&[]).moves_from_cuda_to_hpu(&[], &[]);
}

#[test]
fn seismic_args() {
    Script::new("seismic_args", Style::InPlace).golden().same_on_cpu(&[]).moves_from_cuda_to_hpu(&[], &[]);
}

#[test]
fn spectra_trainer() {
    Script::new("spectra_trainer", Style::InPlace).golden().same_on_cpu(&[]).moves_from_cuda_to_hpu(&[], &[]);
}

#[test]
fn retina_notebook() {
    Script::new("retina_notebook", Style::InPlace).golden().same_on_cpu(&[]).moves_from_cuda_to_hpu(&[], &[]);
}

#[test]
fn accelerator_style() {
    Script::new("accelerator_style", Style::InPlace).golden().same_on_cpu(&[]).moves_from_cuda_to_hpu(&[], &[]);
}

#[test]
fn accelerator_style_before_it_existed() {
    Script::with_sdk("accelerator_style", Style::InPlace, Some("1.19")).moves_from_cuda_to_hpu(&[], &[]);
}

#[test]
fn spawn_ddp() {
    Script::new("spawn_ddp", Style::InPlace).golden().moves_from_cuda_to_hpu(&[], &[]);
}

#[test]
fn compiled_lm() {
    Script::new("compiled_lm", Style::InPlace).golden().moves_from_cuda_to_hpu(&[], &[]);
}

#[test]
fn fstring_devices() {
    Script::new("fstring_devices", Style::InPlace).golden().moves_from_cuda_to_hpu(&[], &[]);
}

#[test]
fn tabs_crlf_bom() {
    Script::new("tabs_crlf_bom", Style::InPlace).golden().moves_from_cuda_to_hpu(&[], &[]);
}

#[test]
fn tabs_crlf_bom_lazily() {
    Script::with_sdk("tabs_crlf_bom", Style::InPlace, Some("1.19")).golden().moves_from_cuda_to_hpu(&[], &[]);
}

/// If a program's mode is an option, an environment variable is used.
#[test]
fn mode_chain_lazily() {
    let script = Script::new("mode_chain", Style::Branch);
    let env = [("PT_HPU_LAZY_MODE", "1")];
    for precision in [&["--mixed"][..], &[]] {
        let args: Vec<_> = ["--accelerator", "hpu"].iter().chain(precision).copied().collect();
        let calls = run_with(&script.after, "mode_chain.py", &args, Machine::Hpu, &env);
        assert_marks(&calls.unwrap_or_else(|fault| panic!("{fault}")), true);
    }
}

#[test]
fn mode_chain() {
    Script::new("mode_chain", Style::Branch)
        .golden()
        .same_on_cpu(&["--accelerator", "cpu", "--mixed"])
        .same_on_cuda(&["--accelerator", "gpu", "--mixed"])
        .moves_from_cuda_to_hpu(&["--accelerator", "gpu"], &["--accelerator", "hpu"])
        .moves_from_cuda_to_hpu(&["--accelerator", "gpu", "--mixed"], &["--accelerator", "hpu", "--mixed"]);
}
