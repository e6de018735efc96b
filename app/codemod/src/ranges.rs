//! Ranges of a text, for testing whether one of them contains or touches another.

use std::ops::Range;

/// In order; the second is the furthest end so far.
pub(crate) struct Ranges(Vec<(usize, usize)>);

impl Ranges {
    pub(crate) fn by(ranges: impl Iterator<Item = Range<usize>>) -> Self {
        let mut starts: Vec<(usize, usize)> = ranges.map(|range| (range.start, range.end)).collect();
        sorting::plain(&mut starts);
        let mut furthest = 0;
        for (_, end) in &mut starts {
            furthest = furthest.max(*end);
            *end = furthest;
        }
        Self(starts)
    }

    /// Whether one of them contains this one.
    pub(crate) fn contain(&self, range: &Range<usize>) -> bool {
        self.furthest(|start| start <= range.start) >= Some(range.end)
    }

    /// Whether one of them has a byte of this one.
    pub(crate) fn touch(&self, range: &Range<usize>) -> bool {
        self.furthest(|start| start < range.end) > Some(range.start)
    }

    /// The furthest end of those whose start is of that kind, which the first ones are.
    fn furthest(&self, is_start: impl Fn(usize) -> bool) -> Option<usize> {
        let before = self.0.partition_point(|(start, _)| is_start(*start));
        before.checked_sub(1).map(|last| self.0[last].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ranges_contain_and_touch() {
        let ranges = Ranges::by([2..10, 3..4, 12..14].into_iter());
        let check = |range: Range<usize>, contain: bool, touch: bool| {
            assert_eq!((ranges.contain(&range), ranges.touch(&range)), (contain, touch), "{range:?}");
        };
        check(0..2, false, false);
        check(1..3, false, true);
        check(5..10, true, true);
        check(9..13, false, true);
        check(10..12, false, false);
        check(12..14, true, true);
        check(14..20, false, false);
        assert!(!Ranges::by(std::iter::empty()).contain(&(0..0)));
    }
}
