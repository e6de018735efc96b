//! Words of scripts for another vendor's devices, by the table for all targets.

use super::shell::{Command, Token, is_named};
use super::{Look, names};

/// Commands that only name a program.
const NAMING: [&str; 10] = ["echo", "printf", "which", "command", "type", "hash", "pip", "pip3", "conda", "module"];

pub(super) fn check(look: &mut Look<'_>) {
    let (lint, script) = (&look.table.lint, look.script);
    let foreign = &lint.foreign;
    let is_naming = |command: &Command| NAMING.iter().any(|name| command.runs(name).is_some());
    // A script that tests for a program also runs without it.
    let tested = |name: &str| look.commands.iter().any(|command| is_naming(command) && command.has(name));
    let programs: Vec<&String> = foreign.programs.iter().filter(|name| !tested(name)).collect();
    look.each(|look, command| {
        variables(look, command);
        modules(look, command);
        containers(look, command);
        devices(look, command);
        for scheduler in ["srun", "sbatch", "salloc", "qsub"] {
            if let Some(start) = command.runs(scheduler) {
                let words: Vec<&str> = command.words[start + 1..].iter().map(|word| &*word.text).collect();
                requests(look, command.words[start].range.start, &words, (true, scheduler == "qsub"));
            }
        }
        if is_naming(command) {
            return;
        }
        let own = before_program(command);
        for name in &programs {
            let starts = |word: &&Token| {
                let inside = |open: &str| word.text.split(open).skip(1).any(|rest| first_word(rest) == **name);
                word.text.rsplit('/').next() == Some(name) || inside("$(") || inside("`")
            };
            if let Some(word) = own.iter().find(starts) {
                say(look, word.range.start, "foreign-program", name, &foreign.program);
            }
        }
        let joins = lint.shares.as_ref().is_some_and(|shares| command.runs(&shares.program).is_some());
        for wrong in lint.launcher.iter().filter(|_| !joins) {
            let is_launcher = |word: &&Token| {
                let name = word.text.rsplit('/').next().unwrap_or_default();
                wrong.names.iter().any(|wrong| wrong == name)
            };
            if let Some(word) = own.iter().find(is_launcher) {
                look.found(word.range.start, "foreign-launcher", wrong.why.replace("{name}", &word.text));
            }
        }
    });
    let mut at = 0;
    for line in script.split_inclusive('\n') {
        let rest = ["#SBATCH ", "#PBS "].iter().find_map(|mark| line.strip_prefix(mark));
        let words = rest.map(|rest| rest.split_whitespace().take_while(|word| !word.starts_with('#')).collect());
        let words: Vec<&str> = words.unwrap_or_default();
        requests(look, at, &words, (false, line.starts_with("#PBS")));
        at += line.len();
    }
}

/// The words before a Python program, whose arguments are its own.
fn before_program(command: &Command) -> &[Token] {
    let end = command.words.iter().position(|word| word.text.ends_with(".py"));
    &command.words[..end.unwrap_or(command.words.len())]
}

fn first_word(text: &str) -> &str {
    text.split(|c: char| c.is_whitespace() || ")|;`".contains(c)).next().unwrap_or_default()
}

fn say(look: &mut Look<'_>, at: usize, rule: &'static str, name: &str, message: &str) {
    let lint = &look.table.lint;
    let instead = lint.instead.get(name).map(|right| lint.foreign.instead.replace("{right}", right));
    look.found(at, rule, message.replace("{name}", name) + &instead.unwrap_or_default());
}

/// No value, or -1, hides the devices, which is harmless.
fn variables(look: &mut Look<'_>, command: &Command) {
    let lint = &look.table.lint;
    for word in before_program(command) {
        let Some((name, value)) = word.assigned() else { continue };
        let is_foreign = lint.foreign.variables.iter().any(|beginning| name.starts_with(&**beginning));
        let is_known = lint.variable.iter().any(|wrong| wrong.name == name);
        if is_foreign && !is_known && !["", "-1"].contains(&value) {
            say(look, word.range.start, "foreign-variable", name, &lint.foreign.variable);
        }
    }
}

/// `module load x/12.1 y`, `ml x`; not `module unload x`, `ml -x`.
fn modules(look: &mut Look<'_>, command: &Command) {
    let foreign = &look.table.lint.foreign;
    let long = command.runs("module").map(|at| at + 1);
    let Some(start) = long.or_else(|| command.runs("ml").map(|at| at + 1)) else { return };
    let rest = &command.words[start..];
    let verb = rest.iter().position(|word| ["load", "add", "swap", "switch"].contains(&&*word.text));
    let names = match verb {
        Some(at) => &rest[at + 1..],
        None if long.is_some() || rest.iter().any(|word| ["unload", "del", "rm"].contains(&&*word.text)) => return,
        None => rest,
    };
    for word in names.iter().filter(|word| !word.text.starts_with('-')) {
        let mut words = words_of(&word.text);
        if words.any(|own| foreign.modules.iter().any(|beginning| own.starts_with(&**beginning))) {
            say(look, word.range.start, "foreign-module", &word.text, &foreign.module);
        }
    }
}

