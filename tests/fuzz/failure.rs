//! Whether an input fails, and the smallest part of it that still does.

use crate::fuzz::targets::{Mutator, Target, Ways};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use tests::shrink;

thread_local! {
    static LISTENS: Cell<bool> = const { Cell::new(false) };
    static SAID: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The property that an input violates, with its place in the source; none if all are satisfied.
pub(crate) fn of(target: &Target, input: &[u8], ways: Ways) -> Option<String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| match LISTENS.get() {
            true => SAID.set(panic.to_string()),
            false => usual(panic),
        }));
    });
    LISTENS.set(true);
    let done = catch_unwind(AssertUnwindSafe(|| (target.check)(input, ways)));
    LISTENS.set(false);
    done.is_err().then(|| SAID.take())
}

/// The identity of a failure: its message, without the numbers, names and code of the input.
pub(crate) fn class(said: &str) -> String {
    let words = said.lines().take(2).map(|line| line.split(['`', '"']).next().unwrap_or_default());
    let text = words.collect::<Vec<_>>().join(" ");
    let text = text.split(" [").next().unwrap_or_default().chars().filter(|c| !c.is_ascii_digit());
    text.take(160).collect()
}

/// The number of attempts at a smaller input.
const TRIES: usize = 500;

/// The smallest input found with the same failure.
pub(crate) fn small(target: &Target, input: &[u8], said: &str) -> Vec<u8> {
    let wanted = class(said);
    let fails = |input: &[u8]| of(target, input, Ways::Every).is_some_and(|said| class(&said) == wanted);
    let mut small = input.to_vec();
    if !fails(input) {
        return small;
    }
    if let (Mutator::Program | Mutator::Project, Ok(text)) = (target.mutator, std::str::from_utf8(input)) {
        small = shrink::shrink(text, |text| fails(text.as_bytes())).into_bytes();
    }
    let (mut size, mut tries) = (small.len().div_ceil(2), 0);
    while size > 0 {
        let mut at = 0;
        while at < small.len() && tries < TRIES {
            tries += 1;
            let end = (at + size).min(small.len());
            let without = [&small[..at], &small[end..]].concat();
            if fails(&without) { small = without } else { at = end }
        }
        size /= 2;
    }
    small
}
