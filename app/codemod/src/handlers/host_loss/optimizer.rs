//! The optimizer of a script: how it is made, and what it becomes in SambaFlow.

use super::Refusal;
use super::plan::{arguments, object, refuse};
use crate::facts::FileView;
use crate::names::{called_name, dotted};
use crate::order::sort_by_key;
use crate::tree::{Id, fields, kinds};

/// The statement that makes the optimizer.
pub(super) struct Optimizer<'t> {
    pub(super) statement: Id,
    pub(super) call: Id,
    pub(super) name: &'t str,
    pub(super) model: &'t str,
    pub(super) kind: Kind,
    /// Arguments that are given by their place, with their names.
    unnamed: Vec<(Id, &'static str)>,
    /// Arguments that are off.
    off: Vec<Id>,
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

/// The calls that make an optimizer of PyTorch, with the name of its class.
pub(super) fn made<'v>(view: &'v FileView<'_>) -> impl Iterator<Item = (Id, String)> + 'v {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    index.of_kind(k.call).iter().copied().filter_map(move |call| {
        let qualified = view.names.qualify(index, index.field(call, f.function)?)?;
        let class = qualified.strip_prefix("torch.optim.")?;
        class.starts_with(|c: char| c.is_ascii_uppercase()).then(|| (call, class.to_owned()))
    })
}

/// The one optimizer of the file, with the model that it updates.
pub(super) fn only_optimizer<'t>(view: &FileView<'t>, step: Id) -> Result<Optimizer<'t>, Refusal> {
    let k = kinds();
    let index = &view.index;
    let mut made = made(view);
    let Some((call, class)) = made.next() else {
        return refuse(step, "the optimizer is not made in this file. Make it beside the model, from `torch.optim`");
    };
    if let Some((second, _)) = made.next() {
        return refuse(second, "several optimizers are made here; one is compiled. Keep the one that is used");
    }
    if view.function_of(call) == Some(step)
        && index.ancestors(call).any(|a| index.kind(a) == k.for_statement && a > step)
    {
        return refuse(
            call,
            "the optimizer is made in a loop, and the program is compiled once. Make it in front of the loop, then port again",
        );
    }
    let found = read(view, call, &class)?;
    let otherwise = index.of_kind(k.assignment).iter().find(|a| {
        let named = index.field(**a, fields().left).is_some_and(|l| index.text_of(l) == found.name);
        named && index.field(**a, fields().right).is_some_and(|r| r != call && index.kind(r) == k.call)
    });
    match otherwise {
        Some(other) => refuse(
            *other,
            "the optimizer is made in another way here, and one of `torch.optim` is compiled. Keep that one alone, then port again",
        ),
        None => Ok(found),
    }
}

