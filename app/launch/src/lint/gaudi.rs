//! What Gaudi's vendor says otherwise.

use super::shell::{Command, Token};
use super::{Look, whole};

/// The groups of modules that may share a machine.
const GROUPS: [&str; 6] = ["0,1", "2,3", "4,5", "6,7", "0,1,2,3", "4,5,6,7"];

pub(super) fn check(look: &mut Look<'_>) {
    let chooses_modules = look.assigns("HABANA_VISIBLE_MODULES");
    look.each_word(|look, word| {
        let Some((name, value)) = word.assigned() else { return };
        let at = word.range.start;
        match name {
            "PT_HPU_LAZY_MODE" if value == "2" => {
                look.found(at, "lazy-mode", "2 meant eager until release 1.11; since 1.13 it is 0");
                if word.pieces.len() == 1 {
                    look.mend(word.pieces[0].range.clone(), "PT_HPU_LAZY_MODE=0");
                }
            }
            "HABANA_VISIBLE_MODULES" if !value.contains('$') && !GROUPS.contains(&value) && value.contains(',') => {
                let message = "tenants share a machine in pairs and halves: 0,1 2,3 4,5 6,7 0,1,2,3 4,5,6,7";
                look.found(at, "modules", message);
            }
            "CUDA_VISIBLE_DEVICES" => cuda_devices(look, word, value, chooses_modules),
            "PT_RECIPE_CACHE_PATH" | "PT_CACHE_FOLDER_DELETE" => {
                let message =
                    format!("{name} ended with release 1.10; PT_HPU_RECIPE_CACHE_CONFIG=PATH,DELETE,MB took its place");
                look.found(at, "old-name", message);
            }
            _ => {}
        }
    });
    look.each(|look, command| {
        system_packages(look, command);
        nccl(look, command);
        let hmp = command.words.iter().find(|word| word.text == "--hmp");
        let is_hydra = command.words.iter().any(|word| word.text.contains('=') && !word.text.starts_with('-'));
        if let Some(word) = hmp.filter(|_| is_hydra) {
            let message = "Hydra refuses flags that it does not know, and hmp ended with release 1.12";
            look.found(word.range.start, "unknown-flag", message);
        }
    });
}

/// Cards are chosen by module on a machine, and by the container's runtime where a container starts.
/// <https://docs.habana.ai/en/latest/Orchestration/Multiple_Tenants_on_HPU/Multiple_Workloads_Single_Docker.html>
fn cuda_devices(look: &mut Look<'_>, word: &Token, value: &str, chooses_modules: bool) {
    let message = "nothing on Gaudi reads CUDA_VISIBLE_DEVICES: HABANA_VISIBLE_MODULES chooses cards of a machine, in pairs \
                   and halves, and HABANA_VISIBLE_DEVICES those that a container gets";
    look.found(word.range.start, "cuda-devices", message);
    let text = &look.script[word.range.clone()];
    let name = whole(text, "CUDA_VISIBLE_DEVICES").next().map(|at| word.range.start + at);
    // A group of cards can be said under the new name; one that no tenant may have, or a variable, is for a person.
    if let Some(at) = name.filter(|_| GROUPS.contains(&value) && !chooses_modules) {
        look.mend(at..at + "CUDA_VISIBLE_DEVICES".len(), "HABANA_VISIBLE_MODULES");
    }
}

/// Processes of Gaudi talk over HCCL; `nccl` is looked for in vain.
/// <https://docs.habana.ai/en/latest/PyTorch/PyTorch_Scaling_Guide/DDP_Based_Scaling.html>
fn nccl(look: &mut Look<'_>, command: &Command) {
    let is_backend =
        |key: &str| key.rsplit(['.', '-', '_']).next().is_some_and(|last| last.eq_ignore_ascii_case("backend"));
    let mut before: Option<&Token> = None;
    for word in &command.words {
        let value = match word.text.split_once('=') {
            Some((key, value)) => Some(value).filter(|_| is_backend(key)),
            None => {
                before.filter(|key| key.text.starts_with("--") && is_backend(&key.text)).map(|_| word.text.as_str())
            }
        };
        if value.is_some_and(|value| value.eq_ignore_ascii_case("nccl")) {
            look.found(word.range.start, "nccl", "NCCL is for NVIDIA's cards; Gaudi's processes talk over hccl");
            let last = word.range.end - usize::from(look.script[word.range.clone()].ends_with(['"', '\'']));
            if look.script[..last].to_ascii_lowercase().ends_with("nccl") {
                look.mend(last - "nccl".len()..last, "hccl");
            }
        }
        before = Some(word);
    }
}

/// `python3 -m venv DIR`: the vendor's PyTorch lies outside of it.
pub(super) fn system_packages(look: &mut Look<'_>, command: &Command) {
    let at = command.words.windows(2).position(|pair| pair[0].text == "-m" && pair[1].text == "venv");
    let Some(at) = at.filter(|_| !command.has("--system-site-packages")) else { return };
    let venv = &command.words[at + 1];
    let message = "the vendor's packages are not seen in it without --system-site-packages";
    look.found(venv.range.start, "closed-venv", message);
    look.mend(venv.range.clone(), "venv --system-site-packages");
}
