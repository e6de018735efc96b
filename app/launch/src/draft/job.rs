//! Options of a job, for all targets: cores and memory, arrays, resuming from the newest checkpoint, modules,
//! variables, containers.

use super::{Draft, MOST};
use crate::plan::{Setting, Step};
use crate::word::{Part, Word};
use tables::Scheduler;
use tables::{Counting, Tasks};

const SRUN: &str = "https://slurm.schedmd.com/srun.html";

/// The last index of a job array that Slurm can be set up for.
const LAST_INDEX: u32 = 4_000_000;

/// Whether each number of a job array is an index, and each range begins with the lower: `0-9`, `1,5,7`, `0-15:4%2`.
fn are_indices(array: &str) -> bool {
    let number = |word: &str| word.parse::<u32>().ok().filter(|index| *index <= LAST_INDEX);
    let (indices, at_once) = array.split_once('%').map_or((array, None), |(indices, limit)| (indices, Some(limit)));
    let is_part = |part: &str| {
        let (range, step) = part.split_once(':').map_or((part, None), |(range, step)| (range, Some(step)));
        let ends = range.split_once('-').unwrap_or((range, range));
        let is_positive = |word: &str| number(word).is_some_and(|number| number > 0);
        matches!((number(ends.0), number(ends.1)), (Some(first), Some(last)) if first <= last)
            && step.is_none_or(is_positive)
    };
    indices.split(',').all(is_part) && at_once.is_none_or(|limit| number(limit).is_some_and(|number| number > 0))
}

