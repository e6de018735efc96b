//! `keras-pipeline-stages`: the layers of a model in contiguous stages of about as many layers each, where the program
//! writes them one after another.

use super::{Input, Wish};
use crate::change::Change;
use crate::facts::FileView;
use crate::names::canonical;
use crate::tree::{Id, fields, kinds};

const STAGE: &str = "tensorflow.keras.ipu.PipelineStage";

pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let Some(view) = input.view else { return Vec::new() };
    let stages = input.settings.values.get("stages").and_then(|s| s.parse::<usize>().ok()).unwrap_or(2);
    let staged = ["PipelineStage", "set_pipeline_stage_assignment"].iter().any(|name| !view.calls(name).is_empty());
    if staged || stages < 2 {
        return Vec::new();
    }
    let mut wishes = functional(view, stages);
    wishes.extend(sequential(view, stages));
    wishes
}

/// `x = Dense(10)(x)`, one below the other, in as many blocks as there are stages.
fn functional(view: &FileView<'_>, stages: usize) -> Vec<Wish> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let mut wishes = Vec::new();
    let blocks = index.of_kind(k.block).iter().copied().chain(std::iter::once(crate::tree::ROOT));
    for block in blocks {
        let statements: Vec<Id> = index.parts(block).collect();
        let calls_layer = |s: &Id| {
            index.kind(*s) == k.expression_statement
                && index.parts(*s).next().is_some_and(|a| {
                    index.kind(a) == k.assignment && index.field(a, f.right).is_some_and(|r| is_layer_call(view, r))
                })
        };
        let (Some(from), Some(to)) =
            (statements.iter().position(calls_layer), statements.iter().rposition(calls_layer))
        else {
            continue;
        };
        let layers = &statements[from..=to];
        // Anything in between may belong to either stage.
        if layers.len() < stages || !layers.iter().all(calls_layer) {
            continue;
        }
        let (name, imports) = match view.names.spelling(index, layers[0], STAGE) {
            Some(name) => (name, Vec::new()),
            None => ("keras.ipu.PipelineStage".to_owned(), vec!["from tensorflow import keras".to_owned()]),
        };
        let changes = (0..stages)
            .map(|n| {
                let group = &layers[layers.len() * n / stages..layers.len() * (n + 1) / stages];
                Change::Wrap { first: group[0], last: group[group.len() - 1], header: format!("with {name}({n}):") }
            })
            .collect();
        wishes.push(Wish { at: index.item(layers[0]).start, changes, imports });
    }
    wishes
}

/// `model = Sequential([…])`: a stage for each layer of the list.
fn sequential(view: &FileView<'_>, stages: usize) -> Vec<Wish> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let mut wishes = Vec::new();
    for &call in view.calls("Sequential") {
        let Some(assignment) = index.parent(call).filter(|p| index.kind(*p) == k.assignment) else { continue };
        let Some(list) = index.field(call, f.arguments).and_then(|a| index.parts(a).next()) else { continue };
        let entries: Vec<Id> = index.parts(list).collect();
        if index.kind(list) != k.list || !entries.iter().all(|e| index.kind(*e) == k.call) {
            continue;
        }
        let layers = entries
            .iter()
            .filter(|e| !matches!(crate::names::called_name(index, **e), Some("Input" | "InputLayer")))
            .count();
        let added = view.calls("add").iter().any(|a| {
            let object = index.field(*a, f.function).and_then(|g| index.field(g, f.object));
            object.map(|o| index.text_of(o)) == index.field(assignment, f.left).map(|l| index.text_of(l))
        });
        let (Some(model), Some(at)) = (index.field(assignment, f.left), view.statement_of(call)) else { continue };
        if layers < stages || added {
            continue;
        }
        let numbers: Vec<String> = (0..layers).map(|n| (n * stages / layers).to_string()).collect();
        let text = format!("{}.set_pipeline_stage_assignment([{}])", index.text_of(model), numbers.join(", "));
        wishes.push(Wish {
            at: index.item(at).start,
            changes: vec![Change::Insert { at, after: true, text }],
            imports: Vec::new(),
        });
    }
    wishes
}

/// `Dense(10)(x)`, a layer that is made and called at once.
fn is_layer_call(view: &FileView<'_>, id: Id) -> bool {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let made = (index.kind(id) == k.call).then(|| index.field(id, f.function)).flatten();
    made.filter(|m| index.kind(*m) == k.call)
        .and_then(|m| index.field(m, f.function))
        .and_then(|g| view.names.qualify(index, g))
        .is_some_and(|q| canonical(&q).starts_with("tensorflow.keras.layers."))
}
