//! Violations of the vendor's documentation, by the table in the target's guide.

use super::shell::{Command, is_named};
use super::words::name;
use super::{Look, whole};
use tables::{WrongBackend, WrongVariable};

pub(super) fn check(look: &mut Look<'_>) {
    let lint = &look.table.lint;
    look.each_word(|look, word| {
        for wrong in &lint.name {
            name(look, word, &wrong.name, &wrong.right, &wrong.why);
        }
    });
    for wrong in &lint.variable {
        variable(look, wrong);
    }
    old_values(look);
    let beside = |look: &Look<'_>, begins: &str| {
        let is_package = |text: &str| text.contains(begins) && text.ends_with(".whl");
        look.commands.iter().flat_map(|command| &command.words).any(|word| is_package(&word.text))
    };
    let lacking: Vec<_> = lint.beside.iter().filter(|pair| !beside(look, &pair.needs)).collect();
    look.each(|look, command| {
        if lint.open_venv {
            system_packages(look, command);
        }
        if let Some(python) = &lint.python {
            python_version(look, command, python);
        }
        if let Some(wrong) = &lint.backend {
            backend(look, command, wrong);
        }
        for pair in &lacking {
            let package =
                command.words.iter().find(|word| word.text.contains(&*pair.package) && word.text.ends_with(".whl"));
            if let Some(word) = package {
                look.found(word.range.start, "missing-wheel", &*pair.why);
            }
        }
        let arguments = command.arguments();
        let is_hydra = arguments.iter().any(|word| is_key_and_value(&word.text));
        for wrong in lint.flag.iter().filter(|_| is_hydra) {
            if let Some(word) = arguments.iter().find(|word| word.text == wrong.name) {
                look.found(word.range.start, "unknown-flag", &*wrong.why);
            }
        }
    });
}

/// `run.id=x` after a program, as Hydra parses it; `A=b` before one is a variable.
fn is_key_and_value(text: &str) -> bool {
    let is_key = |key: &str| {
        let key = key.trim_start_matches('+');
        !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "._/@".contains(c))
    };
    text.split_once('=').is_some_and(|(key, _)| is_key(key))
}

fn variable(look: &mut Look<'_>, wrong: &WrongVariable) {
    let groups = &look.table.groups;
    let is_group = |value: &str| groups.iter().any(|group| group == value);
    let uses = [format!("${}", wrong.name), format!("${{{}}}", wrong.name)];
    let is_used = uses.iter().any(|name| look.script.contains(name.as_str()));
    let right_is_set = look.assigns(&wrong.right);
    if is_used && !wrong.unset.is_empty() && !look.assigns(&wrong.name) {
        used_unset(look, wrong, &uses, right_is_set);
    }
    if wrong.unused && is_used {
        return;
    }
    look.each(|look, command| {
        let exported = command.runs("export") == Some(0);
        for word in &command.words {
            let Some((_, value)) = word.assigned().filter(|(name, _)| *name == wrong.name) else { continue };
            let fine = wrong.no_group && (value.contains('$') || is_group(value) || !value.contains(','));
            if fine || (wrong.exported && !exported) {
                continue;
            }
            let at = word.range.start + whole(&look.script[word.range.clone()], &wrong.name).next().unwrap_or(0);
            look.found(at, rule_name(&wrong.rule), &*wrong.why);
            // A group of devices can be written under the other name; one that is not allowed for tenants has to be
            // fixed by hand.
            let keeps = wrong.unused || is_group(value);
            if !wrong.right.is_empty() && keeps && !right_is_set {
                look.mend(at..at + wrong.name.len(), &*wrong.right);
            }
        }
    });
}

/// Its value is used and set nowhere. A name that the script does set can replace it; one that it doesn't set would be
/// empty, too.
fn used_unset(look: &mut Look<'_>, wrong: &WrongVariable, uses: &[String], right_is_set: bool) {
    look.each_word(|look, word| {
        if !uses.iter().any(|name| word.text.contains(name.as_str())) {
            return;
        }
        let Some(at) = whole(&look.script[word.range.clone()], &wrong.name).next() else { return };
        let at = word.range.start + at;
        look.found(at, rule_name(&wrong.rule), &*wrong.unset);
        if right_is_set {
            look.mend(at..at + wrong.name.len(), &*wrong.right);
        }
    });
}

