//! `newest-packages`: requirements that the Python of the target's software can't have.

use super::{Input, Kind, Wish};
use crate::definitions::messages;
use guide::sdk::compare;
use training::requirements::lower_bound;

messages! {
    package_too_new(package, newest);
}

/// Packages, each with its last release for the Python of the target's software.
pub(super) const NEWEST: &str = "newest_packages";

pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let is_list = input.is_list();
    let mut start = 0;
    for line in input.text.split_inclusive('\n').filter(|_| is_list) {
        let at = start;
        start += line.len();
        let Some((package, lowest)) = lower_bound(line) else { continue };
        let newest = input.settings.definitions.listed(NEWEST, &package);
        if let Some(known) = newest.filter(|known| compare(&lowest, &known.remark).is_gt()) {
            input.tell(at, package_too_new(package, known.remark.as_str()), Kind::Kept);
        }
    }
    Vec::new()
}
