//! What one side of a port, the original or its result, says of its steps.

use super::{Figure, Precision};
use crate::condition::table_values;
use crate::facts::counting::{chunks, counted};
use crate::facts::roles::Role;
use crate::facts::{FileView, ProjectFacts};
use crate::names::called_name;
use crate::settings::TargetFacts;
use crate::tree::{Id, Tree, fields, kinds};

/// One side, as far as it can be read.
#[derive(Default)]
pub(super) struct Side {
    pub(super) micro_batch: Option<Figure>,
    pub(super) precision: Precision,
    pub(super) accumulation: Option<Figure>,
    pub(super) replicas: Option<Figure>,
    pub(super) device_iterations: Option<Figure>,
    pub(super) drops_last: bool,
    /// A call of the scheduler's `step`.
    scheduler: Option<SchedulerStep>,
    /// `mean`, `sum` or `none`, and where it is chosen.
    criterion: Option<Figure>,
    /// What becomes of accumulated gradients, when the program says so itself.
    accumulated: Option<&'static str>,
    /// A batch of the loader is taken apart.
    pub(super) cuts: bool,
    /// The device accumulates and averages by itself.
    compiled: bool,
    /// A training step can be read in it, or a framework's that makes one.
    pub(super) trains: bool,
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
    pub(super) fn scheduler_steps(&self) -> Option<Figure> {
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
    pub(super) fn accumulated(&self) -> Option<&'static str> {
        self.accumulation.as_ref().filter(|figure| figure.text != "1")?;
        Some(self.accumulated.unwrap_or(if self.compiled { "mean" } else { "sum" }))
    }

    /// The number of batches that the device adds up by itself, when it is told one.
    pub(super) fn accumulated_by_options(&self) -> Option<&str> {
        self.accumulation
            .as_ref()
            .filter(|figure| self.compiled && figure.text != "1")
            .map(|figure| figure.text.as_str())
    }

