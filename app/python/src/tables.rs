//! Literal dictionaries in a file, and the values of their keys.

use crate::file::PythonFile;
use crate::names::called_name;
use crate::strings::plain_string;
use crate::tree::{Id, fields, kinds};

/// Values under a key of a dictionary as they may be at a node: `table = {"key": …}`, `table = dict(key=…)`,
/// `table["key"] = …`, `table.update(key=…)` above it, in its function or outside all functions.
pub fn table_values(file: &PythonFile<'_>, at: Id, table: &str, key: &str) -> Vec<Id> {
    let (k, f) = (kinds(), fields());
    let index = &file.index;
    let is_key = |id: Id| plain_string(index, id) == Some(key);
    let here = file.function_of(at);
    let counts = |id: Id| {
        let there = file.function_of(id);
        // `self.options` is the same dictionary in every method.
        table.contains('.') || (there == here && id < at) || (there.is_none() && here.is_some())
    };
    let mut values = Vec::new();
    let mut written: Vec<Id> = Vec::new();
    for assignment in index.of_kind(k.assignment).iter().filter(|id| counts(**id)) {
        let (Some(left), Some(right)) = (index.field(*assignment, f.left), index.field(*assignment, f.right)) else {
            continue;
        };
        if index.text_of(left) == table {
            written.push(right);
        } else if index.kind(left) == k.subscript
            && index.field(left, f.value).is_some_and(|v| index.text_of(v) == table)
            && index.field(left, f.subscript).is_some_and(is_key)
        {
            values.push(right);
        }
    }
    let updates = file.calls("update").iter().filter(|call| counts(**call)).filter(|call| {
        let function = index.field(**call, f.function);
        function.and_then(|g| index.field(g, f.object)).is_some_and(|o| index.text_of(o) == table)
    });
    written.extend(updates);
    for source in written {
        let arguments = index
            .field(source, f.arguments)
            .filter(|_| index.kind(source) == k.call && matches!(called_name(index, source), Some("dict" | "update")));
        let arguments: Vec<Id> = arguments.map(|list| index.parts(list).collect()).unwrap_or_default();
        let named = arguments.iter().copied().filter(|a| index.kind(*a) == k.keyword_argument);
        values.extend(
            named
                .filter(|a| index.field(*a, f.name).is_some_and(|n| index.text_of(n) == key))
                .filter_map(|a| index.field(a, f.value)),
        );
        let tables = arguments.iter().copied().chain([source]).filter(|id| index.kind(*id) == k.dictionary);
        let pairs = tables.flat_map(|d| index.parts(d).collect::<Vec<_>>()).filter(|p| index.kind(*p) == k.pair);
        values.extend(
            pairs.filter(|p| index.field(*p, f.key).is_some_and(is_key)).filter_map(|p| index.field(p, f.value)),
        );
    }
    values
}

#[cfg(test)]
mod tests {
    use super::table_values;
    use crate::file::PythonFile;
    use crate::tree::{Tree, kinds};

    /// What `table["key"]` may be at the call of `here`.
    #[track_caller]
    fn check(text: &str, table: &str, expected: &[&str]) {
        let tree = Tree::parse(text);
        let file = PythonFile::read("a.py", &tree);
        let at = *file.calls("here").first().expect("a place");
        let found = table_values(&file, at, table, "key");
        let found: Vec<&str> = found.into_iter().map(|id| file.index.text_of(id)).collect();
        assert_eq!(found, expected, "{text}");
        assert_eq!(file.index.kind(at), kinds().call);
    }

    #[test]
    fn values_under_a_key() {
        check("t = {'key': 1, 'other': 2}\nhere()\n", "t", &["1"]);
        check("t = dict(key=1, other=2)\nhere()\n", "t", &["1"]);
        check("t = {}\nt['key'] = 1\nt.update(key=2)\nt.update({'key': 3})\nhere()\n", "t", &["1", "2", "3"]);
        check("t = make(key=1)\nu = {'key': 2}\nt[key] = 3\nhere()\n", "t", &[]);
    }

    #[test]
    fn tables_of_other_places() {
        check("here()\nt = {'key': 1}\n", "t", &[]);
        check("def f():\n    here()\nt = {'key': 1}\n", "t", &["1"]);
        check("def g():\n    t = {'key': 1}\ndef f():\n    here()\n", "t", &[]);
        check("def g(self):\n    self.t = {'key': 1}\ndef f(self):\n    here()\n", "self.t", &["1"]);
    }
}
