//! What a page does when it starts, in many short tasks: between two of them the browser can draw, and respond to the
//! user. A phone compiles a function when it is first called, so creating the first part of a kind takes it long.

use crate::shared::browser;
use std::cell::RefCell;
use std::collections::VecDeque;

type Task = Box<dyn FnOnce()>;

struct Queue {
    waiting: VecDeque<Task>,
    /// Where the next task is inserted that the current one asks for.
    place: usize,
    /// Whether a task is scheduled or running; before [`start`], nothing is run.
    busy: bool,
}

thread_local! {
    static QUEUE: RefCell<Queue> =
        const { RefCell::new(Queue { waiting: VecDeque::new(), place: 0, busy: true }) };
}

/// Begins with this task.
pub(crate) fn start(first: impl FnOnce() + 'static) {
    next(first);
    browser::later(0, run);
}

/// Whether the page is still being created.
pub(crate) fn busy() -> bool {
    QUEUE.with_borrow(|queue| queue.busy)
}

/// Calls back in a task of its own: after those that the current task has already asked for, before all others.
pub(crate) fn next(task: impl FnOnce() + 'static) {
    let place = QUEUE.with_borrow_mut(|queue| {
        queue.place += 1;
        queue.place - 1
    });
    insert(place, Box::new(task));
}

/// Calls back in a task of its own, after all others.
pub(crate) fn last(task: impl FnOnce() + 'static) {
    let place = QUEUE.with_borrow(|queue| queue.waiting.len());
    insert(place, Box::new(task));
}

fn insert(place: usize, task: Task) {
    let idle = QUEUE.with_borrow_mut(|queue| {
        queue.waiting.insert(place.min(queue.waiting.len()), task);
        !std::mem::replace(&mut queue.busy, true)
    });
    if idle {
        browser::later(0, run);
    }
}

fn run() {
    let task = QUEUE.with_borrow_mut(|queue| {
        queue.place = 0;
        let task = queue.waiting.pop_front();
        queue.busy = task.is_some();
        task
    });
    if let Some(task) = task {
        task();
        browser::later(0, run);
    }
}
