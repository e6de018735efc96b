//! A training: its numbers, its variables, and the commands that start it.

use super::{Draft, count, said};
use crate::plan::{Setting, Step};
use tables::{Kind, SetEntry};

impl Draft<'_> {
    pub(super) fn train(&mut self) {
        if self.count().is_none() || self.choose_launcher().is_none() {
            return;
        }
        let table = self.table;
        for refusal in table.refused.iter().filter(|refusal| self.holds(&refusal.when)).collect::<Vec<_>>() {
            self.problem(&refusal.field, &*refusal.why);
        }
        for field in table.field.iter().filter(|field| field.required && self.holds(&field.when)).collect::<Vec<_>>() {
            if self.value(&field.name).is_none() {
                self.problem(&field.name, format!("is required: {}", field.help));
            }
        }
        if self.request.alone && !table.alone.is_empty() {
            match &table.alone_field {
                Some(field) => self.problem(field, &*table.alone),
                None if self.counts.processes > 1 => self.problem("instances", &*table.alone),
                None => {}
            }
        }
        self.listed();
        self.joined();
        for entry in table.argument.iter().filter(|entry| self.holds(&entry.when)).collect::<Vec<_>>() {
            self.argument(entry);
        }
        let of_the_program = std::mem::take(&mut self.plan.arithmetic);
        let titles = table.titles.iter().find(|title| self.holds(&title.when));
        self.plan.title = self.text(titles.map_or(&table.title, |title| &title.text));
        for line in &table.numbers {
            match &**line {
                "{samples}" => self.samples(),
                line => {
                    let line = self.text(line);
                    self.plan.arithmetic.push(line);
                }
            }
        }
        self.plan.arithmetic.extend(of_the_program);
        if table.without_devices.as_ref().is_some_and(|when| self.holds(when)) {
            self.plan.resources.nodes = 1;
            self.plan.resources.tasks_per_node = Some(1);
            (self.plan.resources.exclusive, self.plan.resources.memory) = (false, None);
        } else {
            self.ask_for_devices();
        }
        // A file that is sourced first may define `module`.
        self.enable();
        self.load();
        self.activate();
        self.site_settings();
        for entry in table.set.iter().chain(&self.site.set) {
            self.set(entry);
        }
        self.of_the_job();
        for warning in table.warning.iter().filter(|warning| self.holds(&warning.when)).collect::<Vec<_>>() {
            let text = self.text(&warning.text);
            self.plan.warnings.push(text);
        }
        for note in table.note.iter().filter(|note| self.holds(&note.when)).collect::<Vec<_>>() {
            let text = self.text(&note.text);
            self.plan.notes.push(text);
        }
        for command in self.commands() {
            if self.holds(&command.when) {
                self.run(command);
            }
        }
        for field in self.table.field.iter().filter(|field| field.kind == Kind::Words).collect::<Vec<_>>() {
            if self.value(&field.name).is_some() && !self.taken.contains(&&*field.name) {
                self.problem(&field.name, "is for a command that this script does not have");
            }
        }
    }

    /// A key of the program's whose value follows from the fields.
    fn argument(&mut self, entry: &SetEntry) {
        let (key, value) = (self.text(&entry.name), entry.value.as_deref().unwrap_or_default());
        match said(&self.request.args, &key) {
            None => self.own_args.push((format!("{key}={value}").into(), entry.why.clone())),
            Some(told) if !told.eq_ignore_ascii_case(value) => {
                self.problem("args", format!("`{key}` must be {value} here: {}", entry.why));
            }
            Some(_) => {}
        }
    }

    /// Listed devices: a process without one would find none, or share another's.
    fn listed(&mut self) {
        let local = self.counts.local;
        for field in self.table.field.iter().filter(|field| field.kind == Kind::Devices) {
            let Some(value) = self.value(&field.name) else { continue };
            let named = value.split(',').filter(|one| !one.trim().is_empty()).count();
            if named < local as usize {
                let message = format!("names {named} for {}", count(local, "process"));
                self.problem(&field.name, message);
            }
        }
    }

    /// A variable, unless its condition is false, or the user provides it and it is already set.
    pub(super) fn set(&mut self, entry: &SetEntry) {
        if !self.holds(&entry.when) {
            return;
        }
        if let Some(is) = &entry.is {
            return self.set_by_release(&entry.name, is);
        }
        if let Some(value) = &entry.value {
            let (value, why) = (self.word(value), self.text(&entry.why));
            let setting = Setting { name: entry.name.clone(), value, why, source: entry.source.clone() };
            if entry.inner {
                self.inner.push(entry.name.clone());
            }
            self.plan.steps.push(Step::Set(setting));
        } else if let Some(message) = entry.ask.as_ref().filter(|_| !self.is_set(&entry.name)) {
            self.plan.steps.push(Step::Require { name: entry.name.clone(), message: message.clone() });
        }
    }

    /// A variable whose value depends on the release.
    fn set_by_release(&mut self, name: &str, is: &str) {
        let target = self.request.target;
        let sdk = self.value("sdk").unwrap_or(target.newest());
        match target.variables().get(name).and_then(|fact| fact.value_for(is, sdk)) {
            Some(fact) => {
                let (name, value) = (name.to_string(), fact.value.as_str().into());
                let (why, source) = (fact.why.clone(), fact.source.clone());
                self.plan.steps.push(Step::Set(Setting { name, value, why, source }));
            }
            None => {
                self.problem("sdk", format!("{sdk} has no value of {name} for {is}; choose another release or mode"))
            }
        }
    }

    /// `-x NAME` for each variable that is set, for a launcher that passes them to other machines; `-e NAME` for a
    /// container.
    pub(crate) fn exports(&self, option: &str) -> Vec<String> {
        let names = self.plan.steps.iter().filter_map(|step| match step {
            Step::Set(setting) if !self.inner.contains(&setting.name) => Some(&setting.name),
            _ => None,
        });
        names.flat_map(|name| [option.to_string(), name.clone()]).collect()
    }
}
