/// Ranges of one memory, allocated and freed while a plan is made.
///
/// The first free range that is long enough is used, so that ranges freed together are found together again.
#[derive(Default)]
pub(crate) struct Arena {
    /// Free ranges (start, length) below `length`, in order, no two adjacent.
    free: Vec<(usize, usize)>,
    length: usize,
}

impl Arena {
    /// The required size of the memory, in elements.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// A range for `count` elements, aligned to a cache line.
    pub(crate) fn take(&mut self, count: usize) -> usize {
        let count = count.next_multiple_of(16);
        if let Some(i) = self.free.iter().position(|&(_, length)| length >= count) {
            let (start, length) = self.free[i];
            if length == count {
                self.free.remove(i);
            } else {
                self.free[i] = (start + count, length - count);
            }
            return start;
        }
        // A free range at the end is extended instead of staying unused.
        let start = match self.free.last() {
            Some(&(start, length)) if start + length == self.length => {
                self.free.pop();
                start
            }
            _ => self.length,
        };
        self.length = start + count;
        start
    }

    /// Frees a range of [`Arena::take`].
    pub(crate) fn give_back(&mut self, start: usize, count: usize) {
        let count = count.next_multiple_of(16);
        let at = self.free.partition_point(|&(s, _)| s < start);
        self.free.insert(at, (start, count));
        let touching = |a: (usize, usize), b: (usize, usize)| a.0 + a.1 == b.0;
        if at + 1 < self.free.len() && touching(self.free[at], self.free[at + 1]) {
            self.free[at].1 += self.free.remove(at + 1).1;
        }
        if at > 0 && touching(self.free[at - 1], self.free[at]) {
            self.free[at - 1].1 += self.free.remove(at).1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_reused_and_joined() {
        let mut arena = Arena::default();
        let (a, b, c) = (arena.take(32), arena.take(1), arena.take(32));
        assert_eq!((a, b, c, arena.length()), (0, 32, 48, 80));
        arena.give_back(a, 32);
        arena.give_back(b, 1);
        assert_eq!(arena.take(40), 0);
        arena.give_back(c, 32);
        assert_eq!((arena.take(64), arena.length()), (48, 112));
    }
}
