//! The numbers of a port at the end of `portolan port` and `portolan matrix`.

use crate::project::Project;
use codemod::{KindTotal, Places, Ported, PortedFile, RecipeSet, Totals};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The numbers of a port, with those of files that could not be read. Nothing was done in the files `left`, which were not
/// written.
pub(crate) fn totals(project: &Project, ported: &Ported, left: &BTreeSet<usize>, recipes: &RecipeSet) -> Totals {
    let texts = project.inputs.iter().map(|input| input.text.as_deref().unwrap_or_default());
    let unchanged = |file: &PortedFile| PortedFile { changed: false, ..file.clone() };
    let files = ported.files.iter().enumerate();
    let files: Vec<Cow<'_, PortedFile>> = files
        .map(|(n, file)| if left.contains(&n) { Cow::Owned(unchanged(file)) } else { Cow::Borrowed(file) })
        .collect();
    // The configuration is at the end of the files, and is not changed.
    let texts = texts.chain(std::iter::repeat("")).zip(files.iter().map(AsRef::as_ref));
    Totals::of(&ported.target, texts, recipes)
}

/// The columns of a table.
const COLUMNS: [&str; 3] = ["done", "to do", "not possible"];

fn columns(Places { done, to_do, not_possible }: Places) -> [usize; 3] {
    [done, to_do, not_possible]
}

/// A table of the places by kind, with the sum of all; empty if there is nothing to count.
pub(crate) fn table(Totals { target, all, kinds }: &Totals) -> String {
    if kinds.is_empty() {
        return String::new();
    }
    let head = format!("places, {target}");
    let widest = kinds.iter().map(|kind| kind.title.chars().count() + 2).max().unwrap_or(0).max(head.chars().count());
    let mut out = format!("{head:widest$}");
    COLUMNS.iter().for_each(|column| out += &format!("  {column:>5}"));
    out.push('\n');
    let rows = kinds.iter().map(|kind| (format!("  {}", kind.title), kind.places));
    for (title, places) in rows.chain([("all".to_owned(), *all)]) {
        let _ = write!(out, "{title:widest$}");
        for (number, column) in columns(places).iter().zip(COLUMNS) {
            let shown = if *number == 0 { "-".to_owned() } else { number.to_string() };
            let _ = write!(out, "  {shown:>width$}", width = column.len().max(5));
        }
        out.push('\n');
    }
    out
}

/// The numbers as comma-separated values: a row for each target, without a recipe, and one for each kind of it.
pub(crate) fn csv(totals: &[Totals]) -> String {
    let mut out = "target,recipe,title,done,to_do,not_possible\n".to_owned();
    for Totals { target, all, kinds } in totals {
        let of_kind =
            kinds.iter().map(|KindTotal { recipe, title, places }| (recipe.as_str(), title.as_str(), *places));
        for (recipe, title, places) in std::iter::once(("", "all", *all)).chain(of_kind) {
            let [done, to_do, not_possible] = columns(places);
            let _ = writeln!(out, "{target},{recipe},{},{done},{to_do},{not_possible}", field(title));
        }
    }
    out
}

/// A text as a field of such a file.
fn field(text: &str) -> String {
    match text.contains([',', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{csv, table};
    use codemod::{KindTotal, Places, Totals};

    fn totals() -> Totals {
        let kind = |recipe: &str, title: &str, places| KindTotal { recipe: recipe.into(), title: title.into(), places };
        let [to_do, done] = [(0, 1), (12, 0)].map(|(done, to_do)| Places { done, to_do, not_possible: 0 });
        let kinds = vec![kind("hpu#a", "Say \"x\", then y", to_do), kind("hpu#b", "Größe", done)];
        Totals { target: "hpu".into(), all: Places { done: 12, to_do: 1, not_possible: 0 }, kinds }
    }

    #[test]
    fn a_table_has_a_row_a_kind() {
        let expected = "places, hpu         done  to do  not possible\n  Say \"x\", then y      -      1             -\n  \
            Größe               12      -             -\nall                   12      1             -\n";
        assert_eq!(table(&totals()), expected);
        assert_eq!(table(&Totals::default()), "");
    }

    #[test]
    fn titles_are_quoted_where_they_need_it() {
        let expected = "target,recipe,title,done,to_do,not_possible\nhpu,,all,12,1,0\n\
            hpu,hpu#a,\"Say \"\"x\"\", then y\",0,1,0\nhpu,hpu#b,Größe,12,0,0\n";
        assert_eq!(csv(&[totals()]), expected);
    }
}
