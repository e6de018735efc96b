//! What one side of a port, the original or its result, says of its steps.

use super::{Figure, Precision};
use crate::counting::{chunks, counted};
use crate::project::ProjectFacts;
use crate::roles::Role;
use crate::target::TargetFacts;
use crate::view::FileView;
use guide::LedgerTerms;
use python::names::called_name;
use python::syntax::{Argument, If};
use python::tables::table_values;
use python::tree::{Id, Tree, kinds};

/// One side, as far as it can be read.
#[derive(Default)]
pub(crate) struct Side {
    pub(crate) micro_batch: Option<Figure>,
    pub(crate) precision: Precision,
    pub(crate) accumulation: Option<Figure>,
    pub(crate) replicas: Option<Figure>,
    pub(crate) device_iterations: Option<Figure>,
    pub(crate) drops_last: bool,
    /// A call of the scheduler's `step`.
    scheduler: Option<SchedulerStep>,
    /// `mean`, `sum` or `none`, and where it is chosen.
    criterion: Option<Figure>,
    /// What becomes of accumulated gradients, when the program says so itself.
    accumulated: Option<&'static str>,
    /// A batch of the loader is taken apart.
    pub(crate) cuts: bool,
    /// The device accumulates and averages by itself.
    compiled: bool,
    /// A training step can be read in it, or a framework's that makes one.
    pub(crate) trains: bool,
}

/// What is called, or defined, where a model is trained.
const TRAINING: [&str; 6] = ["backward", "fit", "step", "train_batch", "trainingModel", "training_step"];

/// Where a scheduler steps.
struct SchedulerStep {
    /// Path and line.
    place: (String, usize),
    /// Inside the loop that takes batches.
    every_batch: bool,
    /// Under the same counted test as the optimizer's step.
    counted: bool,
}

impl Side {
    /// In optimizer steps.
    pub(crate) fn scheduler_steps(&self) -> Option<Figure> {
        let step = self.scheduler.as_ref()?;
        let batches = self.accumulation.as_ref().map_or("1", |figure| &figure.text);
        let calls = self.device_iterations.as_ref().map_or("1", |figure| &figure.text);
        let text = match () {
            () if !step.every_batch => "outside the loop over batches".to_owned(),
            () if calls != "1" => format!("once in {calls} optimizer steps"),
            // A batch of the loader is what the device makes a step of.
            () if batches == "1" || step.counted || self.compiled => "with every optimizer step".to_owned(),
            () => format!("{batches} times with every optimizer step"),
        };
        Some(Figure { text, place: Some(step.place.clone()) })
    }

    /// What becomes of the gradients of accumulated batches, when there are several.
    pub(crate) fn accumulated(&self) -> Option<&'static str> {
        self.accumulation.as_ref().filter(|figure| figure.text != "1")?;
        Some(self.accumulated.unwrap_or(if self.compiled { "mean" } else { "sum" }))
    }

    /// The number of batches that the device adds up by itself, when it is told one.
    pub(crate) fn accumulated_by_options(&self) -> Option<&str> {
        self.accumulation
            .as_ref()
            .filter(|figure| self.compiled && figure.text != "1")
            .map(|figure| figure.text.as_str())
    }

    /// How losses and gradients become one.
    pub(crate) fn reduction(&self) -> Option<Figure> {
        let Figure { text, place } = self.criterion.clone()?;
        let mut text = format!("{text} over a batch");
        if let Some(how) = self.accumulated() {
            text += &format!(", {how} over accumulated batches");
        }
        if self.replicas.as_ref().is_some_and(|figure| figure.text != "1") {
            text += match self.accumulated {
                Some("sum") if self.compiled => ", sum over replicas",
                _ => ", mean over replicas",
            };
        }
        Some(Figure { text, place })
    }
}

