//! Work distributed among as many threads as the machine has.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The results of `work` for each item and its number, in the items' order.
pub(crate) fn each<T: Sync, R: Send>(items: &[T], work: impl Fn(usize, &T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let some = || {
        let mut made = Vec::new();
        // One at a time: the longest guide takes as long as several others.
        while let Some((index, item)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, items.get(at)?)))
        {
            made.push((index, work(index, item)));
        }
        made
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(items.len());
    let mut made: Vec<(usize, R)> = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(some)).collect();
        let mut made = some();
        for other in others {
            made.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        made
    });
    made.sort_by_key(|(index, _)| *index);
    made.into_iter().map(|(_, made)| made).collect()
}

/// Two functions in parallel.
pub(crate) fn both<A, B: Send>(one: impl FnOnce() -> A, other: impl FnOnce() -> B + Send) -> (A, B) {
    thread::scope(|scope| {
        let other = scope.spawn(other);
        let one = one();
        (one, other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

#[cfg(test)]
mod tests {
    use super::{both, each};

    #[test]
    fn both_are_done() {
        let text = String::from("a");
        assert_eq!(both(|| text.len(), || text.clone() + "b"), (1, "ab".to_string()));
    }

    #[test]
    fn order_is_the_items() {
        let items: Vec<usize> = (0..1000).collect();
        assert_eq!(each(&items, |index, item| index + item), (0..2000).step_by(2).collect::<Vec<_>>());
        assert_eq!(each(&[] as &[usize], |_, item| *item), Vec::<usize>::new());
    }
}
