//! A launcher that distributes replicas among processes: its numbers, and the words between it and the program.

use super::Look;
use super::shell::Command;
use tables::Shares;

pub(super) fn check(look: &mut Look<'_>, shares: &Shares) {
    look.each(|look, command| {
        if let Some(start) = command.runs(&shares.program) {
            of_command(look, command, start, shares);
        }
    });
}

/// Words that may come before a program and start it.
const WRAPPERS: [&str; 12] =
    ["numactl", "time", "env", "bash", "sh", "nice", "taskset", "stdbuf", "timeout", "gdb", "perf", "strace"];

fn of_command(look: &mut Look<'_>, command: &Command, start: usize, shares: &Shares) {
    let end = program(command, start, shares);
    stray(look, command, end);
    // Options after the program are the program's own.
    let own = Command { words: command.words[..end].to_vec(), ..Command::default() };
    let number = |flag: &str, usual| match own.value(&[flag]) {
        Some((text, _)) => text.parse::<u64>().ok(),
        None => Some(usual),
    };
    let place = |flag: &str| own.value(&[flag]).map_or(start, |(_, words)| words.start);
    let at = own.words[place(&shares.replicas)].range.start;
    let instances = number(&shares.instances, 1);
    // By default there is a replica for each process.
    let replicas = number(&shares.replicas, 1);
    if let (Some(instances), Some(replicas)) = (instances, replicas)
        && (instances == 0 || !replicas.is_multiple_of(instances))
    {
        let message = format!("{replicas} replicas can't be divided evenly among {instances} instances");
        look.found(at, "uneven-replicas", message);
    }
    let Some(devices) = replicas.and_then(|count| count.checked_mul(number(&shares.devices_per_replica, 1)?)) else {
        return;
    };
    let device = &look.table.device;
    if look.table.power_of_two && !devices.is_power_of_two() {
        look.found(at, "number-of-devices", format!("{devices} {device}s; must be a power of two"));
    }
    if let Some((text, words)) = own.value(&[&shares.asked])
        && words.end <= start
        && text.parse::<u64>().is_ok_and(|asked| asked != devices)
    {
        let message = format!("{text} {device}s requested, but {devices} used: replicas × {device}s per replica");
        look.found(own.words[words.start].range.start, "asked-devices", message);
    }
}

/// The position of the program that it starts.
fn program(command: &Command, start: usize, shares: &Shares) -> usize {
    let mut at = start + 1;
    while let Some(word) = command.words.get(at).filter(|word| word.text.starts_with('-')) {
        let alone = word.text.contains('=') || shares.alone.contains(&word.text);
        at += if alone { 1 } else { 2 };
    }
    at.min(command.words.len())
}

/// A word before Python that is not a program is mistaken for one.
fn stray(look: &mut Look<'_>, command: &Command, at: usize) {
    let Some(word) = command.words.get(at) else { return };
    let name = word.text.rsplit('/').next().unwrap_or_default();
    let is_python = |text: &str| text.rsplit('/').next().is_some_and(|name| name.starts_with("python"));
    let later = command.words[at..].iter().position(|word| is_python(&word.text));
    if word.assigned().is_some() {
        let message =
            format!("`{}` would be started as the program: the line that sets it continues the one before", word.text);
        return look.found(word.range.start, "stray-word", message);
    }
    let could_be = name.ends_with(".py") || name.ends_with(".sh") || name.contains('$') || WRAPPERS.contains(&name);
    if !could_be && later.is_some_and(|later| later > 0) {
        let message = format!("`{}` would be started instead of what follows it", word.text);
        look.found(word.range.start, "stray-word", message);
    }
}
