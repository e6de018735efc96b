//! `first-instance-files`: what a function writes and removes behind its checkpoint is the first instance's, too.

use super::{Input, Wish};
use crate::change::Change;
use crate::facts::FileView;
use crate::tree::{Id, fields, kinds};

const BY_HAND: &str = "every instance writes or removes this file. Put it behind `if is_first_instance():`";

pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let Some(view) = input.view.filter(|v| v.defines("is_first_instance")) else { return Vec::new() };
    let index = &view.index;
    let mut wishes = Vec::new();
    for &save in view.calls("save_on_first_instance") {
        let Some(function) = view.function_of(save) else { continue };
        let Some(body) = index.field(function, fields().body) else { continue };
        let Some(at) = index.parts(body).find(|s| index.is_within(save, *s)) else { continue };
        let rest: Vec<Id> = index.parts(body).filter(|s| *s > at).collect();
        let Some(effect) = rest.iter().find_map(|s| changes_files(view, *s)) else { continue };
        if rest.first().is_some_and(|s| index.text_of(*s).contains("is_first_instance()")) {
            continue;
        }
        if is_straight(input, view, save, at) && rest.iter().all(|s| leaves_nothing(view, *s)) {
            let text = format!("if not is_first_instance():\n{}return", view.layout.indent);
            let changes = vec![Change::Insert { at, after: true, text }];
            wishes.push(Wish { at: index.item(at).start, changes, imports: Vec::new() });
        } else {
            input.note(view, effect, BY_HAND);
        }
    }
    wishes
}

/// Whether the save happens whenever the function comes to its statement, as far as the target goes.
fn is_straight(input: &Input<'_, '_>, view: &FileView<'_>, save: Id, statement: Id) -> bool {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    index.ancestors(save).take_while(|a| *a >= statement).all(|a| {
        let kind = index.kind(a);
        let by_mode = kind == k.if_statement
            && index
                .field(a, f.condition)
                .is_some_and(|c| input.project.modes.as_ref().is_some_and(|m| m.tested(index, c).is_some()));
        by_mode || [k.expression_statement, k.block, k.argument_list, k.call].contains(&kind)
    })
}

/// A call in a statement that writes, renames or removes a file.
fn changes_files(view: &FileView<'_>, statement: Id) -> Option<Id> {
    const OF_MODULES: [&str; 14] = [
        "os.remove",
        "os.unlink",
        "os.rename",
        "os.replace",
        "os.symlink",
        "os.link",
        "os.rmdir",
        "shutil.copy",
        "shutil.copy2",
        "shutil.copyfile",
        "shutil.move",
        "shutil.rmtree",
        "json.dump",
        "pickle.dump",
    ];
    const OF_PATHS: [&str; 5] = ["unlink", "write_text", "write_bytes", "symlink_to", "touch"];
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    index.of_kind_in(k.call, statement).iter().copied().find(|call| {
        let Some(function) = index.field(*call, f.function) else { return false };
        let qualified = view.names.qualify(index, function);
        let name = index.text_of(function);
        let last = name.rsplit('.').next().unwrap_or(name);
        let opens = last == "open"
            && index.field(*call, f.arguments).is_some_and(|a| {
                index.parts(a).skip(usize::from(name == "open")).any(|mode| {
                    let text = index.text_of(mode);
                    let mode = text.strip_prefix("mode=").unwrap_or(text).trim_matches(['"', '\'']);
                    mode.len() <= 3 && mode.contains(['w', 'a', 'x'])
                })
            });
        opens
            || qualified.is_some_and(|q| OF_MODULES.contains(&q.as_str()))
            || index.kind(function) == k.attribute && OF_PATHS.contains(&last)
    })
}

/// Whether nothing of a statement is missed where it does not happen: it gives nothing back, keeps nothing, and calls
/// nothing of this program.
fn leaves_nothing(view: &FileView<'_>, statement: Id) -> bool {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let gives = index.of_kind_in(k.return_statement, statement).iter().any(|r| index.parts(*r).next().is_some());
    let keeps = index
        .of_kind_in(k.assignment, statement)
        .iter()
        .chain(index.of_kind_in(k.augmented_assignment, statement))
        .any(|a| index.field(*a, f.left).is_some_and(|l| index.kind(l) == k.attribute));
    let calls_own = index.of_kind_in(k.call, statement).iter().any(|c| {
        index.field(*c, f.function).is_some_and(|g| {
            let text = index.text_of(g);
            text.starts_with("self.") || text.starts_with("ipu_") || view.defines(text)
        })
    });
    !gives && !keeps && !calls_own
}
