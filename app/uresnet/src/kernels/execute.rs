//! Runs a list of jobs with a team, one job after the other, with the rows of a job distributed among the workers.
//!
//! [`execute`] is a safe function. It first checks that every map is within its memory and that no job writes what it
//! reads elsewhere; the tasks of a job write different rows, and there is a barrier between jobs.

use std::ops::ControlFlow;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::map::{Form, Map, Packed, Source, Space};
use super::{Blend, Chain, Dense, Kernels, Rows, Segment, Sum, Winograd};
use crate::network::CLASSES;
use crate::team::Team;

/// One step of a plan.
pub(crate) struct Job {
    pub(crate) kernels: Kernels,
    pub(crate) to: Map,
    /// Leaky ReLU's slope, 1 for none.
    pub(crate) slope: f32,
    pub(crate) work: Work,
}

/// The kinds of step.
pub(crate) enum Work {
    /// A convolution of one map.
    Convolution {
        from: Map,
        real_inputs: usize,
        kernel: usize,
        stride: usize,
        padding: usize,
        packed: Packed,
        residual: Option<Map>,
    },
    /// A 3x3 convolution with Winograd's method.
    Winograd { from: Map, size: usize, batch: usize, packed: Packed, residual: Option<Map> },
    /// Several consecutive convolutions of this kind.
    Chain(Chain),
    /// A 1x1 convolution over the channels of several sources, with the number of real channels of each.
    Pointwise { sources: Vec<(Source, usize)>, packed: Packed },
    /// A transposed 2x2 convolution with stride 2; one weight for each position in the 2x2.
    Doubling { from: Map, real_inputs: usize, packed: [Packed; 4] },
    /// The sum of two maps, or only the first.
    Sum { from: Source, other: Option<Map> },
    /// The last 1x1 convolution, whose outputs are stored class by class.
    Logits { from: Map, real_inputs: usize, packed: Packed },
}

/// Rows per task: enough tasks to distribute, but not too small.
const TASKS_PER_JOB: usize = 48;

impl Job {
    fn rows_per_task(&self) -> usize {
        (self.to.images * self.to.height).div_ceil(TASKS_PER_JOB).clamp(1, self.to.height.max(1))
    }

    fn tasks(&self) -> usize {
        match &self.work {
            Work::Winograd { size, batch, .. } => {
                self.tiles(*size).div_ceil(*batch * self.batches_per_task(*size, *batch))
            }
            Work::Chain(chain) => chain.tasks(),
            _ => self.to.images * self.to.height.div_ceil(self.rows_per_task()),
        }
    }

    fn tiles(&self, size: usize) -> usize {
        self.to.images * self.to.height.div_ceil(size) * self.to.width.div_ceil(size)
    }

    fn batches_per_task(&self, size: usize, batch: usize) -> usize {
        (self.tiles(size).div_ceil(batch) / TASKS_PER_JOB).max(1)
    }

    /// Maps that are read, with whether they may be the map that is written, because each pixel is read before it is
    /// written and by nothing else.
    fn reads(&self) -> Vec<(Map, bool)> {
        match &self.work {
            Work::Convolution { from, residual, .. } | Work::Winograd { from, residual, .. } => {
                [(*from, false)].into_iter().chain(residual.map(|r| (r, true))).collect()
            }
            Work::Pointwise { sources, .. } => sources.iter().map(|(s, _)| (s.map, false)).collect(),
            Work::Doubling { from, .. } | Work::Logits { from, .. } | Work::Chain(Chain { from, .. }) => {
                vec![(*from, false)]
            }
            Work::Sum { from, other } => {
                [(from.map, from.form == Form::Plain)].into_iter().chain(other.map(|o| (o, true))).collect()
            }
        }
    }

    fn packed(&self) -> Vec<Packed> {
        match &self.work {
            Work::Convolution { packed, .. }
            | Work::Winograd { packed, .. }
            | Work::Pointwise { packed, .. }
            | Work::Logits { packed, .. } => vec![*packed],
            Work::Doubling { packed, .. } => packed.to_vec(),
            Work::Chain(chain) => chain.links.iter().map(|link| link.packed).collect(),
            Work::Sum { .. } => vec![],
        }
    }

