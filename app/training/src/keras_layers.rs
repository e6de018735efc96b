//! Layers of Keras models, if a program writes them in sequence.

use crate::view::FileView;
use python::names::{called_name, canonical};
use python::syntax::Call;
use python::tree::{Id, ROOT, kinds};

/// Runs of consecutive statements `x = Dense(10)(x)`, with nothing else in between.
pub fn layer_runs(view: &FileView<'_>) -> Vec<Vec<Id>> {
    let index = &view.index;
    let calls_layer = |s: &Id| {
        let assignment = index.parts(*s).next().and_then(|a| index.assignment(a));
        index.kind(*s) == kinds().expression_statement
            && assignment.and_then(|a| index.call(a.value()?)).is_some_and(|call| makes_and_calls_layer(view, call))
    };
    let blocks = index.of_kind(kinds().block).iter().copied().chain(std::iter::once(ROOT));
    let runs = blocks.filter_map(|block| {
        let statements: Vec<Id> = index.parts(block).collect();
        let from = statements.iter().position(calls_layer)?;
        let to = statements.iter().rposition(calls_layer)?;
        let run = &statements[from..=to];
        run.iter().all(calls_layer).then(|| run.to_vec())
    });
    runs.collect()
}

/// `Dense(10)(x)`.
fn makes_and_calls_layer(view: &FileView<'_>, call: Call<'_, '_>) -> bool {
    let made = call.callee().and_then(|made| view.index.call(made)?.qualified(&view.names));
    made.is_some_and(|class| canonical(&class).starts_with("tensorflow.keras.layers."))
}

/// `model = Sequential([…])`, to which nothing is added later.
pub struct LayerList<'t> {
    /// The call.
    pub call: Id,
    /// The name it is assigned to.
    pub model: &'t str,
    /// Its number of layers, without inputs.
    pub layers: usize,
}

/// The models of a file whose layers are in a single list.
pub fn layer_lists<'t>(view: &FileView<'t>) -> Vec<LayerList<'t>> {
    let index = &view.index;
    let read = |call: &Id| {
        let model = index.assignment(index.parent(*call)?)?.target()?;
        let list = index.arguments(*call).ids().next().filter(|l| index.kind(*l) == kinds().list)?;
        let entries: Option<Vec<Call<'_, '_>>> = index.parts(list).map(|e| index.call(e)).collect();
        let is_input = |layer: &Call<'_, '_>| matches!(layer.name(), Some("Input" | "InputLayer"));
        let is_added_to = view
            .calls("add")
            .iter()
            .any(|add| index.receiver(*add).is_some_and(|r| index.is_text(r, index.text_of(model))));
        let layers = entries?.iter().filter(|e| !is_input(e)).count();
        (!is_added_to).then(|| LayerList { call: *call, model: index.text_of(model), layers })
    };
    view.calls("Sequential").iter().filter_map(read).collect()
}

/// Whether a layer is applied to the data alone: the call is in a function that a pipeline's `map` runs, or the name of the
/// layer, or of the layers that it is one of, is called only there.
pub fn only_maps_apply(view: &FileView<'_>, layer: Id) -> bool {
    let index = &view.index;
    let maps = view.calls("map");
    let is_mapped = |id: Id| {
        let named = view.function_of(id).map(|function| view.name_of(function));
        maps.iter().any(|map| {
            index.is_within(id, *map) || named.is_some_and(|named| index.mentions(*map, |name| name == named))
        })
    };
    let receives = |a: Id| match index.kind(a) {
        kind if kind == kinds().assignment => index.target(a),
        kind if kind == kinds().call && called_name(index, a) == Some("add") => index.receiver(a),
        _ => None,
    };
    let Some(holder) = index.ancestors(layer).find_map(receives) else { return !maps.is_empty() };
    let name = index.text_of(holder);
    let (names, attributes) = (index.of_kind(kinds().identifier), index.of_kind(kinds().attribute));
    let mentions =
        names.iter().chain(attributes).copied().filter(|id| index.is_text(*id, name) && !index.is_label(*id));
    let uses: Vec<Id> = mentions.filter(|id| !index.is_stored(*id)).collect();
    let is_asked = |id: Id| index.parent(id).is_some_and(|p| index.kind(p) == kinds().attribute);
    is_mapped(layer) || uses.iter().any(|id| is_mapped(*id)) && uses.iter().all(|id| is_mapped(*id) || is_asked(*id))
}

#[cfg(test)]
mod tests {
    use super::{layer_lists, layer_runs, only_maps_apply};
    use crate::marked;

    #[test]
    fn layers_in_sequence() {
        let check = |body: &str, expected: &str| {
            let program = format!("from keras.layers import Dense\nx = f()\n{body}\n");
            marked::check(&program, expected, |at| at.lines(layer_runs(at.file().view).concat()));
        };
        check("x = Dense(2)(x)\ny = Dense(3)(x)", "x = Dense(2)(x)\ny = Dense(3)(x)");
        check("x = Dense(2)(x)\nx = x + 1\nx = Dense(3)(x)", "");
        check("x = Other(2)(x)", "");
    }

    #[test]
    fn models_with_one_list_of_layers() {
        let check = |rest: &str, expected: &[usize]| {
            marked::check(&format!("{rest}\n"), expected, |at| {
                layer_lists(at.file().view).iter().map(|list| list.layers).collect::<Vec<_>>()
            });
        };
        check("a = Sequential([Input(3), Dense(2), Dense(1)])", &[2]);
        check("a = Sequential([Dense(2)])\na.add(Dense(1))", &[]);
        check("a = Sequential([layer])", &[]);
        check("a = Sequential()", &[]);
    }

    #[test]
    fn a_layer_that_only_data_go_through() {
        let check = |program: &str, expected: bool| {
            marked::check(program, expected, |at| only_maps_apply(at.file().view, at.node()));
        };
        let made = "a = Rescaling(2)\n    ^^^^^^^^^^^^\n";
        check(&format!("{made}data = data.map(lambda x: a(x))\n"), true);
        check(&format!("{made}data = data.map(lambda x: a(x))\ny = a(z)\n"), false);
        check(&format!("{made}y = a(z)\n"), false);
    }
}
