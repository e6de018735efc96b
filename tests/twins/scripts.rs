//! The scripts of `tests/fixtures/scripts` on Gaudi: ported, compared with their golden files, and run on both machines.

use crate::fixtures::FIXTURES;
use crate::machine::{Calls, Machine, run, run_with};
use crate::story::{assert_marks, assert_on_hpu, assert_same_story, common_story, own_story};
use crate::trials::trials;
use codemod::{Options, Ported, Style};
use libtest_mimic::Trial;
use std::path::{Path, PathBuf};
use tests::sound::{Folder, assert_golden, assert_sound, here, texts, to_hpu};

/// A script of `tests/fixtures/scripts`, and where its original runs.
struct Script {
    name: &'static str,
    sdk: Option<&'static str>,
    style: Style,
    ported: &'static Ported,
    before: PathBuf,
    after: Folder,
}

impl Script {
    fn new(name: &'static str, style: Style) -> Self {
        Self::with_sdk(name, style, None)
    }

    fn with_sdk(name: &'static str, style: Style, sdk: Option<&'static str>) -> Self {
        let ported = assert_sound(&FIXTURES[name].files, &Options { style, ..to_hpu(sdk) });
        assert!(ported.files[0].changed, "{name}: nothing was ported");
        Self { name, sdk, style, ported, before: here().join("fixtures/scripts"), after: Folder::with(texts(ported)) }
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

pub(crate) fn trials() -> Vec<Trial> {
    trials!(
        sync_batch_norm_ddp sync_batch_norm_ddp_lazily import_aliases plankton plankton_lazily device_arguments spectra_trainer exported_notebook accelerator_style accelerator_style_before_it_existed spawn_ddp compiled_lm fstring_devices tabs_crlf_bom tabs_crlf_bom_lazily mode_chain_lazily mode_chain
    )
}

fn sync_batch_norm_ddp() {
    Script::new("sync_batch_norm_ddp", Style::InPlace).golden().moves_from_cuda_to_hpu(&[], &[]);
}

fn sync_batch_norm_ddp_lazily() {
    Script::with_sdk("sync_batch_norm_ddp", Style::InPlace, Some("1.19")).golden().moves_from_cuda_to_hpu(&[], &[]);
}

fn import_aliases() {
    Script::new("import_aliases", Style::InPlace).golden().moves_from_cuda_to_hpu(&[], &[]);
}

fn plankton() {
    Script::new("plankton", Style::InPlace).golden().same_on_cpu(&[]).moves_from_cuda_to_hpu(&[], &[]);
}

fn plankton_lazily() {
    Script::with_sdk("plankton", Style::InPlace, Some("1.8")).same_on_cpu(&[]).moves_from_cuda_to_hpu(&[], &[]);
}

fn device_arguments() {
    Script::new("device_arguments", Style::InPlace).golden().same_on_cpu(&[]).moves_from_cuda_to_hpu(&[], &[]);
}

fn spectra_trainer() {
    Script::new("spectra_trainer", Style::InPlace).golden().same_on_cpu(&[]).moves_from_cuda_to_hpu(&[], &[]);
}

fn exported_notebook() {
    Script::new("exported_notebook", Style::InPlace).golden().same_on_cpu(&[]).moves_from_cuda_to_hpu(&[], &[]);
}

fn accelerator_style() {
    Script::new("accelerator_style", Style::InPlace).golden().same_on_cpu(&[]).moves_from_cuda_to_hpu(&[], &[]);
}

fn accelerator_style_before_it_existed() {
    Script::with_sdk("accelerator_style", Style::InPlace, Some("1.19")).moves_from_cuda_to_hpu(&[], &[]);
}

fn spawn_ddp() {
    Script::new("spawn_ddp", Style::InPlace).golden().moves_from_cuda_to_hpu(&[], &[]);
}

fn compiled_lm() {
    Script::new("compiled_lm", Style::InPlace).golden().moves_from_cuda_to_hpu(&[], &[]);
}

fn fstring_devices() {
    Script::new("fstring_devices", Style::InPlace).golden().moves_from_cuda_to_hpu(&[], &[]);
}

fn tabs_crlf_bom() {
    Script::new("tabs_crlf_bom", Style::InPlace).golden().moves_from_cuda_to_hpu(&[], &[]);
}

fn tabs_crlf_bom_lazily() {
    Script::with_sdk("tabs_crlf_bom", Style::InPlace, Some("1.19")).golden().moves_from_cuda_to_hpu(&[], &[]);
}

/// If a program's mode is an option, an environment variable is used.
fn mode_chain_lazily() {
    let script = Script::new("mode_chain", Style::Branch);
    let env = [("PT_HPU_LAZY_MODE", "1")];
    for precision in [&["--mixed"][..], &[]] {
        let args: Vec<_> = ["--accelerator", "hpu"].iter().chain(precision).copied().collect();
        let calls = run_with(&script.after, "mode_chain.py", &args, Machine::Hpu, &env);
        assert_marks(&calls.unwrap_or_else(|fault| panic!("{fault}")), true);
    }
}

fn mode_chain() {
    Script::new("mode_chain", Style::Branch)
        .golden()
        .same_on_cpu(&["--accelerator", "cpu", "--mixed"])
        .same_on_cuda(&["--accelerator", "gpu", "--mixed"])
        .moves_from_cuda_to_hpu(&["--accelerator", "gpu"], &["--accelerator", "hpu"])
        .moves_from_cuda_to_hpu(&["--accelerator", "gpu", "--mixed"], &["--accelerator", "hpu", "--mixed"]);
}
