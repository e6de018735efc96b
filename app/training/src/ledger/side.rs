//! The steps of one side, the original or its port.

use super::accumulation::{batches, by_framework, calls_of, counted_by, is_divided, parts_of_batch, takes_batches};
use super::words::{self, Words};
use super::{Precision, Reading};
use crate::figure::{Figure, place_of};
use crate::project::ProjectFacts;
use crate::roles::Role;
use crate::step::is_statement;
use crate::training_loader::loader;
use crate::view::FileView;
use crate::words::TRAINING_CALLS;
use guide::{LedgerTerms, Processes};
use python::tree::{Id, kinds};

/// One side, as far as it can be analysed.
#[derive(Default)]
pub(super) struct Side {
    pub(super) micro_batch: Option<Figure>,
    /// Its size is not known: [`Side::micro_batch`] is the sampler that makes it.
    is_sampled: bool,
    pub(super) precision: Precision,
    pub(super) accumulation: Option<Figure>,
    pub(super) replicas: Option<Reading>,
    /// Where one process splits its batch over all available cards.
    pub(super) splits: Option<(String, usize)>,
    pub(super) device_iterations: Option<Figure>,
    pub(super) drops_last: bool,
    /// A call of the scheduler's `step`.
    scheduler: Option<SchedulerStep>,
    /// `mean`, `sum` or `none`, and where it is chosen.
    criterion: Option<Figure>,
    /// What happens to accumulated gradients, if the program determines it.
    accumulated: Option<&'static str>,
    /// A batch of the loader is split.
    pub(super) cuts: bool,
    /// The device itself accumulates and averages.
    compiled: bool,
    /// It contains a training step that can be analysed, or a framework's call that trains.
    pub(super) trains: bool,
}

/// Where a scheduler steps.
struct SchedulerStep {
    /// Path and line.
    place: (String, usize),
    /// Inside the loop over batches.
    every_batch: bool,
    /// Under the same counting test as the optimizer's step.
    counted: bool,
}

impl Side {
    /// Whether there is a training to count.
    pub(super) fn counts(&self) -> bool {
        self.trains && self.micro_batch.is_some()
    }

    /// The samples of a forward pass.
    pub(super) fn samples(&self) -> Option<Reading> {
        let Figure { text, place } = self.micro_batch.clone()?;
        let words = if self.is_sampled { words::batch_of_sampler(text.as_str()) } else { Words::Plain(text) };
        Some(Reading { words, place })
    }

    /// In optimizer steps.
    pub(super) fn scheduler_steps(&self) -> Option<Reading> {
        let step = self.scheduler.as_ref()?;
        let batches = self.accumulation.as_ref().map_or("1", |figure| &figure.text);
        let calls = self.device_iterations.as_ref().map_or("1", |figure| &figure.text);
        let words = match () {
            () if !step.every_batch => words::scheduler_outside_loop(),
            () if calls != "1" => words::scheduler_after_calls(calls),
            // The device makes a step of one batch of the loader.
            () if batches == "1" || step.counted || self.compiled => words::scheduler_each_step(),
            () => words::scheduler_each_batch(batches),
        };
        Some(Reading { words, place: Some(step.place.clone()) })
    }

    /// What happens to the gradients of accumulated batches, if there are several.
    pub(super) fn accumulated(&self) -> Option<&'static str> {
        self.accumulation.as_ref().filter(|figure| !figure.is_one())?;
        Some(self.accumulated.unwrap_or(if self.compiled { "mean" } else { "sum" }))
    }

    /// The number of batches that the device accumulates itself, if it is set.
    pub(super) fn accumulated_by_options(&self) -> Option<&str> {
        let figure = self.accumulation.as_ref().filter(|figure| self.compiled && !figure.is_one());
        figure.map(|figure| figure.text.as_str())
    }

    /// How losses and gradients are reduced.
    pub(super) fn reduction(&self) -> Option<Reading> {
        let Figure { text, place } = self.criterion.clone()?;
        let mut words = words::reduced_over_batch(text.as_str());
        if let Some(how) = self.accumulated() {
            words = words::reduced_over_accumulated(words, how);
        }
        if self.replicas.as_ref().is_some_and(|replicas| replicas.words != Words::from("1")) {
            let how = if self.accumulated == Some("sum") && self.compiled { "sum" } else { "mean" };
            words = words::reduced_over_replicas(words, how);
        }
        Some(Reading { words, place })
    }
}