    /// Panics unless the job stays within its memories. A failure here is a bug in the plan, not in the input.
    fn check(&self, spaces: [usize; 3], weights: usize) {
        let lanes = self.kernels.lanes;
        let size_of = |space| {
            spaces[match space {
                Space::Input => 0,
                Space::Arena => 1,
                Space::Output => 2,
            }]
        };
        let logits = matches!(self.work, Work::Logits { .. });
        assert!(self.to.space == if logits { Space::Output } else { Space::Arena });
        assert!(self.to.end() <= size_of(self.to.space));
        assert!(self.to.images <= 1 || self.to.image_step >= self.to.image());
        for (map, in_place) in self.reads() {
            assert!(map.end() <= size_of(map.space) && map.space != Space::Output && map.images == self.to.images);
            assert!(!map.overlaps(&self.to) || in_place && map.same_place(&self.to) && map.same_size(&self.to));
        }
        let outputs = if logits { lanes * self.packed()[0].vectors } else { self.to.channels };
        for packed in self.packed() {
            let frequencies = match &self.work {
                Work::Winograd { size, .. } | Work::Chain(Chain { size, .. }) => (size + 2) * (size + 2),
                _ => 1,
            };
            assert!(packed.weights + frequencies * packed.inputs * packed.vectors * lanes <= weights);
            assert!(packed.bias + packed.vectors * lanes <= weights);
            assert!(packed.vectors * lanes == outputs);
        }
        match &self.work {
            Work::Convolution { from, real_inputs, kernel, stride, padding, packed, residual } => {
                let length = |n: usize| (n + 2 * padding).checked_sub(*kernel).map_or(0, |n| n / stride + 1);
                assert!((self.to.height, self.to.width) == (length(from.height), length(from.width)));
                assert!(*real_inputs <= from.channels && packed.inputs == kernel * kernel * real_inputs);
                assert!(residual.is_none_or(|r| r.same_size(&self.to) && r.channels == self.to.channels));
            }
            Work::Winograd { from, size, batch, packed, residual } => {
                assert!(from.same_size(&self.to) && from.channels.is_multiple_of(lanes));
                assert!(packed.inputs == from.channels && matches!(size, 2 | 4));
                assert!((1..=Winograd::BATCH).contains(batch) && batch.is_multiple_of(self.kernels.tiles));
                assert!(residual.is_none_or(|r| r.same_size(&self.to) && r.channels == self.to.channels));
            }
            Work::Chain(chain) => {
                assert!(chain.from.same_size(&self.to) && chain.from.channels == self.to.channels);
                assert!(chain.from.channels.is_multiple_of(lanes) && matches!(chain.size, 2 | 4));
                assert!((1..=Winograd::BATCH).contains(&chain.batch) && chain.batch.is_multiple_of(self.kernels.tiles));
                assert!(
                    chain.stripe > 0
                        && chain.chunk > 0
                        && chain.links.iter().all(|link| link.packed.inputs == chain.from.channels)
                );
                assert!(chain.links.first().is_some_and(|link| !link.residual));
            }
            Work::Pointwise { sources, packed } => {
                assert!(sources.iter().map(|(_, n)| n).sum::<usize>() == packed.inputs);
                for (source, real) in sources {
                    assert!(*real <= source.map.channels && source.size() == (self.to.height, self.to.width));
                    assert!(source.form == Form::Plain || source.map.channels.is_multiple_of(lanes));
                }
            }
            Work::Doubling { from, real_inputs, packed } => {
                assert!((self.to.height, self.to.width) == (2 * from.height, 2 * from.width));
                assert!(*real_inputs <= from.channels && packed.iter().all(|p| p.inputs == *real_inputs));
            }
            Work::Sum { from, other } => {
                assert!(from.size() == (self.to.height, self.to.width) && from.map.channels == self.to.channels);
                assert!(self.to.channels.is_multiple_of(lanes));
                assert!(other.is_none_or(|o| o.same_size(&self.to) && o.channels == self.to.channels));
            }
            Work::Logits { from, real_inputs, packed } => {
                assert!(from.same_size(&self.to) && self.to.channels == CLASSES && outputs >= CLASSES);
                assert!(*real_inputs <= from.channels && packed.inputs == *real_inputs);
            }
        }
    }
}

