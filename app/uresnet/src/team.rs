/// Workers that run one function at the same time.
///
/// The crate provides [`Alone`] and [`Threads`]; a page provides its own workers.
pub trait Team: Sync {
    /// The number of workers.
    fn size(&self) -> usize;

    /// Calls `work(0)`, `work(1)`, ... `work(size - 1)`, each on its own worker, and returns when all have returned.
    ///
    /// The calls wait for each other, so they must all run concurrently: a team that runs them one after the other
    /// never finishes.
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

/// Threads of the operating system, including the caller's, started for each run. On wasm32 there are none without the
/// feature `threads`, and only the caller's works.
#[derive(Clone, Copy, Debug)]
pub struct Threads(
    /// Their number; zero counts as one.
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
