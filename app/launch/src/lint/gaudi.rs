//! What Gaudi's vendor says otherwise.

use super::Look;
use super::shell::Command;

/// The groups of modules that may share a machine.
const GROUPS: [&str; 6] = ["0,1", "2,3", "4,5", "6,7", "0,1,2,3", "4,5,6,7"];

pub(super) fn check(look: &mut Look<'_>) {
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
        let hmp = command.words.iter().find(|word| word.text == "--hmp");
        let is_hydra = command.words.iter().any(|word| word.text.contains('=') && !word.text.starts_with('-'));
        if let Some(word) = hmp.filter(|_| is_hydra) {
            let message = "Hydra refuses flags that it does not know, and hmp ended with release 1.12";
            look.found(word.range.start, "unknown-flag", message);
        }
    });
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
