//! What a program does with files other than its checkpoints.

use crate::view::FileView;
use python::tree::{Id, kinds};

/// The first call in a statement that writes, renames or removes a file: one of `functions` (dotted names), a method of a path
/// (a name that begins with a dot, `.unlink`), or an `open` for writing.
pub fn file_change(view: &FileView<'_>, statement: Id, functions: &[&str]) -> Option<Id> {
    let k = kinds();
    let index = &view.index;
    index.of_kind_in(k.call, statement).iter().copied().find(|call| {
        let Some(function) = index.callee(*call) else { return false };
        let name = index.text_of(function);
        let last = name.rsplit('.').next().unwrap_or(name);
        let is_listed = match view.names.qualify(index, function) {
            Some(qualified) => functions.contains(&qualified.as_str()),
            None => {
                let method = |listed: &&str| listed.strip_prefix('.') == Some(last);
                index.kind(function) == k.attribute && functions.iter().any(method)
            }
        };
        is_listed || last == "open" && opens_for_writing(view, *call, usize::from(name == "open"))
    })
}

/// Whether one of a call's arguments, from an index on, is a mode for writing.
fn opens_for_writing(view: &FileView<'_>, call: Id, from: usize) -> bool {
    let index = &view.index;
    index.arguments(call).ids().skip(from).any(|argument| {
        let text = index.text_of(argument);
        let mode = text.strip_prefix("mode=").unwrap_or(text).trim_matches(['"', '\'']);
        mode.len() <= 3 && mode.contains(['w', 'a', 'x'])
    })
}

/// Whether a statement can be skipped: it returns nothing, keeps nothing, and calls nothing of this program.
pub fn leaves_nothing(view: &FileView<'_>, statement: Id) -> bool {
    let k = kinds();
    let index = &view.index;
    let gives = index.of_kind_in(k.return_statement, statement).iter().any(|r| index.parts(*r).next().is_some());
    let keeps = index
        .of_kind_in(k.assignment, statement)
        .iter()
        .chain(index.of_kind_in(k.augmented_assignment, statement))
        .any(|a| index.target(*a).is_some_and(|l| index.kind(l) == k.attribute));
    let calls_own = index.of_kind_in(k.call, statement).iter().any(|c| {
        index.callee(*c).is_some_and(|g| {
            let text = index.text_of(g);
            text.starts_with("self.") || view.defines(text)
        })
    });
    !gives && !keeps && !calls_own
}

#[cfg(test)]
mod tests {
    use super::{file_change, leaves_nothing};
    use crate::marked;
    use python::tree::ROOT;

    #[test]
    fn a_call_that_changes_files() {
        let check = |program: &str, expected: &str| {
            let functions = ["os.makedirs", "shutil.rmtree", ".unlink"];
            marked::check(&format!("import os\n{program}\n"), expected, |at| {
                at.lines(file_change(at.file().view, ROOT, &functions))
            });
        };
        check("os.makedirs(p)", "os.makedirs(p)");
        check("os.listdir(p)", "");
        check("path.unlink()", "path.unlink()");
        check("unlink(path)", "");
        check("open(p, 'w')", "open(p, 'w')");
        check("open(p, mode='ab')", "open(p, mode='ab')");
        check("open('w')", "");
        check("path.open('w')", "path.open('w')");
    }

    #[test]
    fn a_statement_that_can_be_skipped() {
        let check = |body: &str, expected: bool| {
            let program = format!("def own():\n    pass\ndef f(self):\n^^^\n    {body}\n");
            marked::check(&program, expected, |at| leaves_nothing(at.file().view, at.node()));
        };
        check("os.makedirs(p)", true);
        check("return 2", false);
        check("return", true);
        check("self.a = 2", false);
        check("a = 2", true);
        check("own()", false);
        check("self.save()", false);
    }
}