/// Elements of scratch memory for a worker.
pub(crate) fn scratch_of(job: &Job) -> usize {
    match &job.work {
        Work::Convolution { .. } | Work::Doubling { .. } => 0,
        Work::Winograd { from, size, batch, .. } => {
            let (inputs, outputs) = (from.channels, job.to.channels);
            Winograd::scratch(*size, *batch, inputs, outputs) + Winograd::memory(inputs, outputs)
        }
        Work::Chain(chain) => chain.scratch(),
        Work::Pointwise { sources, .. } => {
            let forms = sources.iter().filter(|(source, _)| source.form != Form::Plain);
            forms.map(|(source, _)| (job.to.width * source.map.channels).next_multiple_of(16)).sum()
        }
        Work::Sum { .. } => job.to.row(),
        Work::Logits { packed, .. } => job.to.width * packed.vectors * job.kernels.lanes,
    }
}

/// The memories of a run.
pub(crate) struct Memories<'a> {
    pub(crate) input: &'a [f32],
    pub(crate) arena: &'a mut [f32],
    pub(crate) output: &'a mut [f32],
    pub(crate) weights: &'a [f32],
}

#[derive(Clone, Copy)]
struct Pointers {
    input: *const f32,
    arena: *mut f32,
    output: *mut f32,
    weights: *const f32,
}

// SAFETY: workers share the pointers, but within a job they write different rows and read what is not written, as
// asserted by `Job::check`; there is a barrier between jobs.
unsafe impl Sync for Pointers {}

/// Runs the jobs in order. `before` is called with the number of each job as it begins, on one worker, and at the end
/// with the number of jobs; if it breaks, the run stops within two jobs and the result is `false`.
pub(crate) fn execute(
    jobs: &[Job],
    memories: Memories,
    team: &dyn Team,
    before: &(dyn Fn(usize) -> ControlFlow<()> + Sync),
) -> bool {
    let spaces = [memories.input.len(), memories.arena.len(), memories.output.len()];
    for job in jobs {
        job.check(spaces, memories.weights.len());
    }
    let pointers = Pointers {
        input: memories.input.as_ptr(),
        arena: memories.arena.as_mut_ptr(),
        output: memories.output.as_mut_ptr(),
        weights: memories.weights.as_ptr(),
    };
    let pointers = &pointers;
    let scratch = jobs.iter().map(scratch_of).max().unwrap_or(0);
    let next: Vec<AtomicUsize> = jobs.iter().map(|_| AtomicUsize::new(0)).collect();
    let stop_at = AtomicUsize::new(usize::MAX);
    let barrier = Barrier::new(team.size());
    team.run(&|worker| {
        let mut scratch =
            super::Aligned::zeros(scratch).unwrap_or_else(|| panic!("not enough memory for {scratch} numbers"));
        for (i, job) in jobs.iter().enumerate() {
            barrier.wait();
            if stop_at.load(Ordering::Acquire) <= i {
                return;
            }
            // Stop at the next job, never at this one: others may already be past the check.
            if worker == 0 && before(i).is_break() {
                stop_at.store(i + 1, Ordering::Release);
            }
            let tasks = job.tasks();
            loop {
                let task = next[i].fetch_add(1, Ordering::Relaxed);
                if task >= tasks {
                    break;
                }
                // SAFETY: every job has been checked against these memories, and each task is run by one worker.
                unsafe { run_task(job, task, pointers, scratch.as_mut_slice().as_mut_ptr()) };
            }
        }
        barrier.wait();
    });
    let done = stop_at.into_inner() == usize::MAX;
    if done {
        // There is nothing left to stop.
        let _ = before(jobs.len());
    }
    done
}

impl Pointers {
    /// # Safety
    /// The row is one of the map's, and the map was checked.
    unsafe fn row(&self, map: &Map, image: usize, row: usize) -> *mut f32 {
        let base = match map.space {
            Space::Input => self.input.cast_mut(),
            Space::Arena => self.arena,
            Space::Output => self.output,
        };
        // SAFETY: within the memory, as the caller guarantees.
        unsafe { base.add(map.offset + image * map.image_step + row * map.row()) }
    }