fn containers(look: &mut Look<'_>, command: &Command) {
    let foreign = &look.table.lint.foreign;
    let runtimes = ["docker", "podman", "singularity", "apptainer", "enroot"];
    // What comes before is another program's.
    let Some(start) = runtimes.iter().find_map(|name| command.runs(name)) else { return };
    for word in before_program(command).iter().skip(start) {
        let is_word = |known: &&String| match known.contains('/') {
            true => word.text.contains(&***known),
            false => word.text.strip_prefix(&***known).is_some_and(|rest| rest.is_empty() || rest.starts_with('=')),
        };
        if let Some(known) = foreign.containers.iter().find(is_word) {
            say(look, word.range.start, "foreign-container", known, &foreign.container);
        }
    }
}

/// A program's option for its device: `--device cuda:0`, `trainer.accelerator=gpu`.
fn devices(look: &mut Look<'_>, command: &Command) {
    let foreign = &look.table.lint.foreign;
    for (key, value, word) in command.options() {
        let name = value.split(':').next().unwrap_or_default();
        let is_device = foreign.device_options.iter().any(|option| is_named(key, option));
        if is_device && foreign.devices.iter().any(|device| device == name) {
            say(look, word.range.start, "foreign-device", name, &foreign.device);
        }
    }
    for word in command.arguments() {
        let (key, value) = word.text.split_once('=').unwrap_or((&word.text, ""));
        let mut words = words_of(key);
        let is_option = key.starts_with('-') || !value.is_empty();
        let is_off = ["0", "false", "no", "off"].contains(&&*value.to_ascii_lowercase())
            || words_of(key).any(|word| ["no", "disable"].contains(&&*word));
        if is_option && !is_off && words.any(|word| foreign.options.contains(&word)) {
            say(look, word.range.start, "foreign-option", key, &foreign.option);
        }
    }
}

/// A scheduler's options that request devices or machines. Those of a command end where its program begins.
fn requests(look: &mut Look<'_>, at: usize, words: &[&str], (is_command, is_pbs): (bool, bool)) {
    let lint = &look.table.lint;
    let mut takes_value = false;
    for (index, word) in words.iter().enumerate() {
        if !word.starts_with('-') {
            if is_command && !takes_value {
                return;
            }
            takes_value = false;
            continue;
        }
        let next = words.get(index + 1).copied().filter(|next| !next.starts_with('-')).unwrap_or_default();
        let (key, value) = match word.split_once('=') {
            Some((key, value)) if word.starts_with("--") => (key, value),
            None if word.starts_with("--") => (*word, next),
            _ => match word.split_at_checked(2) {
                Some((key, value)) if !value.is_empty() => (key, value),
                _ => (*word, next),
            },
        };
        takes_value = value == next && (is_pbs || !names::stands_alone(word));
        let is_place = ["--constraint", "-C", "--prefer", "--partition", "-p", "-q"].contains(&key);
        let is_own = lint.foreign.requests.iter().any(|own| own.starts_with('-') && key.starts_with(&**own));
        let is_request = is_own || key == "--gres" || (key == "-l" && is_pbs) || key.starts_with("--tres");
        if !is_place && !is_request {
            continue;
        }
        let is_foreign = |feature: &&str| words_of(feature).any(|word| lint.foreign.constraints.contains(&word));
        let features = value.split(|c: char| !c.is_ascii_alphanumeric() && !"_-.".contains(c)).filter(is_foreign);
        let features: Vec<&str> = features.filter(|_| ["--constraint", "-C"].contains(&key)).collect();
        if !features.is_empty() {
            say(look, at, "foreign-request", &features.join(", "), &lint.foreign.constraint);
            continue;
        }
        let models = &lint.foreign.models;
        let is_model = |word: &str| models.iter().any(|model| model == word);
        // `TeslaV100`, of two of them; `RTX8000`, with a number.
        let is_one = |word: &String| {
            let follows = |rest: &str| is_model(rest) || rest.bytes().all(|byte| byte.is_ascii_digit());
            let begins = |model: &String| !model.ends_with(|c: char| c.is_ascii_digit()) && word.starts_with(&**model);
            is_model(word) || models.iter().any(|model| begins(model) && follows(&word[model.len()..]))
        };
        let model = words_of(value).find(is_one);
        let asks = || is_own || words_of(value).any(|word| lint.foreign.requests.contains(&word));
        if let Some(model) = model {
            say(look, at, "foreign-request", &model, &lint.foreign.model);
        } else if is_request && !lint.devices.is_empty() && asks() {
            look.found(at, "foreign-request", &*lint.devices);
        }
    }
}

/// Its words in lower case, without the signs between them.
fn words_of(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_ascii_lowercase)
}
