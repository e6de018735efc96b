//! Memory aligned to a cache line, so that no vector crosses a boundary.

/// Zeroed f32 values, the first at a multiple of 64 bytes.
pub(crate) struct Aligned {
    lines: Vec<Line>,
}

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([f32; 16]);

impl Aligned {
    /// At least `length` zeros; `None` if the machine does not have enough memory.
    pub(crate) fn zeros(length: usize) -> Option<Aligned> {
        let mut lines = Vec::new();
        let count = length.div_ceil(16);
        lines.try_reserve_exact(count).ok()?;
        lines.resize(count, Line([0.0; 16]));
        Some(Aligned { lines })
    }

    /// Empty, with room for about `length` values.
    pub(crate) fn with_room(length: usize) -> Aligned {
        let mut lines = Vec::new();
        // Without the room the values are still added, with reallocations.
        let _ = lines.try_reserve_exact(length.div_ceil(16));
        Aligned { lines }
    }

    /// Appends values, starting at the next cache line; returns the offset of the first.
    pub(crate) fn push(&mut self, numbers: &[f32]) -> usize {
        let start = self.lines.len() * 16;
        self.lines.extend(numbers.chunks(16).map(|chunk| {
            let mut line = [0.0; 16];
            line[..chunk.len()].copy_from_slice(chunk);
            Line(line)
        }));
        start
    }

    /// The numbers, as a slice.
    pub(crate) fn as_slice(&self) -> &[f32] {
        // SAFETY: a line is sixteen f32 without padding, and the vector owns all of them.
        unsafe { std::slice::from_raw_parts(self.as_ptr(), self.lines.len() * 16) }
    }

    /// The numbers, as a slice to be written.
    pub(crate) fn as_mut_slice(&mut self) -> &mut [f32] {
        // SAFETY: as above, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.lines.len() * 16) }
    }

    /// The first number.
    pub(crate) fn as_ptr(&self) -> *const f32 {
        self.lines.as_ptr().cast()
    }
}
