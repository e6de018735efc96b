//! The program's own arguments, and the arguments that follow from the launcher and the numbers.

use super::{Draft, count};
use crate::request::Problem;
use tables::{Counting, JoinedBy, LauncherEntry};

/// For a program that was analysed without finding how its processes join.
const UNREAD: &str = "unread";

/// For a number that the program determines from the visible devices.
const ALL: &str = "all";

impl Draft<'_> {
    /// Samples of a step, if the batch is known. Copies of the model average their gradients.
    pub(super) fn samples(&mut self) {
        let (copies, what): (u32, &str) = match self.table.processes {
            // The replicas of a process share the batch that its own reader gives it.
            Counting::Replicas if self.request.shared_batch.is_some() => {
                (self.counts.processes, self.table.process.as_deref().unwrap_or("process"))
            }
            Counting::Replicas => (self.counts.replicas, &self.table.copy),
            _ => (self.counts.processes, &self.table.copy),
        };
        let (batch, accumulation) = (self.batch(), self.accumulation());
        let Some(batch) = batch else { return };
        let request = self.request;
        let one_step = u64::from(batch) * u64::from(accumulation);
        let (samples, parts) = (count(batch, "sample"), count(accumulation, "micro-batch"));
        let all_copies = count(copies, what);
        // A program that doesn't join its processes itself has no world size to divide by.
        let divides = self.table.joined_by == JoinedBy::Program && self.table.processes != Counting::Replicas;
        let shares = divides && copies > 1;
        let line = match request.shared_batch.as_deref().filter(|_| shares) {
            Some(place) if !batch.is_multiple_of(copies) => {
                let message = format!("{samples} can't be divided evenly among {all_copies}, as {place} requires");
                return self.problem("batch", message);
            }
            Some(place) => {
                let own = batch / copies;
                let step = count(one_step, "sample");
                format!("{samples} ÷ {all_copies} = {own} each ({place}); × {parts} = {step} per step")
            }
            None => {
                let all = count(one_step * u64::from(copies), "sample");
                format!("{samples} × {parts} × {all_copies} = {all} per step")
            }
        };
        self.plan.arithmetic.push(line);
    }

    /// The effective batch: that of the request, otherwise that of the arguments. If the request has it from the code,
    /// an argument overrides it, as in the program.
    fn batch(&mut self) -> Option<u32> {
        let request = self.request;
        let key = request.batch_key.as_deref().filter(|_| self.has_own_words());
        let key = key.filter(|key| self.is_key("batch-key", key));
        let told = key.and_then(|key| said(&request.args, key));
        let Some(batch) = request.batch else { return told?.parse().ok() };
        match (key, told) {
            (Some(key), Some(told)) if told != batch.to_string() => {
                if request.batch_from.is_some() {
                    return told.parse().ok();
                }
                self.problem("batch", format!("is {batch} here, but {key} is `{told}` in the arguments"));
                return None;
            }
            (Some(key), None) => self.own_args.push((format!("{key}={batch}").into(), "the batch used above".into())),
            _ => {}
        }
        if let Some(from) = request.batch_from.as_deref().filter(|_| told.is_none()) {
            self.plan.arithmetic.push(format!("batch {batch}, from {from}"));
        }
        Some(batch)
    }

    fn accumulation(&mut self) -> u32 {
        let request = self.request;
        let key = request.accumulation_key.as_deref().filter(|_| self.has_own_words());
        let key = key.filter(|key| self.is_key("accumulation-key", key));
        let told = key.and_then(|key| said(&request.args, key));
        let Some(accumulation) = request.accumulation else {
            return told.and_then(|told| told.parse().ok()).filter(|told| *told > 0).unwrap_or(1);
        };
        match (key, told, &request.accumulation_from) {
            (Some(key), Some(told), None) if told != accumulation.to_string() => {
                self.problem("accumulation", format!("is {accumulation} here, but {key} is `{told}` in the arguments"));
            }
            (Some(_), Some(told), Some(_)) => {
                return told.parse().ok().filter(|told| *told > 0).unwrap_or(accumulation);
            }
            // The program has it in its own code: a key that only some of its configurations know is omitted.
            (_, None, Some(from)) => self.plan.arithmetic.push(format!("accumulation {accumulation}, from {from}")),
            (Some(key), None, None) => {
                let why = "the micro-batches used above".into();
                self.own_args.push((format!("{key}={accumulation}").into(), why));
            }
            (None, _, None) if accumulation > 1 => {
                let line = format!("accumulation {accumulation}, as given here; not set in the program's arguments");
                self.plan.arithmetic.push(line);
            }
            _ => {}
        }
        accumulation
    }

    /// A key such as `run.distributed` determines whether the program itself joins its processes. If an argument
    /// contradicts the launcher, N processes are N separate trainings, or they are started twice.
    pub(super) fn joined(&mut self) {
        let (request, processes, wanted) = (self.request, self.counts.processes, self.counts.joins);
        if !self.has_own_words() {
            return;
        }
        self.join_args();
        self.started();
        if let Some(key) = request.distributed_key.as_deref()
            && self.is_key("distributed-key", key.strip_suffix('=').unwrap_or(key))
        {
            let why_own = match (wanted, &self.table.joined_why) {
                (true, _) => format!("{} train together", count(processes, "process")),
                (false, Some(why)) => why.clone(),
                (false, None) => "there is only one process".to_string(),
            };
            let is_switch = key.starts_with('-') && !key.ends_with('=');
            let key = key.strip_suffix('=').unwrap_or(key);
            if is_switch {
                let given = request.args.iter().any(|arg| arg == key);
                if given && !wanted {
                    let why = self.why_joined(wanted);
                    self.problem("args", format!("`{key}` must be omitted: {why}"));
                } else if wanted && !given {
                    self.own_args.push((key.into(), why_own));
                }
            } else if said(&request.args, key).is_none() {
                let value = if wanted { "True" } else { "False" };
                self.own_args.push((format!("{key}={value}").into(), why_own));
            }
        }
        for arg in &request.args {
            let Some((key, value)) = arg.trim_start_matches('-').split_once('=') else { continue };
            let said = match &*value.to_ascii_lowercase() {
                "true" | "1" | "yes" => true,
                "false" | "0" | "no" => false,
                _ => continue,
            };
            let known = request.distributed_key.as_deref().map(|name| name.trim_matches(['-', '=']));
            if (key.rsplit('.').next() == Some("distributed") || Some(key) == known) && said != wanted {
                let right = if wanted { "True" } else { "False" };
                let why = self.why_joined(wanted);
                self.problems.push(Problem::new("args", format!("`{key}` must be {right} here: {why}")));
            }
        }
    }

    /// Whether a launcher provides the ranks that its processes read, as far as the program was analysed.
    pub(super) fn tells(&self, entry: &LauncherEntry) -> bool {
        let reads = &self.request.joined_by;
        let is_asked = self.table.joined_by == JoinedBy::Program && self.counts.processes > 1 && !reads.is_empty();
        !is_asked || reads.iter().any(|(by, _)| by == UNREAD || entry.tells.contains(by))
    }

    /// Whether the processes are known to be one training: the end of the line that counts them.
    pub(crate) fn training(&self) -> &'static str {
        let reads = &self.request.joined_by;
        if self.counts.processes == 1 || self.table.joined_by != JoinedBy::Program {
            ", one training run"
        } else if reads.iter().any(|(by, _)| by == UNREAD) {
            "; no distributed training was found in the program, without which each process trains separately"
        } else if reads.is_empty() && self.request.distributed_key.is_none() && self.request.join_args.is_empty() {
            ", one training run if the program is distributed"
        } else {
            ", one training run"
        }
    }

    /// Numbers that the program passes to the code that starts its processes.
    fn started(&mut self) {
        let (request, has) = (self.request, self.counts.devices_per_node);
        let tells = |by: &str| {
            let own = self.table.launcher.iter().find(|entry| entry.name == self.launcher);
            own.is_some_and(|entry| entry.tells.iter().any(|known| known == by))
        };
        let (joins, spawns) = (tells("lightning"), tells("spawn"));
        if !joins && !spawns {
            return;
        }
        let starter = if joins { "the program's Trainer uses" } else { "the program starts processes on" };
        let told = [
            ("devices", "devices", &*self.table.device, &request.devices_key, self.counts.local),
            ("nodes", "num_nodes", "machine", &request.nodes_key, request.nodes),
        ];
        for (what, word, noun, key, number) in told.into_iter().filter(|told| joins || told.0 == "devices") {
            let field = if what == "devices" { "instances" } else { "nodes" };
            let Some(key) = key.as_deref() else {
                // The default is one machine, and all of its devices.
                let is_usual = if what == "devices" { number == has } else { number == 1 };
                if joins && !is_usual && !request.joined_by.is_empty() {
                    let line = format!("set {word}={number} in the Trainer: the source of this number was not found");
                    self.plan.arithmetic.push(line);
                }
                continue;
            };
            if let Some(fixed) = key.strip_prefix('=') {
                let (own, place) = fixed.split_once(' ').unwrap_or((fixed, ""));
                let there = if joins { format!("{word}={number}") } else { number.to_string() };
                if own == ALL && number != has {
                    let line = format!(
                        "{starter} all visible {noun}s ({place}): set it to {there} unless exactly {number} are visible"
                    );
                    self.plan.arithmetic.push(line);
                } else if own != ALL && own != number.to_string() {
                    let own = own.parse::<u32>().map_or(own.to_string(), |own| count(own, noun));
                    self.problem(
                        field,
                        format!("{starter} {own} ({place}), but this launch uses {number}: change it to {there}"),
                    );
                }
            } else {
                match said(&request.args, key) {
                    None => {
                        let by = if joins { "the Trainer" } else { "the program" };
                        self.own_args.push((format!("{key}={number}").into(), format!("number of {what} for {by}")));
                    }
                    Some(told) if told.parse::<u32>().is_ok_and(|told| told != number) => {
                        self.problem(field, format!("is {number} here, but {key} is `{told}` in the arguments"));
                    }
                    Some(_) => {}
                }
            }
        }
    }

    /// Arguments without which processes don't join: those that reading the environment depends on.
    fn join_args(&mut self) {
        let request = self.request;
        let several = self.counts.joins && self.counts.processes > 1;
        let tells = self.table.launcher.iter().find(|entry| entry.name == self.launcher).map(|entry| &entry.tells);
        let by_launcher = request.joined_by.iter().filter(|(by, _)| tells.is_some_and(|tells| tells.contains(by)));
        // Of several ways, the one with the fewest arguments.
        let words = by_launcher.map(|(_, words)| words).min_by_key(|words| words.len());
        for word in request.join_args.iter().chain(words.into_iter().flatten()).filter(|_| several) {
            let (key, value) = word.split_once('=').map_or((word.as_str(), None), |(key, value)| (key, Some(value)));
            let told = said(&request.args, key);
            match (value, told) {
                (Some(value), Some(told)) if told != value => {
                    let message = format!("`{key}` must be {value} here: otherwise each process trains separately");
                    self.problem("args", message);
                }
                (None, None) if request.args.iter().any(|arg| arg == key) => {}
                (_, None) => {
                    let why = "without it, each process trains separately".to_string();
                    self.own_args.push((word.as_str().into(), why));
                }
                _ => {}
            }
        }
        let spawns = |key: &&String| request.args.iter().any(|arg| arg.split('=').next() == Some(key.as_str()));
        if let Some(key) = request.spawn_key.as_ref().filter(spawns).filter(|_| several) {
            let count = count(self.counts.processes, "process");
            self.problem("args", format!("`{key}` must be omitted: each of the {count} would start more"));
        }
    }

    /// Whether the program has command-line arguments of its own, in addition to those that the target reads.
    fn has_own_words(&self) -> bool {
        self.table.joined_by != JoinedBy::Options || self.request.divided
    }

    /// The user's arguments in two parts: those before `--`, and the rest. All are before it if the program does not
    /// split its command line.
    pub(super) fn divided_args(&self) -> (Vec<String>, Vec<String>) {
        let request = self.request;
        if !request.divided {
            return (request.args.clone(), Vec::new());
        }
        // The user has divided them.
        if let Some(at) = request.args.iter().position(|arg| arg == "--") {
            return (request.args[..at].to_vec(), request.args[at + 1..].to_vec());
        }
        let (mut ahead, mut behind) = (Vec::new(), Vec::new());
        let mut is_ahead = false;
        for arg in &request.args {
            // Values come after their option.
            if arg.starts_with('-') && !arg.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit()) {
                let key = arg.split('=').next().unwrap_or_default();
                is_ahead = request.ahead.iter().any(|own| own == key);
            } else if arg.contains('=') {
                is_ahead = false;
            }
            if is_ahead { ahead.push(arg.clone()) } else { behind.push(arg.clone()) }
        }
        (ahead, behind)
    }

    fn why_joined(&self, wanted: bool) -> &'static str {
        match (wanted, &self.table.joined_why) {
            (true, _) => "otherwise each process trains separately",
            (false, Some(why)) => why,
            (false, None) => "there is only one process",
        }
    }

    /// Missing arguments that the program requires. Only the user knows their values.
    pub(super) fn needs(&mut self) {
        for key in &self.request.needs {
            // argparse takes the beginning of an option for it.
            let begins = |arg: &String| {
                arg.len() > 2 && arg.starts_with("--") && key.starts_with(arg.split('=').next().unwrap_or(arg))
            };
            if said(&self.request.args, key).is_none() && !self.request.args.iter().any(begins) {
                let example = if key.starts_with('-') { format!("{key} …") } else { format!("{key}=…") };
                self.problems.push(Problem::new("args", format!("the program requires `{key}`: add {example}")));
            }
        }
    }

    fn is_key(&mut self, field: &str, key: &str) -> bool {
        let is_key = !key.is_empty() && !key.contains(|c: char| c.is_whitespace() || c.is_control() || c == '=');
        if !is_key {
            self.problem(field, "must be only the key, such as run.distributed or --batch-size");
        }
        is_key
    }
}

/// The value of a key or an option in the arguments; the last one counts. Hydra's `+key` and `++key` are the key too.
pub fn said<'a>(args: &'a [String], key: &str) -> Option<&'a str> {
    let key = key.trim_start_matches('+');
    let is_option = key.starts_with('-');
    let mut found = None;
    for (at, arg) in args.iter().enumerate() {
        match arg.split_once('=') {
            Some((name, value)) if name.trim_start_matches('+') == key => found = Some(value),
            None if is_option && arg == key => found = Some(args.get(at + 1).map_or("", String::as_str)),
            _ => {}
        }
    }
    found
}