/// Reads the files of one side.
pub(crate) fn side<'f>(files: impl Iterator<Item = (&'f str, &'f str)>, terms: &LedgerTerms) -> Side {
    let mut side = Side::default();
    for (path, text) in files.filter(|(path, _)| python::is_python(path)) {
        let tree = Tree::parse(text);
        if tree.has_error() {
            continue;
        }
        let view = FileView::read(path, &tree);
        read_loader(&view, terms, &mut side);
        side.precision.read(&view, terms);
        let argument = |name: &Option<String>| {
            let call = view.calls(name.as_deref()?).first()?;
            Some(figure(&view, view.index.call(*call)?.first_argument()?))
        };
        side.trains |= TRAINING.iter().any(|word| view.has_word(word));
        side.compiled |= terms.compiler.as_deref().is_some_and(|module| view.names.imports(module));
        side.device_iterations = side.device_iterations.or_else(|| argument(&terms.device_iterations));
        side.criterion = side.criterion.or_else(|| criterion(&view));
        if let Some(Figure { text, .. }) = argument(&terms.reduction) {
            let how = text.rsplit('.').next().unwrap_or_default();
            side.accumulated = ["Sum", "Mean"].iter().position(|name| *name == how).map(|at| ["sum", "mean"][at]);
        }
        side.accumulation = side.accumulation.or_else(|| argument(&terms.accumulation));
        if !view.calls("step").is_empty() {
            let project = ProjectFacts::collect(std::iter::once(&view), &TargetFacts::default());
            read_steps(&view, &project, &mut side);
        }
        if let Some(processes) = terms.processes.as_ref().filter(|processes| view.names.imports(&processes.module)) {
            side.replicas.get_or_insert_with(|| Figure::plain(&processes.text));
        }
        side.replicas = side.replicas.or_else(|| argument(&terms.replicas)).or_else(|| {
            let wraps = |call: &&Id| {
                view.qualified(**call).is_some_and(|name| name.rsplit('.').next() == Some("DistributedDataParallel"))
            };
            let wrap = view.index.of_kind(kinds().call).iter().find(wraps)?;
            Some(Figure::at(&view, *wrap, "processes"))
        });
    }
    side
}

/// The loader that shuffles, or has a sampler, trains; without one the first.
fn read_loader(view: &FileView<'_>, terms: &LedgerTerms, side: &mut Side) {
    if side.micro_batch.is_some() {
        return;
    }
    let own = terms.loader.as_ref();
    let loaders: Vec<Id> = view
        .calls("DataLoader")
        .iter()
        .copied()
        .filter(|call| {
            let name = view.qualified(*call);
            name.is_some_and(|n| n.starts_with("torch.utils.data") || own.is_some_and(|own| own.class == n))
        })
        .collect();
    let trains = |call: &&Id| {
        ["shuffle", "sampler"].iter().any(|name| {
            view.index
                .arguments(**call)
                .keyword(name)
                .is_some_and(|value| !matches!(view.index.text_of(value), "False" | "None"))
        })
    };
    let Some(loader) = loaders.iter().find(trains).or(loaders.first()).copied() else { return };
    let place =
        own.filter(|own| view.qualified(loader).is_some_and(|name| name == own.class)).map_or(1, |own| own.batch_size);
    let arguments = view.index.arguments(loader);
    let batch = arguments.get(place, "batch_size").map(|value| figure(view, value));
    side.micro_batch = Some(batch.or_else(|| unpacked(view, loader, "batch_size")).unwrap_or_else(Figure::one));
    let drop_last = arguments.keyword("drop_last").map(|value| figure(view, value));
    let drop_last = drop_last.or_else(|| unpacked(view, loader, "drop_last"));
    side.drops_last = drop_last.is_some_and(|figure| figure.text == "True");
}