    /// # Safety
    /// The map was checked.
    unsafe fn rows(&self, map: &Map) -> Rows {
        // SAFETY: the first row is the map's, or the map has no images and no row is requested.
        let base = unsafe { self.row(map, 0, 0) };
        let (image_step, row_step) = (map.image_step, map.row());
        Rows { base, image_step, row_step, shift: 0, ring: usize::MAX, first_column: 0 }
    }

    /// # Safety
    /// The offset was checked.
    unsafe fn weights(&self, offset: usize) -> *const f32 {
        // SAFETY: within the memory, as the caller guarantees.
        unsafe { self.weights.add(offset) }
    }
}

/// # Safety
/// The job was checked against the memories at `pointers`, no other worker runs the task, and `scratch` has room for
/// `scratch_of(job)` elements.
unsafe fn run_task(job: &Job, task: usize, pointers: &Pointers, scratch: *mut f32) {
    // SAFETY: `Job::check` has compared every extent used here with its memory.
    unsafe {
        if let Work::Winograd { from, size, batch, packed, residual } = &job.work {
            let per_task = batch * job.batches_per_task(*size, *batch);
            let memory = scratch.add(Winograd::scratch(*size, *batch, from.channels, job.to.channels));
            *memory = 0.0;
            job.kernels.winograd.run(&Winograd {
                from: pointers.rows(from),
                height: from.height,
                width: from.width,
                inputs: from.channels,
                weights: pointers.weights(packed.weights),
                bias: pointers.weights(packed.bias),
                vectors: packed.vectors,
                to: pointers.rows(&job.to),
                residual: residual.map_or(Rows::NONE, |r| pointers.rows(&r)),
                slope: job.slope,
                size: *size,
                first: task * per_task,
                end: ((task + 1) * per_task).min(job.tiles(*size)),
                batch: *batch,
                scratch,
                memory,
            });
            return;
        }
        if let Work::Chain(chain) = &job.work {
            let weights = |offset| pointers.weights(offset);
            return chain.run(
                task,
                &job.kernels,
                pointers.rows(&chain.from),
                pointers.rows(&job.to),
                &weights,
                scratch,
            );
        }
        let rows = job.rows_per_task();
        let tasks_per_image = job.to.height.div_ceil(rows);
        let (image, first) = (task / tasks_per_image, task % tasks_per_image * rows);
        for row in first..(first + rows).min(job.to.height) {
            run_row(job, image, row, pointers, scratch);
        }
    }
}

