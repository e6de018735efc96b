//! The loss that a program logs, if its gradients are accumulated over several batches.

use super::TrainingStep;
use super::accumulation::{Accumulation, Counter};
use super::module::Module;
use python::tree::{Id, kinds};

/// Whether the loss that the program logs was divided by the number of batches, so that the mean of a step has to be,
/// too.
///
/// If the losses of a step's batches are summed, the sum is already that mean, unless the total is finally divided by
/// the number of batches: the loader then has fewer.
pub fn logs_a_share(step: &TrainingStep<'_, '_>, module: &Module, accumulation: &Accumulation) -> bool {
    if !module.divided {
        return false;
    }
    let (k, file) = (kinds(), step.file);
    let index = &file.view.index;
    let (spaced, close) = (format!("* {}", accumulation.count), format!("*{}", accumulation.count));
    // `loss /= n`: above it, the loss is not divided yet.
    let divides = |id: &&Id| {
        let is_of_loss = index.target(**id).is_some_and(|target| index.is_text(target, &module.loss));
        is_of_loss && accumulation.undivided(index.text_of(**id), &[]) == (None, true)
    };
    let changes = [k.assignment, k.augmented_assignment].into_iter();
    let divided = changes.flat_map(|kind| index.of_kind_in(kind, step.whole)).filter(divides).min().copied();
    let (mut is_logged, mut sums) = (false, Vec::new());
    for &statement in module.stays.iter().filter(|id| divided.is_none_or(|at| **id > at)) {
        let reads = |id: &Id| index.is_text(*id, &module.loss) && !index.is_label(*id);
        if !index.of_kind_in(k.identifier, statement).iter().any(reads) {
            continue;
        }
        let text = index.text_of(statement);
        if text.contains(&spaced) || text.contains(&close) {
            return true;
        }
        let sum = index.of_kind_in(k.augmented_assignment, statement).iter().find_map(|a| index.target(*a));
        match sum {
            Some(target) => sums.push(index.text_of(target)),
            None => is_logged = true,
        }
    }
    let over_batches = matches!(accumulation.by, Counter::Around | Counter::Skip(_));
    let is_mean = |sum: &&str| {
        index.of_kind(k.binary_operator).iter().any(|quotient| {
            let mut sides = index.parts(*quotient);
            let sides = sides.next().zip(sides.next());
            sides.is_some_and(|(total, number)| {
                let divides = index.between(total, number) == "/";
                divides && index.text_of(total) == *sum && index.text_of(number).starts_with("len(")
            })
        })
    };
    sums.is_empty() && is_logged || over_batches && sums.iter().any(is_mean)
}

#[cfg(test)]
mod tests {
    use super::logs_a_share;
    use crate::marked::{self, with_setup};
    use crate::step::Module;

    #[test]
    fn whether_the_loss_that_is_logged_was_divided() {
        let check = |loss: &str, logs: &str, expected: bool| {
            let start = "for i, (x, y) in enumerate(loader):\n    loss = F.mse_loss(net(x), y)";
            let update = "    if (i + 1) % 4 == 0:\n        optimizer.step()";
            let program = format!("{start}{loss}\n    loss.backward()\n    {logs}\n{update}\n");
            marked::check(&with_setup(&program), expected, |at| {
                let step = at.step().expect("a step");
                let slice = step.slice().expect("a slice");
                let module = Module::of(&step, &slice).expect("a module");
                logs_a_share(&step, &module, step.accumulation().expect("an accumulation"))
            });
        };
        check(" / 4", "print(loss.item())", true);
        check(" / 4", "print(loss.item() * 4)", true);
        check(" / 4", "total += loss.item()", false);
        check(" / 4", "print(x)", false);
        check("", "print(loss.item())", false);
        check("\n    print(loss.item())\n    loss /= 4", "print(x)", false);
        check("\n    print(loss.item())\n    loss = loss / 4", "print(x)", false);
        check("\n    value = loss.item()\n    loss /= 4", "update(loss=value)", false);
        check("\n    loss /= 4", "print(loss.item())", true);
    }
}