/// Reads the files of a program, starting with the one that is run.
pub(super) fn side(
    views: &[&FileView<'_>],
    project: &ProjectFacts<'_, '_>,
    terms: &LedgerTerms,
    original: bool,
) -> Side {
    let trains = views.iter().any(|view| TRAINING_CALLS.iter().any(|word| view.has_word(word)));
    let Some(loader) = loader(views, terms).filter(|_| trains) else { return Side::default() };
    let (micro_batch, is_sampled, drops_last) = (Some(loader.batch), loader.is_sampled, loader.drops_last);
    let mut side = Side { micro_batch, is_sampled, drops_last, trains, ..Side::default() };
    for view in views {
        side.precision.read(view, terms, original);
        side.compiled |= terms.compiler.as_deref().is_some_and(|module| view.names.imports(module));
    }
    let argument = |name: &Option<String>| {
        let name = name.as_deref()?;
        let told = |view: &&FileView<'_>| {
            let call = view.calls(name).first()?;
            Some(Figure::of(view, view.index.call(*call)?.first_argument()?))
        };
        views.iter().find_map(told)
    };
    side.device_iterations = argument(&terms.device_iterations);
    // A validation may reduce its losses differently.
    let criterion = |validates: bool| views.iter().find_map(|view| criterion(view, validates));
    side.criterion = criterion(false).or_else(|| criterion(true));
    if let Some(Figure { text, .. }) = argument(&terms.reduction) {
        let how = text.rsplit('.').next().unwrap_or_default();
        side.accumulated = ["Sum", "Mean"].iter().position(|name| *name == how).map(|at| ["sum", "mean"][at]);
    }
    side.accumulation = argument(&terms.accumulation);
    read_steps(views, project, &mut side);
    let joined = terms.processes.as_ref();
    let joined = joined.filter(|processes| views.iter().any(|view| view.names.imports(&processes.module)));
    let wrap = |class: &str| views.iter().find_map(|view| wrapped(view, class));
    let parallel = || Some(Reading { words: words::processes(), place: Some(wrap("DistributedDataParallel")?) });
    let number = |processes: &Processes| {
        let split = processes.split.as_ref().filter(|_| !loader.is_own);
        Reading::plain(split.unwrap_or(&processes.text))
    };
    side.replicas = joined.map(number);
    side.replicas = side.replicas.or_else(|| argument(&terms.replicas).map(Reading::from)).or_else(parallel);
    side.splits = wrap("DataParallel").filter(|_| side.replicas.is_none() && !side.compiled);
    side
}

/// Where a model is wrapped in a class for training on several cards.
fn wrapped(view: &FileView<'_>, class: &str) -> Option<(String, usize)> {
    if !view.has_word(class) {
        return None;
    }
    let is_class = |call: &&Id| view.qualified(**call).is_some_and(|name| name.rsplit('.').next() == Some(class));
    Some(place_of(view, *view.index.of_kind(kinds().call).iter().find(is_class)?))
}

/// Accumulation by hand, and where the scheduler steps.
fn read_steps(views: &[&FileView<'_>], project: &ProjectFacts<'_, '_>, side: &mut Side) {
    // A framework divides the loss itself, and its schedulers step with the optimizer.
    let by_framework = views.iter().any(|view| by_framework(view).is_some());
    if side.accumulation.is_none() {
        side.accumulation = views.iter().find_map(|view| batches(view, project));
        if side.accumulation.is_none()
            && let Some(parts) = views.iter().find_map(|view| parts_of_batch(view, project))
            && let Some(batch) = &mut side.micro_batch
        {
            // A forward pass sees only a part of the loader's batch.
            batch.text = match (batch.text.parse::<u32>(), parts.text.parse::<u32>()) {
                (Ok(batch), Ok(parts)) if parts > 0 && batch % parts == 0 => (batch / parts).to_string(),
                _ => format!("{} // {}", batch.text, parts.text),
            };
            side.cuts = true;
            side.accumulation = Some(parts);
        }
        if side.accumulation.is_some() && (by_framework || views.iter().any(|view| is_divided(view, project))) {
            side.accumulated.get_or_insert("mean");
        }
    }
    let scheduler = |view: &&FileView<'_>| {
        let call = calls_of(view, project, "step", &[Role::Scheduler]).find(|c| is_statement(view, *c))?;
        let every_batch = takes_batches(view, project, call);
        let counted = by_framework || counted_by(view, call).is_some();
        Some(SchedulerStep { place: place_of(view, call), every_batch, counted })
    };
    side.scheduler = views.iter().find_map(scheduler);
}

/// How the first loss of `torch.nn`, inside or outside of validations, reduces a batch to a number.
fn criterion(view: &FileView<'_>, validates: bool) -> Option<Figure> {
    let index = &view.index;
    let calls = index.of_kind(kinds().call).iter();
    calls.filter(|call| view.steps.in_validation(view, **call) == validates).find_map(|call| {
        let name = view.qualified(*call)?;
        let last = name.rsplit('.').next().unwrap_or_default();
        let is_loss =
            last.ends_with("Loss") || last.ends_with("_loss") || last.contains("cross_entropy") || last == "kl_div";
        let chosen =
            index.arguments(*call).keyword("reduction").map(|value| index.text_of(value).trim_matches(['"', '\'']));
        // A loss of the program's own reduces what it computes.
        let is_part = chosen == Some("none") && view.function_of(*call).is_some_and(|f| view.name_of(f) == "forward");
        (is_loss && !is_part && name.starts_with("torch.nn.")).then(|| {
            // The older form.
            let sums = || index.arguments(*call).keyword("size_average").is_some_and(|v| index.text_of(v) == "False");
            Figure::at(view, *call, chosen.unwrap_or_else(|| if sums() { "sum" } else { "mean" }))
        })
    })
}
