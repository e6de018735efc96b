//! Gradients that are added up over several batches by hand, which the compiled step does by itself.

use super::known::{Known, number};
use super::{Input, Refusal, is_reached, refuse};
use crate::change::{Change, dedent, statement_end};
use crate::facts::roles::Role;
use crate::facts::{FileView, line_indent};
use crate::names::called_name;
use crate::tree::{Id, fields, kinds};

/// `if (i + 1) % n == 0:` around the optimizer's step.
pub(super) struct Accumulation {
    /// The test whose body happens at every turn now.
    pub(super) test: Id,
    /// The number of batches, as the step writes it.
    pub(super) count: String,
    /// The same where the options are told.
    value: String,
    pub(super) known: Known,
}

/// How a step accumulates, if it does.
pub(super) fn accumulation(
    input: &Input<'_, '_>,
    view: &FileView<'_>,
    step: Id,
    around: Option<Id>,
    optimizer: &str,
    header: Id,
) -> Result<Option<Accumulation>, Refusal> {
    const ADVICE: &str = "gradients are accumulated by hand in a way that is not followed. Let the IPU do it: \
        `opts.Training.gradientAccumulation(n)` before the loader is made, no `loss / n`, and an optimizer step for \
        every batch of `poptorch.DataLoader`; then port again";
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    for &call in view.calls("step").iter().filter(|c| index.is_within(**c, step) && is_reached(input, view, **c)) {
        let Some(object) = index.field(call, f.function).and_then(|g| index.field(g, f.object)) else { continue };
        if index.text_of(object) != optimizer && input.project.role(view, object) != Some(Role::Scaler) {
            continue;
        }
        // A counted loop over micro-batches gets a check at run time: one turn is no accumulation.
        if around.is_some_and(|l| {
            !index.is_within(call, l)
                && (input.project.modes.is_none() || micro_batches(input, view, step, l, optimizer).is_none())
        }) {
            return refuse(call, ADVICE);
        }
        let counted = index.ancestors(call).take_while(|a| *a != step).find(|a| {
            index.kind(*a) == k.if_statement
                && index.field(*a, f.condition).is_some_and(|c| index.text_of(c).contains('%'))
        });
        let Some(test) = counted else { continue };
        let condition = index.field(test, f.condition).map_or("", |c| index.text_of(c));
        let count = condition.split_once('%').map_or("", |(_, tail)| tail);
        let count = count.split(['=', ')']).next().unwrap_or("").trim();
        let plain = !count.is_empty() && count.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
        let loads = !view.calls("DataLoader").is_empty();
        let otherwise = index.field(test, f.alternative).is_some();
        if !plain || !loads || otherwise {
            return refuse(test, ADVICE);
        }
        let Some((value, known)) = number(view, step, count, header) else { return refuse(test, ADVICE) };
        return Ok(Some(Accumulation { test, count: count.to_owned(), value, known }));
    }
    Ok(None)
}

impl Accumulation {
    /// What is told to the options.
    pub(super) fn lines(&self, opts: &str, divided: bool) -> String {
        let mut out = format!("{opts}.Training.gradientAccumulation({})", self.value);
        if !divided {
            out.push_str(&format!(
                "\n{opts}.Training.accumulationAndReplicationReductionType(poptorch.ReductionType.Sum)"
            ));
        }
        out
    }

    /// A moved statement without the division by the number of batches; none when that was all it did.
    pub(super) fn undivided(&self, text: &str, attributes: &[(String, String)]) -> (Option<String>, bool) {
        let bare = text.trim_end();
        let counts: Vec<String> = std::iter::once(self.count.clone())
            .chain(attributes.iter().filter_map(|(name, given)| self.as_attribute(name, given)))
            .collect();
        let by = |form: &str| {
            counts.iter().find_map(|count| bare.strip_suffix(&format!("{form}{count}"))).map(str::trim_end)
        };
        if by("/= ").or_else(|| by("/=")).is_some() {
            return (None, true);
        }
        let Some(rest) = by("/ ").or_else(|| by("/")) else { return (Some(text.to_owned()), false) };
        match rest.split_once('=') {
            Some((left, right)) if left.trim() == right.trim() => (None, true),
            _ => (Some(rest.to_owned()), true),
        }
    }

    /// How the module calls the number, when this attribute holds it.
    fn as_attribute(&self, name: &str, given: &str) -> Option<String> {
        let rest = self.count.strip_prefix(given)?;
        (rest.is_empty() || rest.starts_with('.')).then(|| format!("self.{name}{rest}"))
    }

    /// Attributes that only the division asked for.
    pub(super) fn forget_number(&self, attributes: &mut Vec<(String, String)>, body: &[String]) {
        attributes.retain(|(name, given)| {
            self.as_attribute(name, given).is_none() || body.iter().any(|l| l.contains(&format!("self.{name}")))
        });
    }

    /// The test's body at every turn, without what `gone` names and with what follows a scheduler.
    pub(super) fn unwrapped(
        &self,
        view: &FileView<'_>,
        gone: &dyn Fn(Id) -> bool,
        after: &dyn Fn(Id) -> Option<String>,
    ) -> Change {
        let index = &view.index;
        let mut out: Vec<String> = Vec::new();
        for statement in index.field(self.test, fields().consequence).into_iter().flat_map(|b| index.children(b)) {
            if gone(statement) {
                continue;
            }
            let start = index.item(statement).start;
            let text = &index.text[start..statement_end(view, statement)];
            out.push(dedent(&text.replace("\r\n", "\n"), line_indent(index.text, start)));
            out.extend(after(statement));
        }
        Change::Replace { first: self.test, last: self.test, text: out.join("\n") }
    }
}

/// The number of turns of a counted loop, when the optimizer's step comes behind it.
pub(super) fn micro_batches<'t>(
    input: &Input<'_, '_>,
    view: &FileView<'t>,
    step: Id,
    around: Id,
    optimizer: &str,
) -> Option<&'t str> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let inside = view.calls("step").iter().any(|c| {
        index.is_within(*c, around)
            && index
                .field(*c, f.function)
                .and_then(|g| index.field(g, f.object))
                .is_some_and(|o| index.text_of(o) == optimizer || input.project.role(view, o) == Some(Role::Scaler))
    });
    let counted = index.field(around, f.right).filter(|r| {
        index.kind(around) == k.for_statement && index.kind(*r) == k.call && called_name(index, *r) == Some("range")
    })?;
    let mut arguments = index.parts(index.field(counted, f.arguments)?);
    let turns = arguments.next().filter(|_| arguments.next().is_none())?;
    (!inside && index.is_within(around, step)).then(|| index.text_of(turns))
}
