//! The loader that a program trains with, and its arguments.

use crate::figure::Figure;
use crate::view::FileView;
use guide::LedgerTerms;
use python::names::called_name;
use python::syntax::Argument;
use python::tables::table_values;
use python::tree::{Id, kinds};

/// The loader that a program trains with.
pub(crate) struct Loader {
    /// Its batch size as passed to it or to its batch sampler; 1 by default.
    pub(crate) batch: Figure,
    /// [`Loader::batch`] is the batch sampler itself, whose batches have a size that is not known.
    pub(crate) is_sampled: bool,
    /// An incomplete last batch is dropped.
    pub(crate) drops_last: bool,
    /// It is of the target's own class.
    pub(crate) is_own: bool,
}

/// The training loader is the one that shuffles, or has a sampler; if there is none, the first.
pub(crate) fn loader(views: &[&FileView<'_>], terms: &LedgerTerms) -> Option<Loader> {
    let own = terms.loader.as_ref();
    let is_loader = |view: &FileView<'_>, call: Id| {
        let name = view.qualified(call);
        name.is_some_and(|n| n.starts_with("torch.utils.data") || own.is_some_and(|own| own.class == n))
    };
    let calls = views.iter().flat_map(|view| view.calls("DataLoader").iter().map(move |call| (*view, *call)));
    let loaders: Vec<(&FileView<'_>, Id)> = calls.filter(|(view, call)| is_loader(view, *call)).collect();
    let trains = |(view, call): &&(&FileView<'_>, Id)| {
        ["shuffle", "sampler", "batch_sampler"].iter().any(|name| {
            let value = view.index.arguments(*call).keyword(name);
            value.is_some_and(|value| !matches!(view.index.text_of(value), "False" | "None"))
        })
    };
    let (view, loader) = loaders.iter().find(trains).or(loaders.first()).copied()?;
    let own = own.filter(|own| view.qualified(loader).is_some_and(|name| name == own.class));
    let place = own.map_or(1, |own| own.batch_size);
    let arguments = view.index.arguments(loader);
    let sampler = arguments.get(place + 3, "batch_sampler").filter(|value| view.index.text_of(*value) != "None");
    let made = sampler.and_then(|sampler| maker(view, sampler));
    let batch = match (sampler, made) {
        (None, _) => arguments.get(place, "batch_size").map(|value| Figure::of(view, value)),
        (Some(sampler), None) => Some(Figure::of(view, sampler)),
        (_, Some(made)) => view.index.arguments(made).get(1, "batch_size").map(|value| Figure::of(view, value)),
    };
    let batch = batch.or_else(|| unpacked(view, loader, "batch_size")).unwrap_or_else(Figure::one);
    let arguments = made.map_or(arguments, |made| view.index.arguments(made));
    let drop_last = made.and_then(|_| arguments.get(2, "drop_last")).or_else(|| arguments.keyword("drop_last"));
    let drop_last = drop_last.map(|value| Figure::of(view, value));
    let drop_last = drop_last.or_else(|| unpacked(view, loader, "drop_last"));
    // A function that makes loaders for evaluation too drops the last batch if it shuffles.
    let shuffles = arguments.keyword("shuffle").map(|value| view.index.text_of(value));
    let drops_last = drop_last.is_some_and(|figure| figure.text == "True" || shuffles == Some(figure.text.as_str()));
    Some(Loader { batch, is_sampled: sampler.is_some() && made.is_none(), drops_last, is_own: own.is_some() })
}

/// The call that makes a batch sampler and gives it its size, if the file shows it.
fn maker(view: &FileView<'_>, sampler: Id) -> Option<Id> {
    let index = &view.index;
    let mut assigned = index.assignments().filter(|assignment| assignment.assigns(index.text_of(sampler)));
    let value = match index.kind(sampler) == kinds().call {
        true => sampler,
        false => assigned.next().and_then(|assignment| assignment.value()).filter(|_| assigned.next().is_none())?,
    };
    let is_of_torch = || view.qualified(value).is_some_and(|name| name.starts_with("torch.utils.data"));
    let has_size = index.kind(value) == kinds().call && index.arguments(value).get(1, "batch_size").is_some();
    (has_size && (is_of_torch() || index.arguments(value).keyword("batch_size").is_some())).then_some(value)
}

/// The batch size passed to the training loader of a file.
pub(crate) fn micro_batch(view: &FileView<'_>, terms: &LedgerTerms) -> Option<Figure> {
    loader(&[view], terms).filter(|loader| !loader.is_sampled).map(|loader| loader.batch)
}

/// The argument that a call receives under a name through `**table`: the value in the table if the file defines it
/// literally, otherwise the lookup expression; none if the literal table lacks it.
fn unpacked(view: &FileView<'_>, call: Id, name: &str) -> Option<Figure> {
    let k = kinds();
    let index = &view.index;
    let splat = index.arguments(call).iter().find_map(|argument| match argument {
        Argument::UnpackedTable(id) => Some(id),
        _ => None,
    })?;
    let table = index.text_of(splat).trim_start_matches('*').trim();
    if let Some(value) = table_values(view, call, table, name).first() {
        return Some(Figure::of(view, *value));
    }
    let is_written = index.assignments().filter(|assignment| assignment.assigns(table)).any(|assignment| {
        let is_table = |value: Id| index.kind(value) == k.dictionary || called_name(index, value) == Some("dict");
        assignment.value().is_some_and(is_table)
    });
    (!is_written).then(|| Figure::at(view, splat, &format!("{table}[\"{name}\"]")))
}

#[cfg(test)]
mod tests {
    use super::loader;
    use crate::marked;
    use guide::LedgerTerms;

    /// The batch size of the loader that a program trains with, and whether it drops its last batch.
    #[track_caller]
    fn check(rest: &str, expected: &str) {
        marked::check(&format!("from torch.utils.data import DataLoader\n{rest}\n"), expected, |at| {
            let found = loader(&at.project_views(), &LedgerTerms::default());
            found.map_or("none".to_owned(), |l| {
                let said = [(l.is_sampled, " sampled"), (l.drops_last, " drops")];
                let said = said.into_iter().filter(|(is, _)| *is).map(|(_, word)| word);
                l.batch.text + &said.collect::<String>()
            })
        });
    }

    #[test]
    fn the_batch_size_of_the_training() {
        check("a = DataLoader(d, 8)", "8");
        check("a = DataLoader(d)", "1");
        check("a = DataLoader(d, batch_size=args.batch, drop_last=True)", "args.batch drops");
        check("a = DataLoader(d, 8)\nb = DataLoader(e, 4, shuffle=True)", "4");
        check("a = DataLoader(d, 8)\nb = DataLoader(e, 4, shuffle=False)", "8");
        check("a = other.DataLoader(d, 8)", "none");
    }

    #[test]
    fn a_batch_sampler_has_the_size() {
        let check = |rest: &str, expected: &str| {
            check(&format!("from torch.utils.data import BatchSampler\n{rest}"), expected);
        };
        check("a = DataLoader(d, batch_sampler=BatchSampler(s, 8, True))", "8 drops");
        check("b = BatchSampler(s, batch_size=args.n, drop_last=False)\na = DataLoader(d, batch_sampler=b)", "args.n");
        check("a = DataLoader(d, 1, False, None, BatchSampler(s, 8, False))", "8");
        check("b = Buckets(d, batch_size=16)\na = DataLoader(d, batch_sampler=b)", "16");
        check("b = Buckets(d, 16)\na = DataLoader(d, batch_sampler=b)", "b sampled");
        check("b = Buckets(batch_size=4)\nb = Buckets(batch_size=8)\na = DataLoader(d, batch_sampler=b)", "b sampled");
        check("a = DataLoader(d, batch_sampler=args.batches)", "args.batches sampled");
        check("a = DataLoader(d, 8, batch_sampler=None)", "8");
        check("a = DataLoader(e, 4)\nb = DataLoader(d, batch_sampler=BatchSampler(s, 8, False))", "8");
    }

    #[test]
    fn arguments_from_a_table() {
        check("table = {'batch_size': 16, 'drop_last': True}\na = DataLoader(d, **table)", "16 drops");
        check("a = DataLoader(d, **options)", "options[\"batch_size\"]");
        check("table = dict(shuffle=True)\na = DataLoader(d, **table)", "1");
    }
}