/// What a call is given under a name by `**table`: the value in the table where the file writes it down, else the place to
/// look it up; none where the file writes the table down without it.
fn unpacked(view: &FileView<'_>, call: Id, name: &str) -> Option<Figure> {
    let k = kinds();
    let index = &view.index;
    let splat = index.arguments(call).iter().find_map(|argument| match argument {
        Argument::UnpackedTable(id) => Some(id),
        _ => None,
    })?;
    let table = index.text_of(splat).trim_start_matches('*').trim();
    if let Some(value) = table_values(view, call, table, name).first() {
        return Some(figure(view, *value));
    }
    let is_written = index.assignments().filter(|assignment| assignment.assigns(table)).any(|assignment| {
        let is_table = |value: Id| index.kind(value) == k.dictionary || called_name(index, value) == Some("dict");
        assignment.value().is_some_and(is_table)
    });
    (!is_written).then(|| Figure::at(view, splat, &format!("{table}[\"{name}\"]")))
}

/// What the training loader of a file is given as its batch.
pub fn micro_batch(view: &FileView<'_>, terms: &LedgerTerms) -> Option<Figure> {
    let mut side = Side::default();
    read_loader(view, terms, &mut side);
    side.micro_batch
}

/// Accumulation by hand, and where the scheduler steps.
fn read_steps(view: &FileView<'_>, project: &ProjectFacts, side: &mut Side) {
    let index = &view.index;
    let steps = |role: &'static [Role]| {
        view.calls("step").iter().copied().filter(move |call| {
            let object = index.receiver(*call);
            object.and_then(|object| project.role(view, object)).is_some_and(|found| role.contains(&found))
        })
    };
    if side.accumulation.is_none() {
        let of_optimizer = || steps(&[Role::Optimizer, Role::Scaler]);
        let counted = of_optimizer().find_map(|call| Some(Figure::at(view, call, &counted_by(view, call)?)));
        side.accumulation = counted.or_else(|| of_optimizer().find_map(|call| inner_turns(view, call)));
        if side.accumulation.is_none()
            && let Some(parts) = of_optimizer().find_map(|call| parts(view, call))
            && let Some(batch) = &mut side.micro_batch
        {
            // What a pass sees is a part of the loader's batch.
            batch.text = match (batch.text.parse::<u32>(), parts.text.parse::<u32>()) {
                (Ok(batch), Ok(parts)) if parts > 0 && batch % parts == 0 => (batch / parts).to_string(),
                _ => format!("{} // {}", batch.text, parts.text),
            };
            side.cuts = true;
            side.accumulation = Some(parts);
        }
        if side.accumulation.is_some() && is_divided(view) {
            side.accumulated.get_or_insert("mean");
        }
    }
    if side.scheduler.is_none()
        && let Some(call) = steps(&[Role::Scheduler]).next()
        && let Some(place) = figure(view, call).place
    {
        let every_batch = takes_batches(view, project, call);
        side.scheduler = Some(SchedulerStep { place, every_batch, counted: counted_by(view, call).is_some() });
    }
}

/// The loop around a node, within its function.
fn loop_of(view: &FileView<'_>, id: Id) -> Option<Id> {
    let function = view.function_of(id);
    let found = view.index.ancestors(id).find(|a| view.index.kind(*a) == kinds().for_statement)?;
    (view.function_of(found) == function).then_some(found)
}

/// `n` of the `if (i + 1) % n == 0:` around a call, under a name or in place, or of the `continue` in front of it.
fn counted_by(view: &FileView<'_>, call: Id) -> Option<String> {
    let k = kinds();
    let index = &view.index;
    let around = loop_of(view, call);
    let test = |at: Id| index.if_statement(at)?.condition();
    let goes_back = |at: Id| view.calls("backward").iter().any(|b| index.is_within(*b, at));
    let inside = index.ancestors(call).take_while(|a| Some(*a) != around).filter(|a| !goes_back(*a));
    let skips = around.into_iter().flat_map(|l| index.of_kind_in(k.if_statement, l)).copied().filter(|at| {
        let body = index.if_statement(*at).and_then(If::body);
        let behind = view.calls("backward").iter().any(|b| b < at && view.function_of(*b) == view.function_of(*at));
        *at < call && behind && body.is_some_and(|b| index.parts(b).all(|s| index.kind(s) == k.continue_statement))
    });
    let found = inside.chain(skips).find_map(|at| counted(view, test(at)?))?;
    (!found.count.is_empty()).then(|| found.count.to_owned())
}

