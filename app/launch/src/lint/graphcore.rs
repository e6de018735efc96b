//! What Graphcore's SDK and poprun say otherwise.

use super::shell::Command;
use super::words::name;
use super::{Look, whole};
use crate::request::Target;

pub(super) fn check(look: &mut Look<'_>) {
    cache_variable(look);
    let is_keras = |text: &str| text.contains("keras-") && text.ends_with(".whl");
    let has_keras = look.commands.iter().flat_map(|command| &command.words).any(|word| is_keras(&word.text));
    look.each(|look, command| {
        python_version(look, command);
        server(look, command);
        if look.target == Target::Popdist {
            poprun(look, command);
        }
        let wheel = command.words.iter().find(|word| word.text.contains("tensorflow-") && word.text.ends_with(".whl"));
        if let Some(word) = wheel.filter(|_| !has_keras) {
            let message = "keras.ipu lies in the SDK's own Keras: install its keras-….whl too";
            look.found(word.range.start, "keras-wheel", message);
        }
    });
}

/// The name of the cache, which published scripts have in two spellings.
fn cache_variable(look: &mut Look<'_>) {
    const WRONG: &str = "PYTORCH_CACHE_DIR";
    const RIGHT: &str = "POPTORCH_CACHE_DIR";
    let is_assigned = look.assigns(WRONG);
    let uses = [format!("${WRONG}"), format!("${{{WRONG}}}")];
    let is_use = |text: &str| uses.iter().any(|name| text.contains(name));
    let is_used = look.commands.iter().flat_map(|command| &command.words).any(|word| is_use(&word.text));
    let is_right = look.assigns(RIGHT);
    look.each_word(|look, word| {
        let is_own = word.assigned().is_some_and(|(name, _)| name == WRONG);
        let message = match (is_own, is_use(&word.text)) {
            (false, true) if !is_assigned => {
                "PYTORCH_CACHE_DIR is set nowhere here; set POPTORCH_CACHE_DIR and take that"
            }
            (true, _) if !is_used && !is_right => "nothing reads PYTORCH_CACHE_DIR; PopTorch reads POPTORCH_CACHE_DIR",
            _ => return,
        };
        let text = &look.script[word.range.clone()];
        let Some(at) = whole(text, WRONG).next().map(|at| word.range.start + at) else { return };
        look.found(at, "cache-variable", message);
        look.mend(at..at + WRONG.len(), RIGHT);
    });
}

/// The SDK's wheels are for Python 3.8 alone.
fn python_version(look: &mut Look<'_>, command: &Command) {
    if command.runs("virtualenv").is_none() {
        return;
    }
    let Some((version, words)) = command.value(&["-p", "--python"]) else { return };
    if ["python", "python3"].contains(&version) {
        let word = &command.words[words.end - 1];
        look.found(word.range.start, "python-version", "the SDK's wheels are for Python 3.8 only: python3.8");
        let end = word.range.end;
        if look.script[..end].ends_with(version) {
            look.mend(end - version.len()..end, "python3.8");
        }
    }
}

fn server(look: &mut Look<'_>, command: &Command) {
    let exported = command.runs("export") == Some(0);
    for word in &command.words {
        if exported && word.assigned().is_some_and(|(name, _)| name == "IPUOF_VIPU_API_HOST") {
            let message = "exported, it can break programs of PopTorch; set it for the monitor's command alone";
            look.found(word.range.start, "exported-server", message);
        }
    }
}

fn poprun(look: &mut Look<'_>, command: &Command) {
    let Some(start) = command.runs("poprun") else { return };
    for word in &command.words {
        name(look, word, "vipu-cluster", "vipu-allocation", "was renamed: --vipu-allocation");
    }
    let number = |flag: &str, usual| match command.value(&[flag]) {
        Some((text, _)) => text.parse::<u64>().ok(),
        None => Some(usual),
    };
    let place = |flag: &str| command.value(&[flag]).map_or(start, |(_, words)| words.start);
    let at = command.words[place("--num-replicas")].range.start;
    let [instances, replicas] = ["--num-instances", "--num-replicas"].map(|flag| number(flag, 1));
    if let (Some(instances), Some(replicas)) = (instances, replicas)
        && (instances == 0 || !replicas.is_multiple_of(instances))
    {
        look.found(
            at,
            "uneven-replicas",
            format!("{replicas} replicas can't be shared evenly by {instances} instances"),
        );
    }
    let Some(ipus) = replicas.and_then(|count| count.checked_mul(number("--ipus-per-replica", 1)?)) else { return };
    if !ipus.is_power_of_two() {
        look.found(at, "number-of-ipus", format!("{ipus} IPUs; a power of two is needed"));
    }
    if let Some((text, words)) = command.value(&["--ipus"])
        && words.end <= start
        && text.parse::<u64>().is_ok_and(|asked| asked != ipus)
    {
        let message = format!("{text} IPUs are asked for and {ipus} used: replicas × IPUs of a replica");
        look.found(command.words[words.start].range.start, "asked-ipus", message);
    }
}