    /// How losses and gradients become one.
    pub(super) fn reduction(&self) -> Option<Figure> {
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
pub(super) fn side<'f>(files: impl Iterator<Item = (&'f str, &'f str)>) -> Side {
    let mut side = Side::default();
    for (path, text) in files.filter(|(path, _)| crate::port::is_python(path)) {
        let tree = Tree::parse(text);
        if tree.has_error() {
            continue;
        }
        let view = FileView::read(path, &tree);
        read_loader(&view, &mut side);
        side.precision.read(&view);
        let argument = |name: &str| {
            let call = view.calls(name).first()?;
            let value = view.index.parts(view.index.field(*call, fields().arguments)?).next()?;
            Some(figure(&view, value))
        };
        side.trains |= TRAINING.iter().any(|word| view.has_word(word));
        side.compiled |= view.names.imports("poptorch");
        side.device_iterations = side.device_iterations.or_else(|| argument("deviceIterations"));
        side.criterion = side.criterion.or_else(|| criterion(&view));
        if let Some(Figure { text, .. }) = argument("accumulationAndReplicationReductionType") {
            let how = text.rsplit('.').next().unwrap_or_default();
            side.accumulated = ["Sum", "Mean"].iter().position(|name| *name == how).map(|at| ["sum", "mean"][at]);
        }
        side.accumulation = side.accumulation.or_else(|| argument("gradientAccumulation"));
        if !view.calls("step").is_empty() {
            let project = ProjectFacts::collect(std::iter::once(&view), &TargetFacts::default());
            read_steps(&view, &project, &mut side);
        }
        if view.names.imports("popdist") {
            side.replicas.get_or_insert_with(|| Figure::plain("replicas of poprun"));
        }
        side.replicas = side.replicas.or_else(|| argument("replicationFactor")).or_else(|| {
            let wraps = |call: &&Id| {
                let function = view.index.field(**call, fields().function);
                let name = function.and_then(|f| view.names.qualify(&view.index, f));
                name.is_some_and(|name| name.rsplit('.').next() == Some("DistributedDataParallel"))
            };
            let wrap = view.index.of_kind(kinds().call).iter().find(wraps)?;
            Some(figure_as(&view, *wrap, "processes"))
        });
    }
    side
}

/// The loader that shuffles, or has a sampler, trains; without one the first.
fn read_loader(view: &FileView<'_>, side: &mut Side) {
    if side.micro_batch.is_some() {
        return;
    }
    let loaders: Vec<Id> = view
        .calls("DataLoader")
        .iter()
        .copied()
        .filter(|call| {
            let name = view.index.field(*call, fields().function).and_then(|f| view.names.qualify(&view.index, f));
            name.is_some_and(|n| n.starts_with("torch.utils.data") || n.starts_with("poptorch"))
        })
        .collect();
    let trains = |call: &&Id| {
        ["shuffle", "sampler"].iter().any(|name| {
            keyword(view, **call, name).is_some_and(|value| !matches!(view.index.text_of(value), "False" | "None"))
        })
    };
    let Some(loader) = loaders.iter().find(trains).or(loaders.first()).copied() else { return };
    let takes_options = view
        .index
        .field(loader, fields().function)
        .and_then(|f| view.names.qualify(&view.index, f))
        .is_some_and(|name| name.starts_with("poptorch"));
    let positional = view.index.field(loader, fields().arguments).and_then(|arguments| {
        let mut parts = view.index.parts(arguments).filter(|part| view.index.kind(*part) != kinds().keyword_argument);
        parts.nth(if takes_options { 2 } else { 1 }).filter(|part| !view.index.text_of(*part).starts_with('*'))
    });
    let batch = keyword(view, loader, "batch_size").or(positional).map(|value| figure(view, value));
    side.micro_batch = Some(batch.or_else(|| unpacked(view, loader, "batch_size")).unwrap_or_else(Figure::one));
    let drop_last = keyword(view, loader, "drop_last").map(|value| figure(view, value));
    let drop_last = drop_last.or_else(|| unpacked(view, loader, "drop_last"));
    side.drops_last = drop_last.is_some_and(|figure| figure.text == "True");
}

/// What a call is given under a name by `**table`: the value in the table where the file writes it down, else the place to
/// look it up; none where the file writes the table down without it.
fn unpacked(view: &FileView<'_>, call: Id, name: &str) -> Option<Figure> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let arguments = index.field(call, f.arguments)?;
    let splat = index.parts(arguments).find(|part| index.text_of(*part).starts_with("**"))?;
    let table = index.text_of(splat).trim_start_matches('*').trim();
    if let Some(value) = table_values(view, call, table, name).first() {
        return Some(figure(view, *value));
    }
    let is_written = index.of_kind(k.assignment).iter().any(|assignment| {
        let right = index.field(*assignment, f.right);
        index.field(*assignment, f.left).is_some_and(|left| index.text_of(left) == table)
            && right.is_some_and(|r| index.kind(r) == k.dictionary || called_name(index, r) == Some("dict"))
    });
    (!is_written).then(|| figure_as(view, splat, &format!("{table}[\"{name}\"]")))
}

/// What the training loader of a file is given as its batch.
pub(crate) fn micro_batch(view: &FileView<'_>) -> Option<Figure> {
    let mut side = Side::default();
    read_loader(view, &mut side);
    side.micro_batch
}

/// Accumulation by hand, and where the scheduler steps.
fn read_steps(view: &FileView<'_>, project: &ProjectFacts, side: &mut Side) {
    let index = &view.index;
    let steps = |role: &'static [Role]| {
        view.calls("step").iter().copied().filter(move |call| {
            let object = index.field(*call, fields().function).and_then(|f| index.field(f, fields().object));
            object.and_then(|object| project.role(view, object)).is_some_and(|found| role.contains(&found))
        })
    };
    if side.accumulation.is_none() {
        let of_optimizer = || steps(&[Role::Optimizer, Role::Scaler]);
        let counted = of_optimizer().find_map(|call| Some(figure_as(view, call, &counted_by(view, call)?)));
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
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let around = loop_of(view, call);
    let test = |at: Id| (index.kind(at) == k.if_statement).then(|| index.field(at, f.condition)).flatten();
    let goes_back = |at: Id| view.calls("backward").iter().any(|b| index.is_within(*b, at));
    let inside = index.ancestors(call).take_while(|a| Some(*a) != around).filter(|a| !goes_back(*a));
    let skips = around.into_iter().flat_map(|l| index.of_kind_in(k.if_statement, l)).copied().filter(|at| {
        let body = index.field(*at, f.consequence);
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
        let range = index.field(inner, fields().right).filter(|_| behind)?;
        let counts = index.kind(range) == kinds().call && called_name(index, range) == Some("range");
        let mut turns = index.parts(index.field(range, fields().arguments).filter(|_| counts)?);
        let first = turns.next().filter(|_| turns.next().is_none())?;
        Some(figure(view, first))
    })
}

/// Whether a call is made once for a batch: in the loop that takes them from a loader, or beside the backward pass.
fn takes_batches(view: &FileView<'_>, project: &ProjectFacts, call: Id) -> bool {
    let index = &view.index;
    let around = loop_of(view, call);
    let mut source = around.and_then(|around| index.field(around, fields().right));
    // `enumerate(tqdm(loader))`
    while let Some(wrapped) =
        source.filter(|s| index.kind(*s) == kinds().call && called_name(index, *s) != Some("range"))
    {
        source = index.field(wrapped, fields().arguments).and_then(|arguments| index.parts(arguments).next());
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
        let object = index.field(*call, fields().function).and_then(|f| index.field(f, fields().object));
        let Some(mut object) = object else { return false };
        // `scaler.scale(loss).backward()`
        if index.kind(object) == kinds().call
            && called_name(index, object) == Some("scale")
            && let Some(scaled) = index.field(object, fields().arguments).and_then(|a| index.parts(a).next())
        {
            object = scaled;
        }
        let name = index.text_of(object);
        let assigned = index.of_kind(kinds().assignment).iter().chain(index.of_kind(kinds().augmented_assignment));
        let of_loss =
            |a: &&Id| **a < *call && index.field(**a, fields().left).is_some_and(|l| index.text_of(l) == name);
        name.contains('/') || assigned.filter(of_loss).any(|a| index.text_of(*a).contains('/'))
    })
}

