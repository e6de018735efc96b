//! Fills in the texts of a table.
//!
//! `{NAME}` is replaced by a number of the launch or a field's value, `{NAME NOUN}` by a number with its noun
//! (`8 cards`), `{site.NAME}` by a value of the site, `$NAME` by an environment variable at run time, and `{{`, `}}`
//! and `$$` by those characters. User input is inserted as it is, without being filled in again.

use super::{Draft, count, here};
use crate::word::{Part, Word};
use tables::Scheduler;

impl Draft<'_> {
    /// A text of a table as one word.
    pub(crate) fn word(&mut self, template: &str) -> Word {
        let mut parts: Vec<Part> = Vec::new();
        let mut rest = template;
        while let Some(at) = rest.find(['{', '}', '$']) {
            let (before, special) = rest.split_at(at);
            text(&mut parts, before);
            let after = &special[1..];
            if ["{{", "}}", "$$"].iter().any(|twice| special.starts_with(twice)) {
                text(&mut parts, &special[..1]);
                rest = &special[2..];
            } else if special.starts_with('$') {
                let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
                parts.push(Part::Variable(after[..end].to_string()));
                rest = &after[end..];
            } else {
                let end = after.find('}').unwrap_or(after.len());
                for part in self.slot(&after[..end]).0 {
                    match part {
                        Part::Text(own) => text(&mut parts, &own),
                        other => parts.push(other),
                    }
                }
                rest = after.get(end + 1..).unwrap_or_default();
            }
        }
        text(&mut parts, rest);
        if parts.is_empty() {
            parts.push(Part::Text(String::new()));
        }
        Word(parts)
    }

    /// A text of a table for display.
    pub(crate) fn text(&mut self, template: &str) -> String {
        let parts = self.word(template).0.into_iter().map(|part| match part {
            Part::Text(text) => text,
            Part::Variable(name) => format!("${name}"),
            _ => String::new(),
        });
        parts.collect()
    }

    fn slot(&mut self, slot: &str) -> Word {
        if let Some(name) = slot.strip_prefix("site.") {
            return self.words_of_site(name).into_iter().next().unwrap_or_default();
        }
        if let Some((name, noun)) = slot.split_once(' ') {
            return count(self.number(name).unwrap_or_default(), noun).into();
        }
        if let Some((name, form)) = slot.split_once(':') {
            let value = self.value(name).unwrap_or_default().to_string();
            return match form {
                "json" => Word::path(&self.json(name, &value)),
                _ => Word::path(&here(&value)),
            };
        }
        if let Some(number) = self.number(slot) {
            return number.to_string().into();
        }
        let request = self.request;
        match slot {
            "entry" => Word::path(&request.entry),
            "port" => self.port(),
            "meeting_host" => self.meeting_host(),
            "hosts" => self.hosts(|host, _| host.to_string()),
            "counted_hosts" => self.hosts(|host, local| format!("{host}:{local}")),
            "job_hosts" => Word::hosts(self.counts.local),
            "training" => self.training().into(),
            "exports" => self.exports("-x").join(" ").into(),
            name => Word::path(self.value(name).unwrap_or_default()),
        }
    }

    /// A number of the launch.
    fn number(&self, name: &str) -> Option<u64> {
        let (request, counts) = (self.request, &self.counts);
        let number = match name {
            "nodes" => request.nodes,
            "processes" => counts.processes,
            "local" => counts.local,
            "per_socket" => counts.local.div_ceil(2),
            "devices" => counts.asked,
            "devices_per_node" => counts.devices_per_node,
            "devices_per_replica" => request.devices_per_replica,
            "replicas" => counts.replicas,
            "replicas_each" => counts.replicas / counts.processes.max(1),
            "batch" => request.batch?,
            "cpus" => self.cpus?,
            _ => return None,
        };
        Some(number.into())
    }

    /// The rendezvous host of the processes: this machine, or the first of several.
    fn meeting_host(&mut self) -> Word {
        let request = self.request;
        match (request.nodes, request.hosts.first(), request.scheduler) {
            (1, ..) => Word::text("localhost"),
            (_, _, Scheduler::Slurm | Scheduler::Pbs) => Word::first_host(),
            (_, Some(host), _) => Word::text(host.clone()),
            _ => {
                self.problem("hosts", "are required: the machines, the rendezvous host first");
                Word::default()
            }
        }
    }

    /// Tenants of a machine use different ports.
    fn port(&self) -> Word {
        let base = self.table.port.unwrap_or_default();
        let first = self.value("modules").and_then(|list| list.split(',').next()?.trim().parse::<u32>().ok());
        let usual = base + first.unwrap_or(0);
        match (self.request.port, self.request.scheduler) {
            (Some(port), _) => port.to_string().into(),
            (None, Scheduler::Bash) => usual.to_string().into(),
            (None, Scheduler::Slurm | Scheduler::Pbs) => Word(vec![Part::JobPort(usual)]),
        }
    }

    fn hosts(&mut self, written: impl Fn(&str, u32) -> String) -> Word {
        let (hosts, nodes, local) = (&self.request.hosts, self.request.nodes, self.counts.local);
        if hosts.len() != nodes as usize {
            self.problem("hosts", format!("{} names given for {nodes} machines", hosts.len()));
        }
        hosts.iter().map(|host| written(host, local)).collect::<Vec<_>>().join(",").into()
    }

    /// Escaped for the quotes of a JSON string.
    fn json(&mut self, field: &str, value: &str) -> String {
        if value.contains(char::is_control) {
            self.problem(field, "can't contain control characters here");
        }
        value.replace('\\', "\\\\").replace('"', "\\\"")
    }
}

fn text(parts: &mut Vec<Part>, more: &str) {
    match parts.last_mut() {
        _ if more.is_empty() => {}
        Some(Part::Text(text)) => text.push_str(more),
        _ => parts.push(Part::Text(more.to_string())),
    }
}
