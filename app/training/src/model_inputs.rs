//! How the classes of models use their inputs.

use crate::view::FileView;
use crate::words::SEQUENCE_LAYERS;
use python::tree::{Id, kinds};

/// How a model uses one of its inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InputUse {
    /// As numbers, or in a way that can't be followed.
    #[default]
    Other,
    /// As whole numbers: tokens that are embedded, classes of a loss.
    Integer,
    /// Its first dimension is that of a sequence, not the batch.
    SequenceFirst,
}

/// Whether a file creates dropout layers, or calls dropout itself.
pub fn drops(view: &FileView<'_>) -> bool {
    let transformers = SEQUENCE_LAYERS.iter().filter(|name| name.starts_with("Transformer"));
    let words = ["Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "dropout"];
    let calls = words.iter().chain(transformers).flat_map(|name| view.calls(name));
    calls.into_iter().any(|call| {
        let qualified = view.index.call(*call).and_then(|c| c.qualified(&view.names));
        qualified.is_some_and(|q| q.starts_with("torch.nn."))
    })
}

/// The classes of a file that have a `forward`, with each of its parameters and its use.
pub fn model_inputs(view: &FileView<'_>) -> Vec<(String, Vec<(String, InputUse)>)> {
    let index = &view.index;
    let read = |forward: python::syntax::Function<'_, '_>| {
        let class = view.class_of(forward.id()).filter(|_| forward.name() == "forward")?;
        let used = |name: &str| (name.to_owned(), use_of(view, class, forward.id(), name));
        Some((view.name_of(class).to_owned(), forward.parameters().skip(1).map(|p| used(p.name)).collect()))
    };
    index.functions().filter_map(read).collect()
}

fn use_of(view: &FileView<'_>, class: Id, forward: Id, parameter: &str) -> InputUse {
    let index = &view.index;
    let is_parameter = |id: Id| index.kind(id) == kinds().identifier && index.is_text(id, parameter);
    let mut loops = index.of_kind_in(kinds().for_statement, forward).iter();
    if loops.any(|each| index.source(*each).is_some_and(is_parameter)) {
        return InputUse::SequenceFirst;
    }
    for call in index.of_kind_in(kinds().call, forward).iter().filter_map(|call| index.call(*call)) {
        let Some(layer) = call.callee().map(|g| index.text_of(g)) else { continue };
        let made = layer_made(view, class, layer).or_else(|| call.qualified(&view.names));
        let Some(kind) = made.as_deref().and_then(|m| m.strip_prefix("torch.nn.")) else { continue };
        let arguments: Vec<Id> = call.arguments().ids().collect();
        let first = arguments.first().copied();
        let target = call.argument(1, "target");
        let is_class =
            matches!(kind, "functional.cross_entropy" | "functional.nll_loss" | "CrossEntropyLoss" | "NLLLoss");
        if (is_class && target.is_some_and(is_parameter))
            || (matches!(kind, "Embedding" | "functional.embedding" | "functional.one_hot")
                && first.is_some_and(is_parameter))
        {
            return InputUse::Integer;
        }
        let embedded = |a: Id| {
            index.call(a).is_some_and(|c| {
                c.arguments().ids().any(is_parameter) && c.receiver().is_some_and(|r| index.is_text(r, "self"))
            })
        };
        if SEQUENCE_LAYERS.contains(&kind)
            && !batch_first(view, class, layer)
            && first.is_some_and(|a| is_parameter(a) || embedded(a))
        {
            return InputUse::SequenceFirst;
        }
    }
    InputUse::Other
}

/// The call that creates a layer of a class.
fn made_with<'v>(view: &'v FileView<'_>, class: Id, layer: &str) -> Option<python::syntax::Call<'v, 'v>> {
    let index = &view.index;
    let assignment = index.assignments_to(layer).find(|a| index.is_within(a.id(), class))?;
    index.call(assignment.value()?)
}

/// The class of a layer: `torch.nn.Embedding`.
fn layer_made(view: &FileView<'_>, class: Id, layer: &str) -> Option<String> {
    made_with(view, class, layer)?.qualified(&view.names)
}

fn batch_first(view: &FileView<'_>, class: Id, layer: &str) -> bool {
    let given = made_with(view, class, layer).and_then(|c| c.arguments().keyword("batch_first"));
    given.is_some_and(|v| !view.index.is_text(v, "False"))
}

#[cfg(test)]
mod tests {
    use super::{InputUse, drops};
    use crate::marked;

    #[test]
    fn how_a_model_uses_its_input() {
        let check = |layers: &str, forward: &str, expected: InputUse| {
            let class = format!("class Net(nn.Module):\n    def __init__(self):\n        {layers}\n");
            let program = format!("from torch import nn\n{class}    def forward(self, x):\n        {forward}\n");
            marked::check(&program, expected, |at| at.project.model_inputs["Net"][0].1);
        };
        check("self.a = nn.Embedding(9, 2)", "return self.a(x)", InputUse::Integer);
        check("self.a = nn.Linear(9, 2)", "return self.a(x)", InputUse::Other);
        check("self.a = nn.CrossEntropyLoss()", "return self.a(y, x)", InputUse::Integer);
        check("self.a = nn.CrossEntropyLoss()", "return self.a(x, y)", InputUse::Other);
        check("self.a = nn.LSTM(9, 2)", "return self.a(x)", InputUse::SequenceFirst);
        check("self.a = nn.LSTM(9, 2, batch_first=True)", "return self.a(x)", InputUse::Other);
        check("self.a = 3", "for step in x: f(step)", InputUse::SequenceFirst);
    }

    #[test]
    fn whether_a_file_uses_dropout() {
        let check = |program: &str, expected: bool| {
            marked::check(&format!("from torch import nn\n{program}\n"), expected, |at| drops(at.file().view));
        };
        check("nn.Dropout(0.5)", true);
        check("nn.functional.dropout(x)", true);
        check("nn.TransformerEncoderLayer(2, 2)", true);
        check("Dropout(0.5)", false);
    }
}
