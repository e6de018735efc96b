//! `shard-own-reader`: readers that are no `DataLoader`. One that draws by a seed gets a seed for each instance; of the
//! others it is said what to write, and where.

use super::{Input, Wish};
use crate::change::{Change, statement_end};
use crate::facts::FileView;
use crate::tree::{Id, ROOT, fields, kinds};

const GENERAL: &str = "PopDist deals out what a `poptorch.DataLoader` reads, and nothing else: every instance sees these batches. \
    Where they are read, keep every n-th file or sample: \
    `files = files[popdist.getInstanceIndex()::popdist.getNumInstances()]`, after one shuffle with the same seed everywhere";
const DRAWN: &str = "every instance draws the same samples here. Give the draw a generator of its own: \
    `generator=torch.Generator().manual_seed(seed + popdist.getInstanceIndex())`, made once";
const ITERABLE: &str = "every instance goes through all of this. In `__iter__`, give out every n-th sample: \
    `itertools.islice(samples, popdist.getInstanceIndex(), None, popdist.getNumInstances())`";
const ORDERED: &str = "every instance reads all of this, in the same order. Run inference with one instance, or let each keep \
    the entries whose number leaves `popdist.getInstanceIndex()` when divided by `popdist.getNumInstances()`";

pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let Some(view) = input.view else { return Vec::new() };
    let index = &view.index;
    for queue in queues(view).into_iter().filter(|q| is_ordered(view, *q)) {
        input.note(view, queue, ORDERED);
    }
    let seeds = seeds(view);
    if !seeds.is_empty() {
        return with_instance_seed(view, &seeds);
    }
    for &class in index.of_kind(kinds().class_definition) {
        let streams = index
            .field(class, fields().superclasses)
            .is_some_and(|s| index.parts(s).any(|b| index.text_of(b).ends_with("IterableDataset")));
        if streams && !index.text_of(class).contains("getInstanceIndex") {
            input.note(view, class, ITERABLE);
        }
    }
    let shared =
        input.files.iter().any(|(_, text)| text.contains("def instance_seed(") || text.contains("getNumInstances()"));
    let [call, ..] = view.calls("ipu_training_step") else { return Vec::new() };
    if shared || view.names.imports("torch.utils.data") || !view.names.imports("popdist") {
        return Vec::new();
    }
    let drawn: Vec<Id> = view.calls("randint").iter().copied().filter(|c| is_drawn(view, *c)).collect();
    match drawn.first() {
        Some(draw) => input.note(view, *draw, DRAWN),
        None => input.note(view, *call, GENERAL),
    }
    Vec::new()
}

/// `torch.randint` without a generator: the beginning of a batch that is drawn from one long array.
fn is_drawn(view: &FileView<'_>, call: Id) -> bool {
    let index = &view.index;
    let torch = index.field(call, fields().function).and_then(|g| view.names.qualify(index, g));
    torch.as_deref() == Some("torch.randint") && !index.text_of(call).contains("generator=")
}

/// Calls that make a queue of larcv.
fn queues(view: &FileView<'_>) -> Vec<Id> {
    let index = &view.index;
    let of_larcv = |call: &Id| {
        index.field(*call, fields().function).is_some_and(|g| {
            ["queueloader", "distributed_queue_interface"]
                .iter()
                .any(|m| view.names.stands_for(index, g, &format!("larcv.{m}.queue_interface")))
        })
    };
    view.calls("queue_interface").iter().copied().filter(of_larcv).collect()
}

/// What a call is given by name.
fn given(view: &FileView<'_>, call: Id, name: &str) -> Option<Id> {
    let f = fields();
    let index = &view.index;
    let named = |a: &Id| index.field(*a, f.name).is_some_and(|n| index.text_of(n) == name);
    index.parts(index.field(call, f.arguments)?).find(named).and_then(|a| index.field(a, f.value))
}

fn is_ordered(view: &FileView<'_>, queue: Id) -> bool {
    given(view, queue, "random_access_mode").is_some_and(|m| view.index.text_of(m).contains("serial"))
}

/// Seeds of queues of larcv that read in random order.
fn seeds(view: &FileView<'_>) -> Vec<Id> {
    let random = queues(view).into_iter().filter(|q| !is_ordered(view, *q));
    let seeds = random.filter_map(|q| given(view, q, "seed"));
    seeds.filter(|s| !view.index.text_of(*s).starts_with("instance_seed(")).collect()
}

fn with_instance_seed(view: &FileView<'_>, seeds: &[Id]) -> Vec<Wish> {
    let k = kinds();
    let index = &view.index;
    let mut changes: Vec<Change> = seeds
        .iter()
        .map(|s| Change::Expression {
            node: *s,
            range: index.range(*s),
            text: format!("instance_seed({})", index.text_of(*s)),
        })
        .collect();
    let header = index
        .parts(ROOT)
        .take_while(|s| ![k.class_definition, k.function_definition, k.decorated_definition].contains(&index.kind(*s)))
        .filter(|s| {
            let kind = index.kind(*s);
            [k.import_statement, k.import_from_statement].contains(&kind)
                || kind == k.try_statement && !index.of_kind_in(k.import_statement, *s).is_empty()
        })
        .last();
    let Some(header) = header else { return Vec::new() };
    if !view.defines("instance_seed") {
        let unit = &view.layout.indent;
        let import = if view.names.imports("popdist") {
            String::new()
        } else {
            format!("\ntry:\n{unit}import popdist\nexcept ImportError:\n{unit}popdist = None\n\n")
        };
        let text = format!(
            "\n{import}\ndef instance_seed(seed):\n{unit}\"\"\"A seed of its own for each instance, so that they read different parts of the \
             data.\"\"\"\n{unit}if seed is not None and popdist is not None and popdist.isPopdistEnvSet():\n{unit}{unit}return seed + \
             popdist.getInstanceIndex()\n{unit}return seed"
        );
        let end = statement_end(view, header);
        changes.push(Change::Raw { range: end..end, text: text.replace('\n', view.layout.newline) });
    }
    vec![Wish { at: index.item(header).start, changes, imports: Vec::new() }]
}