/// How the first loss of `torch.nn` makes one number of a batch.
fn criterion(view: &FileView<'_>) -> Option<Figure> {
    let index = &view.index;
    index.of_kind(kinds().call).iter().find_map(|call| {
        let name = view.names.qualify(index, index.field(*call, fields().function)?)?;
        let last = name.rsplit('.').next().unwrap_or_default();
        let is_loss =
            last.ends_with("Loss") || last.ends_with("_loss") || last.contains("cross_entropy") || last == "kl_div";
        (is_loss && name.starts_with("torch.nn.")).then(|| {
            let chosen = keyword(view, *call, "reduction").map(|value| index.text_of(value).trim_matches(['"', '\'']));
            figure_as(view, *call, chosen.unwrap_or("mean"))
        })
    })
}

/// The value of a keyword argument.
pub(crate) fn keyword(view: &FileView<'_>, call: Id, name: &str) -> Option<Id> {
    let index = &view.index;
    let arguments = index.field(call, fields().arguments)?;
    index
        .parts(arguments)
        .filter(|part| index.kind(*part) == kinds().keyword_argument)
        .find(|part| index.field(*part, fields().name).is_some_and(|n| index.text_of(n) == name))
        .and_then(|part| index.field(part, fields().value))
}

fn figure(view: &FileView<'_>, id: Id) -> Figure {
    figure_as(view, id, view.index.text_of(id))
}

/// A figure in these words that stands where a node does.
pub(super) fn figure_as(view: &FileView<'_>, id: Id, text: &str) -> Figure {
    let start = view.index.item(id).start;
    let line = 1 + view.index.text[..start].matches('\n').count();
    Figure { text: text.to_owned(), place: Some((view.path.to_owned(), line)) }
}
