//! Keras data in batches of one size: what has to be truncated for it, and the resulting number of batches in an epoch.

use crate::keras::Keras;
use crate::keras_data::{Home, Run, argument, common, group, runs};
use crate::view::FileView;
use python::tree::Id;
use sorting::SortedMap;

/// An array that is not known to contain a whole number of batches.
pub struct UncutArray {
    /// Its name.
    pub name: String,
    /// The number of samples that belong together, as an operand: `64`, `(batch * 2)`.
    pub group: String,
}

/// Where arrays can be truncated to whole batches: a statement, whether they are truncated after it, and the arrays.
/// `together` batches are used in one step.
pub fn uncut_arrays(view: &FileView<'_>, keras: &Keras, together: u64) -> Vec<(Id, bool, Vec<UncutArray>)> {
    let together = together.to_string();
    // By block: names in the order of their use, each with a size that all its batches divide, and the calls.
    let mut wanted: SortedMap<(Option<Id>, usize, String), (String, Id)> = SortedMap::new();
    for (order, run) in runs(view, keras).iter().enumerate() {
        for (place, (name, batch)) in run.data.iter().chain(&run.validation).enumerate() {
            let home = Home::of(view, run.call, name);
            if home.cut(view, name).is_some() {
                continue;
            }
            match wanted.iter_mut().find(|((f, _, n), _)| *f == home.function && n == name) {
                Some((_, (size, _))) => *size = common(size, batch),
                None => {
                    let key = (home.function, order * 4 + place, (*name).to_owned());
                    wanted.insert(key, ((*batch).to_owned(), run.call));
                }
            }
        }
    }
    let work = keras.work(view);
    // All changes at one place are one change.
    let mut places: SortedMap<(Id, bool), Vec<UncutArray>> = SortedMap::new();
    for ((_, _, name), (size, call)) in wanted {
        let home = Home::of(view, call, &name);
        let sizes = size.trim_matches(['(', ')']).split(" * ");
        let user = home.holding(view, call);
        let bound: Result<Vec<Option<Id>>, ()> =
            std::iter::once(name.as_str()).chain(sizes).map(|n| home.bound(view, n, user)).collect();
        let Ok(bound) = bound else { continue };
        let last = bound.into_iter().flatten().max();
        let start = work.map(|w| w.first).filter(|s| home.statements.contains(s));
        let place = match (start, last, user) {
            (Some(start), last, Some(user)) if start <= user && last.is_none_or(|l| l < start) => (start, false),
            (_, Some(last), _) => (last, true),
            (_, None, Some(user)) => (user, false),
            _ => continue,
        };
        places.entry(place).or_default().push(UncutArray { name, group: group(&size, &together) });
    }
    places.into_iter().map(|((at, after), arrays)| (at, after, arrays)).collect()
}

/// A model that is compiled once, trained once, and perhaps evaluated: with the numbers of batches as Python code.
pub struct Compiled {
    /// The call of `compile`.
    pub call: Id,
    /// The batches of an epoch; with validation, a number that divides both counts.
    pub steps: String,
    /// Statements that run the model on other data, with the number of batches there.
    pub others: Vec<(Id, String)>,
}

