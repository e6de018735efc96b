//! The numbers of a launch, checked against each other and against the site.

use super::{Draft, count};
use tables::{Counting, JoinedBy, LauncherEntry};

/// Numbers that follow from the request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    /// Processes on all machines together.
    pub(crate) processes: u32,
    /// Processes on one machine.
    pub(crate) local: u32,
    /// Copies of the model, all processes together.
    pub(crate) replicas: u32,
    /// The number of devices in the request to the site: those of a machine, or of all if the target distributes them
    /// itself.
    pub(crate) asked: u32,
    /// Devices that a machine has.
    pub(crate) devices_per_node: u32,
    /// Whether processes need a rendezvous address.
    pub(crate) meets: bool,
    /// Whether the program joins its processes.
    pub(crate) joins: bool,
}

impl Draft<'_> {
    /// Computes the numbers; None if a problem was reported that makes them meaningless.
    pub(super) fn count(&mut self) -> Option<()> {
        let (request, table) = (self.request, self.table);
        let nodes = request.nodes;
        let has = self.site.devices_per_node.or(table.devices_per_node).unwrap_or(1);
        let chosen = self.chosen()?;
        let usual = match (table.processes, chosen) {
            (Counting::Devices, 0) if nodes > 1 => nodes * has,
            (Counting::Devices, 0) => 1,
            (Counting::Devices, chosen) => chosen,
            _ => nodes,
        };
        let processes = request.instances.unwrap_or(usual);
        let noun = table.process.as_deref().unwrap_or("process");
        if !table.only_one.is_empty() && (processes > 1 || nodes > 1) {
            let field = if processes > 1 { "instances" } else { "nodes" };
            self.problem(field, &*table.only_one);
            return None;
        }
        if !processes.is_multiple_of(nodes) {
            let message = format!("{} can't be divided evenly among {nodes} machines", count(processes, noun));
            self.problem("instances", message);
            return None;
        }
        let local = processes / nodes;
        if chosen > 0 && chosen != local {
            self.problem("modules", format!("{} for {}", count(chosen, "module"), count(local, noun)));
            return None;
        }
        self.counts =
            Counts { processes, local, replicas: processes, asked: local, devices_per_node: has, ..Counts::default() };
        match table.processes {
            Counting::Replicas => self.replicas(),
            _ => {
                let each = table.per_device.unwrap_or(1);
                if local > has.saturating_mul(each) {
                    let (local, devices) = (count(local, noun), count(has, &table.device));
                    let message = format!("{local} on a machine with {devices}; one {} needs {each}", table.device);
                    self.problem("instances", message);
                    return None;
                }
                if request.replicas.is_some_and(|replicas| replicas != processes) {
                    let message = format!("one {} has one copy of the model: use {processes}", table.copy);
                    self.problem("replicas", message);
                    return None;
                }
                Some(())
            }
        }
    }

    /// Copies of the model with devices of their own, distributed among processes.
    fn replicas(&mut self) -> Option<()> {
        let (request, table) = (self.request, self.table);
        let processes = self.counts.processes;
        let replicas = request.replicas.unwrap_or(processes);
        let noun = table.process.as_deref().unwrap_or("process");
        if !replicas.is_multiple_of(processes) {
            let message = format!("{replicas} can't be divided evenly among {}", count(processes, noun));
            self.problem("replicas", message);
            return None;
        }
        let each = request.devices_per_replica;
        let devices = u64::from(replicas) * u64::from(each);
        if table.power_of_two && !devices.is_power_of_two() {
            let message = format!("{replicas} × {each} = {}; must be a power of two", count(devices, &table.device));
            self.product_problem(message);
            return None;
        }
        if let Some(most) = self.site.devices.filter(|most| u64::from(*most) < devices) {
            let devices = count(devices, &table.device);
            self.product_problem(format!("{devices} requested; {} has {most}", self.site.title));
            return None;
        }
        self.counts.replicas = replicas;
        self.counts.asked = u32::try_from(devices).unwrap_or(u32::MAX);
        Some(())
    }

    /// A problem with the number of devices, at both of its factors unless one of them is 1.
    fn product_problem(&mut self, message: String) {
        let each = self.request.devices_per_replica;
        if each > 1 {
            self.problem("devices-per-replica", &*message);
        }
        if each == 1 || self.request.replicas.is_some_and(|replicas| replicas > 1) {
            self.problem("replicas", message);
        }
    }

    /// The number of devices of a shared machine that the user has listed; 0 if none.
    fn chosen(&mut self) -> Option<u32> {
        let groups = &self.table.groups;
        let Some(own) = self.value("modules").filter(|_| !groups.is_empty()) else { return Some(0) };
        let own: String = own.split_whitespace().collect();
        if self.request.nodes != 1 || !groups.contains(&own) {
            self.problem("modules", format!("must be one of {}, on one machine", groups.join(" ")));
            return None;
        }
        u32::try_from(own.split(',').count()).ok()
    }

    /// The launcher for a program that was analysed: the default for several processes, if it provides their ranks;
    /// otherwise the one that suits the program.
    fn suited(&self) -> Option<&'static LauncherEntry> {
        let request = self.request;
        let fits = |entry: &&LauncherEntry| {
            !entry.label.is_empty() && !entry.refused.iter().any(|refusal| self.holds(&refusal.when))
        };
        let tells = |entry: &LauncherEntry| request.joined_by.iter().any(|(by, _)| entry.tells.contains(by));
        let is_usual = |entry: &&LauncherEntry| entry.usual.iter().flatten().any(|usual| self.holds(usual));
        let named = || self.table.launcher.iter().find(|entry| Some(&*entry.name) == request.suits.as_deref());
        let usual = self.table.launcher.iter().filter(fits).find(|entry| is_usual(entry) && tells(entry));
        usual.or_else(named)
    }

    /// The launcher that starts the processes: the chosen one, otherwise the target's default.
    pub(super) fn choose_launcher(&mut self) -> Option<()> {
        let (request, table) = (self.request, self.table);
        let named = request.launcher.as_deref();
        // The launcher that suits the program may not exist for this target.
        let is_known = |name: Option<&str>| table.launcher.iter().any(|entry| Some(&*entry.name) == name);
        let found = match named {
            Some(name) => table.launcher.iter().find(|entry| entry.name == name && !entry.label.is_empty()),
            None if is_known(request.suits.as_deref()) => self.suited(),
            None => {
                let is_usual = |entry: &&LauncherEntry| entry.usual.iter().flatten().any(|usual| self.holds(usual));
                let fits = |entry: &&LauncherEntry| {
                    !entry.label.is_empty() && !entry.refused.iter().any(|refusal| self.holds(&refusal.when))
                };
                let usual = table.launcher.iter().find(is_usual);
                // One that starts N separate trainings is never the default.
                let other = || table.launcher.iter().find(|entry| fits(entry) && self.tells(entry));
                usual.filter(|entry| self.tells(entry)).or_else(other).or(usual)
            }
        };
        let Some(entry) = found else {
            let mut names: Vec<&str> =
                table.launcher.iter().filter(|entry| !entry.label.is_empty()).map(|entry| &*entry.name).collect();
            names.dedup();
            let message = match names.is_empty() {
                true => "is not available: this target has only one launcher".to_string(),
                false => format!("must be {} for this target", names.join(", ")),
            };
            self.problem("launcher", message);
            return None;
        };
        self.launcher = entry.name.clone();
        if let Some(refusal) = entry.refused.iter().find(|refusal| self.holds(&refusal.when)) {
            let field = if refusal.field.is_empty() { "launcher" } else { &refusal.field };
            self.problem(field, &*refusal.why);
            return None;
        }
        if !self.tells(entry) {
            let reads: Vec<&str> = self.request.joined_by.iter().map(|(by, _)| &**by).collect();
            let tells = |entry: &&LauncherEntry| !entry.label.is_empty() && self.tells(entry);
            let others: Vec<&str> = table.launcher.iter().filter(tells).map(|entry| &*entry.name).collect();
            let instead =
                if others.is_empty() { "use 1 process".to_string() } else { format!("use {}", others.join(" or ")) };
            let message = format!(
                "`{}` does not provide the ranks that the program reads ({}): each process would train separately; {instead}",
                entry.name,
                reads.join(", "),
            );
            self.problem("launcher", message);
            return None;
        }
        let several = self.counts.processes > 1;
        self.counts.meets = several || entry.meets_alone;
        self.counts.joins = table.joined_by == JoinedBy::Program && (several || entry.joins_alone);
        let tasks = entry.tasks.filter(|_| self.holds(&entry.tasks_when));
        self.tasks(tasks);
        Some(())
    }
}
