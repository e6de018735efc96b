//! Where the host reads weights, or replaces them.

use super::calls::qualified;
use super::host::is_late;
use crate::project::FileInProject;
use crate::roles::Role;
use python::tree::Id;
use sorting::SortedSet;

/// Statements that need the trained weights.
pub struct Saves {
    /// Statements that save weights, or collect or keep them during or after training.
    pub taken: SortedSet<Id>,
    /// Statements that load weights from elsewhere after the model was trained.
    pub loaded: SortedSet<Id>,
}

/// Reads what a file saves and loads outside the step in `whole`.
pub fn saves(file: FileInProject<'_, '_>, whole: Id) -> Saves {
    let index = &file.index;
    let block = |id: Id| file.statement_of(id).and_then(|s| index.parent(s));
    let mut taken: SortedSet<Id> = SortedSet::new();
    let mut blocks: SortedSet<Option<Id>> = SortedSet::new();
    for &save in file.calls("save") {
        if qualified(&file, save).as_deref() != Some("torch.save") || !file.is_reached(save) {
            continue;
        }
        // The state may be collected some lines above.
        let collected = file.calls("state_dict").iter().copied().find(|c| block(*c) == block(save));
        let first = collected.map_or(save, |c| c.min(save));
        blocks.insert(block(first));
        taken.extend(file.statement_of(first));
    }
    let of_model = |call: Id| {
        file.index.receiver(call).is_some_and(|o| file.role(o) == Some(Role::Model)) && file.is_reached(call)
    };
    let loads = file.calls("load_state_dict").iter().filter(|c| of_model(**c) && is_late(&file, **c, whole, 3));
    let loaded: SortedSet<Id> = loads.filter_map(|c| file.statement_of(*c)).collect();
    for &call in file.calls("state_dict") {
        let looped = index.ancestors(call).any(|a| file.index.is_loop(a));
        if of_model(call) && (looped || is_late(&file, call, whole, 3)) && !blocks.contains(&block(call)) {
            taken.extend(file.statement_of(call));
        }
    }
    Saves { taken, loaded }
}

#[cfg(test)]
mod tests {
    use super::saves;
    use crate::marked::{self, with_setup};

    #[test]
    fn where_weights_are_saved_and_loaded() {
        let check = |before: &str, after: &str, taken: &str, loaded: &str| {
            let step = "for x, y in loader:\n    net(x).mean().backward()\n    optimizer.step()\n";
            marked::check(&with_setup(&format!("{before}\n{step}{after}\n")), [taken, loaded], |at| {
                let found = saves(at.file(), at.whole());
                [at.lines(found.taken), at.lines(found.loaded)]
            });
        };
        check("", "torch.save(net.state_dict(), p)", "torch.save(net.state_dict(), p)", "");
        check("", "state = net.state_dict()\ntorch.save(state, p)", "state = net.state_dict()", "");
        check("", "best = net.state_dict()", "best = net.state_dict()", "");
        check("", "np.save(p, x)", "", "");
        check("", "net.load_state_dict(best)", "", "net.load_state_dict(best)");
        check("net.load_state_dict(best)", "", "", "");
    }
}