/// `n` of a `for … in batch.chunk(n):` that goes backward, with the optimizer's step behind it.
fn parts(view: &FileView<'_>, step: Id) -> Option<Figure> {
    view.calls("backward").iter().find_map(|backward| {
        let inner = loop_of(view, *backward).filter(|l| *backward < step && !view.index.is_within(step, *l))?;
        Some(figure(view, *chunks(view, inner)?.numbers.first()?))
    })
}

/// `n` of a `for … in range(n):` that goes backward, with the optimizer's step behind it.
fn inner_turns(view: &FileView<'_>, step: Id) -> Option<Figure> {
    let index = &view.index;
    view.calls("backward").iter().find_map(|backward| {
        let inner = loop_of(view, *backward)?;
        let behind =
            *backward < step && !index.is_within(step, inner) && view.function_of(step) == view.function_of(inner);
        let range = index.call(index.for_statement(inner).filter(|_| behind)?.iterable()?)?;
        let mut turns = range.arguments().ids().filter(|_| range.name() == Some("range"));
        let first = turns.next().filter(|_| turns.next().is_none())?;
        Some(figure(view, first))
    })
}

/// Whether a call is made once for a batch: in the loop that takes them from a loader, or beside the backward pass.
fn takes_batches(view: &FileView<'_>, project: &ProjectFacts, call: Id) -> bool {
    let index = &view.index;
    let around = loop_of(view, call);
    let mut source = around.and_then(|around| index.for_statement(around)?.iterable());
    // `enumerate(tqdm(loader))`
    while let Some(wrapper) = source.and_then(|s| index.call(s)).filter(|call| call.name() != Some("range")) {
        source = wrapper.first_argument();
    }
    source.is_some_and(|source| project.role(view, source) == Some(Role::Loader))
        || view
            .calls("backward")
            .iter()
            .any(|backward| loop_of(view, *backward) == around && view.function_of(*backward) == view.function_of(call))
}

/// Whether the backward pass begins at a quotient: `loss / n`, or `loss` that was divided before.
fn is_divided(view: &FileView<'_>) -> bool {
    let index = &view.index;
    view.calls("backward").iter().any(|call| {
        let Some(mut object) = index.receiver(*call) else { return false };
        // `scaler.scale(loss).backward()`
        if let Some(scaling) = index.call(object).filter(|scaling| scaling.name() == Some("scale"))
            && let Some(scaled) = scaling.first_argument()
        {
            object = scaled;
        }
        let name = index.text_of(object);
        let assigned = index.of_kind(kinds().assignment).iter().chain(index.of_kind(kinds().augmented_assignment));
        let of_loss = |a: &&Id| **a < *call && index.target(**a).is_some_and(|l| index.text_of(l) == name);
        name.contains('/') || assigned.filter(of_loss).any(|a| index.text_of(*a).contains('/'))
    })
}

/// How the first loss of `torch.nn` makes one number of a batch.
fn criterion(view: &FileView<'_>) -> Option<Figure> {
    let index = &view.index;
    index.of_kind(kinds().call).iter().find_map(|call| {
        let name = view.qualified(*call)?;
        let last = name.rsplit('.').next().unwrap_or_default();
        let is_loss =
            last.ends_with("Loss") || last.ends_with("_loss") || last.contains("cross_entropy") || last == "kl_div";
        (is_loss && name.starts_with("torch.nn.")).then(|| {
            let chosen =
                index.arguments(*call).keyword("reduction").map(|value| index.text_of(value).trim_matches(['"', '\'']));
            Figure::at(view, *call, chosen.unwrap_or("mean"))
        })
    })
}

fn figure(view: &FileView<'_>, id: Id) -> Figure {
    Figure::at(view, id, view.index.text_of(id))
}