/// # Safety
/// As for [`run_task`]; the row is one of the output's.
unsafe fn run_row(job: &Job, image: usize, row: usize, pointers: &Pointers, scratch: *mut f32) {
    // SAFETY: as for `run_task`.
    unsafe {
        let to = pointers.row(&job.to, image, row);
        let dense = |segments: &[Segment], pixels, packed: &Packed, to, to_step, residual: *const f32| {
            (job.kernels.dense)(&Dense {
                segments,
                pixels,
                weights: pointers.weights(packed.weights),
                inputs: packed.inputs,
                vectors: packed.vectors,
                bias: pointers.weights(packed.bias),
                to,
                to_step,
                residual,
                residual_step: job.to.channels,
                slope: job.slope,
            });
        };
        match &job.work {
            Work::Winograd { .. } | Work::Chain(_) => unreachable!("tiles, not rows"),
            Work::Convolution { from, real_inputs, kernel, stride, padding, packed, residual } => {
                let width = job.to.width;
                // Outputs whose kernel is within the row; the others are computed one by one.
                let left = padding.div_ceil(*stride).min(width);
                let inner_end =
                    (from.width + padding).checked_sub(*kernel).map_or(0, |n| n / stride + 1).clamp(left, width);
                let residual = residual.map(|r| pointers.row(&r, image, row).cast_const());
                let mut segments = Vec::with_capacity(kernel * kernel);
                let mut run = |x: usize, pixels: usize| {
                    segments.clear();
                    for ky in 0..*kernel {
                        let Some(y) = (row * stride + ky).checked_sub(*padding).filter(|&y| y < from.height) else {
                            continue;
                        };
                        let first = (x * stride).saturating_sub(*padding);
                        let skipped = (first + padding) - x * stride;
                        let taps = (kernel - skipped).min(from.width - first);
                        let start = pointers.row(from, image, y).add(first * from.channels).cast_const();
                        let (step, weight) = (stride * from.channels, (ky * kernel + skipped) * real_inputs);
                        if *real_inputs == from.channels {
                            segments.push(Segment { from: start, step, length: taps * real_inputs, weight });
                        } else {
                            segments.extend((0..taps).map(|kx| Segment {
                                from: start.add(kx * from.channels),
                                step,
                                length: *real_inputs,
                                weight: weight + kx * real_inputs,
                            }));
                        }
                    }
                    let at = x * job.to.channels;
                    let residual = residual.map_or(std::ptr::null(), |r| r.add(at));
                    dense(&segments, pixels, packed, to.add(at), job.to.channels, residual);
                };
                for x in (0..left).chain(inner_end..width) {
                    run(x, 1);
                }
                if inner_end > left {
                    run(left, inner_end - left);
                }
            }
            Work::Pointwise { sources, packed } => {
                let (mut weight, mut scratch) = (0, scratch);
                let mut segments = Vec::with_capacity(sources.len());
                for (source, real) in sources {
                    let from = match source.form {
                        Form::Plain => pointers.row(&source.map, image, row),
                        _ => {
                            form_row(job, source, image, row, pointers, scratch);
                            let from = scratch;
                            scratch = scratch.add((job.to.width * source.map.channels).next_multiple_of(16));
                            from
                        }
                    };
                    segments.push(Segment { from, step: source.map.channels, length: *real, weight });
                    weight += real;
                }
                dense(&segments, job.to.width, packed, to, job.to.channels, std::ptr::null());
            }
            Work::Doubling { from, real_inputs, packed } => {
                let (step, length) = (from.channels, *real_inputs);
                let segment = [Segment { from: pointers.row(from, image, row / 2), step, length, weight: 0 }];
                for side in 0..2 {
                    let to = to.add(side * job.to.channels);
                    dense(&segment, from.width, &packed[row % 2 * 2 + side], to, 2 * job.to.channels, std::ptr::null());
                }
            }
            Work::Sum { from, other } => {
                let source = match from.form {
                    Form::Plain => pointers.row(&from.map, image, row),
                    _ => {
                        form_row(job, from, image, row, pointers, scratch);
                        scratch
                    }
                };
                let other = other.map_or(std::ptr::null(), |o| pointers.row(&o, image, row).cast_const());
                (job.kernels.sum)(&Sum { from: source, other, to, length: job.to.row() });
            }
            Work::Logits { from, real_inputs, packed } => {
                let step = packed.vectors * job.kernels.lanes;
                let segment = [Segment {
                    from: pointers.row(from, image, row),
                    step: from.channels,
                    length: *real_inputs,
                    weight: 0,
                }];
                dense(&segment, job.to.width, packed, scratch, step, std::ptr::null());
                let to = pointers.row(&job.to, image, 0);
                for class in 0..CLASSES {
                    let to = to.add((class * job.to.height + row) * job.to.width);
                    for x in 0..job.to.width {
                        *to.add(x) = *scratch.add(x * step + class);
                    }
                }
            }
        }
    }
}

/// Writes a row of a source in its form to `to`.
///
/// # Safety
/// As for [`run_row`]; `to` has room for the row.
unsafe fn form_row(job: &Job, source: &Source, image: usize, row: usize, pointers: &Pointers, to: *mut f32) {
    let Map { height, width, channels, .. } = source.map;
    let (first, second, share) = match source.form {
        Form::Upsampled(_) => crate::reference::neighbours(row, height),
        _ => (2 * row, 2 * row + 1, 0.0),
    };
    let slope = if let Form::Upsampled(slope) = source.form { slope } else { 1.0 };
    // SAFETY: both rows are the map's: a pooled map is twice as high, an upsampled one's neighbours are clamped.
    unsafe {
        let (upper, lower) = (pointers.row(&source.map, image, first), pointers.row(&source.map, image, second));
        let blend = Blend { upper, lower, from_width: width, channels, share, to, slope };
        match source.form {
            Form::Upsampled(_) => (job.kernels.upsample)(&blend),
            _ => (job.kernels.pool)(&blend),
        }
    }
}
