//! `keras-whole-batches`: arrays are cut to a whole number of batches, because shapes are fixed when a model is compiled.

use super::{Input, Wish};
use crate::change::Change;
use crate::facts::keras_data::{Home, common, group, runs};
use crate::order::Map;
use crate::tree::Id;

pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let Some(view) = input.view else { return Vec::new() };
    let index = &view.index;
    let number = |name: &str| input.settings.values.get(name).and_then(|v| v.parse::<u64>().ok()).unwrap_or(1);
    // A pipeline updates the weights once in so many batches, and an execution ends with an update.
    let accumulation = if input.settings.is("pipeline", "on") { number("accumulation") } else { 1 };
    let together = (number("replicas") * accumulation).to_string();
    let work = input.project.keras.work(view, input.project);
    // By block: names in the order of their use, each with the size that all its batches divide and the calls.
    let mut wanted: Map<(Option<Id>, usize, String), (String, Id)> = Map::new();
    for (order, run) in runs(view, input.project).iter().enumerate() {
        for (name, batch) in run.data.iter().chain(&run.validation) {
            let home = Home::of(view, run.call, name);
            if home.cut(view, name).is_some() {
                continue;
            }
            let known = wanted.keys().find(|(f, _, n)| *f == home.function && n == name).cloned();
            match known.and_then(|known| wanted.get_mut(&known)) {
                Some((size, _)) => *size = common(size, batch),
                None => {
                    let position =
                        order * 4 + run.data.iter().chain(&run.validation).position(|d| d.0 == *name).unwrap_or(0);
                    wanted.insert((home.function, position, (*name).to_owned()), ((*batch).to_owned(), run.call));
                }
            }
        }
    }
    // What goes to one place is one change.
    let mut places: Map<(Id, bool), Vec<String>> = Map::new();
    for ((_, _, name), (size, call)) in wanted {
        let home = Home::of(view, call, &name);
        let sizes: Vec<&str> = size.trim_matches(['(', ')']).split(" * ").collect();
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
        let group = group(&size, &together);
        places.get_or_default(place).push(format!("{name} = {name}[:len({name}) // {group} * {group}]"));
    }
    places
        .into_iter()
        .map(|((at, after), lines)| Wish {
            at: index.item(at).start,
            changes: vec![Change::Insert { at, after, text: lines.join("\n") }],
            imports: Vec::new(),
        })
        .collect()
}
