//! The places of a map's entries in the order of their keys, without the keys.

use std::cmp::Ordering;

/// Places in runs, which are short so that putting one in moves few others. No run is empty.
#[derive(Clone, Debug)]
pub(super) struct Places {
    runs: Vec<Vec<u32>>,
}

/// Where a place would go: a run, and a position in it.
pub(super) struct Gap {
    run: usize,
    at: usize,
}

/// A run that grows beyond this is cut in two.
const LONGEST: usize = 512;

/// How the key at a place compares with the one that is sought.
type Compare<'a> = &'a dyn Fn(usize) -> Ordering;

impl Places {
    pub(super) const fn new() -> Self {
        Self { runs: Vec::new() }
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = usize> {
        self.runs.iter().flatten().map(|place| *place as usize)
    }

    /// The place with the key, or the gap where it is missing.
    pub(super) fn find(&self, compare: Compare<'_>) -> Result<usize, Gap> {
        let gap = self.search(compare);
        match self.at(&gap) {
            Some(place) if compare(place).is_eq() => Ok(place),
            _ => Err(gap),
        }
    }

    /// The gap before the first key that is not less.
    fn search(&self, compare: Compare<'_>) -> Gap {
        // Keys from the start of this run on; those of the next run are greater.
        let run = self.runs.partition_point(|run| compare(run[0] as usize).is_le()).saturating_sub(1);
        let less = |place: &u32| compare(*place as usize).is_lt();
        Gap { run, at: self.runs.get(run).map_or(0, |run| run.partition_point(less)) }
    }

    fn at(&self, gap: &Gap) -> Option<usize> {
        self.runs.get(gap.run)?.get(gap.at).map(|place| *place as usize)
    }

    /// The place with the greatest key that is less.
    pub(super) fn last_below(&self, compare: Compare<'_>) -> Option<usize> {
        let Gap { run, at } = self.search(compare);
        let run = self.runs.get(run).filter(|_| at > 0).map(|run| &run[..at]).or_else(|| {
            let before = run.checked_sub(1)?;
            Some(&self.runs[before])
        })?;
        run.last().map(|place| *place as usize)
    }

    /// The place with the least key that is greater.
    pub(super) fn first_above(&self, compare: Compare<'_>) -> Option<usize> {
        let gap = self.search(&|place| if compare(place).is_gt() { Ordering::Greater } else { Ordering::Less });
        self.at(&gap).or_else(|| self.at(&Gap { run: gap.run + 1, at: 0 }))
    }

    pub(super) fn insert(&mut self, gap: Gap, place: usize) {
        let Some(run) = self.runs.get_mut(gap.run) else {
            self.runs.push(vec![place as u32]);
            return;
        };
        run.insert(gap.at, place as u32);
        if run.len() > LONGEST {
            let rest = run.split_off(LONGEST / 2);
            self.runs.insert(gap.run + 1, rest);
        }
    }

    /// Takes the place with the key out.
    pub(super) fn remove(&mut self, compare: Compare<'_>) -> Option<usize> {
        let gap = self.search(compare);
        let place = self.at(&gap).filter(|place| compare(*place).is_eq())?;
        self.runs[gap.run].remove(gap.at);
        if self.runs[gap.run].is_empty() {
            self.runs.remove(gap.run);
        }
        Some(place)
    }

    /// Gives the place with the key another number.
    pub(super) fn rename(&mut self, compare: Compare<'_>, to: usize) {
        let Gap { run, at } = self.search(compare);
        self.runs[run][at] = to as u32;
    }
}
