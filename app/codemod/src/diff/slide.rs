//! Where a pure insertion or removal starts if it could start at several lines.
//!
//! Inserting a method before another can be described as "these lines" or as "the last line of the method before, then
//! all but the last of these". Both are equally short; people expect the one whose ends have the least indentation.

use super::Hunk;

/// Moves every hunk with lines on one side only to the best of its equivalent places.
pub(super) fn settle(hunks: &mut [Hunk], old: &[&str], new: &[&str]) {
    for index in 0..hunks.len() {
        let hunk = &hunks[index];
        let floor = index.checked_sub(1).map_or((0, 0), |i| (hunks[i].old_end, hunks[i].new_end));
        let before = index > 0;
        let ceiling = hunks.get(index + 1).map_or((old.len() as u32, new.len() as u32), |h| (h.old_start, h.new_start));
        let after = index + 1 < hunks.len();
        // Hunks stay a line apart, otherwise they would be one.
        let room_up = (hunk.old_start - floor.0).min(hunk.new_start - floor.1).saturating_sub(u32::from(before));
        let room_down = (ceiling.0 - hunk.old_end).min(ceiling.1 - hunk.new_end).saturating_sub(u32::from(after));
        let shift = if hunk.old_start == hunk.old_end {
            best_shift(new, hunk.new_start as usize, hunk.new_end as usize, room_up, room_down)
        } else if hunk.new_start == hunk.new_end {
            best_shift(old, hunk.old_start as usize, hunk.old_end as usize, room_up, room_down)
        } else {
            0
        };
        let hunk = &mut hunks[index];
        for line in [&mut hunk.old_start, &mut hunk.old_end, &mut hunk.new_start, &mut hunk.new_end] {
            *line = line.saturating_add_signed(shift);
        }
    }
}

/// The maximum distance by which a hunk is moved; more only occurs in runs of equal lines.
const REACH: u32 = 200;

fn best_shift(lines: &[&str], start: usize, end: usize, room_up: u32, room_down: u32) -> i32 {
    let mut best = (cost(lines, start) + cost(lines, end), 0);
    let mut try_shift = |shift: i32| {
        let place = |line: usize| line.saturating_add_signed(shift as isize);
        let total = cost(lines, place(start)) + cost(lines, place(end));
        // Among equals the lowest place wins, as in git.
        if total < best.0 || (total == best.0 && shift > best.1) {
            best = (total, shift);
        }
    };
    for k in 1..=room_up.min(REACH) as usize {
        if lines[start - k] != lines[end - k] {
            break;
        }
        try_shift(-(k as i32));
    }
    for k in 1..=room_down.min(REACH) as usize {
        if lines[start + k - 1] != lines[end + k - 1] {
            break;
        }
        try_shift(k as i32);
    }
    best.1
}

/// The cost of a boundary before line `at`: the indentation of the following line, and more before a blank line than
/// after.
fn cost(lines: &[&str], at: usize) -> usize {
    let Some(line) = lines.get(at) else { return 0 };
    let next = lines[at..].iter().take(4).find(|line| !line.trim().is_empty()).copied().unwrap_or("");
    let indent = next.len() - next.trim_start_matches([' ', '\t']).len();
    let closes =
        ["else", "elif", "except", "finally", ")", "]", "}"].iter().any(|word| next.trim_start().starts_with(word));
    4 * indent + 2 * usize::from(line.trim().is_empty()) + usize::from(closes)
}
