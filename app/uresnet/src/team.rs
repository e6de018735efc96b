/// Workers that run one function at the same time.
///
/// The crate brings [`Alone`] and [`Threads`]; a page brings its own workers.
pub trait Team: Sync {
    /// How many workers there are.
    fn size(&self) -> usize;

    /// Calls `work(0)`, `work(1)`, ... `work(size - 1)`, each on a worker of its own, and returns when all have.
    ///
    /// The calls wait for one another, so they must all be under way at once: a team that runs them one after the
    /// other never finishes.
    fn run(&self, work: &(dyn Fn(usize) + Sync));
}

/// The caller's own thread.
#[derive(Clone, Copy, Debug)]
pub struct Alone;

impl Team for Alone {
    fn size(&self) -> usize {
        1
    }

    fn run(&self, work: &(dyn Fn(usize) + Sync)) {
        work(0);
    }
}

/// Threads of the operating system, the caller's among them, started for each run. On wasm32 there are none without the
/// feature `threads`, and the caller's works alone.
#[derive(Clone, Copy, Debug)]
pub struct Threads(
    /// How many; zero counts as one.
    pub usize,
);

impl Team for Threads {
    fn size(&self) -> usize {
        if cfg!(all(target_arch = "wasm32", not(feature = "threads"))) { 1 } else { self.0.max(1) }
    }

    fn run(&self, work: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| {
            for worker in 1..self.size() {
                scope.spawn(move || work(worker));
            }
            work(0);
        });
    }
}
