//! The optimizer of a script: how it is made, and what it becomes in SambaFlow.

use super::Refusal;
use super::plan::{arguments, object, refuse};
use crate::facts::FileView;
use crate::names::{called_name, dotted};
use crate::tree::{Id, fields, kinds};

/// The statement that makes the optimizer.
pub(super) struct Optimizer<'t> {
    pub(super) statement: Id,
    pub(super) call: Id,
    pub(super) name: &'t str,
    pub(super) model: &'t str,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Sgd,
    AdamW,
    /// Adam without weight decay, which is AdamW with a weight decay of 0.
    Adam,
}

impl Kind {
    /// What the optimizer takes anew with every step (lenet.py passes these three for SGD).
    pub(super) fn hyperparameters(self) -> &'static [&'static str] {
        match self {
            Self::Sgd => &["lr", "momentum", "weight_decay"],
            Self::AdamW | Self::Adam => &["lr"],
        }
    }
}

/// The one optimizer of the file, with the model that it updates.
pub(super) fn only_optimizer<'t>(view: &FileView<'t>, step: Id) -> Result<Optimizer<'t>, Refusal> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let mut made = index.of_kind(k.call).iter().copied().filter_map(|call| {
        let qualified = view.names.qualify(index, index.field(call, f.function)?)?;
        let class = qualified.strip_prefix("torch.optim.")?;
        class.starts_with(|c: char| c.is_ascii_uppercase()).then(|| (call, class.to_owned()))
    });
    let Some((call, class)) = made.next() else {
        return refuse(step, "the optimizer is not made in this file. Make it beside the model, from `torch.optim`");
    };
    if let Some((second, _)) = made.next() {
        return refuse(second, "several optimizers are made here; one is compiled. Keep the one that is used");
    }
    let statement =
        view.statement_of(call).filter(|_| index.parent(call).is_some_and(|p| index.kind(p) == k.assignment));
    let left = index.parent(call).and_then(|a| index.field(a, f.left)).filter(|l| dotted(index, *l).is_some());
    let (Some(statement), Some(left)) = (statement, left) else {
        return refuse(call, "the optimizer is not assigned to a name");
    };
    let given = arguments(view, call);
    let parameters = given.first().copied().filter(|a| {
        index.kind(*a) == k.call && called_name(index, *a) == Some("parameters") && arguments(view, *a).is_empty()
    });
    let model = parameters.and_then(|p| object(view, p)).filter(|m| dotted(index, *m).is_some());
    let Some(model) = model else {
        return refuse(
            call,
            "the optimizer is not given `model.parameters()` as a whole; groups of parameters can't be compiled",
        );
    };
    let allowed: &[&str] = match class.as_str() {
        "SGD" => &["lr", "momentum", "weight_decay"],
        "AdamW" | "Adam" => &["lr", "betas", "eps", "weight_decay"],
        _ => return refuse(call, "samba.optim has no such optimizer; SGD and AdamW are there"),
    };
    let mut decays = false;
    for argument in given.iter().skip(1) {
        let name = index.field(*argument, f.name).map_or("", |n| index.text_of(n));
        let value = index.field(*argument, f.value).map_or("", |v| index.text_of(v));
        if index.kind(*argument) != k.keyword_argument || !allowed.contains(&name) {
            // A setting that is off asks for nothing.
            if !matches!(value, "False" | "None") {
                return refuse(
                    *argument,
                    "samba.optim does not take this argument; name the arguments, and leave this one out",
                );
            }
            return refuse(*argument, "this argument is off and samba.optim does not know it; leave it out");
        }
        decays |= name == "weight_decay" && value.parse::<f64>() != Ok(0.0);
    }
    let kind = match class.as_str() {
        "SGD" => Kind::Sgd,
        "AdamW" => Kind::AdamW,
        _ if decays => {
            return refuse(
                call,
                "samba.optim has AdamW, whose weight decay means another thing than Adam's. Choose AdamW, or no decay",
            );
        }
        _ => Kind::Adam,
    };
    if kind == Kind::Sgd && !given.iter().any(|a| index.text_of(*a).starts_with("lr")) {
        return refuse(call, "the learning rate is not named: write `lr=…`");
    }
    if view.function_of(call) == Some(step)
        && index.ancestors(call).any(|a| index.kind(a) == k.for_statement && a > step)
    {
        return refuse(call, "the optimizer is made in a loop, and the program is compiled once");
    }
    Ok(Optimizer { statement, call, name: index.text_of(left), model: index.text_of(model), kind })
}