impl Draft<'_> {
    /// The words that become directives unchanged, restricted to what needs no quotes; and combinations that are not
    /// allowed.
    pub(super) fn check_job(&mut self) {
        let scheduler = self.request.scheduler;
        let plain = |more: &'static str| move |c: char| c.is_ascii_alphanumeric() || more.contains(c);
        for (field, more, example) in [
            ("qos", "._-", "debug"),
            ("mail", "._-+@,", "ann@example.org"),
            ("array", ",-:%", "0-9"),
            ("after", "._-[]", "12345"),
            ("memory", "", "64G"),
        ] {
            let Some(value) = self.value(field) else { continue };
            if value.starts_with('-') || !value.chars().all(plain(more)) {
                self.problem(field, format!("may have only letters, digits and {more}, such as {example}"));
            } else if field == "array" && !are_indices(value) {
                self.problem(
                    field,
                    format!("must be indices from 0 to {LAST_INDEX}, ranges from the lower, such as 0-9"),
                );
            } else if scheduler == Scheduler::Bash {
                self.problem(field, "needs a scheduler: --scheduler slurm or pbs");
            } else if scheduler == Scheduler::Pbs && matches!(field, "qos" | "memory") {
                let instead = if field == "qos" { "--set partition" } else { "--set select, such as ngpus=8:mem=64gb" };
                self.problem(field, format!("is Slurm-only; for PBS use {instead}"));
            }
        }
        for field in ["requeue", "exclusive"] {
            if self.value(field).is_some_and(|value| value != "on") {
                self.problem(field, "must be on, or omitted");
            } else if self.value(field).is_some() && scheduler == Scheduler::Bash {
                self.problem(field, "needs a scheduler: --scheduler slurm or pbs");
            }
        }
        for key in ["array-key", "resume-key"] {
            let is_key =
                |key: &str| !key.is_empty() && !key.contains(|c: char| c.is_whitespace() || c.is_control() || c == '=');
            if self.value(key).is_some_and(|key| !is_key(key)) {
                self.problem(key, "must be only the key, such as run.seed or --resume");
            }
        }
        if self.value("resume-key").is_some() != self.value("checkpoints").is_some() {
            let (missing, other) = match self.value("checkpoints") {
                Some(_) => ("resume-key", "the key or option for a checkpoint, such as --resume"),
                None => ("checkpoints", "the folder with the program's checkpoints"),
            };
            self.problem(missing, format!("is required: {other}"));
        }
        if self.value("array").is_some() && self.value("checkpoints").is_some() {
            let message = "with an array each job would resume from the newest checkpoint of any of them: let the program \
                           look for its own, or submit the jobs one by one";
            self.problem("checkpoints", message);
        }
        if self.value("array-key").is_some() && self.value("array").is_none() {
            self.problem("array", "is required: the indices, such as 0-9");
        }
        for directive in &self.request.directives {
            if !directive.starts_with('-') || directive.contains(char::is_control) {
                self.problem("directive", format!("`{}` is not an option of the scheduler", directive.escape_debug()));
            } else if scheduler == Scheduler::Bash {
                self.problem("directive", "needs a scheduler: --scheduler slurm or pbs");
            }
        }
        for (name, value) in &self.request.env {
            let is_name = !name.is_empty()
                && !name.starts_with(|c: char| c.is_ascii_digit())
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            if !is_name || value.contains('\0') {
                self.problem("env", format!("`{}` is not a variable name", name.escape_debug()));
            }
        }
        for module in &self.request.load {
            if module.starts_with('-') || module.is_empty() || !module.chars().all(plain("._-+/")) {
                self.problem("load", format!("`{}` is not a module name", module.escape_debug()));
            }
        }
        if self.value("cores").is_some_and(|cores| !cores.parse::<u32>().is_ok_and(|n| (1..=MOST).contains(&n))) {
            self.problem("cores", format!("must be a number from 1 to {MOST}"));
        }
        self.check_container();
    }

    fn check_container(&mut self) {
        let Some(chosen) = self.value("container") else { return };
        let names: Vec<&str> = self.table.container.iter().map(|entry| &*entry.by).collect();
        if !names.contains(&chosen) {
            let known = if names.is_empty() { "none for this target".to_string() } else { names.join(" or ") };
            self.problem("container", format!("must be {known}"));
        } else if self.value("image").is_none() {
            self.problem("image", "is required: the container's image");
        } else if self.value("venv").is_some() {
            let message =
                "the container can't use the host's virtual environment: put the project's packages into the image";
            self.problem("venv", message);
        }
    }

    /// The scheduler's tasks, their cores, and the job's memory.
    pub(super) fn tasks(&mut self, tasks: Option<Tasks>) {
        let (site, table) = (self.site, self.table);
        let (local, has) = (self.counts.local, self.counts.devices_per_node);
        let counts_devices = table.processes != Counting::Replicas;
        let tasks = tasks.or(Some(Tasks::Machines).filter(|_| counts_devices));
        let number = |text: &str| text.parse::<u32>().ok();
        // On a shared machine, a process has its device's share of the cores.
        let share = site.cpus_per_node.map(|cpus| (cpus / (has * table.per_device.unwrap_or(1)).max(1)).max(1));
        let own = self.request.values.get("cores").and_then(|cores| number(cores));
        let each = own.or(share.filter(|_| counts_devices)).or_else(|| number(self.value("cores")?));
        let resources = &mut self.plan.resources;
        resources.tasks_per_node = tasks.map(|tasks| if tasks == Tasks::Processes { local } else { 1 });
        resources.cpus_per_task =
            tasks.zip(each).map(|(tasks, each)| if tasks == Tasks::Processes { each } else { each * local });
        let whole = counts_devices && local >= has;
        let asked = self.request.values.contains_key("exclusive");
        resources.exclusive = asked || (whole && share.is_none());
        let devices = local.div_ceil(table.per_device.unwrap_or(1)).min(has);
        let of_site = site.memory_per_node.map(|memory| match whole {
            true => "0".to_string(),
            false => format!("{}G", (memory / has.max(1)).saturating_mul(devices)),
        });
        let of_whole = Some("0".to_string()).filter(|_| resources.exclusive);
        resources.memory =
            self.request.values.get("memory").cloned().or(of_site.filter(|_| counts_devices)).or(of_whole);
        self.cpus = self.plan.resources.cpus_per_task;
    }

    pub(super) fn load(&mut self) {
        let (site, request) = (self.site, self.request);
        for module in site.load.iter().chain(&request.load) {
            let argv = ["module", "load", module].map(Word::from).to_vec();
            let why = "Environment module.".to_string();
            self.plan.steps.push(Step::Run { argv, flags: Vec::new(), why, source: String::new() });
        }
    }

    /// The user's own variables, and arguments that follow from the job: its index, its newest checkpoint.
    pub(super) fn of_the_job(&mut self) {
        let (request, scheduler, given) = (self.request, self.request.scheduler, self.given());
        let set = |steps: &mut Vec<Step>, name: &str, value: Word, why: &str, source: &str| {
            let (name, why, source) = (name.to_string(), why.to_string(), source.to_string());
            steps.push(Step::Set(Setting { name, value, why, source }));
        };
        if let Some(cpus) = self.plan.resources.cpus_per_task.filter(|_| scheduler == Scheduler::Slurm) {
            let why = "Since Slurm 22.05, srun does not inherit the job's cores.";
            set(&mut self.plan.steps, "SRUN_CPUS_PER_TASK", cpus.to_string().into(), why, SRUN);
            self.inner.push("SRUN_CPUS_PER_TASK".to_string());
        }
        for (name, value) in &request.env {
            match go_on(&mut self.plan.steps, name, value) {
                None => set(&mut self.plan.steps, name, Word::path(value), "Set by you.", ""),
                Some(Ok(())) => {}
                Some(Err(key)) => {
                    self.problem("env", format!("`{name}` must leave out {key}: the script sets it itself"))
                }
            }
        }
        if let Some(folder) = given.value("checkpoints") {
            let (folder, name) = match folder.rsplit_once('/') {
                Some((folder, name)) if name.contains('*') => (folder, name),
                _ if folder.contains('*') => (".", folder),
                _ => (folder.trim_end_matches('/'), "*"),
            };
            let newest = Part::Newest(super::here(folder), name.to_string());
            set(
                &mut self.plan.steps,
                "CHECKPOINT",
                Word(vec![newest]),
                "Newest checkpoint; empty on the first start.",
                "",
            );
            self.inner.push("CHECKPOINT".to_string());
        }
        if let (Some(key), Some(_)) = (self.value("resume-key"), self.value("checkpoints")) {
            let word = Word(vec![Part::WhenSet("CHECKPOINT".to_string(), format!("{key}="))]);
            self.own_args.push((word, "resumes from it, except on the first start".to_string()));
        }
        if let Some(key) = self.value("array-key") {
            let index = if scheduler == Scheduler::Pbs { "PBS_ARRAY_INDEX" } else { "SLURM_ARRAY_TASK_ID" };
            let word = Word::text(format!("{key}=")).and(Word::variable(index));
            self.own_args.push((word, "this job's index in the array".to_string()));
        }
    }
}

/// Adds the settings of a user's value to those of the script, if both are JSON objects: the key that both have, if there
/// is one. None if they are not.
fn go_on<'v>(steps: &mut [Step], name: &str, value: &'v str) -> Option<Result<(), &'v str>> {
    let more = value.strip_prefix('{').filter(|more| more.ends_with('}') && more.contains(':'))?;
    let word = steps.iter_mut().find_map(|step| match step {
        Step::Set(setting) if setting.name == name => Some(&mut setting.value),
        _ => None,
    })?;
    let written = word.quoted();
    let Part::Text(own) = word.0.last_mut()? else { return None };
    let before = own.strip_suffix('}')?;
    let pieces: Vec<&str> = more.split('"').collect();
    if let Some(pair) = pieces.windows(2).find(|pair| pair[1].starts_with(':') && written.contains(pair[0])) {
        return Some(Err(pair[0]));
    }
    *own = format!("{before},{more}");
    Some(Ok(()))
}