/// The compiled models of a file whose number of batches is known for all their runs.
pub fn compiled_models(view: &FileView<'_>, keras: &Keras, replicas: &str) -> Vec<Compiled> {
    let index = &view.index;
    let all = runs(view, keras);
    let in_loop = |id: Id| index.ancestors(id).any(|a| index.is_loop(a));
    let given = |call: Id, name: &str| argument(view, call, usize::MAX, name).is_some();
    let read = |compile: Id| {
        let model = index.text_of(index.receiver(compile)?);
        let function = view.function_of(compile);
        let behind = |c: Id| c > compile && view.function_of(c) == function;
        let own: Vec<&Run<'_>> = all.iter().filter(|r| r.model == model && behind(r.call)).collect();
        let mut fits = own.iter().filter(|r| r.fits);
        let fit = fits.next().filter(|_| fits.next().is_none())?;
        let once = view.calls("compile").iter().filter(|c| view.function_of(**c) == function).count() == 1;
        // The number of batches has to be known for every use.
        let uses = ["fit", "evaluate", "predict"].iter().flat_map(|m| view.calls(m)).copied();
        let uses = uses.filter(|c| behind(*c) && index.receiver(*c).is_some_and(|o| index.is_text(o, model))).count();
        let plain = once
            && uses == own.len()
            && !own.iter().any(|r| in_loop(r.call) || r.call < fit.call)
            && !in_loop(compile)
            && !given(compile, "steps_per_execution")
            && !given(fit.call, "validation_split");
        let mut steps = batches(view, compile, &fit.data, replicas).filter(|_| plain)?;
        if given(fit.call, "validation_data") {
            steps = format!("math.gcd({steps}, {})", batches(view, compile, &fit.validation, replicas)?);
        }
        let others = own.iter().filter(|r| !r.fits);
        let others = others.map(|r| view.statement_of(r.call).zip(batches(view, r.call, &r.data, replicas)));
        Some(Compiled { call: compile, steps, others: others.collect::<Option<_>>()? })
    };
    view.calls("compile").iter().filter_map(|compile| read(*compile)).collect()
}

/// `len(x) // batch`, where `x` is truncated to whole batches before a node.
fn batches(view: &FileView<'_>, at: Id, data: &[(&str, &str)], replicas: &str) -> Option<String> {
    let (name, batch) = data.first()?;
    let cut = Home::of(view, at, name).cut(view, name)?;
    (cut < at).then(|| format!("len({name}) // {}", group(batch, replicas)))
}

#[cfg(test)]
mod tests {
    use super::{compiled_models, uncut_arrays};
    use crate::marked;

    const MADE: &str = "from tensorflow import keras\na = keras.Sequential([])\na.compile()\n";

    #[test]
    fn arrays_that_may_not_be_whole_batches() {
        let check = |rest: &str, expected: &str| {
            marked::check(&format!("x, y = load()\n{MADE}{rest}\n"), expected, |at| {
                let places = uncut_arrays(at.file().view, &at.project.keras, 2);
                let arrays = places.iter().flat_map(|(_, _, arrays)| arrays);
                arrays.map(|array| format!("{} {}", array.name, array.group)).collect::<Vec<_>>().join("; ")
            });
        };
        check("a.fit(x, y, batch_size=8)", "x (8 * 2); y (8 * 2)");
        check("x = x[:len(x) // 8 * 8]\na.fit(x, y, batch_size=8)", "y (8 * 2)");
        check("a.fit(x, y, batch_size=8)\na.evaluate(x, y, batch_size=12)", "x (24 * 2); y (24 * 2)");
        check("a.fit(x.batch(8))", "");
        check("n = whole(len(x), 16)\nx, y = x[:n], y[:n]\na.fit(x, y, batch_size=8)", "");
        check("x, y = y[:8], x[:8]\na.fit(x, y, batch_size=8)", "x (8 * 2); y (8 * 2)");
    }

    #[test]
    fn the_number_of_batches_of_an_epoch() {
        let check = |rest: &str, expected: &str| {
            let cut = "x = x[:len(x) // 8 * 8]\nz = z[:len(z) // 8 * 8]\n";
            marked::check(&format!("x, y, z = load()\n{cut}{MADE}{rest}\n"), expected, |at| {
                let found = compiled_models(at.file().view, &at.project.keras, "1");
                found.into_iter().map(|model| model.steps).collect::<Vec<_>>().join("; ")
            });
        };
        check("a.fit(x, y, batch_size=8)", "len(x) // 8");
        check("a.fit(x, y, batch_size=8, validation_data=(z, y))", "math.gcd(len(x) // 8, len(z) // 8)");
        check("for e in r:\n    a.fit(x, y, batch_size=8)", "");
        check("a.fit(y, x, batch_size=8)", "");
        check("a.fit(x, y, batch_size=8)\na.predict(x)", "");
    }
}
