//! Patience diff: lines that occur once on each side are matched first, so that repeated lines (`else:`, blank ones)
//! follow their neighbours. Its time is proportional to the number of lines, unlike that of a histogram diff.
//!
//! The library's own implementation compiles its search six times, once for each combination of observers. Here one
//! search is called, first for unique lines and then for the gaps.

use similar::DiffOp;
use similar::algorithms::{Capture, Compact, DiffHook, Replace, myers};
use std::ops::Range;

/// Operations that transform one sequence into the other.
pub(super) fn sequence_diff(old: &[u32], new: &[u32]) -> Vec<DiffOp> {
    // The search itself creates sequences of this type, so it is compiled for no other.
    let [old, new] = [old, new].map(|side| side.iter().map(|value| *value as usize).collect::<Vec<usize>>());
    let mut hook = Compact::new(Replace::new(Capture::new()), &old, &new);
    for op in found(&old, &new) {
        let Ok(()) = op.apply_to_hook(&mut hook);
    }
    let Ok(()) = hook.finish();
    hook.into_inner().into_inner().into_ops()
}

/// The matches of the searches, in order.
fn found(old: &Vec<usize>, new: &Vec<usize>) -> Vec<DiffOp> {
    let (old_once, new_once) = (once(old), once(new));
    let values = |side: &[usize], once: &[usize]| once.iter().map(|at| side[*at]).collect::<Vec<usize>>();
    let (old_values, new_values) = (values(old, &old_once), values(new, &new_once));
    let mut anchors = Capture::new();
    search(&mut anchors, &old_values, 0..old_values.len(), &new_values, 0..new_values.len());
    let mut found = Capture::new();
    let (mut o, mut n) = (0, 0);
    for anchor in anchors.into_ops() {
        let DiffOp::Equal { old_index, new_index, len } = anchor else { continue };
        for at in 0..len {
            let (to_old, to_new) = (old_once[old_index + at], new_once[new_index + at]);
            search(&mut found, old, o..to_old, new, n..to_new);
            (o, n) = (to_old, to_new);
        }
    }
    search(&mut found, old, o..old.len(), new, n..new.len());
    found.into_ops()
}

fn search(hook: &mut Capture, old: &Vec<usize>, in_old: Range<usize>, new: &Vec<usize>, in_new: Range<usize>) {
    let Ok(()) = myers::diff(hook, old, in_old, new, in_new);
}

/// Positions of the values that occur once, in order.
fn once(side: &[usize]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..side.len()).collect();
    sorting::by_key(&mut places, |at| side[*at]);
    let mut once: Vec<usize> =
        places.chunk_by(|a, b| side[*a] == side[*b]).filter(|same| same.len() == 1).map(|same| same[0]).collect();
    sorting::plain(&mut once);
    once
}

#[cfg(test)]
mod tests {
    use super::sequence_diff;
    use similar::algorithms::{Capture, Compact, Replace, patience};

    /// Numbers without an obvious order.
    fn next(seed: &mut u32) -> u32 {
        *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *seed >> 8
    }

    #[test]
    fn it_is_what_the_library_finds() {
        let mut seed = 7;
        for round in 0..6_000 {
            let kinds = [3, 12, 60, 400][round % 4];
            let old: Vec<u32> = (0..next(&mut seed) % 70).map(|_| next(&mut seed) % kinds).collect();
            let mut new = old.clone();
            for _ in 0..next(&mut seed) % 12 {
                let at = next(&mut seed) as usize % (new.len() + 1);
                match next(&mut seed) % 3 {
                    0 => new.insert(at, next(&mut seed) % kinds),
                    1 if at < new.len() => drop(new.remove(at)),
                    _ => new.rotate_left(at),
                }
            }
            let mut hook = Compact::new(Replace::new(Capture::new()), &*old, &*new);
            let Ok(()) = patience::diff(&mut hook, &*old, 0..old.len(), &*new, 0..new.len());
            let library = hook.into_inner().into_inner().into_ops();
            assert_eq!(sequence_diff(&old, &new), library, "{old:?} {new:?}");
        }
    }
}
