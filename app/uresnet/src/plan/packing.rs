//! The packed weights of a plan.

use std::collections::HashMap;

use crate::kernels::Aligned;

/// Contiguous weights, each stored once: planes that are processed one by one in a level request the same ones again.
pub(crate) struct Packing {
    numbers: Aligned,
    /// By their hash, the offset and number of values.
    places: HashMap<u64, Vec<(usize, usize)>>,
}

impl Packing {
    /// Empty, with room for about `length` values.
    pub(crate) fn with_room(length: usize) -> Packing {
        Packing { numbers: Aligned::with_room(length), places: HashMap::new() }
    }

    /// The offset of the values, appended if they are new.
    pub(crate) fn place(&mut self, numbers: &[f32]) -> usize {
        let known = self.places.entry(hash(numbers)).or_default();
        let same = |&&(start, length): &&(usize, usize)| self.numbers.as_slice()[start..][..length] == *numbers;
        if let Some((start, _)) = known.iter().find(same) {
            return *start;
        }
        let start = self.numbers.push(numbers);
        known.push((start, numbers.len()));
        start
    }

    /// The numbers, as a slice.
    #[cfg(test)]
    pub(crate) fn as_slice(&self) -> &[f32] {
        self.numbers.as_slice()
    }

    /// The numbers alone.
    pub(crate) fn finish(self) -> Aligned {
        self.numbers
    }
}

/// A hash of some of the values: equality of all is checked anyway.
fn hash(numbers: &[f32]) -> u64 {
    let some = numbers.iter().step_by(numbers.len() / 64 + 1);
    some.fold(numbers.len() as u64, |sum, value| {
        (sum ^ u64::from(value.to_bits())).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
    })
}
