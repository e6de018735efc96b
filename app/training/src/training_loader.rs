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
    /// Its batch size as passed; 1 by default.
    pub(crate) batch: Figure,
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
        ["shuffle", "sampler"].iter().any(|name| {
            let value = view.index.arguments(*call).keyword(name);
            value.is_some_and(|value| !matches!(view.index.text_of(value), "False" | "None"))
        })
    };
    let (view, loader) = loaders.iter().find(trains).or(loaders.first()).copied()?;
    let own = own.filter(|own| view.qualified(loader).is_some_and(|name| name == own.class));
    let place = own.map_or(1, |own| own.batch_size);
    let arguments = view.index.arguments(loader);
    let batch = arguments.get(place, "batch_size").map(|value| Figure::of(view, value));
    let batch = batch.or_else(|| unpacked(view, loader, "batch_size")).unwrap_or_else(Figure::one);
    let drop_last = arguments.keyword("drop_last").map(|value| Figure::of(view, value));
    let drop_last = drop_last.or_else(|| unpacked(view, loader, "drop_last"));
    // A function that makes loaders for evaluation too drops the last batch if it shuffles.
    let shuffles = arguments.keyword("shuffle").map(|value| view.index.text_of(value));
    let drops_last = drop_last.is_some_and(|figure| figure.text == "True" || shuffles == Some(figure.text.as_str()));
    Some(Loader { batch, drops_last, is_own: own.is_some() })
}

/// The batch size passed to the training loader of a file.
pub(crate) fn micro_batch(view: &FileView<'_>, terms: &LedgerTerms) -> Option<Figure> {
    loader(&[view], terms).map(|loader| loader.batch)
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
            found.map_or("none".to_owned(), |l| format!("{}{}", l.batch.text, if l.drops_last { " drops" } else { "" }))
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
    fn arguments_from_a_table() {
        check("table = {'batch_size': 16, 'drop_last': True}\na = DataLoader(d, **table)", "16 drops");
        check("a = DataLoader(d, **options)", "options[\"batch_size\"]");
        check("table = dict(shuffle=True)\na = DataLoader(d, **table)", "1");
    }
}