/// A table's name for a finding, which outlives the check of a script.
fn rule_name(rule: &str) -> &'static str {
    const NAMES: [&str; 5] = ["modules", "foreign-devices", "old-name", "cache-variable", "exported-server"];
    NAMES.into_iter().find(|name| *name == rule).unwrap_or("variable")
}

/// A value that a variable had in old releases.
fn old_values(look: &mut Look<'_>) {
    let target = look.target;
    look.each_word(|look, word| {
        let Some((name, value)) = word.assigned() else { return };
        let Some(fact) = target.variables().get(name) else { return };
        let holds = |value: &&guide::VariableValue| guide::sdk::sdk_admits(&value.sdk, target.newest());
        let Some(old) = fact.value.iter().find(|known| known.value == value) else { return };
        if fact.value.iter().filter(holds).any(|known| known.value == value) {
            return;
        }
        let new = fact.value.iter().filter(holds).find(|known| known.is == old.is);
        let now = new.map(|new| format!("; for {} it is {}", new.sdk, new.value)).unwrap_or_default();
        look.found(word.range.start, "old-value", format!("{value} is {} for releases {} only{now}", old.is, old.sdk));
        if let (Some(new), [piece]) = (new, &word.pieces[..]) {
            look.mend(piece.range.clone(), format!("{name}={}", new.value));
        }
    });
}

/// Processes search for the communication library of the target's vendor; a search for another vendor's finds nothing.
fn backend(look: &mut Look<'_>, command: &Command, wrong: &WrongBackend) {
    let short = command.arguments().windows(2).filter_map(|pair| {
        let is_short = pair[0].text.len() == 2 && pair[0].text.starts_with('-');
        is_short.then_some((&*pair[0].text, &*pair[1].text, &pair[1]))
    });
    let names_it = |key: &str| {
        is_named(key, "backend")
            || (key.len() == 2 && key.starts_with('-'))
            || key.split(['.', '-', '_']).any(|word| ["dist", "ddp", "comm"].contains(&word))
    };
    for (key, value, word) in command.options().chain(short) {
        if names_it(key) && value.eq_ignore_ascii_case(&wrong.name) {
            look.found(word.range.start, "backend", &*wrong.why);
            let last = word.range.end - usize::from(look.script[word.range.clone()].ends_with(['"', '\'']));
            if !wrong.right.is_empty() && look.script[..last].to_ascii_lowercase().ends_with(&wrong.name) {
                look.mend(last - wrong.name.len()..last, &*wrong.right);
            }
        }
    }
}

/// `python3 -m venv DIR`: the vendor's PyTorch is outside it.
fn system_packages(look: &mut Look<'_>, command: &Command) {
    let at = command.words.windows(2).position(|pair| pair[0].text == "-m" && pair[1].text == "venv");
    let Some(at) = at.filter(|_| !command.has("--system-site-packages")) else { return };
    let venv = &command.words[at + 1];
    let message = "without --system-site-packages it can't access the vendor's packages";
    look.found(venv.range.start, "closed-venv", message);
    look.mend(venv.range.clone(), "venv --system-site-packages");
}

/// The vendor's wheels are for a single Python version.
fn python_version(look: &mut Look<'_>, command: &Command, python: &str) {
    if command.runs("virtualenv").is_none() {
        return;
    }
    let Some((version, words)) = command.value(&["-p", "--python"]) else { return };
    if ["python", "python3"].contains(&version) {
        let word = &command.words[words.end - 1];
        look.found(word.range.start, "python-version", format!("the SDK's wheels require {python}"));
        let end = word.range.end;
        if look.script[..end].ends_with(version) {
            look.mend(end - version.len()..end, python);
        }
    }
}