/// An optimizer that SambaFlow has too.
pub(super) fn read<'t>(view: &FileView<'t>, call: Id, class: &str) -> Result<Optimizer<'t>, Refusal> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let statement =
        view.statement_of(call).filter(|_| index.parent(call).is_some_and(|p| index.kind(p) == k.assignment));
    let left = index.parent(call).and_then(|a| index.field(a, f.left)).filter(|l| dotted(index, *l).is_some());
    let (Some(statement), Some(left)) = (statement, left) else {
        return refuse(call, "the optimizer is not assigned to a name. Give it one, then port again");
    };
    let given = arguments(view, call);
    let parameters = given.first().copied().filter(|a| {
        index.kind(*a) == k.call && called_name(index, *a) == Some("parameters") && arguments(view, *a).is_empty()
    });
    let model = parameters.and_then(|p| object(view, p)).filter(|m| dotted(index, *m).is_some());
    let Some(model) = model else {
        return refuse(
            call,
            "the optimizer is not given `model.parameters()` as a whole; groups of parameters can't be compiled. Hand it all of them, then port again",
        );
    };
    // In the order in which PyTorch takes them by place.
    let allowed: &[&'static str] = match class {
        "SGD" => &["lr", "momentum"],
        "AdamW" | "Adam" => &["lr", "betas", "eps", "weight_decay"],
        _ => return refuse(call, "samba.optim has no such optimizer. Take SGD or AdamW, then port again"),
    };
    let mut decays = false;
    let (mut unnamed, mut off) = (Vec::new(), Vec::new());
    for (place, argument) in given.iter().skip(1).enumerate() {
        let named = index.kind(*argument) == k.keyword_argument;
        let name = if named {
            index.field(*argument, f.name).map_or("", |n| index.text_of(n))
        } else {
            allowed.get(place).copied().unwrap_or("")
        };
        let value = if named { index.field(*argument, f.value) } else { Some(*argument) };
        let value = value.map_or("", |v| index.text_of(v));
        let known = allowed.contains(&name) || class == "SGD" && name == "weight_decay";
        let splat = index.text_of(*argument).starts_with('*');
        if splat || !known {
            // A setting that is off asks for nothing.
            if !splat && named && matches!(value, "False" | "None") {
                off.push(*argument);
                continue;
            }
            return refuse(
                *argument,
                "samba.optim does not take this argument; name the arguments, and leave this one out",
            );
        }
        if !named {
            unnamed.extend(allowed.get(place).map(|name| (*argument, *name)));
        }
        decays |= name == "weight_decay" && !is_zero(value);
    }
    let kind = match class {
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
    let rate = unnamed.iter().any(|(_, n)| *n == "lr") || given.iter().any(|a| index.text_of(*a).starts_with("lr"));
    if kind == Kind::Sgd && !rate {
        return refuse(call, "the learning rate is not named: write `lr=…`");
    }
    Ok(Optimizer { statement, call, name: index.text_of(left), model: index.text_of(model), kind, unnamed, off })
}

impl Optimizer<'_> {
    /// The call as SambaFlow takes it: every argument named, nothing that is off, the weight decay spelled out. Adam
    /// without decay is AdamW without decay; AdamW's own decay is PyTorch's.
    pub(super) fn text(&self, view: &FileView<'_>) -> String {
        let f = fields();
        let index = &view.index;
        let start = index.item(self.call).start;
        let mut edits: Vec<(std::ops::Range<usize>, String)> = Vec::new();
        if let Some(function) = index.field(self.call, f.function) {
            let class = if self.kind == Kind::Sgd { "SGD" } else { "AdamW" };
            edits.push((index.range(function), format!("samba.optim.{class}")));
        }
        for (argument, name) in &self.unnamed {
            let at = index.item(*argument).start;
            edits.push((at..at, format!("{name}=")));
        }
        let given = arguments(view, self.call);
        for pair in given.windows(2).filter(|pair| self.off.contains(&pair[1])) {
            edits.push((index.item(pair[0]).end..index.item(pair[1]).end, String::new()));
        }
        let decay = match self.kind {
            Kind::Sgd => None,
            Kind::AdamW => Some("0.01"),
            Kind::Adam => Some("0.0"),
        };
        let spelled = given.iter().any(|a| index.text_of(*a).starts_with("weight_decay"))
            || self.unnamed.iter().any(|(_, name)| *name == "weight_decay");
        if let (Some(decay), Some(last), false) = (decay, given.last(), spelled) {
            let end = index.item(*last).end;
            edits.push((end..end, format!(", weight_decay={decay}")));
        }
        sort_by_key(&mut edits, |(range, _)| (range.start, range.end));
        let mut text = String::new();
        let mut at = start;
        for (range, new) in edits {
            text.push_str(&index.text[at..range.start]);
            text.push_str(&new);
            at = range.end;
        }
        text.push_str(&index.text[at..index.item(self.call).end]);
        text
    }
}

/// Whether a literal is nought, in any of its spellings: `0`, `0.`, `.0`, `0e0`.
fn is_zero(literal: &str) -> bool {
    let digits = literal.split(['e', 'E']).next().unwrap_or_default();
    digits.contains('0') && digits.chars().all(|c| matches!(c, '0' | '.' | '_'))
}
